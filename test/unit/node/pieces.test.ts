// Dumps that arrive in chunks: the same entries as JSON.parse finds, wherever the chunks end.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { IS_SPLIT, readValues } from '../../../src/node/dump/pieces.ts'

type Taken = readonly [path: string, name: string | number, value: unknown]

async function* chunksOf(
  text: string,
  sizes: readonly number[],
): AsyncIterableIterator<Uint8Array> {
  const bytes = Buffer.from(text)
  let at = 0
  for (let turn = 0; at < bytes.length; turn++) {
    const size = sizes[turn % sizes.length]!
    yield bytes.subarray(at, at + size)
    at += size
  }
}

async function piecesOf(text: string, sizes: readonly number[]): Promise<Taken[]> {
  const taken: Taken[] = []
  await readValues(
    chunksOf(text, sizes),
    (path, name, value) => void taken.push([path, name, value]),
  )
  return taken
}

/** As a whole. */
function expectedOf(dump: Readonly<Record<string, unknown>>): Taken[] {
  const taken: Taken[] = []
  const add = (path: string, name: string | number, value: unknown): void => {
    const own = path === '' ? String(name) : `${path}.${name}`
    const isList = ['blocks', 'transactions', 'historical_states', 'historical_states.states']
    const isSplit = Array.isArray(value)
      ? isList.includes(own)
      : ['accounts', 'historical_states'].includes(own) &&
        value !== null &&
        typeof value === 'object'
    taken.push([path, name, isSplit ? IS_SPLIT : value])
    if (!isSplit) return
    if (Array.isArray(value)) taken.push(...value.map((each, index): Taken => [own, index, each]))
    else for (const [key, each] of Object.entries(value as object)) add(own, key, each)
  }
  for (const [name, value] of Object.entries(dump)) add('', name, value)
  return taken
}

const value = fc.jsonValue({ maxDepth: 3 })
const entries = fc.oneof(fc.array(value), fc.dictionary(fc.string(), value), value)
const name = fc.constantFrom(
  'accounts',
  'blocks',
  'transactions',
  'historical_states',
  'block',
  '"\\[',
  '',
)

test('entries are found wherever chunks end', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.dictionary(name, fc.oneof(entries, fc.record({ states: fc.array(value), other: value }))),
      fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 5 }),
      fc.constantFrom(undefined, 1, '\t'),
      async (dump, sizes, space) => {
        // as JSON.parse orders and normalizes it
        const text = JSON.stringify(dump, undefined, space)
        // they become text
        fc.pre(!/\d{16}/.test(text))
        expect(await piecesOf(text, sizes)).toEqual(expectedOf(JSON.parse(text)))
      },
    ),
    { seed: 20261128, numRuns: 300 },
  )
})

test('integers beyond what a number holds become text, in entries that are one too', async () => {
  const text =
    '{"best_block_number":18446744073709551615,"accounts":{"a":{"nonce":18446744073709551615}}}'
  expect(await piecesOf(text, [1000])).toEqual([
    ['', 'best_block_number', '18446744073709551615'],
    ['', 'accounts', IS_SPLIT],
    ['accounts', 'a', { nonce: '18446744073709551615' }],
  ])
})

test('what is no whole JSON object is refused, with its place', async () => {
  const cases = [
    '',
    'x',
    '[]',
    '{',
    '{"a":1',
    '{"a":1}}',
    '{"a":1}x',
    '{"a" 1}',
    '{a:1}',
    '{"a":1 "b":2}',
  ]
  for (const text of [
    ...cases,
    '{"accounts":{"a":}}',
    '{"blocks":[1,]}',
    '{"blocks":[1 2]}',
    '{"a":nul}',
  ]) {
    for (const size of [1, 3, 100]) {
      await expect(piecesOf(text, [size]), text).rejects.toThrow(/it is not JSON: /)
    }
  }
})
