// Passes the instance's buffered events and operation counts to a tracer.
import { type Address, EMPTY_BYTES } from '../../core/hex.ts'
import type { FrameStart, Tracer } from '../executor.ts'
import { FRAME_KINDS } from '../opcodes.ts'
import type { Interpreter } from './interpreter.ts'
import * as layout from './layout.ts'
import { failureOf, logAt } from './results.ts'

export function reportEvents(interpreter: Interpreter, tracer: Tracer): void {
  const { instance } = interpreter
  instance.refresh()
  const end = instance.number(layout.EVENTS_TOP)
  // first, as the tracer may throw
  instance.setNumber(layout.EVENTS_TOP, layout.EVENTS)
  const steps = Number(instance.long(layout.STEPS))
  if (steps > 0) {
    instance.setLong(layout.STEPS, 0n)
    tracer.onTick?.(steps)
  }
  for (let at: number = layout.EVENTS; at < end; at += instance.number(at + layout.EVENT_SIZE)) {
    reportEvent(interpreter, tracer, at)
  }
}

function reportEvent(interpreter: Interpreter, tracer: Tracer, at: number): void {
  switch (interpreter.instance.number(at + layout.EVENT_KIND)) {
    case layout.EVENT_STEP:
      tracer.onStep?.(
        interpreter.steps.stepAt(at, addressOf(interpreter, at + layout.EVENT_ACCOUNT)),
      )
      break
    case layout.EVENT_ENTER:
      if (tracer.onStep !== undefined) interpreter.steps.enter(at)
      tracer.onEnter?.(enterAt(interpreter, at))
      break
    case layout.EVENT_EXIT:
      if (tracer.onExit !== undefined) reportExit(interpreter, tracer.onExit, at)
      break
    case layout.EVENT_LOG:
      tracer.onLog?.(
        logAt(interpreter.instance, interpreter.instance.number(at + layout.EVENT_DATA)),
      )
      break
    default:
      tracer.onDestroy?.({
        address: addressOf(interpreter, at + layout.EVENT_ACCOUNT),
        beneficiary: addressOf(interpreter, at + layout.EVENT_TARGET),
        balance: interpreter.instance.word(at + layout.EVENT_VALUE),
      })
  }
}

function enterAt(interpreter: Interpreter, at: number): FrameStart {
  const { instance } = interpreter
  const target = instance.number(at + layout.EVENT_TARGET)
  const flags = target === 0 ? 0 : instance.number(target + layout.ACCOUNT_FLAGS)
  const input = bytesAt(interpreter, at)
  return {
    kind: FRAME_KINDS.get(instance.number(at + layout.EVENT_OPCODE)) ?? 'CALL',
    depth: instance.number(at + layout.EVENT_DEPTH),
    from: addressOf(interpreter, at + layout.EVENT_ACCOUNT),
    to: target === 0 ? null : interpreter.loaded(target).address,
    value: instance.word(at + layout.EVENT_VALUE),
    gas: instance.long(at + layout.EVENT_GAS),
    input,
    code: () => (target === 0 ? input.slice() : codeOf(interpreter, target)),
    isPrecompile: (flags & layout.ACCOUNT_PRECOMPILE) !== 0,
  }
}

function reportExit(
  interpreter: Interpreter,
  onExit: NonNullable<Tracer['onExit']>,
  at: number,
): void {
  const { instance } = interpreter
  const created = instance.number(at + layout.EVENT_ACCOUNT)
  const bytes = bytesAt(interpreter, at)
  const output = bytes.length === 0 ? EMPTY_BYTES : bytes.slice()
  const end = instance.number(at + layout.EVENT_END)
  onExit({
    depth: instance.number(at + layout.EVENT_DEPTH),
    gasUsed: instance.long(at + layout.EVENT_GAS),
    output,
    created: created === 0 ? undefined : interpreter.loaded(created).address,
    failure: failureOf(end, output, instance.number(at + layout.EVENT_OPCODE)),
    state:
      instance.number(layout.FORK) >= layout.AMSTERDAM
        ? {
            used: BigInt.asIntN(64, instance.long(at + layout.EVENT_STATE)),
            spilled: instance.long(at + layout.EVENT_SPILLED),
          }
        : undefined,
  })
}

function codeOf(interpreter: Interpreter, account: number): Uint8Array {
  const { instance } = interpreter
  const delegate = instance.number(account + layout.ACCOUNT_DELEGATE)
  const place = delegate === 0 ? account : delegate
  const flags = instance.number(place + layout.ACCOUNT_FLAGS)
  if ((flags & layout.ACCOUNT_CODE_WRITTEN) === 0) {
    return interpreter.loaded(place).account?.code ?? EMPTY_BYTES
  }
  const code = instance.number(place + layout.ACCOUNT_CODE)
  return instance.slice(code, instance.number(place + layout.ACCOUNT_CODE_LENGTH))
}

/** A view, valid until the instance continues. */
function bytesAt({ instance }: Interpreter, at: number): Uint8Array {
  const place = instance.number(at + layout.EVENT_DATA)
  return instance.bytes.subarray(place, place + instance.number(at + layout.EVENT_LENGTH))
}

function addressOf(interpreter: Interpreter, place: number): Address {
  return interpreter.loaded(interpreter.instance.number(place)).address
}
