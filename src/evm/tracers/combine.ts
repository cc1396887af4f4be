// Combines several tracers into one.
import type { StepParts, Tracer } from '../executor.ts'

/** Calls `tracers` in order. Requests only what at least one needs. */
export function combineTracers(tracers: readonly Tracer[]): Tracer {
  const [only] = tracers
  if (tracers.length === 1 && only !== undefined) return only
  return {
    onTick: inTurn(tracers.map(({ onTick }) => onTick)),
    onStep: inTurn(tracers.map(({ onStep }) => onStep)),
    stepParts: partsOf(tracers.filter(({ onStep }) => onStep !== undefined)),
    onEnter: inTurn(tracers.map(({ onEnter }) => onEnter)),
    onExit: inTurn(tracers.map(({ onExit }) => onExit)),
    onLog: inTurn(tracers.map(({ onLog }) => onLog)),
    onDestroy: inTurn(tracers.map(({ onDestroy }) => onDestroy)),
    onTouched: inTurn(tracers.map(({ onTouched }) => onTouched)),
    onReached: inTurn(tracers.map(({ onReached }) => onReached)),
    onPause: pausing(tracers.map(({ onPause }) => onPause)),
  }
}

function partsOf(tracers: readonly Tracer[]): StepParts {
  return {
    stack: tracers.some(({ stepParts }) => stepParts?.stack !== false),
    memory: tracers.some(({ stepParts }) => stepParts?.memory === true),
    end: tracers.some(({ stepParts }) => stepParts?.end === true),
    gas: tracers.some(({ stepParts }) => stepParts?.gas !== false),
    ...onlyOf(tracers),
  }
}

function onlyOf(tracers: readonly Tracer[]): Pick<StepParts, 'only'> {
  const sets = tracers.flatMap(({ stepParts }) => stepParts?.only ?? [])
  if (sets.length === 0 || sets.length < tracers.length) return {}
  return { only: new Set(sets.flatMap((each) => [...each])) }
}

type Listener<T> = (event: T) => void

function inTurn<T>(all: readonly (Listener<T> | undefined)[]): Listener<T> | undefined {
  const listeners = all.filter((each) => each !== undefined)
  if (listeners.length < 2) return listeners[0]
  return (event) => {
    for (const listener of listeners) listener(event)
  }
}

type Pause = NonNullable<Tracer['onPause']>

function pausing(all: readonly (Pause | undefined)[]): Pause | undefined {
  const pauses = all.filter((each) => each !== undefined)
  if (pauses.length < 2) return pauses[0]
  return async () => {
    for (const pause of pauses) await pause()
  }
}
