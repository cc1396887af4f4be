// The page in a browser, from the first look on: it shows a chain and follows it through reverts and restarts.

import { readFileSync } from 'node:fs'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import type { Locator } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { ROOT } from '../../support/process/boot.ts'
import { Stage, startChain } from './browser.ts'
import { ALICE, BOB } from './swap.ts'

/** Stores a word and logs it; reverts with "zero" for 0. */
const BOX =
  '0x604e600c600039604e6000f336600f5760005460005260206000f35b60003580156028578060005580600052602a60206000a2005b6308c379a060e01b60005260206004526004602452637a65726f60e01b60445260646000fd'

/** In no state. */
const UNUSED = '0x00000000000000000000000000000000000000aa'

const stage = new Stage()
const rpc: Stage['rpc'] = (...call) => stage.rpc(...call)
const send = (order: object): Promise<unknown> =>
  rpc('eth_sendTransaction', { from: ALICE, to: BOB, gas: '0x30000', ...order })
const rowsOf = (name: string): Locator => stage.rows(name)

test('a first look shows the newest block and that there is no transaction yet', async () => {
  await stage.page.goto(stage.url)
  await stage.page.getByText('No transactions in these blocks').waitFor()
  expect(await stage.page.title()).toBe('Live · devchain')
  await stage.page.getByRole('status').getByText('Live', { exact: true }).waitFor()
  await stage.page.getByRole('link', { name: 'Newest block #0' }).waitFor()
})

test('a page that opens while a block is mined shows that block', async () => {
  await stage.page.routeWebSocket(/./, (client) => {
    const server = client.connectToServer()
    const held: (string | Buffer)[] = []
    let heldId: number | undefined
    client.onMessage((message) => {
      if (heldId === undefined && String(message).includes('txpool_status')) {
        heldId = JSON.parse(String(message)).id
      }
      server.send(message)
    })
    server.onMessage(async (message) => {
      const isHeld = heldId !== undefined && JSON.parse(String(message)).id === heldId
      if (isHeld) {
        // the notification of this block comes before the reply that the page waits for
        held.push(message)
        await rpc('evm_mine')
        return
      }
      client.send(message)
      if (String(message).includes('eth_subscription')) {
        for (const each of held.splice(0)) client.send(each)
      }
    })
  })
  await stage.page.goto(stage.url)
  await stage.page.getByRole('status').getByText('Live', { exact: true }).waitFor()
  await stage.page.getByRole('link', { name: 'Newest block #1' }).waitFor({ timeout: 10_000 })
})

test('blocks and transactions appear as they come, with names and failures', async () => {
  await stage.page.goto(stage.url)
  await stage.page.getByText('No transactions in these blocks').waitFor()
  await rpc('devchain_label', { [ALICE]: 'alice', [BOB]: 'bob' })
  await send({ value: '0xde0b6b3a7640000' })
  const transfer = rowsOf('Newest transactions').filter({ hasText: '1 ether' })
  await transfer.getByRole('link', { name: 'alice' }).waitFor()
  await transfer.getByRole('link', { name: 'bob' }).waitFor()
  await transfer.getByRole('img', { name: 'Succeeded' }).waitFor()
  await rpc('devchain_label', { [BOB]: 'robert' })
  await transfer.getByRole('link', { name: 'robert' }).waitFor()
  const hash = await send({ to: undefined, data: BOX })
  const receipt = await rpc('eth_getTransactionReceipt', hash)
  const { contractAddress: to } = receipt as { contractAddress: string }
  await send({ to, data: `0x${'0'.repeat(64)}` }).catch(() => undefined)
  const failed = rowsOf('Newest transactions').filter({ hasText: 'zero' })
  await failed.getByRole('img', { name: 'Failed' }).waitFor()
  await stage.page.getByRole('link', { name: 'Newest block #3' }).waitFor()
})

test('a revert takes blocks away, and a new one takes their place', async () => {
  await send({ value: '0x1' })
  const id = await rpc('evm_snapshot')
  await send({ value: '0x2' })
  await stage.page.goto(stage.url)
  await rowsOf('Newest transactions').filter({ hasText: '2 wei' }).waitFor()
  await rpc('evm_revert', id)
  await rowsOf('Newest transactions').filter({ hasText: '2 wei' }).waitFor({ state: 'detached' })
  await send({ value: '0x3' })
  await rowsOf('Newest transactions').filter({ hasText: '3 wei' }).waitFor()
  expect(await rowsOf('Newest transactions').filter({ hasText: '2 wei' }).count()).toBe(0)
})

