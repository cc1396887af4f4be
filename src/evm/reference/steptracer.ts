// A step tracer over the library's EVM: its events become steps, frames, logs and destructions, each told once it is sure.
import type { EVM, EVMResult, ExecResult, InterpreterStep, Message } from '@ethereumjs/evm'
import { CONSOLE_ADDRESS } from '../../core/abi.ts'
import {
  type Address,
  addressFromBytes,
  EMPTY_BYTES,
  paddedBytes,
  wordFromBigint,
} from '../../core/hex.ts'
import { lazy } from '../../core/lazy.ts'
import { type YieldIfDue, yielder } from '../../core/yield.ts'
import { type Hardfork, isAtLeast } from '../../protocol/forks.ts'
import { delegateOf } from '../../protocol/transactions/delegation.ts'
import type { FrameEnd, FrameStart, Tracer } from '../executor.ts'
import { MAX_CALL_DEPTH, type MachineJob } from '../machine.ts'
import { FRAME_KINDS, INVALID, isLog, OP, type Operation, operationsAt } from '../opcodes.ts'
import { frameFailure } from './exceptionalhalts.ts'
import { Reaches } from './reaches.ts'
import { Touches } from './touches.ts'

const TURN_MS = 5

const LOOK_EVERY = 64

/** Their cost depends on what they name, and on nothing that may be too large to be paid. */
const NAMING: ReadonlySet<number> = new Set([
  ...[OP.EXP, OP.BALANCE, OP.EXTCODESIZE, OP.EXTCODEHASH, OP.SLOAD, OP.SSTORE],
])

/**
 * Attaches listeners to an EVM: one to each message for the console, and what the tracer asks for.
 * @returns takes the listeners off
 */
export function attach(evm: EVM, job: MachineJob): () => void {
  const detach = attachTracer(evm, job)
  const onMessage = (message: Message): void => {
    if (targetOf(message) !== CONSOLE_ADDRESS) return
    job.onConsole(addressFromBytes(message.caller.bytes), message.data)
  }
  evm.events.on('beforeMessage', onMessage)
  return () => {
    evm.events.off('beforeMessage', onMessage)
    detach()
  }
}

/**
 * Attaches listeners for what the tracer asks for. A step listener slows every operation down, so that a tracer that asks
 * for nothing has none.
 * @returns takes the listeners off
 */
function attachTracer(
  evm: EVM,
  job: Pick<MachineJob, 'overlay' | 'block' | 'tracer' | 'pause'>,
): () => void {
  const { tracer } = job
  const { onTick, onStep, onEnter, onExit, onLog, onDestroy, onTouched, onReached } = tracer ?? {}
  const asked = [onTick, onStep, onEnter, onExit, onLog, onDestroy, onTouched, onReached]
  if (!tracer || asked.every((each) => each === undefined)) return () => undefined
  const steps = new StepTracer(evm, tracer, job)
  const onStepEvent = (step: InterpreterStep): void => steps.step(step)
  const onMessage = (message: Message): void => steps.enter(message)
  const onResult = (result: EVMResult): void => steps.exit(result)
  evm.events.on('step', onStepEvent)
  evm.events.on('beforeMessage', onMessage)
  evm.events.on('afterMessage', onResult)
  return () => {
    evm.events.off('step', onStepEvent)
    evm.events.off('beforeMessage', onMessage)
    evm.events.off('afterMessage', onResult)
    steps.end()
  }
}

class StepTracer {
  readonly #evm: EVM
  readonly #state: MachineJob['overlay']
  readonly #hardfork: Hardfork
  readonly #operations: ReadonlyMap<number, Operation>
  readonly #tracer: Tracer
  readonly #pauseIfDue: YieldIfDue
  readonly #touches: Touches | undefined
  readonly #reaches: Reaches | undefined
  readonly #codes: FrameStart['code'][] = []
  /** The last operation, while it is not known whether it did what it is there for. */
  #open: InterpreterStep | undefined
  #lastOpcode: number | undefined
  /** A frame's end does not know its depth: frames are counted. */
  #depth = 0
  /** Wei of the contract that destroys itself, before it does. */
  #balance = 0n
  #ticks = 0
  #pauseError: unknown

