// Acts of the page: what a user does to the chain without a program, and takes over into one.

import { execFileSync } from 'node:child_process'
import { createTestClient, http, publicActions, walletActions } from 'viem'
import { expect, test } from 'vitest'
import { Stage } from './browser.ts'
import { ALICE, BOB } from './swap.ts'

const stage = new Stage()

const STRANGER = '0x00000000000000000000000000000000000000aa'

const rpc: Stage['rpc'] = (...call) => stage.rpc(...call)
const act = async (id: string, values: Readonly<Record<string, string>> = {}): Promise<void> => {
  await stage.page.goto(`${stage.url}/#/act?do=${id}`)
  // from one act to the next the page is the same, and draws a little later
  await stage.page.locator(`nav.acts a[aria-current][href$="do=${id}"]`).waitFor()
  for (const [label, value] of Object.entries(values)) {
    await stage.page.locator('form.form').getByLabel(label).fill(value)
  }
}
const press = (name: string): Promise<void> =>
  stage.page.getByRole('button', { name, exact: true }).click()
const code = async (form: string): Promise<string> => {
  await stage.page.getByRole('button', { name: form, exact: true }).click()
  return (await stage.page.getByLabel(`The call as ${form}`).textContent()) ?? ''
}

test('a transfer is sent with the keyboard alone, and its link leads to the transaction', async () => {
  await stage.page.goto(stage.url)
  await stage.page.getByRole('status').getByText('Live').waitFor()
  await stage.page.keyboard.press('g')
  await stage.page.keyboard.press('a')
  await stage.page.getByLabel('To').focus()
  await stage.page.keyboard.type(BOB)
  await stage.page.getByLabel('Value').focus()
  await stage.page.keyboard.type('1.5')
  await stage.page.keyboard.press('Enter')
  await stage.page.getByText('Mined').waitFor()
  expect(await rpc('eth_getBalance', BOB, 'latest')).toBe(
    `0x${(10_001_500n * 10n ** 15n).toString(16)}`,
  )
  await stage.page.locator('.success').getByRole('link').press('Enter')
  await stage.page.getByRole('heading', { name: 'transfer' }).waitFor()
})

test('a field that is wrong is named, and nothing is sent', async () => {
  await act('send', { To: 'bob' })
  await stage.page.getByText('To: expected an address, got bob').waitFor()
  expect(await stage.page.getByRole('button', { name: 'Send a transaction' }).isDisabled()).toBe(
    true,
  )
  await act('balance', { Account: BOB, Balance: '1.5 bananas' })
  await stage.page.getByText('Balance: expected an amount such as 1.5 ether').waitFor()
  expect(await rpc('eth_blockNumber')).toBe('0x0')
})

test('a form is there once the accounts are, and so none comes between what somebody types', async () => {
  const { page } = stage
  let release = (): void => undefined
  await page.routeWebSocket(/./, (socket) => {
    const server = socket.connectToServer()
    socket.onMessage((text) => {
      if (!/eth_accounts/.test(String(text))) return server.send(text)
      release = () => server.send(text)
    })
  })
  await page.goto(`${stage.url}/#/act?do=send`)
  await page.locator('main.late').waitFor()
  await page.getByRole('region', { name: 'Send a transaction' }).getByText('Reading…').waitFor()
  expect(await page.getByLabel('From').count()).toBe(0)
  release()
  await page.getByLabel('From').fill(STRANGER)
  expect(await page.getByLabel('From').inputValue()).toBe(STRANGER)
})

test('an account without a key here sends, as it is impersonated first', async () => {
  await rpc('hardhat_setBalance', STRANGER, '0xde0b6b3a7640000')
  await act('send', { From: STRANGER, To: BOB, Value: '7 wei' })
  expect(await code('JSON-RPC')).toContain('hardhat_impersonateAccount')
  await press('Send a transaction')
  await stage.page.getByText('Mined').waitFor()
  expect(await rpc('eth_getTransactionCount', STRANGER, 'latest')).toBe('0x1')
})

test('a contract is deployed, and a call to it shows its result or why it reverts', async () => {
  // returns its input, or reverts with "zero" for 0
  const echo =
    '0x6038600c60003960386000f3600035801560105760005260206000f35b6308c379a060e01b60005260206004526004602452637a65726f60e01b60445260646000fd'
  await act('send', { Data: echo })
  await press('Send a transaction')
  await stage.page.getByText('created').waitFor()
  const to = '0x5fbdb2315678afecb367f032d93f642f64180aa3'
  expect(await rpc('eth_getCode', to, 'latest')).not.toBe('0x')
  await act('call', { To: to, Data: `0x${'5'.padStart(64, '0')}` })
  await press('Call')
  await stage.page
    .locator('.success')
    .getByText(`0x${'5'.padStart(64, '0')}`)
    .waitFor()
  await stage.page.getByLabel('Data').fill(`0x${'0'.repeat(64)}`)
  await press('Call')
  await stage.page.getByRole('alert').getByText('zero').waitFor()
  expect(await rpc('eth_blockNumber')).toBe('0x1')
})

