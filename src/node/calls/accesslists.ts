// Access lists: created for a message, merged and counted.
import type { Address, Hash } from '../../core/hex.ts'
import { getOrMake } from '../../core/lrucache.ts'
import type { Outcome } from '../../evm/executor.ts'
import type { AccessListEntry } from '../../protocol/transactions/transaction.ts'
import type { Chain } from '../chain/chain.ts'
import type { BlockReference } from '../ledger/references.ts'
import { type CallOptions, contextAt, messageOf, runMessage } from './callcontext.ts'
import type { CallRequest } from './request.ts'

export interface AccessListAnswer {
  readonly accessList: readonly AccessListEntry[]
  readonly gasUsed: bigint
  readonly outcome: Outcome
}

/** Runs after which a list that still grows is returned: each run may touch other slots. */
const MAX_LIST_ROUNDS = 16

/** Sender, callee and precompiles are warm anyway and are listed only with slots. */
export async function createAccessList(
  chain: Chain,
  request: CallRequest,
  reference: BlockReference,
  options?: CallOptions,
): Promise<AccessListAnswer> {
  const context = await contextAt(chain, reference, options)
  const message = messageOf(context, request)
  let accessList = message.accessList
  for (let round = 1; ; round += 1) {
    const outcome = await runMessage(context, { ...message, accessList }, { reportsAccess: true })
    const touched = union(accessList, outcome.accessed)
    // a longer list changes the gas costs, which may change the path of the run
    if (sizeOf(touched) === sizeOf(accessList) || round === MAX_LIST_ROUNDS) {
      return { accessList, gasUsed: outcome.gasUsed, outcome }
    }
    accessList = touched
  }
}

function union(
  known: readonly AccessListEntry[],
  touched: readonly AccessListEntry[],
): AccessListEntry[] {
  const keys = new Map<Address, Set<Hash>>()
  for (const { address, storageKeys } of [...known, ...touched]) {
    const all = getOrMake(keys, address, () => new Set())
    for (const key of storageKeys) all.add(key)
  }
  return [...keys].map(([address, storageKeys]) => ({ address, storageKeys: [...storageKeys] }))
}

function sizeOf(list: readonly AccessListEntry[]): number {
  return list.reduce((sum, { storageKeys }) => sum + 1 + storageKeys.length, 0)
}
