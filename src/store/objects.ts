// Immutable objects in a store: each is written once, after all that it refers to, and has its position for a name. What two
// values share is one object, so a later value costs what is new in it. Reading makes an object when it is asked for.
import { LruCache, lazy, memoizeByIdentity } from '../core/lrucache.ts'
import type { ForkBase } from '../node/ledger/upstream.ts'
import { ByteReader, ByteStack, CorruptStore } from './bytes.ts'
import { ALIGNMENT } from './frames.ts'

/** Where objects go and come from. Positions are multiples of `ALIGNMENT` above 0, and grow with each object. */
export interface Medium {
  /** The bytes are valid during the call only. @returns the position */
  append(bytes: Uint8Array): number
  /** @throws {CorruptStore} if there is no whole object at the position */
  read(position: number): Uint8Array
}

/** How values of a type are written and read. */
export interface Codec<T> {
  write(value: T, to: Output): void
  read(from: Input): T
}

/** Objects read last that are kept although nobody holds them. */
const RECENT = 1024

/** Where an object was read; one that is read again has the same home. */
interface Home {
  /** Stands for a store, which it does not keep in memory. */
  readonly store: object
  readonly position: number
}

const homes = new WeakMap<object, Home>()

/** Thrown where writing pauses. */
const PAUSE = new Error('writing pauses')

/** Contents of an object: how many positions it refers to, the positions, then what codecs wrote. */
export class Output extends ByteStack {
  readonly store: Objects
  /** When writing pauses, as `performance.now`: after one object at least. */
  #untilMs = Infinity
  #hasWritten = false
  /** Of the objects being written: each has those above the ones of the object around it. */
  readonly #references: number[] = []

  constructor(store: Objects) {
    super()
    this.store = store
  }

