// A contract on the page: its functions as forms, its storage by name, its events and its source.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Locator } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type Ask, callData, deploy, initCode, SENDER, send } from '../../support/chain/deploy.ts'
import {
  type Compilation,
  compile,
  projectSources,
  writeProject,
} from '../../support/solidity/solidity.ts'
import { Stage } from './browser.ts'
import { artifactNamed, hostile, TEXTS } from './hostile.ts'
import { BOB } from './swap.ts'

const stage = new Stage(() => ({ noArtifacts: false, artifacts: [artifacts] }))

const STRANGER = '0x00000000000000000000000000000000000000aa'

interface RpcBlock {
  readonly transactions: readonly string[]
}

const ETHER = '0xde0b6b3a7640000'

let folder: string
let artifacts: string
let project: Compilation
let vault: string

const rpc: Ask = (method, ...params) => stage.devchain.request({ method, params })
const open = (address: string, tab?: string): Promise<unknown> =>
  stage.page.goto(`${stage.url}/#/address/${address}${tab === undefined ? '' : `?tab=${tab}`}`)
const formOf = async (name: string): Promise<Locator> => {
  await stage.page.locator('summary').filter({ hasText: name }).click()
  return stage.page.locator('details').filter({ hasText: name })
}

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'devchain-page-'))
  project = compile(projectSources())
  artifacts = writeProject(folder, 'foundry', project)
})
afterAll(async () => {
  rmSync(folder, { recursive: true })
})
beforeEach(async () => {
  const rates = await deploy(rpc, initCode(project, 'Rates'))
  vault = await deploy(rpc, initCode(project, 'Vault', [SENDER, 7n], { Rates: rates }))
})

test('a function that reads shows its result, without a transaction', async () => {
  await send(rpc, { to: vault, value: ETHER })
  await open(vault)
  await stage.page.getByRole('heading', { name: 'Vault', exact: true }).waitFor()
  const form = await formOf('balanceOf')
  expect(await form.getByRole('button', { name: 'Read' }).isDisabled()).toBe(true)
  await form.getByLabel('argument 1').fill(SENDER)
  await form.getByRole('button', { name: 'Read' }).click()
  await form.getByText('1,000,000,000,000,000,000 (1 with 18 decimals)').waitFor()
  expect(await form.locator('pre').textContent()).toContain('eth_call')
  expect(await rpc('eth_blockNumber')).toBe('0x3')
})

test('a payable function is simulated, then sent, and its event appears', async () => {
  await open(vault)
  const form = await formOf('deposit')
  await form.getByLabel('note').fill('rent, "May"')
  await form.getByLabel('Value').fill('1.5')
  await form.getByRole('button', { name: 'Simulate' }).click()
  await form.getByText('It would succeed.').waitFor()
  expect(await rpc('eth_blockNumber')).toBe('0x2')
  await form.getByRole('button', { name: 'Send' }).click()
  await form.getByText('Mined').waitFor()
  await stage.page.getByRole('link', { name: 'Events' }).click()
  const event = stage.page.getByRole('table', { name: 'Events' }).getByRole('row').nth(1)
  await event.getByText('Deposited').waitFor()
  expect(await event.textContent()).toContain('rent, "May"')
})

test('a simulation says why the function would revert', async () => {
  await open(vault)
  const form = await formOf('withdraw')
  await form.getByLabel('amount').fill('5 ether')
  await form.getByRole('button', { name: 'Simulate' }).click()
  await form.getByRole('alert').getByText('InsufficientBalance(have 0, want 5 ether)').waitFor()
  await form.getByRole('alert').getByText('at Vault._check (src/Vault.sol:72:20)').waitFor()
})

test('structs and lists are given as JSON, and errors name the argument', async () => {
  await send(rpc, { to: vault, value: ETHER })
  await open(vault)
  const form = await formOf('place')
  const order = form.getByLabel('order')
  await order.fill('{"who": "bob"}')
  await form.getByText('order: expected an address, got bob').waitFor()
  await order.fill(`{"who": "${SENDER}", "amounts": [1, "0.25 ether", "0x2"]}`)
  await form.getByRole('button', { name: 'Simulate' }).click()
  await form.getByText('250,000,000,000,000,003').waitFor()
})

