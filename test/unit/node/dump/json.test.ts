// JSON that is parsed in pieces is what JSON.parse makes of it, and is refused where that refuses it.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseLongJson } from '../../../../src/node/dump/json.ts'

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)

const parsed = (text: string, piece: number): Promise<unknown> =>
  parseLongJson(bytesOf(text), JSON.parse, piece)

const json = fc.jsonValue({ maxDepth: 12, stringUnit: 'grapheme' })

const pieces = fc.integer({ min: 0, max: 40 })

describe('a text', () => {
  test('is parsed to the same value, whatever the size of the pieces', async () => {
    const indents = fc.constantFrom(undefined, 1, '\t')
    await fc.assert(
      fc.asyncProperty(json, indents, pieces, async (value, indent, piece) => {
        const text = JSON.stringify(value, null, indent)
        expect(await parsed(text, piece)).toEqual(JSON.parse(text))
      }),
    )
  })

  test('with a character in the place of another is refused where JSON.parse refuses it', async () => {
    const slips = fc.constantFrom('', ',', '[', ']', '{', '}', ':', '"', '\\', ' ', '1')
    await fc.assert(
      fc.asyncProperty(json, slips, fc.nat(), pieces, async (value, slip, place, piece) => {
        const text = JSON.stringify(value)
        const at = place % (text.length + 1)
        // half of a character is none
        const spoilt = (text.slice(0, at) + slip + text.slice(at + 1)).toWellFormed()
        const outcome = await parsed(spoilt, piece).then(
          (result) => ({ result }),
          () => 'refused',
        )
        expect(outcome).toEqual(outcomeOf(spoilt))
      }),
      { numRuns: 1_000 },
    )
  })

  test.each<readonly [what: string, text: string]>([
    ['a comma before the first', '[,[1,2,3]]'],
    ['a comma after the last', '[[1,2,3],]'],
    ['two commas', '{"a":[1,2,3],,"b":1}'],
    ['another bracket', '[[1,2,3]}'],
    ['a name that is none', '{1:[1,2,3]}'],
    ['no colon', '{"a"[1,2,3]}'],
    ['something before a list', '[1[1,2,3]]'],
    ['something after it', '[1,2,3] 4'],
    ['no end', '[[1,2,3]'],
    ['nothing', ''],
  ])('with %s is refused', async (_, text) => {
    await expect(parsed(text, 2)).rejects.toThrow(SyntaxError)
  })

  test('may begin with a byte order mark', async () => {
    expect(await parseLongJson(Uint8Array.of(0xef, 0xbb, 0xbf, ...bytesOf('[1]')))).toEqual([1])
  })

  test('has the last of two members of one name, and one by the name of the prototype', async () => {
    const text = '{"a":[1,2,3],"__proto__":[4,5,6],"a":[7,8,9]}'
    const value = await parsed(text, 2)
    expect(value).toEqual(JSON.parse(text))
    expect(Object.keys(value as object)).toEqual(['a', '__proto__'])
  })
})

test('a long text lets others have their turn', async () => {
  let turns = 0
  let isDone = false
  const others = (): void => {
    turns += 1
    if (!isDone) setImmediate(others)
  }
  const entry = `{"hash":"${'ab'.repeat(500)}","logs":[1,2,3]}`
  const bytes = bytesOf(`{"blocks":[${`${entry},`.repeat(40_000)}${entry}]}`)
  setImmediate(others)
  await parseLongJson(bytes)
  isDone = true
  expect(turns).toBeGreaterThan(2)
})

function outcomeOf(text: string): unknown {
  try {
    return { result: JSON.parse(text) }
  } catch {
    return 'refused'
  }
}
