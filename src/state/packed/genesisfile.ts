// Reads a genesis file as a stream. Only a file without any fault is read here; parseGenesis refuses the others.
import { DevchainError } from '../../core/errors.ts'
import { type Address, hexFromBytes } from '../../core/hex.ts'
import { yielder } from '../../core/yield.ts'
import { accountFrom, type Genesis, parseAllocAccount, parseGenesis } from '../genesis.ts'
import {
  CLOSE,
  COLON,
  COMMA,
  isSpace,
  OPEN,
  QUOTE,
  readChunks,
  skipSpace,
  valueEnd,
} from './jsonbytes.ts'
import { PackedAccounts } from './packedaccounts.ts'

const ZERO = 0x30
const SMALL_X = 0x78
const LARGE_X = 0x58

const ADDRESS_DIGITS = 40
const WORD_DIGITS = 64

/** By character code; 255 for what is no hex digit. */
const DIGITS = new Uint8Array(256).fill(255)
for (const [value, digit] of [...'0123456789abcdef'].entries()) {
  DIGITS[digit.charCodeAt(0)] = value
  DIGITS[digit.toUpperCase().charCodeAt(0)] = value
}

const text = new TextDecoder()

/** The file has a fault, or a form that this reader does not know. */
class Unreadable extends Error {}

export interface StreamedGenesis {
  /** Undefined if the file must be read as a whole: it has a fault, or an unusual form. */
  readonly genesis: Genesis | undefined
  /** An address that the file has twice. */
  readonly repeated?: Address
}

const NOT_READ: StreamedGenesis = { genesis: undefined }

/** @param onAccounts called for each chunk with the number of accounts so far */
export async function readGenesisStream(
  chunks: AsyncIterable<Uint8Array>,
  onAccounts: (count: number) => void,
): Promise<StreamedGenesis> {
  const reader = new GenesisReader()
  try {
    const rest = await readChunks(chunks, (bytes) => {
      const left = reader.read(bytes)
      onAccounts(reader.accounts.count)
      return left
    })
    if (!reader.isComplete || rest.some((byte) => !isSpace(byte))) return NOT_READ
    const header = parseGenesis(JSON.parse(`{${reader.members.join(',')}}`))
    const { world, repeated } = await reader.accounts.world(yielder())
    if (repeated !== undefined) return { genesis: undefined, repeated }
    return { genesis: { ...header, world } }
  } catch (error) {
    const isFault = error instanceof DevchainError || error instanceof SyntaxError
    if (isFault || error instanceof Unreadable) return NOT_READ
    throw error
  }
}

class GenesisReader {
  readonly accounts = new PackedAccounts()
  /** The text of all members but `alloc`. */
  readonly members: string[] = []
  #state: 'start' | 'file' | 'alloc' | 'end' = 'start'
  #isFirst = true
  #hasAlloc = false
  #bytes: Buffer = Buffer.alloc(0)
  readonly #address = Buffer.alloc(ADDRESS_DIGITS / 2)
  readonly #balance = Buffer.alloc(WORD_DIGITS / 2)

  get isComplete(): boolean {
    return this.#state === 'end'
  }

  /** Reads all complete members, and returns the rest. */
  read(bytes: Buffer): Uint8Array {
    this.#bytes = bytes
    let at = 0
    for (;;) {
      const next = this.#step(at)
      if (next === undefined) return bytes.subarray(at)
      at = next
    }
  }

