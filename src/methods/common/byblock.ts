// Pairs of methods that differ in how a block is named: by hash, or by number or tag.
import type { BlockReference } from '../../node/ledger/references.ts'
import { type Declaration, type Example, type Param, param } from '../../rpc/method.ts'
import { blockHash } from '../wire/decodeblock.ts'
import { type MethodContext, type Methods, method } from './context.ts'
import { UNKNOWN } from './examples.ts'

type InBlock = readonly [Param<BlockReference>, ...Param<unknown>[]]

/** As a declaration of the method by number. The result for an unknown block is null. */
type Pair<P extends InBlock, R> = Omit<
  Declaration<MethodContext, P, R | null>,
  'name' | 'aliases' | 'params' | 'example'
> & {
  readonly names: readonly [byHash: string, byNumber: string]
  readonly aliases?: readonly [byHash: string, byNumber: string]
  readonly params: P
  readonly example: Example
}

export function byHashAndNumber<const P extends InBlock, R>(pair: Pair<P, R>): Methods {
  const { names, aliases = [], params, example, ...rest } = pair
  const unknown = { params: [UNKNOWN, ...example.params.slice(1)], result: null }
  const byHash = [param('hash', blockHash), ...params.slice(1)] as unknown as P
  const made = (i: 0 | 1, own: P, shown: Example): Methods[number] =>
    method({
      ...rest,
      name: names[i],
      aliases: aliases.slice(i, i + 1),
      params: own,
      example: shown,
    })
  return [made(0, byHash, unknown), made(1, params, example)]
}
