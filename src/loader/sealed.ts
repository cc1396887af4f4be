// Files with a check copy of their content: damaged, truncated or renamed files read as missing. V8 trusts bytecode blindly.
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import path from 'node:path'

/** Bytes. */
const MAX_SIZE = 64_000_000

export interface Content {
  readonly bytes: Buffer
  readonly mark: number
}

/** Undefined if the file is missing or not as it was written. */
export function readSealed(file: string): Content | undefined {
  let opened: number | undefined
  try {
    // without O_NONBLOCK, opening a pipe of this name would wait
    opened = openSync(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
    const stats = fstatSync(opened)
    if (!stats.isFile() || stats.size > MAX_SIZE) return undefined
    const both = Buffer.allocUnsafeSlow(stats.size)
    const read = readSync(opened, both, 0, stats.size, 0)
    return read === stats.size ? contentOf(both, file) : undefined
  } catch {
    return undefined
  } finally {
    if (opened !== undefined) closeSync(opened)
  }
}

function contentOf(both: Buffer, file: string): Content | undefined {
  const half = Math.floor(both.length / 2)
  const name = Buffer.from(path.basename(file))
  const end = half - name.length - 1
  if (end < 0 || !both.subarray(0, half).equals(both.subarray(half))) return undefined
  if (!both.subarray(end, half - 1).equals(name)) return undefined
  return { bytes: both.subarray(0, end), mark: both[half - 1]! }
}

/** The bytes of the file: content, name and mark, twice. */
export function seal(file: string, { bytes, mark }: Content): Buffer {
  const one = [bytes, Buffer.from(path.basename(file)), Buffer.of(mark)]
  return Buffer.concat([...one, ...one])
}
