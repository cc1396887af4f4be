// What a block from elsewhere has to ask of the system contracts, and to read of deposits: blocks that a network would not
// take are not imported, also the first one, where only its difficulty shows whose rules it follows.
import { describe, expect, test } from 'vitest'
import {
  bytesFromHex,
  concatBytes,
  EMPTY_BYTES,
  hexFromBytes,
  paddedBytes,
} from '../../../../src/core/hex.ts'
import type { ChainOptions } from '../../../../src/node/chainoptions.ts'
import type { UnsignedTransaction } from '../../../../src/protocol/transactions/transaction.ts'
import {
  CONSOLIDATION_REQUESTS,
  DEPOSIT_CONTRACT,
  WITHDRAWAL_REQUESTS,
} from '../../../../src/state/predeploys.ts'
import { assemble } from '../../../support/evm/bytecode.ts'
import { blockOf, imported, optionsWith } from '../firstblocks.ts'

const LOGS_ITS_INPUT = assemble(
  'CALLDATASIZE 0 0 CALLDATACOPY 0x649bbc62d0e31342afea4e5cd82d4049e7e1ee912fc0889aa790803be39038c5 CALLDATASIZE 0 LOG1',
)

const CONTRACTS = [
  ['withdrawals', WITHDRAWAL_REQUESTS.address],
  ['consolidations', CONSOLIDATION_REQUESTS.address],
] as const

const FAILING: readonly (readonly [string, Uint8Array])[] = [
  ['reverts', assemble('0 0 REVERT')],
  ['throws', assemble('INVALID')],
  ['runs out of gas', assemble('JUMPDEST 0 JUMP')],
]

describe.each(CONTRACTS)('a block whose contract of %s', (_name, address) => {
  test('is the official one is accepted', async () => {
    const options = optionsWith({})
    expect(await imported(options, await blockOf(options))).toBe('taken by the rules of: network')
  })

  test.each(FAILING)('%s is invalid', async (_way, code) => {
    const options = optionsWith({ [address]: code })
    expect(await imported(options, await blockOf(options))).toBe(
      `block 1: requests: the call of the system contract at ${address} failed`,
    )
  })

  test.each([
    ['is not there', undefined],
    ['has no code', EMPTY_BYTES],
  ] as const)('%s is invalid', async (_way, code) => {
    const options = optionsWith({ [address]: code })
    expect(await imported(options, await blockOf(options))).toBe(
      `block 1: requests: there is no system contract at ${address}`,
    )
  })

  test('has no code is accepted on a local chain', async () => {
    const ways: ChainOptions[] = [{ difficulty: 1n }, { accounts: 2 }]
    for (const way of ways) {
      const options = optionsWith({ [address]: EMPTY_BYTES }, way)
      expect(await imported(options, await blockOf(options))).toBe('taken by the rules of: own')
    }
  })
})

/** The fields of a deposit as the contract lays them out: five offsets, then each with its length before it. */
function deposit(): Uint8Array {
  const parts = [48, 32, 8, 96, 8].map((length, i) => new Uint8Array(length).fill(i + 1))
  const padded = parts.map((part) =>
    concatBytes(
      paddedBytes(BigInt(part.length), 32),
      part,
      new Uint8Array((32 - (part.length % 32)) % 32),
    ),
  )
  const offsets = [160, 256, 320, 384, 512].map((offset) => paddedBytes(BigInt(offset), 32))
  return concatBytes(...offsets, ...padded)
}

function withWord(at: number, value: bigint): Uint8Array {
  const data = deposit()
  data.set(paddedBytes(value, 32), at)
  return data
}

const LAYOUTS: readonly (readonly [string, Uint8Array])[] = [
  ...[0, 32, 64, 96, 128].map((at) => [`offset ${at / 32}`, withWord(at, 321n)] as const),
  ...[160, 256, 320, 384, 512].map((at) => [`length at ${at}`, withWord(at, 7n)] as const),
  ['offset beyond 64 bits', withWord(0, 2n ** 64n + 160n)],
  ['a byte less', deposit().subarray(0, 575)],
  ['a byte more', concatBytes(deposit(), Uint8Array.of(0))],
  ['nothing', EMPTY_BYTES],
]

const DEPOSITS = { [DEPOSIT_CONTRACT]: LOGS_ITS_INPUT }

function depositOf(data: Uint8Array): Partial<UnsignedTransaction> {
  return { to: DEPOSIT_CONTRACT, data }
}

describe('a block with a deposit', () => {
  test('from the official contract is accepted, and counts in the hash of the requests', async () => {
    const options = optionsWith(DEPOSITS)
    const empty = await blockOf(options)
    const block = await blockOf(options, depositOf(deposit()))
    expect(await imported(options, block)).toBe('taken by the rules of: network')
    expect(hexFromBytes(block)).not.toContain(hexFromBytes(empty.slice(-32)).slice(2))
  })

  test.each(LAYOUTS)('of another layout is invalid: %s', async (_name, data) => {
    const options = optionsWith(DEPOSITS)
    expect(await imported(options, await blockOf(options, depositOf(data)))).toBe(
      'block 1: requests: a log of the deposit contract is not a valid deposit',
    )
  })

  test('of another layout is accepted on a local chain', async () => {
    const options = optionsWith(DEPOSITS, { difficulty: 1n })
    const block = await blockOf(options, depositOf(bytesFromHex('0x01')))
    expect(await imported(options, block)).toBe('taken by the rules of: own')
  })
})
