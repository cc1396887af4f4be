// ots: what the Otterscan explorer asks of a node besides the usual methods, in level 8 of its API. Quantities are hex
// everywhere; where the nodes that serve it differ (logs left out of receipts, `value` null in calls that move none), the
// leaner form is taken, as the explorer asks for whole receipts where it shows them.

import { creationOf } from '../../node/calls/appearances.ts'
import { TraceBudget } from '../../node/calls/replay.ts'
import { recordAt } from '../../node/chain/lookup.ts'
import { executedAt } from '../../node/ledger/blocktree.ts'
import { latest } from '../../node/ledger/references.ts'
import { optional, param } from '../../rpc/method.ts'
import { address, boolean, nullable } from '../../rpc/primitives.ts'
import type { Encoder } from '../../rpc/schema.ts'
import { codeAt } from '../../state/world.ts'
import { type Methods, method } from '../common/context.ts'
import { ACCOUNT } from '../common/examples.ts'
import { blockReference } from '../wire/decodeblock.ts'
import { creation } from '../wire/encodeexplorer.ts'

/** Of the API: the explorer asks for it before all else. */
const LEVEL = 8

const level: Encoder<number> = {
  name: 'number',
  json: { title: 'number', type: 'integer' },
  encode: (value) => value,
}

export const otsAccountMethods: Methods = [
  method({
    name: 'ots_getApiLevel',
    summary: 'The level of the explorer’s API that is served, as a plain number.',
    params: [],
    result: level,
    example: { params: [], result: LEVEL },
    handle: () => LEVEL,
  }),
  method({
    name: 'ots_hasCode',
    summary: 'Whether an account has code.',
    params: [param('address', address), optional('block', blockReference, latest)],
    result: boolean,
    example: { params: [ACCOUNT, 'latest'], result: false },
    onFork: 'here',
    handle: async ({ chain, caller }, account, block) =>
      codeAt((await recordAt(chain, block, caller.isWaiting)).world, account).length > 0,
  }),
  method({
    name: 'ots_getContractCreator',
    summary: 'Who made a contract, and in which transaction; null for what no transaction made.',
    params: [param('address', address)],
    result: nullable(creation),
    example: { params: [ACCOUNT], result: null },
    onFork: 'creator',
    handle: async ({ chain, options }, contract) => {
      const found = await creationOf(chain, contract, new TraceBudget(options.traceLimit))
      if (found === undefined) return null
      return { hash: executedAt(found.place).transaction.hash, creator: found.creator }
    },
  }),
]
