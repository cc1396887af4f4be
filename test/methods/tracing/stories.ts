// Brings traces of one transaction in different forms into one form, to compare them.

/** A frame of any trace. What a form lacks is left out. */
export interface Story {
  readonly kind: string
  readonly failed: boolean
  /** Gas it began with; left out for the outermost and where no operation ran. */
  readonly gas?: number
  /** Gas of the frame itself; left out like `gas`, and in creations. */
  readonly gasUsed?: number
  /** Recipient of a call, or who inherits. */
  readonly to?: string
  readonly calls: readonly Story[]
}

export interface StructLog {
  readonly pc: number
  readonly op: string
  readonly gas: number
  readonly gasCost: number
  readonly depth: number
  readonly stack: readonly string[]
  readonly error?: string
}

export interface CallFrame {
  readonly type: string
  readonly from: string
  readonly to?: string
  readonly gas: string
  readonly gasUsed: string
  readonly executionGasUsed?: string
  readonly stateGasUsed?: string
  readonly gasRefund?: string
  readonly input: string
  readonly output?: string
  readonly value?: string
  readonly error?: string
  readonly calls?: readonly CallFrame[]
  readonly logs?: readonly { readonly address: string; readonly index: string }[]
}

export interface FlatFrame {
  readonly action: Readonly<Record<string, string>>
  readonly result: Readonly<Record<string, string | undefined>> | null
  readonly error?: string
  readonly subtraces: number
  readonly traceAddress: readonly number[]
  readonly type: string
  readonly transactionPosition?: number
}

export interface VmTrace {
  readonly code: string
  readonly ops: readonly { readonly pc: number; readonly sub: VmTrace | null }[]
}

const CALLS: ReadonlySet<string> = new Set(['CALL', 'CALLCODE', 'DELEGATECALL', 'STATICCALL'])
const CREATIONS: ReadonlySet<string> = new Set(['CREATE', 'CREATE2'])

/** The frames of struct logs: an operation that opens a frame is followed by one that is deeper, or it opened and closed it. */
export function storyOfSteps(
  logs: readonly StructLog[],
  { kind, failed }: { readonly kind: string; readonly failed: boolean },
): Story {
  let at = 0
  /** Reads the frame whose first operation is next, up to and including its last. */
  const frame = (depth: number): { calls: Story[]; first: StructLog; last: StructLog } => {
    const calls: Story[] = []
    const first = logs[at]!
    let last = first
    while (logs[at]?.depth === depth) {
      last = logs[at++]!
      const opened = CALLS.has(last.op) || CREATIONS.has(last.op)
      const next = logs[at]
      if (!opened || next === undefined || next.depth < depth) continue
      if (next.depth === depth) calls.push(leaf(last, next))
      else calls.push(inner(last, frame(depth + 1), logs[at]))
    }
    return { calls, first, last }
  }
  const whole = logs.length === 0 ? { calls: [], last: undefined } : frame(1)
  return { kind, failed, calls: withDestruction(whole.calls, whole.last, failed) }
}

function leaf(opening: StructLog, next: StructLog): Story {
  return {
    kind: opening.op,
    failed: next.stack.at(-1) === '0x0',
    ...recipientOf(opening),
    calls: [],
  }
}

function inner(
  opening: StructLog,
  frame: { calls: Story[]; first: StructLog; last: StructLog },
  next: StructLog | undefined,
): Story {
  const failed = next?.stack.at(-1) === '0x0'
  const { calls, first, last } = frame
  const reverted = last.op === 'REVERT' && last.error === undefined
  const spent = failed && !reverted ? first.gas : first.gas - (last.gas - last.gasCost)
  return {
    kind: opening.op,
    failed,
    gas: first.gas,
    ...(CREATIONS.has(opening.op) ? {} : { gasUsed: spent }),
    ...recipientOf(opening),
    calls: withDestruction(calls, last, failed),
  }
}

function withDestruction(
  calls: readonly Story[],
  last: StructLog | undefined,
  failed: boolean,
): readonly Story[] {
  if (last?.op !== 'SELFDESTRUCT' || failed) return calls
  const to = addressOf(last.stack.at(-1))
  return [...calls, { kind: 'SELFDESTRUCT', failed: false, to, calls: [] }]
}

function recipientOf({ op, stack }: StructLog): { readonly to?: string } {
  return CALLS.has(op) ? { to: addressOf(stack.at(-2)) } : {}
}

function addressOf(word: string | undefined): string {
  return `0x${(word ?? '0x').slice(2).padStart(40, '0').slice(-40)}`
}

/** A tree of calls, with the members that `like` has too. */
export function storyOfCalls(top: CallFrame, like: Story): Story {
  const isCreation = CREATIONS.has(top.type)
  return {
    kind: top.type,
    failed: top.error !== undefined,
    ...(like.gas === undefined ? {} : { gas: Number(top.gas) }),
    ...(like.gasUsed === undefined ? {} : { gasUsed: Number(top.gasUsed) }),
    ...(like.to === undefined || isCreation || top.to === undefined ? {} : { to: top.to }),
    calls: (top.calls ?? []).map((call, i) => storyOfCalls(call, like.calls[i] ?? like)),
  }
}

/** A tree of calls as the flat list it should be, in the words of geth's flatCallTracer. */
export function flattened(top: CallFrame, traceAddress: readonly number[] = []): FlatFrame[] {
  const calls = top.calls ?? []
  const failed = top.error !== undefined
  const isRevert = top.error === 'execution reverted'
  const { from, gas, input, to = '', gasUsed, executionGasUsed, stateGasUsed, gasRefund } = top
  const used = { gasUsed, executionGasUsed, stateGasUsed, gasRefund }
  const value = top.value ?? '0x0'
  const place = { subtraces: calls.length, traceAddress }
  const error = failed ? { error: top.error } : {}
  const own = (): Pick<FlatFrame, 'action' | 'result' | 'type'> => {
    if (top.type === 'SELFDESTRUCT') {
      return {
        action: { address: from, balance: value, refundAddress: to },
        result: null,
        type: 'suicide',
      }
    }
    if (CREATIONS.has(top.type)) {
      const creationMethod = top.type.toLowerCase()
      const code = top.output ?? '0x'
      const made = failed ? { code, ...used } : { address: to, code, ...used }
      const result = failed && !isRevert ? null : made
      return { action: { creationMethod, from, gas, init: input, value }, result, type: 'create' }
    }
    const result = failed && !isRevert ? null : { ...used, output: top.output ?? '0x' }
    const callType = top.type.toLowerCase()
    return { action: { callType, from, gas, input, to, value }, result, type: 'call' }
  }
  return [
    { ...own(), ...error, ...place } as FlatFrame,
    ...calls.flatMap((call, i) => flattened(call, [...traceAddress, i])),
  ]
}

/** All frames of a tree, each before those within it. */
export function allFrames(top: CallFrame): CallFrame[] {
  return [top, ...(top.calls ?? []).flatMap(allFrames)]
}

/** The program counters of a vmTrace, in the order of the operations. */
/** Without STOPs, as a vmTrace lacks the one behind the code. */
export function countersOf({ code, ops }: VmTrace): number[] {
  return ops.flatMap(({ pc, sub }) => [
    ...(code.slice(2 + 2 * pc, 4 + 2 * pc) === '00' ? [] : [pc]),
    ...(sub === null ? [] : countersOf(sub)),
  ])
}
