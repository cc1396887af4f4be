// Starts the micro-benchmarks: loads their TypeScript, which node does not read by itself, and prints a line a figure.
import { createServer } from 'vite'

const FILES = {
  soak: 'soak',
  workers: 'workers',
  durable: 'keeping',
  restart: 'keeping',
  hardforks: 'hardforks',
  memory: 'memory',
  growth: 'growth',
}

const [which, ...rest] = process.argv.slice(2)
if (which !== undefined) {
  const file = FILES[which]
  if (file === undefined) {
    console.error(`bench: expected nothing or ${Object.keys(FILES).join(', ')}, got ${which}`)
    process.exit(1)
  }
  const measured = await import(`./${file}.mjs`)
  await measured[which](...rest)
  process.exit()
}

const loader = await createServer({
  configFile: false,
  appType: 'custom',
  logLevel: 'error',
  server: { middlewareMode: true, hmr: false, ws: false, watch: null },
})
const { engineFigures } = await loader.ssrLoadModule('/test/bench/engine.ts')
const { transactionFigures } = await loader.ssrLoadModule('/test/bench/transactions.ts')
const { blockFigures } = await loader.ssrLoadModule('/test/bench/blocks.ts')
const { linkFigures } = await loader.ssrLoadModule('/test/bench/links.ts')
const { namingFigures } = await loader.ssrLoadModule('/test/bench/naming.ts')
const all = [engineFigures, transactionFigures, blockFigures, linkFigures, namingFigures]
for (const figures of all) {
  for await (const { name, value, unit } of figures()) {
    console.log(`${name.padEnd(52)} ${value.toFixed(value < 10 ? 2 : 0).padStart(8)} ${unit}`)
  }
}
await loader.close()
