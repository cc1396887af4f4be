// Explains a failed run: its reason and Solidity stack trace.
import { checksumAddress } from '../../core/crypto/crypto.ts'
import { DevchainError } from '../../core/errors.ts'
import { short } from '../../core/format.ts'
import type { SourceExplanation } from '../../evm/reasons.ts'
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
import { type Silent, silentReason } from './reason.ts'
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
  return { lines: [reason, ...shortened(stack).map(entryText)], cause }
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
    throw new DevchainError('LIMIT_EXCEEDED', message)
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

function shortened(stack: readonly StackEntry[]): readonly StackEntry[] {
  if (stack.length <= MOST_ENTRIES) return stack
  return [...stack.slice(0, MOST_ENTRIES / 2), ...stack.slice(-MOST_ENTRIES / 2)]
}

/** `at Vault._check (src/Vault.sol:74:13)` */
function entryText({ contract, function: name, place }: StackEntry): string {
  const subject = name === undefined ? contract : `${contract}.${name}`
  if (place === undefined) return `at ${subject}`
  const { path, line, column, isAbout } = place
  return `at ${subject} (${isAbout ? 'about ' : ''}${path}:${line}:${column})`
}
