// How the views look, beside pictures that the repository keeps: narrow, usual and wide, light and dark.
import { beforeEach, expect, test } from 'vitest'
import { Stage } from './browser.ts'
import { Gallery, picturesOf } from './looks.ts'
import { ALICE, BOB, deploySwap, type Swapping, word } from './swap.ts'

const stage = new Stage(() => ({ timestamp: '2026-01-01', clock: 'step:12' }))

const CAROL = '0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc'

/** Identifiers of the page's requests that have no response yet. */
const waiting = new Set<number>()

let swapping: Swapping
let good: string
let bad: string

beforeEach(async () => {
  waiting.clear()
  const idsOf = ({ payload }: { payload: string | Buffer }): number[] =>
    [JSON.parse(String(payload))].flat().map(({ id }: { id: number }) => id)
  stage.page.on('websocket', (socket) => {
    socket.on('framesent', (frame) => void idsOf(frame).map((id) => waiting.add(id)))
    socket.on('framereceived', (frame) => void idsOf(frame).map((id) => waiting.delete(id)))
  })
  // the times of calls in the log
  await stage.page.clock.setFixedTime('2026-01-01T12:00:00Z')
  swapping = await deploySwap(stage.devchain)
  await stage.rpc('devchain_label', { [ALICE]: 'alice', [BOB]: 'bob' })
  for (let i = 1; i <= 8; i++) {
    const value = `0x${(BigInt(i) * 125n * 10n ** 16n).toString(16)}`
    await stage.rpc('eth_sendTransaction', { from: i % 2 ? ALICE : BOB, to: CAROL, value })
  }
  await stage.rpc('devchain_snapshot', 'paid')
  good = await swapping.swap(ALICE, 500n)
  await stage.rpc('hardhat_mine', '0x3')
  bad = await swapping.swap(BOB, 500n)
})

/** Until nothing is read and all is drawn; what differs from run to run becomes a word. */
async function settled(): Promise<void> {
  const drawn = `new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))`
  for (let times = 0; times < 2; times++) {
    await stage.page.evaluate(drawn)
    await expect.poll(() => waiting.size).toBe(0)
  }
  await stage.page.evaluate(drawn)
  await stage.page.evaluate(`
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    while (texts.nextNode()) {
      const { currentNode: text } = texts
      text.data = text.data.replace(':${new URL(stage.url).port}', ':8545')
      if (text.parentElement.matches('.logged .cell:last-child')) text.data = text.data.replace(/[\\d.]+/, '0.5')
      if (text.parentElement.matches('.card .dim')) text.data = text.data.replace(/\\d+/, '50')
    }
  `)
}

/** Calls of another client, once the log listens. */
async function callFromOutside(): Promise<void> {
  await settled()
  const balanceOf = `0x70a08231${word(BOB)}`
  for (const [method, ...params] of [
    ['eth_getBalance', BOB, 'latest'],
    ['eth_getBalance', 'nobody'],
    ['eth_call', { to: swapping.token, data: balanceOf }, 'latest'],
    ['eth_sendTransaction', { from: ALICE, to: BOB, value: '0x1' }],
    ['hardhat_mine', '0x1'],
  ]) {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    await (await fetch(stage.url, { method: 'POST', body })).text()
  }
  await stage.rows('Calls').nth(5).waitFor()
}

test('views look as in their pictures', async () => {
  const gallery = new Gallery(await stage.browser.newPage())
  const trace = await stage.rpc('debug_traceTransaction', good)
  const { structLogs } = trace as { structLogs: readonly { op: string; depth: number }[] }
  const store = structLogs.findIndex(({ op, depth }) => op === 'SSTORE' && depth === 2)
  const places = {
    live: '#/',
    block: '#/block/1',
    transaction: `#/tx/${bad}`,
    debugger: `#/debug/${good}?step=${store}`,
    contract: `#/address/${swapping.token}?tab=storage`,
    accounts: '#/accounts',
    act: '#/act?do=send',
    time: '#/time?at=14&from=3',
    network: '#/network',
    log: '#/log',
  }
  const found: string[] = []
  for (const [view, place] of Object.entries(places)) {
    await stage.open(place)
    if (view === 'log') await callFromOutside()
    const pictures = await picturesOf(stage.page, settled)
    if (process.env.PICTURES === 'write') await gallery.keep(view, pictures)
    const comparison = await gallery.compare(view, pictures)
    found.push(...(await gallery.report(view, stage.page, comparison)))
  }
  expect(found).toEqual([])
})

test('a shift by 12 pixels, a missing panel and another background are differences', async () => {
  const gallery = new Gallery(await stage.browser.newPage())
  await stage.open(`#/tx/${bad}`)
  const pictures = await picturesOf(stage.page, settled)
  const spoil = async (selector: string, property: string, value: string): Promise<unknown> => {
    const style = `document.querySelector('${selector}').style`
    await stage.page.evaluate(`${style}.setProperty('${property}', '${value}')`)
    const spoiled = await picturesOf(stage.page, settled, [1280])
    await stage.page.evaluate(`${style}.removeProperty('${property}')`)
    const all = pictures.map((each) => spoiled.find(({ sight }) => sight === each.sight) ?? each)
    const { different } = await gallery.compare('transaction', all)
    return different.map(({ sight }) => `${sight.size[0]} ${sight.color}`)
  }
  expect(await spoil('main', 'color', 'inherit')).toEqual([])
  const both = expect.arrayContaining(['1280 light', '1280 dark'])
  expect(await spoil('main', 'translate', '0 12px')).toEqual(both)
  expect(await spoil('.panel + .panel', 'visibility', 'hidden')).toEqual(both)
  expect(await spoil(':root', '--ground', 'light-dark(#fff, #000)')).toEqual(both)
})
