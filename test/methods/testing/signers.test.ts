// anvil_impersonateSignature: contracts believe the signature in everything that runs, on every engine, and with the state.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  addressOfKey,
  keccak256,
  signatureBytes,
  signDigest,
} from '../../../src/core/crypto/crypto.ts'
import { concatBytes, hexFromBytes, paddedBytes } from '../../../src/core/hex.ts'
import { createDevchain, type Devchain } from '../../../src/devchain.ts'
import { assemble } from '../../support/evm/bytecode.ts'

const SENDER = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'
const ALICE = '0x00000000000000000000000000000000000a11ce'
const BOB = '0x0000000000000000000000000000000000000b0b'
const CONTRACT = `0x${'a1'.repeat(20)}`

const KEY = keccak256(Uint8Array.of(1))
const DIGEST = keccak256(Uint8Array.of(2))
const MADE = signDigest(DIGEST, KEY)
const MAKER = addressOfKey(KEY)
const SIGNATURE = hexFromBytes(signatureBytes(MADE))

const word = (value: bigint): Uint8Array => paddedBytes(value, 32)
const wordOf = (address: string): string => hexFromBytes(word(BigInt(address)))

/** Asks ecrecover what it is asked, returns the answer, and writes down whether it was Alice, which costs more gas. */
const PROGRAM = `CALLDATASIZE 0 0 CALLDATACOPY 32 512 CALLDATASIZE 0 1 GAS STATICCALL POP
  512 MLOAD ${ALICE} EQ 1 SSTORE 32 512 RETURN`

const INPUT = hexFromBytes(
  concatBytes(DIGEST, word(27n + BigInt(MADE.yParity)), word(MADE.r), word(MADE.s)),
)
const ASK = { from: SENDER, to: CONTRACT, data: INPUT, gas: '0x30000' }

interface Trace {
  readonly output: string
}

interface Receipt {
  readonly gasUsed: string
  readonly blockNumber: string
}

describe.each(['reference', 'interpreter', 'auto'] as const)(
  'anvil_impersonateSignature with --evm %s',
  (evm) => {
    let devchain: Devchain
    let fresh: unknown
    const ask = <T>(method: string, ...params: unknown[]): Promise<T> =>
      devchain.request({ method, params }) as Promise<T>
    const called = (): Promise<string> => ask('eth_call', ASK, 'latest')
    const impersonate = (signer: string): Promise<unknown> =>
      ask('anvil_impersonateSignature', SIGNATURE, signer)
    const send = (): Promise<string> => ask('eth_sendTransaction', ASK)
    const receiptOf = (hash: string): Promise<Receipt> => ask('eth_getTransactionReceipt', hash)

    beforeAll(async () => {
      devchain = await createDevchain({ evm, clock: 'frozen' })
      await ask('hardhat_setCode', CONTRACT, hexFromBytes(assemble(PROGRAM)))
      fresh = await ask('evm_snapshot')
    })
    afterAll(() => devchain.close())
    beforeEach(() => ask('evm_revert', fresh))

    test('applies to calls on any block, estimates and simulated blocks', async () => {
      await ask('evm_mine')
      const cheap = BigInt(await ask<string>('eth_estimateGas', ASK))
      expect(await called()).toBe(wordOf(MAKER))
      await impersonate(ALICE)
      for (const block of ['earliest', 'latest', 'pending']) {
        expect(await ask('eth_call', ASK, block), block).toBe(wordOf(ALICE))
      }
      const overridden = await ask('eth_call', ASK, 'latest', {}, { number: '0x99' })
      expect(overridden).toBe(wordOf(ALICE))
      expect(BigInt(await ask<string>('eth_estimateGas', ASK))).toBeGreaterThan(cheap + 15_000n)
      const [block] = await ask<{ calls: { returnData: string }[] }[]>('eth_simulateV1', {
        blockStateCalls: [{ calls: [ASK] }],
      })
      expect(block?.calls[0]?.returnData).toBe(wordOf(ALICE))
      const { accessList } = await ask<{ accessList: unknown }>('eth_createAccessList', ASK)
      expect(accessList).toEqual([{ address: CONTRACT, storageKeys: [wordOf('0x1')] }])
    })

    test('applies to mined transactions and their traces', async () => {
      await impersonate(ALICE)
      const hash = await send()
      expect(await ask('eth_getStorageAt', CONTRACT, '0x1', 'latest')).toBe(wordOf('0x1'))
      const { output } = await ask<Trace>('debug_traceTransaction', hash, { tracer: 'callTracer' })
      expect(output).toBe(wordOf(ALICE))
      const [frame] = await ask<{ result: Trace }[]>('trace_transaction', hash)
      expect(frame?.result.output).toBe(wordOf(ALICE))
      const traced = await ask<Trace>('debug_traceCall', ASK, 'latest', { tracer: 'callTracer' })
      expect(traced.output).toBe(wordOf(ALICE))
    })

    test('does not change the trace of an older block', async () => {
      const before = await send()
      await impersonate(ALICE)
      const meanwhile = await send()
      await impersonate(BOB)
      const after = await send()
      const traced = async (hash: string): Promise<string> =>
        (await ask<Trace>('debug_traceTransaction', hash, { tracer: 'callTracer' })).output
      expect(await traced(before)).toBe(wordOf(MAKER))
      expect(await traced(meanwhile)).toBe(wordOf(ALICE))
      expect(await traced(after)).toBe(wordOf(BOB))
      const { blockNumber } = await receiptOf(meanwhile)
      const index = { txIndex: '0x1', tracer: 'callTracer' }
      // a message of now, on the accounts of then
      const call = await ask<Trace>('debug_traceCall', ASK, blockNumber, index)
      expect(call.output).toBe(wordOf(BOB))
    })

    test('applies to a block that is mined again after a reorg', async () => {
      await impersonate(ALICE)
      const hash = await send()
      const { gasUsed } = await receiptOf(hash)
      await ask('devchain_reorg', '0x1')
      await ask('evm_mine')
      expect((await receiptOf(hash)).gasUsed).toBe(gasUsed)
      await ask('evm_revert', fresh)
      expect(BigInt((await receiptOf(await send())).gasUsed)).toBeLessThan(BigInt(gasUsed))
    })

    test('is undone by a revert and by a reset', async () => {
      const id = await ask('evm_snapshot')
      await impersonate(ALICE)
      const inner = await ask('evm_snapshot')
      await impersonate(BOB)
      expect(await called()).toBe(wordOf(BOB))
      await ask('evm_revert', inner)
      expect(await called()).toBe(wordOf(ALICE))
      await ask('evm_revert', id)
      expect(await called()).toBe(wordOf(MAKER))
      await impersonate(ALICE)
      await ask('evm_reset')
      await ask('hardhat_setCode', CONTRACT, hexFromBytes(assemble(PROGRAM)))
      expect(await called()).toBe(wordOf(MAKER))
      // what the other tests begin with went with the reset
      fresh = await ask('evm_snapshot')
    })
  },
)