test('somebody without a key sends, as the account is impersonated', async () => {
  const stranger = '0x00000000000000000000000000000000000000aa'
  await rpc('hardhat_setBalance', stranger, ETHER)
  await open(vault)
  const form = await formOf('deposit')
  // the first account comes there once it is read, behind what is written meanwhile
  await expect.poll(() => form.getByLabel('From').inputValue()).not.toBe('')
  await form.getByLabel('From').fill(stranger)
  await form.getByLabel('Value').fill('7 wei')
  await form.getByRole('button', { name: 'Send' }).click()
  await form.getByText('Mined').waitFor()
  const data = callData(project, 'Vault', 'balanceOf', [stranger])
  expect(Number(await rpc('eth_call', { to: vault, data }, 'latest'))).toBe(7)
})

test('storage shows variables and elements of mappings by name, and follows the chain', async () => {
  await rpc('devchain_label', { [SENDER]: 'alice' })
  await open(vault, 'storage')
  const row = (name: string): Locator =>
    stage.page.getByRole('table', { name: 'Storage' }).getByRole('row').filter({ hasText: name })
  await row('total').getByText('0', { exact: true }).waitFor()
  await send(rpc, { to: vault, value: ETHER })
  await row('balanceOf[alice]').getByText('1 ether').waitFor()
  await row('isClosed').getByText('false').waitFor()
  const past = `${stage.url}/#/address/${vault}?at=2&tab=storage`
  await stage.page.goto(past)
  await row('total').getByText('0', { exact: true }).waitFor()
  expect(await row('balanceOf').count()).toBe(0)
})

test('a contract on a branch that a revert left has its storage, events and history there', async () => {
  const id = await rpc('evm_snapshot')
  const data = callData(project, 'Vault', 'deposit', ['rent'])
  await send(rpc, { to: vault, value: ETHER, data })
  await send(rpc, { to: vault, value: ETHER, data })
  const { hash } = (await rpc('eth_getBlockByNumber', '0x3', false)) as { hash: string }
  await rpc('evm_revert', id)
  await stage.open(`#/address/${vault}?at=${hash}&tab=events`)
  await stage.rows('Events').getByText('Deposited').waitFor()
  expect(await stage.rows('Events').count()).toBe(2)
  await stage.page.getByRole('link', { name: 'Storage' }).click()
  const total = stage.rows('Storage').filter({ hasText: 'total' })
  await total.getByText('1,000,000,000,000,000,000').or(total.getByText('1 ether')).waitFor()
  await stage.page.getByRole('link', { name: 'History' }).click()
  const groups = stage.page.getByRole('region', { name: 'History' }).locator('.group')
  await groups.first().getByText('balance 0 ether → 1 ether', { exact: true }).waitFor()
  await groups.nth(1).getByText('code none').waitFor()
})

test('a proxy has the functions and the storage of the contract that it runs', async () => {
  const coin = await deploy(rpc, initCode(project, 'Coin', [1_000_000n]))
  const proxy = await deploy(rpc, initCode(project, 'Proxy', [coin]))
  await open(proxy)
  await stage.page.getByText('Coin through a proxy').waitFor()
  const form = await formOf('approve')
  await form.getByLabel('spender').fill(BOB)
  await form.getByLabel('value').first().fill('250')
  await form.getByRole('button', { name: 'Send' }).click()
  await form.getByText('Mined').waitFor()
  await stage.page.getByRole('link', { name: 'Storage' }).click()
  const rows = stage.page.getByRole('table', { name: 'Storage' }).getByRole('row')
  await rows.filter({ hasText: 'allowance' }).getByText('250').waitFor()
  await rows.filter({ hasText: 'implementation' }).waitFor()
})

test('the log names calls and the errors of contracts', async () => {
  await stage.page.goto(`${stage.url}/#/log`)
  const data = callData(project, 'Vault', 'withdraw', [5n * 10n ** 18n])
  const row = stage.page.getByRole('table', { name: 'Calls' }).getByRole('row').nth(1)
  await expect
    .poll(async () => {
      await rpc('eth_call', { to: vault, data }, 'latest').catch(() => undefined)
      return await row.count()
    })
    .toBeGreaterThan(0)
  await row.getByText('Vault.withdraw(5 ether)').waitFor()
  await row.getByText('InsufficientBalance(have 0, want 5 ether)').waitFor()
  // at one moment: the row moves when another call comes
  const tops = await row.evaluate((element) =>
    [...element.children].map((cell) => cell.getBoundingClientRect().top),
  )
  expect(new Set(tops).size).toBe(1)
})

