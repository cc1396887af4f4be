// Traces the reference's EVM, as a twin of the interpreter's tracers: turns its events into steps, frames, logs and
// destructions, and reports each once it is final.

import type { EVM, EVMResult, ExecResult, InterpreterStep, Message } from '@ethereumjs/evm'
import { generateAddress, generateAddress2 } from '@ethereumjs/util'
import {
  type Address,
  addressFromBytes,
  bytesFromBigint,
  bytesFromHex,
  EMPTY_BYTES,
  paddedBytes,
  wordFromBigint,
} from '../../../src/core/hex.ts'
import { lazy } from '../../../src/core/lrucache.ts'
import { type YieldIfDue, yielder } from '../../../src/core/yield.ts'
import type { FrameEnd, FrameStart, Tracer } from '../../../src/evm/executor.ts'
import { MAX_CALL_DEPTH, type MachineJob } from '../../../src/evm/machine.ts'
import { FRAME_KINDS, INVALID, OP, type Operation, operationsAt } from '../../../src/evm/opcodes.ts'
import { frameFailure } from '../../../src/evm/reference/machine.ts'
import type { OverlayStateManager } from '../../../src/evm/reference/statemanager.ts'
import { type Hardfork, isAtLeast } from '../../../src/protocol/forks.ts'
import { delegateOf } from '../../../src/protocol/transactions/delegation.ts'
import type { Overlay } from '../../../src/state/overlay.ts'
import { Reaches } from './reaches.ts'
import { Touches } from './touches.ts'

const TURN_MS = 5

const LOOK_EVERY = 64

const WARM_GAS = 100n
const COLLISION = 'contract address collision'
const MAX_NONCE = 2n ** 64n - 1n

/** Their cost depends only on the account or slot they name. */
const NAMING: ReadonlySet<number> = new Set([
  ...[OP.EXP, OP.BALANCE, OP.EXTCODESIZE, OP.EXTCODEHASH, OP.SLOAD, OP.SSTORE],
])

/** Listens for what the job's tracer needs; returns a function that stops it. */
export function attachTracer(
  evm: EVM,
  job: Pick<MachineJob, 'block' | 'tracer' | 'pause'>,
): () => void {
  const { tracer } = job
  const { onTick, onStep, onEnter, onExit, onLog, onDestroy, onTouched, onReached } = tracer ?? {}
  const asked = [onTick, onStep, onEnter, onExit, onLog, onDestroy, onTouched, onReached]
  if (!tracer || asked.every((each) => each === undefined)) return () => undefined
  const steps = new StepTracer(evm, tracer, job)
  const onStepEvent = (step: InterpreterStep): void => steps.step(step)
  const onMessage = (message: Message): void => steps.enter(message)
  const onResult = (result: EVMResult): void => steps.exit(result)
  const unbind = boundReverts(evm)
  evm.events.on('step', onStepEvent)
  evm.events.on('beforeMessage', onMessage)
  evm.events.on('afterMessage', onResult)
  return () => {
    evm.events.off('step', onStepEvent)
    evm.events.off('beforeMessage', onMessage)
    evm.events.off('afterMessage', onResult)
    unbind()
    steps.end()
  }
}

/** For its events, the library reads what a REVERT returns before it asks for the gas, and more than fits into memory. */
function boundReverts(evm: EVM): () => void {
  // biome-ignore lint/complexity/useLiteralKeys: it is protected, and the library has no other door for this
  const operations = evm['_opcodeMap']
  const operation = operations[OP.REVERT]
  if (operation === undefined) return () => undefined
  const { gasHandler } = operation
  operations[OP.REVERT] = {
    ...operation,
    gasHandler: async (runState, gas, common) => {
      const { memory } = runState
      const read = memory.read.bind(memory)
      memory.read = (offset, size, avoidCopy) =>
        offset + size > 2 ** 32 ? new Uint8Array(0) : read(offset, size, avoidCopy)
      return gasHandler(runState, gas, common)
    },
  }
  return () => {
    operations[OP.REVERT] = operation
  }
}

class StepTracer {
  readonly #evm: EVM
  readonly #hardfork: Hardfork
  readonly #operations: ReadonlyMap<number, Operation>
  readonly #tracer: Tracer
  readonly #pauseIfDue: YieldIfDue
  readonly #touches: Touches | undefined
  readonly #reaches: Reaches | undefined
  readonly #codes: FrameStart['code'][] = []
  readonly #started: FrameStart[] = []
  /** The last operation, until its effect is known. */
  #open: InterpreterStep | undefined
  #lastOpcode: number | undefined
  /** Counts frames, as their end events lack the depth. */
  #depth = 0
  /** Wei of a contract before it destroys itself. */
  #balance = 0n
  #refund = 0n
  #ticks = 0
  #pauseError: unknown