test('anvil_impersonateSignature on one chain does not affect another of the same program', async () => {
  const [one, other] = await Promise.all([createDevchain(), createDevchain()])
  for (const { request } of [one, other]) {
    const params = [CONTRACT, hexFromBytes(assemble(PROGRAM))]
    await request({ method: 'hardhat_setCode', params })
  }
  await one.request({ method: 'anvil_impersonateSignature', params: [SIGNATURE, ALICE] })
  const call = { method: 'eth_call', params: [ASK, 'latest'] }
  expect(await one.request(call)).toBe(wordOf(ALICE))
  expect(await other.request(call)).toBe(wordOf(MAKER))
  await Promise.all([one.close(), other.close()])
})

describe('anvil_impersonateSignature accepts a signature', () => {
  const { r, s, yParity } = MADE
  const short = hexFromBytes(concatBytes(word(r), word(s)))
  const compact = hexFromBytes(concatBytes(word(r), word((BigInt(yParity) << 255n) | s)))
  const form = (v: number): string => `${short}${v.toString(16).padStart(2, '0')}`
  test.each([
    { what: 'v as 27 or 28', params: [form(27 + yParity), ALICE] },
    { what: 'v as 0 or 1', params: [form(yParity), ALICE] },
    { what: 'compact', params: [compact, ALICE] },
    { what: 'capital letters', params: [`0x${SIGNATURE.slice(2).toUpperCase()}`, ALICE] },
    { what: 'signature and address in one list', params: [[SIGNATURE, ALICE]] },
  ])('in the form of $what', async ({ params }) => {
    const devchain = await createDevchain()
    await devchain.request({
      method: 'hardhat_setCode',
      params: [CONTRACT, hexFromBytes(assemble(PROGRAM))],
    })
    await devchain.request({ method: 'anvil_impersonateSignature', params })
    const answer = await devchain.request({ method: 'eth_call', params: [ASK, 'latest'] })
    expect(answer).toBe(wordOf(ALICE))
    await devchain.close()
  })
})
