// An instance with its host functions. It runs one job at a time.
import { CONSOLE_ADDRESS } from '../../core/abi.ts'
import { EMPTY_CODE_HASH } from '../../core/crypto/crypto.ts'
import { type Address, type Hash, ZERO_HASH } from '../../core/hex.ts'
import { blobBaseFeeIn } from '../../protocol/fees.ts'
import { type Hardfork, isAtLeast, placeOfFork } from '../../protocol/forks.ts'
import { isDelegation } from '../../protocol/transactions/delegation.ts'
import { maxCodeSize } from '../../protocol/transactions/transactionrules.ts'
import { BEACON_ROOTS } from '../../state/predeploys.ts'
import type { Account } from '../../state/world.ts'
import type { BlockEnvironment, ReachedCode, Tracer } from '../executor.ts'
import { type MachineJob, Unrepeatable } from '../machine.ts'
import { OP, operationsAt, STACK_LIMIT } from '../opcodes.ts'
import type { PrecompileCode } from '../precompiles/precompile.ts'
import { type PrecompileTable, precompilesFor, precompileTable } from '../precompiles/table.ts'
import { Codes } from './codes.ts'
import { Instance } from './instance.ts'
import * as layout from './layout.ts'
import { reachedIn } from './reached.ts'
import { Steps } from './steps.ts'

const UNLIMITED = 0xffff_ffff

/** No gas is above it. */
const MOST_GAS = 2n ** 63n - 1n

interface LoadedAccount {
  readonly address: Address
  readonly account: Account | undefined
}

function watchedBy(tracer: Tracer | undefined): number {
  if (tracer === undefined) return 0
  const { onStep, onEnter, onExit, onLog, onDestroy, onReached, stepParts } = tracer
  // steps refer to their frames
  const frames = onStep || onEnter || onExit || onLog || onDestroy ? layout.WATCH_FRAMES : 0
  const steps = onStep ? layout.WATCH_STEPS : 0
  const memory = onStep && stepParts?.memory ? layout.WATCH_MEMORY : 0
  const end = onStep && stepParts?.end ? layout.WATCH_END : 0
  return frames | steps | memory | end | (onReached ? layout.WATCH_REACHED : 0)
}

type Opcodes = ReadonlySet<number>

const NO_OPCODES: Opcodes = new Set()
const ALL_OPCODES: Opcodes = new Set(new Uint8Array(256).keys())
const MARKED: Opcodes = new Set([OP.JUMPDEST, OP.JUMPI])

/** Operations to refuse, so that they are counted and traced first. */
function refusedFor(tracer: Tracer | undefined): Opcodes {
  const { onTick, onStep, onReached, stepParts } = tracer ?? {}
  if (onTick !== undefined) return ALL_OPCODES
  const steps = onStep === undefined ? NO_OPCODES : (stepParts?.only ?? ALL_OPCODES)
  if (onReached === undefined) return steps
  return steps.size === 0 ? MARKED : new Set([...steps, ...MARKED])
}

const TABLE_SIZE = 256 * 8

function operationTable(hardfork: Hardfork): Uint8Array {
  const bytes = new Uint8Array(TABLE_SIZE)
  refuse(bytes, 0, ALL_OPCODES)
  const table = new DataView(bytes.buffer)
  for (const [opcode, { gas, takes, leaves }] of operationsAt(hardfork)) {
    table.setUint16(8 * opcode, gas, true)
    table.setUint16(8 * opcode + 2, takes, true)
    table.setUint32(8 * opcode + 4, STACK_LIMIT - Math.max(leaves - takes, 0) - takes, true)
  }
  return bytes
}

/** Marks operations as invalid in the table at `at`, so that they take the slow path and are traced. */
function refuse(bytes: Uint8Array, at: number, opcodes: Opcodes): void {
  const table = new DataView(bytes.buffer, at)
  for (const opcode of opcodes) table.setUint16(8 * opcode + 2, layout.INVALID, true)
}

export class Interpreter {
  readonly instance: Instance
  readonly codes: Codes
  readonly steps: Steps
  /** Accounts of the current job, by the index that the instance stores. */
  readonly accounts: LoadedAccount[] = []
  /** Records of init code of the current job, if traced. */
  readonly reached: ReachedCode[] = []
  /** Of the current job, up to its last yield. */
  gasUsed = 0n
  /** When operations being traced yield (`performance.now()`). */
  turnEnds: number = Number.POSITIVE_INFINITY
  hasReported = false
  readonly #onEvents: (interpreter: Interpreter, tracer: Tracer) => void
  #table: PrecompileTable = new Map()
  #usual: PrecompileTable = new Map()
  #job: MachineJob | undefined
  #hardfork: Hardfork | undefined
  /** The operations that OPERATIONS refuses; undefined before the first table. */
  #refused: Opcodes | undefined
  #block: BlockEnvironment | undefined
  #asked: Address | undefined

