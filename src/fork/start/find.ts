// Which block a fork goes on from: asked of the network, or as an earlier fork has found it.
import { DevchainError } from '../../core/errors.ts'
import { quantityFromBigint, ZERO_ADDRESS } from '../../core/hex.ts'
import type { ForkChoice } from '../../options/fork.ts'
import type { Hardfork } from '../../protocol/forks.ts'
import type { Json } from '../../rpc/schema.ts'
import { Client, type ClientOptions, type RefusedByUpstream } from '../client/client.ts'
import type { Provider } from '../client/provider.ts'
import { isPrivateUrl } from '../client/urls.ts'
import { isObject, quantity, unexpected } from '../network/answers.ts'
import { type RemoteBlock, readBlock } from '../network/header.ts'
import { isPruned } from '../network/pruned.ts'
import { admittedBy, isScheduled, namedHardfork, notBefore } from '../network/rules.ts'
import type { CassetteHead, Prefix } from '../store/cassette.ts'
import { type Found, type Heads, isHash, tagOrNumber } from './heads.ts'
import { askMachine } from './machine.ts'

/** Depths that reorganizations do not reach, by chain id: where a network has finality, less. */
const DEPTHS: ReadonlyMap<bigint, bigint> = new Map([
  [1n, 32n],
  [11_155_111n, 32n],
  [560_048n, 32n],
  [17_000n, 32n],
  [100n, 38n],
])

const USUAL_DEPTH = 128n

interface BlockOrder {
  readonly fork: ForkChoice
  /** The fork begins with the state before it. */
  readonly transaction?: string | undefined
  readonly chainId?: bigint | undefined
}

/**
 * Finds the block, in one round where its number or hash is named; where an earlier fork has found it already, in none.
 * @throws {DevchainError} `INVALID_PARAMS` where the network has no such block, or is another
 */
export async function findBlock(client: Client, order: BlockOrder, heads?: Heads): Promise<Found> {
  const { fork, transaction, chainId: wanted } = order
  const kept = transaction === undefined ? heads?.find(fork, wanted) : undefined
  if (kept !== undefined) return foundAgain(kept, fork)
  const named = transaction === undefined ? numberIn(fork) : undefined
  const early = named === undefined ? undefined : askBeside(client, fork, named)
  const [id, newestJson, first, info] = await Promise.all([
    client.request('eth_chainId', []),
    client.request('eth_blockNumber', []),
    transaction === undefined
      ? askNamed(client, fork)
      : client.request('eth_getTransactionByHash', [transaction]),
    // what only test nodes know: by which rules they go
    client.request('anvil_nodeInfo', []).catch(() => null),
  ])
  const chainId = quantity(id)
  requireChain(client, chainId, wanted)
  const newest = quantity(newestJson)
  const depth = depthOf(fork, chainId)
  const place =
    transaction === undefined
      ? await blockOf(client, fork, { first, newest, depth })
      : await placeOf(client, fork, transaction, first)
  const block = readBlock(place.json)
  const name = (info as { hardFork?: unknown } | null)?.hardFork
  const { prefix, beside = early } = place
  const machine = (): Promise<Hardfork | undefined> =>
    beside?.machine ?? askMachine(client, block.header.number)
  const hardfork = namedHardfork(name, block.header) ?? (await rulesIn(chainId, block, machine))
  const head = { chainId: `${chainId}`, block: place.json, hardfork, ...(prefix && { prefix }) }
  const found = { head, block, newest, depth, isSeen: true, pruned: beside?.pruned }
  if (transaction === undefined) heads?.keep(fork, found)
  return found
}

function requireChain({ name }: Client, chainId: bigint, wanted: bigint | undefined): void {
  if (wanted === undefined || wanted === chainId) return
  const message = `fork: ${name} has the chain id ${chainId}, not ${wanted} (--fork-chain-id)`
  throw new DevchainError('INVALID_PARAMS', message)
}

function isOwn({ provider, urls }: ForkChoice): boolean {
  return provider !== undefined || urls.every(isPrivateUrl)
}

/** Blocks that a reorganization may take: none where the node is one's own. */
function depthOf(fork: ForkChoice, chainId: bigint): bigint {
  return isOwn(fork) ? 0n : (DEPTHS.get(chainId) ?? USUAL_DEPTH)
}

/** The number by which a block is named; undefined for any other name, and for no name. */
function numberIn({ block }: ForkChoice): bigint | undefined {
  return block !== undefined && /^(\d|0x)/.test(block) && !isHash(block) ? BigInt(block) : undefined
}

/** Where a block's place is, and what the network says of its state. */
interface Place {
  readonly json: Json
  readonly prefix?: Prefix
  readonly beside?: Beside | undefined
}

/** What is asked about a block beside what the start waits for. */
interface Beside extends Pick<Found, 'pruned'> {
  /** By which rules its contracts ran. */
  readonly machine: Promise<Hardfork | undefined>
}

/** It goes out with what else is asked in this turn. One's own node is not asked: it may have to fetch it itself. */
function askBeside(client: Client, fork: ForkChoice, number: bigint): Beside | undefined {
  if (isOwn(fork)) return undefined
  return { pruned: askState(client, number), machine: askMachine(client, number) }
}

