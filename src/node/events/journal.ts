// What happened on a chain, kept once for all who have yet to read it.

export interface JournalBounds<Entry> {
  readonly entries: number
  /** What all entries weigh together, and one of them: some hold on to what nothing else keeps any more. */
  readonly weight?: number
  readonly weightOf?: (entry: Entry) => number
}

/** The last entries that came: each is kept until all readers have read it, or it has to make room. */
export class Journal<Entry> {
  readonly #bounds: Required<JournalBounds<Entry>>
  /** Those that are forgotten stay in front for a while: to move the others each time would take long. */
  #entries: Entry[] = []
  /** The position of the first of `#entries`; positions count all that ever came. */
  #first = 0
  /** The position of the first that is not forgotten. */
  #start = 0
  #weight = 0
  /** What each reader reads next: the least comes first, as a reader goes to the end. */
  readonly #next = new Map<bigint, number>()

  constructor(bounds: JournalBounds<Entry>) {
    this.#bounds = { weight: 0, weightOf: () => 0, ...bounds }
  }

  get readers(): number {
    return this.#next.size
  }

  get length(): number {
    return this.#end - this.#start
  }

  /** A reader of what comes from now on. */
  add(reader: bigint): void {
    this.#next.set(reader, this.#end)
  }

  delete(reader: bigint): void {
    this.#next.delete(reader)
    this.#tidy()
  }

  /** All that came since this reader read; undefined when some of it is forgotten. Either way it reads on from here. */
  read(reader: bigint): readonly Entry[] | undefined {
    const from = this.#next.get(reader) ?? this.#end
    const entries = from < this.#start ? undefined : this.#entries.slice(from - this.#first)
    this.#next.delete(reader)
    this.add(reader)
    this.#tidy()
    return entries
  }

  push(entry: Entry): void {
    const { entries, weight, weightOf } = this.#bounds
    this.#entries.push(entry)
    this.#weight += weightOf(entry)
    while (this.length > entries || this.#weight > weight) this.#drop(this.#start + 1)
  }

  /** Puts entries in that are made for it: of more than are kept, none. */
  pushAll(count: number, entryAt: (index: number) => Entry): void {
    if (count <= this.#bounds.entries) {
      for (let index = 0; index < count; index++) this.push(entryAt(index))
      return
    }
    this.#start = this.#end + count
    this.#first = this.#start
    this.#entries = []
    this.#weight = 0
  }

  get #end(): number {
    return this.#first + this.#entries.length
  }

  #tidy(): void {
    const [least = this.#end] = this.#next.values()
    this.#drop(least)
  }

  #drop(before: number): void {
    for (; this.#start < before; this.#start++) {
      this.#weight -= this.#bounds.weightOf(this.#entries[this.#start - this.#first]!)
    }
    const surplus = this.#start - this.#first
    if (2 * surplus < this.#entries.length) return
    this.#entries = this.#entries.slice(surplus)
    this.#first = this.#start
  }
}
