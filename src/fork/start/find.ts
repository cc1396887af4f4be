// Finds the fork block: asks the network, or uses what an earlier fork found.
import { DevchainError, invalidParams } from '../../core/errors.ts'
import { type Hex, quantityFromBigint, ZERO_ADDRESS } from '../../core/hex.ts'
import type { DevchainSettings } from '../../options/derived.ts'
import { type ForkChoice, isBlockHash, namesOneBlock } from '../../options/fork.ts'
import { ASSUMED_HARDFORK, type Hardfork } from '../../protocol/forks.ts'
import type { Json } from '../../rpc/schema.ts'
import { Client, type ClientOptions, type RefusedByUpstream } from '../client/client.ts'
import type { Provider } from '../client/provider.ts'
import { isPrivateUrl } from '../client/urls.ts'
import { isObject, isWord, listIn, quantity, unexpected, word } from '../network/answers.ts'
import { type RemoteBlock, readBlock } from '../network/header.ts'
import { isPruned } from '../network/pruned.ts'
import { admittedBy, isScheduled, namedHardfork, notBefore } from '../network/rules.ts'
import type { Prefix, RecordingHead } from '../store/recordingfile.ts'
import type { Store } from '../store/store.ts'
import { type FoundBlock, keepHead, knownHead, tagOrNumber } from './heads.ts'

/** Depths that reorgs do not reach, by chain id: less on networks with fast finality. */
const DEPTHS: ReadonlyMap<bigint, bigint> = new Map([
  [1n, 32n],
  [11_155_111n, 32n],
  [560_048n, 32n],
  [17_000n, 32n],
  [100n, 38n],
])

const USUAL_DEPTH = 128n

type FoundBy = Partial<Pick<DevchainSettings, 'forkTransaction' | 'forkChainId'>>

/** @throws {DevchainError} `INVALID_PARAMS` for an unknown block or another network */
export async function findBlock(
  client: Client,
  fork: ForkChoice,
  { forkTransaction: transaction, forkChainId: wanted }: FoundBy = {},
  heads?: Store,
): Promise<FoundBlock> {
  const isBlock = transaction === undefined
  const kept = isBlock && heads !== undefined ? knownHead(heads, fork, wanted) : undefined
  if (kept !== undefined) return foundAgain(kept, fork)
  const named = transaction === undefined ? numberIn(fork) : undefined
  const early = named === undefined ? undefined : askBeside(client, fork, named)
  const [id, newestJson, first, info] = await Promise.all([
    client.request('eth_chainId', []),
    client.request('eth_blockNumber', []),
    transaction === undefined
      ? askNamed(client, fork)
      : client.request('eth_getTransactionByHash', [transaction]),
    // test nodes report their hardfork here
    client.request('anvil_nodeInfo', []).catch(() => null),
  ])
  const chainId = quantity(id)
  if (wanted !== undefined && wanted !== chainId) {
    const message = `fork: ${client.name} has the chain id ${chainId}, not ${wanted} (--fork-chain-id)`
    throw invalidParams(message)
  }
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
  if (isBlock && heads !== undefined) keepHead(heads, fork, found)
  return found
}

function isOwn({ provider, urls }: ForkChoice): boolean {
  return provider !== undefined || urls.every(isPrivateUrl)
}

/** Blocks that a reorg may replace: 0 for local nodes. */
function depthOf(fork: ForkChoice, chainId: bigint): bigint {
  return isOwn(fork) ? 0n : (DEPTHS.get(chainId) ?? USUAL_DEPTH)
}

/** Undefined: no block, or named otherwise than by number. */
function numberIn({ block }: ForkChoice): bigint | undefined {
  const isNumber = block !== undefined && namesOneBlock(block) && !isBlockHash(block)
  return isNumber ? BigInt(block) : undefined
}

interface NamedBlock {
  readonly json: Json
  readonly prefix?: Prefix
  readonly beside?: Beside | undefined
}

/** Requests about the block that the start does not wait for. */
interface Beside extends Pick<FoundBlock, 'pruned'> {
  readonly machine: Promise<Hardfork | undefined>
}

/** Joins the batch of this turn. Skips local nodes: they may be forks that would have to fetch it. */
function askBeside(client: Client, fork: ForkChoice, number: bigint): Beside | undefined {
  if (isOwn(fork)) return undefined
  return { pruned: askState(client, number), machine: askMachine(client, number) }
}

/** Probes the network's EVM for an unnamed hardfork; null: it is known otherwise. */
async function rulesIn(
  chainId: bigint,
  block: RemoteBlock,
  machine: () => Promise<Hardfork | undefined>,
): Promise<Hardfork | null> {
  if (isScheduled(chainId) || block.parentNumber !== undefined) return null
  return notBefore(block.header, await machine()) ?? admittedBy(block.header)
}

/** Probes for pruned state, in the background. */
function askState(client: Client, number: bigint): FoundBlock['pruned'] {
  const asked = client.request('eth_getBalance', [ZERO_ADDRESS, quantityFromBigint(number)])
  const none = (): RefusedByUpstream | undefined => undefined
  // other errors appear when the state is read
  return asked.then(none, (error: unknown) => (isPruned(error) ? error : undefined))
}

/** Without a request: the block is deep enough to be final. */
export function foundAgain(head: RecordingHead, fork: ForkChoice): FoundBlock {
  const block = readBlock(head.block)
  const depth = depthOf(fork, BigInt(head.chainId))
  return { head, block, newest: block.header.number + depth, depth, isSeen: false }
}