  constructor(
    memoryLimit: number,
    onClearCode: () => void,
    onEvents: (interpreter: Interpreter, tracer: Tracer) => void,
  ) {
    this.#onEvents = onEvents
    this.instance = new Instance(
      {
        loadAccount: (account) => this.#loadAccount(account),
        loadCode: (account) => this.#loadCode(account),
        loadCodeHash: (account) => this.#loadCodeHash(account),
        loadSlot: (account, key, value) => this.#loadSlot(account, key, value),
        loadBlockHash: (number, target) => this.#loadBlockHash(number, target),
        reportConsole: (caller, input, length) => this.#reportConsole(caller, input, length),
        flushEvents: () => this.flushEvents(),
        reportMemory: (depth, memory, size) => this.steps.readMemory(depth, memory, size),
        reportReached: (record) => {
          this.instance.refresh()
          this.reached.push(reachedIn(this, record, true))
        },
      },
      memoryLimit,
    )
    this.codes = new Codes(this.instance, onClearCode)
    this.steps = new Steps(this.instance)
  }

  /**
   * @param hot counts that make a loop hot, 0 for never
   * @param budget gas until the first yield
   * @returns the instance's exit
   */
  open(job: MachineJob, hot: number, budget: bigint): number {
    const { instance } = this
    this.#job = job
    this.gasUsed = 0n
    this.hasReported = false
    this.accounts.length = 0
    this.reached.length = 0
    this.codes.makeRoom()
    instance.exports.beginJob()
    this.#setRules(job)
    this.#setBlock(job.block)
    this.#setMessage(job)
    instance.setNumber(layout.HOT, hot)
    instance.setLong(layout.GAS_UNTIL_YIELD, budget)
    const { from, to } = job.message
    const sender = this.#placeOf(from, layout.ENV_ORIGIN)
    this.#warmSlots(job)
    if (to === null) return instance.exports.openCreation(sender, job.creatorNonce)
    return instance.exports.openMessage(sender, this.place(to))
  }

  /**
   * Reports new events.
   * @throws {Unrepeatable} with the tracer's exception
   */
  flushEvents(): void {
    const { tracer } = this.#running
    if (tracer === undefined) return
    this.hasReported = true
    try {
      this.#onEvents(this, tracer)
    } catch (error) {
      throw new Unrepeatable(error)
    }
    // a few operations may be many bytes of trace
    if (performance.now() > this.turnEnds) this.instance.setLong(layout.YIELD_BELOW, MOST_GAS)
  }

  close(): void {
    this.#job = undefined
    this.accounts.length = 0
    this.reached.length = 0
  }

  place(address: Address): number {
    this.instance.setAddress(layout.OPERANDS, address)
    return this.#placeOf(address, layout.OPERANDS)
  }