test('a failure is one before Byzantium too, where receipts have no status', async () => {
  const old = await startChain({ hardfork: 'homestead' })
  stage.others.push(old)
  const order = { from: ALICE, data: '0xfe', gas: '0x30000' }
  await old.request({ method: 'eth_sendTransaction', params: [order] }).catch(() => undefined)
  await stage.page.goto((await old.listen()).url)
  await rowsOf('Newest transactions').getByRole('img', { name: 'Failed' }).waitFor()
  await rowsOf('Newest transactions').getByRole('link').first().click()
  await stage.page.getByRole('region', { name: 'Why it failed' }).waitFor()
})

test('an open page goes on when devchain was restarted', async () => {
  await send({ value: '0x7' })
  await stage.page.goto(stage.url)
  await rowsOf('Newest transactions').filter({ hasText: '7 wei' }).waitFor()
  const port = Number(new URL(stage.url).port)
  await stage.devchain.close()
  await stage.page.getByText('devchain does not respond').waitFor()
  stage.devchain = await startChain({ port })
  await stage.devchain.listen()
  await stage.page.getByText('No transactions in these blocks').waitFor()
  await send({ value: '0x8' })
  await rowsOf('Newest transactions').filter({ hasText: '8 wei' }).waitFor()
})

test('search and shortcuts lead to a block and back, without a mouse', async () => {
  await rpc('hardhat_mine', '0x14')
  await stage.page.goto(stage.url)
  await stage.page.getByRole('status').getByText('Live').waitFor()
  await stage.page.keyboard.press('/')
  await stage.page.keyboard.type('12')
  await stage.page.keyboard.press('Enter')
  await stage.page.getByRole('heading', { name: 'Block 12' }).waitFor()
  expect(stage.page.url()).toBe(`${stage.url}/#/block/12`)
  await stage.page.getByRole('link', { name: 'Next', exact: true }).press('Enter')
  await stage.page.getByRole('heading', { name: 'Block 13' }).waitFor()
  await stage.page.goBack()
  await stage.page.getByRole('heading', { name: 'Block 12' }).waitFor()
  await stage.page.keyboard.press('g')
  await stage.page.keyboard.press('l')
  await rowsOf('Blocks').filter({ hasText: '20' }).first().waitFor()
  await stage.page.keyboard.press('?')
  await stage.page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
  await stage.page.keyboard.press('Escape')
  await stage.page.getByRole('dialog').waitFor({ state: 'detached' })
})

test('search finds transactions, and says when it finds nothing', async () => {
  const hash = String(await send({ value: '0x1' }))
  await stage.page.goto(stage.url)
  await stage.page.getByRole('status').getByText('Live').waitFor()
  const search = stage.page.getByRole('searchbox')
  await search.fill('nonsense')
  await search.press('Enter')
  await stage.page.getByText('nothing found for nonsense').waitFor()
  await search.fill(hash)
  await search.press('Enter')
  await stage.page.getByRole('heading', { name: 'transfer' }).waitFor()
  await stage.page.getByText(hash).waitFor()
  await stage.page.getByText('Succeeded').waitFor()
})

test('search finds accounts by name, also by its beginning', async () => {
  await rpc('devchain_label', { [ALICE]: 'alice', [BOB]: 'Treasury', [UNUSED]: 'vault' })
  await stage.page.goto(stage.url)
  await stage.page.getByRole('status').getByText('Live').waitFor()
  for (const [text, address] of [
    ['ALICE', ALICE],
    ['treas', BOB],
    ['vault', UNUSED],
  ] as const) {
    const search = stage.page.getByRole('searchbox').first()
    await search.fill(text)
    await search.press('Enter')
    await stage.page.waitForURL(`${stage.url}/#/address/${address.toLowerCase()}`)
  }
})

test('a chain at a path has its own page', async () => {
  await stage.page.goto(`${stage.url}/7`)
  await stage.page.getByText('/7 chain 33').waitFor()
  await send({ value: '0x1' })
  await stage.page.getByRole('link', { name: 'Newest block #0' }).waitFor()
  const chains = (await rpc('devchain_chains')) as readonly { path: string }[]
  expect(chains.map((chain) => chain.path)).toEqual(['/', '/7'])
})

