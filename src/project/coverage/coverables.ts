// Finds a source's statements and branches in its text alone, as some tools keep no syntax trees.
import type { Outline, SourceFunction } from '../solidity/outline.ts'
import { type Range, type SourceToken, TokenReader, tokensOf } from '../solidity/tokens.ts'

export interface SourceBranch {
  readonly kind: 'if' | 'require' | 'ternary' | 'try' | 'switch'
  /**
   * The range the compiler gives to the jump of `if` and `require`: the statement or, for a ternary, the expression around
   * it.
   */
  readonly range: Range
  /** The statement whose line reports the branch. */
  readonly at: Range
  /** The ranges of the ways, success first; undefined for a way without text. */
  readonly ways: readonly (Range | undefined)[]
}

interface Found {
  readonly statements: Range[]
  readonly branches: SourceBranch[]
}

export interface Coverable {
  readonly function: SourceFunction
  readonly body: Range
  /** In order, without overlaps. */
  readonly statements: readonly Range[]
  readonly branches: readonly SourceBranch[]
}

export function coverablesOf(text: string, { functions }: Outline): readonly Coverable[] {
  const tokens = tokensOf(text)
  const indexes = new Map(tokens.map(({ start }, i) => [start, i]))
  return functions.map((each, i) => {
    // one within another is a function in Yul
    const isInner = functions.slice(0, i).some(({ end }) => each.start < end)
    const Reader = isInner ? YulReader : StatementReader
    const reader = new Reader(tokens, indexes.get(each.start)!)
    reader.until('{')
    const body = reader.block()
    const { statements } = reader.found
    const branches = [...reader.found.branches, ...ternariesIn(tokens, body, statements)]
    return {
      function: each,
      body,
      statements,
      branches: branches.sort((a, b) => a.range.start - b.range.start),
    }
  })
}

function ternariesIn(
  tokens: readonly SourceToken[],
  body: Range,
  statements: readonly Range[],
): readonly SourceBranch[] {
  return tokens.flatMap(({ text, start }, i) => {
    if (text !== '?' || start < body.start || start > body.end) return []
    const range = statements.find((each) => each.start <= start && start < each.end)
    return range === undefined ? [] : [ternary(new TokenReader(tokens, i + 1), range)]
  })
}

/** @param reader after the question mark */
function ternary(reader: TokenReader, range: Range): SourceBranch {
  const first = reader.at
  // ternaries may be nested
  for (let open = 1; ; reader.at += 1) {
    reader.until('?', ':')
    open += reader.word === '?' ? 1 : -1
    if (open === 0 || reader.isEnd) break
  }
  const truth = reader.from(first)
  reader.at += 1
  return { kind: 'ternary', range, at: range, ways: [truth, reader.until(',', ';', ':')] }
}

/** Reads statements of blocks in braces, in Solidity or Yul. */
abstract class BlockReader extends TokenReader {
  readonly found: Found

  constructor(
    tokens: readonly SourceToken[],
    at: number,
    found: Found = { statements: [], branches: [] },
  ) {
    super(tokens, at)
    this.found = found
  }

  protected abstract statement(): unknown

  block(): Range {
    const first = this.at
    this.at += 1
    while (!this.isEnd && this.word !== '}') this.statement()
    this.at += 1
    return this.from(first)
  }

  protected add(range: Range): Range {
    if (range.end > range.start) this.found.statements.push(range)
    return range
  }
}

const CHECKS: ReadonlySet<string> = new Set(['require', 'assert'])

class StatementReader extends BlockReader {
  protected override statement(): Range {
    const { start } = this.tokens[this.at]!
    switch (this.word) {
      case '{':
        return this.block()
      case 'if':
        return this.#if(start)
      case 'for':
        return this.#for(start)
      case 'while':
        this.at += 1
        this.add({ ...this.bracketed(), head: start })
        return { start, end: this.statement().end }
      case 'do':
        return this.#do()
      case 'try':
        return this.#try(start)
      case 'unchecked':
        this.at += 1
        return { start, end: this.block().end }
      case 'assembly':
        return this.#assembly(start)
      default:
        return this.#simple()
    }
  }

