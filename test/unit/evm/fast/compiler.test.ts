// The compiler of hot code: that it is used, that it gives way where it must, and that it stays within its bounds.
import fc from 'fast-check'
import { afterEach, expect, test, vi } from 'vitest'
import { EMPTY_BYTES, hexFromBytes } from '../../../../src/core/hex.ts'
import type { CallJob, Outcome } from '../../../../src/evm/executor.ts'
import { compiledOperations } from '../../../../src/evm/fast/compiler/compile.ts'
import { HotCodeCompiler } from '../../../../src/evm/fast/compiler/hotcode.ts'
import { Writer } from '../../../../src/evm/fast/compiler/wasm/writer.ts'
import { FastMachine } from '../../../../src/evm/fast/machine.ts'
import { OP } from '../../../../src/evm/opcodes.ts'
import type { Hardfork } from '../../../../src/protocol/forks.ts'
import { RETURN_WORD } from '../../../support/evm/bytecode.ts'
import { type Engine, engineOf } from '../../../support/evm/engines.ts'
import { ALICE, blockWith, CONTRACT, funded, withProgram } from '../stage.ts'

const MEMORY_LIMIT = 1_000_000
const PLENTY = 10_000_000n

const interpreter = engineOf('interpreter', async () => new FastMachine())

/** An engine that compiles after two rounds, and how often something was hot. */
function compiling(onBug?: (error: unknown) => void): Engine & { readonly hot: () => number } {
  const code = new HotCodeCompiler(2)
  const onHot = vi.spyOn(code, 'onHot')
  const engine = engineOf('compiler', async () => new FastMachine(code), onBug)
  return { ...engine, hot: () => onHot.mock.calls.length }
}

function jobOf(program: string, gasLimit: bigint, hardfork: Hardfork): CallJob {
  return {
    world: withProgram(funded, CONTRACT, program),
    block: blockWith({ hardfork }),
    message: {
      from: ALICE,
      to: CONTRACT,
      value: 0n,
      data: EMPTY_BYTES,
      gasLimit,
      maxFeePerGas: 0n,
      maxPriorityFeePerGas: 0n,
      accessList: [],
      authorizationList: [],
    },
  }
}

async function run(
  engine: Engine,
  program: string,
  gasLimit: bigint = PLENTY,
  hardfork: Hardfork = 'osaka',
): Promise<Outcome> {
  return engine.jobsWithin(MEMORY_LIMIT).call(jobOf(program, gasLimit, hardfork))
}

function seen({ failure, gasUsed, gasRefund, output }: Outcome): unknown {
  return { failure, gasUsed, gasRefund, output: hexFromBytes(output) }
}

/** `rounds` times `body`, which works on the word below the counter; that word is returned. */
function looping(rounds: number, body: string): string {
  return `1 ${rounds} L: ${body} 1 SWAP1 SUB DUP1 @L JUMPI POP ${RETURN_WORD}`
}

afterEach(() => {
  vi.restoreAllMocks()
})

test('the compiler compiles a loop once, however long it runs', async () => {
  const engine = compiling()
  const program = looping(5_000, 'SWAP1 3 MUL SWAP1')
  expect(seen(await run(engine, program))).toEqual(seen(await run(interpreter, program)))
  const after = engine.hot()
  expect(after).toBeGreaterThan(0)
  await run(engine, program)
  expect(engine.hot() - after).toBeLessThan(5)
})

test('the compiler compiles operations of amsterdam, also those deep in the stack', async () => {
  // 30 words below the loop's own two
  const words = Array.from({ length: 30 }, (_, i) => `${i}`).join(' ')
  // DUPN 20, SWAPN 25, EXCHANGE of near and far words, SLOTNUM
  const far = '=e683 SWAP1 POP =e788 =e88e =e80f =e851 =4b ADD'
  const engine = compiling()
  for (const body of [far, `${far} ${far}`, `SWAP1 =4b ADD SWAP1 =e783`]) {
    const program = `${words} 7 ${looping(500, `SWAP1 ${body} SWAP1`).slice(2)}`
    const before = engine.hot()
    const outcome = await run(engine, program, PLENTY, 'amsterdam')
    expect(seen(outcome)).toEqual(seen(await run(interpreter, program, PLENTY, 'amsterdam')))
    expect(engine.hot()).toBeGreaterThan(before)
  }
  const compiled = (hardfork: Hardfork): number[] =>
    [OP.DUPN, OP.SWAPN, OP.EXCHANGE, OP.SLOTNUM].filter((each) =>
      compiledOperations(hardfork).has(each),
    )
  expect(compiled('amsterdam')).toHaveLength(4)
  expect(compiled('bpo2')).toHaveLength(0)
})

