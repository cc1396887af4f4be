// Applies a message around its execution: gas, warm accounts, authorizations, refunds, the miner, deletions. Transactions and
// calls share it, so that estimates match, and so do all machines.

import { CONSOLE_ADDRESS } from '../core/abi.ts'
import { larger, MAX_UINT256, smaller } from '../core/bigints.ts'
import { type Address, EMPTY_BYTES, ZERO_ADDRESS } from '../core/hex.ts'
import type { MaybePromise } from '../core/promises.ts'
import { blobGasOf, floorDataGas, intrinsicGas, maxRefund } from '../protocol/fees.ts'
import { type Hardfork, isAtLeast } from '../protocol/forks.ts'
import { isPrecompile } from '../protocol/precompiles.ts'
import { delegationTo, isDelegation } from '../protocol/transactions/delegation.ts'
import {
  type AccessListEntry,
  authorityOf,
  HALF_ORDER,
} from '../protocol/transactions/transaction.ts'
import { MAX_NONCE } from '../protocol/transactions/transactionrules.ts'
import { Overlay, type OverlayChanges } from '../state/overlay.ts'
import { emptyAccount, isEmpty, type World } from '../state/world.ts'
import { formatConsoleCall } from './console.ts'
import type { BlockEnvironment, ConsoleLine, Message, Outcome } from './executor.ts'
import type { Machine, MachineJob, MachineResult } from './machine.ts'

export type CheckedMessage = Omit<Message, 'nonce' | 'maxFeePerGas' | 'maxPriorityFeePerGas'>

export interface SenderTerms {
  readonly nonce: bigint
  /** In wei per gas: the sender's price, and the miner's part. */
  readonly price: bigint
  readonly tip: bigint
  /** In wei per blob gas; it is burnt. */
  readonly blobPrice: bigint
}

export interface RunSetting
  extends Pick<
    MachineJob,
    'block' | 'limits' | 'movedPrecompiles' | 'memoryLimit' | 'reportsAccess' | 'tracer' | 'pause'
  > {
  readonly base: World | Overlay
}

/** Refunded for an authorization whose account existed (EIP-7702). */
const AUTHORIZATION_REFUND = 12_500n

/** Machines count gas in signed 64 bits. A halt consumes the rest too. */
const GAS_CEILING = 2n ** 63n - 1n

/** Console lines kept per run, as loops would fill the memory. */
const LINE_LIMIT = 10_000

/** @returns a promise only if the machine has to wait */
export function applyMessage(
  machine: Machine,
  setting: RunSetting,
  message: CheckedMessage,
  terms: SenderTerms,
): MaybePromise<Outcome> {
  const { block } = setting
  const overlay = new Overlay(setting.base)
  const intrinsic = intrinsicGas(message, block.hardfork)
  buyGas(overlay, message, terms)
  const permissions = authorize(overlay, message, block)
  const lines: ConsoleLine[] = []
  const all = message.gasLimit - intrinsic
  const gas = smaller(all, GAS_CEILING)
  const finish = (result: MachineResult): Outcome => {
    const used = result.gasUsed === gas ? all : result.gasUsed
    const spent = intrinsic + used
    const bill = billOf(message, block, spent, permissions.refund + result.refund)
    settle(overlay, message, terms, block, bill.gasUsed)
    for (const address of result.destroyed) overlay.deleteAccount(address)
    if (isAtLeast(block.hardfork, 'spuriousDragon')) {
      clearEmpty(overlay, result.touched)
      clearEmpty(overlay, [block.coinbase])
    }
    return new RunOutcome(setting, message, result, { intrinsic, bill, lines, overlay })
  }
  const paid = transfer(setting, overlay, message)
  if (paid !== undefined) return finish(paid)
  // written out, as object spread is slow
  const result = machine.run({
    overlay,
    block,
    message,
    gas,
    gasPrice: terms.price,
    creatorNonce: (overlay.account(message.from)?.nonce ?? 1n) - 1n,
    warm: warmFrom(message, block, permissions.authorities),
    limits: setting.limits,
    movedPrecompiles: setting.movedPrecompiles,
    memoryLimit: setting.memoryLimit,
    reportsAccess: setting.reportsAccess,
    tracer: setting.tracer,
    onConsole: (from, data) => printLine(lines, from, data),
    pause: setting.pause,
  })
  return result instanceof Promise ? result.then(finish) : finish(result)
}

