// System calls at the start and end of a block, and requests (EIP-4788, EIP-2935, EIP-7685).
import { createHash } from 'node:crypto'
import { hashBytes } from '../core/crypto/crypto.ts'
import {
  type Address,
  bigintFromBytes,
  concatBytes,
  EMPTY_BYTES,
  type Hash,
  hashFromBytes,
} from '../core/hex.ts'
import { isPromise, type MaybePromise } from '../core/promises.ts'
import { type AccountAccess, NO_SLOTS } from '../protocol/blocks/accesslist.ts'
import { EMPTY_REQUESTS_HASH } from '../protocol/blocks/header.ts'
import type { Log } from '../protocol/blocks/receipt.ts'
import { isAtLeast } from '../protocol/forks.ts'
import { SYSTEM_STATE_GAS } from '../protocol/stategas.ts'
import { Overlay } from '../state/overlay.ts'
import {
  BEACON_ROOTS,
  DEPOSIT_CONTRACT,
  HISTORY_STORAGE,
  type Predeploy,
  queuesOf,
  SYSTEM_ADDRESS,
} from '../state/predeploys.ts'
import {
  accessOfQueue,
  isAsDeployed,
  isIdleQueue,
  systemWrites,
  withSystemWrites,
} from '../state/systemslots.ts'
import { accountAt, type World } from '../state/world.ts'
import { accessesOf } from './accesses.ts'
import type { BlockEnd, BlockEnvironment, BlockStart, BlockStartJob } from './executor.ts'
import type { MachineJob, MachineResult, RunContext } from './machine.ts'
import { clearEmpty } from './transition.ts'

/** Outside of transactions and the block's gas limit. */
const SYSTEM_GAS = 30_000_000n

/** DepositEvent(bytes,bytes,bytes,bytes,bytes) */
const DEPOSIT_TOPIC = '0x649bbc62d0e31342afea4e5cd82d4049e7e1ee912fc0889aa790803be39038c5' as Hash

/** Offsets and values of the lengths of a deposit log's fields. */
const DEPOSIT_FIELDS = [
  { at: 160, length: 48 },
  { at: 256, length: 32 },
  { at: 320, length: 8 },
  { at: 384, length: 96 },
  { at: 512, length: 8 },
] as const

const DEPOSIT_LOG_LENGTH = 576

/** Stores the parent's beacon root (cancun) and hash (prague), if the contracts are deployed. */
export async function beginBlock(context: RunContext, job: BlockStartJob): Promise<BlockStart> {
  const { block, parentHash, parentBeaconBlockRoot } = job
  let beaconRoot = isAtLeast(block.hardfork, 'cancun') ? parentBeaconBlockRoot : undefined
  let previous = isAtLeast(block.hardfork, 'prague') ? parentHash : undefined
  let { world } = job
  const accesses: AccountAccess[] = []
  const call = async ({ address }: Predeploy, hash: Hash): Promise<void> => {
    const called = await systemCall(context, world, block, address, hashBytes(hash))
    world = called.world
    accesses.push(...called.accesses)
  }
  if (beaconRoot !== undefined && !isAsDeployed(world, BEACON_ROOTS)) {
    await call(BEACON_ROOTS, beaconRoot)
    beaconRoot = undefined
  }
  const replaced = isAsDeployed(world, HISTORY_STORAGE) ? undefined : previous
  if (replaced !== undefined) previous = undefined
  const { timestamp, number } = block
  const writes = systemWrites({ timestamp, beaconRoot, number, parentHash: previous })
  const isListed = isAtLeast(block.hardfork, 'amsterdam')
  // both at once if unmodified, so that each trie path changes once
  world = withSystemWrites(world, writes, isListed ? accesses : undefined)
  if (replaced !== undefined) await call(HISTORY_STORAGE, replaced)
  return { world, accesses }
}

/**
 * Collects a block's requests, since prague. A missing or failing system contract makes the block invalid (EIP-7002, EIP-7251).
 */
export async function endBlock(
  context: RunContext,
  job: { readonly world: World; readonly block: BlockEnvironment; readonly logs: readonly Log[] },
): Promise<BlockEnd> {
  const { block, logs } = job
  if (!isAtLeast(block.hardfork, 'prague')) {
    return { world: job.world, fields: {}, requests: [], failure: undefined, accesses: [] }
  }
  const collected: Collected[] = []
  let { world } = job
  for (const contract of queuesOf(block.hardfork)) {
    const found = collect(context, world, block, contract)
    const each = isPromise(found) ? await found : found
    collected.push(each)
    world = each.world
  }
  const deposits = depositsOf(logs, block.depositContract)
  const isRead = depositEvents(logs, block.depositContract).every(isDeposit)
  const requests = [deposits, ...collected.map(({ output }) => output)]
  const failure = isRead ? undefined : 'a log of the deposit contract is not a valid deposit'
  return {
    world,
    fields: { requestsHash: hashRequests(requests) },
    requests: requests.flatMap((data, type) =>
      data.length === 0 ? [] : [concatBytes(Uint8Array.of(type), data)],
    ),
    failure: failure ?? collected.find((each) => each.failure !== undefined)?.failure,
    accesses: collected.flatMap(({ accesses }) => accesses),
  }
}