test('large times and limits have all digits, and a chain id that is set is shown', async () => {
  await rpc('evm_setBlockGasLimit', '0x7fffffffffffffff')
  await rpc('evm_setNextBlockTimestamp', '0x45d964b800')
  await rpc('evm_mine')
  await stage.open()
  await rowsOf('Blocks').filter({ hasText: '300,000,000,000 s' }).waitFor()
  await rpc('anvil_setChainId', 555)
  await stage.page.getByText('chain 555').waitFor()
  await stage.open('#/block/1')
  await stage.page.getByText('of 9,223,372,036,854,775,807').waitFor()
  await rpc('hardhat_setNonce', ALICE, '0xfffffffffffffffd')
  await stage.open(`#/address/${ALICE}`)
  await stage.page.getByText('18,446,744,073,709,551,613').waitFor()
})

test('a list of 10,000 blocks draws what is in sight, and keeps its place when blocks come', async () => {
  await rpc('hardhat_mine', '0x2710')
  await stage.page.goto(stage.url)
  await rowsOf('Blocks').filter({ hasText: '10,000' }).waitFor()
  expect(await rowsOf('Blocks').count()).toBeLessThan(60)
  const scroller = stage.page.getByRole('rowgroup', { name: 'Blocks' })
  await scroller.evaluate((box) => box.scrollTo(0, 200_000))
  const row = rowsOf('Blocks').filter({ hasText: '5,000' })
  const before = (await row.boundingBox())?.y
  await rpc('hardhat_mine', '0x3')
  await stage.page.getByRole('link', { name: 'Newest block #10,003' }).waitFor()
  expect((await row.boundingBox())?.y).toBe(before)
})

test('the heap stays bounded after as many blocks as an hour has seconds', async () => {
  const session = await stage.page.context().newCDPSession(stage.page)
  const used = async (): Promise<number> => {
    await session.send('HeapProfiler.collectGarbage')
    return (await session.send('Runtime.getHeapUsage')).usedSize
  }
  await stage.open()
  const before = await used()
  for (let i = 0; i < 240; i++) {
    await send({ value: '0x1' })
    await rpc('hardhat_mine', '0xe')
  }
  await stage.page.getByRole('link', { name: 'Newest block #3,600' }).waitFor()
  await rowsOf('Blocks').filter({ hasText: '3,600' }).waitFor()
  expect((await used()) - before).toBeLessThan(20_000_000)
})

test('axe-core finds nothing, and nothing is wider than the window', async () => {
  await send({ value: '0x1' })
  expect(await stage.inspect('', '#/block/1', '#/nowhere')).toEqual([])
})

describe('the server', () => {
  const accept = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }

  test('sends the page to browsers only, and to allowed hosts only', async () => {
    const html = await fetch(stage.url, { headers: accept })
    expect(html.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(html.headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; script-src 'self'; /,
    )
    expect(html.headers.get('x-frame-options')).toBe('DENY')
    expect(await html.text()).not.toMatch(/<script>|\son\w+=|style=/)
    expect(await (await fetch(stage.url)).json()).toMatchObject({ name: 'devchain' })
    expect(await (await fetch(`${stage.url}/health`, { headers: accept })).json()).toMatchObject({
      name: 'devchain',
    })
    expect((await fetch(`${stage.url}/unknown`, { headers: accept })).status).toBe(404)
  })

  test('sends a page that shows the chain without the module txpool', async () => {
    const without = await startChain({ disable: ['txpool'] })
    stage.others.push(without)
    await stage.page.goto((await without.listen()).url)
    await stage.page.getByRole('link', { name: 'Newest block #0' }).waitFor()
  })

  test('sends no page with noPage', async () => {
    const without = await startChain({ noPage: true })
    const { url: other } = await without.listen()
    expect(await (await fetch(other, { headers: accept })).json()).toMatchObject({
      name: 'devchain',
    })
    expect((await fetch(`${other}/page.js`)).status).toBe(404)
    await without.close()
  })

  test('sends less than 80 kB of it, compressed', () => {
    const files = ['index.html', 'page.js', 'page.css', 'page.svg']
    const bytes = files.map(
      (file) => gzipSync(readFileSync(path.join(ROOT, 'dist/page', file))).length,
    )
    expect(bytes.reduce((sum, each) => sum + each, 0)).toBeLessThan(80_000)
  })
})
