// Preloaded (node --import): once the process is asked to end, timers that it sets never go off, so that an end which waits
// for one does not come.
const never = { ref: () => never, unref: () => never, hasRef: () => false, refresh: () => never }

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => {
    globalThis.setTimeout = () => never
    globalThis.setInterval = () => never
    globalThis.clearTimeout = () => undefined
    globalThis.clearInterval = () => undefined
  })
}
