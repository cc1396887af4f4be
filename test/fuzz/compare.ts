// Runs a case on several engines and describes where they differ.
import { DevchainError } from '../../src/core/errors.ts'
import { bytesFromHex, type Hash, hexFromBytes, ZERO_HASH } from '../../src/core/hex.ts'
import type { CallJob, Jobs, Outcome, TransactionJob } from '../../src/evm/executor.ts'
import { OPTIONS } from '../../src/options/table.ts'
import { accessListOf } from '../../src/protocol/blocks/accesslist.ts'
import { isAtLeast } from '../../src/protocol/forks.ts'
import type { BlobFields, TransactionType } from '../../src/protocol/transactions/transaction.ts'
import { nonceAt, stateRoot, type World } from '../../src/state/world.ts'
import type { Engine } from '../support/evm/engines.ts'
import { type Heard, hearFrames, hearReached, hearSteps } from '../support/evm/heard.ts'
import {
  assembled,
  authorizationsOf,
  blockOf,
  type Case,
  type CaseMessage,
  SENDER,
  worldOf,
} from './cases.ts'

/** Everything that can be seen of a message's end, as text. */
type Traces = Readonly<Record<string, unknown>>

/** Where an engine comes to something else than the first one; undefined when all agree. */
export async function difference(
  subject: Case,
  [first, ...others]: readonly Engine[],
): Promise<string | undefined> {
  if (first === undefined) throw new Error('expected an engine at least')
  const limit = subject.memoryLimit ?? OPTIONS.memoryLimit.default
  // code is not compiled while steps or reached code are traced
  const hearsSteps = ({ name }: Engine): boolean => name !== 'compiler'
  let world = worldOf(subject)
  for (const [index, message] of subject.messages.entries()) {
    const heard = hearSteps(undefined, others.some(hearsSteps))
    const right = await runHeard(first.jobsWithin(limit), subject, message, world, heard)
    // where the first one breaks there is nothing to compare with
    if ('bug' in right.traces) return `message ${index}, ${first.name}: ${right.traces.bug}`
    for (const other of others) {
      const traced = hearsSteps(other) ? hearSteps() : hearFrames()
      for (const heard of [undefined, traced, hearReached()]) {
        const found = await run(other.jobsWithin(limit), subject, message, world, heard)
        const fields = differing(right.traces, found.traces)
        if (fields === undefined) continue
        const name = heard === undefined ? other.name : `${other.name}, traced`
        return `message ${index} on ${subject.hardfork}, ${first.name} against ${name}: ${fields}`
      }
    }
    world = right.world
  }
  return undefined
}

/** Runs the engine that others are compared with. It does not report `isAlone`, so that is derived from its frames. */
async function runHeard(
  jobs: Jobs,
  subject: Case,
  message: CaseMessage,
  world: World,
  heard: Heard,
): ReturnType<typeof run> {
  const right = await run(jobs, subject, message, world, heard)
  if (!('root' in right.traces)) return right
  const opened = heard.frames.filter((line) => line.startsWith('enter'))
  const isDestroying = heard.frames.some((line) => line.startsWith('destroy'))
  const isAlone = opened.length === 1 && !opened[0]?.includes(' true value') && !isDestroying
  return { ...right, traces: { ...right.traces, isAlone } }
}

async function run(
  jobs: Jobs,
  subject: Case,
  message: CaseMessage,
  world: World,
  heard: Heard | undefined,
): Promise<{ readonly traces: Traces; readonly world: World }> {
  const tracer = heard?.tracer
  try {
    const outcome = await (message.kind === 'call'
      ? jobs.call({ ...callOf(subject, message, world), tracer })
      : jobs.transact({ ...transactionOf(subject, message, world), tracer }))
    const traced = heard === undefined ? {} : heardOf(heard, subject)
    return { traces: { ...tracesOf(outcome, message), ...traced }, world: outcome.world }
  } catch (error) {
    if (error instanceof DevchainError) return { traces: { refused: error.word }, world }
    return { traces: { bug: String((error as Error).stack) }, world }
  }
}

function tracesOf(outcome: Outcome, { to }: CaseMessage): Traces {
  const { failure, gasUsed, gasRefund, output, logs, created, consoleLines, accessed } = outcome
  return {
    // engines may report false when they do not know
    ...(outcome.isAlone ? { isAlone: true } : {}),
    // whether a precompile looks at its input or at the gas first is nobody's business
    failure: failure && (isPrecompile(to) ? 'halt' : `${failure.kind}: ${failure.reason}`),
    gasUsed,
    gasRefund,
    output: hexFromBytes(output),
    logs: logs.map(({ address, topics, data }) =>
      [address, ...topics, hexFromBytes(data)].join(' '),
    ),
    created,
    consoleLines,
    // the library reports slots that the gas does not reach
    accessed: (outcome.accesses === undefined ? accessed : [])
      .map(({ address, storageKeys }) => [address, ...[...storageKeys].sort()].join(' '))
      .sort(),
    root: stateRoot(outcome.world),
    blockGas: outcome.blockGas,
    accesses: outcome.accesses && accessListOf([{ index: 1n, accesses: outcome.accesses }]),
  }
}

