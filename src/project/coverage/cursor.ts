// What readers of statements gather, and how they go through a text.

/** A part of a source. */
export interface Range {
  readonly start: number
  readonly end: number
  /** Where it begins for a reader, where that is before its start: at the word before a condition. */
  readonly head?: number | undefined
}

/** A place where control parts. */
export interface Branch {
  readonly kind: 'if' | 'require' | 'ternary' | 'clauses'
  /** What is parted: the statement or, of a ternary, what it stands in. The compiler gives the jump of `if` and `require` this range. */
  readonly range: Range
  /** The statement whose line it is told at. */
  readonly at: Range
  /** What runs on each way, the good one first; undefined where there is no text for it. */
  readonly ways: readonly (Range | undefined)[]
}

/** What a reader gathers. */
export interface Found {
  readonly statements: Range[]
  readonly branches: Branch[]
}

/** Where a text is read. */
export class Cursor {
  readonly code: string
  at: number

  constructor(code: string, at: number) {
    this.code = code
    this.at = at
  }

  get isEnd(): boolean {
    return this.at >= this.code.length
  }

  /** The next character that is no space. */
  peek(): string {
    while (this.at < this.code.length && /\s/.test(this.code[this.at]!)) this.at += 1
    return this.code[this.at] ?? ''
  }

  /** The word at the cursor; empty where there is none. */
  word(): string {
    this.peek()
    WORD.lastIndex = this.at
    return WORD.exec(this.code)?.[0] ?? ''
  }

  /** Goes behind the word at the cursor. */
  skipWord(): void {
    const { length } = this.word()
    this.at += length
  }

  /** Takes a word, if it is the next. */
  takeWord(word: string): boolean {
    if (this.word() !== word) return false
    this.at += word.length
    return true
  }

  /** The text up to one of some characters that stands in no brackets; the cursor is there then. */
  until(ends: string): Range {
    this.peek()
    const start = this.at
    let depth = 0
    for (; !this.isEnd; this.at++) {
      const character = this.code[this.at]!
      if (depth === 0 && ends.includes(character)) break
      if ('([{'.includes(character)) depth += 1
      else if (')]}'.includes(character)) depth -= 1
      if (depth < 0) break
    }
    return { start, end: this.trimmed(start, this.at) }
  }

  /** What stands in the parentheses at the cursor; it is behind them then. */
  parenthesized(): Range {
    this.peek()
    this.at += 1
    const inner = this.until(')')
    this.at += 1
    return inner
  }

  trimmed(start: number, end: number): number {
    let last = end
    while (last > start && /\s/.test(this.code[last - 1]!)) last -= 1
    return last
  }
}

/** Reads the statements of blocks in braces, in whatever language they are. */
export abstract class BlockReader extends Cursor {
  /** What was gathered so far. */
  protected readonly found: Found

  constructor(code: string, at: number, found: Found) {
    super(code, at)
    this.found = found
  }

  /** Reads the statement at the cursor. */
  protected abstract statement(): unknown

  /** Reads the block at the cursor. */
  block(): Range {
    this.peek()
    const start = this.at
    this.at += 1
    while (!this.isEnd && this.peek() !== '}') this.statement()
    this.at += 1
    return { start, end: this.at }
  }
}

const WORD = /[\w$.]+/y
