// Starts the fuzzer: loads its TypeScript, which node does not read by itself.
import { createServer } from 'vite'

const [text] = process.argv.slice(2)
const seed = text === undefined ? Date.now() % 1_000_000_000 : Number(text)
if (!Number.isSafeInteger(seed) || seed < 0) {
  console.error(`expected a seed, a whole number, got ${text}`)
  process.exit(1)
}
const loader = await createServer({
  configFile: false,
  appType: 'custom',
  logLevel: 'error',
  server: { middlewareMode: true, hmr: false, ws: false, watch: null },
})
const { fuzzFrom } = await loader.ssrLoadModule('/test/fuzz/endless.ts')
await fuzzFrom(seed)
await loader.close()
