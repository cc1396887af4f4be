// Finds the function that a message calls, through a proxy or in it.
import { type Address, hexFromBytes } from '../../core/hex.ts'
import { memoizeByIdentity } from '../../core/lrucache.ts'
import { codeAt, type World } from '../../state/world.ts'
import type { Contract } from '../code/catalogue.ts'
import { adminOf } from '../code/proxies.ts'
import { selectorsIn } from '../code/selectors.ts'
import type { AbiItem } from '../reading/summary.ts'
import type { Identity } from './identity.ts'

export interface CallMessage {
  readonly to: Address
  readonly input: Uint8Array
  readonly from?: Address | undefined
  readonly isHandedOn?: boolean | undefined
}

export interface Callee {
  /** True if the proxy's own code handles it. */
  readonly isOwn: boolean
  /** The contract that handles it; undefined without an artifact. */
  readonly contract: Contract | undefined
  /** Its function, receive or fallback function; undefined if it has none. */
  readonly item: AbiItem | undefined
}

export function isForwarded(
  { kind, input }: { readonly kind: string; readonly input: Uint8Array },
  caller: { readonly input: Uint8Array },
): boolean {
  return kind === 'DELEGATECALL' && Buffer.compare(input, caller.input) === 0
}

export function selectorOf(input: Uint8Array): string {
  return input.length < 4 ? '' : hexFromBytes(input.subarray(0, 4))
}

/** @param world the accounts at the time of the message */
export function calleeOf(world: World, identity: Identity, message: CallMessage): Callee {
  const isOwn = isOwnFunction(world, identity, message)
  const contract = isOwn ? identity.outer?.contract : identity.contract
  return { isOwn, contract, item: contract && answering(contract, message.input) }
}

function isOwnFunction(world: World, identity: Identity, message: CallMessage): boolean {
  const { via, outer, contract } = identity
  // clones and delegations have no code of their own
  if (via !== 'proxy' && via !== 'beacon') return false
  const { to, input, from, isHandedOn } = message
  const has =
    (outer !== undefined && namedBy(outer.contract, input) !== undefined) ||
    selectorsIn(codeAt(world, to)).has(selectorOf(input))
  const taking = input.length === 0 ? answering : namedBy
  const isBehind = contract !== undefined && taking(contract, input) !== undefined
  if (!has) return isHandedOn === false && !isBehind
  if (isHandedOn !== undefined) return !isHandedOn
  if (!isBehind) return true
  // a transparent proxy handles only its admin's calls; most proxies forward empty data
  const admin = adminOf(world, to)
  return input.length > 0 && (admin === undefined || admin === from)
}

function answering(contract: Contract, input: Uint8Array): AbiItem | undefined {
  return namedBy(contract, input) ?? contract.abi.find(({ kind }) => kind === 'fallback')
}

function namedBy(contract: Contract, input: Uint8Array): AbiItem | undefined {
  if (input.length === 0) return contract.abi.find(({ kind }) => kind === 'receive')
  return memberOf(contract, 'function', selectorOf(input))
}

const membersOf = memoizeByIdentity(
  ({ abi }: Contract) => new Map(abi.map((item) => [`${item.kind} ${item.key}`, item])),
)

/** By selector or topic; the last of several. */
export function memberOf(
  contract: Contract,
  kind: AbiItem['kind'],
  key: string,
): AbiItem | undefined {
  return membersOf(contract).get(`${kind} ${key}`)
}
