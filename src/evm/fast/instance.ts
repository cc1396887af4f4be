// One WebAssembly instance: its memory and functions, with access to words and addresses.
import { limitExceeded } from '../../core/errors.ts'
import { type Address, bytesFromHex } from '../../core/hex.ts'
import { lazy } from '../../core/lrucache.ts'
import { SYSTEM_ADDRESS } from '../../state/predeploys.ts'
import { TRANSFER_EVENT } from '../transferlog.ts'
import { WASM } from './interpreter.wasm.ts'
import { INIT_CODE_ROOM, MEMORY, ROOM_END, SYSTEM_BYTES, TRANSFER_TOPIC } from './layout.ts'

interface InstanceHost {
  readonly loadAccount: (account: number) => void
  readonly loadCode: (account: number) => void
  readonly loadCodeHash: (account: number) => void
  readonly loadSlot: (account: number, key: number, value: number) => void
  readonly loadBlockHash: (number: bigint, target: number) => void
  readonly reportConsole: (caller: number, input: number, length: number) => void
  readonly flushEvents: () => void
  readonly reportMemory: (depth: number, memory: number, size: number) => void
  readonly reportReached: (record: number) => void
}

/** Limits a job's lookups, changes and logs: millions of slots, far more than a block needs. */
const HEAP_LIMIT = 2 ** 30

interface InstanceExports {
  readonly table: WebAssembly.Table
  readonly prepareMemo: () => void
  readonly beginJob: () => void
  readonly openMessage: (sender: number, target: number) => number
  readonly openCreation: (sender: number, nonce: bigint) => number
  readonly run: () => number
  readonly endPrecompile: (end: number, gasLeft: bigint, length: number) => number
  readonly accountAt: (word: number) => number
  readonly preWarmSlot: (account: number, key: number) => void
  readonly returnRoom: (length: number) => number
  readonly take: (size: number) => number
  readonly analyze: (code: number, length: number, map: number) => void
}

const PAGE = 65_536
const LIMB = 0xffff_ffff_ffff_ffffn

const MOST_PAGES = 65_536

const moduleOfEngine = lazy(() => new WebAssembly.Module(Buffer.from(WASM, 'base64')))

function refuseRoom(): never {
  const limit = HEAP_LIMIT / 2 ** 20
  throw limitExceeded(
    `the execution reads and writes too much: expected state and logs within ${limit} MiB; run it with less gas`,
  )
}

export class Instance {
  readonly exports: InstanceExports
  readonly memory: WebAssembly.Memory
  /** Limits the memory of all open frames together, in bytes. */
  readonly memoryLimit: number
  /** Call `refresh` after any call into the instance, which may have grown its memory. */
  bytes: Uint8Array
  buffer: Buffer
  words32: Uint32Array
  words64: BigUint64Array

  constructor(host: InstanceHost, memoryLimit: number) {
    const roomEnd = Math.ceil((MEMORY + memoryLimit) / PAGE) * PAGE + INIT_CODE_ROOM
    this.memoryLimit = memoryLimit
    this.memory = new WebAssembly.Memory({
      initial: roomEnd / PAGE,
      maximum: Math.min(MOST_PAGES, (roomEnd + HEAP_LIMIT) / PAGE),
    })
    const { exports } = new WebAssembly.Instance(moduleOfEngine(), {
      env: { memory: this.memory },
      host: { ...host, refuseRoom },
    })
    this.exports = exports as unknown as InstanceExports
    this.bytes = new Uint8Array(this.memory.buffer)
    this.buffer = Buffer.from(this.memory.buffer)
    this.words32 = new Uint32Array(this.memory.buffer)
    this.words64 = new BigUint64Array(this.memory.buffer)
    this.words32[ROOM_END >> 2] = roomEnd
    this.exports.prepareMemo()
    this.bytes.set(bytesFromHex(SYSTEM_ADDRESS), SYSTEM_BYTES)
    this.bytes.set(bytesFromHex(TRANSFER_EVENT), TRANSFER_TOPIC)
  }

  refresh(): void {
    if (this.bytes.byteLength !== 0) return
    this.bytes = new Uint8Array(this.memory.buffer)
    this.buffer = Buffer.from(this.memory.buffer)
    this.words32 = new Uint32Array(this.memory.buffer)
    this.words64 = new BigUint64Array(this.memory.buffer)
  }

  number(place: number): number {
    return this.words32[place >> 2] as number
  }

  setNumber(place: number, value: number): void {
    this.words32[place >> 2] = value
  }

  long(place: number): bigint {
    return this.words64[place >> 3] as bigint
  }

  setLong(place: number, value: bigint): void {
    this.words64[place >> 3] = value
  }

  word(place: number): bigint {
    const at = place >> 3
    const limbs = this.words64
    const low = limbs[at] as bigint
    // most words are short; building long bigints takes much longer
    if (this.#isShort(place >> 2)) return low
    const second = limbs[at + 1] as bigint
    const third = limbs[at + 2] as bigint
    const high = limbs[at + 3] as bigint
    return low | (second << 64n) | (third << 128n) | (high << 192n)
  }

  /** True below 2^64. Compares small numbers, as bigints allocate. */
  #isShort(at: number): boolean {
    const words = this.words32 as unknown as readonly number[]
    return (
      (words[at + 2]! |
        words[at + 3]! |
        words[at + 4]! |
        words[at + 5]! |
        words[at + 6]! |
        words[at + 7]!) ===
      0
    )
  }

  setWord(place: number, value: bigint): void {
    const at = place >> 3
    const limbs = this.words64
    if (value <= LIMB) {
      limbs[at] = value
      limbs[at + 1] = 0n
      limbs[at + 2] = 0n
      limbs[at + 3] = 0n
      return
    }
    limbs[at] = value & LIMB
    limbs[at + 1] = (value >> 64n) & LIMB
    limbs[at + 2] = (value >> 128n) & LIMB
    limbs[at + 3] = value >> 192n
  }

  copyWord(target: number, source: number): void {
    this.words64.copyWithin(target >> 3, source >> 3, (source >> 3) + 4)
  }

  setAddress(place: number, address: Address): void {
    const at = place >> 2
    const words = this.words32
    words[at] = Number.parseInt(address.slice(34), 16)
    words[at + 1] = Number.parseInt(address.slice(26, 34), 16)
    words[at + 2] = Number.parseInt(address.slice(18, 26), 16)
    words[at + 3] = Number.parseInt(address.slice(10, 18), 16)
    words[at + 4] = Number.parseInt(address.slice(2, 10), 16)
    words[at + 5] = 0
    words[at + 6] = 0
    words[at + 7] = 0
  }

  addressAt(place: number): Address {
    return `0x${this.buffer.toString('hex', place, place + 20)}` as Address
  }

  slice(place: number, length: number): Uint8Array {
    return this.bytes.slice(place, place + length)
  }
}
