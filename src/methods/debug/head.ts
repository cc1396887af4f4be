// debug: the head of the chain.

import { DevchainError } from '../../core/errors.ts'
import { headOf } from '../../node/ledger/blocktree.ts'
import { reorganize } from '../../node/mining/reorganize.ts'
import { param } from '../../rpc/method.ts'
import { quantity } from '../../rpc/primitives.ts'
import { nullCommand } from '../common/command.ts'
import { type Methods, method } from '../common/context.ts'
import { requireUnlinked } from '../common/peers.ts'
import { quantityResult } from '../wire/encodeobject.ts'

export const debugHeadMethods: Methods = [
  method({
    name: 'debug_wireProtocolQueueSize',
    summary: 'Messages that wait to be sent to peers, or to be handled.',
    params: [],
    result: quantityResult,
    example: { params: [], result: '0x0' },
    handle: ({ peers }) => BigInt(peers.now?.queueSize() ?? 0),
  }),
  nullCommand({
    name: 'debug_setHead',
    summary:
      'Takes the blocks after a number off the chain, as a reorganization does; their transactions are lost.',
    params: [param('number', quantity)],
    example: { params: ['0x0'], result: null },
    handle: async ({ chain, caller, peers }, number) => {
      requireUnlinked({ peers }, 'take blocks off the chain')
      const now = chain.environment.now()
      await chain.update(
        (state, executor) => {
          const head = headOf(state.tree).block.header.number
          if (number === head) return { state, value: undefined }
          if (number > head) throw beyondHead(number, head)
          const depth = head - number
          return reorganize(executor, state, { depth, blocks: [], requeue: false, now })
        },
        { isAwaited: caller.isWaiting },
      )
    },
  }),
]

function beyondHead(number: bigint, head: bigint): DevchainError {
  const message = `number: expected a block up to the newest, ${head}, got ${number}`
  return new DevchainError('INVALID_PARAMS', message)
}
