// Points in time: blocks of the chain, and of branches that reverts and reorgs left.
import { memoizeByIdentity } from '../../core/lrucache.ts'
import { client, type Lifetime } from './chain.ts'
import { hex } from './format.ts'
import type { Route } from './route.ts'
import type { RpcBlock, RpcLeftBlock } from './shapes.ts'
import { useRead, useReads, useView } from './use.ts'

/** A way from the genesis to a last block: the chain itself, or a branch that leaves it. */
export interface TimeBranch {
  /** The number of its first block that is off the chain. */
  readonly first: number
  readonly last: number
  /** Those off the chain, oldest first. */
  readonly left: readonly RpcLeftBlock[]
}

/** A block as methods take it: number, hash or tag. */
export type BlockParam = string | { readonly blockHash: string }

/** A block as links take it: by number, or off the chain by hash. */
type Place = number | string

export type Point = Readonly<{ number: number; branch: TimeBranch }>

/** A block of a branch, as methods take it: number or hash. */
export function blockOn({ first, left }: TimeBranch, number: number): BlockParam {
  const hash = left[number - first]?.hash
  return hash === undefined ? hex(number) : { blockHash: hash }
}

/** The same for links. */
export function placeOn({ first, left }: TimeBranch, number: number): Place {
  return left[number - first]?.hash ?? number
}

/** How a block is read. */
export function blockCall(place: Place): readonly [string, readonly unknown[]] {
  return typeof place === 'string'
    ? ['eth_getBlockByHash', [place, false]]
    : ['eth_getBlockByNumber', [hex(place), false]]
}

/** Null if there is none; undefined also for no place. */
export function useBlock(place: Place | undefined, span: Lifetime): RpcBlock | null | undefined {
  return useReads<RpcBlock | null>(place === undefined ? [] : [blockCall(place)], span)[0]?.value
}

/** Newest blocks of a branch off the chain whose transactions and events are searched. */
const MOST_SEARCHED = 100

/** Blocks with transactions, off the chain and up to a point, oldest first. */
export function leftUpTo({ branch, number }: Point): readonly RpcLeftBlock[] {
  const isUpTo = (each: RpcLeftBlock): boolean =>
    Number(each.number) <= number && each.transactions.length > 0
  return branch.left.filter(isUpTo).slice(-MOST_SEARCHED)
}

/** The state at a route's point, as methods take it. A number that the chain lacks, as after a reset, is the newest block. */
export function stateOf({ at }: Route): BlockParam {
  if (typeof at === 'string') return { blockHash: at }
  return at === undefined || at >= (client.view.head?.number ?? 0) ? 'latest' : hex(at)
}

/** Branches off the chain, one for each last block, those that were left last come first; undefined until they are read. */
export function useBranches(areWanted = true): readonly TimeBranch[] | undefined {
  const method = areWanted ? 'devchain_leftBlocks' : ''
  const { value } = useRead<readonly RpcLeftBlock[]>(method, [], 'now')
  return value && branchesOf(value)
}

/** The same objects for the same blocks. */
const branchesOf = memoizeByIdentity((all: readonly RpcLeftBlock[]): readonly TimeBranch[] => {
  const byHash = new Map(all.map((each) => [each.hash, each]))
  const parents = new Set(all.map(({ parentHash }) => parentHash))
  return all.filter(({ hash }) => !parents.has(hash)).map((tip) => branchTo(tip, byHash))
})

function branchTo(tip: RpcLeftBlock, byHash: ReadonlyMap<string, RpcLeftBlock>): TimeBranch {
  const left: RpcLeftBlock[] = []
  for (let each: RpcLeftBlock | undefined = tip; each; each = byHash.get(each.parentHash))
    left.push(each)
  left.reverse()
  return { first: Number(left[0]!.number), last: Number(tip.number), left }
}

/** Undefined while it is read, null for a block that is not known any more. */
export function usePoint({ at }: Route): Point | null | undefined {
  const { head } = useView()
  const isHash = typeof at === 'string'
  const branches = useBranches(isHash)
  const isHere = (each: RpcLeftBlock | RpcBlock): boolean => each.hash === at
  const branch = branches?.find(({ left }) => left.some(isHere))
  // it may be on the chain again, or the list has room for newer blocks only
  const block = useBlock(isHash && branches && !branch ? at : undefined, 'now')
  const sibling = useBlock(block ? Number(block.number) : undefined, 'now')
  if (head === undefined) return undefined
  const chain = { first: head.number + 1, last: head.number, left: [] }
  if (!isHash) return { number: Math.min(at ?? head.number, head.number), branch: chain }
  if (branch !== undefined) return { number: Number(branch.left.find(isHere)!.number), branch }
  if (!block || sibling === undefined) return block === null ? null : undefined
  const number = Number(block.number)
  const own = { first: number, last: number, left: [block] }
  return { number, branch: sibling?.hash === at ? chain : own }
}
