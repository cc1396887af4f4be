// Code that runs other code: minimal clones (EIP-1167), proxies with well-known slots (EIP-1967), delegations (EIP-7702).
import { type Address, addressFromBytes, bigintFromBytes, paddedBytes } from '../../core/hex.ts'
import { memoizeByIdentity } from '../../core/lrucache.ts'
import { nextOperation, OP } from '../../evm/opcodes.ts'
import { delegateOf } from '../../protocol/transactions/delegation.ts'
import { codeAt, storageAt, type World } from '../../state/world.ts'

export type ProxyKind = 'clone' | 'proxy' | 'beacon' | 'delegation'

interface Target {
  readonly via: ProxyKind
  readonly address: Address
}

/** keccak256('eip1967.proxy.implementation') − 1 */
export const IMPLEMENTATION_SLOT =
  0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbcn
/** keccak256('eip1967.proxy.beacon') − 1 */
export const BEACON_SLOT = 0xa3f0ad74e5423aebfd80d3ef4346578335a9a72aeaee59ff6cb3582b35133d50n
/** keccak256('eip1967.proxy.admin') − 1 */
export const ADMIN_SLOT = 0xb53127684a568b3173ae13b9f8a6016e243e63b6e8ee1178d6a717850b5d6103n

/** A clone delegates within so many bytes of code and after so many jumps: some check first for ether. */
const CLONE_HEAD = 192
const MOST_JUMPS = 1

const ADDRESS_LENGTH = 20

/**
 * The account whose code runs in place of the account's own; undefined if its own runs.
 * @param implementationOf asks a beacon
 */
export function targetOf(
  world: World,
  address: Address,
  implementationOf: (beacon: Address) => Address | undefined,
): Target | undefined {
  const code = codeAt(world, address)
  if (code.length === 0) return undefined
  const delegate = delegateOf(code)
  if (delegate !== undefined) return { via: 'delegation', address: delegate }
  if (!delegates(code)) return undefined
  const cloned = clonedBy(code)
  if (cloned !== undefined) return { via: 'clone', address: cloned }
  const implementation = slotAddress(world, address, IMPLEMENTATION_SLOT)
  if (implementation !== undefined) return { via: 'proxy', address: implementation }
  const beacon = slotAddress(world, address, BEACON_SLOT)
  const behind = beacon && implementationOf(beacon)
  return behind === undefined ? undefined : { via: 'beacon', address: behind }
}

/** The proxy's admin; undefined if no well-known slot has it. */
export function adminOf(world: World, proxy: Address): Address | undefined {
  return slotAddress(world, proxy, ADMIN_SLOT)
}

export function isUpgraded(before: World, after: World, proxy: Address): boolean {
  const [old, now] = [before, after].map((world) => storageAt(world, proxy, IMPLEMENTATION_SLOT))
  return old !== 0n && old !== now
}

/** True if the code has a DELEGATECALL, even an unreachable one; without one it runs no other code. */
const delegates = memoizeByIdentity((code: Uint8Array): boolean => {
  let at = 0
  while (at < code.length && code[at] !== OP.DELEGATECALL) at = nextOperation(code, at)
  return at < code.length
})

/**
 * The constant address that code delegates to first: EIP-1167, and the variants of Vyper, Solady and
 * others, with or without appended arguments.
 */
function clonedBy(code: Uint8Array): Address | undefined {
  let jumps = 0
  for (let at = 0; at < Math.min(code.length, CLONE_HEAD); at = nextOperation(code, at)) {
    if (code[at] === OP.JUMPI) jumps += 1
    // compiled contracts jump more often, to dispatch on the selector
    if (jumps > MOST_JUMPS) return undefined
    const after = at + 1 + ADDRESS_LENGTH
    if (code[at] !== OP.PUSH20 || code[after] !== OP.GAS || code[after + 1] !== OP.DELEGATECALL)
      continue
    return addressFromBytes(code.subarray(at + 1, after))
  }
  return undefined
}

function slotAddress(world: World, address: Address, slot: bigint): Address | undefined {
  const value = storageAt(world, address, slot)
  return value === 0n ? undefined : addressIn(paddedBytes(value, 32))
}

/** The address in a word's last bytes; undefined for zero. */
export function addressIn(word: Uint8Array): Address | undefined {
  const bytes = word.subarray(word.length - ADDRESS_LENGTH)
  return bigintFromBytes(bytes) === 0n ? undefined : addressFromBytes(bytes)
}
