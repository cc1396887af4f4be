// Encodes accounts.

import { data } from '../../rpc/primitives.ts'
import type { Encoder } from '../../rpc/schema.ts'
import type { Account } from '../../state/world.ts'
import { field, quantityResult, shape } from './encodeobject.ts'

/** As in reth. */
export const accountInfo: Encoder<Account> = shape<Account>('account info', {
  balance: field(quantityResult, ({ balance }) => balance),
  nonce: field(quantityResult, ({ nonce }) => nonce),
  code: field(data, ({ code }) => code),
})
