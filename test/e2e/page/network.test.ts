// Accounts with their tokens, the chains of the process, peers and forks on the page.

import { expect, test } from 'vitest'
import { type Ask, deploy, initCode, SENDER } from '../../support/chain/deploy.ts'
import { compile, projectSources } from '../../support/solidity/solidity.ts'
import { Stage, startChain } from './browser.ts'
import { BOB } from './swap.ts'

const stage = new Stage()

const STRANGER = '0x00000000000000000000000000000000000000aa'

const rpc: Ask = (method, ...params) => stage.devchain.request({ method, params })
const rows = () => stage.page.getByRole('table', { name: 'Accounts' }).getByRole('row')
const open = (path: string): Promise<unknown> => stage.page.goto(`${stage.url}/#/${path}`)

test('accounts show names, ether and tokens, and follow the chain', async () => {
  await rpc('devchain_label', { [SENDER]: 'alice' })
  const project = compile(projectSources())
  const coin = await deploy(rpc, initCode(project, 'Coin', [7_500_000n]))
  await stage.page.goto(stage.url)
  await stage.page.getByRole('status').getByText('Live').waitFor()
  await stage.page.keyboard.press('g')
  await stage.page.keyboard.press('c')
  const alice = rows().filter({ hasText: 'alice' })
  await stage.page.getByRole('columnheader', { name: 'USC' }).waitFor()
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
  await stage.page.getByLabel('Filter accounts').fill('BO')
  await rows().nth(2).waitFor({ state: 'detached' })
  await rows().filter({ hasText: 'bob' }).getByRole('link').click()
  await stage.page.getByRole('heading', { name: 'bob' }).waitFor()
  await stage.page.goBack()
  await stage.page.getByLabel('Filter accounts').fill('nobody')
  await stage.page.getByText('No account matches.').waitFor()
})

test('a chain is made, opened and dropped', async () => {
  await open('network')
  await stage.page.getByRole('article', { name: 'Chain /' }).getByText('this one').waitFor()
  await stage.page.getByRole('link', { name: 'New chain' }).click()
  await stage.page.locator('form.form').getByLabel('Name').fill('alice')
  await stage.page.getByRole('button', { name: 'Make a chain' }).click()
  await stage.page.locator('.success').waitFor()
  await open('network')
  const card = stage.page.getByRole('article', { name: 'Chain /alice' })
  await card.getByRole('link', { name: '/alice' }).click()
  await stage.page.getByText('/alice chain').waitFor()
  await open('network')
  await card.getByRole('link', { name: 'Drop it' }).click()
  await stage.page.getByRole('button', { name: 'Drop a chain' }).click()
  await stage.page.getByText('Done.').waitFor()
  expect(await rpc('devchain_chains')).toHaveLength(1)
})

test('a peer is added, partitioned and connected again', async () => {
  await open('network')
  await stage.page.getByText('No peers.').waitFor()
  const bob = await startChain({ nodeName: 'bob', timestamp: 1_600_000_000 })
  stage.others.push(bob)
  const { url: peer } = await bob.listen()
  await stage.devchain.close()
  await stage.page.getByText('devchain does not respond').waitFor()
  stage.devchain = await startChain({
    timestamp: 1_600_000_000,
    port: Number(new URL(stage.url).port),
  })
  await stage.devchain.listen()
  await stage.page.getByRole('status').getByText('Live').waitFor()
  await stage.page.getByRole('link', { name: 'Add a peer' }).click()
  await stage.page.locator('form.form').getByLabel('URL').fill(peer)
  await stage.page.getByRole('button', { name: 'Add a peer' }).click()
  await stage.page.getByText('Done.').waitFor()
  await open('network')
  const card = stage.page.getByRole('article', { name: /^Peer .*bob/ })
  await card.getByRole('link', { name: 'Partition' }).click()
  await stage.page.getByRole('button', { name: 'Partition a peer' }).click()
  await stage.page.locator('.success').waitFor()
  await open('network')
  await card.getByText('partitioned').waitFor()
  await card.getByRole('link', { name: 'Connect again' }).click()
  await stage.page.getByRole('button', { name: 'Connect a peer again' }).click()
  await stage.page.locator('.success').waitFor()
  await open('network')
  await card.getByRole('link', { name: 'Partition' }).waitFor()
})

test('a fork has tokens and storage of its network by name, before anything was sent there', async () => {
  const project = compile(projectSources())
  const coin = await deploy(rpc, initCode(project, 'Coin', [7_500_000n]))
  const fork = await startChain({ fork: stage.url })
  stage.others.push(fork)
  await fork.request({
    method: 'hardhat_addCompilationResult',
    params: ['0.8.37', project.input, project.output],
  })
  const { url: forked } = await fork.listen()
  await stage.page.goto(`${forked}/#/address/${coin}?tab=storage`)
  await stage.page.getByRole('heading', { name: 'Coin' }).waitFor()
  await stage.rows('Storage').filter({ hasText: 'symbol' }).getByText('"USC"').waitFor()
  await stage.page.goto(`${forked}/#/accounts`)
  await stage.page.getByRole('columnheader', { name: 'USC' }).waitFor()
  await rows().filter({ hasText: '0xf39f…2266' }).getByText('7.5', { exact: true }).waitFor()
  // the slot of the balance is known from here on
  await stage.page.goto(`${forked}/#/address/${coin}?tab=storage`)
  await stage.page.reload()
  await stage.rows('Storage').filter({ hasText: 'balanceOf[' }).getByText('7.5 USC').waitFor()
})

test('a fork shows its network, its block and what it fetched', async () => {
  await rpc('hardhat_mine', '0x5')
  const fork = await startChain({ fork: stage.url })
  stage.others.push(fork)
  const { url: forked } = await fork.listen()
  await stage.page.goto(`${forked}/#/network`)
  const panel = stage.page.getByRole('region', { name: 'Fork' })
  await panel.getByText('block 5').waitFor()
  await panel.getByText(/\d+ items? in \d+ requests?/).waitFor()
  await stage.page.goto(`${forked}/#/accounts`)
  await rows().nth(3).waitFor()
  await open('network')
  await stage.page.getByText('This chain is no fork.').waitFor()
})

test('axe-core finds nothing on accounts and network, and nothing is wider than the window', async () => {
  expect(await stage.inspect('#/accounts', '#/network')).toEqual([])
})
