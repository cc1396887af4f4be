// The functions of a source and where they stand, without a compiler: contracts, functions, modifiers, by their braces.

/** A function, a modifier or the like. Places are bytes from the beginning of the source. */
export interface SourceFunction {
  /** The contract, library or interface around it; undefined for a free function. */
  readonly contract: string | undefined
  /** `withdraw`; `constructor`, `receive`, `fallback` are their own names. */
  readonly name: string
  readonly kind: 'function' | 'modifier' | 'constructor' | 'receive' | 'fallback'
  readonly start: number
  readonly end: number
}

/** What is asked of a source. */
export interface Outline {
  /** The innermost function around a place. */
  readonly functionAt: (place: number) => SourceFunction | undefined
  readonly functions: readonly SourceFunction[]
  /** Where contracts, libraries and interfaces begin, by their names. */
  readonly contracts: ReadonlyMap<string, number>
  /** Line and column of a place, from 1 on. */
  readonly lineAt: (place: number) => { readonly line: number; readonly column: number }
}

/** Comments and texts are as long as they were, and blank: braces in them mean nothing. */
export const SILENT: RegExp = /\/\/[^\n]*|\/\*[\s\S]*?\*\/|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'/g

const DECLARATION =
  /\b(?:(contract|library|interface)\s+([A-Za-z_$][\w$]*)|(function|modifier)\s+([A-Za-z_$][\w$]*)|(constructor|receive|fallback|function)\s*\()/g

interface Open {
  readonly contract: string
  readonly start: number
  readonly end: number
}

/** Outlines a source. @param text a character a byte (latin1), as the compiler counts bytes */
export function outlineOf(text: string): Outline {
  const code = text.replace(SILENT, (silent) => silent.replace(/[^\n]/g, ' '))
  const functions: SourceFunction[] = []
  const contracts: Open[] = []
  for (const match of code.matchAll(DECLARATION)) {
    const [, unit, unitName, word, name, special] = match
    const start = match.index
    const end = endOf(code, start)
    if (end === undefined) continue
    if (unit !== undefined) contracts.push({ contract: unitName ?? '', start, end: end.at })
    // a type such as `function (uint) external` within other code
    else if (special === 'function' || !end.hasBody) continue
    else {
      const contract = contracts.findLast((each) => start < each.end)?.contract
      const kind = (word ?? special) as SourceFunction['kind']
      functions.push({ contract, name: name ?? kind, kind, start, end: end.at })
    }
  }
  const lines = lineStarts(text)
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

/** Where a declaration ends: with its body, or its semicolon. */
function endOf(code: string, start: number): { at: number; hasBody: boolean } | undefined {
  let depth = 0
  for (let at = start; at < code.length; at++) {
    const character = code[at]
    if (character === ';' && depth === 0) return { at: at + 1, hasBody: false }
    if (character === '{') depth += 1
    if (character !== '}') continue
    depth -= 1
    if (depth === 0) return { at: at + 1, hasBody: true }
    if (depth < 0) return undefined
  }
  return undefined
}

function lineStarts(text: string): readonly number[] {
  const starts = [0]
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1)
  return starts
}

/** Index of the last number that is at most `value`, of rising numbers that begin with 0. */
function lastAtMost(numbers: readonly number[], value: number): number {
  let [low, high] = [0, numbers.length]
  while (high - low > 1) {
    const middle = (low + high) >> 1
    if (numbers[middle]! <= value) low = middle
    else high = middle
  }
  return low
}
