// One engine with what it knows: it runs a job at a time, answers what the engine asks meanwhile, and reads the result.

import { CONSOLE_ADDRESS } from '../../core/abi.ts'
import { EMPTY_CODE_HASH } from '../../core/crypto.ts'
import { type Address, type Hash, ZERO_HASH } from '../../core/hex.ts'
import { blobBaseFeeIn } from '../../protocol/fees.ts'
import { type Hardfork, isAtLeast } from '../../protocol/forks.ts'
import type { Account } from '../../state/world.ts'
import type { BlockEnvironment } from '../executor.ts'
import type { MachineJob } from '../machine.ts'
import type { PrecompileCode } from '../precompiles/precompile.ts'
import { type CodePlace, Codes } from './codes.ts'
import { Core } from './instance.ts'
import {
  ACCOUNT_BALANCE,
  ACCOUNT_BYTES,
  ACCOUNT_CELLS,
  ACCOUNT_CODE,
  ACCOUNT_CODE_HASH,
  ACCOUNT_CODE_LENGTH,
  ACCOUNT_CONSOLE,
  ACCOUNT_DELEGATED,
  ACCOUNT_EXISTS,
  ACCOUNT_FLAGS,
  ACCOUNT_HAS_STORAGE,
  ACCOUNT_HOST,
  ACCOUNT_JUMPS,
  ACCOUNT_NONCE,
  ACCOUNT_PRECOMPILE,
  ACCOUNT_WARM,
  BLOBS,
  BLOBS_COUNT,
  CODE_LIMIT,
  CODE_PADDING,
  ENV_BASE_FEE,
  ENV_BLOB_BASE_FEE,
  ENV_CHAIN_ID,
  ENV_COINBASE,
  ENV_GAS_LIMIT,
  ENV_GAS_PRICE,
  ENV_NUMBER,
  ENV_ORIGIN,
  ENV_RANDOM,
  ENV_TIMESTAMP,
  FORK,
  FRAME_CALLER,
  FRAME_CODE,
  FRAME_CODE_LENGTH,
  FRAME_GAS,
  FRAME_INPUT,
  FRAME_INPUT_LENGTH,
  FRAME_VALUE,
  FRAMES,
  FUEL,
  HOT,
  INIT_CODE_LIMIT,
  MEMORY,
  MEMORY_END,
  OPERANDS,
  OPERATIONS,
  REPORTS_ACCESS,
} from './layout.ts'
import { forkNumber, operationTable } from './operations.ts'
import type { PrecompileTables } from './precompiles.ts'

/** Bytes of deployed code from spurious dragon on (EIP-170), where the job says nothing else. */
const CODE_SIZE = 24_576

/** No limit. */
const UNLIMITED = 0xffff_ffff

/** Bytes of code that names another account: a prefix of three and the address (EIP-7702). */
const DELEGATION_LENGTH = 23

/** An account that the engine has asked for. */
export interface LoadedAccount {
  readonly address: Address
  /** As it was before the run; undefined: there was none. */
  readonly account: Account | undefined
}

export class Session {
  readonly core: Core
  readonly codes: Codes
  /** What the current job has asked for, by the number that the engine keeps. */
  readonly accounts: LoadedAccount[] = []
  /** Of the current job, up to its last yield. */
  gasUsed = 0n
  readonly #precompiles: PrecompileTables
  #table: ReadonlyMap<Address, PrecompileCode> = new Map()
  #usual: ReadonlyMap<Address, PrecompileCode> = new Map()
  #job: MachineJob | undefined
  #hardfork: Hardfork | undefined
  #block: BlockEnvironment | undefined
  /** The address whose place is asked for, where its text is known. */
  #asked: Address | undefined

  constructor(
    memoryLimit: number,
    precompiles: PrecompileTables,
    onClearCode: (code: CodePlace) => void,
  ) {
    this.#precompiles = precompiles
    this.core = new Core(
      {
        loadAccount: (account) => this.#loadAccount(account),
        loadCode: (account) => this.#loadCode(account),
        loadCodeHash: (account) => this.#loadCodeHash(account),
        loadSlot: (account, key, value) => this.#loadSlot(account, key, value),
        loadBlockHash: (number, target) => this.#loadBlockHash(number, target),
        tellConsole: (caller, input, length) => this.#tellConsole(caller, input, length),
      },
      memoryLimit,
    )
    this.codes = new Codes(this.core, onClearCode)
  }

