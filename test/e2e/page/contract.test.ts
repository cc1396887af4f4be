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
import { BOB } from './swap.ts'

const stage = new Stage(() => ({ noArtifacts: false, artifacts: [artifacts] }))

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
  const cells = await row.getByRole('cell').all()
  const tops = await Promise.all(cells.map(async (each) => (await each.boundingBox())?.y))
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

test('names and texts of a contract are text, never HTML', async () => {
  const hostile = '<img src=x onerror="document.title=1">'
  const name = '<script>alert(1)</script>'
  const item = { inputs: [{ name: hostile, type: 'uint256' }], stateMutability: 'nonpayable' }
  const abi = [{ ...item, type: 'function', name: 'f', outputs: [] }]
  await rpc('hardhat_setCode', BOB, '0x60aa60005260206000f3')
  const deployedBytecode = { object: '0x60aa60005260206000f3' }
  await rpc('devchain_addArtifacts', { contractName: name, abi, bytecode: {}, deployedBytecode })
  await send(rpc, {
    to: vault,
    value: ETHER,
    data: callData(project, 'Vault', 'deposit', [hostile]),
  })
  await open(BOB)
  await (await formOf('f(')).getByText(hostile).first().waitFor()
  await open(vault, 'events')
  await stage.page.getByText(hostile).waitFor()
  expect(await stage.page.locator('main img, main script').count()).toBe(0)
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
