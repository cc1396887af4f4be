// Source maps of the Solidity compiler: which text an instruction comes from.
// @see https://docs.soliditylang.org/en/latest/internals/source_mappings.html
import { nextOperation } from '../../evm/opcodes.ts'

export interface SourceLocation {
  /** Byte offset in the source. */
  readonly start: number
  readonly length: number
  /** Index of the source; −1 for generated code. */
  readonly source: number
  /** `i` enters a function, `o` leaves one. */
  readonly jump: 'i' | 'o' | '-'
}

export interface CodeMap {
  readonly at: (pc: number) => SourceLocation | undefined
  readonly sources: ReadonlySet<number>
}

/** Array elements per location. */
const WIDTH = 4

const JUMPS = ['-', 'i', 'o'] as const

export function codeMapOf(sourceMap: string, code: Uint8Array): CodeMap {
  const locations = locationsIn(sourceMap)
  const instructions = instructionsIn(code)
  return {
    sources: sourcesIn(sourceMap),
    at: (pc) => {
      const index = instructions[pc] ?? 0
      const at = (index - 1) * WIDTH
      if (index === 0 || at >= locations.length) return undefined
      return {
        start: locations[at]!,
        length: locations[at + 1]!,
        source: locations[at + 2]!,
        jump: JUMPS[locations[at + 3]!] ?? '-',
      }
    },
  }
}

export function sourcesIn(sourceMap: string): ReadonlySet<number> {
  const ids = sourceMap.split(';').flatMap((entry) => {
    const id = entry.split(':')[2]
    return id ? [Number(id)] : []
  })
  return new Set(ids.filter((id) => id >= 0))
}

/** For each code offset, its instruction's number from 1; 0 within push data. */
function instructionsIn(code: Uint8Array): Uint32Array {
  const numbers = new Uint32Array(code.length)
  let count = 0
  for (let pc = 0; pc < code.length; pc = nextOperation(code, pc)) {
    count += 1
    numbers[pc] = count
  }
  return numbers
}

/** `start:length:source:jump:depth;…`: an empty field repeats the previous one. */
function locationsIn(sourceMap: string): Int32Array {
  const entries = sourceMap === '' ? [] : sourceMap.split(';')
  const locations = new Int32Array(entries.length * WIDTH)
  const last = [0, 0, -1, 0]
  for (const [i, entry] of entries.entries()) {
    const parts = entry === '' ? [] : entry.split(':')
    for (const field of [0, 1, 2]) if (parts[field]) last[field] = Number(parts[field])
    if (parts[3]) last[3] = Math.max(0, JUMPS.indexOf(parts[3] as 'i'))
    locations.set(last, i * WIDTH)
  }
  return locations
}
