// A file system that fails as disks do: full, refusing to sync, cut off in the middle of a write.
import { type FileCalls, systemFiles } from '../../../src/store/files.ts'

export class FaultyDisk {
  /** Bytes that still fit. */
  room: number = Infinity
  /** True: syncs fail. */
  isFailing = false
  /** The most that one call writes. */
  most: number = Infinity
  /** Those that were begun without holding the thread. */
  syncs = 0
  #slow: { readonly promise: Promise<void>; readonly resolve: () => void } | undefined

  readonly files: FileCalls = {
    ...systemFiles,
    write: (file, bytes, position) => {
      const fits = Math.min(bytes.length, this.room, this.most)
      this.room -= fits
      if (fits === 0) throw failure('ENOSPC: no space left on device, write')
      return systemFiles.write(file, bytes.subarray(0, fits), position)
    },
    sync: async (file) => {
      this.syncs += 1
      this.#check()
      await this.#slow?.promise
      await systemFiles.sync(file)
    },
    syncNow: (file) => {
      this.#check()
      systemFiles.syncNow(file)
    },
  }

  become(how: 'failing' | 'whole' | { readonly room: number } | { readonly most: number }): void {
    this.isFailing = how === 'failing'
    this.room = typeof how === 'object' && 'room' in how ? how.room : Infinity
    this.most = typeof how === 'object' && 'most' in how ? how.most : Infinity
  }

  /** Syncs end when it is hurried. */
  slowDown(): void {
    let resolve = (): void => undefined
    const promise = new Promise<void>((done) => {
      resolve = done
    })
    this.#slow = { promise, resolve }
  }

  hurry(): void {
    this.#slow?.resolve()
    this.#slow = undefined
  }

  #check(): void {
    if (this.isFailing) throw failure('EIO: i/o error, fdatasync')
  }
}

function failure(message: string): Error {
  return Object.assign(new Error(message), { code: message.split(':')[0] })
}
