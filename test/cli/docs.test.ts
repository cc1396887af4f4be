// The pages keep up with the declarations, and their links lead somewhere. `npm run docs` runs this file with --update, which
// writes the tables.
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { methods } from '../../src/methods/index.ts'
import { linksOf, PAGES, textOf } from '../support/pages/readme.ts'
import { ROOT } from '../support/process/boot.ts'
import { TABLES, withTables } from './tables.ts'

test.each(Object.keys(TABLES))(
  'the tables of %s match the declarations (npm run docs writes them)',
  async (page) => {
    const file = path.join(ROOT, page)
    await expect(withTables(page, readFileSync(file, 'utf8'), methods)).toMatchFileSnapshot(file)
  },
)

test('the front page is short enough', () => {
  expect(Buffer.byteLength(textOf('README.md'))).toBeLessThan(12_000)
})

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
