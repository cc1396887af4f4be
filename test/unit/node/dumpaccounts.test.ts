// The accounts of a dump: one by one over what the chain has, or all at once where that is little.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Address, bytesFromHex } from '../../../src/core/hex.ts'
import { WorldReader } from '../../../src/node/dump/accounts.ts'
import { readValues } from '../../../src/node/dump/pieces.ts'
import {
  emptyAccount,
  emptyStorage,
  emptyWorld,
  stateRoot,
  type World,
  withAccount,
  withBalance,
  withCode,
  withoutAccount,
  withSlots,
} from '../../../src/state/world.ts'

const address = (n: number): Address => `0x${n.toString(16).padStart(40, 'a')}` as Address

/** Accounts 0 to 9 are those of the chain. */
const few = [...Array(10).keys()].reduce<World>(
  (world, n) => withBalance(world, address(n), BigInt(n + 1)),
  emptyWorld,
)
const OTHERS = [...Array(1_001).keys()].map((n) => address(1_000 + n))
const many = OTHERS.reduce<World>((world, each) => withBalance(world, each, 1n), few)

interface Given {
  readonly nonce: number
  readonly balance: bigint
  readonly code: string
  readonly storage: Readonly<Record<string, string>>
}

const account: fc.Arbitrary<Given> = fc.record({
  nonce: fc.constantFrom(0, 0, 0, 1, 7),
  balance: fc.constantFrom(0n, 1n, 0xabcn, 10n ** 22n, 2n ** 256n - 1n),
  code: fc.constantFrom('0x', '0x', '0x', '0x6001'),
  storage: fc.constantFrom({}, {}, {}, { '0x1': '0x2' }, { '0x1': '0x0' }),
})

const dump = fc.uniqueArray(fc.tuple(fc.nat(30), fc.boolean(), account), {
  selector: ([n]) => n,
  maxLength: 30,
})

function textOf(given: readonly (readonly [string, Given])[], space?: string): string {
  const accounts = Object.fromEntries(
    given.map(([key, each]) => [key, { ...each, balance: `0x${each.balance.toString(16)}` }]),
  )
  return JSON.stringify({ accounts }, undefined, space)
}

async function worldOf(base: World, text: string, keepsEmpty: boolean, chunk: number) {
  const reader = new WorldReader(base, keepsEmpty)
  async function* chunks(): AsyncIterableIterator<Uint8Array> {
    const bytes = Buffer.from(text)
    for (let at = 0; at < bytes.length; at += chunk) yield bytes.subarray(at, at + chunk)
  }
  const take = (path: string, name: string | number, value: unknown): Promise<void> | undefined =>
    path === 'accounts' ? reader.addAccount(String(name), value) : undefined
  await readValues(chunks(), take, reader.plain)
  return { world: (await reader.worlds()).world, isAtOnce: reader.plain !== undefined }
}

function changed(base: World, n: number, given: Given, keepsEmpty: boolean): World {
  const { nonce, balance, code, storage } = given
  const slots = new Map(Object.entries(storage).map(([slot, v]) => [BigInt(slot), BigInt(v)]))
  const kept = withSlots(emptyStorage, slots)
  const isEmpty = nonce === 0 && balance === 0n && code === '0x' && kept.isEmpty
  if (isEmpty && !keepsEmpty) return withoutAccount(base, address(n))
  const plain = { ...emptyAccount(address(n)), nonce: BigInt(nonce), balance, storage: kept }
  const world = withAccount(base, plain)
  return code === '0x' ? world : withCode(world, address(n), bytesFromHex(code))
}

test.each([
  ['few accounts', few, true],
  ['many accounts', many, false],
] as const)(
  'a dump replaces accounts of a chain with %s, and leaves the others',
  async (_, base, atOnce) => {
    await fc.assert(
      fc.asyncProperty(
        dump,
        fc.boolean(),
        fc.constantFrom(undefined, ' '),
        fc.integer({ min: 1, max: 500 }),
        async (given, keepsEmpty, space, chunk) => {
          const named = given.map(([n, isUpper, each]) => {
            const digits = address(n).slice(2)
            return [`0x${isUpper ? digits.toUpperCase() : digits}`, each] as const
          })
          const { world, isAtOnce } = await worldOf(base, textOf(named, space), keepsEmpty, chunk)
          const expected = given.reduce((w, [n, , each]) => changed(w, n, each, keepsEmpty), base)
          expect([isAtOnce, stateRoot(world)]).toEqual([atOnce, stateRoot(expected)])
        },
      ),
      { seed: 32, numRuns: 100 },
    )
  },
)

test('an account that is there twice is refused by its address', async () => {
  const one = `"${address(50)}":{"nonce":0,"balance":"0x1","code":"0x","storage":{}}`
  await expect(worldOf(few, `{"accounts":{${one},${one}}}`, false, 1000)).rejects.toThrow(
    `accounts: expected each address once, got ${address(50)} twice`,
  )
})
