// Keccak-256 and -512 in WebAssembly: the first is the hottest function of all. Tests compare it with @noble/hashes.
import { WASM } from './keccak.wasm.ts'

interface Exports {
  readonly memory: WebAssembly.Memory
  readonly keccak: (source: number, length: number, target: number) => void
}

/**
 * 32 bytes as eight little-endian uint32. Tries keep millions of hashes: this takes half the memory of a byte array and is
 * faster to create.
 */
export type Digest = Readonly<Record<'a' | 'b' | 'c' | 'd' | 'e' | 'f' | 'g' | 'h', number>>

const INPUT = 4096

const PAGE = 65_536

export const DESK_LENGTH: number = PAGE

const MODULE = new WebAssembly.Module(Buffer.from(WASM, 'base64'))

class Hasher {
  readonly #exports = newInstance()
  #memory = new Uint8Array(this.#exports.memory.buffer)

  hash(bytes: Uint8Array): Uint8Array {
    this.#makeRoom(bytes.length)
    this.#memory.set(bytes, INPUT)
    this.#exports.keccak(INPUT, bytes.length, INPUT)
    return this.#memory.slice(INPUT, INPUT + 32)
  }

  #makeRoom(length: number): void {
    const missing = INPUT + length + 32 - this.#memory.length
    if (missing <= 0) return
    this.#exports.memory.grow(Math.ceil(missing / PAGE))
    this.#memory = new Uint8Array(this.#exports.memory.buffer)
  }
}

/** A buffer of `DESK_LENGTH` bytes that are hashed in place. */
export class Desk {
  readonly #exports = newInstance()
  readonly bytes: Uint8Array = new Uint8Array(this.#exports.memory.buffer, INPUT, DESK_LENGTH)
  readonly view: DataView = new DataView(this.#exports.memory.buffer, INPUT, DESK_LENGTH)

  /** Keccak-256 of the first bytes, which it overwrites. */
  hash(length: number): Digest {
    this.#exports.keccak(INPUT, length, INPUT)
    return readDigest(this.view, 0)
  }

  /** Keccak-256 of `length` bytes from `source` on, written to `target`. */
  hashTo(source: number, length: number, target: number): void {
    this.#exports.keccak(INPUT + source, length, INPUT + target)
  }
}

const hasher = new Hasher()

export function keccak256(bytes: Uint8Array): Uint8Array {
  return hasher.hash(bytes)
}

/** A function for Keccak-512 of up to 71 bytes. It uses only its parameter, so it can go to a worker as text. */
export function createKeccak512(wasm: string): (bytes: Uint8Array) => Uint8Array {
  const module = new WebAssembly.Module(Buffer.from(wasm, 'base64'))
  const { memory, STATE, permute } = new WebAssembly.Instance(module, {}).exports as unknown as {
    readonly memory: WebAssembly.Memory
    readonly STATE: WebAssembly.Global
    readonly permute: () => void
  }
  const state = new Uint8Array(memory.buffer, STATE.value as number, 200)
  return (bytes) => {
    state.fill(0)
    state.set(bytes)
    // the padding, up to the rate of 72 bytes
    state[bytes.length]! ^= 0x01
    state[71]! ^= 0x80
    permute()
    return state.slice(0, 64)
  }
}

export function readDigest(view: DataView, at: number): Digest {
  return {
    a: view.getInt32(at, true),
    b: view.getInt32(at + 4, true),
    c: view.getInt32(at + 8, true),
    d: view.getInt32(at + 12, true),
    e: view.getInt32(at + 16, true),
    f: view.getInt32(at + 20, true),
    g: view.getInt32(at + 24, true),
    h: view.getInt32(at + 28, true),
  }
}

export function writeDigest(view: DataView, at: number, digest: Digest): void {
  view.setInt32(at, digest.a, true)
  view.setInt32(at + 4, digest.b, true)
  view.setInt32(at + 8, digest.c, true)
  view.setInt32(at + 12, digest.d, true)
  view.setInt32(at + 16, digest.e, true)
  view.setInt32(at + 20, digest.f, true)
  view.setInt32(at + 24, digest.g, true)
  view.setInt32(at + 28, digest.h, true)
}

export function bytesOfDigest(digest: Digest): Uint8Array {
  const { a, b, c, d, e, f, g, h } = digest
  const words = [a, b, c, d, e, f, g, h]
  // a view would make V8 move the bytes out of its heap
  const bytes = new Uint8Array(32)
  for (let at = 0; at < 32; at++) bytes[at] = words[at >> 2]! >>> (8 * (at & 3))
  return bytes
}

function newInstance(): Exports {
  return new WebAssembly.Instance(MODULE, {}).exports as unknown as Exports
}
