// The pages keep up with the declarations, and their links lead somewhere. `npm run docs` runs this file with --update, which
// writes the tables.
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { number } from '../../src/core/format.ts'
import { methods } from '../../src/methods/index.ts'
import { marketGas } from '../support/chain/market.ts'
import { linksOf, PAGES, textOf } from '../support/pages/readme.ts'
import { ROOT } from '../support/process/boot.ts'
import { TABLES, table, withTable, withTables } from './tables.ts'

test.each(Object.keys(TABLES))(
  'the tables of %s match the declarations (npm run docs writes them)',
  async (page) => {
    const file = path.join(ROOT, page)
    await expect(withTables(page, readFileSync(file, 'utf8'), methods)).toMatchFileSnapshot(file)
  },
)

test('the gas on the page of Amsterdam is what it is (npm run docs writes it)', async () => {
  const file = path.join(ROOT, 'src/protocol/README.md')
  const page = withTable(readFileSync(file, 'utf8'), 'amsterdam', await marketTable())
  await expect(page).toMatchFileSnapshot(file)
})

/** What steps of a market cost under both hardforks. */
async function marketTable(): Promise<string> {
  const [before, after] = await Promise.all([marketGas('bpo2'), marketGas('amsterdam')])
  const rows = MARKET_ROWS.map((name) => {
    const [was, is] = [before.get(name)!, after.get(name)!]
    const change = (100 * (is.gasUsed - was.gasUsed)) / was.gasUsed
    const amounts = [was.gasUsed, is.gasUsed, is.executionGasUsed, is.stateGasUsed]
    return [name, ...amounts.map(number), `+${change.toFixed(0)} %`]
  })
  return table(['', 'bpo2', 'amsterdam', 'execution', 'state', 'change'], rows)
}

const MARKET_ROWS = [
  'ether to an account that exists',
  'ether to a new account',
  'ERC-20 transfer to a holder',
  'ERC-20 transfer to a new holder',
  'ERC-20 approval',
  'swap',
  'deployment of an ERC-20',
  'deployment of a pool',
  'EIP-7702 authorization',
]

test('the front page is short enough', () => {
  expect(Buffer.byteLength(textOf('README.md'))).toBeLessThan(12_000)
})

test('the page of methods explains every error code', () => {
  const declared = textOf('src/core/errors.ts') + textOf('src/rpc/errors.ts')
  const codes = [...declared.matchAll(/^(?: {2}[A-Z_]+:|const INTERNAL_ERROR =) (-?\d+),?$/gm)]
  const [, section = ''] = textOf('src/methods/README.md').split('## What an error code means')
  const rows = section.split('\n').filter((line) => line.startsWith('| `'))
  const explained = rows.flatMap((row) => {
    const numbers = [...(row.split('|')[1] ?? '').matchAll(/`(-?\d+)`/g)].map(([, code]) =>
      Number(code),
    )
    const [first = 0, last = 0] = numbers
    return row.includes('` to `') ? range(last, first) : numbers
  })
  const missing = codes.map(([, code]) => Number(code)).filter((code) => !explained.includes(code))
  expect(codes.length).toBeGreaterThan(40)
  expect(missing).toEqual([])
})

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index)
}

test.each(PAGES)('the links of %s lead to existing files and headings', (page) => {
  for (const { file, heading } of linksOf(page)) {
    expect(existsSync(path.join(ROOT, file)), file).toBe(true)
    if (heading !== undefined) expect(headingsOf(file)).toContain(heading)
  }
})

/** The names by which links reach the headings of a page. */
function headingsOf(page: string): string[] {
  const lines = textOf(page)
    .split('\n')
    .filter((line) => line.startsWith('#'))
  return lines.map((line) =>
    line
      .replace(/^#+ /, '')
      .toLowerCase()
      .replace(/[^\w -]/g, '')
      .replaceAll(' ', '-'),
  )
}
