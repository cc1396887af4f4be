// anvil: signatures that ecrecover takes as made by a chosen account.

import {
  type Signature,
  signatureFromBytes,
  signatureFromCompact,
} from '../../core/crypto/crypto.ts'
import { DevchainError } from '../../core/errors.ts'
import type { Address } from '../../core/hex.ts'
import { impersonateSignature } from '../../node/accounts/accounts.ts'
import { changeAccounts } from '../../node/commands/settings.ts'
import { optional, param } from '../../rpc/method.ts'
import { address, data } from '../../rpc/primitives.ts'
import type { Decoder } from '../../rpc/schema.ts'
import { command } from '../common/command.ts'
import type { Methods } from '../common/context.ts'
import { STRANGER } from '../common/examples.ts'

/** The last byte of a signature. */
const VALUES_OF_V: readonly unknown[] = [0, 1, 27, 28]

/** 65 bytes r ‖ s ‖ v, or the 64 of EIP-2098. */
const signature: Decoder<Signature> = {
  name: 'signature',
  json: { title: 'signature', type: 'string', pattern: '^0x[0-9a-fA-F]{128}([0-9a-fA-F]{2})?$' },
  decode: (value, path) => {
    const bytes = data.decode(value, path)
    if (bytes.length === 64) return signatureFromCompact(bytes)
    const v = bytes[64]
    if (bytes.length === 65 && VALUES_OF_V.includes(v)) return signatureFromBytes(bytes)
    const got = bytes.length === 65 ? `65 bytes ending in ${v}` : `${bytes.length} bytes`
    const message = `${path}: expected 65 bytes ending in v (0, 1, 27 or 28), or the 64 of a compact signature, got ${got}`
    throw new DevchainError('INVALID_PARAMS', message)
  },
}

/** A signature, or a list of one and the address it is to be of: anvil takes both as one parameter. */
const signatureOrPair: Decoder<readonly [Signature, Address | undefined]> = {
  name: 'signature, or list of signature and address',
  json: {
    anyOf: [
      signature.json,
      { type: 'array', prefixItems: [signature.json, address.json], minItems: 2, maxItems: 2 },
    ],
  },
  decode: (value, path) => {
    if (!Array.isArray(value)) return [signature.decode(value, path), undefined]
    if (value.length === 2) {
      return [signature.decode(value[0], `${path}[0]`), address.decode(value[1], `${path}[1]`)]
    }
    const message = `${path}: expected a signature, or a list of one and an address, got a list of ${value.length}`
    throw new DevchainError('INVALID_PARAMS', message)
  },
}

export const anvilSignatureMethods: Methods = [
  command({
    name: 'anvil_impersonateSignature',
    aliases: ['hardhat_impersonateSignature'],
    summary: 'Lets a signature count as made by an account, for contracts that ask ecrecover.',
    params: [param('signature', signatureOrPair), optional('account', address)],
    example: { params: [`0x${'11'.repeat(64)}1b`, STRANGER], result: null },
    tell: ([[, paired], given]) => `signature counts as of ${paired ?? given}`,
    handle: async ({ chain }, [made, paired], given) => {
      const signer = paired ?? given
      if (signer === undefined || (paired !== undefined && given !== undefined)) {
        const got = signer === undefined ? 'none' : 'two'
        const message = `account: expected one 20-byte address, in the list or after the signature, got ${got}`
        throw new DevchainError('INVALID_PARAMS', message)
      }
      await chain.update((state) =>
        changeAccounts(state, impersonateSignature(state.accounts, made, signer)),
      )
    },
  }),
]
