// Tiers: the fastest machine that can runs a job, and nobody sees its bugs but the log.
import { describe, expect, test } from 'vitest'
import { DevchainError } from '../../../src/core/errors.ts'
import type { Hash } from '../../../src/core/hex.ts'
import type { Machine } from '../../../src/evm/machine.ts'
import { Unready } from '../../../src/evm/precompiles/precompile.ts'
import { createJobsOn } from '../../../src/evm/run/jobs.ts'
import { createExecutor } from '../../../src/evm/run/lazyexecutor.ts'
import { type Tier, Tiers } from '../../../src/evm/run/tiers.ts'
import { storageAt } from '../../../src/state/world.ts'
import { type ALICE, blockWith, CONTRACT, callOf, transactionWith, withProgram } from './stage.ts'

const hashOf = (n: number): Hash => `0x${n.toString(16).padStart(64, '0')}` as Hash

/** A tier whose machine is known by its name only. */
function tier(name: string): Tier {
  const machine: Machine = {
    run: () => {
      throw new Error(`${name} runs nothing`)
    },
  }
  return { name, load: async () => Object.assign(machine, { name }) }
}

const nameOf = (machine: Machine): string => (machine as Machine & { name: string }).name

/** The hash of the code of a job. */
function subject(n: number): Parameters<Tiers['run']>[0] {
  return () => hashOf(n)
}

interface Stage {
  readonly tiers: Tiers
  readonly bugs: Error[]
}

function stage(...names: string[]): Stage {
  const bugs: Error[] = []
  return { tiers: new Tiers(names.map(tier), (error) => bugs.push(error as Error)), bugs }
}

/** Work that fails on some tiers, and otherwise returns the tier that ran it. */
function failingOn(...names: string[]): (machine: Machine) => string {
  return (machine) => {
    if (names.includes(nameOf(machine))) throw new TypeError('a bug')
    return nameOf(machine)
  }
}

describe("the executor's list of machines", () => {
  test('runs a job on the first machine', async () => {
    const { tiers, bugs } = stage('fast', 'slow')
    expect(await tiers.run(subject(1), failingOn())).toBe('fast')
    expect(bugs).toEqual([])
  })

  test('runs a job on the next machine after a bug, and logs the bug once for each code', async () => {
    const { tiers, bugs } = stage('fast', 'middle', 'slow')
    const work = failingOn('fast', 'middle')
    expect(await tiers.run(subject(1), work)).toBe('slow')
    expect(bugs.map(({ message }) => message)).toEqual([
      `the fast engine failed on code ${hashOf(1)}; the next one runs it instead`,
      `the middle engine failed on code ${hashOf(1)}; the next one runs it instead`,
    ])
    expect(bugs[0]?.cause).toMatchObject({ message: 'a bug' })
    expect(await tiers.run(subject(1), failingOn())).toBe('slow')
    expect(bugs).toHaveLength(2)
    expect(await tiers.run(subject(2), failingOn())).toBe('fast')
  })

  test('recovers from a bug that comes after a wait', async () => {
    const { tiers, bugs } = stage('fast', 'slow')
    const work = async (machine: Machine): Promise<string> => failingOn('fast')(machine)
    expect(await tiers.run(subject(1), work)).toBe('slow')
    expect(bugs).toHaveLength(1)
  })

  test('passes errors on to callers', async () => {
    const { tiers, bugs } = stage('fast', 'slow')
    const work = (): never => {
      throw new DevchainError('CANCELLED', 'no more')
    }
    await expect(async () => tiers.run(subject(1), work)).rejects.toThrow('no more')
    expect(bugs).toEqual([])
  })

  test('passes the bugs of the last machine on', async () => {
    const { tiers } = stage('fast', 'slow')
    await expect(async () => tiers.run(subject(1), failingOn('fast', 'slow'))).rejects.toThrow(
      'a bug',
    )
  })

  test('waits for a library that is loading, and continues on the same machine', async () => {
    const { tiers, bugs } = stage('fast', 'slow')
    let isLoaded = false
    const ready = Promise.resolve().then(() => {
      isLoaded = true
    })
    const work = (machine: Machine): string => {
      if (!isLoaded) throw new Unready(ready)
      return nameOf(machine)
    }
    expect(await tiers.run(subject(1), work)).toBe('fast')
    expect(bugs).toEqual([])
  })

  test('responds at once when nothing has to wait', async () => {
    const { tiers } = stage('fast', 'slow')
    await tiers.run(subject(1), failingOn())
    expect(tiers.run(subject(1), failingOn())).toBe('fast')
  })

  test('forgets the codes that failed longest ago', async () => {
    const { tiers } = stage('fast', 'slow')
    for (let n = 0; n <= 1_000; n += 1) await tiers.run(subject(n), failingOn('fast'))
    expect(tiers.run(subject(0), failingOn())).toBe('fast')
    expect(tiers.run(subject(500), failingOn())).toBe('slow')
  })
})

