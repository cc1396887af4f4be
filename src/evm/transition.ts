// Applies a message around its execution: gas, warm accounts, authorizations, refunds, the miner, deletions. Transactions and
// calls share it, so that estimates match, and so do all machines.
import { CONSOLE_ADDRESS } from '../core/abi.ts'
import { MAX_UINT256 } from '../core/bigints.ts'
import { type Address, EMPTY_BYTES } from '../core/hex.ts'
import type { MaybePromise } from '../core/promises.ts'
import { NO_SLOTS } from '../protocol/blocks/accesslist.ts'
import { blobGasOf } from '../protocol/fees.ts'
import { type Hardfork, isAtLeast } from '../protocol/forks.ts'
import { isPrecompile } from '../protocol/precompiles.ts'
import type { AccessListEntry } from '../protocol/transactions/transaction.ts'
import { Overlay, type OverlayChanges } from '../state/overlay.ts'
import { emptyAccount, isEmpty, type World } from '../state/world.ts'
import { accessesOf } from './accesses.ts'
import { formatConsoleCall } from './console.ts'
import type { BlockEnvironment, ConsoleLine, Message, Outcome, Touched } from './executor.ts'
import type { Machine, MachineJob, MachineResult } from './machine.ts'
import { type Bill, type Metering, meteringOf } from './metering.ts'
import { transferLog } from './transferlog.ts'

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
    | 'block'
    | 'limits'
    | 'movedPrecompiles'
    | 'memoryLimit'
    | 'reportsAccess'
    | 'reportsRead'
    | 'tracer'
    | 'pause'
    | 'onBug'
  > {
  readonly base: World | Overlay
}

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
  buyGas(overlay, message, terms)
  const metering = meteringOf(overlay, message, block)
  const lines: ConsoleLine[] = []
  const finish = (result: MachineResult): Outcome => {
    const bill = metering.bill(result)
    settle(overlay, message, terms, block, bill.gasUsed)
    for (const address of result.destroyed) destroy(overlay, address, block.hardfork)
    if (isAtLeast(block.hardfork, 'spuriousDragon')) {
      clearEmpty(overlay, result.touched)
      clearEmpty(overlay, [block.coinbase])
    }
    return new RunOutcome(setting, message, result, { bill, lines, overlay, metering })
  }
  if (!metering.isPrepared) {
    const result = unprepared()
    reportUnprepared(setting, message, metering.gas, result.failure)
    return finish(result)
  }
  const paid = transfer(setting, overlay, message, metering)
  if (paid !== undefined) return finish(paid)
  // written out, as object spread is slow
  const result = machine.run({
    overlay,
    block,
    message,
    gas: metering.gas,
    stateGas: metering.stateGas,
    gasPrice: terms.price,
    creatorNonce: (overlay.account(message.from)?.nonce ?? 1n) - 1n,
    warm: warmFrom(message, block, metering.authorities),
    limits: setting.limits,
    movedPrecompiles: setting.movedPrecompiles,
    memoryLimit: setting.memoryLimit,
    reportsAccess: setting.reportsAccess,
    reportsRead: setting.reportsRead,
    tracer: setting.tracer,
    onConsole: (from, data) => printLine(lines, from, data),
    pause: setting.pause,
    onBug: setting.onBug,
  })
  return result instanceof Promise ? result.then(finish) : finish(result)
}

/** Deletes an account, but since amsterdam keeps its ether (EIP-8246). */
function destroy(overlay: Overlay, address: Address, hardfork: Hardfork): void {
  const balance = overlay.account(address)?.balance ?? 0n
  overlay.deleteAccount(address)
  if (balance > 0n && isAtLeast(hardfork, 'amsterdam')) overlay.set(address, { balance })
}

interface Accounting {
  readonly bill: Bill
  readonly lines: readonly ConsoleLine[]
  readonly overlay: Overlay
  readonly metering: Metering
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
  readonly blockGas: Outcome['blockGas']
  readonly output: Uint8Array
  readonly logs: Outcome['logs']
  readonly created: Address | undefined
  readonly consoleLines: readonly ConsoleLine[]
  readonly accessed: readonly AccessListEntry[]
  readonly isAlone: boolean
  readonly dependsOnTime: boolean
  readonly #overlay: Overlay
  readonly #read: Touched | undefined
  #world: World | undefined

