// The live log of the page: what other clients call, filtered and searched.

import { stripVTControlCharacters } from 'node:util'
import type { Locator } from 'playwright-core'
import { expect, test } from 'vitest'
import { boot } from '../../support/process/boot.ts'
import { Stage, startChain } from './browser.ts'
import { ALICE, BOB } from './swap.ts'

const stage = new Stage()

const postTo = async (
  path: string,
  method: string,
  params: readonly unknown[],
): Promise<unknown> => {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  return await (await fetch(stage.url + path, { method: 'POST', body })).json()
}
const post = (method: string, ...params: readonly unknown[]): Promise<unknown> =>
  postTo('', method, params)
const rows = (): Locator => stage.page.getByRole('table', { name: 'Calls' }).getByRole('row')
const open = async (): Promise<void> => {
  await stage.page.goto(`${stage.url}/#/log`)
  await stage.page.getByText('No calls yet.').waitFor()
}

test('calls of other clients appear with parameters, results and errors, those of the page do not', async () => {
  await open()
  await expect
    .poll(async () => {
      await post('eth_getBalance', BOB, 'latest')
      return await rows().filter({ hasText: 'eth_getBalance' }).count()
    })
    .toBeGreaterThan(0)
  expect(await rows().filter({ hasText: 'eth_getBalance' }).first().textContent()).toContain(BOB)
  await post('eth_getBalance', 'nobody')
  const failed = rows().filter({ hasText: 'nobody' })
  await failed.getByText('expected a 20-byte address').waitFor()
  await post('eth_sendTransaction', { from: ALICE, to: BOB, value: '0x1' })
  const sent = rows().filter({ hasText: 'eth_sendTransaction' })
  await sent.getByRole('link').waitFor()
  expect(await rows().filter({ hasText: 'eth_getBlockByNumber' }).count()).toBe(0)
  await sent.getByRole('link').click()
  await stage.page.getByRole('heading', { name: 'transfer' }).waitFor()
  await stage.page.goBack()
  await failed.waitFor()
})

test('the log is filtered by kind, searched and cleared', async () => {
  await open()
  await expect
    .poll(async () => {
      await post('eth_getBalance', 'nobody')
      return await rows().count()
    })
    .toBeGreaterThan(1)
  await post('hardhat_mine', '0x2')
  await post('web3_sha3', '0x68656c6c6f')
  const hashed = rows().filter({ hasText: 'web3_sha3' })
  await hashed.waitFor()
  // a word, and neither a block nor a transaction
  expect(await hashed.getByRole('link').count()).toBe(0)
  await stage.page.getByLabel('Kind of calls').selectOption('Acts on the chain')
  await rows().filter({ hasText: 'web3_sha3' }).waitFor({ state: 'detached' })
  expect(await rows().count()).toBe(2)
  await stage.page.getByLabel('Kind of calls').selectOption('Failed calls')
  await rows().filter({ hasText: 'nobody' }).first().waitFor()
  await stage.page.getByLabel('Kind of calls').selectOption('All calls')
  await stage.page.getByLabel('Search calls').fill('68656C')
  await rows().filter({ hasText: 'web3_sha3' }).waitFor()
  expect(await rows().count()).toBe(2)
  await stage.page.getByRole('button', { name: 'Clear' }).click()
  await stage.page.getByText('No calls yet.').waitFor()
})

test('the log goes on after a restart of devchain', async () => {
  await open()
  const port = Number(new URL(stage.url).port)
  await stage.devchain.close()
  await stage.page.getByText('devchain does not respond').waitFor()
  stage.devchain = await startChain({ port })
  await stage.devchain.listen()
  await stage.page.getByText('devchain does not respond').waitFor({ state: 'detached' })
  await expect
    .poll(async () => {
      await post('eth_gasPrice')
      return await rows().filter({ hasText: 'eth_gasPrice' }).count()
    })
    .toBeGreaterThan(0)
})

test('the log goes on after a connection that ended while the page was hidden', async () => {
  const { page } = stage
  await page.addInitScript(`Object.defineProperty(document, 'hidden', { get: () => true })`)
  await page.goto(`${stage.url}/7#/log`)
  await page.getByText('No calls yet.').waitFor()
  const call = async (): Promise<number> => {
    await postTo('/7', 'web3_clientVersion', [])
    return await rows().filter({ hasText: 'web3_clientVersion' }).count()
  }
  await expect.poll(call).toBeGreaterThan(0)
  await page.getByRole('button', { name: 'Clear' }).click()
  const opened = page.waitForEvent('websocket')
  await fetch(`${stage.url}/7/restart`, { method: 'POST' })
  await opened
  await expect.poll(call).toBeGreaterThan(0)
})

test('the terminal shows what somebody does with the page, and none of its reads', async () => {
  const devchain = await boot(['--threads', '1', '--no-artifacts'])
  for (const path of ['', '/7']) {
    await stage.page.goto(`${devchain.url}${path}/#/act?do=mine`)
    await stage.page.getByRole('status').getByText('Live').waitFor()
    await stage.page.getByRole('button', { name: 'Mine blocks' }).click()
    await stage.page.getByText('Newest block #1').waitFor()
  }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_gasPrice' })
  await fetch(`${devchain.url}/7`, { method: 'POST', body })
  await devchain.says(/7 +eth_gasPrice/)
  const shown = stripVTControlCharacters(devchain.stdout())
  const methods = shown.match(/\b(eth|hardhat|devchain|evm|web3|txpool|debug)_\w+/g)
  expect(methods).toEqual(['hardhat_mine', 'hardhat_mine', 'eth_gasPrice'])
  await devchain.stop()
})

test('parameters are text, never HTML, and axe-core finds nothing', async () => {
  await open()
  const hostile = '<img src=x onerror="document.title=1">'
  await expect
    .poll(async () => {
      await post('eth_getBalance', hostile)
      return await rows().filter({ hasText: '<img src=x' }).count()
    })
    .toBeGreaterThan(0)
  expect(await stage.page.locator('main img').count()).toBe(0)
  expect(await stage.inspectOpen()).toEqual([])
})
