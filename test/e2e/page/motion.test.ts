// What moves on the page: nothing by itself, neither while a view comes nor when a block does; and lists scroll smoothly.
import { expect, test } from 'vitest'
import { Stage } from './browser.ts'
import { ALICE, BOB, deploySwap } from './swap.ts'

const stage = new Stage()

test('nothing shifts while a view comes and when a block does, and nothing is animated', async () => {
  const { page } = stage
  const { token, swap } = await deploySwap(stage.devchain)
  const [bad, good] = [await swap(BOB, 500n), await swap(ALICE, 500n)]
  await page.emulateMedia({ reducedMotion: 'reduce' })
  await page.addInitScript(`
    globalThis.shifts = []
    const nameOf = ({ node }) => node?.className || node?.nodeName
    new PerformanceObserver((list) => {
      for (const { hadRecentInput, sources } of list.getEntries())
        if (!hadRecentInput) shifts.push(sources.map(nameOf).join(', '))
    }).observe({ type: 'layout-shift', buffered: true })
  `)
  const moving = `[...document.querySelectorAll('*')].filter((each) => {
    const { transitionDuration, animationName, scrollBehavior } = getComputedStyle(each)
    return transitionDuration !== '0s' || animationName !== 'none' || scrollBehavior !== 'auto'
  }).map((each) => each.className || each.nodeName)`
  const tabs = ['functions', 'storage', 'events']
  const places = [
    ...['', 'block/1', 'accounts', 'act?do=send', 'time?at=3&from=1', 'network', 'log'],
    ...[`tx/${bad}`, `debug/${good}?step=600`, `address/${ALICE}`],
    ...tabs.map((tab) => `address/${token}?tab=${tab}`),
  ]
  const found: string[] = []
  for (const width of [360, 1280]) {
    await page.setViewportSize({ width, height: 800 })
    for (const place of places) {
      await page.goto('about:blank')
      await stage.open(`#/${place}`)
      await stage.rpc('evm_mine')
      const height = Number(await stage.rpc('eth_blockNumber'))
      await page.getByRole('link', { name: `Newest block #${height}` }).waitFor()
      const seen = [
        ...((await page.evaluate('shifts')) as string[]),
        ...((await page.evaluate(moving)) as string[]),
      ]
      found.push(...seen.map((each) => `${place} at ${width}: ${each}`))
    }
  }
  expect(found).toEqual([])
})

interface TraceEvent {
  readonly name: string
  readonly pid: number
  readonly tid: number
  /** Microseconds of processor time. */
  readonly tdur?: number
  readonly args: { readonly name?: string }
}

test.each(['#/accounts', '#/', '#/log'])(
  'no task of %s takes 50 ms while it scrolls and 100 transactions come',
  async (place) => {
    const { page, browser } = stage
    for (let i = 0; i < 200; i++) {
      const account = `0x${(i + 1).toString(16).padStart(4, '0').repeat(10)}`
      await stage.rpc('hardhat_setBalance', account, '0x1')
    }
    await stage.rpc('hardhat_mine', '0xc8')
    await stage.open(place)
    await browser.startTracing(page, { categories: ['toplevel', '__metadata'] })
    const scrolled = page.evaluate(`new Promise((resolve) => {
      let [drawings, step] = [0, 60]
      const scroll = () => {
        const box = document.querySelector('.list .rows')
        const before = box?.scrollTop
        box?.scrollBy(0, step)
        if (box?.scrollTop === before) step = -step
        if (globalThis.isEnough && ++drawings > 30) resolve()
        else requestAnimationFrame(scroll)
      }
      scroll()
    })`)
    const body = JSON.stringify({
      ...{ jsonrpc: '2.0', id: 1, method: 'eth_sendTransaction' },
      params: [{ from: ALICE, to: BOB, value: '0x1' }],
    })
    for (let i = 0; i < 100; i++) await (await fetch(stage.url, { method: 'POST', body })).text()
    await page.evaluate('globalThis.isEnough = true')
    await scrolled
    const { traceEvents } = JSON.parse((await browser.stopTracing()).toString()) as {
      traceEvents: readonly TraceEvent[]
    }
    const threadOf = ({ pid, tid }: TraceEvent): string => `${pid} ${tid}`
    const main = traceEvents.filter(({ args }) => args.name === 'CrRendererMain').map(threadOf)
    const tasks = traceEvents.filter(
      (each) => /RunTask/.test(each.name) && main.includes(threadOf(each)),
    )
    const took = tasks.map(({ tdur = 0 }) => tdur / 1000)
    expect(took.length).toBeGreaterThan(100)
    expect(Math.max(...took)).toBeLessThan(50)
  },
)
