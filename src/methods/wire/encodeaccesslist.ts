// Encodes access lists of blocks.
import { paddedBytes } from '../../core/hex.ts'
import type {
  AccountChanges,
  BlockAccessList,
  Changed,
  SlotChanges,
} from '../../protocol/blocks/accesslist.ts'
import { address, data, list } from '../../rpc/primitives.ts'
import type { Encoder } from '../../rpc/schema.ts'
import { field, plain, quantityResult, shape } from './encodeobject.ts'

const word: Encoder<bigint> = {
  name: '32-byte word',
  json: { title: '32-byte word', type: 'string', pattern: '^0x[0-9a-f]{64}$' },
  encode: (value) => data.encode(paddedBytes(value, 32)),
}

function changes<T>(
  name: string,
  member: string,
  encoder: Encoder<T>,
): Encoder<readonly Changed<T>[]> {
  return list(
    shape<Changed<T>>(name, {
      index: field(quantityResult, ([index]) => index),
      [member]: field(encoder, ([, value]) => value),
    }),
  )
}

/** @see https://github.com/ethereum/execution-apis/blob/main/src/schemas/block-access-list.yaml */
export const blockAccessList: Encoder<BlockAccessList> = list(
  shape<AccountChanges>('account access', {
    address: field(address, (account) => account.address),
    storageChanges: field(
      list(
        shape<SlotChanges>('slot changes', {
          key: field(word, ([slot]) => slot),
          changes: field(changes('storage change', 'value', word), ([, each]) => each),
        }),
      ),
      ({ storageChanges }) => storageChanges,
    ),
    ...plain({
      storageReads: list(word),
      balanceChanges: changes('balance change', 'value', quantityResult),
      nonceChanges: changes('nonce change', 'value', quantityResult),
      codeChanges: changes('code change', 'code', data),
    }),
  }),
)
