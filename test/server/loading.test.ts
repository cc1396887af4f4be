// Node's HTTP server, which is loaded late.
import { expect, test, vi } from 'vitest'
import { call, result, startTestServer } from '../support/wire/testserver.ts'

test('that cannot be loaded is a bug, and the next connection tries again', async () => {
  vi.doMock('../../src/server/nodehttp.ts', () => {
    throw new Error('too many open files')
  })
  await using server = await startTestServer({ isPlain: true })
  await expect(server.post(call(1, 'test_echo', [1]))).rejects.toThrow('fetch failed')
  expect(server.bugs).toHaveLength(1)
  vi.doUnmock('../../src/server/nodehttp.ts')
  expect(await server.post(call(1, 'test_echo', [1]))).toEqual(result(1, 1))
})
