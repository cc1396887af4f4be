// Block access lists against those of @ethereumjs/util.
import {
  type BALJSONBlockAccessList,
  createBlockLevelAccessListFromJSON,
  validateBlockAccessListJSONStructure,
} from '@ethereumjs/util'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Address, hexFromBytes, quantityFromBigint } from '../../../../src/core/hex.ts'
import {
  AccessParts,
  type AccountAccess,
  type AccountChanges,
  accessListOf,
  type Changed,
  encodeAccessList,
  excessOfItems,
  hashAccessList,
} from '../../../../src/protocol/blocks/accesslist.ts'

const slot = fc.constantFrom(0n, 1n, 127n, 128n, 2n ** 255n)
const amount = fc.constantFrom(0n, 1n, 255n, 256n, 2n ** 200n)

const access: fc.Arbitrary<Omit<AccountAccess, 'address'>> = fc.record({
  reads: fc.uniqueArray(slot, { maxLength: 3 }),
  writes: fc.uniqueArray(fc.tuple(slot, amount), { selector: ([key]) => key, maxLength: 3 }),
  balance: fc.option(amount, { nil: undefined }),
  nonce: fc.option(fc.constantFrom(1n, 2n, 300n), { nil: undefined }),
  code: fc.option(fc.constantFrom(Uint8Array.of(), Uint8Array.of(0x60, 0)), { nil: undefined }),
})

/** One access an account, as a run has, to so many accounts. */
const accessesTo = (accounts: number): fc.Arbitrary<AccountAccess[]> =>
  fc.uniqueArray(
    fc
      .tuple(fc.integer({ min: 0, max: accounts - 1 }), access)
      .map(([n, each]) => ({ ...each, address: addressOf(n) })),
    { selector: (each) => each.address, maxLength: 4 },
  )

const addressOf = (n: number): Address => `0x${String(n).padStart(2, 'a').repeat(20)}` as Address

const accesses = accessesTo(4)

test('a block access list is in order, and encoded and hashed as by @ethereumjs/util', () => {
  fc.assert(
    fc.property(fc.array(accesses, { maxLength: 4 }), (runs) => {
      const list = accessListOf(
        runs.map((each, index) => ({ index: BigInt(index), accesses: each })),
      )
      const json = list.map(jsonOf)
      validateBlockAccessListJSONStructure(json)
      const theirs = createBlockLevelAccessListFromJSON(json)
      expect(hexFromBytes(encodeAccessList(list))).toBe(hexFromBytes(theirs.serialize()))
      expect(hashAccessList(list)).toBe(hexFromBytes(theirs.hash()))
    }),
    { seed: 1 },
  )
})

test.each([4, 50])(
  'an access list that grows equals one that is made anew, at each of its lengths and with each start: %i accounts',
  (accounts) => {
    const few = accessesTo(accounts)
    const long = fc.array(few, { minLength: 14, maxLength: 30, size: 'max' })
    fc.assert(
      fc.property(
        few,
        few,
        long,
        few,
        fc.integer({ min: 2, max: 9 }),
        (first, start, runs, last, entered) => {
          const parts = new AccessParts()
          parts.add(first)
          parts.restart(start)
          const all = [start]
          for (const run of runs) {
            parts.add(run)
            all.push(run)
            if (all.length % entered === 0) parts.enter()
            const anew = accessListOf(
              [...all, last].map((each, index) => ({ index: BigInt(index), accesses: each })),
            )
            const { accessList, fields } = parts.listed('amsterdam', {}, last)
            expect(accessList?.map(jsonOf)).toEqual(anew.map(jsonOf))
            expect(fields.blockAccessListHash).toBe(hashAccessList(anew))
          }
        },
      ),
      { seed: 2, numRuns: 40 },
    )
  },
)

function jsonOf(changes: AccountChanges): BALJSONBlockAccessList[number] {
  const at = ([index]: Changed<unknown>) => ({ blockAccessIndex: quantityFromBigint(index) })
  return {
    address: changes.address,
    storageChanges: changes.storageChanges.map(([slot, slotChanges]) => ({
      slot: quantityFromBigint(slot),
      slotChanges: slotChanges.map((change) => ({
        ...at(change),
        postValue: quantityFromBigint(change[1]),
      })),
    })),
    storageReads: changes.storageReads.map(quantityFromBigint),
    balanceChanges: changes.balanceChanges.map((change) => ({
      ...at(change),
      postBalance: quantityFromBigint(change[1]),
    })),
    nonceChanges: changes.nonceChanges.map((change) => ({
      ...at(change),
      postNonce: quantityFromBigint(change[1]),
    })),
    codeChanges: changes.codeChanges.map((change) => ({
      ...at(change),
      newCode: hexFromBytes(change[1]),
    })),
  }
}

test('a block access list is too long beyond an item per 2,000 gas of the block limit', () => {
  const entry = { reads: [1n, 2n], writes: [[3n, 1n] as const] }
  const rest = { balance: undefined, nonce: undefined, code: undefined }
  const accesses = [{ address: `0x${'aa'.repeat(20)}` as Address, ...entry, ...rest }]
  const list = accessListOf([{ index: 0n, accesses }])
  expect(excessOfItems(list, 8_000n)).toBeUndefined()
  expect(excessOfItems(list, 7_999n)).toEqual({ items: 4, most: 3n })
})