/** What a tracer of frames hears, what one of steps hears, and what was reached. */
function heardOf({ frames, steps, reached }: Heard, { hardfork }: Case): Traces {
  const known = isAtLeast(hardfork, 'amsterdam') ? knownToLibrary : (lines: typeof frames) => lines
  return {
    ...(frames.length === 0 ? {} : { frames: known(frames) }),
    ...(steps === undefined ? {} : { steps: known(steps) }),
    ...(reached === undefined ? {} : { reached: reached() }),
  }
}

/**
 * Since amsterdam the library reports no transfer logs, and operations that may make an account only once they have paid for
 * it: the next step shows their gas. What was touched is compared by `accesses`.
 */
function knownToLibrary(lines: readonly string[]): readonly string[] {
  return lines
    .filter((line) => !line.startsWith(`log ${SYSTEM}`) && !line.startsWith('touched '))
    .map((line) =>
      line
        .replace(/^(step \d+ (?:CREATE2?|CALL|CALLCODE) \d+) gas \d+ cost \d+/, '$1')
        // the reference shows what execution costs also where state gas is missing
        .replace(/^(step \d+ (?:SELFDESTRUCT|DELEGATECALL|STATICCALL) \d+ gas \d+) cost \d+/, '$1'),
    )
}

const SYSTEM = '0xfffffffffffffffffffffffffffffffffffffffe'

function isPrecompile(to: string | null): boolean {
  return to?.startsWith(`0x${'0'.repeat(37)}`) === true
}

/** What was traced is compared with what was traced. */
function differing(right: Traces, found: Traces): string | undefined {
  const keys = new Set([...Object.keys(right), ...Object.keys(found)])
  for (const key of ['frames', 'steps', 'reached', 'isAlone']) if (!(key in found)) keys.delete(key)
  const lines = [...keys].flatMap((key) => {
    const [a, b] = firstDifferent(right[key], found[key]).map(print)
    return a === b ? [] : [`${key} ${a} became ${b}`]
  })
  return lines.length === 0 ? undefined : lines.join('; ')
}

/** Of lists what first differs. */
function firstDifferent(right: unknown, found: unknown): readonly unknown[] {
  if (!Array.isArray(right) || !Array.isArray(found)) return [right, found]
  const isOther = (each: unknown, index: number): boolean =>
    each !== found[index] && print(each) !== print(found[index])
  const at = right.findIndex(isOther)
  return at === -1 ? [right.length, found.length] : [right[at], found[at]]
}

function print(value: unknown): string {
  return (
    JSON.stringify(value, (_, inner) => (typeof inner === 'bigint' ? String(inner) : inner)) ??
    'nothing'
  )
}

/** The job of a message that is a call. */
export function callOf(subject: Case, message: CaseMessage, world: World): CallJob {
  return {
    world,
    block: blockOf(subject),
    message: { from: SENDER, ...fieldsOf(subject, message) },
    limits: limitsOf(subject),
    reportsAccess: true,
    isOfBlock: true,
  }
}

export function transactionOf(subject: Case, message: CaseMessage, world: World): TransactionJob {
  return {
    world,
    block: blockOf(subject),
    limits: limitsOf(subject),
    transaction: {
      ...fieldsOf(subject, message),
      type: typeOf(subject, message),
      chainId: 33n,
      nonce: nonceAt(world, SENDER),
      from: SENDER,
      hash: ZERO_HASH,
      raw: new Uint8Array(),
      v: 27n,
      r: 1n,
      s: 2n,
    },
  }
}

function typeOf(
  { hardfork }: Case,
  { type, accessList, delegations }: CaseMessage,
): TransactionType {
  if (type !== undefined) return type
  if (delegations.length > 0) return 4
  if (isAtLeast(hardfork, 'london')) return 2
  return accessList.length > 0 ? 1 : 0
}

function fieldsOf({ hardfork, baseFee }: Case, message: CaseMessage) {
  const tip = baseFee === 0 ? 0n : 2n
  const price = BigInt(baseFee) + tip
  const { type = 2 } = message
  return {
    to: message.to,
    value: BigInt(message.value),
    data: message.to === null ? assembled(message.code) : bytesFromHex(message.data),
    gasLimit: BigInt(message.gas),
    maxFeePerGas: price,
    maxPriorityFeePerGas: isAtLeast(hardfork, 'london') && type >= 2 ? tip : price,
    blobs: type === 3 ? BLOBS : undefined,
    accessList: message.accessList.map(({ address, slots }) => ({
      address,
      storageKeys: slots.map((slot) => `0x${slot.toString(16).padStart(64, '0')}` as Hash),
    })),
    authorizationList: authorizationsOf(message),
  } as const
}

const BLOBS: BlobFields = {
  maxFeePerBlobGas: 10n ** 10n,
  versionedHashes: ['aa', 'bb'].map((byte) => `0x01${byte.repeat(31)}` as Hash),
}

function limitsOf({ codeSizeLimit }: Case): { readonly codeSize: number | undefined } {
  return { codeSize: codeSizeLimit }
}
