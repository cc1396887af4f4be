// debug: lookups in a state that changes, and what debug_freeOSMemory frees.
import { afterEach, beforeEach, expect, test } from 'vitest'
import { keccakHash } from '../../../src/core/crypto/crypto.ts'
import { bytesFromHex, paddedBytes } from '../../../src/core/hex.ts'
import { createDevchain, type Devchain } from '../../../src/devchain.ts'
import { nextTurn } from '../../support/waiting/turns.ts'

const CONTRACT = `0x${'c0'.repeat(20)}`
const OTHER = `0x${'c1'.repeat(20)}`

let devchain: Devchain

const ask = <T>(method: string, ...params: unknown[]): Promise<T> =>
  devchain.request({ method, params }) as Promise<T>

beforeEach(async () => {
  devchain = await createDevchain({ clock: 'frozen' })
})
afterEach(() => devchain.close())

test('debug_preimage finds a slot of any account until no account has it', async () => {
  const key = keccakHash(paddedBytes(0xabcn, 32))
  await ask('anvil_setStorageAt', OTHER, '0xabc', '0x1')
  expect(BigInt(await ask<string>('debug_preimage', key))).toBe(0xabcn)
  await ask('anvil_setStorageAt', OTHER, '0xabc', '0x0')
  await expect(ask('debug_preimage', key)).rejects.toThrow(`unknown preimage: ${key}`)
})

test('debug_dbGet and debug_codeByHash find code as long as an account has it', async () => {
  const code = '0x602a60005260206000f3'
  const hash = keccakHash(bytesFromHex(code))
  await ask('anvil_setCode', CONTRACT, code)
  // the key as text, as some tools write it
  const text = String.fromCharCode(0x63, ...bytesFromHex(hash))
  for (const key of [`0x63${hash.slice(2)}`, text]) expect(await ask('debug_dbGet', key)).toBe(code)
  expect(await ask('debug_codeByHash', hash)).toBe(code)
  await ask('anvil_setCode', CONTRACT, '0x')
  expect(await ask('debug_dbGet', text)).toBeNull()
})

test('debug_freeOSMemory collects garbage', async () => {
  const held = new Uint8Array(1_000)
  const [kept, lost] = [new WeakRef(held), new WeakRef(new Uint8Array(1_000))]
  // a WeakRef keeps what it was made of until the turn ends
  await nextTurn()
  await ask('debug_freeOSMemory')
  expect([kept.deref(), lost.deref()]).toEqual([held, undefined])
})

test('a block that a revert left runs again on accounts as they were set before it', async () => {
  const [from] = await ask<string[]>('eth_accounts')
  await ask('evm_mine')
  const snapshot = await ask('evm_snapshot')
  const code = '0x60005460005260206000f3'
  await ask('anvil_setCode', CONTRACT, code)
  await ask('anvil_setStorageAt', CONTRACT, '0x0', `0x${'7'.padStart(64, '0')}`)
  const hash = await ask<string>('eth_sendTransaction', { from, to: CONTRACT, gas: '0x30000' })
  const { hash: block } = await ask<{ hash: string }>('eth_getBlockByNumber', 'latest', false)
  await ask('evm_revert', snapshot)
  await ask('anvil_setCode', OTHER, '0x00')
  const before = { code, storage: { [`0x${'0'.repeat(64)}`]: `0x${'7'.padStart(64, '0')}` } }
  const options = { tracer: 'prestateTracer' }
  expect(await ask('debug_traceTransaction', hash, options)).toMatchObject({ [CONTRACT]: before })
  expect(await ask('trace_replayTransaction', hash)).toMatchObject({
    output: `0x${'7'.padStart(64, '0')}`,
  })
  expect(await ask('debug_storageRangeAt', block, 0, CONTRACT, '0x', 1)).toMatchObject({
    storage: { [keccakHash(new Uint8Array(32))]: { value: `0x${'7'.padStart(64, '0')}` } },
  })
  expect(await ask('debug_getModifiedAccountsByHash', block)).not.toContain(CONTRACT)
  expect(await ask('debug_executionWitness', block)).toMatchObject({
    codes: expect.arrayContaining([code]),
  })
})

test('a block off the chain whose accounts were set since is refused if it would run otherwise', async () => {
  const [from] = await ask<string[]>('eth_accounts')
  await ask('evm_mine')
  await ask('anvil_setCode', CONTRACT, '0x600054')
  const hash = await ask<string>('eth_sendTransaction', { from, to: CONTRACT, gas: '0x30000' })
  await ask('anvil_rollback')
  await ask('anvil_setCode', CONTRACT, '0x00')
  await expect(ask('debug_traceTransaction', hash, {})).rejects.toThrow(
    'accounts were set when it had left the chain',
  )
})
