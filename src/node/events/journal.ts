// Shared events of a chain, kept until all readers have read them.

interface JournalBounds<Entry> {
  readonly entries: number
  /** Most weight of all entries, and the weight of one: some entries keep data alive that nothing else needs. */
  readonly weight?: number
  readonly weightOf?: (entry: Entry) => number
}

export class Journal<Entry> {
  readonly #bounds: Required<JournalBounds<Entry>>
  /** Dropped entries stay in front for a while: removing them each time would be slow. */
  #entries: Entry[] = []
  /** The position of the first of `#entries`; positions count all entries ever. */
  #first = 0
  /** The position of the first entry that is not dropped. */
  #start = 0
  #weight = 0
  /** Each reader's next position, least first, because a reader moves to the end. */
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

  add(reader: bigint): void {
    this.#next.set(reader, this.#end)
  }

  delete(reader: bigint): void {
    this.#next.delete(reader)
    this.#tidy()
  }

  /** New entries since the last read; undefined when some were dropped. Either way the reader moves to the end. */
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

  /** Skips entries above the limit, and makes only the others. */
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
