// The calls of the file system that a store makes: tests make them fail.
import {
  closeSync,
  fdatasync,
  fdatasyncSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readSync,
  renameSync,
  writeSync,
} from 'node:fs'
import { promisify } from 'node:util'
import { DevchainError } from '../core/errors.ts'

export interface FileCalls {
  readonly open: (path: string, flags: 'r+' | 'wx+') => number
  readonly close: (file: number) => void
  readonly sizeOf: (file: number) => number
  /** @returns bytes read, fewer at the end of the file */
  readonly read: (file: number, into: Uint8Array, length: number, position: number) => number
  /** @returns bytes written, which may be fewer */
  readonly write: (file: number, bytes: Uint8Array, position: number) => number
  readonly truncate: (file: number, size: number) => void
  /** Resolves when the file is on the disk. */
  readonly sync: (file: number) => Promise<void>
  readonly syncNow: (file: number) => void
  /** Puts a file in place of another, so that a crash leaves one of them. */
  readonly replace: (from: string, to: string) => void
  /** The names of its files are on the disk. */
  readonly syncFolder: (folder: string) => void
}

export const systemFiles: FileCalls = {
  // keys are in it
  open: (path, flags) => openSync(path, flags, 0o600),
  close: closeSync,
  sizeOf: (file) => fstatSync(file).size,
  read: (file, into, length, position) => readSync(file, into, 0, length, position),
  write: (file, bytes, position) => writeSync(file, bytes, 0, bytes.length, position),
  truncate: ftruncateSync,
  sync: promisify(fdatasync),
  syncNow: fdatasyncSync,
  replace: renameSync,
  syncFolder(folder) {
    // no file on Windows
    if (process.platform === 'win32') return
    const file = openSync(folder, 'r')
    try {
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
  },
}

/** Errors of the file system, in words; others are bugs. */
export function failureIn(
  path: string,
  error: unknown,
  word: 'INVALID_PARAMS' | 'LIMIT_EXCEEDED',
): unknown {
  if ((error as NodeJS.ErrnoException).code === undefined) return error
  return new DevchainError(word, `${path}: ${(error as Error).message}`)
}
