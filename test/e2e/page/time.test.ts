// Travelling in time: blocks, snapshots, reverts and the difference of two points.
import { beforeEach, expect, test } from 'vitest'
import { Stage } from './browser.ts'
import { ALICE, BOB } from './swap.ts'

const stage = new Stage()
const pay = (ether: bigint): Promise<unknown> =>
  stage.rpc('eth_sendTransaction', {
    from: ALICE,
    to: BOB,
    value: `0x${(ether * 10n ** 18n).toString(16)}`,
  })
beforeEach(async () => {
  await stage.rpc('devchain_label', { [ALICE]: 'alice', [BOB]: 'bob' })
  for (const ether of [1n, 2n, 3n]) await pay(ether)
})

test('the slider shows the chain at any block, with a link, and leads back to now', async () => {
  const { page } = stage
  await stage.open('#/time')
  await page.getByText('the newest block').waitFor()
  await page.getByRole('slider', { name: 'Block' }).press('ArrowLeft')
  await page.getByText('1 block before the newest').waitFor()
  expect(page.url()).toBe(`${stage.url}/#/time?at=2`)
  await page.getByRole('link', { name: 'Blocks and transactions up to here' }).click()
  await page.getByText('You see the chain after block 2.').waitFor()
  await stage.rows('Newest transactions').filter({ hasText: '2 ether' }).waitFor()
  expect(await stage.rows('Newest transactions').filter({ hasText: '3 ether' }).count()).toBe(0)
  await page.getByRole('link', { name: 'Back to now' }).click()
  await stage.rows('Newest transactions').filter({ hasText: '3 ether' }).waitFor()
})

test('snapshots are marks on the line of time, for the mouse and the keyboard', async () => {
  const { page } = stage
  await stage.rpc('devchain_snapshot', 'three paid')
  await stage.rpc('hardhat_mine', '0x9')
  await stage.rpc('evm_snapshot')
  await stage.open('#/time')
  const slider = page.getByRole('slider', { name: 'Block' })
  for (const [key, text] of [
    ['Shift+ArrowLeft', 'block 3, Snapshot three paid'],
    ['Shift+ArrowLeft', 'block 0'],
    ['PageUp', 'block 1'],
    ['End', 'block 12, Snapshot 2'],
  ] as const) {
    await slider.press(key)
    await expect.poll(() => slider.getAttribute('aria-valuetext')).toBe(text)
  }
  await page.getByRole('link', { name: 'Snapshot three paid, block 3' }).click()
  await page.getByText('9 blocks before the newest').waitFor()
  // from the mark at a quarter to the end
  const [mark, end] = [page.getByText('three paid').first(), page.getByText('block 3').first()]
  const [from, to] = [(await mark.boundingBox())!, (await end.boundingBox())!]
  const y = from.y + from.height + 8
  await page.mouse.move(from.x + from.width + 20, y)
  await page.mouse.down()
  await page.mouse.move(to.x - 100, y)
  await page.mouse.up()
  await expect.poll(() => slider.getAttribute('aria-valuenow')).toBe('1')
})

