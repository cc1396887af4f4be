// What a call may pretend about accounts and its block.
import { describe, expect, test } from 'vitest'
import { keccakHash } from '../../../../src/core/crypto/crypto.ts'
import type { BlockEnvironment } from '../../../../src/evm/executor.ts'
import {
  type AccountOverride,
  applyBlockOverrides,
  applyStateOverrides,
  type BlockOverrides,
  movedPrecompiles,
} from '../../../../src/node/calls/overrides.ts'
import { OWN_BEHAVIOUR } from '../../../../src/node/ledger/behaviour.ts'
import {
  accountAt,
  balanceAt,
  codeAt,
  emptyWorld,
  nonceAt,
  stateRoot,
  storageAt,
  type World,
  withBalance,
  withCode,
  withNonce,
  withStorage,
} from '../../../../src/state/world.ts'
import { addressOf, word } from '../records.ts'

const address = addressOf(1)
const code = Uint8Array.of(0x60, 0x00)

/** One account with everything: balance 10, nonce 2, code, slots 1 and 2. */
function furnished(): World {
  let world = withBalance(emptyWorld, address, 10n)
  world = withNonce(world, address, 2n)
  world = withCode(world, address, code)
  world = withStorage(world, address, 1n, 11n)
  return withStorage(world, address, 2n, 22n)
}

function overridden(override: AccountOverride, at = address): World {
  return applyStateOverrides(furnished(), new Map([[at, override]]))
}

/** Everything about the account, slots 1 to 3. */
function portrait(world: World, at = address): unknown[] {
  const slots = [1n, 2n, 3n].map((slot) => storageAt(world, at, slot))
  return [balanceAt(world, at), nonceAt(world, at), codeAt(world, at), ...slots]
}

describe('a state override', () => {
  const other = Uint8Array.of(0xfe)
  test.each<{ name: string; override: AccountOverride; becomes: unknown[] }>([
    { name: 'nothing', override: {}, becomes: [10n, 2n, code, 11n, 22n, 0n] },
    { name: 'balance', override: { balance: 0n }, becomes: [0n, 2n, code, 11n, 22n, 0n] },
    { name: 'nonce', override: { nonce: 7n }, becomes: [10n, 7n, code, 11n, 22n, 0n] },
    { name: 'code', override: { code: other }, becomes: [10n, 2n, other, 11n, 22n, 0n] },
    {
      name: 'no code',
      override: { code: new Uint8Array() },
      becomes: [10n, 2n, new Uint8Array(), 11n, 22n, 0n],
    },
    {
      name: 'state',
      override: { state: new Map([[3n, 33n]]) },
      becomes: [10n, 2n, code, 0n, 0n, 33n],
    },
    { name: 'empty state', override: { state: new Map() }, becomes: [10n, 2n, code, 0n, 0n, 0n] },
    {
      name: 'stateDiff',
      override: {
        stateDiff: new Map([
          [2n, 0n],
          [3n, 33n],
        ]),
      },
      becomes: [10n, 2n, code, 11n, 0n, 33n],
    },
    {
      name: 'all at once',
      override: { balance: 1n, nonce: 0n, code: other, stateDiff: new Map([[1n, 1n]]) },
      becomes: [1n, 0n, other, 1n, 22n, 0n],
    },
  ])('replaces $name and keeps the rest', ({ override, becomes }) => {
    expect(portrait(overridden(override))).toEqual(becomes)
  })

  test('creates an account that does not exist', () => {
    const world = overridden({ code, balance: 5n }, addressOf(9))
    expect(portrait(world, addressOf(9))).toEqual([5n, 0n, code, 0n, 0n, 0n])
    expect(accountAt(world, addressOf(9))?.codeHash).toBe(keccakHash(code))
  })

  test.each<{ name: string; override: AccountOverride; isThere: boolean }>([
    { name: 'no member', override: {}, isThere: false },
    { name: 'no slot', override: { stateDiff: new Map() }, isThere: false },
    {
      name: 'a move alone',
      override: { movePrecompileToAddress: addressOf(8) },
      isThere: false,
    },
    { name: 'a balance of 0', override: { balance: 0n }, isThere: true },
    { name: 'no code', override: { code: new Uint8Array() }, isThere: true },
    { name: 'no storage', override: { state: new Map() }, isThere: true },
    { name: 'a slot of 0', override: { stateDiff: new Map([[1n, 0n]]) }, isThere: true },
  ])('with $name creates an account: $isThere', ({ override, isThere }) => {
    const world = overridden(override, addressOf(9))
    expect(accountAt(world, addressOf(9)) !== undefined).toBe(isThere)
    expect(stateRoot(world) !== stateRoot(furnished())).toBe(isThere)
  })

  test('does not change the world that it starts from', () => {
    const world = furnished()
    const root = stateRoot(world)
    applyStateOverrides(world, new Map([[address, { balance: 1n, state: new Map(), code: other }]]))
    expect([stateRoot(world), portrait(world)]).toEqual([root, [10n, 2n, code, 11n, 22n, 0n]])
  })

  test('that is left out returns the same world', () => {
    const world = furnished()
    expect(applyStateOverrides(world, undefined)).toBe(world)
  })

  test.each<{ override: AccountOverride; word: string; message: RegExp }>([
    {
      override: { state: new Map(), stateDiff: new Map() },
      word: 'INVALID_PARAMS',
      message: /either state .* or stateDiff/,
    },
    {
      override: { balance: 2n ** 256n },
      word: 'INVALID_PARAMS',
      message: /balance: expected 0 to 0xf+, got 115792/,
    },
    {
      override: { nonce: 2n ** 64n },
      word: 'INVALID_PARAMS',
      message: /nonce: expected 0 to 0xf{16}, got/,
    },
    {
      override: { stateDiff: new Map([[1n, 2n ** 256n]]) },
      word: 'INVALID_PARAMS',
      message: /storage value/,
    },
  ])('is refused when it is $override', ({ override, word: expected, message }) => {
    const error = { word: expected, message: expect.stringMatching(message) }
    expect(() => overridden(override)).toThrow(expect.objectContaining(error))
    expect(() => overridden(override)).toThrow(address)
  })
})