  /**
   * Opens the outermost frame of a job.
   * @param hot counts that make a loop hot, 0 for never
   * @param fuel gas until the first yield
   * @returns the engine's exit
   */
  open(job: MachineJob, hot: number, fuel: bigint): number {
    const { core } = this
    this.#job = job
    this.gasUsed = 0n
    this.accounts.length = 0
    this.codes.makeRoom()
    core.exports.beginJob()
    this.#setRules(job)
    this.#setBlock(job.block)
    this.#setMessage(job)
    core.setNumber(HOT, hot)
    core.setLong(FUEL, fuel)
    const sender = this.#placeOf(job.from, ENV_ORIGIN)
    this.#warmSlots(job)
    if (job.to === null) return core.exports.openCreation(sender, job.creatorNonce)
    return core.exports.openMessage(sender, this.place(job.to))
  }

  /** Lets go of the job. */
  close(): void {
    this.#job = undefined
    this.accounts.length = 0
  }

  /** The engine's place of an account. */
  place(address: Address): number {
    this.core.setAddress(OPERANDS, address)
    return this.#placeOf(address, OPERANDS)
  }

  /** The same when the address stands as a word already. */
  #placeOf(address: Address, word: number): number {
    this.#asked = address
    const place = this.core.exports.accountAt(word)
    this.#asked = undefined
    this.core.refresh()
    return place
  }

  /** The precompile at an account's address. */
  precompileAt(account: number): PrecompileCode {
    const code = this.#table.get(this.core.addressAt(account + ACCOUNT_BYTES))
    if (code === undefined) throw new Error('the account is no precompile')
    return code
  }

  loaded(account: number): LoadedAccount {
    const known = this.accounts[this.core.number(account + ACCOUNT_HOST)]
    if (known === undefined) throw new Error('the engine names an account that was not loaded')
    return known
  }

  get #running(): MachineJob {
    if (this.#job === undefined) throw new Error('no job is running')
    return this.#job
  }

  #setRules({ block, limits, memoryLimit, movedPrecompiles, reportsAccess }: MachineJob): void {
    const { core } = this
    const { hardfork, signers } = block
    if (this.#hardfork !== hardfork) {
      this.#hardfork = hardfork
      // BLOBBASEFEE and PREVRANDAO are written by fork
      this.#block = undefined
      this.#usual = this.#precompiles.usual(hardfork)
      core.bytes.set(operationTable(hardfork), OPERATIONS)
      core.setNumber(FORK, forkNumber(hardfork))
    }
    this.#table = this.#precompiles.of(hardfork, movedPrecompiles, signers)
    const codeSize = limits?.codeSize ?? CODE_SIZE
    core.setNumber(CODE_LIMIT, Math.min(codeSize, UNLIMITED))
    const initCode = isAtLeast(hardfork, 'shanghai') ? 2 * codeSize : UNLIMITED
    core.setNumber(INIT_CODE_LIMIT, Math.min(initCode, UNLIMITED))
    core.setNumber(MEMORY_END, MEMORY + memoryLimit - (memoryLimit % 32))
    core.setNumber(REPORTS_ACCESS, reportsAccess && isAtLeast(hardfork, 'berlin') ? 1 : 0)
  }

  #setBlock(block: BlockEnvironment): void {
    if (this.#block === block) return
    const { core } = this
    core.setAddress(ENV_COINBASE, block.coinbase)
    core.setWord(ENV_TIMESTAMP, block.timestamp)
    core.setWord(ENV_NUMBER, block.number)
    const isProofOfStake = isAtLeast(block.hardfork, 'paris')
    core.setWord(ENV_RANDOM, isProofOfStake ? BigInt(block.prevRandao) : block.difficulty)
    core.setWord(ENV_GAS_LIMIT, block.gasLimit)
    core.setWord(ENV_CHAIN_ID, block.chainId)
    core.setWord(ENV_BASE_FEE, block.baseFee)
    if (isAtLeast(block.hardfork, 'cancun')) {
      core.setWord(ENV_BLOB_BASE_FEE, blobBaseFeeIn(block))
    }
    this.#block = block
  }

  #setMessage({ from, to, value, data, gas, gasPrice, blobHashes }: MachineJob): void {
    const { core } = this
    core.setAddress(ENV_ORIGIN, from)
    core.copyWord(FRAMES + FRAME_CALLER, ENV_ORIGIN)
    core.setWord(ENV_GAS_PRICE, gasPrice)
    core.setWord(FRAMES + FRAME_VALUE, value)
    core.setLong(FRAMES + FRAME_GAS, gas)
    const input = core.exports.take(data.length + CODE_PADDING)
    core.refresh()
    core.bytes.set(data, input)
    core.bytes.fill(0, input + data.length, input + data.length + CODE_PADDING)
    const isCreation = to === null
    core.setNumber(FRAMES + (isCreation ? FRAME_CODE : FRAME_INPUT), input)
    core.setNumber(FRAMES + (isCreation ? FRAME_CODE_LENGTH : FRAME_INPUT_LENGTH), data.length)
    core.setNumber(BLOBS_COUNT, blobHashes.length)
    if (blobHashes.length === 0) return
    const blobs = core.exports.take(32 * blobHashes.length)
    core.refresh()
    core.setNumber(BLOBS, blobs)
    for (const [index, hash] of blobHashes.entries()) {
      core.setWord(blobs + 32 * index, BigInt(hash))
    }
  }

  #warmSlots({ accessList, block }: MachineJob): void {
    if (accessList.length === 0 || !isAtLeast(block.hardfork, 'berlin')) return
    const { core } = this
    for (const { address, storageKeys } of accessList) {
      const account = this.place(address)
      for (const key of storageKeys) {
        core.setWord(OPERANDS, BigInt(key))
        core.exports.preWarmSlot(account, OPERANDS)
        core.refresh()
      }
    }
  }

  #loadAccount(place: number): void {
    const { core } = this
    core.refresh()
    const job = this.#running
    const address = this.#asked ?? core.addressAt(place + ACCOUNT_BYTES)
    const account = job.overlay.account(address)
    core.setNumber(place + ACCOUNT_HOST, this.accounts.length)
    this.accounts.push({ address, account })
    let flags = this.#flagsOf(job, address)
    if (account !== undefined) {
      flags |= ACCOUNT_EXISTS
      if (!account.storage.isEmpty) flags |= ACCOUNT_HAS_STORAGE
      if (isDelegation(account.code) && isAtLeast(job.block.hardfork, 'prague')) {
        flags |= ACCOUNT_DELEGATED
      }
      core.setWord(place + ACCOUNT_BALANCE, account.balance)
      core.setLong(place + ACCOUNT_NONCE, account.nonce)
      core.setNumber(place + ACCOUNT_CODE_LENGTH, account.code.length)
    }
    core.setNumber(place + ACCOUNT_FLAGS, flags)
  }

  #flagsOf({ warm, accessList, block }: MachineJob, address: Address): number {
    const isWarm =
      isAtLeast(block.hardfork, 'berlin') &&
      (warm.includes(address) ||
        this.#usual.has(address) ||
        accessList.some((entry) => entry.address === address))
    return (
      (isWarm ? ACCOUNT_WARM : 0) |
      (this.#table.has(address) ? ACCOUNT_PRECOMPILE : 0) |
      (address === CONSOLE_ADDRESS ? ACCOUNT_CONSOLE : 0)
    )
  }

  #loadCode(place: number): void {
    const { core } = this
    core.refresh()
    const { account } = this.loaded(place)
    if (account === undefined) return
    const { codeHash, code } = account
    const kept = this.codes.known(codeHash) ?? this.codes.add(codeHash, code)
    if (kept !== undefined) {
      core.setNumber(place + ACCOUNT_CODE, kept.code)
      core.setNumber(place + ACCOUNT_JUMPS, kept.jumps)
      core.setNumber(place + ACCOUNT_CELLS, kept.cells)
      return
    }
    // no room before the next job: for this one only, and without a map, which the engine makes
    const room = core.exports.take(code.length + CODE_PADDING)
    core.refresh()
    core.bytes.set(code, room)
    core.bytes.fill(0, room + code.length, room + code.length + CODE_PADDING)
    core.setNumber(place + ACCOUNT_CODE, room)
  }

  #loadCodeHash(place: number): void {
    this.core.refresh()
    const hash: Hash = this.loaded(place).account?.codeHash ?? EMPTY_CODE_HASH
    this.core.setWord(place + ACCOUNT_CODE_HASH, BigInt(hash))
  }

  #loadSlot(place: number, key: number, value: number): void {
    this.core.refresh()
    const { address } = this.loaded(place)
    this.core.setWord(value, this.#running.overlay.storage(address, this.core.word(key)))
  }

  #loadBlockHash(number: bigint, target: number): void {
    this.core.refresh()
    const hash = this.#running.block.blockHash(BigInt.asUintN(64, number)) ?? ZERO_HASH
    this.core.setWord(target, BigInt(hash))
  }

  #tellConsole(caller: number, input: number, length: number): void {
    this.core.refresh()
    const digits = this.core.word(caller).toString(16).padStart(40, '0')
    this.#running.onConsole(`0x${digits}` as Address, this.core.slice(input, length))
  }
}

function isDelegation(code: Uint8Array): boolean {
  return (
    code.length === DELEGATION_LENGTH && code[0] === 0xef && code[1] === 0x01 && code[2] === 0x00
  )
}
