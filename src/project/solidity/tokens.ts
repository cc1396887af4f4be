// A tokenizer for sources: finds functions and statements by brackets, without a compiler.

/** Positions are byte offsets. */
export interface Range {
  readonly start: number
  readonly end: number
  /** Where it begins for a reader, if before `start`: at the keyword before a condition. */
  readonly head?: number | undefined
}

export interface SourceToken extends Range {
  readonly text: string
  /** For an opening bracket, the index of the closing one. */
  closedBy: number | undefined
}

/** A comment or a token; strings and names with members are one token. */
const TOKEN =
  /\/\/[^\n]*|\/\*[\s\S]*?\*\/|((?:hex|unicode)?(?:"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')|[\w$.]+|:=|\S)/g

const OPENING = '([{'
const CLOSING = ')]}'

/** @param text one character per byte (latin1), as the compiler counts bytes */
export function tokensOf(text: string): readonly SourceToken[] {
  const tokens: SourceToken[] = []
  const open: SourceToken[] = []
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
  readonly tokens: readonly SourceToken[]
  at: number

  constructor(tokens: readonly SourceToken[], at: number) {
    this.tokens = tokens
    this.at = at
  }

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

  /** Skips one token, or a whole bracket. */
  skip(): void {
    this.at = (this.tokens[this.at]?.closedBy ?? this.at) + 1
  }

  /** The token after the bracket at the cursor; undefined if there is no bracket. */
  get behind(): string | undefined {
    const closing = this.tokens[this.at]?.closedBy
    return closing === undefined ? undefined : this.tokens[closing + 1]?.text
  }

  /** Moves to the next of some tokens, or to the end of the enclosing brackets. @returns the range passed */
  until(...ends: readonly string[]): Range {
    const first = this.at
    while (!this.isEnd && !ends.includes(this.word) && !CLOSING.includes(this.word)) this.skip()
    return this.from(first)
  }

  /** Skips the bracket at the cursor. @returns its content */
  bracketed(): Range {
    this.at += 1
    const inner = this.until()
    this.at += 1
    return inner
  }

  /** From a token to the cursor; an empty range ends before it starts. */
  from(first: number): Range {
    return { start: this.tokens[first]?.start ?? 0, end: this.tokens[this.at - 1]?.end ?? 0 }
  }
}