describe('movedPrecompiles', () => {
  const [one, two, far] = [addressOf(1), addressOf(2), addressOf(0xfa4)]

  test('is empty if no override moves one', () => {
    const overrides = new Map([
      [address, { code }],
      [far, { code }],
    ])
    expect(movedPrecompiles(undefined, 'osaka', { behaviour: OWN_BEHAVIOUR })).toBeUndefined()
    expect(
      movedPrecompiles(new Map([[far, { code }]]), 'osaka', { behaviour: OWN_BEHAVIOUR }),
    ).toBeUndefined()
    expect(
      movedPrecompiles(new Map([[two, { balance: 1n }]]), 'osaka', { behaviour: OWN_BEHAVIOUR }),
    ).toBeUndefined()
    expect(movedPrecompiles(overrides, 'osaka', { behaviour: OWN_BEHAVIOUR })).toEqual(
      new Map([[one, null]]),
    )
  })

  test('are moved as asked, and leave their old address to code', () => {
    const overrides = new Map<typeof one, AccountOverride>([
      [one, { movePrecompileToAddress: far, code }],
      [two, { code }],
    ])
    const expected = new Map([
      [one, far],
      [two, null],
    ])
    expect(movedPrecompiles(overrides, 'osaka', { behaviour: OWN_BEHAVIOUR })).toEqual(expected)
  })

  test.each<{
    name: string
    overrides: [typeof one, AccountOverride][]
    word: string
    message: RegExp
  }>([
    {
      name: 'an account that is none',
      overrides: [[far, { movePrecompileToAddress: one }]],
      word: 'INVALID_PARAMS',
      message: /is not a precompile of osaka/,
    },
    {
      name: 'a move to where it is',
      overrides: [[one, { movePrecompileToAddress: one }]],
      word: 'PRECOMPILE_MOVED_TO_ITSELF',
      message: /expected another address, got the same/,
    },
    {
      name: 'two moves to one address',
      overrides: [
        [one, { movePrecompileToAddress: far }],
        [two, { movePrecompileToAddress: far }],
      ],
      word: 'PRECOMPILES_MOVED_TOGETHER',
      message: /is already moved to/,
    },
    {
      name: 'a destination with an override of its own, before it',
      overrides: [
        [far, {}],
        [one, { movePrecompileToAddress: far }],
      ],
      word: 'INVALID_PARAMS',
      message: /without an override of its own/,
    },
    {
      name: 'a destination with an override of its own, after it',
      overrides: [
        [one, { movePrecompileToAddress: two }],
        [two, { balance: 1n }],
      ],
      word: 'INVALID_PARAMS',
      message: /without an override of its own/,
    },
  ])('are refused for $name', ({ overrides, word: expected, message }) => {
    const error = { word: expected, message: expect.stringMatching(message) }
    const make = (): unknown =>
      movedPrecompiles(new Map(overrides), 'osaka', { behaviour: OWN_BEHAVIOUR })
    expect(make).toThrow(expect.objectContaining(error))
  })

  test('are those of the hardfork: later precompiles cannot be moved', () => {
    const overrides = new Map([[addressOf(5), { movePrecompileToAddress: far }]])
    expect(() => movedPrecompiles(overrides, 'homestead', { behaviour: OWN_BEHAVIOUR })).toThrow(
      /not a precompile of homestead/,
    )
  })
})

