// Signed transactions of Alice, who signs the same way every time.
import { privateKeyToAccount } from 'viem/accounts'
import { BOB } from './requests.ts'

const KEY = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80'

const account = privateKeyToAccount(KEY)

const PLAIN = {
  type: 'eip1559',
  chainId: 31_337,
  nonce: 0,
  gas: 21_000n,
  maxFeePerGas: 3_000_000_000n,
  maxPriorityFeePerGas: 1_000_000_000n,
  to: BOB,
} as const

/** A transfer that is fine on anvil and Hardhat. */
export const RAW_TRANSFER: string = await account.signTransaction(PLAIN)

/** The same, signed for another chain. */
export const RAW_FOREIGN: string = await account.signTransaction({ ...PLAIN, chainId: 1 })

/** A legacy transfer that is replay-protected for another chain. */
export const RAW_FOREIGN_LEGACY: string = await account.signTransaction({
  type: 'legacy',
  chainId: 1,
  nonce: 0,
  gas: 21_000n,
  gasPrice: 3_000_000_000n,
  to: BOB,
})

/** With a nonce that leaves a gap. */
export const RAW_GAP: string = await account.signTransaction({ ...PLAIN, nonce: 5 })

/** A creation without code. */
export const RAW_EMPTY: string = await account.signTransaction({
  ...PLAIN,
  to: undefined,
  gas: 60_000n,
})

/** With a signature that nobody made. */
export const RAW_UNSIGNED: string = `${RAW_TRANSFER.slice(0, -64)}${'f'.repeat(64)}`

/** Of type 1. */
export const RAW_ACCESS_LIST: string = await account.signTransaction({
  type: 'eip2930',
  chainId: PLAIN.chainId,
  nonce: 0,
  gas: 21_000n,
  gasPrice: 3_000_000_000n,
  to: BOB,
  accessList: [],
})
