// The point evaluation precompile as a machine runs it first, when its library still has to be loaded.
import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { type Address, concatBytes, hexFromBytes } from '../../../../src/core/hex.ts'
import { createExecutor } from '../../../../src/evm/run/lazyexecutor.ts'
import { blockWith, funded, messageWith } from '../stage.ts'

const to = '0x000000000000000000000000000000000000000a' as Address

/** The point at infinity: the commitment of a polynomial that is 0 everywhere, and the proof of it. */
const INFINITY = new Uint8Array(48).fill(0xc0, 0, 1)

/** The generator of G1, which commits to 1 everywhere. */
const GENERATOR = Buffer.from(
  '97f1d3a73197d7942695638c4fa9ac0fc3688c4f9774b905a14e3a3f171bac586c55e83ff97a1aeffb3af00adb22c6bb',
  'hex',
)

const word = (value: number): Uint8Array => new Uint8Array(32).fill(value, 31)

function inputOf(commitment: Uint8Array, y: Uint8Array): Uint8Array {
  const hash = createHash('sha256').update(commitment).digest()
  hash[0] = 1
  return concatBytes(hash, word(7), y, commitment, INFINITY)
}

const EVALUATED = `0x${(4096).toString(16).padStart(64, '0')}73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001`

test.each(['reference', 'interpreter'] as const)(
  'the point evaluation precompile verifies values on %s',
  async (evm) => {
    const executor = createExecutor({ evm })
    const call = (data: Uint8Array) =>
      executor.call({ world: funded, block: blockWith(), message: messageWith({ to, data }) })
    const outcomes = await Promise.all(
      [
        inputOf(INFINITY, word(0)),
        inputOf(GENERATOR, word(1)),
        inputOf(GENERATOR, word(2)),
        inputOf(GENERATOR, new Uint8Array(32).fill(0xff)),
        inputOf(new Uint8Array(48), word(0)),
      ].map(call),
    )
    expect(outcomes.map(({ failure }) => failure?.kind)).toEqual([
      ...[undefined, undefined],
      ...['halt', 'halt', 'halt'],
    ])
    for (const { output } of outcomes.slice(0, 2)) expect(hexFromBytes(output)).toBe(EVALUATED)
  },
)
