// Watching a run: the engine's events become a tracer's calls and lines of the console.
import type { EVM, EVMResult, InterpreterStep, Message } from '@ethereumjs/evm'
import { type Address, addressFromBytes } from '../core/hex.ts'
import { CONSOLE_ADDRESS, formatConsoleCall } from './console.ts'
import type { ConsoleLine, Failure, FrameStart, Tracer } from './executor.ts'
import { describeHalt, describeRevert } from './reasons.ts'

/** Lines kept of one run; a loop that prints would fill the memory. */
const LINE_LIMIT = 10_000

/** A run that is being watched. */
export interface Observation {
  /** What was printed so far. */
  readonly lines: readonly ConsoleLine[]
  /** Takes the listeners off the engine. */
  readonly stop: () => void
}

/**
 * Attaches listeners to an engine: one to each message for the console, and what the tracer asks for. A step listener
 * makes every operation several times as slow, so that there is none unless somebody wants steps or frames.
 */
export function observe(evm: EVM, tracer: Tracer | undefined): Observation {
  const lines: ConsoleLine[] = []
  const detach = tracer === undefined ? [] : attachTracer(evm, tracer)
  const onMessage = (message: Message): void => {
    if (lines.length > LINE_LIMIT) return
    const line = consoleLine(message)
    if (line === undefined) return
    lines.push(
      lines.length < LINE_LIMIT ? line : { ...line, text: 'too many lines: the rest is left out' },
    )
  }
  evm.events.on('beforeMessage', onMessage)
  const stop = (): void => {
    evm.events.off('beforeMessage', onMessage)
    for (const take of detach) take()
  }
  return { lines, stop }
}

function consoleLine(message: Message): ConsoleLine | undefined {
  if (targetOf(message) !== CONSOLE_ADDRESS) return undefined
  const text = formatConsoleCall(message.data)
  return text === undefined ? undefined : { address: addressFromBytes(message.caller.bytes), text }
}

function attachTracer(evm: EVM, tracer: Tracer): (() => void)[] {
  const { onStep, onEnter, onExit } = tracer
  const detach: (() => void)[] = []
  let lastOpcode: number | undefined
  if (onStep !== undefined || onEnter !== undefined) {
    const listener = (step: InterpreterStep): void => {
      lastOpcode = step.opcode.code
      onStep?.({
        pc: step.pc,
        opcode: step.opcode.code,
        opName: step.opcode.name,
        gas: step.gasLeft,
        gasCost: step.opcode.dynamicFee ?? BigInt(step.opcode.fee),
        depth: step.depth,
        address: addressFromBytes(step.address.bytes),
        stack: step.stack,
        memory: step.memory,
      })
    }
    evm.events.on('step', listener)
    detach.push(() => evm.events.off('step', listener))
  }
  if (onEnter !== undefined) {
    const listener = (message: Message): void => onEnter(frameOf(message, lastOpcode))
    evm.events.on('beforeMessage', listener)
    detach.push(() => evm.events.off('beforeMessage', listener))
  }
  if (onExit !== undefined) detach.push(...attachExit(evm, onExit))
  return detach
}

/** A frame's end does not know its depth: frames are counted. */
function attachExit(evm: EVM, onExit: NonNullable<Tracer['onExit']>): (() => void)[] {
  let depth = 0
  const enter = (): void => {
    depth += 1
  }
  const exit = ({ execResult, createdAddress }: EVMResult): void => {
    depth -= 1
    onExit({
      depth,
      gasUsed: execResult.executionGasUsed,
      output: execResult.returnValue,
      created: createdAddress === undefined ? undefined : addressFromBytes(createdAddress.bytes),
      failure: frameFailure(execResult),
    })
  }
  evm.events.on('beforeMessage', enter)
  evm.events.on('afterMessage', exit)
  return [() => evm.events.off('beforeMessage', enter), () => evm.events.off('afterMessage', exit)]
}

function frameFailure({
  exceptionError,
  returnValue,
  runState,
}: EVMResult['execResult']): Failure | undefined {
  if (exceptionError === undefined) return undefined
  if (exceptionError.error === 'revert') {
    return { kind: 'revert', reason: describeRevert(returnValue) }
  }
  return { kind: 'halt', reason: describeHalt(exceptionError.error, runState?.opCode) }
}

/** The frame that a message opens. Under DELEGATECALL it is from the contract that runs, to the one whose code it is. */
function frameOf(message: Message, lastOpcode: number | undefined): FrameStart {
  const kind = kindOf(message, lastOpcode)
  const from = kind === 'DELEGATECALL' && message.to !== undefined ? message.to : message.caller
  return {
    kind,
    depth: message.depth,
    from: addressFromBytes(from.bytes),
    to: targetOf(message),
    value: message.value,
    gas: message.gasLimit,
    input: message.data,
  }
}

/** `codeAddress` throws in a creation, which has none. */
/** Whose code runs; null for a creation. */
function targetOf(message: Message): Address | null {
  // a creation has no code address: asking for it throws
  return message.to === undefined ? null : addressFromBytes(message.codeAddress.bytes)
}

/** The operation before the message tells, but for the outermost frame: within a static call every call is static. */
function kindOf({ to, salt, depth }: Message, lastOpcode: number | undefined): FrameStart['kind'] {
  if (to === undefined) return salt === undefined ? 'CREATE' : 'CREATE2'
  if (depth === 0) return 'CALL'
  switch (lastOpcode) {
    case 0xf2:
      return 'CALLCODE'
    case 0xf4:
      return 'DELEGATECALL'
    case 0xfa:
      return 'STATICCALL'
    default:
      return 'CALL'
  }
}
