// The catalogue of methods: whole, without strangers, shown in its page, and the specification's where that is at hand.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { MODULES } from '../../src/app/dispatcher.ts'
import { methods } from '../../src/methods/index.ts'
import { ROOT } from '../support/process/boot.ts'

/** The methods that devchain is specified to have, by module. */
const CATALOGUE = JSON.parse(
  readFileSync(path.join(ROOT, 'fixtures/catalogue.json'), 'utf8'),
) as Readonly<Record<string, readonly string[]>>

const names = Object.values(CATALOGUE).flat()

const HARDHAT = expect.stringContaining('within its own process')

/** What other nodes answer and nothing here could do, by what it needs: Hardhat around the node. */
const NEEDING: Readonly<Record<string, unknown>> = {
  hardhat_getStackTraceFailuresCount: HARDHAT,
}

/** The names of a specification's catalogue by module: rows `| module | names | support |` of its section 4.2. */
function catalogueOf(specification: string): Record<string, string[]> {
  const [, section = ''] = /^### 4\.2 .*?\n([\s\S]*?)^### /m.exec(specification) ?? []
  const catalogue: Record<string, string[]> = {}
  for (const row of section.split('\n')) {
    const [, module, listed] = /^\| (\w+)[^|]* \| ([^|]+) \|/.exec(row) ?? []
    if (module === undefined || listed === undefined || module === 'Module') continue
    catalogue[module] = [...(catalogue[module] ?? []), ...(listed.match(/\b[a-z\d]+_\w+/g) ?? [])]
  }
  return catalogue
}

describe('the method catalogue', () => {
  test('names each method once, under its module', () => {
    expect(names).toHaveLength(new Set(names).size)
    for (const [module, some] of Object.entries(CATALOGUE)) {
      for (const name of some) expect(name.startsWith(`${module}_`), name).toBe(true)
    }
  })

  test('names the modules that can be disabled, those of lazy methods included', () => {
    expect(MODULES).toEqual(Object.keys(CATALOGUE))
  })

  test('includes every unsupported method, except a few that need what does not exist here', () => {
    const refused = methods.filter(({ unsupported }) => unsupported !== undefined)
    const others = refused.filter(({ name }) => !names.includes(name))
    expect(Object.fromEntries(others.map((each) => [each.name, each.unsupported]))).toEqual(NEEDING)
  })

  test('is on the page of methods under every name', () => {
    const page = readFileSync(path.join(ROOT, 'src/methods/README.md'), 'utf8')
    const tables = page.slice(page.indexOf('<!-- methods:'))
    for (const name of names) expect(tables, name).toMatch(new RegExp(`[|>] ?\`${name}\``))
  })

  test('is listed by task, with existing methods only', () => {
    const page = readFileSync(path.join(ROOT, 'src/methods/README.md'), 'utf8')
    const [, tasks = ''] = /## Find a method by task([\s\S]*?)\n## /.exec(page) ?? []
    const named = [...tasks.matchAll(/`(\w+_\w+)`/g)].map(([, name]) => name)
    expect(named.length).toBeGreaterThan(20)
    const supported = methods.filter(({ unsupported }) => unsupported === undefined)
    expect(supported.map(({ name }) => name)).toEqual(expect.arrayContaining(named))
  })

  test.skipIf(process.env.DEVCHAIN_SPEC === undefined)(
    'matches section 4.2 of the specification (DEVCHAIN_SPEC names the file)',
    () => {
      const specification = readFileSync(process.env.DEVCHAIN_SPEC ?? '', 'utf8')
      expect(CATALOGUE).toEqual(catalogueOf(specification))
    },
  )

  test('is parsed from a specification by module, rows of one module together', () => {
    const text = [
      '### 4.2 Method catalogue',
      '| Module | Methods | Support |',
      '|---|---|---|',
      '| eth | eth_a, eth_b | YES |',
      '| eth (more) | eth_c | PARTIALLY: `pending` |',
      '| db | db_x | not supported |',
      '### 4.3 Next',
      '| eth | eth_d | YES |',
    ]
    expect(catalogueOf(text.join('\n'))).toEqual({ eth: ['eth_a', 'eth_b', 'eth_c'], db: ['db_x'] })
  })
})
