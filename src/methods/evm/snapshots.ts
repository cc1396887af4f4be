// evm: snapshots, and going back to genesis.

import {
  RESET,
  reset,
  revertOptions,
  revertTo,
  takeSnapshot,
} from '../../node/commands/snapshots.ts'
import { param } from '../../rpc/method.ts'
import { boolean, quantity } from '../../rpc/primitives.ts'
import { nullCommand } from '../common/command.ts'
import { type Methods, method } from '../common/context.ts'
import { requireUnlinked } from '../common/peers.ts'
import { quantityResult } from '../wire/encodeobject.ts'

export const evmSnapshotMethods: Methods = [
  method({
    name: 'evm_snapshot',
    aliases: ['anvil_snapshot', 'hardhat_snapshot'],
    summary:
      'Remembers the chain as it is; evm_revert brings it back. Costs the same whatever its size.',
    params: [],
    result: quantityResult,
    example: { params: [], result: '0x1' },
    effects: 'chain',
    handle: async ({ chain }) => BigInt(await chain.update(takeSnapshot)),
  }),
  method({
    name: 'evm_revert',
    aliases: ['anvil_revert', 'hardhat_revert'],
    summary:
      'Brings back everything as it was at a snapshot, and drops later snapshots; false when the id is unknown.',
    params: [param('id', quantity)],
    result: { ...boolean, noun: 'snapshot' },
    example: { params: ['0x1'], result: false },
    effects: 'chain',
    handle: ({ chain, peers }, id) => {
      requireUnlinked({ peers }, 'revert to a snapshot')
      const options = revertOptions(chain.state, Number(id))
      return chain.update((state) => revertTo(state, Number(id)), options)
    },
  }),
  nullCommand({
    name: 'evm_reset',
    summary: 'Goes back to genesis; forgets snapshots, the pool and imported keys.',
    params: [],
    example: { params: [], result: null },
    handle: async ({ chain, peers }) => {
      requireUnlinked({ peers }, 'reset the chain')
      await chain.update(reset, RESET)
    },
  }),
]
