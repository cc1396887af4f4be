// Accounts with their tokens, the chains of the process, peers and forks on the page.

import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Devchain } from '../../../src/devchain.ts'
import { type Ask, deploy, initCode, SENDER } from '../../support/chain/deploy.ts'
import { compile, projectSources } from '../../support/solidity/solidity.ts'
import { violationsOn } from './axe.ts'
import { problemsOf, startBrowser, startChain } from './browser.ts'

const BOB = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8'
const STRANGER = '0x00000000000000000000000000000000000000aa'

let browser: Browser
let devchain: Devchain
let others: Devchain[]
let url: string
let page: Page
let problems: readonly string[]

beforeAll(async () => {
  browser = await startBrowser()
})
afterAll(async () => {
  await browser.close()
})
beforeEach(async () => {
  others = []
  devchain = await startChain()
  url = (await devchain.listen()).url
  page = await browser.newPage({ viewport: { width: 1280, height: 800 } })
  problems = problemsOf(page)
})
afterEach(async () => {
  await page.close()
  for (const each of [devchain, ...others]) await each.close()
  expect(problems).toEqual([])
})

const rpc: Ask = (method, ...params) => devchain.request({ method, params })
const rows = () => page.getByRole('table', { name: 'Accounts' }).getByRole('row')
const open = (path: string): Promise<unknown> => page.goto(`${url}/#/${path}`)

test('accounts show names, ether and tokens, and follow the chain', async () => {
  await rpc('devchain_label', { [SENDER]: 'alice' })
  const project = compile(projectSources())
  const coin = await deploy(rpc, initCode(project, 'Coin', [7_500_000n]))
  await page.goto(url)
  await page.getByRole('status').getByText('Live').waitFor()
  await page.keyboard.press('g')
  await page.keyboard.press('c')
  const alice = rows().filter({ hasText: 'alice' })
  await page.getByRole('columnheader', { name: 'USC' }).waitFor()
  await alice.getByText('7.5', { exact: true }).waitFor()
  await rpc('anvil_dealERC20', STRANGER, coin, '0x3d0900')
  await rpc('hardhat_setBalance', STRANGER, '0x14d1120d7b160000')
  const stranger = rows().filter({ hasText: '0x0000…00aa' })
  await stranger.getByText('1.5 ether').waitFor()
  await stranger.getByText('4', { exact: true }).waitFor()
})

test('accounts are filtered by name, and lead to their page', async () => {
  await rpc('devchain_label', { [BOB]: 'bob' })
  await open('accounts')
  await rows().nth(5).waitFor()
  await page.getByLabel('Filter accounts').fill('BO')
  await rows().nth(2).waitFor({ state: 'detached' })
  await rows().filter({ hasText: 'bob' }).getByRole('link').click()
  await page.getByRole('heading', { name: 'bob' }).waitFor()
  await page.goBack()
  await page.getByLabel('Filter accounts').fill('nobody')
  await page.getByText('No account matches.').waitFor()
})

test('a chain is made, opened and dropped', async () => {
  await open('network')
  await page.getByRole('article', { name: 'Chain /' }).getByText('this one').waitFor()
  await page.getByRole('link', { name: 'New chain' }).click()
  await page.locator('form.form').getByLabel('Name').fill('alice')
  await page.getByRole('button', { name: 'Make a chain' }).click()
  await page.locator('.success').waitFor()
  await open('network')
  const card = page.getByRole('article', { name: 'Chain /alice' })
  await card.getByRole('link', { name: '/alice' }).click()
  await page.getByText('/alice chain').waitFor()
  await open('network')
  await card.getByRole('link', { name: 'Drop it' }).click()
  await page.getByRole('button', { name: 'Drop a chain' }).click()
  await page.getByText('Done.').waitFor()
  expect(await rpc('devchain_chains')).toHaveLength(1)
})

test('a peer is added, partitioned and connected again', async () => {
  await open('network')
  await page.getByText('No peers.').waitFor()
  const bob = await startChain({ nodeName: 'bob', timestamp: 1_600_000_000 })
  others.push(bob)
  const { url: peer } = await bob.listen()
  await devchain.close()
  await page.getByText('devchain does not respond').waitFor()
  devchain = await startChain({ timestamp: 1_600_000_000, port: Number(new URL(url).port) })
  await devchain.listen()
  await page.getByRole('status').getByText('Live').waitFor()
  await page.getByRole('link', { name: 'Add a peer' }).click()
  await page.locator('form.form').getByLabel('URL').fill(peer)
  await page.getByRole('button', { name: 'Add a peer' }).click()
  await page.getByText('Done.').waitFor()
  await open('network')
  const card = page.getByRole('article', { name: /^Peer .*bob/ })
  await card.getByRole('link', { name: 'Partition' }).click()
  await page.getByRole('button', { name: 'Partition a peer' }).click()
  await page.locator('.success').waitFor()
  await open('network')
  await card.getByText('partitioned').waitFor()
  await card.getByRole('link', { name: 'Connect again' }).click()
  await page.getByRole('button', { name: 'Connect a peer again' }).click()
  await page.locator('.success').waitFor()
  await open('network')
  await card.getByRole('link', { name: 'Partition' }).waitFor()
})

test('a fork shows its network, its block and what it fetched', async () => {
  await rpc('hardhat_mine', '0x5')
  const fork = await startChain({ fork: url })
  others.push(fork)
  const { url: forked } = await fork.listen()
  await page.goto(`${forked}/#/network`)
  const panel = page.getByRole('region', { name: 'Fork' })
  await panel.getByText('block 5').waitFor()
  await panel.getByText(/\d+ items? in \d+ requests?/).waitFor()
  await page.goto(`${forked}/#/accounts`)
  await rows().nth(3).waitFor()
  await open('network')
  await page.getByText('This chain is no fork.').waitFor()
})

test.each([
  [360, 'dark'],
  [1280, 'light'],
] as const)(
  'at %i pixels, %s, axe-core finds nothing on accounts and network',
  async (width, colorScheme) => {
    await page.setViewportSize({ width, height: 800 })
    await page.emulateMedia({ colorScheme })
    for (const path of ['accounts', 'network']) {
      await open(path)
      await page.getByRole('status').getByText('Live').waitFor({ state: 'attached' })
      await page.getByText('Reading…').waitFor({ state: 'detached' })
      expect(await violationsOn(page)).toEqual([])
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width)
    }
  },
)
