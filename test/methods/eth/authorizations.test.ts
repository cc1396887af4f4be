// Authorizations (EIP-7702) as JSON: those that no transaction can have are refused by sends and calls alike.
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createDevchain, type Devchain } from '../../../src/devchain.ts'

const ALICE = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'
const BOB = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8'
const AUTHORIZATION = { chainId: '0x0', address: BOB, yParity: '0x0', r: '0x1', s: '0x1' }

let devchain: Devchain
beforeEach(async () => {
  devchain = await createDevchain()
})
afterEach(() => devchain.close())

describe.each(['eth_sendTransaction', 'eth_call', 'eth_estimateGas', 'eth_createAccessList'])(
  '%s',
  (method) => {
    const ask = (request: object): Promise<unknown> =>
      devchain.request({ method, params: [{ from: ALICE, ...request }] })

    test('takes the nonce of an authorization up to 64 bits, and no longer one', async () => {
      const withNonce = (nonce: bigint): object => ({
        to: BOB,
        authorizationList: [{ ...AUTHORIZATION, nonce: `0x${nonce.toString(16)}` }],
      })
      await expect(ask(withNonce(2n ** 64n - 1n))).resolves.toBeDefined()
      await expect(ask(withNonce(2n ** 64n))).rejects.toThrow(
        /authorizationList\[0\]\.nonce: expected a quantity below 2\^64, got/,
      )
    })

    test('refuses a list without authorizations, and a creation with some', async () => {
      await expect(ask({ to: BOB, authorizationList: [] })).rejects.toThrow(
        'empty authorization list',
      )
      const authorizationList = [{ ...AUTHORIZATION, nonce: '0x0' }]
      await expect(ask({ data: '0x00', authorizationList })).rejects.toThrow(
        'a type 4 transaction cannot create a contract',
      )
    })
  },
)