  constructor(evm: EVM, tracer: Tracer, { block, pause }: Pick<MachineJob, 'block' | 'pause'>) {
    this.#evm = evm
    this.#hardfork = block.hardfork
    this.#operations = operationsAt(block.hardfork)
    this.#tracer = tracer
    this.#pauseIfDue = yielder(TURN_MS, async () => pause?.())
    this.#touches = tracer.onTouched && new Touches(() => this.#state, block.hardfork)
    this.#reaches = tracer.onReached && new Reaches(block.hardfork)
  }

  get #state(): Overlay {
    return (this.#evm.stateManager as OverlayStateManager).overlay
  }

  step(step: InterpreterStep): void {
    this.#yieldIfDue()
    this.#settle(true)
    const code = this.#opcodeAt(step)
    this.#lastOpcode = code
    if (isLog(code) || code >= OP.CREATE) this.#hold(step)
    this.#tracer.onTick?.(1)
    this.#touches?.step(step)
    this.#reaches?.step(step, code)
    this.#tracer.onStep?.({
      pc: step.pc,
      opcode: code,
      opName: step.opcode.name,
      gas: step.gasLeft,
      gasCost: this.#feeOf(step) + this.#passedOn(step),
      refund: this.#refundOf(step),
      depth: step.depth,
      address: addressFromBytes(step.address.bytes),
      stack: step.stack,
      unchanged: 0,
      memory: step.memory,
      loaded: this.#loadedBy(step),
    })
  }

  /** Since amsterdam the library counts refunds of an SSTORE before it lacks the gas. */
  #refundOf(step: InterpreterStep): bigint {
    const isUnpaid = step.opcode.code === OP.SSTORE && this.#feeOf(step) > step.gasLeft
    if (!isUnpaid || !isAtLeast(this.#hardfork, 'amsterdam')) this.#refund = step.gasRefund
    return this.#refund
  }

  enter(message: Message): void {
    // the pending call opened this frame
    this.#open = undefined
    this.#depth += 1
    const start = this.#frameOf(message)
    this.#codes.push(start.code)
    this.#started.push(start)
    this.#touches?.enter(start, message.isStatic)
    this.#reaches?.enter(start)
    this.#tracer.onEnter?.(start)
  }

  exit({ execResult, createdAddress }: EVMResult): void {
    this.#reportPending(execResult)
    const failure = frameFailure(execResult, this.#hardfork)
    this.#settle(failure === undefined)
    this.#depth -= 1
    const { gas = 0n, isPrecompile = false } = this.#started.pop() ?? {}
    const isLost = failure?.kind === 'halt' || (failure !== undefined && isPrecompile)
    const end: FrameEnd = {
      depth: this.#depth,
      gasUsed: isLost ? gas : execResult.executionGasUsed,
      output: execResult.returnValue,
      created: createdAddress === undefined ? undefined : addressFromBytes(createdAddress.bytes),
      failure,
    }
    this.#codes.pop()
    this.#touches?.exit(end)
    this.#reaches?.exit()
    this.#tracer.onExit?.(end)
  }

  /** The library sends no event for a REVERT with stack underflow. */
  #reportPending({ exceptionError, runState }: ExecResult): void {
    if (exceptionError?.error !== 'stack underflow' || runState?.opCode !== OP.REVERT) return
    const { programCounter, gasLeft, gasRefund, memory, memoryWordCount, env } = runState
    this.step({
      pc: programCounter,
      opcode: { name: 'REVERT', code: OP.REVERT, fee: 0, dynamicFee: 0n, isAsync: false },
      gasLeft,
      gasRefund,
      depth: env.depth,
      address: env.address,
      stack: runState.stack.getStack(),
      memory: memory.read(0, 32 * Number(memoryWordCount)),
    } as InterpreterStep)
  }

  end(): void {
    if (this.#touches !== undefined) this.#tracer.onTouched?.(this.#touches.touched)
    if (this.#reaches !== undefined) this.#tracer.onReached?.(this.#reaches.reached)
  }

  /** DELEGATECALL is from the running contract to the one with the code. */
  #frameOf(message: Message): FrameStart {
    const kind = kindOf(message, this.#lastOpcode)
    const from = kind === 'DELEGATECALL' && message.to !== undefined ? message.to : message.caller
    const to = targetOf(message)
    // the library removes it from the message of a creation
    const input = message.data
    return {
      kind,
      depth: message.depth,
      from: addressFromBytes(from.bytes),
      to,
      value: message.value,
      gas: message.gasLimit,
      input,
      // init code is a view of its creator's memory
      code: lazy(() => (to === null ? input.slice() : this.#codeOf(to))),
      isPrecompile: to !== null && isPrecompile(this.#evm, to),
    }
  }

  #codeOf(address: Address): Uint8Array {
    const code = this.#state.code(address)
    const delegate = isAtLeast(this.#hardfork, 'prague') ? delegateOf(code) : undefined
    return delegate === undefined ? code : this.#state.code(delegate)
  }

  /** The library reports 0xfe for all unknown opcodes. */
  #opcodeAt({ opcode: { code }, pc }: InterpreterStep): number {
    return code === INVALID ? (this.#codes.at(-1)?.()[pc] ?? INVALID) : code
  }

  #loadedBy(step: InterpreterStep): bigint | undefined {
    const { stack, address, gasLeft, opcode } = step
    if (opcode.code !== OP.SLOAD) return undefined
    const slot = stack.at(-1)
    const isUnread = isAtLeast(this.#hardfork, 'amsterdam') && gasLeft < this.#feeOf(step)
    if (slot === undefined || isUnread || gasLeft < this.#baseOf(OP.SLOAD)) return 0n
    return this.#state.storage(addressFromBytes(address.bytes), slot)
  }

  /** The minimum cost; 0 for an unknown opcode. */
  #baseOf(opcode: number): bigint {
    if (opcode === OP.SELFDESTRUCT && isAtLeast(this.#hardfork, 'tangerineWhistle')) return 5_000n
    return BigInt(this.#operations.get(opcode)?.gas ?? 0)
  }

  #feeOf({ opcode: { code, dynamicFee, fee }, gasLeft, stack }: InterpreterStep): bigint {
    const whole = dynamicFee ?? BigInt(fee)
    const base = this.#baseOf(code)
    // since amsterdam nothing is read without the gas for a warm slot
    const isUnread = code === OP.SLOAD && isAtLeast(this.#hardfork, 'amsterdam')
    if (isUnread && gasLeft < WARM_GAS) return WARM_GAS
    if (stack.length < (this.#operations.get(code)?.takes ?? 0)) return base
    const isReported = whole <= gasLeft || (NAMING.has(code) && gasLeft >= base)
    return isReported ? whole : base
  }

  #hold(step: InterpreterStep): void {
    this.#open = step
    if (step.opcode.code !== OP.SELFDESTRUCT || this.#tracer.onDestroy === undefined) return
    this.#balance = this.#state.account(addressFromBytes(step.address.bytes))?.balance ?? 0n
  }

  #settle(didSucceed: boolean): void {
    const step = this.#open
    if (step === undefined) return
    this.#open = undefined
    if (!didSucceed) return
    const { code } = step.opcode
    if (isLog(code)) this.#reportLog(step)
    else if (code === OP.SELFDESTRUCT) this.#reportDestruction(step)
    else if (FRAME_KINDS.has(code)) this.#reportUnopened(step)
  }

  #reportLog({ opcode, stack, memory, address }: InterpreterStep): void {
    if (this.#tracer.onLog === undefined) return
    const [offset = 0n, length = 0n, ...topics] = topOf(stack, 2 + opcode.code - OP.LOG0)
    this.#tracer.onLog({
      address: addressFromBytes(address.bytes),
      topics: topics.map(wordFromBigint),
      data: memoryAt(memory, offset, length),
    })
  }

  #reportDestruction({ stack, address }: InterpreterStep): void {
    this.#tracer.onDestroy?.({
      address: addressFromBytes(address.bytes),
      beneficiary: addressOfWord(stack.at(-1) ?? 0n),
      balance: this.#balance,
    })
  }

  /** A call beyond the depth limit or the caller's balance. */
  #reportUnopened(step: InterpreterStep): void {
    const { onEnter, onExit } = this.#tracer
    if (!(onEnter || onExit || this.#touches)) return
    const depth = step.depth + 1
    const start = this.#unopenedFrame(step)
    const reason = this.#whyUnopened(depth, start)
    const isTaken = reason === COLLISION
    const end: FrameEnd = {
      depth,
      gasUsed: isTaken ? start.gas : 0n,
      output: EMPTY_BYTES,
      created: isTaken ? this.#creationOf(step, start) : undefined,
      failure: { kind: 'halt', reason },
    }
    this.#touches?.enter(start, false)
    this.#touches?.exit(end)
    onEnter?.(start)
    onExit?.(end)
  }

  #unopenedFrame(step: InterpreterStep): FrameStart {
    const { stack, memory, opcode } = step
    const kind = FRAME_KINDS.get(opcode.code) ?? 'CALL'
    const from = addressFromBytes(step.address.bytes)
    const depth = step.depth + 1
    if (kind === 'CREATE' || kind === 'CREATE2') {
      const [value = 0n, offset = 0n, length = 0n] = topOf(stack, 3)
      const left = step.gasLeft - this.#feeOf(step)
      const input = memoryAt(memory, offset, length)
      return {
        kind,
        depth,
        from,
        to: null,
        value,
        gas: this.#grant(left),
        input,
        code: () => input,
        isPrecompile: false,
      }
    }
    const isValued = kind === 'CALL' || kind === 'CALLCODE'
    const [, to = 0n, ...rest] = topOf(stack, isValued ? 5 : 4)
    const value = isValued ? (rest.shift() ?? 0n) : 0n
    const [offset = 0n, length = 0n] = rest
    const stipend = value > 0n ? this.#evm.common.param('callStipendGas') : 0n
    return {
      kind,
      depth,
      from,
      to: addressOfWord(to),
      value,
      gas: this.#passedOn(step) + stipend,
      input: memoryAt(memory, offset, length),
      code: () => this.#codeOf(addressOfWord(to)),
      isPrecompile: isPrecompile(this.#evm, addressOfWord(to)),
    }
  }

  #whyUnopened(depth: number, { from, value }: FrameStart): string {
    if (depth > MAX_CALL_DEPTH) return 'max call depth exceeded'
    const { balance, nonce } = this.#state.account(from) ?? { balance: 0n, nonce: 0n }
    if (balance < value) return 'insufficient balance for transfer'
    // since amsterdam the library opens no frame for an address that is taken
    return nonce === MAX_NONCE ? 'nonce uint64 overflow' : COLLISION
  }

  #creationOf({ opcode, stack }: InterpreterStep, { from, input }: FrameStart): Address {
    const creator = bytesFromHex(from)
    const nonce = (this.#state.account(from)?.nonce ?? 1n) - 1n
    const made =
      opcode.code === OP.CREATE2
        ? generateAddress2(creator, paddedBytes(stack.at(-4) ?? 0n, 32), input)
        : generateAddress(creator, bytesFromBigint(nonce))
    return addressFromBytes(made)
  }

  /** Gas that a call passes on (EIP-150), without the stipend. */
  #passedOn(step: InterpreterStep): bigint {
    const { code } = step.opcode
    if (code === OP.CREATE || code === OP.CREATE2 || !FRAME_KINDS.has(code)) return 0n
    const asked = step.stack.at(-1) ?? 0n
    const granted = this.#grant(step.gasLeft - this.#feeOf(step))
    if (asked <= granted) return asked
    return this.#evm.common.gteHardfork('tangerineWhistle') ? granted : 0n
  }

  /** All but one 64th; before EIP-150 all. */
  #grant(left: bigint): bigint {
    if (left <= 0n) return 0n
    return this.#evm.common.gteHardfork('tangerineWhistle') ? left - left / 64n : left
  }

  /** Now and then makes the next step wait for other work and the tracer. */
  #yieldIfDue(): void {
    if (this.#pauseError !== undefined) throw this.#pauseError
    this.#ticks += 1
    const pause = this.#ticks % LOOK_EVERY === 0 ? this.#pauseIfDue() : undefined
    if (pause === undefined) return
    const paused = pause.catch((error: unknown) => {
      // nobody awaits this promise: a later step throws the error
      this.#pauseError = error
    })
    // the library awaits listeners with two parameters, which slows every step: attach it for one step only
    const wait = (_step: InterpreterStep, resolve?: () => void): void => {
      this.#evm.events.off('step', wait)
      void paused.then(resolve)
    }
    this.#evm.events.on('step', wait)
  }
}

function targetOf(message: Message): Address | null {
  // reading codeAddress of a creation throws
  return message.to === undefined ? null : addressFromBytes(message.codeAddress.bytes)
}

/** The last operation decides, except for the outermost frame: the library marks every call within a static call as static. */
function kindOf({ to, salt, depth }: Message, lastOpcode: number | undefined): FrameStart['kind'] {
  if (to === undefined) return salt === undefined ? 'CREATE' : 'CREATE2'
  if (depth === 0) return 'CALL'
  return FRAME_KINDS.get(lastOpcode ?? OP.CALL) ?? 'CALL'
}

function isPrecompile(evm: EVM, address: Address): boolean {
  return evm.precompiles.has(address.slice(2))
}

function isLog(opcode: number): boolean {
  return opcode >= OP.LOG0 && opcode <= OP.LOG4
}

function topOf(stack: readonly bigint[], count: number): bigint[] {
  return stack.slice(-count).reverse()
}

function memoryAt(memory: Uint8Array, offset: bigint, length: bigint): Uint8Array {
  if (length === 0n) return EMPTY_BYTES
  const read = new Uint8Array(Number(length))
  const start = Number(offset)
  read.set(memory.subarray(start, start + read.length))
  return read
}

function addressOfWord(word: bigint): Address {
  return addressFromBytes(paddedBytes(word, 20))
}
