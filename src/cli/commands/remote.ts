// The subcommands that talk to a running chain: rpc, snapshot, revert, snapshots, reset, mine, time, accounts, wait.
import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { checksumAddress } from '../../core/crypto/crypto.ts'
import { invalidParams, printValue } from '../../core/errors.ts'
import { ether, number, plural, printable, time } from '../../core/format.ts'
import { bytesFromHex, parseAddress } from '../../core/hex.ts'
import { replaceFile } from '../../loader/cachefolder.ts'
import type { ChainInfo } from '../../methods/common/chains.ts'
import { FORK_BLOCKS, isForkBlock } from '../../options/fork.ts'
import type { CoverageRow } from '../../project/coverage/lcov.ts'
import type { GasRow } from '../../project/gas/report.ts'
import type { Json } from '../../rpc/schema.ts'
import { print, reading, writing } from '../output.ts'
import type { CommandLine } from '../parse/commandline.ts'
import { parseMove, parseWait } from '../parse/parsetime.ts'
import { EXIT, type SubcommandName } from '../parse/subcommands.ts'
import { ask, askAll, type Call, ChainRefusal, chainUrl, NoChain } from './client.ts'
import {
  aligned,
  coverageTable,
  differenceTable,
  gasDifferences,
  gasTable,
  parseGasReport,
  parseThreshold,
} from './tables.ts'

interface CommandResult {
  readonly json: unknown
  /** Undefined: prints nothing. */
  readonly text: string | undefined
  /** Undefined: 0. */
  readonly exitCode?: number
}

interface CommandRequest {
  readonly call: (method: string, params?: readonly unknown[]) => Promise<Json>
  /** Sends a batch, which runs in order. */
  readonly callAll: (calls: readonly Call[]) => Promise<readonly Json[]>
  readonly url: string
  readonly words: readonly string[]
  readonly flags: CommandLine['flags']
}

interface RemoteSnapshot {
  readonly id: string
  readonly name: string | null
  readonly blockNumber: string
  readonly blockHash: string
  readonly timestamp: string
}

type RemoteTrace = { readonly lines: readonly string[]; readonly [key: string]: Json }

interface RemoteCoverage {
  readonly lcov: string
  readonly files: readonly CoverageRow[]
  readonly warning?: string
}

/** Accounts per batch of balance calls; a chain accepts a thousand calls. */
const BATCH = 500

const newestNumber: Call = { method: 'eth_blockNumber' }
const pendingBlock: Call = { method: 'eth_getBlockByNumber', params: ['pending', false] }
const allSnapshots: Call = { method: 'devchain_snapshots' }

/** Milliseconds between attempts of `wait`, and the timeout of each. A last one that is too short would hide the reason. */
const ATTEMPT_EVERY_MS = 50
const ATTEMPT_MS = 2_000
const SHORTEST_MS = 500

/** Timeout for snapshot names while a shell completes a word. */
const COMPLETION_MS = 1_000

const HANDLERS: Partial<
  Record<SubcommandName, (question: CommandRequest) => Promise<CommandResult>>
