// Starts the micro-benchmarks: loads their TypeScript, which node does not read by itself, and prints a line a figure.
import { createServer } from 'vite'
import { soak } from './soak.mjs'

const [which, ...rest] = process.argv.slice(2)
if (which === 'soak') {
  await soak(...rest)
  process.exit()
}
if (which === 'workers') {
  const { workers } = await import('./workers.mjs')
  await workers(...rest)
  process.exit()
}
if (which === 'durable' || which === 'restart') {
  const keeping = await import('./keeping.mjs')
  await keeping[which](...rest)
  process.exit()
}
if (which === 'hardforks') {
  const { hardforks } = await import('./hardforks.mjs')
  await hardforks(...rest)
  process.exit()
}
if (which === 'memory') {
  const { memory } = await import('./memory.mjs')
  await memory(...rest)
  process.exit()
}
if (which === 'growth') {
  const { growth } = await import('./growth.mjs')
  await growth()
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