describe('an executor', () => {
  test('whose fast machine breaks in the middle has the result of the reference', async () => {
    const breaking: Machine = {
      run: ({ overlay }) => {
        overlay.setStorage(CONTRACT, 0n, 99n)
        throw new Error('broken')
      },
    }
    const reference = async (): Promise<Machine> =>
      (await import('../../../src/evm/reference/machine.ts')).createReferenceMachine()
    const bugs: unknown[] = []
    const executor = createJobsOn({
      machines: new Tiers(
        [
          { name: 'breaking', load: async () => breaking },
          { name: 'reference', load: reference },
        ],
        (error) => bugs.push(error),
      ),
      memoryLimit: 1_000_000,
      isClosed: () => false,
      onBug: (error) => bugs.push(error),
    })
    const { world } = callOf('42 1 SSTORE')
    const transaction = transactionWith({ to: CONTRACT })
    const outcome = await executor.transact({ world, block: blockWith(), transaction })
    expect(outcome.failure).toBeUndefined()
    expect(storageAt(outcome.world, CONTRACT, 0n)).toBe(0n)
    expect(storageAt(outcome.world, CONTRACT, 1n)).toBe(42n)
    expect(bugs).toHaveLength(1)
  })
})

const ENDLESS = 'JUMPDEST 0 JUMP'

describe.each(['reference', 'interpreter', 'auto'] as const)('an executor with --evm %s', (evm) => {
  test('cancels a run that nobody waits for', async () => {
    const executor = createExecutor({ evm })
    let pauses = 0
    const cancellation = {
      aborted: false,
      onPause() {
        pauses += 1
        this.aborted = pauses === 3
      },
    }
    const job = { ...callOf(ENDLESS, { gasLimit: 10n ** 15n }), cancellation }
    await expect(executor.call(job)).rejects.toMatchObject({ word: 'CANCELLED' })
    expect(pauses).toBe(3)
  })

  test('cancels all runs when it is closed', async () => {
    const executor = createExecutor({ evm })
    const running = executor.call(callOf(ENDLESS, { gasLimit: 10n ** 15n }))
    setImmediate(() => executor.close())
    await expect(running).rejects.toMatchObject({ word: 'CANCELLED' })
  })

  test('accepts gas near 2^256', async () => {
    const executor = createExecutor({ evm })
    const gasLimit = 2n ** 256n - 1n
    const halted = await executor.call(callOf('INVALID', { gasLimit }))
    expect(halted.failure?.kind).toBe('halt')
    expect(halted.gasUsed).toBe(gasLimit)
    const ended = await executor.call(callOf('1 2 ADD POP', { gasLimit }))
    expect(ended.failure).toBeUndefined()
    expect(ended.gasUsed).toBe(21_011n)
  })

  test('halts a frame that wants more memory than allowed', async () => {
    const executor = createExecutor({ evm, memoryLimit: 64_000 })
    const within = await executor.call(callOf('63968 MLOAD', { gasLimit: 10_000_000n }))
    expect(within.failure).toBeUndefined()
    const beyond = await executor.call(callOf('63969 MLOAD', { gasLimit: 10_000_000n }))
    expect(beyond.failure).toEqual({ kind: 'halt', reason: 'memory limit exceeded' })
    expect(beyond.gasUsed).toBe(10_000_000n)
  })

  test('counts the memory of all open frames together', async () => {
    const executor = createExecutor({ evm, memoryLimit: 64_000 })
    const other = `0x${'cc'.repeat(20)}` as typeof ALICE
    const calling = `31968 MLOAD POP 0 0 0 0 0 ${other} GAS CALL 0 SSTORE`
    for (const [inner, success] of [
      ['31968 MLOAD', 1n],
      ['31969 MLOAD', 0n],
    ] as const) {
      const job = callOf(calling, { gasLimit: 10_000_000n })
      const outcome = await executor.call({ ...job, world: withProgram(job.world, other, inner) })
      expect(storageAt(outcome.world, CONTRACT, 0n)).toBe(success)
    }
  })
})
