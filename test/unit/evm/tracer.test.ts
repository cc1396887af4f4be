// Tracers see every operation and every frame, and change nothing.
import { describe, expect, test, vi } from 'vitest'
import { bytesFromHex, hexFromBytes, wordFromBigint } from '../../../src/core/hex.ts'
import type {
  Destruction,
  FrameEnd,
  FrameStart,
  Step,
  Touched,
  Tracer,
} from '../../../src/evm/executor.ts'
import type { Log } from '../../../src/protocol/blocks/receipt.ts'
import { stateRoot } from '../../../src/state/world.ts'
import { assemble, calling, deploying, RETURN_WORD, storing } from '../../support/evm/bytecode.ts'
import { allEngines } from '../../support/evm/engines.ts'
import { ALICE, BOB, CONTRACT, callOf, OTHER, withProgram } from './stage.ts'

const word = (value: number): string => wordFromBigint(BigInt(value))

describe.each(allEngines())('a tracer on the engine $name', ({ name, jobsWithin }) => {
  const executor = jobsWithin(2 ** 27)

  test('sees each operation before it runs, with its gas and the stack', async () => {
    const steps: Step[] = []
    const tracer = { onStep: (step: Step) => steps.push(step) }
    await executor.call({ ...callOf('1 2 ADD 0 SSTORE', { gasLimit: 121_000n }), tracer })
    expect(steps.map((step) => [step.pc, step.opName, step.gas, step.gasCost])).toEqual([
      [0, 'PUSH1', 100_000n, 3n],
      [2, 'PUSH1', 99_997n, 3n],
      [4, 'ADD', 99_994n, 3n],
      [5, 'PUSH1', 99_991n, 3n],
      [7, 'SSTORE', 99_988n, 22_100n],
    ])
    expect(steps[4]).toMatchObject({ depth: 0, address: CONTRACT, opcode: 0x55, stack: [3n, 0n] })
  })

  test('sees the operations that it subscribes to, and those that cannot run, even if others are left out', async () => {
    const seen: [name: string, pc: number, top: bigint | undefined][] = []
    const only = new Set([0x55])
    const tracer: Tracer = {
      onStep: ({ pc, opcode, opName, stack }) => {
        if (only.has(opcode) || opName === 'ADD') seen.push([opName, pc, stack.at(-1)])
      },
      stepParts: { stack: true, memory: false, only },
    }
    await executor.call({ ...callOf('7 9 SSTORE 1 2 POP POP 5 ADD'), tracer })
    expect(seen).toEqual([
      ['SSTORE', 4, 9n],
      ['ADD', 13, 5n],
    ])
  })

  test('sees the stack of the operations whose stack it subscribes to', async () => {
    const seen: (bigint | undefined)[] = []
    const tracer: Tracer = {
      onStep: ({ opcode, stack }) => opcode === 0x55 && seen.push(stack.at(-1)),
      stepParts: {
        stack: true,
        memory: false,
        only: new Set([0x50, 0x55]),
        stackOf: new Set([0x55]),
        gas: false,
      },
    }
    await executor.call({ ...callOf('1 POP 7 9 SSTORE 2 POP 7 8 SSTORE'), tracer })
    expect(seen).toEqual([9n, 8n])
  })

  test('sees all operations again after a run with few', async () => {
    const only = { stack: false, memory: false, only: new Set([0x55]), gas: false }
    await executor.call({ ...callOf('7 9 SSTORE'), tracer: { onStep: () => 0, stepParts: only } })
    const steps: [name: string, cost: bigint, words: number][] = []
    const tracer = {
      onStep: ({ opName, gasCost, stack }: Step) => steps.push([opName, gasCost, stack.length]),
    }
    await executor.call({ ...callOf('7 9 SSTORE'), tracer })
    expect(steps).toEqual([
      ['PUSH1', 3n, 0],
      ['PUSH1', 3n, 1],
      ['SSTORE', 22_100n, 2],
    ])
  })

  test('sees frames open and close, inner ones within outer ones', async () => {
    const events: string[] = []
    const tracer = {
      onEnter: (frame: FrameStart) => events.push(`enter ${frame.depth} ${frame.kind} ${frame.to}`),
      onExit: (frame: FrameEnd) =>
        events.push(`exit ${frame.depth} ${frame.failure?.reason ?? 'ok'}`),
    }
    const job = callOf(`${calling(OTHER)} 0 0 0 0 ${OTHER} GAS DELEGATECALL`)
    const world = withProgram(job.world, OTHER, '0 0 REVERT')
    await executor.call({ ...job, world, tracer })
    expect(events).toEqual([
      `enter 0 CALL ${CONTRACT}`,
      `enter 1 CALL ${OTHER}`,
      'exit 1 revert',
      `enter 1 DELEGATECALL ${OTHER}`,
      'exit 1 revert',
      'exit 0 ok',
    ])
  })

  test('can keep the code of a frame, also of a contract that the run creates', async () => {
    const kept: Uint8Array[] = []
    const tracer: Tracer = {
      onStep: () => undefined,
      onEnter: (frame) => kept.push(frame.code()),
    }
    const runtime = assemble('1 2 ADD STOP')
    const init = deploying(runtime)
    // the address of what was made is on the stack: it is called, and memory is written over
    const program = `${storing(init)} ${init.length} 0 0 CREATE 0 0 0 0 0 DUP6 GAS CALL 7 0 MSTORE 7 32 MSTORE`
    const job = callOf(program)
    await executor.call({ ...job, tracer })
    expect(kept.map((code) => hexFromBytes(code))).toEqual(
      [assemble(program), init, runtime].map((code) => hexFromBytes(code)),
    )
  })

  test('knows every kind of frame, also within static calls', async () => {
    const kinds: string[] = []
    const init = deploying(assemble('STOP'))
    const create = `${storing(init)} ${init.length} 0 0 CREATE 5 ${init.length} 0 0 CREATE2`
    const program = `${create} 0 0 0 0 0 ${OTHER} GAS CALLCODE 0 0 0 0 ${OTHER} GAS STATICCALL`
    const job = callOf(program)
    const world = withProgram(job.world, OTHER, calling('0x04', { gas: '5000' }))
    const tracer = { onEnter: ({ kind }: FrameStart) => kinds.push(kind) }
    const outcome = await executor.call({ ...job, world, tracer })
    expect(outcome.failure).toBeUndefined()
    expect(kinds).toEqual(['CALL', 'CREATE', 'CREATE2', 'CALLCODE', 'CALL', 'STATICCALL', 'CALL'])
  })

  test('sees who calls whom under DELEGATECALL: the running contract calls the code', async () => {
    const frames: FrameStart[] = []
    const tracer = { onEnter: (frame: FrameStart) => frames.push(frame) }
    await executor.call({ ...callOf(`0 0 0 0 ${OTHER} GAS DELEGATECALL`), tracer })
    expect(frames[0]).toMatchObject({ from: ALICE, to: CONTRACT })
    expect(frames[1]).toMatchObject({ from: CONTRACT, to: OTHER })
  })

  test('does not change the outcome', async () => {
    const job = callOf(`1 0 SSTORE ${calling(OTHER)}`)
    const plain = await executor.call(job)
    const tracer = { onStep: () => {}, onEnter: () => {}, onExit: () => {} }
    const traced = await executor.call({ ...job, tracer })
    expect(traced.gasUsed).toBe(plain.gasUsed)
    expect(stateRoot(traced.world)).toBe(stateRoot(plain.world))
  })

  test('sees nothing of later runs', async () => {
    let steps = 0
    const tracer = { onStep: () => steps++ }
    await executor.call({ ...callOf('1'), tracer })
    await executor.call(callOf('1 2 3'))
    expect(steps).toBe(1)
  })

  test('sees the cost of a call with the gas that it passes on', async () => {
    const steps: Step[] = []
    const tracer = { onStep: (step: Step) => steps.push(step) }
    const job = callOf(`0 0 0 0 0 ${OTHER} 1000 CALL`, { gasLimit: 121_000n })
    await executor.call({ ...job, tracer })
    expect(steps.at(-1)).toMatchObject({ opName: 'CALL', gasCost: 2600n + 1000n })
    const all = callOf(`0 0 0 0 0 ${OTHER} GAS CALL`, { gasLimit: 121_000n })
    await executor.call({ ...all, tracer })
    const { gas, gasCost } = steps.at(-1)!
    expect(gasCost).toBe(gas - (gas - 2600n) / 64n)
  })

  test('sees each log with the memory at that time', async () => {
    const logs: Log[] = []
    const tracer = { onLog: (log: Log) => logs.push(log) }
    await executor.call({ ...callOf('7 0 MSTORE 5 6 33 31 LOG2 8 0 MSTORE 9 0 0 LOG1'), tracer })
    expect(logs).toEqual([
      {
        address: CONTRACT,
        topics: [word(6), word(5)],
        data: bytesFromHex(`0x07${'00'.repeat(32)}`),
      },
      { address: CONTRACT, topics: [word(9)], data: new Uint8Array() },
    ])
    // in a static call it may not be written, and with too little gas it is not
    const calls = callOf(`0 0 0 0 ${OTHER} GAS STATICCALL 0 0 0 0 0 ${OTHER} 300 CALL`)
    logs.length = 0
    await executor.call({ ...calls, world: withProgram(calls.world, OTHER, '0 0 LOG0'), tracer })
    expect(logs).toEqual([])
  })

  test('sees a contract that destroys itself, with its balance', async () => {
    const destructions: Destruction[] = []
    const tracer = { onDestroy: (destruction: Destruction) => destructions.push(destruction) }
    await executor.call({ ...callOf(`${OTHER} SELFDESTRUCT`, { value: 5n }), tracer })
    expect(destructions).toEqual([{ address: CONTRACT, beneficiary: OTHER, balance: 5n }])
    destructions.length = 0
    await executor.call({ ...callOf(`${OTHER} SELFDESTRUCT`, { gasLimit: 21_010n }), tracer })
    expect(destructions).toEqual([])
  })

  test('sees at the end everything that the run touched, in failed frames too', async () => {
    const seen: Touched[] = []
    const tracer = { onTouched: (touched: Touched) => seen.push(touched) }
    const job = callOf(`7 SLOAD ${BOB} BALANCE ${calling(OTHER)}`)
    const accessList = [{ address: CONTRACT, storageKeys: [word(7), word(8)] }]
    const message = { ...job.message, accessList: accessList as never }
    const world = withProgram(job.world, OTHER, '1 3 SSTORE 0 0 REVERT')
    await executor.call({ ...job, message, world, tracer })
    expect(seen).toEqual([
      new Map([
        [CONTRACT, [7n]],
        [BOB, []],
        [OTHER, [3n]],
      ]),
    ])
  })

  test.each([
    [`3 4 5 0 9 ${OTHER} 700 CALL`, { kind: 'CALL', to: OTHER, gas: 3000n, value: 9n, depth: 1 }],
    [`3 4 5 0 9 ${OTHER} 700 CALLCODE`, { kind: 'CALLCODE', to: OTHER, gas: 3000n, value: 9n }],
    ['5 0 9 CREATE', { kind: 'CREATE', to: null, value: 9n }],
    ['1 5 0 9 CREATE2', { kind: 'CREATE2', to: null, value: 9n }],
  ])('sees a call that nobody could pay for: %s', async (program, expected) => {
    const frames: FrameStart[] = []
    const ends: FrameEnd[] = []
    const tracer: Tracer = {
      onEnter: (frame) => frames.push(frame),
      onExit: (end) => ends.push(end),
    }
    const outcome = await executor.call({ ...callOf(`258 0 MSTORE ${program}`), tracer })
    expect(outcome.failure).toBeUndefined()
    expect(frames).toHaveLength(2)
    expect(frames[1]).toMatchObject({ from: CONTRACT, input: new Uint8Array(5), ...expected })
    const failure = { kind: 'halt', reason: 'insufficient balance for transfer' }
    expect(ends[0]).toMatchObject({ depth: 1, gasUsed: 0n, failure })
    expect(ends[1]).toMatchObject({ depth: 0, failure: undefined })
  })

  test.skipIf(name === 'reference')(
    'is awaited after few operations that take it long',
    async () => {
      let time = 0
      const clock = vi.spyOn(performance, 'now').mockImplementation(() => (time += 1_000))
      const seen: string[] = []
      const tracer: Tracer = {
        onStep: ({ opName }) => seen.push(opName),
        stepParts: { stack: true, memory: true },
        onPause: async () => void seen.push('pause'),
      }
      await executor.call({ ...callOf('1 0 MSTORE 2 POP'), tracer })
      clock.mockRestore()
      const operations = ['PUSH1', 'PUSH1', 'MSTORE', 'PUSH1', 'POP']
      expect(seen.filter((each) => each !== 'pause')).toEqual(operations)
      expect(seen.join(' ')).toMatch('PUSH1 pause MSTORE pause PUSH1')
    },
  )

  test('is awaited now and then, and ends the run by throwing', async () => {
    // the reference gives turns more often, and takes ten times as long
    const gasLimit = name === 'reference' ? 500_000n : 5_000_000n
    const job = callOf('loop: @loop JUMP', { gasLimit })
    // each look at the clock finds the turn to be over
    let time = 0
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => (time += 1_000))
    let pauses = 0
    let ticks = 0
    const counting: Tracer = {
      onTick: (operations) => {
        ticks += operations
      },
      onPause: async () => {
        pauses += 1
      },
    }
    await executor.call({ ...job, tracer: counting })
    expect(pauses).toBeGreaterThan(2)
    expect(ticks).toBeGreaterThan(100_000)
    const failing = {
      onTick: () => undefined,
      onPause: () => Promise.reject(new Error('no room')),
    }
    await expect(async () => executor.call({ ...job, tracer: failing })).rejects.toThrow('no room')
    clock.mockRestore()
    const onTick = (): void => {
      throw new Error('enough')
    }
    await expect(async () => executor.call({ ...job, tracer: { onTick } })).rejects.toThrow(
      'enough',
    )
    // the next run is not bothered
    expect((await executor.call(callOf(`1 ${RETURN_WORD}`))).output.at(-1)).toBe(1)
  })
})
