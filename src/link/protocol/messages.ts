// Every message between peers: the RLP list of a number and its fields, each encoded and decoded within bounds.
import { type DevchainError, invalidParams } from '../../core/errors.ts'
import type { Hash } from '../../core/hex.ts'
import { decodeRlp, encodedItems, encodeRlp, type RlpItem, type RlpValue } from '../../core/rlp.ts'
import type { PeerInfo } from '../../node/peers.ts'
import { ListFields } from '../../protocol/fields.ts'

/** Peers with another version are refused. */
export const LINK_VERSION = 1

/** Bytes of one message; a larger block is not sent. Reading takes twice as much memory. */
export const MAX_MESSAGE: number = 2 ** 21

/** Bytes after which a reply ends, with few peers; the peer asks again for the rest. */
export const REPLY_BYTES: number = 2 ** 20

/** Items of one message. */
export const MOST = {
  /** Hashes that show which blocks the asker has. */
  locator: 100,
  headers: 512,
  blocks: 128,
  hashes: 4_096,
  transactions: 256,
} as const

const MAX_HEADER = 2_048

/** Bytes of a message without requested blocks or transactions. */
const MAX_SHORT: number = 2 ** 20 + 2 ** 16

/** Bytes of announced blocks with their framing; the longest unrequested message. */
export const MAX_ANNOUNCE: number = 2 ** 19

/** Bytes, where not `MAX_SHORT`. */
const LONGEST: Partial<Record<MessageKind, number>> = {
  announce: MAX_ANNOUNCE,
  blocks: MAX_MESSAGE,
  transactions: MAX_MESSAGE,
}

/** RLP items: kind, fields, and the entries of the one list. */
const MOST_ITEMS: number = 32 + MOST.hashes

type Head = Pick<PeerInfo, 'head' | 'number' | 'totalDifficulty'>

/** Kinds with `id` are a request, or the reply with the same id. */
export interface LinkMessages {
  /** The first message of both sides; sent again by a side that adopts the other's genesis time. */
  readonly hello: Head & {
    readonly version: number
    readonly networkId: bigint
    readonly chainId: bigint
    readonly genesis: Hash
    /** Seconds. */
    readonly genesisTime: bigint
    /** True: only the genesis exists, and its time was not set. */
    readonly isOpen: boolean
    /** EIP-2124, at the newest block. */
    readonly forkId: Uint8Array
    /** At block 1. */
    readonly hardfork: string
    readonly nodeId: Uint8Array
    readonly name: string
    readonly client: string
  }
  /** The last message: why the link ends. */
  readonly goodbye: { readonly reason: string }
  /** The newest block; if few are new, also these blocks, oldest first. */
  readonly announce: Head & { readonly blocks: readonly Uint8Array[] }
  /** Headers after the first of these hashes on the receiver's chain. */
  readonly getHeaders: {
    readonly id: number
    readonly locator: readonly Hash[]
    readonly most: number
  }
  readonly headers: { readonly id: number; readonly headers: readonly Uint8Array[] }
  readonly getBlocks: { readonly id: number; readonly hashes: readonly Hash[] }
  readonly blocks: { readonly id: number; readonly blocks: readonly Uint8Array[] }
  readonly pooled: { readonly hashes: readonly Hash[] }
  readonly getTransactions: { readonly id: number; readonly hashes: readonly Hash[] }
  /** Those that fit: with blobs (EIP-4844, EIP-7594), or for impersonated senders the address in place of a signature. */
  readonly transactions: { readonly id: number; readonly transactions: readonly Uint8Array[] }
  /** The first ping also says that its sender has accepted the peer. */
  readonly ping: { readonly id: number }
  readonly pong: { readonly id: number }
  /** True: the sender is cut off until further notice (devchain_partition). */
  readonly hold: { readonly isOn: boolean }
}

export type MessageKind = keyof LinkMessages

export type LinkMessage<K extends MessageKind = MessageKind> = {
  [Each in K]: { readonly kind: Each } & LinkMessages[Each]
}[K]

/** How a field is encoded as RLP, and decoded within bounds. */
interface FieldCodec<T> {
  readonly encode: (value: T) => RlpValue
  /** @throws {DevchainError} `INVALID_PARAMS` for an invalid or too large value */
  readonly read: (fields: ListFields, name: string) => T
}

function integer(most: number): FieldCodec<bigint> {
  return { encode: (value) => value, read: (fields, name) => fields.integer(name, most) }
}

/** A safe integer. */
const count: FieldCodec<number> = {
  encode: (value) => BigInt(value),
  read: (fields, name) => Number(fields.integer(name, 6)),
}

const hash: FieldCodec<Hash> = {
  encode: (value) => value,
  read: (fields, name) => fields.hash(name),
}