describe('a block override', () => {
  const environment: BlockEnvironment = {
    chainId: 33n,
    hardfork: 'osaka',
    number: 10n,
    timestamp: 1000n,
    coinbase: addressOf(1),
    gasLimit: 30_000_000n,
    difficulty: 1n,
    prevRandao: word(1),
    baseFee: 7n,
    excessBlobGas: 0n,
    slotNumber: 0n,
    blockHash: (number) => (number < 10n ? word(Number(number)) : undefined),
  }

  test.each<{ overrides: BlockOverrides; changed: Partial<BlockEnvironment> }>([
    { overrides: { number: 99n }, changed: { number: 99n } },
    { overrides: { timestamp: 5n }, changed: { timestamp: 5n } },
    { overrides: { gasLimit: 1n }, changed: { gasLimit: 1n } },
    { overrides: { coinbase: addressOf(7) }, changed: { coinbase: addressOf(7) } },
    { overrides: { prevRandao: word(7) }, changed: { prevRandao: word(7) } },
    { overrides: { baseFee: 0n }, changed: { baseFee: 0n } },
    { overrides: { difficulty: 0n }, changed: { difficulty: 0n } },
    { overrides: { blobBaseFee: 0n }, changed: { blobBaseFee: 0n } },
    { overrides: { blobBaseFee: 10n ** 18n }, changed: { blobBaseFee: 10n ** 18n } },
    { overrides: {}, changed: {} },
  ])('$overrides changes that and nothing else', ({ overrides, changed }) => {
    const { blockHash, ...rest } = applyBlockOverrides(environment, overrides, () => 'osaka')
    const { blockHash: before, ...unchanged } = environment
    expect(rest).toEqual({ ...unchanged, ...changed })
    expect(blockHash(3n)).toBe(before(3n))
  })

  test('can give a block number another hash', () => {
    const overrides = { blockHash: new Map([[3n, word(33)]]) }
    const { blockHash } = applyBlockOverrides(environment, overrides, () => 'osaka')
    expect([blockHash(3n), blockHash(4n), blockHash(11n)]).toEqual([word(33), word(4), undefined])
  })

  test('runs under the hardfork of the number and time that it names', () => {
    const hardforkAt = (number: bigint): 'london' | 'osaka' => (number < 5n ? 'london' : 'osaka')
    expect(applyBlockOverrides(environment, { number: 4n }, hardforkAt).hardfork).toBe('london')
  })

  test('of the beacon root is for whole blocks', () => {
    const apply = (): unknown =>
      applyBlockOverrides(environment, { beaconRoot: word(1) }, () => 'osaka')
    expect(apply).toThrow(/beaconRoot: expected none, got 0x0+1/)
  })

  test('is refused when a number does not fit a header', () => {
    const apply = (): unknown =>
      applyBlockOverrides(environment, { timestamp: 2n ** 64n }, () => 'osaka')
    expect(apply).toThrow(/timestamp: expected 0 to 0xf{16}, got 18446744073709551616/)
  })
})
