// Several tracers over one run.
import type { StepParts, Tracer } from '../executor.ts'

/** A tracer that tells each of `tracers`, in their order. What none of them asks for it does not ask for either. */
export function combineTracers(tracers: readonly Tracer[]): Tracer {
  const [only] = tracers
  if (tracers.length === 1 && only !== undefined) return only
  return {
    ...told(tracers, 'onBegin'),
    ...told(tracers, 'onTick'),
    ...told(tracers, 'onStep'),
    stepParts: partsOf(tracers.filter(({ onStep }) => onStep !== undefined)),
    ...told(tracers, 'onEnter'),
    ...told(tracers, 'onExit'),
    ...told(tracers, 'onLog'),
    ...told(tracers, 'onDestroy'),
    ...told(tracers, 'onTouched'),
    ...pausing(tracers),
  }
}

/** What any of them reads. */
function partsOf(tracers: readonly Tracer[]): StepParts {
  return {
    stack: tracers.some(({ stepParts }) => stepParts?.stack !== false),
    memory: tracers.some(({ stepParts }) => stepParts?.memory === true),
  }
}

type Hook = Exclude<keyof Tracer, 'onPause' | 'stepParts'>

function told<H extends Hook>(tracers: readonly Tracer[], hook: H): Pick<Tracer, H> {
  type Listener = (event: unknown) => void
  const listeners = tracers.map((tracer) => tracer[hook]).filter((each) => each !== undefined)
  if (listeners.length === 0) return {} as Pick<Tracer, H>
  const tell: Listener = (event) => {
    for (const listener of listeners) (listener as Listener)(event)
  }
  return { [hook]: tell } as Pick<Tracer, H>
}

function pausing(tracers: readonly Tracer[]): Pick<Tracer, 'onPause'> {
  const pauses = tracers.map(({ onPause }) => onPause).filter((each) => each !== undefined)
  if (pauses.length === 0) return {}
  return {
    onPause: async () => {
      for (const pause of pauses) await pause()
    },
  }
}
