// A transaction without inner frames is traced from its receipt; all others run again.
import { expect, test, vi } from 'vitest'
import { hexFromBytes } from '../../../src/core/hex.ts'
import { createDevchain, type Devchain, type DevchainOptions } from '../../../src/devchain.ts'
import { headOf } from '../../../src/node/ledger/blocktree.ts'
import { assemble, calling } from '../../support/evm/bytecode.ts'

const SENDER = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'
const CONTRACT = `0x${'a1'.repeat(20)}`
const OTHER = `0x${'0e'.repeat(20)}`
const IDENTITY = `0x${'00'.repeat(19)}04`

/** A chain that has mined a transaction to a contract with a program, and the transaction's hash. */
async function minedOn(
  program: string,
  transaction: object = {},
  options: DevchainOptions = {},
): Promise<{ readonly devchain: Devchain; readonly hash: unknown }> {
  const alloc = { [CONTRACT]: { balance: '0x10', code: hexFromBytes(assemble(program)) } }
  const devchain = await createDevchain({ clock: 'frozen', genesis: { alloc }, ...options })
  const params = [{ from: SENDER, to: CONTRACT, gas: '0x30000', ...transaction }]
  const hash = await devchain.request({ method: 'eth_sendTransaction', params })
  return { devchain, hash }
}

test.each([
  ['STOP', {}, true],
  ['7 0 MSTORE 1 2 SSTORE 9 32 0 LOG1 GAS POP 32 0 RETURN', {}, true],
  ['0 0 REVERT', {}, true],
  ['INVALID', {}, true],
  ['ADD', {}, true],
  ['STOP', { to: undefined, data: '0x600160005360016000f3' }, true],
  ['STOP', { to: undefined, data: '0xfe' }, true],
  ['STOP', { to: OTHER, value: '0x5' }, true],
  ['STOP', { to: IDENTITY, data: '0x12' }, false],
  [calling(OTHER), {}, false],
  [`${calling(OTHER)} 0 0 REVERT`, {}, false],
  [calling(IDENTITY), {}, false],
  [calling(OTHER, { value: '99' }), {}, false],
  [`0 0 0 0 ${OTHER} GAS DELEGATECALL`, {}, false],
  ['0 0 0 CREATE', {}, false],
  ['0 0 0 0 CREATE2', {}, false],
  [`${OTHER} SELFDESTRUCT`, {}, false],
] as const)(
  'callTracer on %s with %j needs no second run: %s',
  async (program, transaction, isAlone) => {
    const { devchain, hash } = await minedOn(program, transaction)
    await using _ = devchain
    const { chain } = devchain.node
    expect(headOf(chain.state.tree).executed[0]?.isAlone).toBe(isAlone)
    const runs = vi.spyOn(chain.executor, 'transact')
    const params = [hash, { tracer: 'callTracer', tracerConfig: { withLog: true } }]
    const known = await devchain.request({ method: 'debug_traceTransaction', params })
    expect(runs).toHaveBeenCalledTimes(isAlone ? 0 : 1)
    const both = { callTracer: { withLog: true }, noopTracer: {} }
    const mux = [hash, { tracer: 'muxTracer', tracerConfig: both }]
    const run = await devchain.request({ method: 'debug_traceTransaction', params: mux })
    expect(run).toEqual({ callTracer: known, noopTracer: {} })
    expect(runs).toHaveBeenCalledTimes(isAlone ? 1 : 2)
  },
)

test('a result that is known has no steps to limit', async () => {
  const traceLimit = 1_000
  const { devchain, hash } = await minedOn('loop: @loop JUMP', {}, { traceLimit })
  await using _ = devchain
  const traced = (tracer: string, tracerConfig: object) =>
    devchain.request({ method: 'debug_traceTransaction', params: [hash, { tracer, tracerConfig }] })
  expect(await traced('callTracer', {})).toMatchObject({ error: 'out of gas' })
  const run = traced('muxTracer', { callTracer: {} })
  await expect(run).rejects.toThrow('over the limit of 1000 steps')
})

test.each([
  ['LOG0', true],
  [calling(OTHER), false],
])('callTracer on a block that ends with %s needs no second run: %s', async (last, isAlone) => {
  const code = (program: string) => ({ code: hexFromBytes(assemble(program)) })
  const alloc = { [CONTRACT]: code('1 1 LOG0'), [OTHER]: code(`1 1 ${last}`) }
  await using devchain = await createDevchain({ clock: 'frozen', genesis: { alloc } })
  await devchain.request({ method: 'evm_setAutomine', params: [false] })
  for (const to of [CONTRACT, CONTRACT, OTHER]) {
    const params = [{ from: SENDER, to, gas: '0x30000' }]
    await devchain.request({ method: 'eth_sendTransaction', params })
  }
  await devchain.request({ method: 'evm_mine', params: [] })
  const runs = vi.spyOn(devchain.node.chain.executor, 'transact')
  const options = { tracer: 'callTracer', tracerConfig: { withLog: true } }
  const params = ['latest', options]
  const known = await devchain.request({ method: 'debug_traceBlockByNumber', params })
  expect(runs).toHaveBeenCalledTimes(isAlone ? 0 : 3)
  const mux = { tracer: 'muxTracer', tracerConfig: { callTracer: { withLog: true } } }
  const run = await devchain.request({
    method: 'debug_traceBlockByNumber',
    params: ['latest', mux],
  })
  expect((run as { txHash: string; result: { callTracer: unknown } }[]).map(unwrapped)).toEqual(
    known,
  )
})

function unwrapped({ txHash, result }: { txHash: string; result: { callTracer: unknown } }) {
  return { txHash, result: result.callTracer }
}
