// Pairs of methods that differ in how a block is named: by hash, or by number or tag.
import type { BlockReference } from '../../node/ledger/references.ts'
import { type Example, type Param, param } from '../../rpc/method.ts'
import { blockHash } from '../wire/decodeblock.ts'
import { UNKNOWN } from '../wire/examples.ts'
import { type Declared, type Methods, method } from './context.ts'

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
