// What axe-core, the checker of accessibility, finds on a page.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const SOURCE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

interface Violation {
  readonly id: string
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[]
}

/** One line for each violation; empty if there is none. */
export async function violationsOn(page: Page): Promise<readonly string[]> {
  await page.evaluate(SOURCE)
  const violations = (await page.evaluate(
    'axe.run().then((result) => result.violations)',
  )) as Violation[]
  return violations.flatMap(({ id, nodes }) =>
    nodes.map((node) => `${id}: ${node.html} ${node.failureSummary}`),
  )
}
