// A failed run, explained: its reason, and the stack of places in Solidity where it failed.
import { checksumAddress } from '../../core/crypto/crypto.ts'
import { short } from '../../core/format.ts'
import type { Again } from '../../node/chain/failedrun.ts'
import type { World } from '../../state/world.ts'
import type { Catalogue, Match } from '../code/catalogue.ts'
import type { Names } from '../naming/names.ts'
import type { DetailReader } from './details.ts'
import { type RunFrame, recordFrames } from './frames.ts'
import { silentReason } from './reason.ts'
import { type FailedFrame, failedFrames, type StackEntry } from './stack.ts'

/** Why a run failed, and where. */
export interface Explanation {
  /** `InsufficientBalance(have 1 ether, want 5 ether)` */
  readonly reason: string
  /** Innermost first; some have no place, none of them has none. */
  readonly stack: readonly StackEntry[]
}

/** Entries that are told: of a deep recursion the innermost and the outermost. */
const MOST_ENTRIES = 40

/** What explanations need. */
export interface Explainer {
  readonly names: Names
  readonly catalogue: Catalogue
  readonly details: DetailReader
}

/** Explains a failure; undefined where it does not fail, or in no contract whose source is known. */
export async function explain(
  explainer: Explainer,
  again: Again,
  usual: string,
): Promise<Explanation | undefined> {
  const { tracer, top } = recordFrames()
  const world = await again(tracer)
  const outermost = top()
  if (outermost?.failure === undefined) return undefined
  const frames = failedFrames(outermost, (frame) => contractOf(explainer, frame))
  const stack = [...frames].reverse().flatMap(({ entries }) => entries)
  if (!stack.some(({ place }) => place !== undefined)) return undefined
  return { reason: reasonOf(explainer, frames, world, usual), stack: shortened(stack) }
}

function contractOf(
  { catalogue, details }: Explainer,
  { code, input }: RunFrame,
): ReturnType<Parameters<typeof failedFrames>[1]> {
  const match: Match | undefined =
    code === undefined ? catalogue.creation(input) : catalogue.runtime(code)
  if (match === undefined) return undefined
  const { contract, isGuess } = match
  const name = `${isGuess ? '~' : ''}${catalogue.nameOf(contract)}`
  // the source of a guess would be another's
  return { contract, name, details: isGuess ? undefined : details.of(contract) }
}

function reasonOf(
  { names }: Explainer,
  frames: readonly FailedFrame[],
  world: World,
  usual: string,
): string {
  const cause = frames.at(-1)
  if (cause === undefined) return usual
  const { frame } = cause
  const error = names.error(world, frame.to, frame.output)
  if (error !== undefined) return error.text
  const nameOf = (address: Parameters<Names['argumentName']>[1]): string =>
    names.argumentName(world, address) ?? short(checksumAddress(address as never))
  const reason = silentReason(cause, nameOf) ?? frame.failure?.reason ?? usual
  return reason.replace(/^revert (?=.)/, '')
}

function shortened(stack: readonly StackEntry[]): readonly StackEntry[] {
  if (stack.length <= MOST_ENTRIES) return stack
  return [...stack.slice(0, MOST_ENTRIES / 2), ...stack.slice(-MOST_ENTRIES / 2)]
}

/** `at Vault._check (src/Vault.sol:74:13)` */
export function entryText({ contract, function: name, place }: StackEntry): string {
  const subject = name === undefined ? contract : `${contract}.${name}`
  if (place === undefined) return `at ${subject}`
  const { path, line, column, isAbout } = place
  return `at ${subject} (${isAbout ? 'about ' : ''}${path}:${line}:${column})`
}
