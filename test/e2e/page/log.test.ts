// The live log of the page: what other clients call, filtered and searched.

import type { Browser, Locator, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Devchain } from '../../../src/devchain.ts'
import { violationsOn } from './axe.ts'
import { problemsOf, startBrowser, startChain } from './browser.ts'

const ALICE = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'
const BOB = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8'

let browser: Browser
let devchain: Devchain
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
  devchain = await startChain()
  url = (await devchain.listen()).url
  page = await browser.newPage({ viewport: { width: 1280, height: 800 } })
  problems = problemsOf(page)
})
afterEach(async () => {
  await page.close()
  await devchain.close()
  expect(problems).toEqual([])
})

const post = async (method: string, ...params: readonly unknown[]): Promise<unknown> => {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  return await (await fetch(url, { method: 'POST', body })).json()
}
const rows = (): Locator => page.getByRole('table', { name: 'Calls' }).getByRole('row')
const open = async (): Promise<void> => {
  await page.goto(`${url}/#/log`)
  await page.getByText('No calls yet.').waitFor()
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
  await page.getByRole('heading', { name: 'transfer' }).waitFor()
  await page.goBack()
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
  await rows().filter({ hasText: 'web3_sha3' }).waitFor()
  await page.getByLabel('Kind of calls').selectOption('Acts on the chain')
  await rows().filter({ hasText: 'web3_sha3' }).waitFor({ state: 'detached' })
  expect(await rows().count()).toBe(2)
  await page.getByLabel('Kind of calls').selectOption('Failed calls')
  await rows().filter({ hasText: 'nobody' }).first().waitFor()
  await page.getByLabel('Kind of calls').selectOption('All calls')
  await page.getByLabel('Search calls').fill('68656C')
  await rows().filter({ hasText: 'web3_sha3' }).waitFor()
  expect(await rows().count()).toBe(2)
  await page.getByRole('button', { name: 'Clear' }).click()
  await page.getByText('No calls yet.').waitFor()
})

test('the log goes on after a restart of devchain', async () => {
  await open()
  const port = Number(new URL(url).port)
  await devchain.close()
  await page.getByText('devchain does not respond').waitFor()
  devchain = await startChain({ port })
  await devchain.listen()
  await page.getByText('devchain does not respond').waitFor({ state: 'detached' })
  await expect
    .poll(async () => {
      await post('eth_gasPrice')
      return await rows().filter({ hasText: 'eth_gasPrice' }).count()
    })
    .toBeGreaterThan(0)
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
  expect(await page.locator('main img').count()).toBe(0)
  for (const width of [360, 1280]) {
    await page.setViewportSize({ width, height: 800 })
    expect(await violationsOn(page)).toEqual([])
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width)
  }
})