  constructor(
    { reportsAccess, reportsRead, block, limits }: RunSetting,
    message: CheckedMessage,
    result: MachineResult,
    { bill, lines, overlay, metering }: Accounting,
  ) {
    this.failure = result.failure
    this.gasUsed = bill.gasUsed
    this.gasNeed = result.failure === undefined ? bill.gasNeed : undefined
    this.gasRefund = bill.gasRefund
    this.blockGas = bill.blockGas
    this.output = result.output
    this.logs = result.logs
    this.created = message.to === null ? result.created : undefined
    this.consoleLines = lines
    this.isAlone = result.isAlone
    this.dependsOnTime = result.dependsOnTime
    this.accessed = reportsAccess ? listable(message, result, block.hardfork, limits) : []
    this.#overlay = overlay
    this.#read =
      metering.isOfState && reportsRead
        ? readBy(message, block, result, metering.authorities)
        : undefined
  }

  get accesses(): Outcome['accesses'] {
    return this.#read && accessesOf(this.#overlay, this.#read)
  }

  get world(): World {
    this.#world ??= this.#overlay.world()
    return this.#world
  }

  get changes(): OverlayChanges {
    return this.#overlay.changes
  }
}

function readBy(
  { from, to }: CheckedMessage,
  { coinbase }: BlockEnvironment,
  { state }: MachineResult,
  authorities: readonly Address[],
): Touched {
  const read = new Map<Address, readonly bigint[]>()
  for (const address of [from, coinbase, ...authorities]) read.set(address, NO_SLOTS)
  if (state === undefined && to !== null) read.set(to, NO_SLOTS)
  for (const [address, slots] of state?.read ?? []) read.set(address, slots)
  return read
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
  metering: Metering,
): MachineResult | undefined {
  if (to === null || movedPrecompiles || reportsAccess || tracer) return undefined
  if (isPrecompile(to, block.hardfork, limits) || to === CONSOLE_ADDRESS) return undefined
  const target = overlay.account(to)
  if (target !== undefined && target.code.length > 0) return undefined
  const sender = overlay.account(from)
  const received = (target?.balance ?? 0n) + value
  // state overrides can create more ether than a word holds
  if ((sender?.balance ?? 0n) < value || received > MAX_UINT256) return undefined
  if (metering.isOfState && value > 0n && (target === undefined || isEmpty(target))) {
    if (!metering.payNewAccount()) return unprepared(to)
  }
  if (from !== to) {
    overlay.setAccount({ ...sender!, balance: sender!.balance - value })
    overlay.setAccount({ ...(target ?? emptyAccount(to)), balance: received })
  }
  const isLogged = metering.isOfState && value > 0n && from !== to
  const logs = isLogged ? [transferLog(from, to, value)] : NOTHING_RUN.logs
  return { ...NOTHING_RUN, touched: [from, to], logs }
}

/** The gas does not cover what precedes execution; it read the target, if any. */
function unprepared(target?: Address): MachineResult {
  const read = new Map(target === undefined ? [] : [[target, NO_SLOTS]])
  return {
    ...NOTHING_RUN,
    touched: [],
    failure: { kind: 'halt', reason: 'out of gas' },
    gasNeed: undefined,
    state: { reservoir: 0n, spilled: 0n, isUnprepared: true, read },
  }
}

/** Authorizations cost more than there is: tracers see a frame that fails at once. */
function reportUnprepared(
  { tracer }: RunSetting,
  { from, to, value, data }: CheckedMessage,
  gas: bigint,
  failure: MachineResult['failure'],
): void {
  const code = (): Uint8Array => EMPTY_BYTES
  const start = { kind: 'CALL', depth: 0, from, to, value, gas, input: data, code } as const
  tracer?.onEnter?.({ ...start, isPrecompile: false })
  const state = { used: 0n, spilled: 0n }
  const end = { depth: 0, gasUsed: gas, output: EMPTY_BYTES, created: undefined, failure, state }
  tracer?.onExit?.(end)
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
  dependsOnTime: false,
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

/** A balance is a word: one that was set too high wraps, as in geth. */
function pay(overlay: Overlay, address: Address, wei: bigint): void {
  const account = overlay.account(address) ?? emptyAccount(address)
  overlay.setAccount({ ...account, balance: BigInt.asUintN(256, account.balance + wei) })
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