interface Accounting {
  readonly intrinsic: bigint
  readonly bill: Bill
  readonly lines: readonly ConsoleLine[]
  readonly overlay: Overlay
}

/**
 * The world is computed on demand, as calls do not read it. A class, because V8 makes object literals with a getter slowly:
 * `eth_call` took half as long again.
 */
class RunOutcome implements Outcome {
  readonly failure: Outcome['failure']
  readonly gasUsed: bigint
  readonly gasNeed: Outcome['gasNeed']
  readonly gasRefund: bigint
  readonly output: Uint8Array
  readonly logs: Outcome['logs']
  readonly created: Address | undefined
  readonly consoleLines: readonly ConsoleLine[]
  readonly accessed: readonly AccessListEntry[]
  readonly isAlone: boolean
  readonly #overlay: Overlay
  #world: World | undefined

  constructor(
    { reportsAccess, block, limits }: RunSetting,
    message: CheckedMessage,
    result: MachineResult,
    { intrinsic, bill, lines, overlay }: Accounting,
  ) {
    this.failure = result.failure
    this.gasUsed = bill.gasUsed
    this.gasNeed = result.gasNeed && { ...result.gasNeed, gas: intrinsic + result.gasNeed.gas }
    this.gasRefund = bill.gasRefund
    this.output = result.output
    this.logs = result.logs
    this.created = message.to === null ? result.created : undefined
    this.consoleLines = lines
    this.isAlone = result.isAlone
    this.accessed = reportsAccess ? listable(message, result, block.hardfork, limits) : []
    this.#overlay = overlay
  }

  get world(): World {
    this.#world ??= this.#overlay.world()
    return this.#world
  }

  get changes(): OverlayChanges {
    return this.#overlay.changes
  }
}

/** Addresses that start warm (EIP-2929, EIP-3651, EIP-7702). */
function warmFrom(
  { from, to }: CheckedMessage,
  { hardfork, coinbase }: BlockEnvironment,
  authorities: readonly Address[],
): readonly Address[] {
  const warm = [from, ...authorities]
  if (to !== null) warm.push(to)
  if (isAtLeast(hardfork, 'shanghai')) warm.push(coinbase)
  return warm
}

/** Transfers value without a machine; returns undefined, without changes, if code or a tracer needs one. */
function transfer(
  { block, limits, movedPrecompiles, reportsAccess, tracer }: RunSetting,
  overlay: Overlay,
  { from, to, value }: CheckedMessage,
): MachineResult | undefined {
  if (to === null || movedPrecompiles || reportsAccess || tracer) return undefined
  if (isPrecompile(to, block.hardfork, limits) || to === CONSOLE_ADDRESS) return undefined
  const target = overlay.account(to)
  if (target !== undefined && target.code.length > 0) return undefined
  const sender = overlay.account(from)
  const received = (target?.balance ?? 0n) + value
  // state overrides can create more ether than a word holds
  if ((sender?.balance ?? 0n) < value || received > MAX_UINT256) return undefined
  if (from !== to) {
    overlay.setAccount({ ...sender!, balance: sender!.balance - value })
    overlay.setAccount({ ...(target ?? emptyAccount(to)), balance: received })
  }
  return { ...NOTHING_RUN, touched: [from, to] }
}

const NOTHING_RUN: Omit<MachineResult, 'touched'> = {
  failure: undefined,
  gasUsed: 0n,
  gasNeed: { gas: 0n, isCertain: true },
  refund: 0n,
  output: EMPTY_BYTES,
  logs: [],
  created: undefined,
  destroyed: [],
  accessed: [],
  isAlone: true,
}

type Bill = Pick<Outcome, 'gasUsed' | 'gasRefund'>

/** Caps refunds and applies the calldata floor price (EIP-7623). */
function billOf(
  message: CheckedMessage,
  { hardfork }: BlockEnvironment,
  spent: bigint,
  earned: bigint,
): Bill {
  const refund = smaller(earned, maxRefund(spent, hardfork))
  const gasUsed = larger(spent - refund, floorDataGas(message, hardfork))
  return { gasUsed, gasRefund: larger(spent - gasUsed, 0n) }
}

