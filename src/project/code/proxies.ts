// Code that runs other code: minimal clones (EIP-1167), proxies with well-known slots (EIP-1967), delegations (EIP-7702).
import {
  type Address,
  addressFromBytes,
  bigintFromBytes,
  bytesFromHex,
  paddedBytes,
} from '../../core/hex.ts'
import { isPush, OP } from '../../evm/opcodes.ts'
import { delegateOf } from '../../protocol/transactions/delegation.ts'
import { codeAt, storageAt, type World } from '../../state/world.ts'

/** How an account comes to run the code of another. */
export type Detour = 'clone' | 'proxy' | 'beacon' | 'delegation'

/** What an account runs instead of its own code. */
export interface Target {
  readonly via: Detour
  readonly address: Address
}

/** keccak256('eip1967.proxy.implementation') − 1 */
const IMPLEMENTATION_SLOT = 0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbcn
/** keccak256('eip1967.proxy.beacon') − 1 */
const BEACON_SLOT = 0xa3f0ad74e5423aebfd80d3ef4346578335a9a72aeaee59ff6cb3582b35133d50n

/** What stands before the address in code that only delegates. */
const CLONES = [
  // EIP-1167, and Vyper's and Solady's forms of it
  '363d3d373d3d3d363d73',
  '366000600037611000600036600073',
  '365f5f375f5f365f73',
  '5f5f365f5f37365f73',
  '3d3d3d3d363d3d37363d73',
].map((text) => bytesFromHex(`0x${text}`))

const ADDRESS_LENGTH = 20

/** Longest code that is looked at for a clone without arguments. */
const CLONE_TAIL = 40

/**
 * What the account at an address runs in place of its own code; undefined for an account that runs that.
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

const delegating = new WeakMap<Uint8Array, boolean>()

/** True for code with a DELEGATECALL among its operations, be it never reached: without one it runs no other code. */
function delegates(code: Uint8Array): boolean {
  const known = delegating.get(code)
  if (known !== undefined) return known
  let at = 0
  while (at < code.length && code[at] !== OP.DELEGATECALL) at = nextOperation(code, at)
  const found = at < code.length
  delegating.set(code, found)
  return found
}

/** Constants are no operations. */
function nextOperation(code: Uint8Array, at: number): number {
  const opcode = code[at]!
  return isPush(opcode) ? at + opcode - OP.PUSH1 + 2 : at + 1
}

function clonedBy(code: Uint8Array): Address | undefined {
  for (const head of CLONES) {
    const address = addressAfter(code, head)
    if (address === undefined) continue
    const tail = code.subarray(
      head.length + ADDRESS_LENGTH,
      head.length + ADDRESS_LENGTH + CLONE_TAIL,
    )
    if (tail.includes(OP.DELEGATECALL)) return address
  }
  return undefined
}

function addressAfter(code: Uint8Array, head: Uint8Array): Address | undefined {
  if (code.length < head.length + ADDRESS_LENGTH) return undefined
  if (head.some((byte, i) => code[i] !== byte)) return undefined
  return addressFromBytes(code.subarray(head.length, head.length + ADDRESS_LENGTH))
}

function slotAddress(world: World, address: Address, slot: bigint): Address | undefined {
  const value = storageAt(world, address, slot)
  return value === 0n ? undefined : addressIn(paddedBytes(value, 32))
}

/** The address in the last bytes of a word; undefined where there is none. */
export function addressIn(word: Uint8Array): Address | undefined {
  const bytes = word.subarray(word.length - ADDRESS_LENGTH)
  return bigintFromBytes(bytes) === 0n ? undefined : addressFromBytes(bytes)
}
