// The subcommands that talk to a running chain: rpc, snapshot, revert, snapshots, reset, mine, time, accounts, wait.
import { text as readAll } from 'node:stream/consumers'
import { DevchainError, printValue } from '../core/errors.ts'
import type { Json } from '../rpc/schema.ts'
import { ask, ChainRefusal, NoChain } from './client.ts'
import { parseMove } from './moment.ts'
import { type Given, readSubcommand } from './subcommand.ts'
import { SUBCOMMANDS, type SubcommandName } from './subcommands.ts'
import { ether, number, plural, time } from './words.ts'

const EXIT = { ok: 0, refused: 1, usage: 2, noChain: 3 } as const

/** What a command found out, for scripts and for people. */
interface Answer {
  readonly json: Json
  readonly text: string
}

/** What a handler may ask. */
interface Question {
  readonly call: (method: string, params?: readonly unknown[]) => Promise<Json>
  readonly url: string
  /** The arguments after the name. */
  readonly words: readonly string[]
  readonly options: Given['options']
}

/** A snapshot as devchain_snapshots answers it. */
interface RemoteSnapshot {
  readonly id: string
  readonly name: string | null
  readonly blockNumber: string
  readonly timestamp: string
}

const DEFAULT_PORT = '8545'

const DEFAULT_WAIT_SECONDS = 60

/** Milliseconds between two attempts of `wait`, and for which each may take. */
const ATTEMPT_EVERY_MS = 50
const ATTEMPT_MS = 2_000

const HANDLERS: Partial<Record<SubcommandName, (question: Question) => Promise<Answer>>> = {
  rpc: async ({ call, words: [method = '', ...rest] }) => {
    const json = await call(method, await paramsOf(rest))
    return { json, text: typeof json === 'string' ? json : JSON.stringify(json, undefined, 2) }
  },
  snapshot: async ({ call, words: [name] }) => {
    const taken = name === undefined ? await withoutName(call) : await named(call, name)
    return { json: taken as unknown as Json, text: `snapshot ${lineOf(taken)}` }
  },
  revert: async ({ call, words: [snapshot = ''] }) => {
    const back = (await call('devchain_revert', [snapshot])) as unknown as RemoteSnapshot
    return { json: back as unknown as Json, text: `back at snapshot ${lineOf(back)}` }
  },
  snapshots: async ({ call }) => {
    const all = (await call('devchain_snapshots')) as unknown as readonly RemoteSnapshot[]
    const text = all.length === 0 ? 'no snapshots' : all.map(lineOf).join('\n')
    return { json: all as unknown as Json, text }
  },
  reset: async ({ call }) => {
    await call('evm_reset')
    return { json: null, text: 'went back to genesis' }
  },
  mine: async ({ call, words: [blocks = '1'] }) => {
    if (!/^\d{1,15}$/.test(blocks)) {
      throw usage(`expected a number of blocks, got ${printValue(blocks)}`)
    }
    await call('evm_mine', [{ blocks: Number(blocks) }])
    const block = await heightOf(call)
    const text = `mined ${plural(BigInt(blocks), 'block')}: the newest is ${number(block)}`
    return { json: { blockNumber: block }, text }
  },
  time: async ({ call, words: [moment] }) => {
    if (moment !== undefined) {
      const move = parseMove(moment)
      if (move.kind === 'increase') await call('evm_increaseTime', [move.seconds.toString()])
      else await call('evm_setTime', [move.timestamp.toString()])
    }
    const next = await blockTime(call, 'pending')
    return { json: { timestamp: next }, text: `the next block is at ${time(BigInt(next))} UTC` }
  },
  accounts: async ({ call }) => {
    const addresses = (await call('eth_accounts')) as readonly string[]
    const balances = await Promise.all(
      addresses.map(async (address) => BigInt(String(await call('eth_getBalance', [address])))),
    )
    const rows = addresses.map((address, i) => ({ address, balance: balances[i] ?? 0n }))
    const lines = rows.map(({ address, balance }) => `${address}  ${ether(balance)}`)
    const json = rows.map(({ address, balance }) => ({ address, balance: balance.toString() }))
    return { json, text: lines.length === 0 ? 'no accounts' : lines.join('\n') }
  },
  wait: async ({ url, options }) => {
    const seconds = Number(options.timeout ?? DEFAULT_WAIT_SECONDS)
    if (!Number.isFinite(seconds) || seconds < 0) {
      throw usage(`--timeout: expected a number of seconds, got ${printValue(options.timeout)}`)
    }
    const chainId = await awaitChain(url, seconds)
    return { json: { url, chainId }, text: `a chain answers at ${url}` }
  },
}