test('a branch that a revert left is chosen, and the whole page shows the chain at its blocks', async () => {
  const { page } = stage
  const id = await stage.rpc('evm_snapshot')
  const hash = String(await pay(4n))
  await pay(5n)
  await stage.rpc('evm_revert', id)
  await pay(8n)
  await stage.open('#/time')
  await page.getByRole('link', { name: 'Blocks 4 to 5, 2 transactions' }).click()
  await page.getByText('off the chain').waitFor()
  const slider = page.getByRole('slider', { name: 'Block' })
  await slider.press('ArrowLeft')
  await expect
    .poll(() => slider.getAttribute('aria-valuetext'))
    .toBe('block 4, of a branch that was left')
  await stage.rows('Changed accounts').filter({ hasText: 'bob' }).getByText('+4 ether').waitFor()
  for (const key of ['ArrowLeft', 'ArrowRight', 'ArrowRight']) await slider.press(key)
  // the page follows the slider some times a second
  await expect.poll(() => page.getByLabel('Block number').inputValue()).toBe('5')
  await page.getByRole('link', { name: 'Blocks and transactions up to here' }).click()
  await page.getByText('You see the chain after block 5, which a revert or a reorg left.').waitFor()
  await stage.rows('Newest transactions').filter({ hasText: '5 ether' }).waitFor()
  expect(await stage.rows('Newest transactions').filter({ hasText: '8 ether' }).count()).toBe(0)
  expect(await stage.rows('Blocks').count()).toBe(7)
  await page.getByRole('link', { name: 'Accounts' }).click()
  const bob = stage.rows('Accounts').filter({ hasText: 'bob' })
  await bob.getByText('10,015 ether').waitFor()
  await bob.getByRole('link').click()
  await page.getByRole('region', { name: 'Account' }).getByText('10,015 ether').waitFor()
  await stage.rows('Transactions').filter({ hasText: '5 ether' }).waitFor()
  expect(await stage.rows('Transactions').count()).toBe(6)
  await page.goto(`${stage.url}/#/tx/${hash}`)
  await page.getByText('not in the chain').waitFor()
  await page.getByRole('table', { name: 'Calls' }).getByText('4 ether').waitFor()
})

test('the difference of two points names the accounts, with balances and nonces', async () => {
  await stage.open('#/time?at=3&from=1')
  const bob = stage.rows('Changed accounts').filter({ hasText: 'bob' })
  await bob.filter({ hasText: '10,001 ether' }).filter({ hasText: '10,006 ether' }).waitFor()
  await bob.getByText('+5 ether').waitFor()
  await stage.rows('Changed accounts').filter({ hasText: 'alice' }).getByText('1 to 3').waitFor()
  await stage.page.getByRole('spinbutton', { name: 'Compare with block' }).fill('2')
  await stage.page.keyboard.press('Enter')
  await bob.getByText('+3 ether').waitFor()
})

test('going back removes blocks, shows its call to copy, and keeps what it left in sight', async () => {
  const { page } = stage
  await stage.open()
  await stage.rows('Blocks').filter({ hasText: '21,000' }).nth(2).waitFor()
  await page.goto(`${stage.url}/#/time?at=1`)
  await page.getByText('Go back to block 1', { exact: true }).first().click()
  await page.getByText('"method": "debug_setHead"').waitFor()
  await page.getByRole('button', { name: 'Go back to block 1' }).click()
  await page.getByRole('link', { name: 'Newest block #1' }).waitFor()
  expect(await stage.rpc('eth_blockNumber')).toBe('0x1')
  await page.getByRole('link', { name: 'Blocks 2 to 3, 2 transactions' }).waitFor()
})

test('a branch begins after any block, and replays the later ones after a change', async () => {
  const { page } = stage
  await stage.open('#/time?at=1')
  await page.getByText('Branch from block 1', { exact: true }).first().click()
  await page.getByRole('button', { name: 'Branch from block 1' }).click()
  await page.getByRole('link', { name: 'Open /chain-1' }).click()
  await page.getByText('/chain-1 chain').waitFor()
  await page.goBack()
  await page.getByRole('link', { name: 'Chain /chain-1, block 1' }).waitFor()
  await page.getByRole('link', { name: '/chain-1', exact: true }).click()
  await page.getByText('/chain-1 chain').waitFor()
  const params = [ALICE, '0x22b1c8c1227a0000']
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'hardhat_setBalance', params })
  await fetch(`${stage.url}/chain-1`, { method: 'POST', body })
  await page.getByRole('link', { name: 'Blocks 2 to 3, 2 transactions' }).click()
  await page.getByText('off the chain').waitFor()
  await page.getByText('Replay up to block 3', { exact: true }).first().click()
  await page.getByRole('button', { name: 'Replay up to block 3' }).click()
  await page.getByText('Replayed 2 transactions: 1 did not do the same.').waitFor()
  await stage.rows('Replayed').nth(1).getByText('succeeded, 21,000 gas').nth(1).waitFor()
  await stage.rows('Replayed').nth(2).getByText('refused: insufficient funds').waitFor()
  expect(await stage.rpc('eth_blockNumber')).toBe('0x3')
})

