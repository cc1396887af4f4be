// Dumps in files, as with anvil's flags: one is loaded at the start, one is written at the end and now and then.
import { createWriteStream, statSync } from 'node:fs'
import path from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import {
  attempt,
  DevchainError,
  invalidParams,
  limitExceeded,
  readFailure,
  writeFailure,
} from '../../core/errors.ts'
import { makeFolder, type Replacement, replacementOf } from '../../loader/cachefolder.ts'
import type { Chain } from '../chain/chain.ts'
import { beginningWith, type ChainState } from '../ledger/chainstate.ts'
import { loadState } from './load.ts'
import { dumpInFile } from './source.ts'
import { dumpText } from './write.ts'

/**
 * Loads a dump, with which the chain then begins: resets return to it.
 * @returns a notice for the log, as `loadState`
 * @throws {DevchainError} `INVALID_PARAMS` with the file's name for one that cannot be loaded
 */
export async function loadDumpFile(chain: Chain, file: string): Promise<string | undefined> {
  const source = dumpInFile(isFolder(file) ? path.join(file, NAME) : file)
  try {
    return await chain.update(async (before) => {
      const { state, value } = await loadState(before, source, chain.environment.now())
      return { state: { ...state, origin: beginningWith(state) }, value }
    })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== undefined) {
      throw invalidParams(`cannot read the dump ${file}: ${readFailure(error)}`)
    }
    if (!(error instanceof DevchainError)) throw error
    const problem = error.message.replace(/^state: /, '').replaceAll('\n', ' ')
    throw invalidParams(`${file}: ${problem}`)
  }
}

/** In a folder, as anvil names it. */
const NAME = 'state.json'

function isFolder(file: string): boolean {
  return attempt(() => statSync(file).isDirectory()) ?? false
}

export interface DumpFileOptions {
  /** A folder gets a `state.json`. */
  readonly file: string
  /** With the state of each block. */
  readonly historical: boolean
  readonly intervalMs: number
  readonly onNotice: (text: string) => void
}

/** The dump of a chain in a file, which is replaced as a whole. */
export class DumpFile {
  readonly #chain: Chain
  readonly #options: DumpFileOptions
  readonly #timer: NodeJS.Timeout
  #written: ChainState | undefined
  #writing: Promise<void> = Promise.resolve()

  constructor(chain: Chain, options: DumpFileOptions) {
    this.#chain = chain
    this.#options = options
    const write = (): void =>
      void this.write().catch((error: Error) => options.onNotice(error.message))
    this.#timer = setInterval(write, options.intervalMs).unref()
  }

  /** Writes the chain as it is, unless the file has it. Rejects with a DevchainError if it cannot be written. */
  write(): Promise<void> {
    this.#writing = this.#writing.catch(() => undefined).then(() => this.#replace())
    return this.#writing
  }

  /** Writes for the last time. */
  close(): Promise<void> {
    clearInterval(this.#timer)
    return this.write()
  }

  async #replace(): Promise<void> {
    const { state, executor } = this.#chain
    if (state === this.#written) return
    const { file, historical } = this.#options
    const target = isFolder(file) ? path.join(file, NAME) : file
    let replacement: Replacement | undefined
    try {
      makeFolder(path.dirname(target))
      replacement = replacementOf(target)
      const text = Readable.from(dumpText({ state, executor }, historical))
      await pipeline(text, createWriteStream(replacement.file, { flags: replacement.flag }))
      replacement.finish()
      this.#written = state
    } catch (error) {
      replacement?.undo()
      if ((error as NodeJS.ErrnoException).code === undefined) throw error
      throw limitExceeded(`cannot write the dump ${target}: ${writeFailure(error)}`)
    }
  }
}
