// A pack: a chain as one file. Two lines say what it is; the state follows, compressed.
import { promisify } from 'node:util'
import { brotliCompress, brotliDecompress, constants, crc32 } from 'node:zlib'
import { DevchainError, limitExceeded } from '../core/errors.ts'
import { headOf } from '../node/ledger/blocktree.ts'
import { beginningWith, type ChainState } from '../node/ledger/chainstate.ts'
import type { ForkBase, ForkSource } from '../node/ledger/upstream.ts'
import type { DevchainSettings } from '../options/derived.ts'
import { FORMAT } from './frames.ts'
import { packInTurns, unpackState } from './pack.ts'

/** The first line is this, the number of the format, and the CRC-32 of all that follows. */
const TITLE = 'devchain pack'

/** Faster than gzip at this quality, smaller, and the same bytes on every processor, which zlib's are not. */
const QUALITY = 4

/** Bytes of a state: it is in memory while a chain begins with it. */
const MAX_STATE = 2 ** 31 - 1

/** Node's minimum. */
const LEAST_CHUNK = 64

/** The second line, as JSON. */
interface PackFacts {
  readonly chainId: number
  readonly block: number
  readonly hash: string
  /** The node of `--compat`. */
  readonly compat?: DevchainSettings['compat']
  readonly fork?: PackedFork | undefined
  /** Bytes of the state, uncompressed. */
  readonly size: number
}

/** Which network and block; URLs may have keys, so a pack has none. */
export type PackedFork = Omit<ForkSource, 'urls'>

export interface Pack {
  readonly state: ChainState
  readonly compat: DevchainSettings['compat']
}

/** The same bytes for the same chain. */
export async function writePack({ state, compat }: Pack): Promise<Uint8Array> {
  const bytes = await packInTurns(beginningWith(state))
  if (bytes.length > MAX_STATE) {
    const message = `the state of the chain has ${bytes.length} bytes, and a pack holds ${MAX_STATE}: keep the chain in a folder (--state)`
    throw limitExceeded(message)
  }
  const { header, hash } = headOf(state.tree).block
  const chainId = Number(state.config.chainId)
  const { urls, ...fork } = state.config.upstream?.source ?? {}
  const facts: PackFacts = {
    chainId,
    block: Number(header.number),
    hash,
    compat,
    ...('name' in fork && { fork }),
    size: bytes.length,
  }
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: QUALITY,
    [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
  }
  const packed = await promisify(brotliCompress)(bytes, { params })
  const rest = Buffer.concat([Buffer.from(`${JSON.stringify(facts)}\n`), packed])
  return Buffer.concat([Buffer.from(`${TITLE} ${FORMAT} ${sumOf(rest)}\n`), rest])
}

/**
 * The state has no origin. Its parts are read when they are asked for.
 * @param name of the file, for messages
 * @param openFork called with the fork of a forked chain; undefined if the chain is none
 * @throws {DevchainError} `DAMAGED` for anything but a whole pack of this format; as `openFork`
 */
export async function readPack(
  bytes: Uint8Array,
  name: string,
  openFork: (fork: PackedFork | undefined) => Promise<ForkBase | undefined>,
): Promise<Pack> {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  const start = file.indexOf('\n') + 1
  const [, format, sum] = FIRST_LINE.exec(file.toString('latin1', 0, start)) ?? []
  if (format === undefined) throw noPack(name, whatIs(file))
  if (Number(format) !== FORMAT) {
    const age = Number(format) > FORMAT ? 'a newer' : 'an older'
    throw noPack(name, `a pack of ${age} devchain (format ${format}; this one reads ${FORMAT})`)
  }
  const middle = file.indexOf('\n', start) + 1
  if (middle === 0 || sumOf(file.subarray(start)) !== sum) throw notWhole(name)
  const facts = JSON.parse(file.toString('utf8', start, middle)) as PackFacts
  // one piece: joining many takes as long as decompressing
  const state = await promisify(brotliDecompress)(file.subarray(middle), {
    chunkSize: Math.max(LEAST_CHUNK, facts.size),
    maxOutputLength: facts.size,
  })
  return { state: unpackState(state, await openFork(facts.fork)), compat: facts.compat }
}

const FIRST_LINE = new RegExp(`^${TITLE} (\\d+) ([0-9a-f]{8})\n$`)

/** What users may take for a pack. */
function whatIs(file: Buffer): string {
  const beginning = file.toString('latin1', 0, 64).trimStart()
  if (file.length === 0) return 'an empty file'
  if (beginning.startsWith('{')) return 'JSON; --load-state reads dumps of anvil'
  if (beginning.startsWith('devchain state'))
    return 'the file of a chain on disk; --state reads its folder'
  return 'something else'
}

function noPack(name: string, got: string): DevchainError {
  const message = `${name}: expected a pack that devchain save wrote, got ${got}`
  return new DevchainError('DAMAGED', message)
}

function notWhole(name: string): DevchainError {
  const message = `${name}: the pack is damaged or cut off: its checksum is another; save it again`
  return new DevchainError('DAMAGED', message)
}

function sumOf(bytes: Uint8Array): string {
  return crc32(bytes).toString(16).padStart(8, '0')
}
