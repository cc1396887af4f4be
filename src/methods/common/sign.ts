// Signing messages: the body of eth_sign and personal_sign.
import { messageDigest, signatureBytes, signDigest } from '../../core/crypto/crypto.ts'
import type { Address } from '../../core/hex.ts'
import { requireKey } from '../../node/accounts/accounts.ts'
import type { Chain } from '../../node/chain/chain.ts'

export function keyAt({ state, environment }: Chain, account: Address): Uint8Array {
  return requireKey(state.accounts, account, environment.now())
}

export function signMessage({ state }: Chain, key: Uint8Array, message: Uint8Array): Uint8Array {
  return signatureBytes(signDigest(messageDigest(message, state.config.options.chainName), key))
}
