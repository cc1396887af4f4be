// The built program, which is one bundle with parts that load late: every method answers from it.
import { expect, onTestFinished, test } from 'vitest'
import { boot, request } from '../support/boot.ts'

interface Described {
  readonly name: string
  readonly examples: readonly { readonly params: readonly { readonly value: unknown }[] }[]
}

/** Code of an error that is a bug here. */
const INTERNAL_ERROR = -32603

test('answers every method’s example, and none with a bug', async () => {
  const { url, stop } = await boot()
  onTestFinished(async () => {
    await stop()
  })
  const { methods } = (await request(url, 'rpc.discover')) as { methods: Described[] }
  expect(methods.length).toBeGreaterThan(200)
  const failures: unknown[] = []
  for (const { name, examples } of methods) {
    const params = examples[0]!.params.map(({ value }) => value)
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: name, params })
    const response = await fetch(url, { method: 'POST', body })
    const { error } = (await response.json()) as { error?: { code: number } }
    if (error?.code === INTERNAL_ERROR) failures.push(name)
  }
  expect(failures).toEqual([])
}, 120_000)
