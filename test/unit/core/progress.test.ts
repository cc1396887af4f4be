// Long work is reported at growing intervals, and no more than can be read.
import { expect, test } from 'vitest'
import { Progresses, type ProgressReport } from '../../../src/core/progress.ts'

function recorder(): { readonly reported: ProgressReport[]; readonly progresses: Progresses } {
  const reported: ProgressReport[] = []
  return { reported, progresses: new Progresses((report) => reported.push(report)) }
}

test('progress is reported after two seconds, then after as long again, at most a minute', () => {
  const { reported, progresses } = recorder()
  progresses.begin('eth_call', { isRunning: true, gasUsed: 5n }, 0)
  for (let now = 0; now <= 300_000; now += 500) progresses.lookAt(now)
  expect(reported.map(({ durationMs }) => durationMs / 1000)).toEqual([
    2, 4, 8, 16, 32, 64, 124, 184, 244,
  ])
  expect(reported[0]).toEqual({ name: 'eth_call', durationMs: 2_000, gasUsed: 5n, others: 0 })
  progresses.close()
})

test('progress is not reported for work that waits for its turn or has ended', () => {
  const { reported, progresses } = recorder()
  const waiting = { isRunning: false, gasUsed: undefined }
  progresses.begin('eth_sendTransaction', waiting, 0)
  const end = progresses.begin('eth_call', { isRunning: true, gasUsed: undefined }, 0)
  progresses.lookAt(1_999)
  end()
  progresses.lookAt(60_000)
  expect(reported).toEqual([])
  waiting.isRunning = true
  progresses.lookAt(60_001)
  expect(reported).toEqual([
    { name: 'eth_sendTransaction', durationMs: 60_001, gasUsed: undefined, others: 0 },
  ])
  progresses.close()
})

test('progress of very many runs is reported for the longest, with the number of the others', () => {
  const { reported, progresses } = recorder()
  for (let i = 0; i < 100; i += 1) {
    progresses.begin(`call ${i}`, { isRunning: true, gasUsed: undefined }, i)
  }
  progresses.lookAt(10_000)
  expect(reported.map(({ name, others }) => [name, others])).toEqual(
    [0, 1, 2, 3, 4, 5, 6, 7].map((i) => [`call ${i}`, i === 7 ? 92 : 0]),
  )
  progresses.close()
})
