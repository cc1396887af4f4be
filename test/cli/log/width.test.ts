// The log on terminals of different widths: no row is too long, and no word is broken that has room in one.

import { stripVTControlCharacters } from 'node:util'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type BootEvent, bootEvent, bootText, readyFacts } from '../../../src/cli/boot.ts'
import { loadPalette, PLAIN } from '../../../src/cli/log/palette.ts'
import { widthOf, wrapped } from '../../../src/cli/log/wrap.ts'
import { type LoggedChain, startLogged } from '../../support/chain/loggedchain.ts'

const A = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'
const B = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8'

/** A bit of everything that is logged. */
async function live({ ask }: LoggedChain): Promise<void> {
  await ask('eth_sendTransaction', { from: A, to: B, value: '0x1bc16d674ec80000', gas: '0x5208' })
  await ask('eth_sendTransaction', { from: A, data: '0xfe', gas: '0xf4240' })
  await ask('eth_call', { from: A, to: B, data: `0xa9059cbb${'00'.repeat(64)}` })
  await ask('eth_estimateGas', { from: A, data: '0xfe' }).catch(() => undefined)
  await ask('hardhat_setBalance', [A, B], '0xde0b6b3a7640000')
  await ask('hardhat_setStorageAt', B, '0x0', `0x${'11'.repeat(32)}`)
  await ask('evm_snapshot')
  await ask('hardhat_mine', '0x4d2')
  await ask('evm_setAutomine', false)
  await ask('eth_sendTransaction', { from: A, to: B })
  await ask('evm_revert', '0x1')
  await ask('devchain_reorg', { depth: '0x1' })
  await ask('eth_getBlockByNumber', 'latest', false)
  await ask('personal_unlockAccount', A, 'wrong').catch(() => undefined)
  await ask('a_method_that_has_quite_a_long_name_and_does_not_exist_at_all').catch(() => undefined)
}

test.each([120, 100, 80, 60, 40])('the log fits into %i columns', async (columns) => {
  await using chain = await startLogged({}, { columns })
  await live(chain)
  const rows = chain.lines()
  expect(rows.filter((row) => widthOf(row) > columns && row.includes(' ', 60))).toEqual([])
  // a row that is too long is one word, such as the name of a method
  for (const row of rows.filter((each) => widthOf(each) > columns)) {
    expect(row.trim()).toMatch(/^\S+$/)
  }
  const text = rows.join('\n')
  expect(text.includes('0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266')).toBe(columns >= 100)
  expect(text).toContain(columns >= 100 ? ' → ' : '0xf39F…2266 → 0x7099…79C8')
})

test('the log at 80 columns matches the snapshot', async () => {
  await using chain = await startLogged({}, { columns: 80 })
  await live(chain)
  expect(
    chain.lines().map((line) => line.replaceAll(/0x[0-9a-f]{64}/g, 'HASH')),
  ).toMatchInlineSnapshot(`
    [
      "eth_sendTransaction  1.0 ms  0x466f…c8a7",
      "  transaction HASH",
      "    0xf39F…2266 → 0x7099…79C8",
      "    value 2 ether · gas 21,000 (100 %) · fee 0 ether · success",
      "  block 1 HASH",
      "    1 transaction · gas 21,000 (<1 %) · base fee 0 wei · 2020-09-13 12:26:41",
      "eth_sendTransaction  1.0 ms  0x06cf…bc8f",
      "  transaction HASH",
      "    0xf39F…2266 → new contract 0xe7f1…0512",
      "    value 0 ether · gas 1,000,000 (100 %) · fee 0 ether · failed: invalid opcode",
      "        0xfe",
      "  block 2 HASH",
      "    1 transaction · gas 1,000,000 (3 %) · base fee 0 wei · 2020-09-13 12:26:42",
      "eth_call  1.0 ms  0x7099…79C8 transfer → 0x",
      "    note no code at 0x7099…79C8: nothing was called",
      "eth_estimateGas  1.0 ms  new contract ✗ invalid opcode 0xfe",
      "hardhat_setBalance  1.0 ms  balance of 0xf39F…2266, 0x7099…79C8 1",
      "    ether",
      "hardhat_setStorageAt  1.0 ms  storage of 0x7099…79C8 slot 0x0 =",
      "    0x1111…1111",
      "evm_snapshot  1.0 ms  snapshot 0x1 at block 2",
      "hardhat_mine  1.0 ms  1,234 blocks",
      "  blocks 3 to 1,236",
      "      HASH",
      "    empty · base fee 0 wei · 2020-09-13 12:47:16",
      "evm_setAutomine  1.0 ms  automine off",
      "eth_sendTransaction  1.0 ms  0x7099…79C8 → 0x8c35…04ef",
      "  1 transaction waiting, 1 in the pool",
      "devchain_leftBlocks has the blocks that the newest 16 reverts left, at most",
      "    1,024; older ones are forgotten",
      "evm_revert  1.0 ms  revert to 0x1: block 1,236 → 2",
      "devchain_reorg  1.0 ms  reorganization: 1 block replaced, 1",
      "    transaction back in the pool",
      "  block 2 HASH",
      "    empty · base fee 0 wei · 2020-09-13 12:26:42",
      "eth_getBlockByNumber  1.0 ms  block 2 0xc948…ba8c, 0 transactions",
      "personal_unlockAccount  1.0 ms  0xf39F…2266 ✗ wrong passphrase: account",
      "    0xf39f…2266 has none: expected the empty one",
      "a_method_that_has_quite_a_long_name_and_does_not_exist_at_a…  1.0 ms  ✗ the",
      "    method a_method_that_has_quite_a_long_name_and_does_not_exist_at_all does",
      "    not exist: rpc.discover lists all",
    ]
  `)
})

