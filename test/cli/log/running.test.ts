// Long work, as it is logged.
import { afterEach, expect, test, vi } from 'vitest'
import { createJsonRenderer } from '../../../src/cli/log/json.ts'
import { Logger } from '../../../src/cli/log/logger.ts'
import { PLAIN } from '../../../src/cli/log/palette.ts'
import { createPrettyRenderer } from '../../../src/cli/log/pretty.ts'
import type { ProgressReport } from '../../../src/core/progress.ts'
import { createDevchain } from '../../../src/devchain.ts'
import { nextTurn } from '../../support/waiting/turns.ts'

afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

function printed(form: 'pretty' | 'json', report: ProgressReport): string {
  let text = ''
  const write = (more: string): void => {
    text += more
  }
  const renderer =
    form === 'json' ? createJsonRenderer(() => 0, false) : createPrettyRenderer(PLAIN, false)
  const log = new Logger({ renderer, writer: { write } })
  log.onRunning(report)
  return text
}

const LINES: readonly (readonly [Partial<ProgressReport>, string])[] = [
  [{}, 'eth_sendTransaction still running, 12 s, 1.2 G gas\n'],
  [{ gasUsed: undefined, durationMs: 2_100 }, 'eth_sendTransaction still running, 2 s\n'],
  [{ gasUsed: 340_100_000n }, 'eth_sendTransaction still running, 12 s, 340 M gas\n'],
  [{ gasUsed: 999_999n }, 'eth_sendTransaction still running, 12 s, 999,999 gas\n'],
  [{ gasUsed: 5n * 10n ** 12n }, 'eth_sendTransaction still running, 12 s, 5.0 T gas\n'],
  [
    { name: 'interval mining', durationMs: 3_600_000, gasUsed: undefined },
    'interval mining still running, 3,600 s\n',
  ],
  [{ gasUsed: undefined, others: 92 }, 'eth_sendTransaction still running, 12 s (and 92 others)\n'],
]

test.each(LINES.map(([report, line]) => ({ report, line })))(
  'the text log has $line',
  ({ report, line }) => {
    const usual = {
      name: 'eth_sendTransaction',
      durationMs: 12_000,
      gasUsed: 1_234_000_000n,
      others: 0,
    }
    expect(printed('pretty', { ...usual, ...report })).toBe(line)
  },
)

test('the JSON log has the same events', () => {
  const report = { name: 'eth_call', durationMs: 2_000.4, gasUsed: 12n, others: 1 }
  expect(JSON.parse(printed('json', report))).toEqual({
    time: '1970-01-01T00:00:00.000Z',
    event: 'running',
    method: 'eth_call',
    others: 1,
    durationMs: 2_000,
    gasUsed: '12',
  })
})

test.each([
  ['eth_sendTransaction', { from: '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266' }],
  ['eth_call', {}],
  ['eth_estimateGas', {}],
  ['debug_traceCall', {}],
])('an endless %s is logged with the gas that it has used', async (method, from) => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const reported: ProgressReport[] = []
  const devchain = await createDevchain(
    { hardfork: 'prague' },
    { observer: { onRunning: (report) => reported.push(report) } },
  )
  const to = `0x${'10'.repeat(20)}`
  await devchain.request({ method: 'evm_setBlockGasLimit', params: ['0x1fffffffffffff'] })
  await devchain.request({ method: 'hardhat_setCode', params: [to, '0x5b5f56'] })
  const ask = (gas: string, target: string): Promise<unknown> => {
    const request = { ...from, to: target, gas }
    const params = method === 'debug_traceCall' ? [request, 'latest', {}] : [request]
    return devchain.request({ method, params })
  }
  // the engine is loaded
  await ask('0x186a0', `0x${'20'.repeat(20)}`)
  const real = performance.now.bind(performance)
  let later = 0
  vi.spyOn(performance, 'now').mockImplementation(() => real() + later)
  const run = ask('0xe8d4a51000', to)
  run.catch(() => undefined)
  await nextTurn(50)
  later = 2_500
  // the first request began the time until the first look
  vi.advanceTimersByTime(2_500)
  vi.useRealTimers()
  await devchain.close()
  await expect(run).rejects.toThrow('cancelled')
  expect(reported).toMatchObject([{ name: method, others: 0 }])
  expect(reported[0]?.durationMs).toBeGreaterThan(2_000)
  if (method !== 'debug_traceCall') expect(reported[0]?.gasUsed).toBeGreaterThan(300_000n)
})