/**
 * Charges all gas and blobs, and raises the nonce. The maximum nonce wraps to 0: EIP-2681 forbids such transactions, but calls
 * ignore nonces.
 */
function buyGas(
  overlay: Overlay,
  { from, gasLimit, blobs }: CheckedMessage,
  { price, nonce, blobPrice }: SenderTerms,
): void {
  const sender = overlay.account(from) ?? emptyAccount(from)
  const cost = gasLimit * price + blobGasOf({ blobs }) * blobPrice
  const balance = sender.balance - cost
  overlay.setAccount({ ...sender, nonce: BigInt.asUintN(64, nonce + 1n), balance })
}

interface Permissions {
  readonly refund: bigint
  readonly authorities: readonly Address[]
}

const NO_PERMISSIONS: Permissions = { refund: 0n, authorities: [] }

/** Sets the code of authorizing accounts and skips invalid authorizations; it stays even if execution fails (EIP-7702). */
function authorize(
  overlay: Overlay,
  { authorizationList }: CheckedMessage,
  block: BlockEnvironment,
): Permissions {
  if (authorizationList.length === 0) return NO_PERMISSIONS
  let refund = 0n
  const authorities: Address[] = []
  for (const authorization of authorizationList) {
    const { chainId, nonce, address, s } = authorization
    if (chainId !== 0n && chainId !== block.chainId) continue
    if (nonce > MAX_NONCE || s > HALF_ORDER) continue
    const authority = authorityOf(authorization)
    if (authority === undefined) continue
    authorities.push(authority)
    const account = overlay.account(authority)
    const code = account?.code ?? EMPTY_BYTES
    if (code.length > 0 && !isDelegation(code)) continue
    if ((account?.nonce ?? 0n) !== nonce) continue
    if (account !== undefined) refund += AUTHORIZATION_REFUND
    const isWithdrawal = address === ZERO_ADDRESS
    overlay.setCode(authority, isWithdrawal ? EMPTY_BYTES : delegationTo(address))
    overlay.setNonce(authority, nonce + 1n)
  }
  return { refund, authorities }
}

/** Refunds unused gas and pays tips to the miner. The base fee is burnt. */
function settle(
  overlay: Overlay,
  { from, gasLimit }: CheckedMessage,
  { price, tip }: SenderTerms,
  { coinbase, hardfork }: BlockEnvironment,
  gasUsed: bigint,
): void {
  if (price > 0n && gasLimit > gasUsed) pay(overlay, from, (gasLimit - gasUsed) * price)
  // before EIP-161 the miner's account is created even without payment
  if (tip === 0n && isAtLeast(hardfork, 'spuriousDragon')) return
  pay(overlay, coinbase, tip * gasUsed)
}

function pay(overlay: Overlay, address: Address, wei: bigint): void {
  const account = overlay.account(address) ?? emptyAccount(address)
  overlay.setAccount({ ...account, balance: account.balance + wei })
}

export function clearEmpty(overlay: Overlay, touched: Iterable<Address>): void {
  for (const address of touched) {
    const account = overlay.account(address)
    if (account !== undefined && isEmpty(account)) overlay.deleteAccount(address)
  }
}

/** Sender, target or created contract, and precompiles are warm anyway: listed only with slots. */
function listable(
  { from, to }: CheckedMessage,
  { accessed, created }: MachineResult,
  hardfork: Hardfork,
  limits: RunSetting['limits'],
): AccessListEntry[] {
  const target = to ?? created
  const isWarm = (address: Address): boolean =>
    address === from || address === target || isPrecompile(address, hardfork, limits)
  return accessed.filter(({ address, storageKeys }) => storageKeys.length > 0 || !isWarm(address))
}

function printLine(lines: ConsoleLine[], address: Address, data: Uint8Array): void {
  if (lines.length > LINE_LIMIT) return
  const text = formatConsoleCall(data)
  if (text === undefined) return
  const isFull = lines.length === LINE_LIMIT
  lines.push({ address, text: isFull ? 'too many lines: the rest is left out' : text })
}