  constructor(
    evm: EVM,
    tracer: Tracer,
    { overlay, block, pause }: Pick<MachineJob, 'overlay' | 'block' | 'pause'>,
  ) {
    this.#evm = evm
    this.#state = overlay
    this.#hardfork = block.hardfork
    this.#operations = operationsAt(block.hardfork)
    this.#tracer = tracer
    this.#pauseIfDue = yielder(TURN_MS, async () => pause?.())
    this.#touches = tracer.onTouched && new Touches(overlay, block.hardfork)
    this.#reaches = tracer.onReached && new Reaches(block.hardfork)
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
      refund: step.gasRefund,
      depth: step.depth,
      address: addressFromBytes(step.address.bytes),
      stack: step.stack,
      unchanged: 0,
      memory: step.memory,
      loaded: this.#loadedBy(step),
    })
  }

  enter(message: Message): void {
    // the call that was pending has opened this frame
    this.#open = undefined
    this.#depth += 1
    const start = this.#frameOf(message)
    this.#codes.push(start.code)
    this.#touches?.enter(start, message.isStatic)
    this.#reaches?.enter(start)
    this.#tracer.onEnter?.(start)
  }

  exit({ execResult, createdAddress }: EVMResult): void {
    this.#tellUntold(execResult)
    const failure = frameFailure(execResult, this.#hardfork)
    this.#settle(failure === undefined)
    this.#depth -= 1
    const end: FrameEnd = {
      depth: this.#depth,
      gasUsed: execResult.executionGasUsed,
      output: execResult.returnValue,
      created: createdAddress === undefined ? undefined : addressFromBytes(createdAddress.bytes),
      failure,
    }
    this.#codes.pop()
    this.#touches?.exit(end)
    this.#reaches?.exit()
    this.#tracer.onExit?.(end)
  }

  /** The library says nothing of a REVERT whose stack is too short, as it looks for what that would give back. */
  #tellUntold({ exceptionError, runState }: ExecResult): void {
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

  /** The frame that a message opens. Under DELEGATECALL it is from the contract that runs, to the one whose code it is. */
  #frameOf(message: Message): FrameStart {
    const kind = kindOf(message, this.#lastOpcode)
    const from = kind === 'DELEGATECALL' && message.to !== undefined ? message.to : message.caller
    const to = targetOf(message)
    // the library takes it away from the message of a creation
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

  /** For the library all that the fork does not have is 0xfe. */
  #opcodeAt({ opcode: { code }, pc }: InterpreterStep): number {
    return code === INVALID ? (this.#codes.at(-1)?.()[pc] ?? INVALID) : code
  }

  #loadedBy({ opcode: { code }, stack, address, gasLeft }: InterpreterStep): bigint | undefined {
    if (code !== OP.SLOAD) return undefined
    const slot = stack.at(-1)
    if (slot === undefined || gasLeft < this.#baseOf(code)) return 0n
    return this.#state.storage(addressFromBytes(address.bytes), slot)
  }

  /** What an operation costs at least; 0 for one that the fork does not have. */
  #baseOf(opcode: number): bigint {
    if (opcode === OP.SELFDESTRUCT && isAtLeast(this.#hardfork, 'tangerineWhistle')) return 5_000n
    return BigInt(this.#operations.get(opcode)?.gas ?? 0)
  }

  #feeOf({ opcode: { code, dynamicFee, fee }, gasLeft, stack }: InterpreterStep): bigint {
    const whole = dynamicFee ?? BigInt(fee)
    const base = this.#baseOf(code)
    if (stack.length < (this.#operations.get(code)?.takes ?? 0)) return base
    const isTold = whole <= gasLeft || (NAMING.has(code) && gasLeft >= base)
    return isTold ? whole : base
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
    if (isLog(code)) this.#tellLog(step)
    else if (code === OP.SELFDESTRUCT) this.#tellDestruction(step)
    else if (FRAME_KINDS.has(code)) this.#tellUnopened(step)
  }

  #tellLog({ opcode, stack, memory, address }: InterpreterStep): void {
    if (this.#tracer.onLog === undefined) return
    const [offset = 0n, length = 0n, ...topics] = topOf(stack, 2 + opcode.code - OP.LOG0)
    this.#tracer.onLog({
      address: addressFromBytes(address.bytes),
      topics: topics.map(wordFromBigint),
      data: memoryAt(memory, offset, length),
    })
  }

  #tellDestruction({ stack, address }: InterpreterStep): void {
    this.#tracer.onDestroy?.({
      address: addressFromBytes(address.bytes),
      beneficiary: addressOfWord(stack.at(-1) ?? 0n),
      balance: this.#balance,
    })
  }

  /** A call for which no frame opened: nested too deeply, or of more than the caller has. */
  #tellUnopened(step: InterpreterStep): void {
    const { onEnter, onExit } = this.#tracer
    if (!(onEnter || onExit || this.#touches)) return
    const depth = step.depth + 1
    const start = this.#unopenedFrame(step)
    const end: FrameEnd = {
      depth,
      gasUsed: 0n,
      output: EMPTY_BYTES,
      created: undefined,
      failure: { kind: 'halt', reason: this.#whyUnopened(depth, start) },
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
    const balance = this.#state.account(from)?.balance ?? 0n
    return balance < value ? 'insufficient balance for transfer' : 'nonce uint64 overflow'
  }

  /** Gas that a call hands to the frame it opens (EIP-150), without the stipend. */
  #passedOn(step: InterpreterStep): bigint {
    const { code } = step.opcode
    if (code === OP.CREATE || code === OP.CREATE2 || !FRAME_KINDS.has(code)) return 0n
    const asked = step.stack.at(-1) ?? 0n
    const granted = this.#grant(step.gasLeft - this.#feeOf(step))
    if (asked <= granted) return asked
    // before EIP-150 it fails
    return this.#evm.common.gteHardfork('tangerineWhistle') ? granted : 0n
  }

  /** All but one 64th; before EIP-150 all. */
  #grant(left: bigint): bigint {
    if (left <= 0n) return 0n
    return this.#evm.common.gteHardfork('tangerineWhistle') ? left - left / 64n : left
  }

  /** Has the next step wait, now and then, until timers and sockets had their turn and the tracer is ready. */
  #yieldIfDue(): void {
    if (this.#pauseError !== undefined) throw this.#pauseError
    this.#ticks += 1
    const pause = this.#ticks % LOOK_EVERY === 0 ? this.#pauseIfDue() : undefined
    if (pause === undefined) return
    const paused = pause.catch((error: unknown) => {
      // nobody awaits this promise: a later step throws the error
      this.#pauseError = error
    })
    // the library awaits a listener of two parameters, which slows every step: this one is attached for a single step
    const wait = (_step: InterpreterStep, resolve?: () => void): void => {
      this.#evm.events.off('step', wait)
      void paused.then(resolve)
    }
    this.#evm.events.on('step', wait)
  }
}

function targetOf(message: Message): Address | null {
  // a creation has no code address: asking for it throws
  return message.to === undefined ? null : addressFromBytes(message.codeAddress.bytes)
}

/** The operation before the message tells, but for the outermost frame: within a static call every call is static. */
function kindOf({ to, salt, depth }: Message, lastOpcode: number | undefined): FrameStart['kind'] {
  if (to === undefined) return salt === undefined ? 'CREATE' : 'CREATE2'
  if (depth === 0) return 'CALL'
  return FRAME_KINDS.get(lastOpcode ?? OP.CALL) ?? 'CALL'
}

function isPrecompile(evm: EVM, address: Address): boolean {
  return evm.precompiles.has(address.slice(2))
}

function topOf(stack: readonly bigint[], count: number): bigint[] {
  return stack.slice(-count).reverse()
}

/** Memory that the operation reads, which is zero beyond what there is. */
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
