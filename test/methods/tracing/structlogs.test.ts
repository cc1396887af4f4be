// Struct logs are written as bytes while a transaction runs.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Step } from '../../../src/evm/executor.ts'
import { writeStructLogs } from '../../../src/methods/wire/traces/encodestructlogs.ts'
import { JsonWriter } from '../../../src/rpc/jsontext.ts'

const word = fc.oneof(
  fc.bigInt(0n, 300n),
  fc.constantFrom(2n ** 31n - 1n, 2n ** 31n, 2n ** 53n),
  fc.bigInt(0n, 2n ** 256n - 1n),
)

const gas = fc.oneof(fc.bigInt(0n, 30_000_000n), fc.bigInt(0n, 2n ** 64n))

/** What a step does with the stack of its depth. */
const change = fc.record({
  pops: fc.nat(3),
  pushes: fc.array(word, { maxLength: 4 }),
  depth: fc.nat(2),
  pc: fc.oneof(fc.nat(30_000), fc.constant(2 ** 31)),
  gas,
  gasCost: gas,
  refund: fc.oneof(fc.constant(0n), gas),
  /** In words. */
  memory: fc.oneof(
    { weight: 40, arbitrary: fc.constant(undefined) },
    { weight: 10, arbitrary: fc.nat(3) },
    { weight: 1, arbitrary: fc.constant(3_000) },
  ),
})

type Change = typeof change extends fc.Arbitrary<infer T> ? T : never

function* stepsOf(changes: readonly Change[]): Generator<Step> {
  const stacks: bigint[][] = [[], [], []]
  for (const { pops, pushes, depth, memory: _, ...rest } of changes) {
    const before = stacks[depth]!
    const unchanged = Math.max(0, before.length - pops)
    const stack = [...before.slice(0, unchanged), ...pushes]
    stacks[depth] = stack
    yield { ...rest, depth, stack, unchanged, opName: 'ADD', opcode: 1 } as unknown as Step
  }
}

test('any run is written as the values of its steps', async () => {
  const law = fc.asyncProperty(
    fc.array(change, { maxLength: 2_000, size: 'max' }),
    fc.boolean(),
    async (changes, withStack) => {
      const writer = new JsonWriter()
      const text = writeStructLogs(writer, { withStack })
      const expected: unknown[] = []
      for (const [index, step] of [...stepsOf(changes)].entries()) {
        const { memory: size } = changes[index]!
        const memory = size === undefined ? undefined : new Uint8Array(32 * size).fill(index)
        text.write(step, memory && { memory, storage: undefined, returnData: undefined })
        expected.push(jsonOf(step, withStack, memory))
      }
      text.end()
      const written = await (await writer.end()).text(Number.MAX_SAFE_INTEGER)
      expect(JSON.parse(written)).toEqual(expected)
    },
  )
  await fc.assert(law, { seed: 71, numRuns: 20 })
})

function jsonOf(step: Step, withStack: boolean, memory?: Uint8Array): unknown {
  const { pc, gas, gasCost, depth, refund, stack } = step
  const words = memory && Buffer.from(memory).toString('hex').match(/.{64}/g)
  return {
    ...{ pc, op: 'ADD', gas: Number(gas), gasCost: Number(gasCost), depth: depth + 1 },
    ...(refund > 0n && { refund: Number(refund) }),
    ...(withStack && { stack: stack.map((each) => `0x${each.toString(16)}`) }),
    ...(words && { memory: words.map((each) => `0x${each}`) }),
  }
}
