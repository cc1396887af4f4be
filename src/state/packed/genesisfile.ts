// Reads a genesis file as a stream. Only a file without any fault is read here; parseGenesis refuses the others.
import { DevchainError } from '../../core/errors.ts'
import type { Address } from '../../core/hex.ts'
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

/** An account that has a balance only, as most have. One pattern takes a third of the time of reading byte by byte. */
function plainAccount(before: string): RegExp {
  const parts = [
    before,
    '"(?:0[xX])?([\\da-fA-F]{40})"',
    ':',
    '\\{',
    '"balance"',
    ':',
    '"(?:0[xX]([\\da-fA-F]{1,64})|(\\d{1,64}))"',
    '\\}',
  ]
  return new RegExp(parts.join('[ \\n\\r\\t]*'), 'y')
}

const utf8 = new TextDecoder()

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
  /** A character for each byte. */
  #text: string | undefined
  readonly #first = plainAccount('')
  readonly #next = plainAccount(',')

  get isComplete(): boolean {
    return this.#state === 'end'
  }

  /** Reads all complete members, and returns the rest. */
  read(bytes: Buffer): Uint8Array {
    this.#bytes = bytes
    this.#text = undefined
    let at = 0
    for (;;) {
      if (this.#state === 'alloc') at = this.#readPlain(at)
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
    this.members.push(utf8.decode(this.#bytes.subarray(start, end)))
    this.#isFirst = false
    return end
  }

  /** Reads plain accounts up to the first that is not, or not all there; returns the end of the last. */
  #readPlain(from: number): number {
    const text = this.#text ?? this.#bytes.toString('latin1')
    this.#text = text
    let at = from
    for (;;) {
      const pattern = this.#isFirst ? this.#first : this.#next
      pattern.lastIndex = at
      const [, address, digits, decimal] = pattern.exec(text) ?? []
      if (address === undefined) return at
      this.accounts.add(address, digits ?? BigInt(decimal!).toString(16))
      this.#isFirst = false
      at = pattern.lastIndex
    }
  }

  #readAccount(start: number): number | undefined {
    const name = this.#nameAt(start)
    if (name === undefined) return undefined
    const end = valueEnd(this.#bytes, name.end)
    if (end === undefined) return undefined
    const account = parseAllocAccount(JSON.parse(utf8.decode(this.#bytes.subarray(name.end, end))))
    const digits = /^(?:0x)?([\da-f]{40})$/i.exec(name.text)?.[1]
    if (account === undefined || digits === undefined) throw new Unreadable()
    const address = digits.toLowerCase()
    this.accounts.addOther(address, accountFrom(`0x${address}` as Address, account))
    this.#isFirst = false
    return end
  }

  /** A name and the end of its colon; undefined if it is not all there. */
  #nameAt(start: number): { readonly text: string; readonly end: number } | undefined {
    const end = this.#bytes.indexOf(QUOTE, start + 1)
    if (end < 0) return undefined
    const name = utf8.decode(this.#bytes.subarray(start + 1, end))
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
