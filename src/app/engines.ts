// The executors of a program: chains with the same engine share one.
import type { Executor } from '../evm/executor.ts'
import { createExecutor } from '../evm/run/lazyexecutor.ts'
import type { DevchainSettings } from '../options/derived.ts'

export type EngineSettings = Pick<DevchainSettings, 'evm' | 'memoryLimit'>

export class Engines {
  readonly #onBug: (error: unknown) => void
  readonly #executors = new Map<string, Executor>()

  constructor(onBug: (error: unknown) => void) {
    this.#onBug = onBug
  }

  readonly executorFor = ({ evm, memoryLimit }: EngineSettings): Executor => {
    const key = `${evm} ${memoryLimit}`
    const known = this.#executors.get(key)
    if (known !== undefined) return known
    const made = createExecutor({ evm, memoryLimit, onBug: this.#onBug })
    this.#executors.set(key, made)
    return made
  }

  /** Cancels everything that runs. */
  close(): void {
    for (const executor of this.#executors.values()) executor.close()
  }
}
