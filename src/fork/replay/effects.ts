// Effects of a block's first transactions from the network's trace: fewer rounds than a replay, and only the network
// can run its own transaction types.
import { EMPTY_CODE_HASH } from '../../core/crypto/crypto.ts'
import { DevchainError } from '../../core/errors.ts'
import { type Address, bytesFromHex, type Hash } from '../../core/hex.ts'
import type { Json } from '../../rpc/schema.ts'
import {
  accountAt,
  balanceAt,
  type World,
  withAccount,
  withBalance,
  withCode,
  withNonce,
  withoutAccount,
  withSlots,
} from '../../state/world.ts'
import { inTime } from '../client/waitbudget.ts'
import { listIn } from '../network/answers.ts'
import { complete } from '../network/gather.ts'
import type { BlockPoint, ForkedNetwork } from '../network/network.ts'
import { areTracedAccounts, type TracedAccount, type TracedAccounts } from '../network/prestate.ts'
import { type Prefix, transactionsIn } from '../store/recordingfile.ts'

/** Below this, running them here is as fast. */
const LEAST_TRACED = 4

/** Milliseconds to wait for the trace; after that, the transactions run here. */
const TIMEOUT_MS = 20_000

interface Effect {
  /** True: the account was destroyed, and the rest came after that. */
  readonly isNew: boolean
  readonly isGone: boolean
  /** Change of the balance in wei, as a signed decimal. */
  readonly gained: string
  readonly nonce?: number | string
  readonly code?: string
  readonly storage: Readonly<Record<string, string>>
}

type Effects = Readonly<Record<Address, Effect>>

/**
 * Undefined: the network has no traces, or proofs are required.
 * @param hasStrangers true if only the network can run some of the transactions
 */
export async function effectsOf(
  network: ForkedNetwork,
  fork: BlockPoint,
  prefix: Prefix,
  hasStrangers: boolean,
): Promise<Effects | undefined> {
  const { block, index } = prefix
  if (network.isProven || !(hasStrangers || index >= LEAST_TRACED)) return undefined
  const { hash } = block as { readonly hash: Hash }
  const make = async (): Promise<Json> => {
    const options = { tracer: 'prestateTracer', tracerConfig: { diffMode: true } }
    const traced = await network.ask('debug_traceBlockByHash', [hash, options])
    return merged(diffsIn(traced, prefix)) as unknown as Json
  }
  try {
    const [method, params] = ['devchain_effects', [hash, index]] as const
    const read = (answer: Json): Effects => answer as unknown as Effects
    return await inTime(network.askHistory(fork, method, params, undefined, read, make), TIMEOUT_MS)
  } catch (error) {
    if (error instanceof DevchainError && error.word === 'UPSTREAM_FAILED') return undefined
    throw error
  }
}

/** What one transaction changed: accounts before it, and their changed members after it. */
interface Diff {
  readonly pre: TracedAccounts
  readonly post: TracedAccounts
}

/** @throws {DevchainError} `UPSTREAM_FAILED` for what is no trace of the block */
function diffsIn(traced: Json, prefix: Prefix): readonly Diff[] {
  const { index } = prefix
  const hashes = transactionsIn(prefix).map((each) => (each as { readonly hash?: Json }).hash)
  const list = listIn(traced).slice(0, index)
  const diffs = list.flatMap((each, at) => {
    const { txHash, result } = (each ?? {}) as { txHash?: Json; result?: Json }
    const isOther = txHash !== undefined && txHash !== hashes[at]
    const { pre, post } = (result ?? {}) as Partial<Record<keyof Diff, Json>>
    return isOther || !areTracedAccounts(pre) || !areTracedAccounts(post) ? [] : [{ pre, post }]
  })
  if (diffs.length === index) return diffs
  throw new DevchainError('UPSTREAM_FAILED', 'the forked network answered no trace of the block')
}

function merged(diffs: readonly Diff[]): Effects {
  const effects = new Map<Address, Effect>()
  for (const { pre, post } of diffs) {
    for (const key of new Set([...Object.keys(pre), ...Object.keys(post)])) {
      const address = key.toLowerCase() as Address
      effects.set(address, next(effects.get(address), pre[key], post[key]))
    }
  }
  return Object.fromEntries(effects)
}

function next(
  before: Effect | undefined,
  pre: TracedAccount | undefined,
  post: TracedAccount | undefined,
): Effect {
  const had = BigInt(pre?.balance ?? '0x0')
  // the trace has only changed members, and nothing for a deleted account
  const has = post === undefined ? 0n : BigInt(post.balance ?? pre?.balance ?? '0x0')
  const gained = `${BigInt(before?.gained ?? 0) + has - had}`
  if (post === undefined) return { isNew: true, isGone: true, gained, storage: {} }
  const cleared = Object.keys(pre?.storage ?? {}).map((slot) => [slot, '0x0'] as const)
  const nonce = post.nonce ?? before?.nonce
  const code = post.codeHash === EMPTY_CODE_HASH ? '0x' : (post.code ?? before?.code)
  return {
    isNew: before?.isNew ?? false,
    isGone: false,
    gained,
    ...(nonce !== undefined && { nonce }),
    ...(code !== undefined && { code }),
    storage: { ...before?.storage, ...Object.fromEntries(cleared), ...post.storage },
  }
}

/** Adds differences to balances, as the users' accounts differ from the network's. Fetches missing accounts. */
export async function withEffects(world: World, effects: Effects): Promise<World> {
  const apply = (): World => {
    let after = world
    for (const [address, effect] of Object.entries(effects) as [Address, Effect][]) {
      after = withEffect(after, address, effect)
    }
    return after
  }
  return await complete(apply, { guesses: true })
}

function withEffect(world: World, address: Address, effect: Effect): World {
  const { isNew, isGone, gained, nonce, code, storage } = effect
  const balance = balanceAt(world, address) + BigInt(gained)
  if (isGone && balance <= 0n) return withoutAccount(world, address)
  const kept = isNew ? withoutAccount(world, address) : world
  let after = withBalance(kept, address, balance > 0n ? balance : 0n)
  if (nonce !== undefined) after = withNonce(after, address, BigInt(nonce))
  if (code !== undefined) after = withCode(after, address, bytesFromHex(code))
  const account = accountAt(after, address)!
  const slots = Object.entries(storage).map(
    ([slot, value]) => [BigInt(slot), BigInt(value)] as const,
  )
  return withAccount(after, { ...account, storage: withSlots(account.storage, new Map(slots)) })
}
