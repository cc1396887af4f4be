// Genesis files read as a stream, compared with the same JSON read as a whole and accounts inserted one by one.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Address } from '../../../src/core/hex.ts'
import { parseGenesis, worldFromAlloc } from '../../../src/state/genesis.ts'
import { addressKey } from '../../../src/state/keys.ts'
import { readGenesisStream } from '../../../src/state/packed/genesisfile.ts'
import {
  type Account,
  accountAt,
  accountsOf,
  stateRoot,
  withBalance,
  withoutAccount,
} from '../../../src/state/world.ts'

const ALICE = '0x00000000000000000000000000000000000a11ce' as Address

async function* inChunks(file: string, size: number): AsyncIterableIterator<Uint8Array> {
  const bytes = Buffer.from(file)
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

const streamed = (file: string, chunk = 7) =>
  readGenesisStream(inChunks(file, chunk), () => undefined)

const plainly = ({ storage, ...account }: Account): unknown => ({
  ...account,
  storage: [...storage.values()],
})

const hex = (digits: number): fc.Arbitrary<string> =>
  fc.stringMatching(new RegExp(`^[0-9a-fA-F]{${digits}}$`))
const prefixed = (text: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.tuple(fc.constantFrom('', '0x', '0X'), text).map(([start, end]) => start + end)

const amount = fc.oneof(
  fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }).map((value) => `0x${value.toString(16)}`),
  fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }).map(String),
  fc.nat(),
  fc.constantFrom('0x0', '0x00', '0', '007', `0x${'0'.repeat(70)}1`, '0xfF', '0X7f', '128'),
)

const account = fc.record(
  {
    balance: amount,
    nonce: fc.oneof(fc.nat(), fc.constantFrom('0x0', '0xffffffffffffffff')),
    code: prefixed(fc.nat(40).map((length) => 'c0de'.repeat(length))),
    storage: fc.dictionary(
      fc.nat(99).map((slot) => `0x${slot.toString(16)}`),
      prefixed(hex(6)),
      { maxKeys: 5 },
    ),
    comment: fc.string(),
  },
  { requiredKeys: [] },
)

const entries = fc.uniqueArray(
  fc.tuple(
    prefixed(hex(40)),
    fc.oneof(
      { weight: 3, arbitrary: fc.record({ balance: amount }) },
      { weight: 1, arbitrary: account },
    ),
  ),
  { maxLength: 150, selector: ([key]) => key.slice(-40).toLowerCase() },
)

describe('a genesis file read as a stream', () => {
  it('has the accounts and root of the same file read as a whole, and changes to the same worlds', async () => {
    await fc.assert(
      fc.asyncProperty(
        entries,
        fc.constantFrom(undefined, 1, '\t'),
        fc.integer({ min: 1, max: 5000 }),
        fc.array(fc.tuple(fc.nat(), fc.boolean()), { maxLength: 20 }),
        async (alloc, space, chunk, changes) => {
          const json = { config: { chainId: 5 }, alloc: Object.fromEntries(alloc), gasLimit: '0x5' }
          const file = JSON.stringify(json, undefined, space)
          const { alloc: inserted, ...header } = parseGenesis(JSON.parse(file))
          const { genesis } = await streamed(file, chunk)
          const { world, alloc: empty, ...own } = genesis!
          expect([own, empty.size]).toEqual([header, 0])
          let twin = worldFromAlloc(inserted)
          let packed = world!
          expect(stateRoot(packed)).toBe(stateRoot(twin))
          const addresses = [...inserted.keys()]
          for (const [choice, isGone] of alloc.length === 0 ? [] : changes) {
            const address = addresses[choice % addresses.length]!
            const change = (before: typeof twin): typeof twin =>
              isGone
                ? withoutAccount(before, address)
                : withBalance(before, address, BigInt(choice))
            twin = change(twin)
            packed = change(packed)
            expect(stateRoot(packed)).toBe(stateRoot(twin))
            expect(packed.accounts.proof(addressKey(address))).toEqual(
              twin.accounts.proof(addressKey(address)),
            )
          }
          expect([...accountsOf(packed)].map(plainly)).toEqual([...accountsOf(twin)].map(plainly))
          const from = addressKey(addresses[0] ?? ALICE)
          expect([...accountsOf(packed, from)].map(plainly)).toEqual(
            [...accountsOf(twin, from)].map(plainly),
          )
          for (const address of addresses) {
            expect(accountAt(packed, address)?.balance).toBe(accountAt(twin, address)?.balance)
          }
        },
      ),
      { seed: 30, numRuns: 150 },
    )
  })

  it.each([10_000, 20_000])('has the root of a trie of %i accounts', async (accounts) => {
    const alloc = Object.fromEntries(
      Array.from({ length: accounts }, (_, i) => [
        `0x${(i * 7919).toString(16).padStart(40, '0')}`,
        { balance: `${i}` },
      ]),
    )
    const counts: number[] = []
    const chunks = inChunks(JSON.stringify({ alloc }), 32_768)
    const { genesis } = await readGenesisStream(chunks, (count) => counts.push(count))
    expect(stateRoot(genesis!.world!)).toBe(
      stateRoot(worldFromAlloc(parseGenesis({ alloc }).alloc)),
    )
    expect(counts.length).toBeGreaterThan(10)
    expect(counts.at(-1)).toBe(accounts)
  })

  it.each([
    '{}',
    '\uFEFF{}',
    ' { "alloc" : { } } \n',
    '{"Alloc":{},"gasLimit":5}',
    '{"\\u0061lloc":{}}',
    '{"_comment":"} \\" , {","alloc":{}}',
    '{"alloc":{"00000000000000000000000000000000000a11CE":{"balance":"1"}},"config":{"a":[1,{"b":2}]}}',
  ])('may look as %j', async (file) => {
    expect((await streamed(file)).genesis?.world).toBeDefined()
    expect((await streamed(file, 1)).genesis?.world).toBeDefined()
  })

  it.each([
    '',
    '[]',
    '{',
    '{}{}',
    '{,}',
    '{"alloc":{},}',
    '{"alloc":{}',
    '{"alloc":{} "gasLimit":5}',
    '{"alloc":[]}',
    '{"alloc":{},"ALLOC":{}}',
    '{"gasLimit":"much"}',
    '{"gasLimit":5 5}',
    '{"alloc":{"0x12":{}}}',
    `{"alloc":{"${ALICE}":{"balance":"0x"}}}`,
    `{"alloc":{"${ALICE}":{"balance":"0x1""}}}`,
    `{"alloc":{"${ALICE}":{"balance":"0x1",}}}`,
    `{"alloc":{"${ALICE}":{"balance":"0x1${'0'.repeat(64)}"}}}`,
    `{"alloc":{"${ALICE}":{"balnce":"0x1"}}}`,
    `{"alloc":{"${ALICE}":{"balance":"0x1"},}}`,
    `{"alloc":{,"${ALICE}":{"balance":"0x1"}}}`,
  ])('is left to the whole reading, which refuses %j where it is wrong', async (file) => {
    expect(await streamed(file)).toEqual({ genesis: undefined })
  })

  it('names an address that is there twice', async () => {
    const file = `{"alloc":{"${ALICE}":{"balance":"1"},"${ALICE.slice(2)}":{"nonce":1}}}`
    expect(await streamed(file)).toEqual({ genesis: undefined, repeated: ALICE })
  })
})
