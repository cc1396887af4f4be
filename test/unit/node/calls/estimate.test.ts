// Estimates of transactions with authorizations: they suffice, and one gas less does not.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { addressOfKey } from '../../../../src/core/crypto/crypto.ts'
import {
  type Address,
  bytesFromHex,
  hexFromBytes,
  wordFromBigint,
  ZERO_ADDRESS,
} from '../../../../src/core/hex.ts'
import { call } from '../../../../src/node/calls/call.ts'
import { estimateGas } from '../../../../src/node/calls/estimate.ts'
import type { CallRequest } from '../../../../src/node/calls/request.ts'
import type { Chain } from '../../../../src/node/chain/chain.ts'
import { latest } from '../../../../src/node/ledger/references.ts'
import type { Authorization } from '../../../../src/protocol/transactions/transaction.ts'
import { parseGenesis } from '../../../../src/state/genesis.ts'
import { authorizationsOf } from '../../../fuzz/cases.ts'
import { assemble } from '../../../support/evm/bytecode.ts'
import { allEngines } from '../../../support/evm/engines.ts'
import { account, testChain } from '../chains.ts'
import { addressOf } from '../records.ts'

const KEYS = Array.from({ length: 100 }, (_, at) =>
  bytesFromHex(wordFromBigint(0xabcdefn + BigInt(at))),
)
const AUTHORITIES = KEYS.map(addressOfKey)
/** These are in the genesis. */
const EXISTING = AUTHORITIES.slice(0, 4)
const [PLAIN, STRANGER, IDLE, STORING, CLEARING] = [0xb0b, 0x57a9, 0xc0, 0xc1, 0xc2].map(addressOf)

const RECIPIENTS = [PLAIN, STRANGER, IDLE, STORING, CLEARING, AUTHORITIES[0], AUTHORITIES[4]]

const genesis = parseGenesis({
  alloc: {
    ...Object.fromEntries([PLAIN, ...EXISTING].map((address) => [address, { balance: '0x1' }])),
    [IDLE!]: { balance: '0x0', code: '0x00' },
    [STORING!]: { balance: '0x0', code: hexFromBytes(assemble('7 1 SSTORE')) },
    [CLEARING!]: {
      balance: '0x0',
      code: hexFromBytes(assemble('7 1 SSTORE 0 1 SSTORE 7 2 SSTORE')),
    },
  },
})

interface Authorized {
  readonly signer: number
  readonly to: Address
  readonly nonce: number
}

/** Indices of signers from 4 on are of new accounts. Some repeat, some have a wrong nonce. */
const authorized: fc.Arbitrary<Authorized> = fc.record({
  signer: fc.nat(7),
  to: fc.constantFrom(IDLE!, STORING!, PLAIN!, ZERO_ADDRESS),
  nonce: fc.constantFrom(0, 0, 0, 1),
})

const lists = fc.oneof(
  { weight: 9, arbitrary: fc.array(authorized, { minLength: 1, maxLength: 6 }) },
  { weight: 1, arbitrary: fc.constant(KEYS.map((_, signer) => ({ signer, to: IDLE!, nonce: 0 }))) },
)

const requests: fc.Arbitrary<CallRequest> = fc.record({
  to: fc.constantFrom(...RECIPIENTS),
  value: fc.constantFrom(0n, 1n),
  data: fc.constantFrom(0, 0, 2_000).map((length) => new Uint8Array(length)),
  authorizationList: lists.map((list) => list.flatMap(signedBy)),
})

function signedBy({ signer, to, nonce }: Authorized): Authorization[] {
  return authorizationsOf({ delegations: [{ address: to, nonce }] }, KEYS[signer])
}

/** False too if the gas is too little to begin. */
async function suffices(chain: Chain, request: CallRequest, gas: bigint): Promise<boolean> {
  try {
    return (await call(chain, { ...request, gas }, latest)).failure === undefined
  } catch {
    return false
  }
}

describe.each(allEngines())('on the engine: $name', ({ jobsWithin }) => {
  test.each(['bpo2', 'amsterdam'] as const)(
    'an estimate suffices, and one less fails, for any authorizations and recipient: %s',
    async (hardfork) => {
      const executor = { ...jobsWithin(2 ** 27), close: () => undefined }
      const chain = await testChain({ hardfork, genesis, executor })
      const from = account(chain, 0)
      await fc.assert(
        fc.asyncProperty(requests, async (given) => {
          const request = { from, ...given }
          const gas = await estimateGas(chain, request, latest)
          expect(await suffices(chain, request, gas)).toBe(true)
          expect(await suffices(chain, request, gas - 1n)).toBe(false)
        }),
        { seed: 7702, numRuns: 60 },
      )
      chain.close()
    },
  )
})

describe('an estimate under amsterdam that fails', () => {
  /** Returns 24,576 bytes of code, which cost 37,600,000 state gas. */
  const deploying = bytesFromHex('0x6160005ff3')
  const looping = assemble('L: @L JUMP')
  const capped =
    'out of gas: it had all 16777216 execution gas that a transaction may have; more gas pays for state only'

  test.each([
    [
      'of state names the limit of the block',
      deploying,
      {},
      '30000000, the gas limit of the block',
    ],
    ['of state names the gas given', deploying, { gas: 2n ** 24n }, '16777216, the gas given'],
    [
      'of state names what the sender can pay',
      deploying,
      { gasPrice: 5n * 10n ** 14n },
      '20000000, the most that',
    ],
  ])('for want %s', async (_, data, more, limit) => {
    const chain = await testChain({ hardfork: 'amsterdam', gasLimit: 30_000_000n })
    const request = { from: account(chain, 0), data, ...more }
    const estimate = async (): Promise<bigint> => estimateGas(chain, request, latest)
    await expect(estimate()).rejects.toThrow(`out of gas: it needs more than ${limit}`)
  })

  test('for want of execution gas says that more gas does not help', async () => {
    const chain = await testChain({ hardfork: 'amsterdam' })
    const estimate = async (): Promise<bigint> =>
      estimateGas(chain, { from: account(chain, 0), data: looping }, latest)
    await expect(estimate()).rejects.toThrow(capped)
  })
})