test('the source has the lines of the file, and those of its imports', async () => {
  await open(vault, 'source')
  await stage.page.getByText('contract Vault is Ledger {').waitFor()
  await stage.page.getByLabel('File').selectOption('src/Ledger.sol')
  await stage.page.getByText('abstract contract Ledger {').waitFor()
})

test('code without an artifact says what to do, and an account without code has transactions', async () => {
  await rpc('hardhat_setCode', BOB, '0x60aa60005260206000f3')
  await open(BOB)
  await stage.page.getByText('No artifact has this code').waitFor()
  await open(SENDER)
  await stage.page.getByText('10,000 ether').waitFor()
  const rows = stage.page.getByRole('table', { name: 'Transactions' }).getByRole('row')
  await rows.filter({ hasText: 'Vault' }).waitFor()
})

test.each(TEXTS)('names and texts that are %s stay text, in their place', async (_, text) => {
  const { page } = stage
  await rpc('devchain_addArtifacts', artifactNamed(text))
  const made = await deploy(rpc, initCode(hostile(), 'Hostile', [text.slice(0, 600)]))
  await rpc('devchain_label', { [STRANGER]: text })
  const order = (name: string) => ({ to: made, data: callData(hostile(), 'Hostile', name, [text]) })
  const gas = '0x1000000'
  const said = await send(rpc, { ...order('say'), gas })
  await send(rpc, { to: STRANGER, value: ETHER })
  await rpc('eth_sendTransaction', { from: SENDER, ...order('fail'), gas }).catch(() => undefined)
  const [failed] = ((await rpc('eth_getBlockByNumber', 'latest', false)) as RpcBlock).transactions
  await page.setViewportSize({ width: 360, height: 800 })
  await stage.open('#/log')
  await rpc('eth_call', { from: SENDER, ...order('say') }, 'latest')
  const contract = `#/address/${made}`
  const tabs = ['functions', 'storage', 'events', 'history', 'transactions']
  const places = ['#/log', '', '#/accounts', `#/tx/${said.transactionHash}`, `#/tx/${failed}`]
  for (const place of [...places, ...tabs.map((tab) => `${contract}?tab=${tab}`)]) {
    await stage.open(place)
    expect(await page.evaluate(FAULTS), place).toEqual([])
  }
  await stage.open(`#/tx/${failed}`)
  const reason = page.getByRole('region', { name: 'Why it failed' })
  if (text.length > 1_000) {
    await reason.getByText(/^100,\d+ bytes$/).click()
    const bytes = Buffer.from(text).toString('hex')
    expect(await reason.locator('.bytes').textContent()).toContain(bytes)
    await stage.open(`#/tx/${said.transactionHash}`)
    const facts = page.getByRole('region', { name: 'Transaction' })
    await facts.getByText('100,000 characters').click()
    expect(await facts.textContent()).toContain(text)
  } else await reason.getByText(text.slice(0, 3)).first().waitFor()
})

/** What a page must not have: elements made of text, unseen characters, other widths, and links named like other addresses. */
const FAULTS = `[
  ...[...document.querySelectorAll('main img, main script, main iframe')].map((each) => each.outerHTML),
  ...(/[\\u0000-\\u0008\\u001b\\u200b\\u202e\\u2066]/.test(document.body.textContent) ? ['unseen'] : []),
  ...(document.title.endsWith('devchain') ? [] : [document.title]),
  ...(document.documentElement.scrollWidth === innerWidth ? [] : ['wide ' + document.documentElement.scrollWidth]),
  ...[...document.querySelectorAll('main a[href*="/address/0x"]')].filter((each) => {
    const [, start, end] = /^(0x[0-9a-f]{4})…([0-9a-f]{4})$/.exec(each.textContent) ?? []
    return start && !new RegExp('/' + start + '[0-9a-f]+' + end + '(\\\\?|$)').test(each.hash)
  }).map((each) => each.outerHTML),
  ...[...document.querySelectorAll('main .row')].filter((each) => each.clientHeight > 60).map(() => 'a row of many lines'),
  ...[...document.querySelectorAll('main h1')].filter((each) => each.clientHeight > 200).map(() => 'a long heading'),
]`

