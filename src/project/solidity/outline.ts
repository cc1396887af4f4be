// Finds a source's contracts, functions and modifiers by their braces, without a compiler.
import { firstIndex } from '../../core/search.ts'
import { type Range, type SourceToken, TokenReader, tokensOf } from './tokens.ts'

/** A function, modifier or the like. Positions are byte offsets. */
export interface SourceFunction {
  /** The contract, library or interface around it; undefined for a free function. */
  readonly contract: string | undefined
  /** `withdraw`; `constructor`, `receive`, `fallback` are their own names. */
  readonly name: string
  readonly kind: 'function' | 'modifier' | 'constructor' | 'receive' | 'fallback'
  readonly start: number
  readonly end: number
}

export interface Outline {
  readonly functionAt: (place: number) => SourceFunction | undefined
  readonly functions: readonly SourceFunction[]
  /** Start of each contract, library and interface, by name. */
  readonly contracts: ReadonlyMap<string, number>
  /** Both count from 1. */
  readonly lineAt: (place: number) => { readonly line: number; readonly column: number }
}

const UNITS: ReadonlySet<string> = new Set(['contract', 'library', 'interface'])
const NAMED: ReadonlySet<string> = new Set(['function', 'modifier'])
const UNNAMED: ReadonlySet<string> = new Set(['constructor', 'receive', 'fallback', 'function'])

/** @param text one character per byte (latin1), as the compiler counts bytes */
export function outlineOf(text: string): Outline {
  const tokens = tokensOf(text)
  const functions: SourceFunction[] = []
  const contracts: (Range & { readonly contract: string })[] = []
  for (const [i, { text: word, start }] of tokens.entries()) {
    const next = tokens[i + 1]?.text ?? ''
    const isNamed = /^[A-Za-z_$]/.test(next)
    const isUnit = isNamed && UNITS.has(word)
    // the type `function (uint) external` has no body
    const isFunction = isNamed ? NAMED.has(word) : next === '(' && UNNAMED.has(word)
    const end = isUnit || isFunction ? bodyEnd(tokens, i) : undefined
    if (end === undefined) continue
    if (isUnit) contracts.push({ contract: next, start, end })
    else {
      const contract = contracts.findLast((each) => start < each.end)?.contract
      // before 0.6, `function () {…}` was the fallback function
      const unnamed = word === 'function' ? 'fallback' : word
      const kind = (isNamed ? word : unnamed) as SourceFunction['kind']
      functions.push({ contract, name: isNamed ? next : kind, kind, start, end })
    }
  }
  const lines = [0, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1)]
  return {
    functions,
    contracts: new Map(contracts.map(({ contract, start }) => [contract, start])),
    functionAt: (place) => functions.findLast(({ start, end }) => start <= place && place < end),
    lineAt: (place) => {
      const line = lastAtMost(lines, place)
      return { line: line + 1, column: place - lines[line]! + 1 }
    },
  }
}

function bodyEnd(tokens: readonly SourceToken[], at: number): number | undefined {
  const reader = new TokenReader(tokens, at)
  reader.until('{', ';')
  const closing = reader.word === '{' ? tokens[reader.at]?.closedBy : undefined
  return closing === undefined ? undefined : tokens[closing]?.end
}

/** Index of the last number that is at most `value`, in rising numbers; 0 if none is. */
export function lastAtMost(numbers: readonly number[], value: number): number {
  return Math.max(0, firstIndex(numbers.length, (i) => numbers[i]! > value) - 1)
}