/** The rules of a network that nobody has named, as its machine shows them; null where they are known by other means. */
async function rulesIn(
  chainId: bigint,
  block: RemoteBlock,
  machine: () => Promise<Hardfork | undefined>,
): Promise<Hardfork | null> {
  if (isScheduled(chainId) || block.parentNumber !== undefined) return null
  return notBefore(block.header, await machine()) ?? admittedBy(block.header)
}

/** Asks for something of a block's state, which services keep for the newest blocks alone. Nobody waits for it. */
function askState(client: Client, number: bigint): Found['pruned'] {
  const asked = client.request('eth_getBalance', [ZERO_ADDRESS, quantityFromBigint(number)])
  const none = (): RefusedByUpstream | undefined => undefined
  // any other error is told when somebody needs the state
  return asked.then(none, (error: unknown) => (isPruned(error) ? error : undefined))
}

/** A block that an earlier fork found, on a network that was not asked yet: what is as deep as it stays. */
function foundAgain(head: CassetteHead, fork: ForkChoice): Found {
  const block = readBlock(head.block)
  const depth = depthOf(fork, BigInt(head.chainId))
  return { head, block, newest: block.header.number + depth, depth, isSeen: false }
}

function askNamed(client: Client, fork: ForkChoice): Promise<Json> {
  const { block = 'latest' } = fork
  if (isHash(block)) return client.request('eth_getBlockByHash', [block, false])
  const asked = block.startsWith('-') ? 'latest' : tagOrNumber(block)
  return client.request('eth_getBlockByNumber', [asked, false])
}

async function blockOf(
  client: Client,
  fork: ForkChoice,
  { first, newest, depth }: { first: Json; newest: bigint; depth: bigint },
): Promise<Place> {
  const { block = `-${depth}` } = fork
  const back = block.startsWith('-') ? -BigInt(block) : 0n
  const number = newest > back ? newest - back : 0n
  const params = [quantityFromBigint(number), false]
  const isAsked = back > 0n
  const beside = isAsked ? askBeside(client, fork, number) : undefined
  const json = isAsked ? await client.request('eth_getBlockByNumber', params) : first
  if (json !== null) return { json, beside }
  const message = `fork: ${client.name} has no block ${fork.block ?? 'latest'}; its newest is ${newest}`
  throw new DevchainError('INVALID_PARAMS', message)
}

/** The block before that of a transaction, and what is run on it. */
async function placeOf(
  client: Client,
  fork: ForkChoice,
  hash: string,
  transaction: Json,
): Promise<Place> {
  if (transaction !== null && !isObject(transaction)) throw unexpected('a transaction', transaction)
  const { blockHash = null, blockNumber = null } = transaction ?? {}
  const number = blockNumber === null ? 0n : quantity(blockNumber)
  if (blockHash === null || number === 0n) {
    const what = transaction === null ? 'has no transaction' : 'has in no block yet'
    throw new DevchainError('INVALID_PARAMS', `fork: ${client.name} ${what} ${hash}`)
  }
  const before = number - 1n
  const beside = askBeside(client, fork, before)
  const [block, json] = await Promise.all([
    client.request('eth_getBlockByHash', [blockHash, true]),
    client.request('eth_getBlockByNumber', [quantityFromBigint(before), false]),
  ])
  const transactions =
    isObject(block) && Array.isArray(block.transactions) ? block.transactions : []
  const index = transactions.findIndex((each) => isObject(each) && each.hash === hash.toLowerCase())
  if (json !== null && index >= 0) return { json, prefix: { block, index }, beside }
  const message = `fork: ${client.name} does not show the block ${number} of ${hash} as a whole`
  throw new DevchainError('UPSTREAM_FAILED', message)
}

interface Meeting extends Omit<ClientOptions, 'providers'> {
  /** Has one that cannot be reached be an error; else it is told, as it may come back. */
  readonly mustAnswer?: boolean
}

/** Each of several nodes must show the same block as the first. */
export async function requireSameBlock(
  providers: readonly Provider[],
  { header: { number }, hash }: RemoteBlock,
  { mustAnswer = false, ...options }: Meeting,
  first: string | undefined,
): Promise<void> {
  const requireOf = async (provider: Provider): Promise<void> => {
    const client = new Client({ ...options, providers: [provider] })
    const asked = client.request('eth_getBlockByNumber', [quantityFromBigint(number), false])
    const found = await asked.catch((error: Error) => {
      if (mustAnswer) throw error
      options.onNotice?.(`not asked for now: ${error.message}`)
      return { hash }
    })
    const other = (found as { hash?: unknown } | null)?.hash
    if (other === hash) return
    const what =
      other === undefined
        ? `has no block ${number}, which is ${hash} of ${first}`
        : `has another block ${number} than ${first}: ${String(other)}, not ${hash}`
    throw new DevchainError('INVALID_PARAMS', `fork: ${provider.name} ${what}`)
  }
  await Promise.all(providers.map(requireOf))
}