  #if(start: number): Range {
    this.at += 1
    const condition = this.add({ ...this.bracketed(), head: start })
    const truth = this.statement()
    const otherwise = this.take('else') ? this.statement() : undefined
    const range = { start, end: (otherwise ?? truth).end }
    this.found.branches.push({ kind: 'if', range, at: condition, ways: [truth, otherwise] })
    return range
  }

  #for(start: number): Range {
    this.at += 2
    for (const end of [';', ';', ')']) {
      this.add(this.until(end))
      this.at += 1
    }
    return { start, end: this.statement().end }
  }

  #do(): Range {
    const first = this.at
    this.at += 1
    this.statement()
    const head = this.tokens[this.at]?.start
    this.take('while')
    this.add({ ...this.bracketed(), head })
    const range = this.from(first)
    this.take(';')
    return range
  }

  #try(start: number): Range {
    this.at += 1
    const first = this.at
    // braces followed by something else hold call options
    while (!this.isEnd && this.word !== 'returns' && this.behind !== 'catch') this.skip()
    const call = this.add({ ...this.from(first), head: start })
    const clauses = [this.#clause()]
    while (this.word === 'catch') clauses.push(this.#clause())
    const range = { start, end: clauses.at(-1)!.end }
    this.found.branches.push({ kind: 'try', range, at: call, ways: clauses })
    return range
  }

  /** `returns (…) {…}`, `{…}`, `catch Error(…) {…}` */
  #clause(): Range {
    const first = this.at
    this.until('{')
    this.block()
    return this.from(first)
  }

  #assembly(start: number): Range {
    this.until('{')
    const reader = new YulReader(this.tokens, this.at, this.found)
    const { end } = reader.block()
    this.at = reader.at
    return { start, end }
  }

  #simple(): Range {
    const first = this.at
    const [word, next] = this.tokens.slice(first, first + 2).map(({ text }) => text)
    const range = this.until(';')
    this.at += 1
    // it stands for the function with the modifier
    if (word === '_' && next === ';') return range
    // the compiler's range includes the semicolon
    if (word === 'return' && next === ';') return this.add(this.from(first))
    if (CHECKS.has(word ?? '') && next === '(') {
      this.found.branches.push({ kind: 'require', range, at: range, ways: [undefined, undefined] })
    }
    return this.add(range)
  }
}

/** The statements of inline assembly. */
class YulReader extends BlockReader {
  protected override statement(): void {
    if (this.word === '{') {
      this.block()
      return
    }
    const first = this.at
    const { start } = this.from(first)
    const { word } = this
    this.at += 1
    switch (word) {
      case 'if':
        this.#if(start)
        return
      case 'switch':
        this.#switch(start)
        return
      case 'for':
        this.block()
        this.add(this.#expression())
        this.block()
        this.block()
        return
      case 'function':
        // its statements are its own
        this.until('{')
        this.skip()
        return
      case 'let':
        this.at += 1
        this.#assigned()
        break
      default:
        // unknown syntax is skipped
        if (!/^[\w$.]/.test(word)) return
        if (this.word === '(') this.skip()
        else this.#assigned()
    }
    this.add(this.from(first))
  }

  #if(start: number): void {
    const condition = this.add({ ...this.#expression(), head: start })
    const truth = this.block()
    const range = { start, end: truth.end }
    this.found.branches.push({ kind: 'if', range, at: condition, ways: [truth, undefined] })
  }

  #switch(start: number): void {
    const value = this.add({ ...this.#expression(), head: start })
    const ways: Range[] = []
    for (;;) {
      if (this.take('case')) this.#expression()
      else if (!this.take('default')) break
      ways.push(this.block())
    }
    const range = { start, end: ways.at(-1)?.end ?? value.end }
    this.found.branches.push({ kind: 'switch', range, at: value, ways })
  }

  /** The rest of `a, b := f()`, or of a declaration without a value, after the first name. */
  #assigned(): void {
    while (this.take(',')) this.at += 1
    if (this.take(':=')) this.#expression()
  }

  #expression(): Range {
    const first = this.at
    this.at += 1
    if (this.word === '(') this.skip()
    return this.from(first)
  }
}
