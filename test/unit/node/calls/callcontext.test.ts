// The fees that a call without a price sees: nothing, as in geth and hardhat, unless the chain behaves otherwise.
import { beforeEach, describe, expect, test } from 'vitest'
import { bigintFromBytes, type Hash } from '../../../../src/core/hex.ts'
import { createAccessList } from '../../../../src/node/calls/accesslists.ts'
import { call, callMany } from '../../../../src/node/calls/call.ts'
import { estimateGas } from '../../../../src/node/calls/estimate.ts'
import type { BlockOverrides } from '../../../../src/node/calls/overrides.ts'
import { traceMessage } from '../../../../src/node/calls/replay.ts'
import type { CallRequest } from '../../../../src/node/calls/request.ts'
import type { Chain } from '../../../../src/node/chain/chain.ts'
import { latest, pendingReference } from '../../../../src/node/ledger/references.ts'
import { assemble, RETURN_WORD } from '../../../support/evm/bytecode.ts'
import { account, testChain } from '../chains.ts'

const FEE = 10n ** 9n
const GAS = 100_000n

let chain: Chain
beforeEach(async () => {
  chain = await testChain({ baseFee: FEE })
})

/** The word that an operation pushes in a call. */
async function word(
  operation: string,
  request: CallRequest = {},
  ...[reference = latest, blockOverrides]: Partial<[typeof latest, BlockOverrides]>
): Promise<bigint> {
  const data = assemble(`${operation} ${RETURN_WORD}`)
  const outcome = await call(chain, { data, ...request }, reference, { blockOverrides })
  expect(outcome.failure).toBeUndefined()
  return bigintFromBytes(outcome.output)
}

describe('BASEFEE in a call', () => {
  test('is 0 without a price', async () => {
    const payer = { from: account(chain, 0), gas: GAS }
    expect(await word('BASEFEE')).toBe(0n)
    expect(await word('BASEFEE', { gasPrice: 0n })).toBe(0n)
    expect(await word('BASEFEE', {}, pendingReference)).toBe(0n)
    expect(await word('BASEFEE', { ...payer, gasPrice: 2n * FEE })).toBe(FEE)
    expect(await word('BASEFEE', { ...payer, maxFeePerGas: 2n * FEE })).toBe(FEE)
    expect(await word('BASEFEE', { ...payer, maxPriorityFeePerGas: 1n })).toBe(FEE)
  })

  test('is the overridden one, with or without a price', async () => {
    expect(await word('BASEFEE', {}, latest, { baseFee: 6n })).toBe(6n)
    expect(await word('BASEFEE', {}, latest, { number: 6n })).toBe(0n)
  })

  test('is the block’s if the chain behaves so', async () => {
    chain = await testChain({ baseFee: FEE, behaviour: { callsSeeBaseFee: 'all' } })
    expect(await word('BASEFEE')).toBe(FEE)
    expect(await word('GASPRICE')).toBe(0n)
  })

  test('is 0 for any price if the chain behaves so, and the price is computed with 0', async () => {
    chain = await testChain({ baseFee: FEE, behaviour: { callsSeeBaseFee: 'none' } })
    const payer = { from: account(chain, 0), gas: GAS }
    const [gasPrice, maxFeePerGas, tip] = [2n * FEE, 2n * FEE, 5n]
    expect(await word('BASEFEE', { ...payer, gasPrice })).toBe(0n)
    expect(await word('GASPRICE', { ...payer, gasPrice })).toBe(gasPrice)
    expect(await word('BASEFEE', { ...payer, maxFeePerGas })).toBe(0n)
    expect(await word('GASPRICE', { ...payer, maxFeePerGas })).toBe(0n)
    const tipped = { ...payer, maxFeePerGas, maxPriorityFeePerGas: tip }
    expect(await word('GASPRICE', tipped)).toBe(tip)
    expect(await word('BASEFEE', { ...payer, gasPrice }, latest, { baseFee: 6n })).toBe(6n)
  })

  test('is overridden for each bundle alone', async () => {
    const data = assemble(`BASEFEE ${RETURN_WORD}`)
    const payer = { from: account(chain, 0), gas: GAS, gasPrice: 2n * FEE }
    const transactions = [{ data }, { ...payer, data }, { data }]
    const [outcomes] = await callMany(chain, [{ transactions }], latest)
    expect(outcomes?.map(({ output }) => bigintFromBytes(output))).toEqual([0n, FEE, 0n])
  })

  test('is the same under a tracer', async () => {
    const request = { data: assemble(`BASEFEE ${RETURN_WORD}`) }
    const { outcome } = await traceMessage(chain, { request, reference: latest }, () => ({}))
    expect(bigintFromBytes(outcome.output)).toBe(0n)
  })

  test('is the block’s in estimates and access lists, as for a transaction', async () => {
    const estimate = (program: string) => estimateGas(chain, { data: assemble(program) }, latest)
    const [stored, unchanged] = [await estimate('BASEFEE 0 SSTORE'), await estimate('0 0 SSTORE')]
    expect(stored - unchanged).toBeGreaterThan(17_000n)
    const reads = { data: assemble('BASEFEE SLOAD') }
    const { accessList } = await createAccessList(chain, reads, latest)
    expect(accessList[0]?.storageKeys.map(BigInt)).toEqual([FEE])
  })
})

describe('BLOBBASEFEE in a call', () => {
  const versionedHashes = [`0x01${'07'.repeat(31)}` as Hash]
  const to = '0x00000000000000000000000000000000000b10b5' as const

  /** In a call of a contract, as blobs create none. */
  async function price(blobs: CallRequest['blobs'], blobBaseFee?: bigint): Promise<bigint> {
    const code = assemble(`BLOBBASEFEE ${RETURN_WORD}`)
    const request = { from: account(chain, 0), to: to as CallRequest['to'], blobs }
    const stateOverrides = new Map([[to as NonNullable<CallRequest['to']>, { code }]])
    const blockOverrides = { blobBaseFee }
    const { output } = await call(chain, request, latest, { stateOverrides, blockOverrides })
    return bigintFromBytes(output)
  }

  test('is 0 for blobs without a fee, otherwise the block’s', async () => {
    expect(await price(undefined)).toBe(1n)
    expect(await price({ versionedHashes })).toBe(0n)
    expect(await price({ versionedHashes, maxFeePerBlobGas: 0n })).toBe(0n)
    expect(await price({ versionedHashes, maxFeePerBlobGas: 5n })).toBe(1n)
  })

  test('is the overridden one', async () => {
    expect(await price({ versionedHashes }, 7n)).toBe(7n)
    expect(await price(undefined, 7n)).toBe(7n)
    expect(await price(undefined, 0n)).toBe(0n)
  })
})
