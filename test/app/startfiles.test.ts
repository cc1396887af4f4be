// The files a chain starts from, read from disk.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createDevchain } from '../../src/devchain.ts'
import { temporaryFolder } from '../support/process/boot.ts'

const ALICE = '0x00000000000000000000000000000000000a11ce'

const fileOf = (text: string): string => {
  const file = join(temporaryFolder(onTestFinished), 'genesis.json')
  writeFileSync(file, text)
  return file
}

describe('a genesis file', () => {
  it('gives the same genesis block as the same JSON from a program', async () => {
    const genesis = { config: { chainId: 7 }, alloc: { [ALICE]: { balance: '5' } } }
    const hashes = []
    for (const given of [genesis, fileOf(JSON.stringify(genesis))]) {
      const devchain = await createDevchain({ genesis: given, timestamp: 1_700_000_000n })
      hashes.push(
        await devchain.request({ method: 'eth_getBlockByNumber', params: ['0x0', false] }),
      )
      await devchain.close()
    }
    expect(hashes[1]).toEqual(hashes[0])
  })

  it.each([
    [`{"alloc":{"${ALICE}":{},"${ALICE}":{}}}`, `alloc.${ALICE}: expected each address once`],
    [
      `{"alloc":{"${ALICE}":{},"${ALICE.slice(2)}":{}}}`,
      `alloc.${ALICE.slice(2)}: expected each address once, got "${ALICE.slice(2)}"`,
    ],
    [`{"alloc":{"${ALICE}":{"balance":"much"}}}`, `alloc.${ALICE}.balance: expected an integer`],
    ['{"alloc":{}', 'is not valid JSON'],
  ])('with %s is refused', async (text, expected) => {
    await expect(createDevchain({ genesis: fileOf(text) })).rejects.toThrow(expected)
  })
})
