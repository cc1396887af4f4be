// What a transaction does around its execution: buys gas, warms accounts, sets authorizations, runs, gives change,
// pays the miner, clears away what died. One path for transactions and calls, so that an estimate cannot differ.
import type { EVM, EVMResult, EVMRunCallOpts, Log as LibraryLog } from '@ethereumjs/evm'
import { Account } from '@ethereumjs/util'
import {
  type Address,
  addressFromBytes,
  bytesFromHex,
  concatBytes,
  EMPTY_BYTES,
  type Hash,
  type Hex,
  hashFromBytes,
  ZERO_ADDRESS,
} from '../core/hex.ts'
import { blobGasOf, floorDataGas, intrinsicGas, maxRefund } from '../protocol/fees.ts'
import { isAtLeast } from '../protocol/forks.ts'
import type { Log } from '../protocol/receipt.ts'
import {
  type AccessListEntry,
  type Authorization,
  authorityOf,
  type BlobFields,
} from '../protocol/transaction.ts'
import { isDelegation } from '../protocol/validity.ts'
import { Overlay } from '../state/overlay.ts'
import type { World } from '../state/world.ts'
import { type Engine, type LibraryBlock, libraryAddress } from './engine.ts'
import type { BlockEnvironment, CallJob, Failure, Outcome } from './executor.ts'
import { observe } from './observe.ts'
import { describeHalt, describeRevert } from './reasons.ts'

/** A checked transaction or call. */
export interface Application {
  readonly from: Address
  readonly to: Address | null
  readonly value: bigint
  readonly data: Uint8Array
  readonly gasLimit: bigint
  readonly accessList: readonly AccessListEntry[]
  readonly authorizationList: readonly Authorization[]
  /** Nonce of the sender before the run. */
  readonly nonce: bigint
  /** Wei per gas that the sender pays, and the part of it that the miner gets. */
  readonly price: bigint
  readonly tip: bigint
  readonly blobs?: BlobFields | undefined
  /** Wei for each gas of the blobs; nobody gets it. */
  readonly blobPrice?: bigint | undefined
}

/** Nonces stay below 2^64 - 1 (EIP-2681). */
const NONCE_LIMIT = 2n ** 64n - 1n

/** Half the order of secp256k1: a signature's s is not above (EIP-2). */
const HALF_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n

/** Given back for an authorization whose account existed already (EIP-7702). */
const AUTHORIZATION_REFUND = 12_500n

/** First bytes of code that only names another account's code (EIP-7702). */
const DELEGATION_PREFIX = Uint8Array.of(0xef, 0x01, 0x00)

/** Applies a checked message to a world. `world` stays as it is. */
export async function applyMessage(
  engine: Engine,
  world: World,
  block: BlockEnvironment,
  message: Application,
  { tracer, movedPrecompiles }: Pick<CallJob, 'tracer' | 'movedPrecompiles'>,
): Promise<Outcome> {
  const { evm } = engine
  const overlay = new Overlay(world)
  const libraryBlock = engine.begin(overlay, block, movedPrecompiles)
  evm.journal.startReportingAccessList()
  buyGas(overlay, message)
  if (isAtLeast(block.hardfork, 'berlin')) warm(engine, message, block)
  const authorizationRefund = authorize(evm, overlay, message, block)
  const observation = observe(evm, overlay, tracer)
  const result = await evm.runCall(callOf(message, block, libraryBlock))
  observation.stop()
  const bill = billOf(message, block, result, authorizationRefund)
  await settle(evm, overlay, message, block, bill.gasUsed)
  await clearDestroyed(evm, result, block)
  const accessed = accessedBy(engine, message, result)
  await evm.journal.cleanup()
  return {
    failure: failureOf(result, block),
    ...bill,
    output: result.execResult.returnValue,
    logs: (result.execResult.logs ?? []).map(logOf),
    created: message.to === null ? createdBy(result) : undefined,
    world: overlay.world(),
    consoleLines: observation.lines,
    accessed,
  }
}

/** The execution itself, as the library's engine takes it. */
function callOf(
  { from, to, value, data, gasLimit, price, blobs, ...message }: Application,
  { hardfork }: BlockEnvironment,
  block: LibraryBlock,
): EVMRunCallOpts {
  return {
    block,
    caller: libraryAddress(from),
    ...(to === null ? {} : { to: libraryAddress(to) }),
    value,
    data,
    gasLimit: gasLimit - intrinsicGas({ to, data, ...message }, hardfork),
    gasPrice: price,
    ...(blobs === undefined
      ? {}
      : { blobVersionedHashes: blobs.versionedHashes.map((hash) => hash as string as Hex) }),
    // counted already, so that authorizations see it
    skipNonceIncrement: true,
  }
}

/** What a run costs: refunds are bounded, and much calldata has a price of its own (EIP-7623). */
function billOf(
  message: Application,
  { hardfork }: BlockEnvironment,
  { execResult }: EVMResult,
  authorizationRefund: bigint,
): Pick<Outcome, 'gasUsed' | 'gasRefund'> {
  const spent = intrinsicGas(message, hardfork) + execResult.executionGasUsed
  const earned = authorizationRefund + (execResult.gasRefund ?? 0n)
  const refund = smaller(earned, maxRefund(spent, hardfork))
  const gasUsed = larger(spent - refund, floorDataGas(message, hardfork))
  return { gasUsed, gasRefund: larger(spent - gasUsed, 0n) }
}

