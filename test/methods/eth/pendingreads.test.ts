// Reads of a pending block that does not end: it is built for as long as one of its readers waits.
import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { methods } from '../../../src/methods/index.ts'
import { changesChain } from '../../../src/rpc/method.ts'
import { nextTurn } from '../../support/waiting/turns.ts'
import { ALICE, bodyOf, ENDLESS, type Stage, startEndless } from '../../support/wire/stage.ts'

const GIVEN_UP = { message: expect.stringContaining('the client disconnected') }

/** Places of parameters that name a block, by the names these have. */
const BLOCKS = ['block', 'newestBlock', 'start', 'end', 'first', 'last', 'stateContext']

/** Answered without the pending block's transactions being run. */
const AT_ONCE = [
  // the pool's nonce
  'eth_getTransactionCount',
  // a pending block has no receipts
  'eth_getBlockReceipts',
  // nor an access list
  'eth_getBlockAccessList',
  'eth_getBlockAccessListByBlockNumber',
  'eth_getBlockAccessListRaw',
]

/** A request of each method that takes a block, about the pending one. */
function requests(): [method: string, params: readonly unknown[]][] {
  return methods.flatMap(({ name, params, example, effects }) => {
    const at = params.findIndex((each) => BLOCKS.includes(each.name) && isTag(each.decoder))
    if (at < 0 || changesChain({ effects }) || AT_ONCE.includes(name)) return []
    const given = params.slice(0, at).map((_, i) => example.params[i] ?? null)
    return [[name, [...given, 'pending', ...example.params.slice(at + 1)]]]
  })
}

function isTag({
  decode,
}: {
  readonly decode: (value: unknown, path: string) => unknown
}): boolean {
  try {
    return (decode('pending', '') as { readonly tag?: unknown }).tag === 'pending'
  } catch {
    return false
  }
}

async function startPending(): Promise<Stage> {
  const stage = await startEndless({ noMining: true })
  await stage.ask('eth_sendTransaction', ENDLESS)
  return stage
}

/** A connection whose end the server sees at once. */
async function connected({ wsUrl }: Stage): Promise<WebSocket> {
  const socket = new WebSocket(wsUrl)
  await once(socket, 'open')
  return socket
}

describe('an endless pending block', () => {
  let stage: Stage
  beforeAll(async () => {
    stage = await startPending()
  })
  afterAll(async () => {
    await stage[Symbol.asyncDispose]()
  })

  test('can be read by several methods', () => {
    expect(requests().map(([name]) => name)).toContain('eth_getBlockByNumber')
    expect(requests().length).toBeGreaterThan(25)
  })

  test.each([
    ...requests(),
    ['eth_getLogs', [{ fromBlock: 'pending' }]],
    ['eth_getWork', []],
    ['mnr_getWork', []],
    ['eth_simulateV1', [{ blockStateCalls: [{}] }, 'pending']],
    ['eth_callMany', [[{ transactions: [{ to: ALICE }] }], { blockNumber: 'pending' }]],
  ] as [string, unknown[]][])(
    'is cancelled when its only reader disconnects: %s %j',
    async (method, params) => {
      const failure = stage.failure(method)
      const socket = await connected(stage)
      socket.send(bodyOf(method, params))
      await stage.ask('eth_chainId')
      socket.terminate()
      expect(await failure).toMatchObject(GIVEN_UP)
    },
  )
})

test('a pending block goes on while another reader waits', async () => {
  await using stage = await startPending()
  const one = await connected(stage)
  const other = await connected(stage)
  const failures = [stage.failure('eth_getBlockByNumber'), stage.failure('eth_getBalance')]
  const outcome = { isOver: false }
  void Promise.any(failures).then(() => {
    outcome.isOver = true
  })
  one.send(bodyOf('eth_getBlockByNumber', ['pending', false]))
  await stage.ask('eth_chainId')
  other.send(bodyOf('eth_getBalance', [ALICE, 'pending']))
  await stage.ask('eth_chainId')
  one.terminate()
  await nextTurn(200)
  expect(outcome.isOver).toBe(false)
  other.terminate()
  for (const failure of failures) expect(await failure).toMatchObject(GIVEN_UP)
})
