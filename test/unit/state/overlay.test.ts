// Overlays over each other against a naive model that copies everything at each checkpoint.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { keccakHash } from '../../../src/core/crypto/crypto.ts'
import { type Address, addressFromBytes, EMPTY_BYTES, paddedBytes } from '../../../src/core/hex.ts'
import { Overlay } from '../../../src/state/overlay.ts'
import {
  accountAt,
  codeAt,
  emptyWorld,
  stateRoot,
  storageAt,
  type World,
  withBalance,
  withCode,
  withNonce,
  withStorage,
} from '../../../src/state/world.ts'

const addressNumber = (n: number): Address => addressFromBytes(paddedBytes(BigInt(n), 20))
const ADDRESSES = [0, 1, 2, 3].map(addressNumber)
const SLOTS = [0n, 1n, 2n]
const [ALICE, BOB] = [ADDRESSES[1]!, ADDRESSES[2]!]

/** An account as the model has it: everything in plain sight. */
interface ModelAccount {
  nonce: bigint
  balance: bigint
  code: Uint8Array
  slots: Map<bigint, bigint>
}
type Model = Map<Address, ModelAccount>

function copyOf(model: Model): Model {
  return new Map(
    [...model].map(([address, account]) => [
      address,
      { ...account, slots: new Map(account.slots) },
    ]),
  )
}

function worldOf(model: Model): World {
  let world = emptyWorld
  for (const [address, account] of model) {
    world = withNonce(withBalance(world, address, account.balance), address, account.nonce)
    world = withCode(world, address, account.code)
    for (const [slot, value] of account.slots) world = withStorage(world, address, slot, value)
  }
  return world
}

const address = fc.constantFrom(...ADDRESSES)
const value = fc.bigInt(0n, 3n)
const step = fc.oneof(
  fc.record({ kind: fc.constantFrom('setBalance', 'setNonce', 'setCode'), address, value }),
  fc.record({
    kind: fc.constant('setStorage'),
    address,
    slot: fc.constantFrom(...SLOTS),
    value,
  }),
  fc.record({ kind: fc.constantFrom('clearStorage', 'deleteAccount'), address }),
  fc.record({ kind: fc.constantFrom('checkpoint', 'commit', 'revert', 'world') }),
)
type Step = {
  kind: string
  address?: Address
  slot?: bigint
  value?: bigint
}

/** Applies a change to both. */
function change(overlay: Overlay, model: Model, { kind, address, slot, value }: Step): void {
  if (address === undefined) return
  if (kind === 'deleteAccount') {
    overlay.deleteAccount(address)
    model.delete(address)
    return
  }
  if (kind === 'clearStorage') {
    overlay.clearStorage(address)
    model.get(address)?.slots.clear()
    return
  }
  const account = model.get(address) ?? {
    nonce: 0n,
    balance: 0n,
    code: EMPTY_BYTES,
    slots: new Map(),
  }
  model.set(address, account)
  if (kind === 'setBalance') {
    overlay.set(address, { balance: value! })
    account.balance = value!
  } else if (kind === 'setNonce') {
    overlay.set(address, { nonce: value! })
    account.nonce = value!
  } else if (kind === 'setCode') {
    const code = value === 0n ? EMPTY_BYTES : Uint8Array.of(Number(value))
    overlay.setCode(address, code)
    account.code = code
  } else {
    overlay.setStorage(address, slot!, value!)
    account.slots.set(slot!, value!)
  }
}

function expectSame(overlay: Overlay, model: Model): void {
  for (const each of ADDRESSES) {
    const expected = model.get(each)
    const actual = overlay.account(each)
    expect(actual === undefined).toBe(expected === undefined)
    expect(actual?.balance).toBe(expected?.balance)
    expect(actual?.nonce).toBe(expected?.nonce)
    expect(overlay.code(each)).toEqual(expected?.code ?? EMPTY_BYTES)
    const slots = expected?.slots ?? new Map<bigint, bigint>()
    for (const slot of SLOTS) expect(overlay.storage(each, slot)).toBe(slots.get(slot) ?? 0n)
    expect(overlay.hasStorage(each)).toBe([...slots.values()].some((value) => value !== 0n))
  }
}

