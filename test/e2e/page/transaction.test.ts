// What a transaction did: its calls, its events and storage, why it failed, and the debugger.
import type { Locator } from 'playwright-core'
import { beforeEach, describe, expect, test } from 'vitest'
import { Stage } from './browser.ts'
import { ALICE, BOB, deploySwap, type Swapping } from './swap.ts'

const stage = new Stage()
let swapping: Swapping
beforeEach(async () => {
  await stage.rpc('devchain_label', { [ALICE]: 'alice', [BOB]: 'bob' })
  swapping = await deploySwap(stage.devchain)
})

test('a failed swap shows its reason, its Solidity stack and the failing line', async () => {
  const { page } = stage
  await stage.open(`#/tx/${await swapping.swap(BOB, 500n)}`)
  await page.getByRole('heading', { name: 'Pool.swap(500)' }).waitFor()
  const why = page.getByRole('region', { name: 'Why it failed' })
  await why.getByText('InsufficientBalance(account bob, wanted 500, available 0)').waitFor()
  const stack = why.getByRole('list', { name: 'Solidity stack' }).getByRole('listitem')
  await stack.first().getByText('at Token._move (src/Pool.sol:37:39)').waitFor()
  expect(await stack.count()).toBe(3)
  const marked = why.locator('.line.first')
  await marked.getByText('if (available < value) revert InsufficientBalance').waitFor()
  expect(await marked.count()).toBe(1)
})

test('a swap shows its calls with gas, events between them, and storage changes by name', async () => {
  const { page } = stage
  await stage.open(`#/tx/${await swapping.swap(ALICE, 500n)}`)
  const calls = stage.rows('Calls')
  await calls.filter({ hasText: 'Pool.swap(500)' }).waitFor()
  await calls
    .filter({ hasText: /static.*|call.*Token\.transferFrom/ })
    .first()
    .waitFor()
  await calls.filter({ hasText: 'eventTransfer(' }).waitFor()
  await calls.filter({ hasText: 'eventSwapped(' }).waitFor()
  const storage = page.getByRole('region', { name: 'Storage changes' })
  await storage.getByText(/swaps\[alice\].*0 → 1/).waitFor()
  await storage.getByText(/balanceOf\[alice\]/).waitFor()
  const events = page.getByRole('region', { name: 'Events' }).getByRole('listitem')
  expect(await events.count()).toBe(2)
  await page.getByRole('button', { name: 'Steps of Pool.swap(500)' }).press('Enter')
  await calls.filter({ hasText: 'Token.transferFrom' }).waitFor({ state: 'detached' })
})

/** Pixels of something that its cell does not cut off. */
async function seenWidth(part: Locator): Promise<number> {
  return await part.evaluate((element) => {
    const [own, cell] = [element, element.closest('.cell')!].map((each) =>
      each.getBoundingClientRect(),
    )
    return Math.min(own!.right, cell!.right) - own!.left
  })
}

