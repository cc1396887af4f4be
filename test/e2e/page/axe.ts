// What axe-core, the checker of accessibility, finds on a page.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const SOURCE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

interface Violation {
  readonly id: string
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[]
}

/** One line for each violation; empty if there is none. @param rules empty: all */
export async function violationsOn(
  page: Page,
  rules: readonly string[] = [],
): Promise<readonly string[]> {
  // a page that is resized has it already
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(SOURCE)
  const options = JSON.stringify({
    resultTypes: ['violations'],
    ...(rules.length > 0 && { runOnly: rules }),
  })
  const violations = (await page.evaluate(
    `axe.run(${options}).then((result) => result.violations)`,
  )) as Violation[]
  return violations.flatMap(({ id, nodes }) =>
    nodes.map((node) => `${id}: ${node.html} ${node.failureSummary}`),
  )
}
