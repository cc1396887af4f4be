// Replays blocks of the network here if it refuses to trace or return them.
import { JsonText } from '../../rpc/jsontext.ts'
import type { Json } from '../../rpc/schema.ts'
import { orIfRefused, type RefusedByUpstream } from '../client/client.ts'
import { complete } from '../network/gather.ts'
import type { BoundaryRequest } from './places.ts'

export interface RefusedRequest {
  readonly upstream: BoundaryRequest['upstream']
  readonly number: bigint
  readonly refusal: RefusedByUpstream
  readonly make: () => Promise<Json>
}

export type Fallback = (refused: RefusedRequest) => Promise<Json>

/** For answers that follow from a block's transactions and the state before it. */
export const replayed: Fallback = ({ make }) => make()

/** @param number of the block */
export async function askOrMake(
  request: BoundaryRequest,
  number: bigint,
  ask: () => Promise<Json>,
  instead: Fallback | undefined,
): Promise<Json> {
  if (instead === undefined) return await ask()
  const make = (): Promise<Json> => makeHere(request, number)
  return await orIfRefused(
    async () => (await ask()) ?? (await make()),
    (refusal) => instead({ upstream: request.upstream, number, refusal, make }),
  )
}

export async function makeHere(request: BoundaryRequest, number: bigint): Promise<Json> {
  await request.upstream.recall(number)
  return await answerHere(request)
}

/** Characters. */
const LIMIT = 500_000_000

export async function answerHere({ method, context, params }: BoundaryRequest): Promise<Json> {
  const run = (): ReturnType<typeof method.run> => method.run(context, params, [])
  const result = await complete(run, { guesses: false })
  if (!(result instanceof JsonText)) return result
  return result.value?.() ?? (JSON.parse(await result.text(LIMIT)) as Json)
}
