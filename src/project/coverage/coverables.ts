// What of a source can be covered: the statements of its functions and their branches, read from the text alone, as some tools
// keep no syntax trees. Places are bytes from the beginning of the source.
import { type Outline, SILENT, type SourceFunction } from '../solidity/outline.ts'
import { BlockReader, type Branch, Cursor, type Found, type Range } from './cursor.ts'
import { YulReader } from './yul.ts'

/** A function or modifier with its body. */
export interface Coverable {
  readonly function: SourceFunction
  readonly body: Range
  /** In their order; none lies within another. */
  readonly statements: readonly Range[]
  readonly branches: readonly Branch[]
}

/** What can be covered of a source, function by function. @param text a character a byte */
export function coverablesOf(text: string, { functions }: Outline): readonly Coverable[] {
  const code = text.replace(SILENT, silenced)
  return functions.flatMap((each) => {
    const start = bodyOf(code, each)
    if (start === undefined) return []
    const found: Found = { statements: [], branches: [] }
    new StatementReader(code, start, found).block()
    const branches = found.branches.sort((a, b) => a.range.start - b.range.start)
    return [
      {
        function: each,
        body: { start, end: each.end },
        statements: found.statements.sort((a, b) => a.start - b.start),
        branches,
      },
    ]
  })
}

/** Comments are blank; texts are words, so that they stand where an expression does. */
function silenced(silent: string): string {
  return silent.startsWith('/') ? silent.replace(/[^\n]/g, ' ') : silent.replace(/[^\n]/g, '_')
}

/** The brace that a function's body begins with: those of its head are in parentheses. */
function bodyOf(code: string, { start, end }: SourceFunction): number | undefined {
  let depth = 0
  for (let at = start; at < end; at++) {
    const character = code[at]
    if (character === '(') depth += 1
    else if (character === ')') depth -= 1
    else if (character === '{' && depth === 0) return at
  }
  return undefined
}

/** `{value: 1}` between a function and its arguments. */
const CALL_OPTIONS = /\{\s*(?:value|gas|salt)\s*:/y

/** Reads statements of Solidity. */
class StatementReader extends BlockReader {
  protected override statement(): Range {
    if (this.peek() === '{') return this.block()
    const start = this.at
    switch (this.word()) {
      case 'if':
        return this.#if()
      case 'for':
        return this.#for()
      case 'while':
        this.at += 5
        this.#add({ ...this.parenthesized(), head: start })
        return { start, end: this.statement().end }
      case 'do':
        return this.#do()
      case 'try':
        return this.#try()
      case 'unchecked':
        this.at += 9
        return { start, end: this.block().end }
      case 'assembly':
        this.until('{')
        return { start, end: this.#assembly() }
      default:
        return this.#simple()
    }
  }

  #if(): Range {
    const start = this.at
    this.at += 2
    const condition = this.#add({ ...this.parenthesized(), head: start })
    const truth = this.statement()
    const otherwise = this.takeWord('else') ? this.statement() : undefined
    const range = { start, end: (otherwise ?? truth).end }
    this.found.branches.push({ kind: 'if', range, at: condition, ways: [truth, otherwise] })
    return range
  }

  #for(): Range {
    const start = this.at
    this.at += 3
    this.peek()
    this.at += 1
    for (const end of [';', ';', ')']) {
      this.#add(this.until(end))
      this.at += 1
    }
    return { start, end: this.statement().end }
  }

  #do(): Range {
    const start = this.at
    this.at += 2
    this.statement()
    this.peek()
    const head = this.at
    this.takeWord('while')
    this.#add({ ...this.parenthesized(), head })
    return this.#ended(start, this.at)
  }

  #try(): Range {
    const start = this.at
    this.at += 3
    const call = this.#add({ ...this.#tried(), head: start })
    const clauses = [this.#clause()]
    while (this.word() === 'catch') clauses.push(this.#clause())
    const range = { start, end: clauses.at(-1)!.end }
    this.found.branches.push({ kind: 'clauses', range, at: call, ways: clauses })
    return range
  }

  /** The call of a try statement: up to `returns`, or the block. */
  #tried(): Range {
    this.peek()
    const start = this.at
    for (;;) {
      const end = this.until('{ \n\t').end
      CALL_OPTIONS.lastIndex = this.at
      if (CALL_OPTIONS.test(this.code)) {
        this.at += 1
        this.until('}')
        this.at += 1
      } else if (this.isEnd || this.peek() === '{' || this.word() === 'returns') {
        return { start, end }
      }
    }
  }

  /** `returns (…) {…}`, `{…}`, `catch Error(…) {…}` */
  #clause(): Range {
    this.peek()
    const start = this.at
    this.until('{')
    return { start, end: this.block().end }
  }

  #assembly(): number {
    const reader = new YulReader(this.code, this.at, this.found)
    reader.block()
    this.at = reader.at
    return this.at
  }

  /** A declaration, an expression, return, emit and the like. */
  #simple(): Range {
    const range = this.until(';')
    this.at += 1
    const text = this.code.slice(range.start, range.end)
    // `_` stands for the function that has the modifier
    if (text === '_') return range
    // the compiler has the semicolon with it
    return this.#add(text === 'return' ? { ...range, end: this.at } : range)
  }

  #ended(start: number, end: number): Range {
    this.until(';')
    this.at += 1
    return { start, end }
  }

  #add(range: Range): Range {
    if (range.end <= range.start) return range
    const { statements, branches } = this.found
    statements.push(range)
    const text = this.code.slice(range.start, range.end)
    if (/^(?:require|assert)\s*\(/.test(text)) {
      branches.push({ kind: 'require', range, at: range, ways: [undefined, undefined] })
    }
    for (const found of text.matchAll(/\?/g)) this.#ternary(range, range.start + found.index)
    return range
  }

  #ternary(range: Range, question: number): void {
    const cursor = new Cursor(this.code, question + 1)
    const truth = untilColon(cursor)
    cursor.at += 1
    const otherwise = cursor.until(',;:')
    this.found.branches.push({ kind: 'ternary', range, at: range, ways: [truth, otherwise] })
  }
}

/** Up to the colon of a ternary, over those of others within it. */
function untilColon(cursor: Cursor): Range {
  cursor.peek()
  const { at: start } = cursor
  for (let open = 1; ; cursor.at++) {
    const { end } = cursor.until('?:')
    if (cursor.code[cursor.at] === '?') open += 1
    else open -= 1
    if (open === 0 || cursor.isEnd) return { start, end }
  }
}