function askNamed(client: Client, fork: ForkChoice): Promise<Json> {
  const { block = 'latest' } = fork
  if (isBlockHash(block)) return client.request('eth_getBlockByHash', [block, false])
  const asked = block.startsWith('-') ? 'latest' : tagOrNumber(block)
  return client.request('eth_getBlockByNumber', [asked, false])
}

async function blockOf(
  client: Client,
  fork: ForkChoice,
  { first, newest, depth }: { first: Json; newest: bigint; depth: bigint },
): Promise<NamedBlock> {
  const { block = `-${depth}` } = fork
  const back = block.startsWith('-') ? -BigInt(block) : 0n
  const number = newest > back ? newest - back : 0n
  const params = [quantityFromBigint(number), false]
  const isAsked = back > 0n
  const beside = isAsked ? askBeside(client, fork, number) : undefined
  const json = isAsked ? await client.request('eth_getBlockByNumber', params) : first
  if (json !== null) return { json, beside }
  const message = `fork: ${client.name} has no block ${fork.block ?? 'latest'}; its newest is ${newest}`
  throw invalidParams(message)
}

async function placeOf(
  client: Client,
  fork: ForkChoice,
  hash: string,
  transaction: Json,
): Promise<NamedBlock> {
  if (transaction !== null && !isObject(transaction)) throw unexpected('a transaction', transaction)
  const { blockHash = null, blockNumber = null } = transaction ?? {}
  const number = blockNumber === null ? 0n : quantity(blockNumber)
  if (blockHash === null || number === 0n) {
    const what = transaction === null ? 'has no transaction' : 'has in no block yet'
    throw invalidParams(`fork: ${client.name} ${what} ${hash}`)
  }
  const before = number - 1n
  const beside = askBeside(client, fork, before)
  const [block, json] = await Promise.all([
    client.request('eth_getBlockByHash', [blockHash, true]),
    client.request('eth_getBlockByNumber', [quantityFromBigint(before), false]),
  ])
  const transactions = listIn(isObject(block) ? block.transactions : undefined)
  const index = transactions.findIndex((each) => isObject(each) && each.hash === hash.toLowerCase())
  if (json !== null && index >= 0) return { json, prefix: { block, index }, beside }
  const message = `fork: ${client.name} does not return all of block ${number} of transaction ${hash}`
  throw new DevchainError('UPSTREAM_FAILED', message)
}

interface Meeting extends Omit<ClientOptions, 'providers'> {
  /** True: an unreachable node is an error; else it is a warning, as it may recover. */
  readonly mustAnswer?: boolean
}

/** Checks that all URLs have the same block as the first. */
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
      options.onNotice?.(`cannot check the forked block: ${error.message}`)
      return { hash }
    })
    const other = (found as { hash?: unknown } | null)?.hash
    if (other === hash) return
    const what =
      other === undefined
        ? `has no block ${number}, which is ${hash} of ${first}`
        : `has another block ${number} than ${first}: ${String(other)}, not ${hash}`
    throw invalidParams(`fork: ${provider.name} ${what}`)
  }
  await Promise.all(providers.map(requireOf))
}

/** Each leaves nonzero on the stack if the EVM has the opcode, and uses nothing newer than london. */
const QUESTIONS: readonly (readonly [code: string, hardfork: Hardfork])[] = [
  // PUSH0 (EIP-3855)
  [creating('5f00'), 'shanghai'],
  // MCOPY (EIP-5656)
  [creating('5f5f5f5e00'), 'cancun'],
  // a sum of two points by the precompile at 0x0b (EIP-2537) has 128 bytes
  ['60006000610100610100600b617530fa503d608014', 'prague'],
  // CLZ (EIP-7939)
  [creating('60011e00'), ASSUMED_HARDFORK],
  // SLOTNUM (EIP-7843)
  [creating('4b00'), 'amsterdam'],
]

/** Bytes between a question and the start of the next one. */
const TO_NEXT = 9

/** Init code that asks until the first no, as an unknown opcode burns 63/64 of the gas; returns how many were yes. */
const ASKING: Hex = asking()

/** Leaves the address of a contract with this init code, stored at 0x20; 0 if the creation fails. */
function creating(initCode: string): string {
  const size = initCode.length / 2
  const place = [byte(size), byte(0x40 - size)].map((number) => `60${number}`)
  return [byte(0x5f + size), initCode, '602052', ...place, '6000f0'].join('')
}

function asking(): Hex {
  let code = ''
  QUESTIONS.forEach(([question], index) => {
    code += question
    // continues behind the return of word 0, or returns it
    const next = code.length / 2 + TO_NEXT
    code += `61${byte(next >> 8)}${byte(next & 0xff)}5760206000f35b`
    // adds 1 to the last byte of that word
    code += `60${byte(index + 1)}601f53`
  })
  return `0x${code}60206000f3`
}

function byte(number: number): string {
  return number.toString(16).padStart(2, '0')
}

/** Undefined: no answer, or nothing newer than paris. */
export async function askMachine(client: Client, number: bigint): Promise<Hardfork | undefined> {
  try {
    const call = { data: ASKING }
    const answer = await client.request('eth_call', [call, quantityFromBigint(number)])
    const count = isWord(answer) ? word(answer) : 0n
    return QUESTIONS[Number(count) - 1]?.[1]
  } catch {
    // headers show part of it
    return undefined
  }
}