/** Runs the steps on both, comparing what is read after each. The overlay is over a world, or over another overlay. */
function runAndCompare(start: readonly Step[], draft: readonly Step[], steps: readonly Step[]) {
  let model: Model = new Map()
  const before = new Overlay(emptyWorld)
  for (const each of start) change(before, model, each)
  const below = new Overlay(before.world())
  for (const each of draft) change(below, model, each)
  const base = below.world()
  const original = copyOf(model)
  const overlay = new Overlay(draft.length === 0 ? base : below)
  const saved: Model[] = []
  const over: Overlay[] = []
  const top = (): Overlay => over.at(-1) ?? overlay
  const close = (isKept: boolean): void => {
    const { changes } = over.pop()!
    if (isKept) top().absorb(changes)
  }
  for (const each of steps) {
    if (each.kind === 'checkpoint') {
      over.push(new Overlay(top()))
      saved.push(copyOf(model))
    } else if (each.kind === 'world') {
      expect(stateRoot(top().world())).toBe(stateRoot(worldOf(model)))
    } else if (each.kind === 'commit' || each.kind === 'revert') {
      const last = saved.pop()
      if (last === undefined) continue
      if (each.kind === 'revert') model = last
      close(each.kind === 'commit')
    } else change(top(), model, each)
    expectSame(top(), model)
  }
  while (over.length > 0) close(true)
  expect(stateRoot(overlay.world())).toBe(stateRoot(worldOf(model)))
  expect(stateRoot(base)).toBe(stateRoot(worldOf(original)))
  for (const each of ADDRESSES) {
    for (const slot of SLOTS) {
      expect(overlay.originalStorage(each, slot)).toBe(original.get(each)?.slots.get(slot) ?? 0n)
    }
  }
  below.absorb(overlay.changes)
  expectSame(below, model)
  expect(stateRoot(below.settle())).toBe(stateRoot(worldOf(model)))
  expectSame(below, model)
}

describe('Overlay', () => {
  it('agrees with a model of copies over random changes, checkpoints, commits and reverts', () => {
    fc.assert(
      fc.property(
        fc.array(step, { maxLength: 15, size: 'max' }),
        fc.array(step, { maxLength: 15, size: 'max' }),
        fc.array(step, { maxLength: 60, size: 'max' }),
        runAndCompare,
      ),
      { seed: 21, numRuns: 120 },
    )
  })

  it('returns the same world when its changes cancel out', () => {
    const base = withStorage(withBalance(emptyWorld, ALICE, 5n), ALICE, 1n, 2n)
    const overlay = new Overlay(base)
    expect(overlay.world()).toBe(base)
    overlay.set(ALICE, { balance: 6n })
    overlay.setStorage(ALICE, 1n, 3n)
    overlay.setStorage(ALICE, 1n, 2n)
    overlay.set(ALICE, { balance: 5n })
    overlay.set(BOB, { balance: 1n })
    overlay.deleteAccount(BOB)
    expect(overlay.world()).toBe(base)
  })

  it('does not change the world below it', () => {
    const base = withStorage(withBalance(emptyWorld, ALICE, 5n), ALICE, 1n, 2n)
    const root = stateRoot(base)
    const overlay = new Overlay(base)
    overlay.setStorage(ALICE, 1n, 9n)
    overlay.deleteAccount(ALICE)
    overlay.world()
    expect(accountAt(base, ALICE)?.balance).toBe(5n)
    expect(storageAt(base, ALICE, 1n)).toBe(2n)
    expect(stateRoot(base)).toBe(root)
  })

  it('drops storage and code of an account that is deleted and created again', () => {
    const base = withCode(withStorage(emptyWorld, ALICE, 1n, 2n), ALICE, Uint8Array.of(1))
    const overlay = new Overlay(base)
    overlay.setStorage(ALICE, 2n, 3n)
    overlay.deleteAccount(ALICE)
    overlay.set(ALICE, { nonce: 1n })
    overlay.setStorage(ALICE, 3n, 4n)
    const world = overlay.world()
    expect(SLOTS.map((slot) => storageAt(world, ALICE, slot))).toEqual([0n, 0n, 0n])
    expect(storageAt(world, ALICE, 3n)).toBe(4n)
    expect(codeAt(world, ALICE)).toEqual(EMPTY_BYTES)
    expect(overlay.originalStorage(ALICE, 1n)).toBe(2n)
  })

  it('keeps storage that an overlay over it deletes and writes', () => {
    const overlay = new Overlay(withBalance(emptyWorld, ALICE, 5n))
    overlay.setStorage(ALICE, 1n, 2n)
    const above = new Overlay(overlay)
    above.deleteAccount(ALICE)
    above.setStorage(ALICE, 1n, 7n)
    expect(overlay.storage(ALICE, 1n)).toBe(2n)
    expect(overlay.account(ALICE)?.balance).toBe(5n)
  })

  it('keeps an empty account: the evm decides on its deletion', () => {
    const overlay = new Overlay(emptyWorld)
    overlay.set(ALICE, { balance: 0n })
    expect(accountAt(overlay.world(), ALICE)).toMatchObject({ nonce: 0n, balance: 0n })
  })

  it('sets nonce and balance together, and the hash of code with the code', () => {
    const overlay = new Overlay(emptyWorld)
    overlay.set(ALICE, { nonce: 3n, balance: 4n })
    overlay.setCode(ALICE, Uint8Array.of(1, 2))
    expect(overlay.account(ALICE)).toMatchObject({
      nonce: 3n,
      balance: 4n,
      codeHash: keccakHash(Uint8Array.of(1, 2)),
    })
  })
})
