// The world against @ethereumjs/statemanager, and its small functions.
import { MerkleStateManager } from '@ethereumjs/statemanager'
import { Account, Address as EthereumjsAddress } from '@ethereumjs/util'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { EMPTY_CODE_HASH, keccakHash } from '../../../src/core/crypto/crypto.ts'
import {
  type Address,
  addressFromBytes,
  bytesFromBigint,
  bytesFromHex,
  hexFromBytes,
  paddedBytes,
} from '../../../src/core/hex.ts'
import {
  accountAt,
  accountsOf,
  balanceAt,
  codeAt,
  emptyWorld,
  nonceAt,
  stateRoot,
  storageAt,
  storageRoot,
  type World,
  withAccount,
  withBalance,
  withCode,
  withNonce,
  withoutAccount,
  withStorage,
} from '../../../src/state/world.ts'

const addressNumber = (n: number): Address => addressFromBytes(paddedBytes(BigInt(n), 20))
const ALICE = addressNumber(0xa11ce)
const BOB = addressNumber(0xb0b)

const word = fc.bigInt(0n, (1n << 256n) - 1n)
const address = fc.nat(12).map(addressNumber)
const slot = fc.oneof(fc.bigInt(0n, 6n), fc.constantFrom((1n << 256n) - 1n, 1n << 255n))

type Action =
  | { kind: 'balance' | 'nonce'; address: Address; value: bigint }
  | { kind: 'code'; address: Address; code: Uint8Array }
  | { kind: 'storage'; address: Address; slot: bigint; value: bigint }
  | { kind: 'delete'; address: Address }

const action: fc.Arbitrary<Action> = fc.oneof(
  fc.record({ kind: fc.constant('balance' as const), address, value: word }),
  fc.record({ kind: fc.constant('nonce' as const), address, value: fc.bigInt(0n, 1n << 63n) }),
  fc.record({ kind: fc.constant('code' as const), address, code: fc.uint8Array({ minLength: 1 }) }),
  fc.record({
    kind: fc.constant('storage' as const),
    address,
    slot,
    value: fc.oneof(word, fc.constant(0n)),
  }),
  fc.record({ kind: fc.constant('delete' as const), address }),
)

function apply(world: World, step: Action): World {
  switch (step.kind) {
    case 'balance':
      return withBalance(world, step.address, step.value)
    case 'nonce':
      return withNonce(world, step.address, step.value)
    case 'code':
      return withCode(world, step.address, step.code)
    case 'storage':
      return withStorage(world, step.address, step.slot, step.value)
    case 'delete':
      return withoutAccount(world, step.address)
  }
}

async function applyToOracle(oracle: MerkleStateManager, step: Action): Promise<void> {
  const at = new EthereumjsAddress(bytesFromHex(step.address))
  if (step.kind === 'delete') return oracle.deleteAccount(at)
  const account = (await oracle.getAccount(at)) ?? new Account()
  if (step.kind === 'balance') account.balance = step.value
  if (step.kind === 'nonce') account.nonce = step.value
  await oracle.putAccount(at, account)
  if (step.kind === 'code') await oracle.putCode(at, step.code)
  if (step.kind === 'storage') {
    await oracle.putStorage(at, paddedBytes(step.slot, 32), bytesFromBigint(step.value))
  }
}

describe('a world', () => {
  it('has the state roots of @ethereumjs/statemanager over random changes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(action, { maxLength: 40, size: 'max' }), async (steps) => {
        const oracle = new MerkleStateManager()
        let world = emptyWorld
        for (const step of steps) {
          world = apply(world, step)
          await applyToOracle(oracle, step)
        }
        expect(stateRoot(world)).toBe(hexFromBytes(await oracle.getStateRoot()))
      }),
      { seed: 11, numRuns: 60 },
    )
  })

  it('has zero for accounts and slots that do not exist', () => {
    expect(accountAt(emptyWorld, ALICE)).toBeUndefined()
    expect(balanceAt(emptyWorld, ALICE)).toBe(0n)
    expect(nonceAt(emptyWorld, ALICE)).toBe(0n)
    expect(codeAt(emptyWorld, ALICE)).toEqual(new Uint8Array(0))
    expect(storageAt(emptyWorld, ALICE, 1n)).toBe(0n)
    expect(storageAt(withBalance(emptyWorld, ALICE, 1n), ALICE, 1n)).toBe(0n)
  })

  it('keeps every other field when one is set', () => {
    const code = Uint8Array.of(0x60, 0x00)
    const world = [
      (w: World) => withBalance(w, ALICE, 5n),
      (w: World) => withNonce(w, ALICE, 6n),
      (w: World) => withCode(w, ALICE, code),
      (w: World) => withStorage(w, ALICE, 7n, 8n),
      (w: World) => withBalance(w, BOB, 9n),
    ].reduce((before, change) => change(before), emptyWorld)
    expect(balanceAt(world, ALICE)).toBe(5n)
    expect(nonceAt(world, ALICE)).toBe(6n)
    expect(codeAt(world, ALICE)).toEqual(code)
    expect(accountAt(world, ALICE)?.codeHash).toBe(keccakHash(code))
    expect(storageAt(world, ALICE, 7n)).toBe(8n)
    expect(accountAt(world, BOB)?.codeHash).toBe(EMPTY_CODE_HASH)
  })

  it('does not change an older world', () => {
    const before = withStorage(withBalance(emptyWorld, ALICE, 5n), ALICE, 1n, 2n)
    const root = stateRoot(before)
    withoutAccount(withStorage(withBalance(before, ALICE, 6n), ALICE, 1n, 0n), ALICE)
    expect(balanceAt(before, ALICE)).toBe(5n)
    expect(storageAt(before, ALICE, 1n)).toBe(2n)
    expect(stateRoot(before)).toBe(root)
  })

  it('holds no slots of value zero', () => {
    const before = withBalance(emptyWorld, ALICE, 5n)
    const after = withStorage(withStorage(before, ALICE, 1n, 2n), ALICE, 1n, 0n)
    expect(accountAt(after, ALICE)?.storage.isEmpty).toBe(true)
    expect(stateRoot(after)).toBe(stateRoot(before))
    expect(storageRoot(accountAt(after, ALICE)!)).toBe(storageRoot(accountAt(before, ALICE)!))
  })

  it('lists its accounts and their slots from a hashed address on', () => {
    let world = emptyWorld
    for (let n = 1; n <= 50; n++) world = withBalance(world, addressNumber(n), BigInt(n))
    const all = [...accountsOf(world)]
    expect(all.map((account) => account.balance).toSorted((a, b) => Number(a - b))).toEqual(
      Array.from({ length: 50 }, (_, i) => BigInt(i + 1)),
    )
    const hashes = all.map((account) => keccakHash(bytesFromHex(account.address)))
    expect(hashes).toEqual(hashes.toSorted())
    expect([...accountsOf(world, bytesFromHex(hashes[20]!))]).toEqual(all.slice(20))
    const stored = withStorage(world, ALICE, 300n, 4n)
    expect([...accountAt(stored, ALICE)!.storage.values()]).toEqual([{ slot: 300n, value: 4n }])
  })

  it('is the same object when an absent account is removed', () => {
    const world = withBalance(emptyWorld, ALICE, 5n)
    expect(withoutAccount(world, BOB)).toBe(world)
    expect(withAccount(world, accountAt(world, ALICE)!)).toBe(world)
  })
})
