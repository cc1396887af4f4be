// Tracers see every operation and every frame, and change nothing.
import { describe, expect, test } from 'vitest'
import {
  createExecutor,
  type FrameEnd,
  type FrameStart,
  type Step,
} from '../../../src/evm/executor.ts'
import { stateRoot } from '../../../src/state/world.ts'
import { assemble, calling, deploying, storing } from '../../support/bytecode.ts'
import { ALICE, CONTRACT, callOf, OTHER, withProgram } from './stage.ts'

const executor = createExecutor()

describe('a tracer', () => {
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

  test('makes no difference to the outcome', async () => {
    const job = callOf(`1 0 SSTORE ${calling(OTHER)}`)
    const plain = await executor.call(job)
    const tracer = { onStep: () => {}, onEnter: () => {}, onExit: () => {} }
    const traced = await executor.call({ ...job, tracer })
    expect(traced.gasUsed).toBe(plain.gasUsed)
    expect(stateRoot(traced.world)).toBe(stateRoot(plain.world))
  })

  test('hears nothing of later runs', async () => {
    let steps = 0
    const tracer = { onStep: () => steps++ }
    await executor.call({ ...callOf('1'), tracer })
    await executor.call(callOf('1 2 3'))
    expect(steps).toBe(1)
  })
})
