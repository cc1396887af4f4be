// Methods that are known by their names until one is called.
import { describe, expect, test } from 'vitest'
import { lateMethods } from '../../src/rpc/latemethod.ts'
import type { Method } from '../../src/rpc/method.ts'
import { startTestServer, type TestContext, testMethods } from '../support/testserver.ts'

const NAMES = testMethods.map(({ name, aliases }) => [name, ...aliases].join('=')).join(' ')

/** The test methods, and how often they were loaded. */
function late(names: string = NAMES): {
  readonly methods: readonly Method<TestContext>[]
  readonly loads: () => number
} {
  let loads = 0
  const methods = lateMethods<TestContext>(names, () => {
    loads++
    return testMethods
  })
  return { methods, loads: () => loads }
}

describe('methods that are loaded late', () => {
  test('have their names before that, and all else after it', () => {
    const { methods, loads } = late()
    const namesOf = (each: Method<TestContext>): unknown => [each.name, each.aliases]
    expect(methods.map(namesOf)).toEqual(testMethods.map(namesOf))
    expect(loads()).toBe(0)
    for (const [i, method] of methods.entries()) {
      const { summary, params, result, example, unsupported } = method
      expect({ summary, params, result, example, unsupported }).toEqual({
        summary: testMethods[i]?.summary,
        params: testMethods[i]?.params,
        result: testMethods[i]?.result,
        example: testMethods[i]?.example,
        unsupported: testMethods[i]?.unsupported,
      })
    }
    expect(loads()).toBe(methods.length)
  })

  test('are answered as others are, by each of their names, by position and by name', async () => {
    const { methods, loads } = late()
    await using server = await startTestServer({}, { methods })
    expect(loads()).toBe(0)
    const results = await server.post([
      { id: 1, method: 'test_echo', params: ['x'] },
      { id: 2, method: 'other_echo', params: { value: 'y' } },
      { id: 3, method: 'test_add', params: { a: 1 } },
      { id: 4, method: 'old_gone' },
    ])
    expect(results).toMatchObject([
      { result: 'x' },
      { result: 'y' },
      { result: '0x2' },
      { error: { message: 'old_gone is not supported: nobody wants it' } },
    ])
    expect(loads()).toBe(3)
  })

  test('that are not those that were named are a bug', () => {
    const { methods } = late('test_other')
    expect(() => methods[0]?.summary).toThrow('expected the method test_other, got test_echo')
  })
})
