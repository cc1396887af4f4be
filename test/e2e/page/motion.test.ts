// What moves on the page: nothing by itself, neither while a view comes nor when a block does; and lists scroll smoothly.
import { expect, test } from 'vitest'
import { Stage } from './browser.ts'
import { ALICE, BOB, deploySwap } from './swap.ts'

const stage = new Stage()

/** Collects what shifts in `shifts`. */
const WATCH = `
  globalThis.shifts = []
  const nameOf = ({ node }) => node?.className || node?.nodeName
  new PerformanceObserver((list) => {
    for (const { hadRecentInput, sources } of list.getEntries())
      if (!hadRecentInput) shifts.push(sources.map(nameOf).join(', '))
  }).observe({ type: 'layout-shift', buffered: true })
`

test('nothing shifts in a view whose traces come after seconds, and the rest is seen before', async () => {
  const { page } = stage
  const { swap } = await deploySwap(stage.devchain)
  const bad = await swap(BOB, 500n)
  await page.addInitScript(WATCH)
  let release = (): void => undefined
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  await page.routeWebSocket(/./, (socket) => {
    const server = socket.connectToServer()
    socket.onMessage((text) => {
      if (!/explainTransaction|traceTransaction/.test(String(text))) return server.send(text)
      void held.then(() => server.send(text))
    })
  })
  await page.goto(`${stage.url}/#/tx/${bad}`)
  const seen = (name: string): Promise<unknown> =>
    page.evaluate(
      `getComputedStyle(document.querySelector('section[aria-label="${name}"]')).opacity`,
    )
  await expect.poll(() => page.locator('main').getAttribute('class')).toBe('late')
  expect([await seen('Why it failed'), await seen('Transaction')]).toEqual(['1', '0'])
  release()
  await expect.poll(() => page.locator('main').getAttribute('class')).toBe('')
  expect([await seen('Why it failed'), await seen('Calls')]).toEqual(['1', '1'])
  expect(await page.evaluate('shifts')).toEqual([])
})

test('nothing shifts while a view comes and when a block does, and nothing is animated', async () => {
  const { page } = stage
  const { token, swap } = await deploySwap(stage.devchain)
  const [bad, good] = [await swap(BOB, 500n), await swap(ALICE, 500n)]
  await page.emulateMedia({ reducedMotion: 'reduce' })
  await page.addInitScript(WATCH)
  const moving = `[...document.querySelectorAll('*')].filter((each) => {
    const { transitionDuration, animationName, scrollBehavior } = getComputedStyle(each)
    return transitionDuration !== '0s' || animationName !== 'none' || scrollBehavior !== 'auto'
  }).map((each) => each.className || each.nodeName)`
  const narrow = [
    '',
    'accounts',
    'act?do=send',
    'time?at=3&from=1',
    `tx/${bad}`,
    `address/${token}`,
  ]
  const others = ['block/1', 'network', 'log', `debug/${good}?step=600`, `address/${ALICE}`]
  const tabs = ['storage', 'events'].map((tab) => `address/${token}?tab=${tab}`)
  const found: string[] = []
  const devtools = await page.context().newCDPSession(page)
  // slowed down, a view asks again only after it has been drawn for some time
  for (const [width, slower, places] of [
    [360, 6, narrow],
    [1280, 1, [...narrow, ...others, ...tabs]],
  ] as const) {
    await devtools.send('Emulation.setCPUThrottlingRate', { rate: slower })
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

/** Milliseconds of processor time of the page's tasks, from now on until it is asked for them. */
async function traceTasks(): Promise<() => Promise<readonly number[]>> {
  const { browser, page } = stage
  await browser.startTracing(page, { categories: ['toplevel', '__metadata'] })
  return async () => {
    const { traceEvents } = JSON.parse((await browser.stopTracing()).toString()) as {
      traceEvents: readonly TraceEvent[]
    }
    const threadOf = ({ pid, tid }: TraceEvent): string => `${pid} ${tid}`
    const main = traceEvents.filter(({ args }) => args.name === 'CrRendererMain').map(threadOf)
    const isTask = (each: TraceEvent): boolean =>
      each.name.includes('RunTask') && main.includes(threadOf(each))
    return traceEvents.filter(isTask).map(({ tdur = 0 }) => tdur / 1000)
  }
}

/** Processor time. Under 50 ms nobody sees a delay; a machine that runs tests may be slower than one with a screen. */
const MOST_TASK_MS = 150

test('no task of the page takes long while a list scrolls and 40 transactions come', async () => {
  const { page } = stage
  for (let i = 1; i <= 60; i++) {
    const account = `0x${i.toString(16).padStart(4, '0').repeat(10)}`
    await stage.rpc('hardhat_setBalance', account, '0x1')
  }
  await stage.rpc('hardhat_mine', '0xc8')
  const order = { from: ALICE, to: BOB, value: '0x1' }
  for (const place of ['#/accounts', '#/', '#/log']) {
    await stage.open(place)
    const tasks = await traceTasks()
    const scrolled = page.evaluate(`new Promise((resolve) => {
      let [drawings, step] = [0, 60]
      const scroll = () => {
        const box = document.querySelector('.list .rows')
        const before = box?.scrollTop
        box?.scrollBy(0, step)
        if (box?.scrollTop === before) step = -step
        if (++drawings === 60) resolve()
        else requestAnimationFrame(scroll)
      }
      scroll()
    })`)
    for (let i = 0; i < 40; i++) await stage.rpc('eth_sendTransaction', order)
    await scrolled
    const took = await tasks()
    expect(took.length, place).toBeGreaterThan(60)
    expect(Math.max(...took), place).toBeLessThan(MOST_TASK_MS)
  }
})