  #placeOf(address: Address, word: number): number {
    this.#asked = address
    const place = this.instance.exports.accountAt(word)
    this.#asked = undefined
    this.instance.refresh()
    return place
  }

  precompileAt(account: number): PrecompileCode {
    const code = this.#table.get(this.instance.addressAt(account + layout.ACCOUNT_BYTES))
    if (code === undefined) throw new Error('the account is not a precompile')
    return code
  }

  loaded(account: number): LoadedAccount {
    const known = this.accounts[this.instance.number(account + layout.ACCOUNT_HOST)]
    if (known === undefined) throw new Error('the instance names an account that was not loaded')
    return known
  }

  get #running(): MachineJob {
    if (this.#job === undefined) throw new Error('no job is running')
    return this.#job
  }

  #setWatched(tracer: Tracer | undefined, hardfork: Hardfork): void {
    const { instance } = this
    instance.setNumber(layout.WATCHED, watchedBy(tracer))
    if (tracer?.onStep !== undefined) this.steps.begin(tracer, hardfork)
    const refused = refusedFor(tracer)
    if (this.#refused === refused) return
    this.#refused = refused
    instance.bytes.copyWithin(layout.OPERATIONS, layout.RULES, layout.RULES + TABLE_SIZE)
    refuse(instance.bytes, layout.OPERATIONS, refused)
  }

  #setRules(job: MachineJob): void {
    const { block, limits, memoryLimit, movedPrecompiles, reportsAccess, tracer } = job
    const { instance } = this
    const { hardfork, signers } = block
    if (this.#hardfork !== hardfork) {
      this.#hardfork = hardfork
      // BLOBBASEFEE and PREVRANDAO depend on the fork
      this.#block = undefined
      instance.bytes.set(operationTable(hardfork), layout.RULES)
      this.#refused = undefined
      instance.setNumber(layout.FORK, placeOfFork(hardfork))
      const isRepriced = isAtLeast(hardfork, 'amsterdam')
      instance.setLong(layout.COLD_ACCOUNT, isRepriced ? 3_000n : 2_600n)
    }
    this.#setWatched(tracer, hardfork)
    this.#usual = precompileTable(hardfork, limits)
    this.#table = precompilesFor(this.#usual, movedPrecompiles, signers)
    const codeSize = limits?.codeSize ?? maxCodeSize(hardfork)
    instance.setNumber(layout.CODE_LIMIT, Math.min(codeSize, UNLIMITED))
    const initCode = isAtLeast(hardfork, 'shanghai') ? 2 * codeSize : UNLIMITED
    instance.setNumber(layout.INIT_CODE_LIMIT, Math.min(initCode, UNLIMITED))
    instance.setNumber(layout.MEMORY_END, layout.MEMORY + memoryLimit - (memoryLimit % 32))
    instance.setNumber(
      layout.REPORTS_ACCESS,
      reportsAccess && isAtLeast(hardfork, 'berlin') ? 1 : 0,
    )
  }

  #setBlock(block: BlockEnvironment): void {
    if (this.#block === block) return
    const { instance } = this
    instance.setAddress(layout.ENV_COINBASE, block.coinbase)
    instance.setWord(layout.ENV_TIMESTAMP, block.timestamp)
    instance.setWord(layout.ENV_NUMBER, block.number)
    const isProofOfStake = isAtLeast(block.hardfork, 'paris')
    instance.setWord(
      layout.ENV_RANDOM,
      isProofOfStake ? BigInt(block.prevRandao) : block.difficulty,
    )
    instance.setWord(layout.ENV_GAS_LIMIT, block.gasLimit)
    instance.setWord(layout.ENV_CHAIN_ID, block.chainId)
    instance.setWord(layout.ENV_BASE_FEE, block.baseFee)
    if (isAtLeast(block.hardfork, 'cancun')) {
      instance.setWord(layout.ENV_BLOB_BASE_FEE, blobBaseFeeIn(block))
    }
    if (isAtLeast(block.hardfork, 'amsterdam')) {
      instance.setWord(layout.ENV_SLOT_NUMBER, block.slotNumber)
    }
    this.#block = block
  }

  #setMessage({ message, gas, stateGas, gasPrice }: MachineJob): void {
    const { instance } = this
    const { from, to, value, data, blobs } = message
    const blobHashes = blobs?.versionedHashes ?? []
    instance.setAddress(layout.ENV_ORIGIN, from)
    instance.copyWord(layout.FRAMES + layout.FRAME_CALLER, layout.ENV_ORIGIN)
    instance.setWord(layout.ENV_GAS_PRICE, gasPrice)
    instance.setWord(layout.FRAMES + layout.FRAME_VALUE, value)
    instance.setLong(layout.FRAMES + layout.FRAME_GAS, gas)
    instance.setLong(layout.STATE_GAS, stateGas)
    const input = instance.exports.take(data.length + layout.CODE_PADDING)
    instance.refresh()
    instance.bytes.set(data, input)
    instance.bytes.fill(0, input + data.length, input + data.length + layout.CODE_PADDING)
    const isCreation = to === null
    instance.setNumber(layout.FRAMES + (isCreation ? layout.FRAME_CODE : layout.FRAME_INPUT), input)
    instance.setNumber(
      layout.FRAMES + (isCreation ? layout.FRAME_CODE_LENGTH : layout.FRAME_INPUT_LENGTH),
      data.length,
    )
    instance.setNumber(layout.BLOBS_COUNT, blobHashes.length)
    if (blobHashes.length === 0) return
    const place = instance.exports.take(32 * blobHashes.length)
    instance.refresh()
    instance.setNumber(layout.BLOBS, place)
    for (const [index, hash] of blobHashes.entries()) {
      instance.setWord(place + 32 * index, BigInt(hash))
    }
  }

  #warmSlots({ message: { accessList }, block }: MachineJob): void {
    if (accessList.length === 0 || !isAtLeast(block.hardfork, 'berlin')) return
    const { instance } = this
    for (const { address, storageKeys } of accessList) {
      const account = this.place(address)
      for (const key of storageKeys) {
        instance.setWord(layout.OPERANDS, BigInt(key))
        instance.exports.preWarmSlot(account, layout.OPERANDS)
        instance.refresh()
      }
    }
  }

  #loadAccount(place: number): void {
    const { instance } = this
    instance.refresh()
    const job = this.#running
    const address = this.#asked ?? instance.addressAt(place + layout.ACCOUNT_BYTES)
    const account = job.overlay.account(address)
    instance.setNumber(place + layout.ACCOUNT_HOST, this.accounts.length)
    this.accounts.push({ address, account })
    let flags = this.#flagsOf(job, address)
    if (account !== undefined) {
      flags |= layout.ACCOUNT_EXISTS
      if (job.overlay.hasStorage(address)) flags |= layout.ACCOUNT_HAS_STORAGE
      if (isDelegation(account.code) && isAtLeast(job.block.hardfork, 'prague')) {
        flags |= layout.ACCOUNT_DELEGATED
      }
      instance.setWord(place + layout.ACCOUNT_BALANCE, account.balance)
      instance.setLong(place + layout.ACCOUNT_NONCE, account.nonce)
      instance.setNumber(place + layout.ACCOUNT_CODE_LENGTH, account.code.length)
    }
    instance.setNumber(place + layout.ACCOUNT_FLAGS, flags)
  }

  #flagsOf({ warm, message: { accessList }, block }: MachineJob, address: Address): number {
    const isWarm =
      isAtLeast(block.hardfork, 'berlin') &&
      (warm.includes(address) ||
        this.#usual.has(address) ||
        accessList.some((entry) => entry.address === address))
    return (
      (isWarm ? layout.ACCOUNT_WARM : 0) |
      (this.#table.has(address) ? layout.ACCOUNT_PRECOMPILE : 0) |
      (address === CONSOLE_ADDRESS ? layout.ACCOUNT_CONSOLE : 0)
    )
  }

  #loadCode(place: number): void {
    const { instance } = this
    instance.refresh()
    const { account } = this.loaded(place)
    if (account === undefined) return
    const { address, codeHash, code } = account
    // its storage has the block's time
    if (address === BEACON_ROOTS.address) instance.setNumber(layout.DEPENDS_ON_TIME, 1)
    const kept = this.codes.known(codeHash) ?? this.codes.add(codeHash, code)
    if (kept !== undefined) {
      instance.setNumber(place + layout.ACCOUNT_CODE, kept.code)
      instance.setNumber(place + layout.ACCOUNT_JUMPS, kept.jumps)
      instance.setNumber(place + layout.ACCOUNT_CELLS, kept.cells)
      return
    }
    // the cache is full until the next job: this one gets a copy without a jump map
    const room = instance.exports.take(code.length + layout.CODE_PADDING)
    instance.refresh()
    instance.bytes.set(code, room)
    instance.bytes.fill(0, room + code.length, room + code.length + layout.CODE_PADDING)
    instance.setNumber(place + layout.ACCOUNT_CODE, room)
  }

  #loadCodeHash(place: number): void {
    this.instance.refresh()
    const hash: Hash = this.loaded(place).account?.codeHash ?? EMPTY_CODE_HASH
    this.instance.setWord(place + layout.ACCOUNT_CODE_HASH, BigInt(hash))
  }

  #loadSlot(place: number, key: number, value: number): void {
    this.instance.refresh()
    const { address } = this.loaded(place)
    this.instance.setWord(value, this.#running.overlay.storage(address, this.instance.word(key)))
  }

  #loadBlockHash(number: bigint, target: number): void {
    this.instance.refresh()
    const hash = this.#running.block.blockHash(BigInt.asUintN(64, number)) ?? ZERO_HASH
    this.instance.setWord(target, BigInt(hash))
  }

  #reportConsole(caller: number, input: number, length: number): void {
    this.instance.refresh()
    const digits = this.instance.word(caller).toString(16).padStart(40, '0')
    this.#running.onConsole(`0x${digits}` as Address, this.instance.slice(input, length))
  }
}