test('the log in a file is neither wrapped nor shortened', async () => {
  await using narrow = await startLogged()
  await live(narrow)
  const text = narrow.lines().join('\n')
  expect(text).toContain(`0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266 → `)
  expect(text).toMatch(/value 2 ether · gas .* · fee 0 ether · success/)
})

describe('the first screen', () => {
  async function events(): Promise<BootEvent> {
    await using chain = await startLogged({ clock: 'wall' })
    const url = 'http://127.0.0.1:8545'
    return bootEvent(readyFacts(chain.devchain, { url, wsUrl: url, port: 8545 }))
  }

  test.each([80, 100, 140])('fits %i columns, keys in full', async (columns) => {
    const booted = await events()
    const rows = bootText(booted, PLAIN, columns).split('\n')
    expect(rows.filter((row) => widthOf(row) > columns)).toEqual([])
    for (const { privateKey, address } of booted.accounts) {
      expect(rows.filter((row) => row.includes(privateKey!))).toHaveLength(1)
      expect(rows.filter((row) => row.includes(address))).toHaveLength(1)
    }
  })

  test('has no gas price of 0 beside a base fee that changes', async () => {
    const booted = await events()
    expect(bootText(booted, PLAIN)).toContain('Gas price   0 wei')
    expect(bootText({ ...booted, isBaseFeePinned: false }, PLAIN)).not.toContain('Gas price')
    const priced = { ...booted, isBaseFeePinned: false, gasPrice: '7' }
    expect(bootText(priced, PLAIN)).toContain('Gas price   7 wei')
  })

  test('shows keys in full even if the terminal wraps them', async () => {
    const booted = await events()
    const text = bootText(booted, PLAIN, 40)
    for (const { privateKey } of booted.accounts) expect(text).toContain(privateKey!)
  })
})

describe('line wrapping', () => {
  const word = fc.stringMatching(/^[\w→·…]{1,20}$/)

  test('keeps every word whole and in order within the columns', () => {
    fc.assert(
      fc.property(
        fc.array(word, { maxLength: 30 }),
        fc.integer({ min: 40, max: 120 }),
        (words, columns) => {
          const rows = wrapped(`  ${words.join(' ')}`, columns).split('\n')
          expect(rows.join(' ').split(/\s+/).filter(Boolean)).toEqual(words)
          for (const row of rows) expect(widthOf(row)).toBeLessThanOrEqual(columns)
        },
      ),
      { seed: 7 },
    )
  })

  test('does not count escape sequences', async () => {
    const palette = await loadPalette(true)
    const colored = `    ${palette.bold('word')} ${palette.red('some more words that fail')}`
    const plain = wrapped(stripVTControlCharacters(colored), 20)
    expect(stripVTControlCharacters(wrapped(colored, 20))).toBe(plain)
    expect(plain).toBe('    word some more\n        words that\n        fail')
  })

  test('shortens a hash that does not fit, and wraps before one that does', () => {
    const hash = `0x${'ab'.repeat(32)}`
    expect(wrapped(`  block 123,456 ${hash}`, 80)).toBe(`  block 123,456\n      ${hash}`)
    expect(wrapped(`  block 123,456 ${hash}`, 60)).toBe('  block 123,456 0xabab…abab')
  })
})