test('a compiled trace ends before an invalid immediate', async () => {
  const engine = compiling()
  // the branch with the invalid DUPN is taken in the last round
  const program = looping(50, 'DUP1 1 EQ ISZERO @A JUMPI =e65c A: SWAP1 3 MUL SWAP1')
  const outcome = await run(engine, program, PLENTY, 'amsterdam')
  expect(outcome.failure?.reason).toMatch(/invalid opcode/)
  expect(seen(outcome)).toEqual(seen(await run(interpreter, program, PLENTY, 'amsterdam')))
})

test('the compiler makes few traces for the branches of a loop, not one for each round', async () => {
  const engine = compiling()
  const program = looping(5_000, 'DUP1 1 AND @A JUMPI SWAP1 3 MUL SWAP1 A: DUP1 5 XOR POP')
  expect(seen(await run(engine, program))).toEqual(seen(await run(interpreter, program)))
  expect(engine.hot()).toBeLessThan(10)
})

test('the compiler makes a bounded number of traces for a loop with very many paths', async () => {
  const branches = Array.from(
    { length: 12 },
    (_, bit) => `DUP2 ${2 ** bit} AND @A${bit} JUMPI SWAP1 ${bit + 3} ADD SWAP1 A${bit}:`,
  )
  const scramble = 'SWAP1 0 MSTORE 32 0 KECCAK256 SWAP1'
  const program = looping(10_000, `${scramble} ${branches.join(' ')}`)
  const instances = vi.spyOn(WebAssembly, 'Module')
  const engine = compiling()
  const outcome = await run(engine, program, 1_000_000_000n)
  expect(instances.mock.calls.length).toBeLessThan(200)
  expect(seen(outcome)).toEqual(seen(await run(interpreter, program, 1_000_000_000n)))
})

test('a compiled loop runs out of gas at the same operation as an interpreted one', async () => {
  const engine = compiling()
  const program = looping(
    30,
    'DUP1 DUP1 MSTORE DUP1 DUP1 SSTORE SWAP1 DUP2 EXP SWAP1 32 DUP2 KECCAK256 POP',
  )
  const whole = (await run(interpreter, program)).gasUsed
  await fc.assert(
    fc.asyncProperty(fc.bigInt(21_000n, whole), async (gas) => {
      expect(seen(await run(engine, program, gas))).toEqual(
        seen(await run(interpreter, program, gas)),
      )
    }),
    { seed: 4, numRuns: 300 },
  )
})

test('a compiled loop charges the prices of the current hardfork after a run under another', async () => {
  const engine = compiling()
  const program = looping(50, 'SWAP1 DUP2 SLOAD ADD DUP2 SSTORE DUP1 SLOAD SWAP1')
  for (const hardfork of ['osaka', 'istanbul', 'berlin', 'frontier', 'osaka'] as const) {
    const right = await run(interpreter, program, PLENTY, hardfork)
    expect(seen(await run(engine, program, PLENTY, hardfork)), hardfork).toEqual(seen(right))
  }
})

