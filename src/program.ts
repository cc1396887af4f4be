// Name and version of this program, as package.json has them.
import { readFileSync } from 'node:fs'

/** What the program calls itself. */
export interface ProgramInfo {
  readonly name: string
  readonly version: string
}

function readProgramInfo(): ProgramInfo {
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8')
  const { name, version } = JSON.parse(text) as ProgramInfo
  return { name, version }
}

export const PROGRAM: ProgramInfo = readProgramInfo()
