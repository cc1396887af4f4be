// The JSON of a dump as it arrives: large members by their entries, parsed one by one.
import type { MaybePromise } from '../../core/promises.ts'
import { OPEN, OPEN_LIST, valueEnd } from '../../state/packed/jsonbytes.ts'
import {
  type Piece,
  type PlainEntries,
  readPieces,
  type Split,
  textOf,
  UnreadableJson,
} from '../../state/packed/pieces.ts'
import { noDump } from './members.ts'

/** The value of a member whose entries follow. */
export const IS_SPLIT: symbol = Symbol('split')

/** A member or entry: what it belongs to (`''`, `blocks`), its name or place there, and its value. */
export type TakeValue = (path: string, name: string | number, value: unknown) => MaybePromise<void>

/**
 * @param plain accounts in the form that most have
 * @throws {DevchainError} `INVALID_PARAMS` for what is no JSON object
 */
export async function readValues(
  chunks: AsyncIterable<Uint8Array>,
  take: TakeValue,
  plain?: PlainEntries,
): Promise<void> {
  const splits = new Map<string, Split>([
    ['accounts', { brackets: [OPEN], ...(plain && { plain }) }],
    ['blocks', { brackets: [OPEN_LIST] }],
    ['transactions', { brackets: [OPEN_LIST] }],
    ['historical_states', { brackets: [OPEN_LIST, OPEN] }],
    ['historical_states.states', { brackets: [OPEN_LIST] }],
  ])
  try {
    await readPieces(chunks, splits, (piece, bytes) =>
      take(piece.path, piece.name, piece.end === undefined ? IS_SPLIT : parsed(bytes, piece)),
    )
  } catch (error) {
    throw error instanceof UnreadableJson ? noDump(error.message) : error
  }
}

const TRACES = Buffer.from('"traces":')

/** Call frames are most of a transaction, and nobody reads them. Within a string the quotes would be escaped. */
function withoutTraces(bytes: Buffer, piece: Piece): string {
  const { start, end } = piece
  const found = bytes.subarray(start, end).indexOf(TRACES)
  const from = start + found + TRACES.length
  const to = found < 0 ? undefined : valueEnd(bytes, from)
  if (to === undefined) return textOf(bytes, piece)
  return `${bytes.toString('utf8', start, from)}null${bytes.toString('utf8', to, end)}`
}

/** Of integers that JavaScript would round: a nonce may have 64 bits. */
const LONG_NUMBER = /([:[,]\s*|^)(\d{16,})(?=\s*([,}\]]|$))/g

function parsed(bytes: Buffer, piece: Piece): unknown {
  const { path, name } = piece
  try {
    const text = path === 'transactions' ? withoutTraces(bytes, piece) : textOf(bytes, piece)
    return JSON.parse(text.replace(LONG_NUMBER, '$1"$2"'))
  } catch (error) {
    const where = typeof name === 'number' ? `${path}[${name}]` : [path, name].join('.')
    throw noDump(`it is not JSON: ${where.replace(/^\./, '')}: ${(error as Error).message}`)
  }
}
