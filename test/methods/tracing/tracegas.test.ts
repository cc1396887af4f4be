// The gas of the outermost frame in trace_…: what was left when it began, and what it used itself. The figures are those
// that anvil 1.7.1 answered to the same transactions; callTracer has the transaction's limit and what it paid for.
import { beforeAll, expect, test } from 'vitest'
import { createDevchain, type Devchain } from '../../../src/devchain.ts'

const SENDER = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'
const CALLER = '0x00000000000000000000000000000000000c0de0'
const STORER = '0x00000000000000000000000000000000000c0de1'
const HALTER = '0x00000000000000000000000000000000000c0de2'
const NOBODY = '0x00000000000000000000000000000000000000aa'

const CODES = {
  [CALLER]: `0x600160005560006000600060006000730${STORER.slice(3)}5af100`,
  [STORER]: '0x60026000556000600055',
  [HALTER]: '0xfe',
}

interface Frame {
  readonly action: { readonly gas: string }
  readonly result: { readonly gasUsed: string } | null
}

interface Case {
  readonly what: string
  readonly transaction: Readonly<Record<string, unknown>>
  /** Gas and gas used of each frame; undefined where nothing came of it. */
  readonly frames: readonly (readonly [gas: string, used: string | undefined])[]
  readonly paid: string
}

const GAS = '0x30000'

const CASES: readonly Case[] = [
  {
    what: 'a transfer',
    transaction: { to: NOBODY, value: '0x1', gas: '0x15f90' },
    frames: [['0x10d88', '0x0']],
    paid: '0x5208',
  },
  {
    what: 'a call that calls',
    transaction: { to: CALLER, gas: GAS },
    frames: [
      ['0x2adf8', '0xb75a'],
      ['0x2442d', '0x56c4'],
    ],
    paid: '0xd44f',
  },
  {
    what: 'a call that earns a refund',
    transaction: { to: STORER, gas: GAS },
    frames: [['0x2adf8', '0x56c4']],
    paid: '0x870a',
  },
  {
    what: 'a call that halts',
    transaction: { to: HALTER, gas: GAS },
    frames: [['0x2adf8', undefined]],
    paid: GAS,
  },
  {
    what: 'a creation',
    transaction: { data: '0x6001600055600a6000f3', gas: GAS },
    frames: [['0x2306e', '0x5e33']],
    paid: '0x12dc5',
  },
  {
    what: 'a transfer of much data, which has a price of its own',
    transaction: { to: NOBODY, data: `0x${'11'.repeat(1000)}`, gas: GAS },
    frames: [['0x26f78', '0x0']],
    paid: '0xee48',
  },
  {
    what: 'a call with an access list',
    transaction: { to: CALLER, gas: GAS, accessList: [{ address: STORER, storageKeys: [] }] },
    frames: [
      ['0x2a498', '0x5fda'],
      ['0x29114', '0x56c4'],
    ],
    paid: '0x95cf',
  },
]

let devchain: Devchain
beforeAll(async () => {
  devchain = await createDevchain({ compat: 'anvil' })
  for (const [address, code] of Object.entries(CODES)) await ask('anvil_setCode', address, code)
  return () => devchain.close()
})

async function ask<T>(method: string, ...params: unknown[]): Promise<T> {
  return (await devchain.request({ method, params })) as T
}

function gasOf(frames: readonly Frame[]): unknown {
  return frames.map(({ action, result }) => [action.gas, result?.gasUsed])
}

// in order: the calls after the first find their slot written
test.each(CASES)('traces have the right gas for $what', async ({ transaction, frames, paid }) => {
  const hash = await ask<string>('eth_sendTransaction', { from: SENDER, ...transaction })
  expect(await ask('eth_getTransactionReceipt', hash)).toMatchObject({ gasUsed: paid })
  const listed = await ask<Frame[]>('trace_transaction', hash)
  expect(gasOf(listed)).toEqual(frames)
  const { trace } = await ask<{ trace: Frame[] }>('trace_replayTransaction', hash, ['trace'])
  expect(gasOf(trace)).toEqual(frames)
  expect(gasOf([await ask<Frame>('trace_get', hash, [])])).toEqual([frames[0]])
  const { blockNumber } = await ask<{ blockNumber: string }>('eth_getTransactionByHash', hash)
  const block = { fromBlock: blockNumber, toBlock: blockNumber }
  expect(gasOf(await ask<Frame[]>('trace_filter', block))).toEqual(frames)
  const called = await ask('debug_traceTransaction', hash, { tracer: 'callTracer' })
  expect(called).toMatchObject({ gas: transaction.gas, gasUsed: paid })
})

test('inner frames under amsterdam have execution gas, and those in words the state gas too, for any limit', async () => {
  await using chain = await createDevchain({ hardfork: 'amsterdam' })
  const request = <T>(method: string, ...params: unknown[]): Promise<T> =>
    chain.request({ method, params }) as Promise<T>
  await request('anvil_setCode', CALLER, `0x6000600060006000600073${STORER.slice(2)}5af100`)
  // 1 into the slot of the block's number, which is new
  await request('anvil_setCode', STORER, '0x6001435500')
  for (const gas of ['0x30000', '0x1c00000']) {
    const transaction = { from: SENDER, to: CALLER, gas }
    const hash = await request<string>('eth_sendTransaction', transaction)
    const gasUsed = '0x2f49'
    const inner = { gasUsed, stateGasUsed: '0x17e80' }
    const traces = await request<{ result: unknown }[]>('trace_transaction', hash)
    expect(traces[1]!.result).toMatchObject(inner)
    const tree = await request('debug_traceTransaction', hash, { tracer: 'callTracer' })
    expect(tree).toMatchObject({ calls: [inner] })
    const { call } = await request<{ call: unknown }>('devchain_traceTransaction', hash)
    expect(call).toMatchObject({ steps: [{ gasUsed: '0x1adc9' }] })
  }
})
