// What moves on the page: nothing by itself, neither while a view comes nor when a block does.
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
  const tabs = ['functions', 'storage', 'events', 'source', 'transactions']
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
