// Finds a source's statements and branches in its text alone, as some tools keep no syntax trees.
import type { Outline, SourceFunction } from '../solidity/outline.ts'
import { type Range, type SourceToken, TokenReader, tokensOf } from '../solidity/tokens.ts'
import { BlockReader, type SourceBranch } from './blocks.ts'
import { YulReader } from './yul.ts'

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
  return functions.map((each) => {
    const reader = new StatementReader(tokens, indexes.get(each.start)!)
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
    this.branch({ kind: 'if', range, at: condition, ways: [truth, otherwise] })
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
    this.branch({ kind: 'clauses', range, at: call, ways: clauses })
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
      this.branch({ kind: 'require', range, at: range, ways: [undefined, undefined] })
    }
    return this.add(range)
  }
}