/**
 * Runs a subcommand that talks to a chain.
 * @param argv the arguments after its name
 * @returns the exit code: 0, 1 when the chain refused, 2 for wrong arguments, 3 when no chain answered
 */
export async function remoteCommand(
  name: SubcommandName,
  argv: readonly string[],
): Promise<number> {
  const handler = HANDLERS[name]
  if (handler === undefined) throw new Error(`${name} has no handler`)
  let isJson = false
  try {
    const given = readSubcommand(SUBCOMMANDS.find((each) => each.name === name)!, argv)
    if (given === undefined) return EXIT.ok
    const { words, options } = given
    isJson = options.json === true
    const url = urlOf(options.url)
    const call = (method: string, params?: readonly unknown[]): Promise<Json> =>
      ask(url, method, params)
    const { json, text } = await handler({ call, url, words, options })
    process.stdout.write(`${isJson ? JSON.stringify(json) : text}\n`)
    return EXIT.ok
  } catch (error) {
    return refuse(name, error, isJson)
  }
}

/** Says what went wrong, on standard error. */
function refuse(name: string, error: unknown, isJson: boolean): number {
  if (error instanceof ChainRefusal) {
    const { code, message, data } = error
    const json = JSON.stringify({ code, message, ...(data === undefined ? {} : { data }) })
    process.stderr.write(isJson ? `${json}\n` : `devchain: ${name}: ${message} (error ${code})\n`)
    return EXIT.refused
  }
  if (error instanceof NoChain) {
    process.stderr.write(`devchain: ${name}: ${error.message} (--url names another)\n`)
    return EXIT.noChain
  }
  if (!(error instanceof DevchainError)) throw error
  process.stderr.write(`devchain: ${name}: ${error.message}\n`)
  return EXIT.usage
}

function usage(message: string): DevchainError {
  return new DevchainError('INVALID_PARAMS', message)
}

function urlOf(given: unknown): string {
  const { DEVCHAIN_URL, DEVCHAIN_PORT } = process.env
  const url = String(given ?? (DEVCHAIN_URL || `http://127.0.0.1:${DEVCHAIN_PORT || DEFAULT_PORT}`))
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return url
  throw usage(`--url: expected an http URL, got ${printValue(url)}`)
}

/** Each word as JSON where it is JSON, else as text; a hyphen alone stands for what standard input has. */
async function paramsOf(words: readonly string[]): Promise<readonly unknown[]> {
  const params: unknown[] = []
  for (const word of words) {
    if (word !== '-') {
      params.push(parsedWord(word))
      continue
    }
    const given = parsedWord((await readAll(process.stdin)).trim())
    params.push(...(Array.isArray(given) ? given : [given]))
  }
  return params
}

function parsedWord(word: string): unknown {
  // a larger number would lose digits: as text it keeps them, and methods read it
  if (/^-?\d{16,}$/.test(word)) return word
  try {
    return JSON.parse(word)
  } catch {
    return word
  }
}

async function named(call: Question['call'], name: string): Promise<RemoteSnapshot> {
  return (await call('devchain_snapshot', [{ name }])) as unknown as RemoteSnapshot
}

async function withoutName(call: Question['call']): Promise<RemoteSnapshot> {
  const taken = await call('evm_snapshot')
  const all = (await call('devchain_snapshots')) as unknown as readonly RemoteSnapshot[]
  const snapshot = all.find(({ id }) => id === taken)
  if (snapshot !== undefined) return snapshot
  throw new NoChain(`snapshot ${String(taken)} is gone again: somebody else moved the chain`)
}

async function heightOf(call: Question['call']): Promise<number> {
  return Number(await call('eth_blockNumber'))
}

async function blockTime(call: Question['call'], tag: string): Promise<number> {
  const block = (await call('eth_getBlockByNumber', [tag, false])) as { readonly timestamp: string }
  return Number(block.timestamp)
}

function lineOf({ id, name, blockNumber, timestamp }: RemoteSnapshot): string {
  const called = name === null ? id : `${id} ${name}`
  return `${called} at block ${number(BigInt(blockNumber))}, ${time(BigInt(timestamp))} UTC`
}

/** Asks until somebody answers. */
async function awaitChain(url: string, seconds: number): Promise<Json> {
  const end = performance.now() + seconds * 1000
  for (;;) {
    try {
      return await ask(url, 'eth_chainId', [], ATTEMPT_MS)
    } catch (error) {
      if (!(error instanceof NoChain)) throw error
      if (performance.now() + ATTEMPT_EVERY_MS > end) {
        throw new NoChain(`${error.message}, for ${seconds} s`)
      }
    }
    await new Promise((resolve) => {
      setTimeout(resolve, ATTEMPT_EVERY_MS)
    })
  }
}