/** Takes the price of all gas and of the blobs, and counts the transaction. */
function buyGas(
  overlay: Overlay,
  { from, gasLimit, price, nonce, blobs, blobPrice = 0n }: Application,
): void {
  const balance = overlay.account(from)?.balance ?? 0n
  const cost = gasLimit * price + blobGasOf({ blobs }) * blobPrice
  overlay.setNonceAndBalance(from, nonce + 1n, balance - cost)
}

/** Accounts and slots that cost less because every node knows them in advance (EIP-2929, EIP-2930, EIP-3651). */
function warm(
  { evm: { journal }, precompiles }: Engine,
  { from, to, accessList }: Application,
  block: BlockEnvironment,
): void {
  for (const address of precompiles) journal.addAlwaysWarmAddress(address)
  journal.addAlwaysWarmAddress(from)
  if (to !== null) journal.addAlwaysWarmAddress(to)
  if (isAtLeast(block.hardfork, 'shanghai')) journal.addAlwaysWarmAddress(block.coinbase)
  for (const { address, storageKeys } of accessList) {
    journal.addAlwaysWarmAddress(address, true)
    for (const key of storageKeys) journal.addAlwaysWarmSlot(address, key, true)
  }
}

/**
 * Sets the code of accounts that allow it; authorizations that do not hold are passed over. What is set stays even
 * when the execution fails.
 * @returns gas to give back
 * @see https://eips.ethereum.org/EIPS/eip-7702
 */
function authorize(
  evm: EVM,
  overlay: Overlay,
  { authorizationList }: Application,
  block: BlockEnvironment,
): bigint {
  let refund = 0n
  for (const authorization of authorizationList) {
    const { chainId, nonce, address, s } = authorization
    if (chainId !== 0n && chainId !== block.chainId) continue
    if (nonce >= NONCE_LIMIT || s > HALF_ORDER) continue
    const authority = authorityOf(authorization)
    if (authority === undefined) continue
    evm.journal.addAlwaysWarmAddress(authority)
    const account = overlay.account(authority)
    const code = account?.code ?? EMPTY_BYTES
    if (code.length > 0 && !isDelegation(code)) continue
    if ((account?.nonce ?? 0n) !== nonce) continue
    if (account !== undefined) refund += AUTHORIZATION_REFUND
    const isWithdrawal = address === ZERO_ADDRESS
    overlay.setCode(
      authority,
      isWithdrawal ? EMPTY_BYTES : concatBytes(DELEGATION_PREFIX, bytesFromHex(address)),
    )
    overlay.setNonce(authority, nonce + 1n)
  }
  return refund
}

/** Gives the sender the price of unused gas and the miner its tips. The base fee goes to nobody. */
async function settle(
  evm: EVM,
  overlay: Overlay,
  { from, gasLimit, price, tip }: Application,
  { coinbase }: BlockEnvironment,
  gasUsed: bigint,
): Promise<void> {
  const balance = overlay.account(from)?.balance ?? 0n
  overlay.setBalance(from, balance + (gasLimit - gasUsed) * price)
  const miner = overlay.account(coinbase)
  const account = new Account(miner?.nonce ?? 0n, (miner?.balance ?? 0n) + tip * gasUsed)
  // through the journal: the miner counts as touched, and goes when it stays empty (EIP-161)
  await evm.journal.putAccount(libraryAddress(coinbase), account)
}

/** Takes away contracts that destroyed themselves; from cancun on only those that this run created (EIP-6780). */
async function clearDestroyed(
  evm: EVM,
  { execResult }: EVMResult,
  { hardfork }: BlockEnvironment,
): Promise<void> {
  for (const address of execResult.selfdestruct?.keys() ?? []) {
    if (isAtLeast(hardfork, 'cancun') && execResult.createdAddresses?.has(address) !== true)
      continue
    await evm.journal.deleteAccount(libraryAddress(address as string as Address))
  }
}

/**
 * What was touched, without what is warm anyhow and had no slot touched: sender, target or created contract, and
 * precompiles. None before berlin, where the engine keeps no account of it.
 */
function accessedBy(
  { evm, precompiles }: Engine,
  { from, to }: Application,
  result: EVMResult,
): AccessListEntry[] {
  const target = to ?? createdBy(result)
  const entries: AccessListEntry[] = []
  for (const [digits, keys] of evm.journal.accessList ?? []) {
    const address = `0x${digits}` as Address
    const isWarm = address === from || address === target || precompiles.has(digits)
    if (isWarm && keys.size === 0) continue
    entries.push({ address, storageKeys: [...keys].map((key) => `0x${key}` as Hash) })
  }
  return entries
}

function createdBy({ createdAddress }: EVMResult): Address | undefined {
  return createdAddress === undefined ? undefined : addressFromBytes(createdAddress.bytes)
}

function failureOf({ execResult }: EVMResult, block: BlockEnvironment): Failure | undefined {
  const error = execResult.exceptionError?.error
  if (error === undefined) return undefined
  // frontier: a contract whose code cannot be paid for is made without code
  if (error === 'code store out of gas' && block.hardfork === 'frontier') return undefined
  if (error === 'revert') return { kind: 'revert', reason: describeRevert(execResult.returnValue) }
  return { kind: 'halt', reason: describeHalt(error, execResult.runState?.opCode) }
}

function logOf([address, topics, data]: LibraryLog): Log {
  return { address: addressFromBytes(address), topics: topics.map(hashFromBytes), data }
}

function smaller(a: bigint, b: bigint): bigint {
  return a < b ? a : b
}

function larger(a: bigint, b: bigint): bigint {
  return a > b ? a : b
}
