// What peers say to each other: every message once, as a number and its fields. A message is the RLP list of both.
import { DevchainError } from '../../core/errors.ts'
import type { Hash } from '../../core/hex.ts'
import { decodeRlp, encodedItems, encodeRlp, type RlpItem } from '../../core/rlp.ts'
import { ListFields } from '../../protocol/fields.ts'
import { bytes, count, type Field, flag, hash, integer, list, text } from './fields.ts'

/** The version of this protocol. Peers of another are refused. */
export const LINK_VERSION = 1

/** Bytes of one message. A block that is larger does not travel. While it is read it takes twice as much memory. */
export const MAX_MESSAGE: number = 2 ** 21

/** Bytes after which an answer with several items ends: the rest is asked for again. */
export const REPLY_BYTES: number = 2 ** 20

/** Items that one message may have. */
export const MOST = {
  /** Hashes by which an asker tells which blocks it has. */
  locator: 100,
  headers: 512,
  blocks: 128,
  hashes: 4_096,
  transactions: 256,
} as const

const MAX_HEADER = 2_048

/** Bytes of messages of kinds that carry no answer of blocks or transactions. */
const MAX_SHORT: number = 2 ** 20 + 2 ** 16

/** Bytes of blocks that are sent unasked, with what is around them. No other message that nobody asked for is longer. */
export const MAX_ANNOUNCE: number = 2 ** 19

/** Bytes that a message of a kind has at most, where that is not `MAX_SHORT`. */
const LONGEST: Partial<Record<Kind, number>> = {
  announce: MAX_ANNOUNCE,
  blocks: MAX_MESSAGE,
  transactions: MAX_MESSAGE,
}

/** Items of a message: its kind, its fields, and what is in the one that is a list. */
const MOST_ITEMS: number = 32 + MOST.hashes

interface Head {
  readonly head: Hash
  readonly number: bigint
  readonly totalDifficulty: bigint
}

/** The fields of each kind. Those with `id` are a question, or the answer with the same number. */
export interface Messages {
  /** The first one on both sides. It comes again where a side took over the other's time of the genesis. */
  readonly hello: Head & {
    readonly version: number
    readonly networkId: bigint
    readonly chainId: bigint
    readonly genesis: Hash
    /** Seconds. */
    readonly genesisTime: bigint
    /** True: no block but the genesis is there, whose time nobody asked for. */
    readonly isOpen: boolean
    /** EIP-2124, as of the newest block. */
    readonly forkId: Uint8Array
    /** Rules of block 1. */
    readonly hardfork: string
    readonly nodeId: Uint8Array
    readonly name: string
    readonly client: string
  }
  /** The last one: why the link ends. */
  readonly goodbye: { readonly reason: string }
  /** The sender's newest block, and where they are few the blocks that led to it, the oldest first. */
  readonly announce: Head & { readonly blocks: readonly Uint8Array[] }
  /** Asks for the headers after the first of these hashes that is on the other's chain. */
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
  /**
   * Those of the transactions that were asked for and wait, as many as fit: with their blobs in the form of EIP-4844 and
   * EIP-7594, those of impersonated senders with the sender in place of a signature.
   */
  readonly transactions: { readonly id: number; readonly transactions: readonly Uint8Array[] }
  /** The first one says that the sender has taken the other. */
  readonly ping: { readonly id: number }
  readonly pong: { readonly id: number }
  /** True: the sender hears and tells nothing but this until it says otherwise (devchain_partition). */
  readonly hold: { readonly isOn: boolean }
}

export type Kind = keyof Messages

export type Message<K extends Kind = Kind> = {
  [Each in K]: { readonly kind: Each } & Messages[Each]
}[K]

type Shape<M> = { readonly [Name in keyof M]: Field<M[Name]> }

const HEAD: Shape<Head> = { head: hash, number: integer(8), totalDifficulty: integer(64) }

/** Each message's number, and how its fields are written, in the order in which they travel. */
const SHAPES: { readonly [K in Kind]: readonly [code: number, fields: Shape<Messages[K]>] } = {
  hello: [
    0,
    {
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
  ],
  goodbye: [1, { reason: text(300) }],
  announce: [2, { ...HEAD, blocks: list(bytes(MAX_MESSAGE), MOST.blocks) }],
  getHeaders: [3, { id: count, locator: list(hash, MOST.locator), most: count }],
  headers: [4, { id: count, headers: list(bytes(MAX_HEADER), MOST.headers) }],
  getBlocks: [5, { id: count, hashes: list(hash, MOST.blocks) }],
  blocks: [6, { id: count, blocks: list(bytes(MAX_MESSAGE), MOST.blocks) }],
  pooled: [7, { hashes: list(hash, MOST.hashes) }],
  getTransactions: [8, { id: count, hashes: list(hash, MOST.transactions) }],
  transactions: [9, { id: count, transactions: list(bytes(MAX_MESSAGE), MOST.transactions) }],
  ping: [10, { id: count }],
  pong: [11, { id: count }],
  hold: [12, { isOn: flag }],
}

type AnyFields = Readonly<Record<string, Field<unknown>>>

const KINDS = new Map<number, Kind>(
  Object.entries(SHAPES).map(([kind, [code]]) => [code, kind as Kind]),
)

export function encodeMessage(message: Message): Uint8Array {
  const [code, fields] = SHAPES[message.kind] as readonly [number, AnyFields]
  const values = message as unknown as Readonly<Record<string, unknown>>
  return encodeRlp([
    BigInt(code),
    ...Object.entries(fields).map(([name, field]) => field.encode(values[name])),
  ])
}

/**
 * Reads a message, each of its bytes once. How long it is and how many items it has is held against its kind first.
 * @throws {DevchainError} `INVALID_PARAMS` naming what is wrong with it
 */
export function decodeMessage(encoded: Uint8Array): Message {
  checkSize(encoded, 'message', MAX_MESSAGE)
  const [head] = encodedItems(encoded, MOST_ITEMS)
  const code = head && new ListFields([decodeRlp(head, 1)], 'message', 1, 1).integer('kind', 1)
  const kind = KINDS.get(Number(code))
  if (kind === undefined) throw malformed(`there is no kind ${code ?? '""'}`)
  checkSize(encoded, kind, LONGEST[kind] ?? MAX_SHORT)
  const [, ...items] = decodeRlp(encoded, MOST_ITEMS) as readonly RlpItem[]
  const fields = SHAPES[kind][1] as AnyFields
  const names = Object.keys(fields)
  const body = new ListFields(items, kind, names.length, names.length)
  const values = names.map((name) => [name, fields[name]?.read(body, name)])
  return { kind, ...Object.fromEntries(values) } as Message
}

function checkSize({ length }: Uint8Array, name: string, most: number): void {
  if (length > most) throw malformed(`${name} has ${length} bytes, expected at most ${most}`)
}

function malformed(problem: string): DevchainError {
  return new DevchainError('INVALID_PARAMS', `malformed message: ${problem}`)
}