  /** The position of the object that `value` is, written now if it was not before. */
  positionOf<T extends object>(value: T, codec: Codec<T>): number {
    const known = this.store.known(value)
    if (known !== undefined) return known
    if (this.#hasWritten) this.pauseIfDue()
    const position = this.append(() => codec.write(value, this))
    this.store.written(value, position)
    return position
  }

  /** Where the next turn goes on from what this one has made, though no object was written. */
  pauseIfDue(): void {
    if (performance.now() > this.#untilMs) throw PAUSE
  }

  /** An object of what `write` writes. */
  append(write: () => void): number {
    const [start, first] = [this.length, this.#references.length]
    write()
    const end = this.length
    const references = this.#references.splice(first)
    this.count(references.length)
    for (const position of references) this.count(position / ALIGNMENT)
    this.repeat(start, end)
    const contents = this.pop(end)
    this.pop(start)
    this.#hasWritten = this.#untilMs !== Infinity
    return this.store.medium.append(contents)
  }

  /** Refers to the object at a position, which `Input.position` returns. */
  refer(position: number): void {
    this.#references.push(position)
  }

  /** @returns undefined if `write` needs more milliseconds */
  within<T>(ms: number, write: () => T): T | undefined {
    this.#untilMs = performance.now() + ms
    try {
      return write()
    } catch (error) {
      if (error !== PAUSE) throw error
      return undefined
    } finally {
      this.#untilMs = Infinity
      this.#hasWritten = false
    }
  }

  forget(): void {
    this.pop(0)
    this.#references.length = 0
  }

  reference<T extends object>(value: T, codec: Codec<T>): void {
    this.refer(this.positionOf(value, codec))
  }
}

export class Input extends ByteReader {
  readonly store: Objects
  readonly #references: readonly number[]
  #next = 0

  constructor(bytes: Uint8Array, store: Objects) {
    super(bytes)
    this.store = store
    this.#references = referencesIn(this)
  }

  /** The next of those that `Output.refer` wrote. */
  position(): number {
    const position = this.#references[this.#next++]
    if (position === undefined) throw new CorruptStore('an object refers to too few others')
    return position
  }

  /** The object at the next position: `make` makes it, and may read its bytes later. */
  object<T extends object>(make: (store: Objects, position: number) => T): T {
    const { store } = this
    const position = this.position()
    return store.at(position, () => make(store, position))
  }
}

/** The positions that an object refers to, with which its bytes begin. */
export function referencesIn(from: ByteReader): number[] {
  const references: number[] = []
  for (let left = from.count(); left > 0; left--) references.push(from.count() * ALIGNMENT)
  return references
}

export class Objects {
  readonly medium: Medium
  readonly #forks: ReadonlyMap<string, ForkBase>
  readonly #output = new Output(this)
  readonly #positions = new WeakMap<object, number>()
  readonly #name: object = {}
  /** Of objects from other stores: positions there and here. */
  readonly #copiedFrom = memoizeByIdentity((_store: object) => new Map<number, number>())
  readonly #made = new Map<number, WeakRef<object>>()
  readonly #gone = new FinalizationRegistry<number>((position) => {
    if (this.#made.get(position)?.deref() === undefined) this.#made.delete(position)
  })
  readonly #recent = new LruCache<number, object>(RECENT)

  /** Written since the last `settle`. */
  readonly #fresh: object[] = []
  readonly #undo: (() => void)[] = []

  /** @param forks that states may be read of, by name */
  constructor(medium: Medium, forks: ReadonlyMap<string, ForkBase> = new Map()) {
    this.medium = medium
    this.#forks = forks
  }

  fork(name: string): ForkBase {
    const fork = this.#forks.get(name)
    if (fork === undefined) throw new CorruptStore(`the fork ${name} is not open`)
    return fork
  }

  /** @returns the position, for `read` */
  write<T extends object>(value: T, codec: Codec<T>): number {
    try {
      return this.#output.positionOf(value, codec)
    } catch (error) {
      this.#output.forget()
      throw error
    }
  }

  /**
   * As `write`, for at most some milliseconds. What was written stays, so the next call goes on from there; only the objects
   * around it begin anew.
   * @returns undefined if it is not done
   */
  writeFor<T extends object>(ms: number, value: T, codec: Codec<T>): number | undefined {
    return this.#output.within(ms, () => this.write(value, codec))
  }

  /** The same object for the same position, as long as somebody holds it. */
  read<T extends object>(position: number, codec: Codec<T>): T {
    return this.at(position, () => codec.read(this.open(position)))
  }

  /** The object that was made for a position, or the one that `make` makes, which may read its bytes later. */
  at<T extends object>(position: number, make: () => T): T {
    const known = this.#made.get(position)?.deref() as T | undefined
    const value = known ?? make()
    if (known === undefined) {
      this.#made.set(position, new WeakRef(value))
      this.#gone.register(value, position)
      this.remember(value, position)
    }
    this.#recent.set(position, value)
    return value
  }

  /** Reads the object at a position when it is asked for. */
  later<T extends object>(position: number, codec: Codec<T>): () => T {
    return lazy(() => {
      const made = codec.read(this.open(position))
      this.remember(made, position)
      return made
    })
  }

  open(position: number): Input {
    return new Input(this.medium.read(position), this)
  }

  known(value: object): number | undefined {
    const known = this.#positions.get(value)
    const home = known === undefined ? homes.get(value) : undefined
    return home === undefined ? known : this.#copiedFrom(home.store).get(home.position)
  }

  /** From now on `value` is the object at the position. */
  remember(value: object, position: number): void {
    this.#positions.set(value, position)
    homes.set(value, { store: this.#name, position })
  }

  /** As `remember`, until a `rollBack`. */
  written(value: object, position: number): void {
    this.#positions.set(value, position)
    this.#fresh.push(value)
    const home = homes.get(value)
    if (home === undefined || home.store === this.#name) return
    const copied = this.#copiedFrom(home.store)
    copied.set(home.position, position)
    this.onRollBack(() => copied.delete(home.position))
  }

  /** Runs `undo` if what is being written now is rolled back. */
  onRollBack(undo: () => void): void {
    this.#undo.push(undo)
  }

  /** The medium keeps what was written. */
  settle(): void {
    this.#fresh.length = 0
    this.#undo.length = 0
  }

  /** The medium dropped what was written since the last `settle`. */
  rollBack(): void {
    for (const value of this.#fresh) this.#positions.delete(value)
    for (const undo of this.#undo.reverse()) undo()
    this.settle()
  }
}

/** An object of its own, shared by all that refer to it. */
export function shared<T extends object>(codec: Codec<T>): Codec<T> {
  return {
    write: (value, to) => to.reference(value, codec),
    read: (from) => from.store.read(from.position(), codec),
  }
}

export function optional<T>(codec: Codec<T>): Codec<T | undefined> {
  return {
    write(value, to) {
      to.byte(value === undefined ? 0 : 1)
      if (value !== undefined) codec.write(value, to)
    },
    read(from) {
      const byte = from.byte()
      if (byte > 1) throw new CorruptStore(`expected 0 or 1, got ${byte}`)
      return byte === 1 ? codec.read(from) : undefined
    },
  }
}

export function listOf<T>(codec: Codec<T>): Codec<readonly T[]> {
  return {
    write(values, to) {
      to.count(values.length)
      for (const value of values) codec.write(value, to)
    },
    read(from) {
      const values: T[] = []
      for (let left = from.count(); left > 0; left--) values.push(codec.read(from))
      return values
    },
  }
}

/** A codec for every member: the compiler finds a member without one. */
export type MemberCodecs<T> = { readonly [Name in keyof T]-?: Codec<T[Name]> }

/** Written in the order of `members`. */
export function objectOf<T extends object>(members: MemberCodecs<T>): Codec<T> {
  const entries = Object.entries(members) as [keyof T, Codec<unknown>][]
  return {
    write(value, to) {
      for (const [name, codec] of entries) codec.write(value[name], to)
    },
    read: (from) =>
      Object.fromEntries(entries.map(([name, codec]) => [name, codec.read(from)])) as T,
  }
}
