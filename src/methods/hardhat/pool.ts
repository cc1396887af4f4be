// hardhat: dropping a transaction that waits.

import { dropTransaction } from '../../node/mining/drop.ts'
import { param } from '../../rpc/method.ts'
import { boolean, hashOfTransaction } from '../../rpc/primitives.ts'
import { type Methods, method } from '../common/context.ts'
import { UNKNOWN } from '../common/examples.ts'

export const hardhatPoolMethods: Methods = [
  method({
    name: 'hardhat_dropTransaction',
    summary: 'Takes a transaction that waits out of the pool; false when none of that hash waits.',
    params: [param('hash', hashOfTransaction)],
    result: boolean,
    example: { params: [UNKNOWN], result: false },
    effects: 'chain',
    tell: ([wanted]) => `dropped ${wanted}`,
    handle: ({ chain }, wanted) => chain.update((state) => dropTransaction(state, wanted)),
  }),
]
