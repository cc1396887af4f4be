// Explains a failed run: its reason and Solidity stack trace.
import { checksumAddress } from '../../core/crypto/crypto.ts'
import { limitExceeded } from '../../core/errors.ts'
import { number, short } from '../../core/format.ts'
import { type Address, addressFromBytes, paddedBytes } from '../../core/hex.ts'
import { OP } from '../../evm/opcodes.ts'
import type { SourceCause, SourceExplanation } from '../../evm/reasons.ts'
import type { Rerun } from '../../node/chain/failedrun.ts'
import type { World } from '../../state/world.ts'
import { jsonArguments } from '../abi/values.ts'
import type { Catalogue, Match } from '../code/catalogue.ts'
import type { Names } from '../naming/names.ts'
import type { DetailReader, Details } from './details.ts'
import {
  type FrameContract,
  failureChain,
  type MapOf,
  type RunFrame,
  recordFrames,
} from './frames.ts'
import type { CodeMap } from './sourcemap.ts'
import { type FailedFrame, failedFrame, type StackEntry } from './stack.ts'
import { trailOf } from './trails.ts'

/** Entries shown: of a deep recursion, the innermost and outermost. */
const MOST_ENTRIES = 40

/** Milliseconds before the caller gets the error without an explanation. */
const LONGEST_MS = 3_000

export interface Explainer {
  readonly names: Names
  readonly catalogue: Catalogue
  readonly details: DetailReader
  readonly now: () => number
}

/** Undefined if the run does not fail, or no contract in it has a known source. */
export async function explain(
  explainer: Explainer,
  rerun: Rerun,
  usual: string,
): Promise<SourceExplanation | undefined> {
  const first = await runOf(explainer, rerun)
  if (first === undefined) return undefined
  const contracts: (FrameContract | undefined)[] = []
  for (const frame of first.chain) contracts.push(await contractOf(explainer, frame))
  // a run without the user's contracts is not repeated
  if (!contracts.some((each) => each?.map !== undefined)) return undefined
  const run = await runOf(explainer, rerun, mapOfOne(explainer, contracts))
  if (run === undefined) return undefined
  const frames = run.chain.flatMap((frame, i) => {
    const trail = frame.trail && trailOf(frame.trail)
    const isHandedOn = i < run.chain.length - 1
    return trail === undefined ? [] : failedFrame({ frame, known: contracts[i], trail, isHandedOn })
  })
  const stack = [...frames].reverse().flatMap(({ entries }) => entries)
  if (!stack.some(({ place }) => place !== undefined)) return undefined
  const { reason, cause } = reasonOf(explainer, frames, run.world, usual)
  return { lines: [reason, ...shortened(stack)], cause }
}

async function runOf(explainer: Explainer, rerun: Rerun, map?: MapOf) {
  const { tracer, top } = recordFrames(map)
  const world = await rerun({ ...tracer, onPause: impatience(explainer.now) })
  const outermost = top()
  if (outermost?.failure === undefined) return undefined
  return { chain: failureChain(outermost), world }
}

/** Maps of some contracts. */
function mapOfOne(explainer: Explainer, known: readonly (FrameContract | undefined)[]): MapOf {
  return (frame) => {
    const contract = matchOf(explainer, frame)?.contract
    const found = known.find((each) => each?.contract === contract && each?.details !== undefined)
    return mapOf(frame, found?.details)
  }
}

function mapOf({ code, input }: RunFrame, details: Details | undefined): CodeMap | undefined {
  return code === undefined ? details?.creationMap(input) : details?.runtimeMap(code)
}

/** Stops work that exceeds the caller's wait. */
function impatience(now: () => number): () => Promise<void> {
  const endMs = now() + LONGEST_MS
  return async () => {
    if (now() < endMs) return
    const message = `the failure is not explained: running it again takes longer than ${LONGEST_MS} ms`
    throw limitExceeded(message)
  }
}

function matchOf(
  { catalogue, names }: Explainer,
  { code, input, to }: RunFrame,
): Match | undefined {
  if (code === undefined || to === null) return catalogue.creation(input)
  return names.identities.matchOf(to, code)
}

async function contractOf(
  explainer: Explainer,
  frame: RunFrame,
): Promise<FrameContract | undefined> {
  const { catalogue, details } = explainer
  const match = matchOf(explainer, frame)
  if (match === undefined) return undefined
  const { contract, isGuess } = match
  const name = `${isGuess ? '~' : ''}${catalogue.nameOf(contract)}`
  // a guessed contract would show the wrong source
  const found = isGuess ? undefined : await details.of(contract)
  return { contract, name, details: found, map: mapOf(frame, found) }
}

