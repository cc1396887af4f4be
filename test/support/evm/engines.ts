// Each engine by itself: without one below it, where its bugs would be mended before a test sees them.
import type { Jobs } from '../../../src/evm/executor.ts'
import { HotCodeCompiler } from '../../../src/evm/fast/compiler/hotcode.ts'
import { FastMachine } from '../../../src/evm/fast/machine.ts'
import type { Machine } from '../../../src/evm/machine.ts'
import { createReferenceMachine } from '../../../src/evm/reference/machine.ts'
import { createJobsOn } from '../../../src/evm/run/jobs.ts'
import { Tiers } from '../../../src/evm/run/tiers.ts'
import { attachTracer } from './steptracer.ts'

/** An engine under test. */
export interface Engine {
  readonly name: string
  /** @param memoryLimit bytes */
  readonly jobsWithin: (memoryLimit: number) => Jobs
}

/** An engine of one machine. Its bugs come out. */
export function engineOf(
  name: string,
  machine: () => Promise<Machine>,
  onBug: (error: unknown) => void = fail,
): Engine {
  let loaded: Promise<Machine> | undefined
  const load = (): Promise<Machine> => {
    loaded ??= machine()
    return loaded
  }
  const machines = new Tiers([{ name, load }], () => undefined)
  return {
    name,
    jobsWithin: (memoryLimit) =>
      createJobsOn({ machines, memoryLimit, isClosed: () => false, onBug }),
  }
}

/** Rounds after which code is compiled: few, as most test programs have few. */
const EARLY = 2

/** The engines that there are, from the reference, which is right, to the fastest. */
export function allEngines(): readonly Engine[] {
  return [
    engineOf('reference', async () => createReferenceMachine(attachTracer)),
    engineOf('interpreter', async () => new FastMachine()),
    engineOf('compiler', async () => new FastMachine(new HotCodeCompiler(EARLY))),
  ]
}

function fail(error: unknown): never {
  throw error
}

/** Engines that measure the least gas a run needs. */
export function measuringEngines(): readonly Engine[] {
  return allEngines().filter(({ name }) => name !== 'reference')
}
