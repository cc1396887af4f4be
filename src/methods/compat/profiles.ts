// The profiles by their `--compat` name.
import type { DevchainError, ErrorFacts } from '../../core/errors.ts'
import type { SourceCause } from '../../evm/reasons.ts'
import type { AllSettings } from '../../options/derived.ts'
import type { ErrorObject } from '../../rpc/errors.ts'
import { ANVIL } from './anvil.ts'
import { failureOf } from './failure.ts'
import { GANACHE } from './ganache.ts'
import { GETH } from './geth.ts'
import { HARDHAT, HARDHAT2 } from './hardhat.ts'
import { OWN, type Profile } from './profile.ts'
import type { RefusedCall, Wording } from './wording.ts'

export type CompatNode = NonNullable<AllSettings['compat']>

const PROFILES: Readonly<Record<CompatNode, Profile>> = {
  geth: GETH,
  anvil: ANVIL,
  hardhat: HARDHAT,
  hardhat2: HARDHAT2,
  ganache: GANACHE,
}

export const COMPAT_NODES: readonly CompatNode[] = Object.keys(PROFILES) as CompatNode[]

export function profileOf(node: CompatNode | undefined): Profile {
  return node === undefined ? OWN : PROFILES[node]
}

/**
 * Rewords an error for the profile.
 * @param height number of the newest block
 * @param cause of a failed execution in the user's source
 * @returns undefined if the error stays as it is
 */
export function reworded(
  profile: Profile,
  error: DevchainError,
  method: string,
  height: bigint,
  cause?: SourceCause,
): ErrorObject | undefined {
  const { failure, errors } = profile
  const failed = failure && failureOf(error, cause)
  if (failed !== undefined) return failure?.(failed, method)
  const { word, message, facts } = error
  return errorWith(errors[word], { method, message, facts, height }, profile)
}

function errorWith(wording: Wording, call: RefusedCall, profile: Profile): ErrorObject | undefined {
  if (wording === undefined) return undefined
  if (typeof wording === 'function') return errorWith(wording(call), call, profile)
  const error =
    typeof wording === 'string' ? { code: profile.errorCode, message: wording } : wording
  const message = filledIn(error.message, call)
  return { ...error, message, ...(profile.errorsRepeatMessage && { data: { message } }) }
}

/** Unknown names stay as they are. */
function filledIn(text: string, { method, message, facts, height }: RefusedCall): string {
  const known: ErrorFacts = { ...facts, method, message, height }
  return text.replace(/\{(\w+)\}/g, (name, key) => String(known[key] ?? name))
}