function reasonOf(
  { names }: Explainer,
  frames: readonly FailedFrame[],
  world: World,
  usual: string,
): Silent {
  const failed = frames.at(-1)
  if (failed === undefined) return { reason: usual, cause: undefined }
  const { frame } = failed
  const error = names.error(world, frame.to, frame.output)
  if (error !== undefined) {
    const text = `${error.name}(${jsonArguments(error.values ?? [])})`
    return { reason: error.text, cause: { kind: 'customError', text } }
  }
  const silent = silentReason(
    failed,
    (address) => names.argumentName(world, address) ?? short(checksumAddress(address)),
  )
  const reason = silent?.reason ?? frame.failure?.reason ?? usual
  return { reason: reason.replace(/^revert (?=.)/, ''), cause: silent?.cause }
}

function shortened(stack: readonly StackEntry[]): readonly string[] {
  const lines = stack.map(entryText)
  const left = `… ${number(lines.length - MOST_ENTRIES)} more`
  if (lines.length <= MOST_ENTRIES) return lines
  return [...lines.slice(0, MOST_ENTRIES / 2), left, ...lines.slice(-MOST_ENTRIES / 2)]
}

/** `at Vault._check (src/Vault.sol:74:13)` */
function entryText({ contract, function: name, place }: StackEntry): string {
  const subject = name === undefined ? contract : `${contract}.${name}`
  if (place === undefined) return `at ${subject}`
  const { path, line, column, isAbout } = place
  return `at ${subject} (${isAbout ? 'about ' : ''}${path}:${line}:${column})`
}

type NameOf = (address: Address) => string

interface Silent {
  readonly reason: string
  readonly cause?: SourceCause | undefined
}

/** The callee's code check is among so many operations before the failure. */
const CHECK_STEPS = 24

/**
 * The reason for a failure without data; undefined if it has its own.
 * @param failed the frame where the failure began
 */
function silentReason(failed: FailedFrame, nameOf: NameOf): Silent | undefined {
  const { frame } = failed
  const { failure, output } = frame
  if (failure === undefined || (failure.kind === 'revert' && output.length > 0)) return undefined
  if (failure.kind === 'halt') {
    const reason = haltReason(failed)
    return reason === undefined ? undefined : { reason }
  }
  const { text } = failed
  const isQuoted = /^(require|assert|abi\.decode)\s*\(/.test(text)
  const reason = isQuoted ? `${text} failed` : 'reverted without a reason'
  return failed.failedCheck ?? calleeReason(failed, nameOf) ?? { reason }
}

function haltReason({ frame, text }: FailedFrame): string | undefined {
  const { failure } = frame
  if (failure?.reason === 'max code size exceeded')
    return 'the contract is too large to be deployed'
  // before 0.8 a failed assertion took all gas
  if (failure?.reason === 'invalid opcode 0xfe' && text.startsWith('assert'))
    return `${text} failed`
  return failure?.reason
}

/** The callee has no code, or returned invalid data. */
function calleeReason({ frame, trail }: FailedFrame, nameOf: NameOf): Silent | undefined {
  const noCode = (address: Address): Silent => ({
    reason: `${nameOf(address)} was called but has no code`,
    cause: { kind: 'noCode' },
  })
  const { last, calledAt } = trail
  const newest = frame.calls.at(-1)
  const recent = last.slice(-CHECK_STEPS)
  const sinceCall = calledAt === undefined ? recent : last.slice(calledAt + 1)
  const asked = recent.findLast(
    (step) => step.opcode === OP.EXTCODESIZE && sinceCall.includes(step),
  )
  if (asked?.top !== undefined) {
    return noCode(addressFromBytes(paddedBytes(asked.top & ((1n << 160n) - 1n), 20)))
  }
  if (newest?.failure !== undefined || newest?.to == null || newest.isPrecompile) return undefined
  if (calledAt === undefined || newest.output.length >= 32) return undefined
  if (!sinceCall.some(({ opcode }) => opcode === OP.RETURNDATASIZE)) return undefined
  if (newest.code?.length === 0) return noCode(newest.to)
  const length = number(newest.output.length)
  return {
    reason: `${nameOf(newest.to)} returned ${length} bytes, fewer than expected`,
    cause: { kind: 'badReturnData' },
  }
}
