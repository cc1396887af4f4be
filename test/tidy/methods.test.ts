// Where methods stand: a declaration in the folder or file of its prefix, and below all of them what they share.
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { methods } from '../../src/methods/index.ts'
import type { Method } from '../../src/rpc/method.ts'

const folder = path.resolve(import.meta.dirname, '../../src/methods')

/** What prefixes share, from the top: a folder imports from those after it alone. */
const SHARED = ['tracing', 'common', 'compat', 'wire']

const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .sort()

/** The first part of a file's path: `eth` of eth/block.ts, `net` of net.ts. */
function placeOf(file: string): string {
  return (file.split('/')[0] ?? '').replace(/\.ts$/, '')
}

/** The list of all methods, and of those that a chain starts with. */
const LISTS = ['index.ts', 'first.ts']

const declaring = files.filter((file) => !(LISTS.includes(file) || SHARED.includes(placeOf(file))))

/** The names of the methods that a file lists. */
async function listedIn(file: string): Promise<readonly string[]> {
  const members: Readonly<Record<string, unknown>> = await import(path.join(folder, file))
  return Object.entries(members)
    .filter(([name]) => name.endsWith('Methods'))
    .flatMap(([, list]) => (list as readonly Method<never>[]).map(({ name }) => name))
}

describe('a methods folder', () => {
  test.each(declaring)('of %s declares methods of its prefix only', async (file) => {
    const strangers = (await listedIn(file)).filter(
      (name) => name.split(/[_.]/, 1)[0] !== placeOf(file),
    )
    expect(strangers).toEqual([])
  })

  test('lists each supported method in a file of its prefix', async () => {
    const listed = await Promise.all(declaring.map(listedIn))
    expect(listed.flat().sort()).toEqual(methods.map(({ name }) => name).sort())
  })

  test('shares code by methods/common, which imports no prefix and nothing from above', () => {
    const wrong = files.flatMap((file) =>
      importsOf(file)
        .filter((target) => rankOf(target) < rankOf(file))
        .map((target) => `${file} imports ${target}`),
    )
    expect(wrong).toEqual([])
  })

  test('imports nothing from another prefix', () => {
    const wrong = declaring.flatMap((file) =>
      importsOf(file)
        .filter((target) => !SHARED.includes(placeOf(target)) && placeOf(target) !== placeOf(file))
        .map((target) => `${file} imports ${target}`),
    )
    expect(wrong).toEqual([])
  })
})

describe('a method declaration', () => {
  /** Parameters that are called so, and name nothing that a network has. */
  const NAMELESS = [
    // of code, of what was hashed, of a block without its proof
    'debug_codeByHash hash',
    'debug_preimage hash',
    'eth_submitWork hash',
    // a block itself, as bytes
    'debug_traceBlock block',
    'mnr_submitParentChainBlock block',
    // of the parent chain
    'mnr_submitParentChainBlockPartialMerkle blockHash',
    'mnr_submitParentChainBlockTransactions blockHash',
    // 0 is all blocks
    'ots_searchTransactionsAfter block',
    'ots_searchTransactionsBefore block',
  ]

  test('says which parameter names a block or a transaction', () => {
    const nameless = methods.flatMap(({ name, params }) =>
      params
        .filter((each) => /^(block|hash|(parentB|b)lockHash|transactionHash)$/.test(each.name))
        .filter(({ decoder }) => decoder.names === undefined)
        .map((each) => `${name} ${each.name}`),
    )
    expect(nameless.sort()).toEqual(NAMELESS.toSorted())
  })

  const named = methods.filter(({ params }) => params.some(({ decoder }) => decoder.names))

  test.each(named.filter(({ effects }) => effects === 'nothing'))(
    'of $name says what happens to it on a fork',
    ({ onFork }) => {
      expect(onFork).toBeDefined()
    },
  )

  const ABOUT_NAMED =
    /^(network|accessList|placed|header|state|proof|page|replay|own|raw(Block|Header|Receipts|Transactions))$/

  test('names the parameter that the network is asked about', () => {
    const asked = methods.filter(({ onFork = 'here' }) => ABOUT_NAMED.test(onFork))
    expect(asked.length).toBeGreaterThan(45)
    expect(asked.filter((method) => !named.includes(method))).toEqual([])
  })
})

/** What a file imports of src/methods, for types too. */
function importsOf(file: string): string[] {
  const text = readFileSync(path.join(folder, file), 'utf8')
  return [...text.matchAll(/\bfrom '(\.[^']+)'/g)]
    .map(([, target = '']) => path.join(path.dirname(file), target))
    .filter((target) => !target.startsWith('..'))
}

/** 0 for the lists, 1 for the prefixes, then what they share. */
function rankOf(file: string): number {
  return LISTS.includes(file) ? 0 : SHARED.indexOf(placeOf(file)) + 2
}
