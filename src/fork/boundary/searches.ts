// Searches for transactions across the fork block: those mined here, and the network's.
import { quantityFromBigint } from '../../core/hex.ts'
import type { Json } from '../../rpc/schema.ts'
import { orIfRefused } from '../client/client.ts'
import { bytesIn, isQuantity, quantity, unexpected } from '../network/answers.ts'
import { type BoundaryRequest, below, headNumber } from './places.ts'
import { answerHere } from './retrace.ts'
import { askNetwork } from './shapes.ts'

/** The newest transactions first. */
interface Page {
  readonly txs: readonly { readonly blockNumber: string }[]
  readonly receipts: readonly Json[]
  readonly firstPage: boolean
  readonly lastPage: boolean
}

const EMPTY_PAGE: Page = { txs: [], receipts: [], firstPage: true, lastPage: true }

/** Undefined: the method itself refuses the parameters. */
function readSearch(
  params: readonly unknown[],
): { account: string; block: bigint; size: number } | undefined {
  const [account, block, size] = params as [string, string, string]
  const count = Number(size)
  if (count < 1 || count > 1_000) return undefined
  return { account, block: BigInt(block), size: count }
}

export async function searchBeforeOver(request: BoundaryRequest): Promise<Json | undefined> {
  const { upstream } = request
  const search = readSearch(request.params)
  if (search === undefined) return undefined
  const { account, block, size } = search
  const head = headNumber(request)
  const isOld = block !== 0n && block <= upstream.number + 1n && block <= head
  const here: Page = isOld
    ? { ...EMPTY_PAGE, firstPage: false }
    : ((await answerHere(request)) as never)
  const { txs, firstPage } = here
  if (txs.length >= size) return { ...here, lastPage: false } as unknown as Json
  const from = isOld ? block : upstream.number + 1n
  const there = await askedPage(request, [account, Number(from), size - txs.length], here)
  return joined(here, there, { firstPage, lastPage: there.lastPage })
}

export async function searchAfterOver(request: BoundaryRequest): Promise<Json | undefined> {
  const { upstream } = request
  const search = readSearch(request.params)
  if (search === undefined) return undefined
  const { account, block, size } = search
  if (block >= upstream.number && block !== 0n) return undefined
  const searchHere = async (count: number): Promise<Page> => {
    const params = [account, Number(upstream.number), count]
    return (await answerHere({ ...request, params })) as never
  }
  const own = await searchHere(size)
  const there = await askedPage(request, [account, Number(block), size], own)
  const count = there.txs.filter(({ blockNumber }) => BigInt(blockNumber) <= upstream.number).length
  const older: Page = {
    ...there,
    txs: there.txs.slice(there.txs.length - count),
    receipts: there.receipts.slice(there.receipts.length - count),
  }
  const { lastPage } = there
  if (count >= size) return joined(EMPTY_PAGE, older, { firstPage: false, lastPage })
  const newer = count === 0 ? own : await searchHere(size - count)
  return joined(newer, older, { firstPage: newer.firstPage, lastPage })
}

/** If the network lacks the method and something was found here: an empty page that is not the last. */
function askedPage(
  { method, upstream }: BoundaryRequest,
  params: readonly unknown[],
  here: Page,
): Promise<Page> {
  return orIfRefused(
    () => upstream.ask(method.name, params, undefined, readPage),
    (refusal) => {
      if (here.txs.length === 0) throw refusal
      return { ...EMPTY_PAGE, lastPage: false }
    },
  )
}

function readPage(answer: unknown): Page {
  const { txs, receipts, firstPage, lastPage } = (answer ?? {}) as Partial<Page>
  const isPage =
    Array.isArray(txs) &&
    txs.every((each) => isQuantity((each as Page['txs'][number] | null)?.blockNumber)) &&
    Array.isArray(receipts) &&
    receipts.length === txs.length &&
    [firstPage, lastPage].every((is) => typeof is === 'boolean')
  if (isPage) return answer as Page
  throw unexpected('a page of transactions', answer)
}

function joined(
  newer: Page,
  older: Page,
  place: { readonly firstPage: boolean; readonly lastPage: boolean },
): Json {
  const txs = [...newer.txs, ...older.txs]
  return { txs, receipts: [...newer.receipts, ...older.receipts], ...place } as unknown as Json
}

/** The network knows the transaction if the sender used the nonce before the fork. */
export async function sentOver(request: BoundaryRequest): Promise<Json | undefined> {
  const { params, upstream } = request
  const [sender, nonce] = params
  const { number } = upstream
  const asked = [sender, quantityFromBigint(number)]
  const used = await upstream.ask('eth_getTransactionCount', asked, number, quantity)
  if (used <= BigInt(String(nonce))) return undefined
  return await askOrSearch(async () => {
    const answer = await askNetwork(request, params)
    return typeof answer === 'string' ? answer : below(answer, upstream)
  })
}

/** The network knows the creator if the contract had code before the fork. */
export async function creatorOver(request: BoundaryRequest): Promise<Json | undefined> {
  const { params, upstream } = request
  const asked = [params[0], quantityFromBigint(upstream.number)]
  const code = await upstream.ask('eth_getCode', asked, upstream.number, bytesIn)
  return code === '0x' ? undefined : await askOrSearch(() => askNetwork(request, params))
}

/** If the network refuses or knows nothing, the method itself searches old states. */
async function askOrSearch(ask: () => Promise<Json>): Promise<Json | undefined> {
  return (await orIfRefused(ask)) ?? undefined
}
