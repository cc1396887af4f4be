// Encodes accounts.

import { data } from '../../rpc/primitives.ts'
import type { Encoder } from '../../rpc/schema.ts'
import type { Account } from '../../state/world.ts'
import { plainShape, quantityResult } from './encodeobject.ts'

/** As in reth. */
export const accountInfo: Encoder<Account> = plainShape('account info', {
  balance: quantityResult,
  nonce: quantityResult,
  code: data,
})