describe('the debugger', () => {
  test('goes step by step and line by line, forward and back, with the keyboard', async () => {
    const { page } = stage
    const hash = await swapping.swap(ALICE, 500n)
    await stage.open(`#/tx/${hash}`)
    await page.getByRole('link', { name: 'Debug step by step' }).click()
    await page.getByText('1 of 1,478').waitFor()
    await page.keyboard.press('ArrowRight')
    await page.getByText('2 of 1,478').waitFor()
    expect(page.url()).toBe(`${stage.url}/#/debug/${hash}?step=1`)
    expect(
      await page
        .getByRole('list', { name: 'Stack', exact: true })
        .getByRole('listitem')
        .allTextContents(),
    ).toEqual(['00x80'])
    await page.keyboard.press('ArrowLeft')
    await page.getByText('1 of 1,478').waitFor()
    const line = page.locator('.line.first')
    for (const text of ['function swap(', 'received = amount / price', 'token.transferFrom(']) {
      // one press at a time: the next would go further than what is drawn yet
      for (let before = await line.textContent(); !before?.includes(text); ) {
        await page.keyboard.press('Shift+ArrowRight')
        await expect.poll(() => line.textContent()).not.toBe(before)
        before = await line.textContent()
      }
    }
    await page.keyboard.press('Shift+ArrowLeft')
    await expect.poll(() => line.textContent()).toContain('received = amount / price')
    await page.keyboard.press('End')
    await page.getByText('1,478 of 1,478').waitFor()
  })

  test('shows the frames, storage and source of a called contract', async () => {
    const { page } = stage
    const hash = await swapping.swap(ALICE, 500n)
    const { structLogs } = (await stage.rpc('debug_traceTransaction', hash)) as {
      structLogs: { op: string; depth: number }[]
    }
    const step = structLogs.findIndex(({ op, depth }) => op === 'SSTORE' && depth === 2)
    await stage.open(`#/debug/${hash}?step=${step}`)
    const frames = page.getByRole('list', { name: 'Call stack' }).getByRole('listitem')
    expect(await frames.count()).toBe(2)
    await page.getByRole('region', { name: 'Source' }).getByText('Token', { exact: true }).waitFor()
    await page.getByRole('region', { name: 'Storage' }).getByRole('listitem').first().waitFor()
    await page.getByRole('button', { name: 'Step back' }).click()
    await page.getByText(`${step} of 1,478`).waitFor()
  })

  test('shows the source of a constructor', async () => {
    const { page } = stage
    const block = await stage.rpc('eth_getBlockByNumber', '0x1', false)
    const [hash] = (block as { transactions: string[] }).transactions
    await stage.open(`#/debug/${hash}`)
    await page.getByRole('region', { name: 'Source' }).getByText('contract Token {').waitFor()
    await page.getByText('new contract').waitFor()
  })

  test('has room for names and instructions below hundreds of calls', async () => {
    const { page } = stage
    // calls itself with all gas
    const data = '0x675f5f5f5f5f305af15f5260086018f3'
    const made = await stage.rpc('eth_sendTransaction', { from: ALICE, data, gas: '0x30000' })
    const receipt = await stage.rpc('eth_getTransactionReceipt', made)
    const { contractAddress: to } = receipt as { contractAddress: string }
    const hash = await stage.rpc('eth_sendTransaction', { from: ALICE, to, gas: '0x30000' })
    const { structLogs } = (await stage.rpc('debug_traceTransaction', hash)) as {
      structLogs: { depth: number }[]
    }
    const deepest = Math.max(...structLogs.map(({ depth }) => depth))
    expect(deepest).toBeGreaterThan(100)
    const step = structLogs.findIndex(({ depth }) => depth === deepest)
    for (const width of [360, 1280]) {
      await page.setViewportSize({ width, height: 800 })
      await stage.open(`#/debug/${hash}?step=${step}`)
      expect(await seenWidth(stage.rows('Instructions').locator('[aria-current]'))).toBeGreaterThan(
        20,
      )
      await page.getByText(`${deepest - 10} outer calls`).waitFor()
      await stage.open(`#/tx/${hash}`)
      await page.getByRole('rowgroup', { name: 'Calls' }).evaluate((box) => box.scrollTo(0, 2_700))
      const row = stage.rows('Calls').and(page.locator('[aria-rowindex="92"]'))
      expect(await seenWidth(row.getByRole('link'))).toBeGreaterThan(30)
    }
  })

  test('says that a transfer runs no code', async () => {
    const hash = await stage.rpc('eth_sendTransaction', { from: ALICE, to: BOB, value: '0x1' })
    await stage.open(`#/debug/${hash}`)
    await stage.page.getByText('This transaction runs no code.').waitFor()
  })
})

test('a transaction is pending in the pool, stays to be seen after a revert, and is gone after a reset', async () => {
  const { page } = stage
  await stage.rpc('evm_setAutomine', false)
  const id = await stage.rpc('evm_snapshot')
  const hash = await stage.rpc('eth_sendTransaction', { from: ALICE, to: BOB, value: '0x1' })
  await stage.open(`#/tx/${hash}`)
  await page.getByText('Pending', { exact: true }).waitFor()
  await page.getByText('1 pending').waitFor()
  await stage.rpc('evm_mine')
  await page.getByText('Succeeded').waitFor()
  await stage.rpc('evm_revert', id)
  await page.getByText('not in the chain: a revert or a reorg left it').waitFor()
  await stage.rpc('evm_reset')
  await page.getByText('A reset may have dropped it.').waitFor()
})

test('the receipt of a mined transaction is not read for each block: it may have thousands of events', async () => {
  const { page } = stage
  const read: string[] = []
  page.on('websocket', (socket) =>
    socket.on('framesent', ({ payload }) => read.push(String(payload))),
  )
  await stage.open(`#/tx/${await swapping.swap(ALICE, 500n)}`)
  read.length = 0
  await stage.rpc('hardhat_mine', '0x7')
  const head = Number(await stage.rpc('eth_blockNumber'))
  await page.getByRole('link', { name: `Newest block #${head}` }).waitFor()
  await expect.poll(() => read.some((each) => /eth_getTransactionByHash/.test(each))).toBe(true)
  expect(read.filter((each) => /eth_getTransactionReceipt/.test(each))).toEqual([])
})

test('axe-core finds nothing, and nothing is wider than the window', async () => {
  const [good, bad] = [await swapping.swap(ALICE, 500n), await swapping.swap(BOB, 500n)]
  expect(await stage.inspect(`#/tx/${bad}`, `#/tx/${good}`, `#/debug/${good}?step=600`)).toEqual([])
})
