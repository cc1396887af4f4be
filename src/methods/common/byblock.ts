// Methods about a block: null for an unknown one, and in pairs that differ in how it is named.
import { type MaybePromise, whenThere } from '../../core/promises.ts'
import { findRecord } from '../../node/chain/lookup.ts'
import type { BlockRecord } from '../../node/ledger/blockrecord.ts'
import type { BlockReference } from '../../node/ledger/references.ts'
import { type Example, type Param, param } from '../../rpc/method.ts'
import { blockHash, isPending } from '../wire/decodeblock.ts'
import { UNKNOWN } from '../wire/examples.ts'
import { type Declared, type MethodContext, type Methods, method } from './context.ts'

export interface BlockLookup {
  readonly record: BlockRecord
  readonly pending: boolean
}

/** A handler that returns null for an unknown block. */
export function ofBlock<A extends readonly unknown[], R>(
  handle: (context: MethodContext, found: BlockLookup, ...others: A) => MaybePromise<R>,
): (context: MethodContext, block: BlockReference, ...others: A) => MaybePromise<R | null> {
  return (context, block, ...others) =>
    whenThere(
      findRecord(context.chain, block, context.caller),
      (record): MaybePromise<R | null> => {
        if (record === undefined) return null
        return handle(context, { record, pending: isPending(block) }, ...others)
      },
    )
}

type InBlock = readonly [Param<BlockReference>, ...Param<unknown>[]]

/** As a declaration of the method by number. The result for an unknown block is null. */
type Pair<P extends InBlock, R> = Omit<Declared<P, R | null>, 'aliases' | 'params' | 'example'> & {
  readonly aliases?: readonly [byHash: string, byNumber: string]
  readonly params: P
  readonly example: Example
}

export function byHashAndNumber<const P extends InBlock, R>(
  hashName: string,
  numberName: string,
  pair: Pair<P, R>,
): Methods {
  const { params, example, aliases = [], ...rest } = pair
  const shown = { params: [UNKNOWN, ...example.params.slice(1)], result: null }
  const byHash = [param('hash', blockHash), ...params.slice(1)] as unknown as P
  return [
    method(hashName, { ...rest, aliases: aliases.slice(0, 1), params: byHash, example: shown }),
    method(numberName, { ...rest, aliases: aliases.slice(1), params, example }),
  ]
}
