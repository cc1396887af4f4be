// A devchain with chains on disk that compacts them early: killed.test.ts kills it.
import { createDevchain } from '../../dist/devchain.js'

const [state, durability, threads, fork] = process.argv.slice(2)
const devchain = await createDevchain(
  {
    state,
    durability,
    threads: Number(threads),
    fork,
    // the network is in the process of the test, which has much else to do
    forkTimeout: 60_000,
    forkMaxWait: 60_000,
    port: 0,
    noArtifacts: true,
    chainIdle: 86_400,
  },
  { leastCompacted: 300_000, observer: { onNotice: (text) => console.error(text) } },
)
console.log(`Listening on ${(await devchain.listen()).url}`)