test('a loop that becomes hot after a run under another hardfork charges its own prices', async () => {
  const { hot, ...engine } = compiling()
  const jobs = engine.jobsWithin(MEMORY_LIMIT)
  const loop = looping(50, '0 SLOAD POP')
  const program = `${'300000 0 KECCAK256 POP '.repeat(10)} ${loop}`
  const right = await run(interpreter, program, PLENTY, 'istanbul')
  let time = 0
  vi.spyOn(performance, 'now').mockImplementation(() => {
    time += 1000
    return time
  })
  let pauses = 0
  const outcome = await jobs.call({
    ...jobOf(program, PLENTY, 'istanbul'),
    cancellation: {
      aborted: false,
      onPause: () => {
        if (hot() === 0) pauses += 1
        void jobs.call(jobOf('STOP', PLENTY, 'osaka'))
      },
    },
  })
  expect(pauses).toBeGreaterThan(0)
  expect(hot()).toBeGreaterThan(0)
  expect(seen(outcome)).toEqual(seen(right))
})

test('a compiled loop that outgrows the memory halts like an interpreted one', async () => {
  const program = looping(100_000, 'DUP2 DUP3 32 MUL MSTORE SWAP1 1 ADD SWAP1')
  const outcome = await run(compiling(), program, 1_000_000_000n)
  expect(outcome.failure).toEqual({ kind: 'halt', reason: 'memory limit exceeded' })
  expect(seen(outcome)).toEqual(seen(await run(interpreter, program, 1_000_000_000n)))
})

test('a compiled row of long operations gives others their turn', async () => {
  let time = 0
  vi.spyOn(performance, 'now').mockImplementation(() => {
    time += 1000
    return time
  })
  let turns = 0
  const { hot, ...engine } = compiling()
  const program = looping(8, '300000 0 KECCAK256 POP '.repeat(30))
  await engine.jobsWithin(MEMORY_LIMIT).call({
    ...jobOf(program, 1_000_000_000n, 'osaka'),
    cancellation: {
      aborted: false,
      onPause: () => {
        turns += 1
      },
    },
  })
  expect(hot()).toBeGreaterThan(0)
  // 8 rounds of 1.7 million gas, of which others wait for 300,000
  expect(turns).toBeGreaterThan(30)
})

test('the compiler frees room when the compiled code is full', async () => {
  const engine = compiling()
  for (let number = 0; number < 1_200; number += 1) {
    const program = looping(6, `SWAP1 ${number} ADD SWAP1`)
    const { output } = await run(engine, program)
    expect(BigInt(hexFromBytes(output))).toBe(1n + 6n * BigInt(number))
  }
  expect(engine.hot()).toBeGreaterThan(1_000)
})

test('the compiler logs its own fault once, and the code runs interpreted', async () => {
  const bugs: unknown[] = []
  const engine = compiling((error) => bugs.push(error))
  const program = looping(100, 'SWAP1 3 MUL SWAP1')
  // the engine itself is a module, too
  await run(engine, 'STOP')
  vi.spyOn(WebAssembly, 'Module').mockImplementation(function planted() {
    throw new Error('planted')
  })
  const right = seen(await run(interpreter, program))
  expect(seen(await run(engine, program))).toEqual(right)
  expect(seen(await run(engine, program))).toEqual(right)
  expect(bugs).toHaveLength(1)
  expect(String(bugs[0])).toMatch(/^Error: the compiler failed on code 0x[0-9a-f]{64}, which is /)
})

/** Reads a number as WebAssembly does. */
function decode(bytes: Uint8Array): bigint {
  let value = 0n
  let shift = 0n
  for (const byte of bytes) {
    value |= BigInt(byte & 0x7f) << shift
    shift += 7n
  }
  const isNegative = ((bytes.at(-1) ?? 0) & 0x40) !== 0
  return isNegative ? BigInt.asIntN(Number(shift), value) : value
}

test('the compiler encodes numbers as WebAssembly decodes them', () => {
  const written = (write: (writer: Writer) => void): bigint => {
    const writer = new Writer()
    write(writer)
    return decode(writer.written)
  }
  fc.assert(
    fc.property(fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n), fc.nat(63), (value, shift) => {
      const number = value >> BigInt(shift)
      expect(written((writer) => writer.signed64(number))).toBe(number)
      const short = Number(BigInt.asIntN(32, number))
      expect(written((writer) => writer.signed32(short))).toBe(BigInt(short))
    }),
    { seed: 4, numRuns: 2_000 },
  )
})
