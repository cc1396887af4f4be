// The README keeps up with the declarations. `npm run docs` runs this file with --update, which writes the tables.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { methods } from '../../src/methods/index.ts'
import { ROOT } from '../support/boot.ts'
import { withTables } from '../support/docs.ts'

test("the README's tables are those of the declarations (npm run docs writes them)", async () => {
  const file = path.join(ROOT, 'README.md')
  await expect(withTables(readFileSync(file, 'utf8'), methods)).toMatchFileSnapshot(file)
})
