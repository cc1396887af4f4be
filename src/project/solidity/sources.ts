// A contract's sources, and where in them each of its instructions comes from, for debuggers.
import { nextOperation } from '../../evm/opcodes.ts'
import type { Details, SourceFile } from './details.ts'
import type { CodeMap } from './sourcemap.ts'

/** From `pc` on: index of the source, line and column of its start and end, from 1; and how it jumps. */
export type InstructionPlace = readonly [
  pc: number,
  source: number,
  line: number,
  column: number,
  endLine: number,
  endColumn: number,
  jump: 'i' | 'o' | '-',
]

export interface CodeSources {
  /** `Vault`. */
  readonly contract: string
  readonly sources: readonly { readonly path: string; readonly text: string }[]
  /** By `pc`, one where the place changes; source −1 for code that no source has. */
  readonly places: readonly InstructionPlace[]
}

export function codeSources(
  contract: string,
  code: Uint8Array,
  map: CodeMap,
  details: Details,
): CodeSources {
  const files: SourceFile[] = []
  const placeAt = (pc: number): InstructionPlace => {
    const location = map.at(pc)
    const file = location && details.source(location.source)
    if (location === undefined || file === undefined) return [pc, -1, 0, 0, 0, 0, '-']
    if (!files.includes(file)) files.push(file)
    const start = file.outline.lineAt(location.start)
    const end = file.outline.lineAt(location.start + location.length)
    return [pc, files.indexOf(file), start.line, start.column, end.line, end.column, location.jump]
  }
  const places: InstructionPlace[] = []
  let last = ''
  for (let pc = 0; pc < code.length; pc = nextOperation(code, pc)) {
    const place = placeAt(pc)
    const text = place.slice(1).join()
    if (text !== last) places.push(place)
    last = text
  }
  const sources = files.map(({ path, text }) => ({
    path,
    text: Buffer.from(text, 'latin1').toString('utf8'),
  }))
  return { contract, sources, places }
}