> = {
  rpc: async ({ call, words: [method = '', ...rest] }) => {
    const json = await call(
      method,
      paramsOf(rest, () => readFileSync(0, 'utf8')),
    )
    return { json, text: typeof json === 'string' ? json : JSON.stringify(json, undefined, 2) }
  },
  snapshot: async ({ call, callAll, words: [name] }) => {
    const taken =
      name === undefined
        ? await withoutName(callAll)
        : snapshotOf(await call('devchain_snapshot', [{ name }]))
    return { json: jsonOf(taken), text: `snapshot ${lineOf(taken)}` }
  },
  revert: async ({ call, words: [snapshot = ''] }) => {
    const back = snapshotOf(await call('devchain_revert', [snapshot]))
    return { json: jsonOf(back), text: `reverted to snapshot ${lineOf(back)}` }
  },
  snapshots: async ({ call, url, flags }) => {
    const unwanted = flags.drop
    if (unwanted !== undefined) {
      const dropped = snapshotOf(await call('devchain_dropSnapshot', [unwanted]))
      return { json: jsonOf(dropped), text: `dropped snapshot ${lineOf(dropped)}` }
    }
    if (flags.names) return await namesAt(url)
    const all = listOf(await call(allSnapshots.method)).map(snapshotOf)
    const text = all.length === 0 ? 'no snapshots' : all.map(lineOf).join('\n')
    return { json: all.map(jsonOf), text }
  },
  reset: async ({ call, callAll, words: [block], flags }) => {
    if (flags.fork === true) return await forkAnew(call, block)
    if (block !== undefined) throw invalidParams(`a block needs --fork, got ${printValue(block)}`)
    const [, newest] = await callAll([{ method: 'evm_reset', params: [] }, newestNumber])
    const begun = quantityOf(newest)
    // a fork begins at a block of its network
    const where = begun === 0 ? 'genesis' : `block ${number(begun)}, where the chain starts`
    return { json: null, text: `reset to ${where}` }
  },
  save: async ({ call, words: [file = ''] }) => {
    const pack = bytesFromHex(String(await call('devchain_save')))
    writing(file, () => replaceFile(file, pack))
    const size = `${number(BigInt(pack.length))} bytes`
    return { json: { file, bytes: pack.length }, text: `wrote ${file}: ${size}` }
  },
  mine: async ({ callAll, words: [blocks = '1'] }) => {
    if (!/^\d{1,15}$/.test(blocks)) {
      throw invalidParams(`expected a number of blocks, got ${printValue(blocks)}`)
    }
    const order: Call = { method: 'evm_mine', params: [{ blocks: Number(blocks) }] }
    const [, newest] = await callAll([order, newestNumber])
    const blockNumber = quantityOf(newest)
    const text = `mined ${plural(BigInt(blocks), 'block')}: the newest is ${number(blockNumber)}`
    return { json: { blockNumber }, text }
  },
  time: async ({ callAll, words: [moment] }) => {
    const order = moment === undefined ? [] : [clockCall(moment)]
    const next = (await callAll([...order, pendingBlock])).at(-1)
    const timestamp = quantityOf(next, 'timestamp')
    return { json: { timestamp }, text: `the next block is at ${time(BigInt(timestamp))} UTC` }
  },
  accounts: async ({ call, callAll }) => {
    const addresses = (await call('eth_accounts')) as readonly string[]
    const balances: bigint[] = []
    for (let i = 0; i < addresses.length; i += BATCH) {
      const some = addresses.slice(i, i + BATCH)
      const calls = some.map((each) => ({ method: 'eth_getBalance', params: [each, 'latest'] }))
      balances.push(...(await callAll(calls)).map((each) => BigInt(String(each))))
    }
    const rows = addresses.map((address, i) => ({
      address: checksumAddress(parseAddress(address)),
      balance: balances[i] ?? 0n,
    }))
    const lines = rows.map(({ address, balance }) => `${address}  ${ether(balance)}`)
    const json = rows.map(({ address, balance }) => ({ address, balance: balance.toString() }))
    return { json, text: lines.length === 0 ? 'no accounts' : lines.join('\n') }
  },
  chains: async ({ call }) => {
    const chains = listOf(await call('devchain_chains'))
    return { json: chains, text: chainsTable(chains) }
  },
  chain: async ({ call, words: [order = '', given = ''], flags: { options, ...flags } }) => {
    const name = given.replace(/^\//, '')
    if (order === 'drop') {
      return { json: await call('devchain_dropChain', [name]), text: `dropped chain /${name}` }
    }
    if (order !== 'new') throw invalidParams(`expected new or drop, got ${printValue(order)}`)
    const { from, block } = flags
    const own = options === undefined ? undefined : parsedWord(String(options))
    // JSON leaves undefined members out
    const json = await call('devchain_newChain', [{ name, from, block, options: own }])
    return { json, text: `made chain /${name}` }
  },
  peers: async ({ call }) => {
    const peers = listOf(await call('admin_peers')).map(peerOf)
    return { json: peers, text: peers.length === 0 ? 'no peers' : peers.map(peerLine).join('\n') }
  },
  partition: async ({ call, callAll, words: [word], flags }) => {
    if (word === undefined) {
      if (flags.peer !== undefined) throw invalidParams('expected on or off with --peer')
      const [self, peers] = await callAll([{ method: 'admin_nodeInfo' }, { method: 'admin_peers' }])
      return partitionOf(self, listOf(peers).map(peerOf))
    }
    if (word !== 'on' && word !== 'off')
      throw invalidParams(`expected on or off, got ${printValue(word)}`)
    const { peer } = flags
    const order = { on: word === 'on', ...(peer === undefined ? {} : { peer }) }
    const meant = listOf(await call('devchain_partition', [order])).map(peerOf)
    const names = meant.length === 0 ? 'future peers' : meant.map(({ name }) => name).join(', ')
    const text = `${word === 'on' ? 'disconnected from' : 'reconnected to'} ${names}`
    return { json: meant, text }
  },
  trace: async ({ call, words: [hash = ''] }) => {
    const { lines, ...json } = (await call('devchain_traceTransaction', [hash])) as RemoteTrace
    return { json, text: lines.join('\n') }
  },
  'gas-report': async ({ call, flags }) => {
    const { compare, threshold = '0' } = flags
    if (compare === undefined && 'threshold' in flags) {
      throw invalidParams('--threshold needs --compare FILE')
    }
    const rows = (await call('devchain_gasReport')) as unknown as readonly GasRow[]
    if (compare === undefined) return { json: rows, text: gasTable(rows) }
    const file = String(compare)
    const limit = parseThreshold(String(threshold))
    const report = reading(file, () => readFileSync(file, 'utf8'))
    const earlier = parseGasReport(report, file)
    const differences = gasDifferences(rows, earlier)
    const empty = rows.length === 0 ? `the report is empty, but ${file} is not` : undefined
    const problem = earlier.length === 0 ? `${file} is an empty report` : empty
    const isRefused = problem !== undefined || differences.some(({ percent }) => percent > limit)
    return {
      json: differences,
      text: problem ?? differenceTable(differences),
      exitCode: isRefused ? EXIT.refused : EXIT.ok,
    }
  },
  coverage: async ({ call, words: [file] }) => {
    const report = (await call('devchain_coverage')) as unknown as RemoteCoverage
    const { lcov, files, warning } = report
    if (file !== undefined) writing(file, () => replaceFile(file, lcov, 0o666))
    const written = file === undefined ? '' : `\n\nwritten to ${file}`
    const warned = warning === undefined ? '' : `\n\nwarning: ${warning}`
    return { json: files, text: `${coverageTable(files)}${written}${warned}` }
  },
  wait: async ({ url, flags }) => {
    const chainId = await awaitChain(url, String(flags.timeout ?? '60'))
    return { json: { url, chainId }, text: `the chain at ${url} responds` }
  },
}

const INVALID_PARAMS = -32_602

/** @param block undefined: the newest that reorgs do not reach */
async function forkAnew(
  call: CommandRequest['call'],
  block: string | undefined,
): Promise<CommandResult> {
  if (block !== undefined && !isForkBlock(block)) {
    throw invalidParams(`expected ${FORK_BLOCKS}; got ${printValue(block)}`)
  }
  // without a fork, this reset would go back to genesis
  if (block === undefined && (await call('devchain_forkInfo')) === null) {
    const message = 'the chain is not a fork: start it with devchain --fork URL'
    throw new ChainRefusal(message, INVALID_PARAMS)
  }
  const forking = block === undefined ? {} : { blockNumber: block }
  await call('hardhat_reset', [{ forking }])
  const blockNumber = Number(await call('eth_blockNumber'))
  return { json: { blockNumber }, text: `forked again at block ${number(BigInt(blockNumber))}` }
}

/** @returns the exit code */
export async function remoteCommand(
  name: SubcommandName,
  { words, flags }: Pick<CommandLine, 'words' | 'flags'>,
): Promise<number> {
  const handler = HANDLERS[name]
  if (handler === undefined) throw new Error(`${name} has no handler`)
  const url = chainUrl(flags.url, flags.chain)
  const call: CommandRequest['call'] = (method, params = []) => ask(url, { method, params })
  const callAll: CommandRequest['callAll'] = (calls) => askAll(url, calls)
  const { json, text, exitCode = EXIT.ok } = await handler({ call, callAll, url, words, flags })
  const line = flags.json === true ? JSON.stringify(json) : text && printable(text)
  if (line !== undefined) await print(`${line}\n`)
  return exitCode
}

/**
 * Parses each word as JSON if it is JSON, else as text; `-` stands for standard input, where a list means
 * several parameters.
 * @throws {DevchainError} `INVALID_PARAMS` for malformed JSON, and for a second hyphen
 */
export function paramsOf(words: readonly string[], readInput: () => string): readonly unknown[] {
  if (words.filter((word) => word === '-').length > 1) {
    throw invalidParams('expected - at most once: there is only one standard input')
  }
  return words.flatMap((word) =>
    // a list on the command line is one parameter: flatMap removes one layer
    word === '-' ? parsedWord(readInput().trim()) : [parsedWord(word)],
  )
}

function parsedWord(word: string): unknown {
  // larger numbers would lose digits; as text they keep them, and methods accept it
  if (/^-?\d{16,}$/.test(word)) return word
  try {
    return JSON.parse(word)
  } catch (error) {
    if (!/^[[{"]/.test(word)) return word
    throw invalidParams(`${printValue(word)} is not valid JSON: ${(error as Error).message}`)
  }
}

function clockCall(moment: string): Call {
  const move = parseMove(moment)
  return move.kind === 'increase'
    ? { method: 'evm_increaseTime', params: [`${move.seconds}`] }
    : { method: 'evm_setTime', params: [`${move.timestamp}`] }
}

async function withoutName(callAll: CommandRequest['callAll']): Promise<RemoteSnapshot> {
  const [taken, all] = await callAll([{ method: 'evm_snapshot' }, allSnapshots])
  const snapshot = listOf(all)
    .map(snapshotOf)
    .find(({ id }) => id === taken)
  if (snapshot !== undefined) return snapshot
  throw new NoChain(`snapshot ${String(taken)} is already gone: another client changed the chain`)
}

/** @throws {NoChain} if another kind of chain answered */
function quantityOf(value: Json | undefined, member?: string): number {
  const members = value as { readonly [key: string]: Json } | null | undefined
  const quantity = member === undefined ? value : members?.[member]
  if (typeof quantity === 'string' && /^0x[0-9a-f]+$/i.test(quantity)) return Number(quantity)
  throw new NoChain(`expected ${member ?? 'a number'} from the chain, got ${printValue(value)}`)
}

/** @throws {NoChain} if another kind of chain answered */
function listOf(value: Json | undefined): readonly Json[] {
  if (Array.isArray(value)) return value as readonly Json[]
  throw new NoChain(`expected a list from the chain, got ${printValue(value)}`)
}

/** @throws {NoChain} if another kind of chain answered */
function snapshotOf(value: Json): RemoteSnapshot {
  quantityOf(value, 'id')
  return value as unknown as RemoteSnapshot
}

/** Names of snapshots, or ids, for shell completion; hence the short timeout. */
async function namesAt(url: string): Promise<CommandResult> {
  const listed = listOf(await ask(url, allSnapshots, COMPLETION_MS)).map(snapshotOf)
  const names = listed.map(({ id, name }) => name ?? id)
  return { json: names, text: names.length === 0 ? undefined : names.join('\n') }
}

interface RemoteChain extends Pick<ChainInfo, 'path' | 'age' | 'requests' | 'memory'> {
  /** Null, as the next two, while the chain is being opened. */
  readonly chainId: number | null
  readonly blockNumber: string | null
  readonly blockHash: string | null
}

/** One line for each chain. */
function chainsTable(chains: Json): string {
  const rows = (chains as unknown as readonly RemoteChain[]).map(
    ({ path, chainId, blockNumber, blockHash, age, requests, memory }) => [
      path,
      chainId === null ? 'opening' : `chain ${chainId}`,
      blockNumber === null ? '' : `block ${number(BigInt(blockNumber))}`,
      blockHash ?? '',
      `${number(BigInt(age))} s`,
      plural(requests, 'request'),
      `${number(Math.ceil(memory / 1000))} kB`,
    ],
  )
  return aligned(rows, 4)
}

interface RemotePeer {
  /** The user's name for it, or the beginning of its id. */
  readonly name: string
  readonly address: string
  readonly blockNumber: number
  readonly blockHash: string
  readonly partitioned: boolean
}

/** @throws {NoChain} if another kind of chain answered */
function peerOf(value: Json): RemotePeer {
  const blockNumber = quantityOf(value, 'number')
  const { id, name, network, head, partitioned } = value as unknown as {
    readonly id: string
    readonly name: string
    readonly network: { readonly remoteAddress: string }
    readonly head: string
    readonly partitioned: boolean
  }
  return {
    // program/version/name
    name: name.split('/').slice(2).join('/') || id.slice(0, 8),
    address: network.remoteAddress,
    blockNumber,
    blockHash: head,
    partitioned,
  }
}

/** The partitioned peers. Other versions of devchain do not say whether future peers will be. */
function partitionOf(self: Json | undefined, peers: readonly RemotePeer[]): CommandResult {
  const { partitioned = false } = (self ?? {}) as { readonly partitioned?: boolean }
  const lines = peers.map(
    ({ name, address, partitioned: isOff }) =>
      `${name} at ${address}: ${isOff ? 'disconnected' : 'connected'}`,
  )
  const others = `${peers.length === 0 ? 'no peers now; ' : ''}future peers: ${partitioned ? 'disconnected' : 'connected'}`
  return { json: { partitioned, peers }, text: [...lines, others].join('\n') }
}

function peerLine({ name, address, blockNumber, blockHash, partitioned }: RemotePeer): string {
  const state = partitioned ? ', disconnected' : ''
  return `${name} at ${address}, block ${number(BigInt(blockNumber))} ${blockHash}${state}`
}

function jsonOf({ blockNumber, timestamp, ...rest }: RemoteSnapshot): object {
  return { ...rest, blockNumber: Number(blockNumber), timestamp: Number(timestamp) }
}

function lineOf({ id, name, blockNumber, timestamp }: RemoteSnapshot): string {
  const called = name === null ? id : `${id} ${name}`
  return `${called} at block ${number(BigInt(blockNumber))}, ${time(BigInt(timestamp))} UTC`
}

/** Error codes of a server that refuses the request, for example because no chain is at the path. */
const REFUSED: readonly number[] = [-32_600, -32_005]

/** Retries until the chain answers, at least once. An error of the chain is an answer. */
async function awaitChain(url: string, timeout: string): Promise<Json> {
  const end = performance.now() + parseWait(timeout)
  for (;;) {
    try {
      const left = Math.max(SHORTEST_MS, end - performance.now())
      return await ask(url, { method: 'eth_chainId' }, Math.min(left, ATTEMPT_MS))
    } catch (error) {
      const isRefused = error instanceof ChainRefusal && REFUSED.includes(error.code)
      if (error instanceof ChainRefusal && !isRefused) return null
      if (!(isRefused || error instanceof NoChain)) throw error
      if (performance.now() + ATTEMPT_EVERY_MS > end) {
        const waited = /\d$/.test(timeout) ? `${timeout} s` : timeout
        throw new NoChain(`gave up after ${waited}: ${error.message}`)
      }
    }
    await delay(ATTEMPT_EVERY_MS)
  }
}
