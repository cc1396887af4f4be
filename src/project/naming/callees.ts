// Whose function a message calls: a proxy answers some by its own code, and hands all others on.
import { type Address, hexFromBytes } from '../../core/hex.ts'
import { memoizeByIdentity } from '../../core/lrucache.ts'
import { codeAt, type World } from '../../state/world.ts'
import type { Contract } from '../code/catalogue.ts'
import { adminOf } from '../code/proxies.ts'
import { selectorsIn } from '../code/selectors.ts'
import type { AbiItem } from '../reading/summary.ts'
import type { Identity } from './identity.ts'

/** A message to an account, as far as it decides what it calls. */
export interface Message {
  readonly to: Address
  readonly input: Uint8Array
  readonly from?: Address | undefined
  readonly isHandedOn?: boolean | undefined
}

export interface Callee {
  /** True where a proxy's own code answers. */
  readonly isOwn: boolean
  /** The contract that answers; undefined where no artifact is of it. */
  readonly contract: Contract | undefined
  /** Its function, or its receive or fallback function; undefined where it has none. */
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

/** Whose function a message calls. @param world the accounts when it came */
export function calleeOf(world: World, identity: Identity, message: Message): Callee {
  const isOwn = isOwnFunction(world, identity, message)
  const contract = isOwn ? identity.outer?.contract : identity.contract
  return { isOwn, contract, item: contract && answering(contract, message.input) }
}

function isOwnFunction(world: World, identity: Identity, message: Message): boolean {
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
  // a transparent proxy answers its admin alone; what has no data is handed on by most
  const admin = adminOf(world, to)
  return input.length > 0 && (admin === undefined || admin === from)
}

/** What a contract answers a message with. */
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

/** A member of a contract's ABI, by its selector or topic; of several the last. */
export function memberOf(
  contract: Contract,
  kind: AbiItem['kind'],
  key: string,
): AbiItem | undefined {
  return membersOf(contract).get(`${kind} ${key}`)
}
