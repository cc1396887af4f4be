// Libraries that are loaded when a precompile first needs them: few chains ever do, and the start would pay for all.
import { Unready } from './precompile.ts'

/**
 * A value that is loaded when it is first asked for.
 * @returns the value; throws {Unready} until it is there
 */
export function loadedLater<T>(load: () => Promise<T>): () => T {
  let value: { readonly of: T } | undefined
  let loading: Promise<void> | undefined
  return () => {
    if (value !== undefined) return value.of
    loading ??= load().then((loaded) => {
      value = { of: loaded }
    })
    throw new Unready(loading)
  }
}

/** The value of something that is loaded when it is first asked for, as soon as it is there. */
export async function whenLoaded<T>(ask: () => T): Promise<T> {
  try {
    return ask()
  } catch (error) {
    if (!(error instanceof Unready)) throw error
    await error.ready
    return ask()
  }
}