test('balances, names, blocks and time change as asked', async () => {
  await act('balance', { Account: STRANGER, Balance: '2.5' })
  await press('Set a balance')
  await stage.page.getByText('Done.').waitFor()
  expect(await rpc('eth_getBalance', STRANGER, 'latest')).toBe('0x22b1c8c1227a0000')
  await act('label', { Account: STRANGER, Name: 'stranger' })
  await press('Name an account')
  await stage.page.locator('.success').waitFor()
  expect(await rpc('devchain_names', [STRANGER])).toEqual({
    '0x00000000000000000000000000000000000000AA': 'stranger',
  })
  await act('mine', { Blocks: '5', 'Time between': '1 min' })
  await press('Mine blocks')
  await stage.page.getByRole('link', { name: 'Newest block #5' }).waitFor()
  const time = async (): Promise<number> => {
    const block = await rpc('eth_getBlockByNumber', 'latest', false)
    return Number((block as { timestamp: string }).timestamp)
  }
  const before = await time()
  await act('time', { By: '1 d 2 h' })
  await press('Move time ahead')
  await stage.page.getByRole('link', { name: 'Newest block #6' }).waitFor()
  expect((await time()) - before).toBeGreaterThanOrEqual(26 * 3600)
  await act('moment', { 'Time (UTC)': '2090-01-01 12:00' })
  await press('Set the next time')
  await stage.page.getByRole('link', { name: 'Newest block #7' }).waitFor()
  expect(await time()).toBe(Date.UTC(2090, 0, 1, 12) / 1000)
})

test('a snapshot is taken, reverted to more than once, and lost by a reset', async () => {
  await rpc('hardhat_mine', '0x3')
  await act('snapshot', { Name: 'three' })
  await press('Take a snapshot')
  await stage.page.locator('.success').waitFor()
  for (const head of [5, 8]) {
    await rpc('hardhat_mine', `0x${(head - 3).toString(16)}`)
    await stage.page.getByRole('link', { name: `Newest block #${head}` }).waitFor()
    await act('revert')
    await stage.page
      .locator('form.form')
      .getByLabel('Snapshot')
      .selectOption({ label: 'three at block 3' })
    await press('Revert to a snapshot')
    await stage.page.getByRole('link', { name: 'Newest block #3' }).waitFor()
  }
  await act('reset')
  await press('Reset the chain')
  await stage.page.getByRole('link', { name: 'Newest block #0' }).waitFor()
  await act('revert')
  await stage.page.getByText('Snapshot: take one first').waitFor()
  const snapshots = stage.page.locator('form.form').getByLabel('Snapshot')
  await expect.poll(() => snapshots.textContent()).toBe('none taken yet')
})

test('transactions wait while mining is paused', async () => {
  await act('automine')
  await press('Pause mining')
  await stage.page.getByText('Done.').waitFor()
  await act('send', { To: BOB, Value: '1' })
  await press('Send a transaction')
  await stage.page.getByText('Waits in the pool').waitFor()
  await stage.page.getByText('1 pending').waitFor()
  await rpc('evm_setAutomine', true)
  await stage.page.getByText('Mined').waitFor()
})

test('a call that is copied as viem or as curl does the same', async () => {
  const value = '0xde0b6b3a7640000'
  await act('send', { To: BOB, Value: '1' })
  await stage.page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  const viem = await code('viem')
  await stage.page.getByRole('button', { name: 'Copy as viem' }).click()
  await stage.page.getByRole('button', { name: 'Copied' }).waitFor()
  expect(await stage.page.evaluate('navigator.clipboard.readText()')).toBe(viem)
  const parts = { createTestClient, http, publicActions, walletActions }
  const run = new Function(...Object.keys(parts), `return (async () => { ${viem} })()`)
  await run(...Object.values(parts))
  // a shell that prints what curl would get
  const words = execFileSync('sh', [
    '-c',
    `curl() { for each; do printf '%s\\0' "$each"; done; }; ${await code('curl')}`,
  ])
  const [target = '', , header = '', , body] = words.toString().split('\0')
  const [name = '', type = ''] = header.split(': ')
  await fetch(target, { method: 'POST', headers: { [name]: type }, body: body ?? '' })
  for (const number of ['0x1', '0x2']) {
    const block = await rpc('eth_getBlockByNumber', number, true)
    expect(block).toMatchObject({ transactions: [{ from: ALICE, to: BOB, value }] })
  }
})

test('what is typed stays one word of a shell, whatever it contains', async () => {
  await act('label', { Account: BOB, Name: "it's $(touch x) `y`" })
  const text = await code('curl')
  const shell = `curl() { printf '%s' "$5"; }; ${text}`
  const body = execFileSync('sh', ['-c', shell]).toString()
  expect(JSON.parse(body).params).toEqual([{ [BOB]: "it's $(touch x) `y`" }])
})

test('axe-core finds nothing on any act, and nothing is wider than the window', async () => {
  const places = ['send', 'mine', 'revert', 'reset'].map((id) => `#/act?do=${id}`)
  expect(await stage.inspect(...places)).toEqual([])
})
