// Finds a call's subject: an account, or its callee and input.
import type { ObservedCall } from '../../app/observer.ts'
import { isObject } from '../../core/objects.ts'
import type { Json } from '../../rpc/schema.ts'
import { CREATE2_DEPLOYER } from '../../state/predeploys.ts'

export interface Asked {
  readonly from: string | undefined
  readonly to: string | null
  /** Hex; empty if there is none. */
  readonly input: string
  readonly hasGas: boolean
}

/** The message in a call's first parameter; undefined for anything else. */
export function askedBy({ params }: Pick<ObservedCall, 'params'>): Asked | undefined {
  const request = isObject(params) ? params.transaction : firstParam(params)
  if (!isObject(request)) return undefined
  const { from, to, data, input, gas, gasLimit } = request
  const sent = input ?? data
  if (typeof to !== 'string' && typeof sent !== 'string') return undefined
  return {
    from: typeof from === 'string' ? from : undefined,
    to: typeof to === 'string' ? to : null,
    input: typeof sent === 'string' ? sent : '',
    hasGas: (gas ?? gasLimit ?? null) !== null,
  }
}

/** The account in a call's first parameter, in its letter case. */
export function accountOf({ params }: Pick<ObservedCall, 'params'>): string | undefined {
  const first = firstParam(params)
  return typeof first === 'string' && /^0x[0-9a-f]{40}$/i.test(first) ? first : undefined
}

/** True for the deterministic deployment factory, whose input is a salt and creation code. */
export function isDeployer(to: string): boolean {
  return to.toLowerCase() === CREATE2_DEPLOYER.address
}

export function firstParam(params: Json): Json | undefined {
  return Array.isArray(params) ? (params[0] as Json | undefined) : undefined
}