test('an ABI that is not whole is shown as far as it is, and the rest of the page goes on', async () => {
  const { page } = stage
  const odd = await deploy(rpc, initCode(hostile(), 'Hostile', ['S']))
  const abi = [
    { type: 'function', name: 'bare' },
    { type: 'function', name: 'untyped', inputs: [{ name: 'x' }] },
  ]
  await rpc('devchain_addArtifacts', { ...artifactNamed('Odd'), abi })
  await open(odd)
  const form = await formOf('bare')
  await form.getByRole('button', { name: 'Simulate' }).waitFor()
  await formOf('untyped')
  await page.getByRole('alert').getByText('cannot show this').waitFor()
  await page.getByRole('link', { name: 'Live', exact: true }).click()
  await stage.rows('Blocks').nth(1).waitFor()
})

test('the history of a contract has what transactions and setters changed, by name, newest first', async () => {
  const { page } = stage
  await rpc('devchain_label', { [SENDER]: 'alice' })
  for (let i = 1; i <= 11; i++) await send(rpc, { to: vault, value: ETHER })
  await open(vault, 'history')
  const groups = page.getByRole('region', { name: 'History' }).locator('.group')
  await groups.first().getByText('balanceOf[alice] 10 ether → 11 ether').waitFor()
  await groups.first().getByText('balance 10 ether → 11 ether', { exact: true }).waitFor()
  expect(await groups.count()).toBe(10)
  await page.getByRole('button', { name: 'Older' }).click()
  await groups.getByText(/code none → [\d,]+ bytes/).waitFor()
  expect(await page.getByRole('button', { name: 'Older' }).isDisabled()).toBe(true)
  await page.getByRole('button', { name: 'Newer' }).click()
  await groups.nth(9).waitFor()
  // and what no transaction did
  await rpc('hardhat_setBalance', vault, '0x1')
  await rpc('hardhat_setStorageAt', vault, '0x63', `0x${'7'.padStart(64, '0')}`)
  await groups.first().getByText('set after this block, without a transaction').waitFor()
  await groups.first().getByText('balance 11 ether → 1 wei', { exact: true }).waitFor()
  await groups.first().getByText('slot 0x63 0 → 7').waitFor()
})

test('addresses in events and arguments are links with names, and console lines have a place', async () => {
  const { page } = stage
  await rpc('devchain_label', { [BOB]: 'bob' })
  const coin = await deploy(rpc, initCode(project, 'Coin', [1_000_000n]))
  const data = callData(project, 'Coin', 'transfer', [BOB, 5n])
  const { transactionHash } = await send(rpc, { to: coin, data })
  await stage.open(`#/tx/${transactionHash}`)
  for (const place of ['Transaction', 'Events']) {
    const link = page.getByRole('region', { name: place }).getByRole('link', { name: 'bob' })
    await link.waitFor()
    expect(await link.getAttribute('href')).toBe(`#/address/${BOB.toLowerCase()}`)
  }
  await open(coin, 'events')
  await stage.rows('Events').getByRole('link', { name: 'bob' }).waitFor()
  const made = await deploy(rpc, initCode(hostile(), 'Hostile', ['S']))
  const say = { to: made, data: callData(hostile(), 'Hostile', 'say', ['hello from inside']) }
  const line = stage.rows('Calls').filter({ hasText: 'console.log' })
  await stage.open('#/log')
  await expect
    .poll(async () => {
      await rpc('eth_call', say, 'latest')
      return await line.count()
    })
    .toBeGreaterThan(0)
  const sent = await send(rpc, say)
  await line.nth(1).getByText('hello from inside').waitFor()
  await stage.open(`#/tx/${sent.transactionHash}`)
  await page.getByRole('region', { name: 'Console' }).getByText('hello from inside').waitFor()
})

test('axe-core finds nothing on a contract, and nothing is wider than the window', async () => {
  await send(rpc, { to: vault, value: ETHER })
  await stage.open(`#/address/${vault}`)
  await formOf('withdraw')
  expect(await stage.inspectOpen('functions')).toEqual([])
  const tabs = ['storage', 'events', 'source', 'transactions']
  const places = tabs.map((tab) => `#/address/${vault}?tab=${tab}`)
  expect(await stage.inspect(...places)).toEqual([])
})