/**
 * The requests are in order of type: 0 deposits, 1 withdrawals, 2 consolidations, 3 and 4 builders' deposits and exits. Types without requests do not count
 * (EIP-7685).
 */
export function hashRequests(requests: readonly Uint8Array[]): Hash {
  if (requests.every(({ length }) => length === 0)) return EMPTY_REQUESTS_HASH
  const whole = createHash('sha256')
  requests.forEach((data, type) => {
    if (data.length === 0) return
    whole.update(createHash('sha256').update(Uint8Array.of(type)).update(data).digest())
  })
  return hashFromBytes(whole.digest())
}

/** The deposits in a block's logs, concatenated (EIP-6110). Ignores logs of another layout. */
export function depositsOf(logs: readonly Log[], contract?: Address | undefined): Uint8Array {
  return concatBytes(
    ...depositEvents(logs, contract)
      .filter(isDeposit)
      .flatMap(({ data }) =>
        DEPOSIT_FIELDS.map(({ at, length }) => data.subarray(at + 32, at + 32 + length)),
      ),
  )
}

function depositEvents(logs: readonly Log[], contract: Address = DEPOSIT_CONTRACT): readonly Log[] {
  return logs.filter(({ address, topics }) => address === contract && topics[0] === DEPOSIT_TOPIC)
}

function isDeposit({ data }: Log): boolean {
  const word = (at: number): bigint => bigintFromBytes(data.subarray(at, at + 32))
  return (
    data.length === DEPOSIT_LOG_LENGTH &&
    DEPOSIT_FIELDS.every(
      ({ at, length }, i) => word(32 * i) === BigInt(at) && word(at) === BigInt(length),
    )
  )
}

interface Collected {
  readonly world: World
  readonly output: Uint8Array
  readonly failure?: string
  readonly accesses: readonly AccountAccess[]
}

/** @returns a promise only if the contract has to run */
function collect(
  context: RunContext,
  world: World,
  block: BlockEnvironment,
  contract: Predeploy,
): MaybePromise<Collected> {
  const { address } = contract
  const account = accountAt(world, address)
  if (account === undefined || account.code.length === 0) {
    const failure = `there is no system contract at ${address}`
    return { world, output: EMPTY_BYTES, failure, accesses: [] }
  }
  // an unused queue returns and changes nothing
  if (isIdleQueue(account, contract)) {
    const accesses = isAtLeast(block.hardfork, 'amsterdam') ? [accessOfQueue(contract)] : []
    return { world, output: EMPTY_BYTES, accesses }
  }
  return systemCall(context, world, block, address, EMPTY_BYTES)
}

/** A missing contract or failing call has no effect. */
export async function systemCall(
  context: RunContext,
  world: World,
  block: BlockEnvironment,
  address: Address,
  data: Uint8Array,
): Promise<Collected> {
  const account = accountAt(world, address)
  if (account === undefined || account.code.length === 0) {
    // the missing contract was read
    const accesses = accessesOf(new Overlay(world), new Map([[address, NO_SLOTS]]))
    return { world, output: EMPTY_BYTES, accesses }
  }
  const codeHash = (): Hash => account.codeHash
  return context.machines.run(codeHash, (machine) => {
    const overlay = new Overlay(world)
    const finish = ({ failure, output, touched, state }: MachineResult): Collected => {
      if (failure !== undefined) {
        const reason = `the call of the system contract at ${address} failed`
        const accesses = state === undefined ? [] : accessesOf(overlay, state.read)
        return { world, output: EMPTY_BYTES, failure: reason, accesses }
      }
      // the caller's account is among them, and mostly empty
      clearEmpty(overlay, touched)
      const accesses = state === undefined ? [] : accessesOf(overlay, state.read)
      return { world: overlay.world(), output, accesses }
    }
    const { memoryLimit, onBug } = context
    const result = machine.run({
      ...SYSTEM_JOB,
      overlay,
      block,
      message: { ...SYSTEM_MESSAGE, to: address, data },
      memoryLimit,
      onBug,
    })
    return result instanceof Promise ? result.then(finish) : finish(result)
  })
}

const SYSTEM_MESSAGE = { from: SYSTEM_ADDRESS, value: 0n, accessList: [] }
const SYSTEM_JOB: Omit<MachineJob, 'overlay' | 'block' | 'message' | 'memoryLimit' | 'onBug'> = {
  gas: SYSTEM_GAS,
  stateGas: SYSTEM_STATE_GAS,
  gasPrice: 0n,
  creatorNonce: 0n,
  warm: [],
  limits: undefined,
  movedPrecompiles: undefined,
  reportsAccess: false,
  reportsRead: true,
  tracer: undefined,
  onConsole: () => undefined,
  pause: undefined,
}
