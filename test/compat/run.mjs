// Starts the recorder of other nodes' answers: loads its TypeScript, which node does not read by itself.
import { createServer } from 'vite'

const loader = await createServer({
  configFile: false,
  appType: 'custom',
  logLevel: 'error',
  server: { middlewareMode: true, hmr: false, ws: false, watch: null },
})
const { main } = await loader.ssrLoadModule('/test/compat/main.ts')
process.exitCode = await main(process.argv.slice(2))
await loader.close()