  /** Reads from `from` to the end of a member; undefined if it is not all there. */
  #step(from: number): number | undefined {
    const at = this.#skipSpace(from)
    const first = this.#bytes[at]
    if (first === undefined) return undefined
    if (this.#state === 'start') {
      if (first === 0xef) return this.#bytes.length < 3 ? undefined : this.#skipMark(at)
      if (first !== OPEN) throw new Unreadable()
      this.#state = 'file'
      return at + 1
    }
    if (this.#state === 'end') throw new Unreadable()
    if (first === CLOSE) {
      this.#state = this.#state === 'file' ? 'end' : 'file'
      this.#isFirst = false
      return at + 1
    }
    if (!this.#isFirst && first !== COMMA) throw new Unreadable()
    const start = this.#isFirst ? at : this.#skipSpace(at + 1)
    if (start >= this.#bytes.length) return undefined
    if (this.#bytes[start] !== QUOTE) throw new Unreadable()
    return this.#state === 'file' ? this.#readMember(start) : this.#readAccount(start)
  }

  #skipMark(at: number): number {
    if (at > 0 || this.#bytes[1] !== 0xbb || this.#bytes[2] !== 0xbf) throw new Unreadable()
    return 3
  }

  #readMember(start: number): number | undefined {
    const name = this.#nameAt(start)
    if (name === undefined) return undefined
    if (name.text.toLowerCase() === 'alloc') {
      const at = this.#skipSpace(name.end)
      if (at >= this.#bytes.length) return undefined
      if (this.#hasAlloc || this.#bytes[at] !== OPEN) throw new Unreadable()
      this.#hasAlloc = true
      this.#state = 'alloc'
      this.#isFirst = true
      return at + 1
    }
    const end = valueEnd(this.#bytes, name.end)
    if (end === undefined) return undefined
    this.members.push(text.decode(this.#bytes.subarray(start, end)))
    this.#isFirst = false
    return end
  }

  #readAccount(start: number): number | undefined {
    const end = this.#readPlain(start) ?? this.#readAny(start)
    if (end !== undefined) this.#isFirst = false
    return end
  }

  /** An account that has a balance only, as most have. */
  #readPlain(start: number): number | undefined {
    const bytes = this.#bytes
    let at = start + 1
    if (isX(bytes[at + 1]) && bytes[at] === ZERO) at += 2
    at = this.#readHex(at, at + ADDRESS_DIGITS, this.#address)
    if (at < 0 || bytes[at] !== QUOTE) return undefined
    at = this.#skipSpace(at + 1)
    if (bytes[at] !== COLON) return undefined
    at = this.#skipSpace(at + 1)
    if (bytes[at] !== OPEN) return undefined
    at = this.#skipSpace(at + 1)
    if (!this.#isBalance(at)) return undefined
    at = this.#skipSpace(at + BALANCE_NAME.length)
    if (bytes[at] !== COLON) return undefined
    at = this.#readBalance(this.#skipSpace(at + 1))
    if (at < 0) return undefined
    at = this.#skipSpace(at)
    if (bytes[at] !== CLOSE) return undefined
    this.accounts.add(this.#address, this.#balance)
    return at + 1
  }

  #isBalance(at: number): boolean {
    for (let i = 0; i < BALANCE_NAME.length; i++) {
      if (this.#bytes[at + i] !== BALANCE_NAME[i]) return false
    }
    return true
  }

  /** Text with hex or decimal digits; returns its end, or -1 for anything else. */
  #readBalance(from: number): number {
    const bytes = this.#bytes
    if (bytes[from] !== QUOTE) return -1
    const isHex = bytes[from + 1] === ZERO && isX(bytes[from + 2])
    const start = from + (isHex ? 3 : 1)
    const most = isHex ? 15 : 9
    let end = start
    while (DIGITS[bytes[end]!]! <= most) end += 1
    const length = end - start
    if (length === 0 || length > WORD_DIGITS || bytes[end] !== QUOTE) return -1
    this.#balance.fill(0)
    if (isHex) this.#readHex(end - length, end, this.#balance)
    else this.#writeDecimal(start, end)
    return end + 1
  }

  #writeDecimal(start: number, end: number): void {
    const digits = this.#bytes.toString('latin1', start, end)
    const number = BigInt(digits)
    for (let i = 0; i < 4; i++) {
      this.#balance.writeBigUInt64BE(BigInt.asUintN(64, number >> BigInt(192 - 64 * i)), 8 * i)
    }
  }

  /** Writes hex digits to the end of `target`; returns their end, or -1 if one is no digit. */
  #readHex(start: number, end: number, target: Uint8Array): number {
    let to = target.length - 1
    let at = end - 1
    for (; at > start; at -= 2, to--) {
      const low = DIGITS[this.#bytes[at]!]!
      const high = DIGITS[this.#bytes[at - 1]!]!
      if (!(low <= 15 && high <= 15)) return -1
      target[to] = (high << 4) | low
    }
    if (at === start) target[to] = DIGITS[this.#bytes[at]!]!
    return end
  }

  #readAny(start: number): number | undefined {
    const name = this.#nameAt(start)
    if (name === undefined) return undefined
    const end = valueEnd(this.#bytes, name.end)
    if (end === undefined) return undefined
    const account = parseAllocAccount(JSON.parse(text.decode(this.#bytes.subarray(name.end, end))))
    const digits = /^(?:0x)?([\da-f]{40})$/i.exec(name.text)?.[1]
    if (account === undefined || digits === undefined) throw new Unreadable()
    const address = Buffer.from(digits, 'hex')
    this.accounts.addOther(address, accountFrom(hexFromBytes(address) as Address, account))
    return end
  }

  /** A name and the end of its colon; undefined if it is not all there. */
  #nameAt(start: number): { readonly text: string; readonly end: number } | undefined {
    const end = this.#bytes.indexOf(QUOTE, start + 1)
    if (end < 0) return undefined
    const name = text.decode(this.#bytes.subarray(start + 1, end))
    if (name.includes('\\')) throw new Unreadable()
    const colon = this.#skipSpace(end + 1)
    if (colon >= this.#bytes.length) return undefined
    if (this.#bytes[colon] !== COLON) throw new Unreadable()
    return { text: name, end: colon + 1 }
  }

  #skipSpace(from: number): number {
    return skipSpace(this.#bytes, from)
  }
}

const BALANCE_NAME = Buffer.from('"balance"')

function isX(byte: number | undefined): boolean {
  return byte === SMALL_X || byte === LARGE_X
}
