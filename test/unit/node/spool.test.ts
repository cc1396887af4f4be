// Bytes that may not fit into memory: the same come back, wherever they are.
import { readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createDevchain } from '../../../src/devchain.ts'
import { Spool } from '../../../src/node/dump/spool.ts'

const PIECES = Array.from({ length: 20 }, (_, index) =>
  new Uint8Array(1 + 40_000 * index).fill(index),
)

async function contentOf(spool: Spool): Promise<Buffer> {
  const parts: Uint8Array[] = []
  for (const read of spool.parts()) parts.push(await read())
  return Buffer.concat(parts)
}

test.each([0, 1, 100_000, 10_000_000, 100_000_000])(
  'what was added comes back as often as it is read, with %d bytes in memory',
  async (limit) => {
    const spool = new Spool(limit)
    for (const piece of PIECES) await spool.add(piece)
    const all = Buffer.concat(PIECES)
    expect(spool.size).toBe(all.length)
    for (let time = 0; time < 2; time++) expect((await contentOf(spool)).equals(all)).toBe(true)
    expect(readdirSync(tmpdir()).filter((name) => name.startsWith('devchain-result-'))).toEqual([])
  },
)

test('a full disk, or a folder that cannot be written to, is an error that says so', async () => {
  vi.stubEnv('TMPDIR', '/nowhere/at/all')
  onTestFinished(() => {
    vi.unstubAllEnvs()
  })
  const spool = new Spool(10)
  await spool.add(new Uint8Array(10))
  await expect(spool.add(new Uint8Array(1))).rejects.toMatchObject({
    word: 'LIMIT_EXCEEDED',
    message: expect.stringMatching(
      /^the result has more than 10 bytes, .*\/nowhere\/at\/all: ENOENT/,
    ),
  })
})

test('a dump whose transactions have no room on the disk is the same', async () => {
  const { request, close } = await createDevchain({ noMining: true })
  onTestFinished(close)
  const [from, to] = (await request({ method: 'eth_accounts' })) as string[]
  // 240,000 digits each, and 16 MB of them are kept in memory
  const transaction = { from, to, gas: '0x1000000', data: `0x${'00'.repeat(120_000)}` }
  for (let count = 0; count < 80; count++) {
    await request({ method: 'eth_sendTransaction', params: [transaction] })
    await request({ method: 'evm_mine' })
  }
  const dump = await request({ method: 'anvil_dumpState' })
  vi.stubEnv('TMPDIR', '/nowhere/at/all')
  onTestFinished(() => {
    vi.unstubAllEnvs()
  })
  expect((await request({ method: 'anvil_dumpState' })) === dump).toBe(true)
})