test('blocks of a revert before the page was opened are seen, and a branch has them', async () => {
  const { page } = stage
  const id = await stage.rpc('evm_snapshot')
  const hash = String(await pay(4n))
  await stage.rpc('evm_revert', id)
  await stage.open('#/time')
  await page.getByRole('link', { name: 'Block 4, 1 transaction' }).click()
  await page.getByRole('link', { name: '4', exact: true }).click()
  await page.getByText('not in the chain: a revert or a reorg left it').waitFor()
  await page.getByText('Branch from block 4', { exact: true }).first().click()
  await page.getByRole('button', { name: 'Branch from block 4' }).click()
  await page.getByRole('link', { name: 'Open /chain-1' }).click()
  await page.getByText('/chain-1 chain').waitFor()
  await page.goto(`${stage.url}/chain-1#/tx/${hash}`)
  await page.getByText('4 ether').first().waitFor()
})

test('the difference of two points has storage, and blocks have the acts that go on from them', async () => {
  await stage.rpc('hardhat_setStorageAt', BOB, '0x7', `0x${'9'.padStart(64, '0')}`)
  await pay(1n)
  await stage.open('#/time?at=4&from=2')
  await stage.page.getByText('slot 0x7 0 → 9').waitFor()
  await stage.open('#/block/2')
  await stage.page.getByText('Go back to block 2', { exact: true }).first().waitFor()
})

test('a snapshot is taken, reverted to, branched from and dropped', async () => {
  const { page } = stage
  await stage.open('#/time')
  await page.getByRole('textbox', { name: 'Name of a new snapshot' }).fill('paid')
  await page.getByText('Take the snapshot paid').first().click()
  await page.getByRole('button', { name: 'Take the snapshot paid' }).click()
  await page.getByRole('heading', { name: 'paid' }).waitFor()
  await pay(4n)
  await page.getByRole('link', { name: 'Newest block #4' }).waitFor()
  await page.getByText('Revert to paid').first().click()
  await page.getByRole('button', { name: 'Revert to paid' }).click()
  await page.getByRole('link', { name: 'Newest block #3' }).waitFor()
  await page.getByText('Branch from paid').first().click()
  await page.getByRole('button', { name: 'Branch from paid' }).click()
  await expect
    .poll(async () => ((await stage.rpc('devchain_chains')) as readonly unknown[]).length)
    .toBe(2)
  await page.getByText('Drop paid').first().click()
  await page.getByRole('button', { name: 'Drop paid' }).click()
  await page.getByText('There is no snapshot.').waitFor()
})

test('of many snapshots the newest are listed, and all when asked to', async () => {
  const { page } = stage
  for (let i = 0; i < 60; i++) await stage.rpc('evm_snapshot')
  await stage.open('#/time')
  const listed = page.getByRole('heading', { name: /^Snapshot \d+$/ })
  await listed.first().getByText('Snapshot 60').waitFor()
  expect(await listed.count()).toBe(20)
  await page.getByRole('button', { name: 'Show all 60 snapshots' }).click()
  await expect.poll(() => listed.count()).toBe(60)
})

test('a link to a block that a reset took away shows the newest, on all views', async () => {
  await stage.open('#/accounts?at=3')
  await stage.page.getByText('You see the chain after block 3.').waitFor()
  await stage.rpc('evm_reset')
  await stage.page.getByText('You see the chain after block 0.').waitFor()
  const [first] = (await stage.rpc('eth_accounts')) as readonly [string]
  const row = stage.rows('Accounts').nth(1)
  await row.getByText('10,000 ether', { exact: true }).waitFor()
  await stage.open(`#/address/${first}?at=3`)
  await stage.page.getByText('10,000 ether').waitFor()
})

test('axe-core finds nothing, and nothing is wider than the window', async () => {
  await stage.rpc('devchain_snapshot', 'paid')
  expect(await stage.inspect('#/time?at=3&from=1', '#/time?at=1')).toEqual([])
})
