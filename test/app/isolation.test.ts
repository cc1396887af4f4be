// Chains of one process do not notice each other, whatever they do in whatever order.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createDevchain, type Devchain, type Hooks } from '../../src/devchain.ts'
import { ENDS, type NamedCall, SAME, WRITES } from '../support/chain/writes.ts'
import { eventually } from '../support/waiting/eventually.ts'

const CHAINS = 20

type Request = Devchain['request']
type Step = { readonly chain: number; readonly call: NamedCall }

function open(hooks: Hooks = {}): Promise<Devchain> {
  const options = { clock: 'step:3', noArtifacts: true, accounts: 3 } as const
  return createDevchain(options, { environment: SAME, ...hooks })
}

async function answer(request: Request, call: NamedCall): Promise<unknown> {
  try {
    return await request(call)
  } catch (error) {
    return String(error)
  }
}

async function answersTo(
  request: Request,
  calls: readonly NamedCall[],
): Promise<readonly unknown[]> {
  const answers: unknown[] = []
  for (const call of calls) answers.push(await answer(request, call))
  return answers
}

function callsOf(steps: readonly Step[], wanted: number): readonly NamedCall[] {
  return steps.filter(({ chain }) => chain === wanted).map(({ call }) => call)
}

async function stateOf(request: Request): Promise<readonly unknown[]> {
  return await Promise.all(ENDS.map((call) => answer(request, call)))
}

/** A chain's number, and the call that it gets next. Calls of one chain run in order, those of several at once. */
const schedule = fc.array(
  fc.record({ chain: fc.nat(CHAINS - 1), call: fc.constantFrom(...WRITES) }),
  { minLength: 40, maxLength: 160 },
)

test('each of twenty chains answers and ends as it does alone', async () => {
  await fc.assert(
    fc.asyncProperty(schedule, async (steps) => {
      await using devchain = await open()
      const chains = await Promise.all(Array.from({ length: CHAINS }, () => devchain.branch()))
      const answers = await Promise.all(
        chains.map(({ request }, i) => answersTo(request, callsOf(steps, i))),
      )
      const before = await stateOf(devchain.request)
      for (const [i, { request }] of chains.entries()) {
        await using alone = await open()
        expect(answers[i]).toEqual(await answersTo(alone.request, callsOf(steps, i)))
        expect(await stateOf(request)).toEqual(await stateOf(alone.request))
      }
      await using untouched = await open()
      expect(before).toEqual(await stateOf(untouched.request))
    }),
    { numRuns: 6, seed: 31 },
  )
}, 120_000)

describe('a chain that branches off', () => {
  test('begins with the state of a chain or a named snapshot, and returns to it', async () => {
    await using devchain = await open()
    const { request } = devchain
    await request({ method: 'evm_mine' })
    await request({ method: 'devchain_snapshot', params: ['one'] })
    await request({ method: 'evm_mine' })
    const height = (asked: Request): Promise<unknown> => asked({ method: 'eth_blockNumber' })
    const begun = await devchain.branch('begun')
    const one = await devchain.branch('one-block', { from: 'one' })
    const two = await devchain.branch('two-blocks', { from: '/' })
    await two.request({ method: 'evm_mine' })
    const three = await devchain.branch('three-blocks', { from: 'two-blocks' })
    const all = [begun, one, two, three]
    expect(await Promise.all(all.map((each) => height(each.request)))).toEqual([
      '0x0',
      '0x1',
      '0x3',
      '0x3',
    ])
    for (const each of all) {
      await each.request({ method: 'evm_mine' })
      await each.request({ method: 'evm_reset' })
    }
    expect(await Promise.all(all.map((each) => height(each.request)))).toEqual([
      '0x0',
      '0x1',
      '0x2',
      '0x3',
    ])
  })

  test('is listed while it waits for the set-up, and refused with the reason where that fails', async () => {
    await using devchain = await open()
    let fail = (): void => undefined
    const failing = new Promise<void>((_, reject) => {
      fail = () => reject(new Error('no deployer'))
    })
    const setUp = devchain.setUp(() => failing)
    const early = devchain.branch('early')
    expect(await devchain.chains()).toMatchObject([
      { path: '/', blockNumber: 0n },
      { path: '/early', blockNumber: undefined, chainId: undefined, memory: 0 },
    ])
    fail()
    await expect(setUp).rejects.toThrow('no deployer')
    const why =
      'chains at paths begin with what the set-up leaves, and it failed: no deployer. Run another set-up, or start devchain again'
    await expect(early).rejects.toThrow(why)
    await expect(devchain.branch('late')).rejects.toThrow(why)
    await devchain.setUp(() => devchain.request({ method: 'evm_mine' }))
    const { request } = await devchain.branch('early')
    expect(await request({ method: 'eth_blockNumber' })).toBe('0x1')
  })

  test('begins with what the set-up left, however early it was asked for', async () => {
    const notices: string[] = []
    const observer = { onNotice: (text: string) => notices.push(text) }
    await using devchain = await open({ observer })
    let end = (): void => undefined
    const held = new Promise<void>((resolve) => {
      end = resolve
    })
    const setUp = devchain.setUp(async () => {
      await held
      await devchain.request({ method: 'evm_mine' })
    })
    const early = devchain.branch('early')
    const other = devchain.branch()
    // a set-up that waited for one of them would wait for ever
    const notice =
      'chains at paths wait until the set-up ends; if it waits for one of them, it never does: it can use the default chain at /'
    expect(await eventually(() => notices[0])).toBe(notice)
    end()
    await setUp
    expect(notices).toHaveLength(1)
    await other
    await devchain.request({ method: 'evm_mine' })
    const heights = [await early, await devchain.branch('late')].map(({ request }) =>
      request({ method: 'eth_blockNumber' }),
    )
    expect(await Promise.all(heights)).toEqual(['0x1', '0x1'])
  })
})