const flag: FieldCodec<boolean> = {
  encode: (value) => (value ? 1n : 0n),
  read: (fields, name) => fields.integer(name, 1) !== 0n,
}

function bytes(most: number, least = 0): FieldCodec<Uint8Array> {
  return {
    encode: (value) => value,
    read: (fields, name) => {
      const value = fields.bytes(name)
      if (value.length <= most && value.length >= least) return value
      const expected = least === most ? `${most}` : `at most ${most}`
      throw malformed(`${name} has ${value.length} bytes, expected ${expected}`)
    },
  }
}

/** One line of UTF-8, at most `most` bytes; control characters are replaced. */
function text(most: number): FieldCodec<string> {
  const raw = bytes(most)
  return {
    encode: (value) => new TextEncoder().encode(value).subarray(0, most),
    read: (fields, name) =>
      new TextDecoder().decode(raw.read(fields, name)).replace(/[\p{Cc}\p{Cf}]/gu, '�'),
  }
}

function list<T>(item: FieldCodec<T>, most: number): FieldCodec<readonly T[]> {
  return {
    encode: (values) => values.map(item.encode),
    read: (fields, name) => {
      const items = fields.list(name)
      if (items.length > most) {
        throw malformed(`${name} has ${items.length} items, expected at most ${most}`)
      }
      const each = new ListFields(items, name, items.length, items.length)
      return items.map((_, i) => item.read(each, `${i}`))
    },
  }
}

function malformed(problem: string): DevchainError {
  return invalidParams(`malformed message: ${problem}`)
}

type Shape<M> = { readonly [Name in keyof M]: FieldCodec<M[Name]> }

const HEAD: Shape<Head> = { head: hash, number: integer(8), totalDifficulty: integer(64) }

/** Field types, in wire order. The place of a kind is its number on the wire. */
const SHAPES: { readonly [K in MessageKind]: Shape<LinkMessages[K]> } = {
  hello: {
    version: count,
    networkId: integer(8),
    chainId: integer(8),
    genesis: hash,
    genesisTime: integer(8),
    isOpen: flag,
    forkId: bytes(4, 4),
    hardfork: text(32),
    ...HEAD,
    nodeId: bytes(32, 32),
    name: text(64),
    client: text(64),
  },
  goodbye: { reason: text(300) },
  announce: { ...HEAD, blocks: list(bytes(MAX_MESSAGE), MOST.blocks) },
  getHeaders: { id: count, locator: list(hash, MOST.locator), most: count },
  headers: { id: count, headers: list(bytes(MAX_HEADER), MOST.headers) },
  getBlocks: { id: count, hashes: list(hash, MOST.blocks) },
  blocks: { id: count, blocks: list(bytes(MAX_MESSAGE), MOST.blocks) },
  pooled: { hashes: list(hash, MOST.hashes) },
  getTransactions: { id: count, hashes: list(hash, MOST.transactions) },
  transactions: { id: count, transactions: list(bytes(MAX_MESSAGE), MOST.transactions) },
  ping: { id: count },
  pong: { id: count },
  hold: { isOn: flag },
}

type AnyFields = Readonly<Record<string, FieldCodec<unknown>>>

const KINDS = Object.keys(SHAPES) as MessageKind[]

export function encodeMessage(message: LinkMessage): Uint8Array {
  const values = message as unknown as Readonly<Record<string, unknown>>
  const fields = Object.entries(SHAPES[message.kind] as AnyFields)
  const items = fields.map(([name, field]) => field.encode(values[name]))
  return encodeRlp([BigInt(KINDS.indexOf(message.kind)), ...items])
}

/** @throws {DevchainError} `INVALID_PARAMS` naming what is wrong */
export function decodeMessage(encoded: Uint8Array): LinkMessage {
  checkSize(encoded, 'message', MAX_MESSAGE)
  const [head] = encodedItems(encoded, MOST_ITEMS)
  const code = head && new ListFields([decodeRlp(head, 1)], 'message', 1, 1).integer('kind', 1)
  const kind = KINDS[Number(code)]
  if (kind === undefined) throw malformed(`there is no kind ${code ?? '""'}`)
  checkSize(encoded, kind, LONGEST[kind] ?? MAX_SHORT)
  const [, ...items] = decodeRlp(encoded, MOST_ITEMS) as readonly RlpItem[]
  const fields = SHAPES[kind] as AnyFields
  const names = Object.keys(fields)
  const body = new ListFields(items, kind, names.length, names.length)
  const values = names.map((name) => [name, fields[name]?.read(body, name)])
  return { kind, ...Object.fromEntries(values) } as LinkMessage
}

function checkSize({ length }: Uint8Array, name: string, most: number): void {
  if (length > most) throw malformed(`${name} has ${length} bytes, expected at most ${most}`)
}
