// Ethash in a worker thread: building the cache takes seconds.
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import { Worker } from 'node:worker_threads'
import type { Ethash as Engine } from '@ethereumjs/ethash'
import { createKeccak512 } from '../../core/crypto/keccak.ts'
import { WASM } from '../../core/crypto/keccak.wasm.ts'
import { DevchainError, limitExceeded } from '../../core/errors.ts'

interface EthashResult {
  /** 32 bytes that a proof gives with its nonce. */
  readonly mixDigest: Uint8Array
  /** 32 bytes, an integer that must not exceed the target. */
  readonly result: Uint8Array
}

interface Task {
  readonly id: number
  readonly number: bigint
  readonly sealHash: Uint8Array
  readonly nonce: Uint8Array
}

interface Waiting {
  readonly resolve: (result: EthashResult) => void
  readonly reject: (error: unknown) => void
}

const MAX_WAITING = 1000

/** The build of ES modules: node aborts the process if a thread ends while it requires one, as the other build does. */
export function engineUrl(): string {
  const required = createRequire(import.meta.url).resolve('@ethereumjs/ethash')
  return pathToFileURL(required).href.replace('/dist/cjs/', '/dist/esm/')
}

/** Starts on first use, and keeps the cache of the newest epoch. */
export class Ethash {
  #worker: Worker | undefined
  #lastId = 0
  readonly #waiting = new Map<number, Waiting>()

  /** Builds the cache for a block before the first proof arrives. */
  prepare(number: bigint): void {
    const nothing = new Uint8Array()
    const task: Task = { id: 0, number, sealHash: nothing, nonce: nothing }
    this.#started().postMessage(task)
  }

  /** Takes a block's seal hash (32 bytes) and a nonce (8 bytes). Throws `LIMIT_EXCEEDED` when too many wait. */
  run(number: bigint, sealHash: Uint8Array, nonce: Uint8Array): Promise<EthashResult> {
    if (this.#waiting.size >= MAX_WAITING) {
      throw limitExceeded(`too many proofs of work are queued: the limit is ${MAX_WAITING}`)
    }
    const worker = this.#started()
    this.#lastId += 1
    const task: Task = { id: this.#lastId, number, sealHash, nonce }
    const result = new Promise<EthashResult>((resolve, reject) => {
      this.#waiting.set(task.id, { resolve, reject })
    })
    // a pending check keeps the process alive
    worker.ref()
    worker.postMessage(task)
    return result
  }

  close(): void {
    void this.#worker?.terminate()
    this.#end(
      new DevchainError('NOT_FOUND', 'the chain was closed while a proof of work was checked'),
    )
  }

  #started(): Worker {
    if (this.#worker !== undefined) return this.#worker
    const worker = new Worker(
      `(${work.toString()})(require('worker_threads'), (url) => import(url), ${createKeccak512.toString()})`,
      { eval: true, workerData: { ethash: engineUrl(), keccak: WASM } },
    )
    worker.unref()
    worker.on('message', ({ id, ...result }: EthashResult & { readonly id: number }) => {
      this.#waiting.get(id)?.resolve(result)
      this.#waiting.delete(id)
      if (this.#waiting.size === 0) worker.unref()
    })
    worker.on('error', (error) => this.#end(error))
    this.#worker = worker
    return worker
  }

  #end(error: unknown): void {
    this.#worker = undefined
    for (const { reject } of this.#waiting.values()) reject(error)
    this.#waiting.clear()
  }
}

interface Modules {
  /** It loads caches from its store and saves new ones there. */
  readonly Ethash: new (
    store: object,
  ) => Engine
}

/** Passed to the worker as text, so that it runs from the sources too: it may use only its parameters. */
async function work(
  { parentPort, workerData }: typeof import('node:worker_threads'),
  load: (url: string) => Promise<Modules>,
  keccakFrom: typeof createKeccak512,
): Promise<void> {
  const { Ethash: Constructor } = await load(workerData.ethash)
  const keccak512 = keccakFrom(workerData.keccak)
  const engine = new Constructor({ get: async () => undefined, put: async () => undefined })
  // many times as fast as the package's, which hashes in JavaScript and makes a view of every row
  engine.mkcache = (size, seed) => {
    const count = Math.floor(size / 64)
    const mixed = new Uint8Array(64)
    const rows = [keccak512(seed)]
    for (let i = 1; i < count; i += 1) rows.push(keccak512(rows[i - 1]!))
    for (let round = 0; round < 3; round += 1) {
      for (let i = 0; i < count; i += 1) {
        const row = rows[i]!
        const word = row[0]! + row[1]! * 2 ** 8 + row[2]! * 2 ** 16 + row[3]! * 2 ** 24
        const one = rows[(i + count - 1) % count]!
        const other = rows[word % count]!
        for (let at = 0; at < 64; at += 1) mixed[at] = one[at]! ^ other[at]!
        row.set(keccak512(mixed))
      }
    }
    engine.cache = rows
    // a return value would be serialized for the store, which keeps nothing
    return []
  }
  let turn: Promise<void> = Promise.resolve()
  parentPort?.on('message', ({ id, number, sealHash, nonce }: Task) => {
    turn = turn.then(async () => {
      await engine.loadEpoc(number)
      if (id === 0) return
      const { mix, hash } = engine.run(sealHash, nonce)
      parentPort.postMessage({ id, mixDigest: mix, result: hash })
    })
  })
}
