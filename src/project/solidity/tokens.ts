// Words and signs of a source, without a compiler: what finds functions and statements by their brackets.

/** A part of a source. Places are bytes from its beginning. */
export interface Range {
  readonly start: number
  readonly end: number
  /** Where it begins for a reader, where that is before its start: at the word before a condition. */
  readonly head?: number | undefined
}

export interface Token extends Range {
  readonly text: string
  /** Of an opening bracket: the index of the one that closes it. */
  closedBy: number | undefined
}

/** A comment, or else a token: a string is one, and so is a name with its members. */
const TOKEN =
  /\/\/[^\n]*|\/\*[\s\S]*?\*\/|((?:hex|unicode)?(?:"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')|[\w$.]+|:=|\S)/g

const OPENING = '([{'
const CLOSING = ')]}'

/** @param text a character a byte (latin1), as the compiler counts bytes */
export function tokensOf(text: string): readonly Token[] {
  const tokens: Token[] = []
  const open: Token[] = []
  for (const { 1: token, index: start } of text.matchAll(TOKEN)) {
    if (token === undefined) continue
    const made = { text: token, start, end: start + token.length, closedBy: undefined }
    if (OPENING.includes(token)) open.push(made)
    else if (CLOSING.includes(token)) {
      const opened = open.pop()
      if (opened !== undefined) opened.closedBy = tokens.length
    }
    tokens.push(made)
  }
  return tokens
}

export class TokenReader {
  readonly tokens: readonly Token[]
  at: number

  constructor(tokens: readonly Token[], at: number) {
    this.tokens = tokens
    this.at = at
  }

  /** The token at the cursor; empty at the end. */
  get word(): string {
    return this.tokens[this.at]?.text ?? ''
  }

  get isEnd(): boolean {
    return this.at >= this.tokens.length
  }

  take(word: string): boolean {
    if (this.word !== word) return false
    this.at += 1
    return true
  }

  /** Goes behind the token at the cursor, or behind all that the bracket there holds. */
  skip(): void {
    this.at = (this.tokens[this.at]?.closedBy ?? this.at) + 1
  }

  /** The token behind the bracket at the cursor, and all that it holds; undefined at none. */
  get behind(): string | undefined {
    const closing = this.tokens[this.at]?.closedBy
    return closing === undefined ? undefined : this.tokens[closing + 1]?.text
  }

  /** Goes to the next of some tokens, or to the end of the brackets around. @returns what it passed */
  until(...ends: readonly string[]): Range {
    const first = this.at
    while (!this.isEnd && !ends.includes(this.word) && !CLOSING.includes(this.word)) this.skip()
    return this.from(first)
  }

  /** Goes behind the bracket at the cursor. @returns what it holds */
  bracketed(): Range {
    this.at += 1
    const inner = this.until()
    this.at += 1
    return inner
  }

  /** All from a token to the cursor; it ends before it starts where that is nothing. */
  from(first: number): Range {
    return { start: this.tokens[first]?.start ?? 0, end: this.tokens[this.at - 1]?.end ?? 0 }
  }
}
