// The precompile interface: gas, result, and libraries loaded on first use.

/** The result depends on the input alone. */
export interface PrecompileCode {
  readonly gas: (input: Uint8Array) => bigint
  /**
   * Returns a fresh value; undefined rejects the input, which costs all gas of the call.
   * @throws {Unready} while a library is loading
   */
  readonly run: (input: Uint8Array) => Uint8Array | undefined
}

/** The library is not loaded yet: run the same job again when it is. */
export class Unready extends Error {
  override readonly name = 'Unready'
  readonly ready: Promise<unknown>

  constructor(ready: Promise<unknown>) {
    super('a library is still loading')
    this.ready = ready
  }
}

/** @returns the value; throws {Unready} until it is loaded */
export function loadedLater<T>(load: () => Promise<T>): () => T {
  let value: { readonly of: T } | undefined
  let loading: Promise<void> | undefined
  return () => {
    if (value !== undefined) return value.of
    loading ??= load().then((loaded) => {
      value = { of: loaded }
    })
    throw new Unready(loading)
  }
}

export async function whenLoaded<T>(ask: () => T): Promise<T> {
  try {
    return ask()
  } catch (error) {
    if (!(error instanceof Unready)) throw error
    await error.ready
    return ask()
  }
}

export const UNPAYABLE: bigint = 2n ** 256n

/** Padded with zeros beyond the input. */
export function paddedSlice(input: Uint8Array, offset: number, length: number): Uint8Array {
  const bytes = new Uint8Array(length)
  bytes.set(input.subarray(offset, offset + length))
  return bytes
}

export function leftPadded(bytes: Uint8Array): Uint8Array {
  const word = new Uint8Array(32)
  word.set(bytes, 32 - bytes.length)
  return word
}

export function wordsOf(input: Uint8Array): bigint {
  return BigInt(Math.ceil(input.length / 32))
}
