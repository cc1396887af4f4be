// Loaded into a measured process (`node --import`): sends its parent each time in which the event loop was held.
import { closeSync, openSync, readSync } from 'node:fs'
import { PerformanceObserver } from 'node:perf_hooks'

/** Milliseconds between two ticks of an idle loop. */
const TICK_MS = 5

/** Milliseconds of this thread's processor time between two ticks that are worth a message. */
const HELD_MS = 15

/** Milliseconds until the entries of collections are there, which arrive turns later. */
const ENTRIES_MS = 100

let collections = []
new PerformanceObserver((list) => collections.push(...list.getEntries())).observe({
  entryTypes: ['gc'],
})

// the kernel's count for this thread, as process.cpuUsage() counts V8's helpers too
const schedule = openSync('/proc/thread-self/schedstat')
process.once('exit', () => closeSync(schedule))
const text = Buffer.alloc(64)

function processorMs() {
  const length = readSync(schedule, text, 0, text.length, 0)
  return Number(text.toString('latin1', 0, length).split(' ', 1)[0]) / 1e6
}

let began = performance.now()
let used = processorMs()
setInterval(() => {
  const now = performance.now()
  const processor = processorMs()
  if (processor - used >= HELD_MS) {
    const from = began
    const hold = {
      from: performance.timeOrigin + from,
      to: performance.timeOrigin + now,
      ms: processor - used,
    }
    setTimeout(() => {
      collections = collections.filter(({ startTime, duration }) => startTime + duration > from)
      const gcMs = collections
        .filter(({ startTime }) => startTime < now)
        .reduce((sum, { duration }) => sum + duration, 0)
      process.send?.({ hold: { ...hold, gcMs } })
    }, ENTRIES_MS).unref()
  }
  began = now
  used = processor
}, TICK_MS).unref()
