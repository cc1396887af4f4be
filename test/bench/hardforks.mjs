// What the same work costs under two hardforks: `npm run bench -- hardforks [bpo2] [amsterdam]`, after `npm run build`. Both chains
// are in one process and take turns, so that other load hits both; the times are those of the processor. No garbage is collected between
// rounds: a forced collection discards optimized code, and traces took three and a half times as long.
import { createDevchain } from '../../dist/devchain.js'

const SENDER = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'
const HOLDER = `0x${'b1'.repeat(20)}`

/** Rounds that are measured; the first ones warm up. */
const ROUNDS = 300
const WARM = 60

/** Init code that deploys this runtime code of at most 255 bytes. */
const deploying = (runtime) => {
  const size = (runtime.length / 2).toString(16).padStart(2, '0')
  return `0x60${size}600c60003960${size}6000f3${runtime}`
}

const word = (value) => BigInt(value).toString(16).padStart(64, '0')

/** As an ERC-20 does: a balance that falls, one that rises, and a log. Calldata: to, amount. */
const TOKEN = [
  '602035', // the amount
  '80335403335500'.slice(0, -2), // balance[caller] -= amount
  '806000355401600035', // balance[to] + amount, to
  '55',
  '600052', // memory: amount
  '60003533602a60206000a300', // LOG3 of a topic, the caller and to
].join('')

class Side {
  /** @param chainId of its own: the signature of a transaction that was signed before is remembered */
  constructor(hardfork, chainId) {
    this.hardfork = hardfork
    this.chainId = chainId
  }

  ask = (method, ...params) => this.chain.request({ method, params })

  async open() {
    this.chain = await createDevchain({
      hardfork: this.hardfork,
      chainId: this.chainId,
      noArtifacts: true,
      gasLimit: 1_000_000_000n,
    })
    this.token = await this.deploy(TOKEN)
    await this.send({ to: HOLDER, value: '0x1', gas: '0x100000' })
    await this.transfer()
    await this.transfer()
    return this
  }

  async deploy(runtime) {
    const hash = await this.send({ data: deploying(runtime), gas: '0x1000000' })
    return (await this.ask('eth_getTransactionReceipt', hash)).contractAddress
  }

  send = (fields) => this.ask('eth_sendTransaction', { from: SENDER, ...fields })

  transfer = () =>
    this.send({ to: this.token, data: `0x${word(HOLDER)}${word(1)}`, gas: '0x100000' })
}

/** Each does the same amount of work in each round. */
const ROWS = {
  'a transfer, mined': async (side) => {
    for (let i = 0; i < 50; i++) await side.send({ to: HOLDER, value: '0x1', gas: '0x100000' })
  },
  'a token transfer, mined': async (side) => {
    for (let i = 0; i < 50; i++) await side.transfer()
  },
  'block of 300 transfers': async (side) => {
    await side.ask('evm_stopMining')
    for (let i = 0; i < 300; i++) await side.send({ to: HOLDER, value: '0x1', gas: '0x10000' })
    await side.ask('evm_mine')
    await side.ask('evm_startMining')
  },
  'block of 200 token transfers': async (side) => {
    await side.ask('evm_stopMining')
    for (let i = 0; i < 200; i++) await side.transfer()
    await side.ask('evm_mine')
    await side.ask('evm_startMining')
  },
  'a transfer to a new account': async (side) => {
    for (let i = 0; i < 50; i++) {
      side.next = (side.next ?? 0x10000) + 1
      const to = `0x${side.next.toString(16).padStart(40, '0')}`
      await side.send({ to, value: '0x1', gas: '0x100000' })
    }
  },
  'an empty block': async (side) => {
    for (let i = 0; i < 500; i++) await side.ask('evm_mine')
  },
  'eth_call of a token': async (side) => {
    const call = { from: SENDER, to: side.token, data: `0x${word(HOLDER)}${word(1)}` }
    for (let i = 0; i < 1000; i++) await side.ask('eth_call', call, 'latest')
  },
  'eth_estimateGas of a token transfer': async (side) => {
    const call = { from: SENDER, to: side.token, data: `0x${word(HOLDER)}${word(1)}` }
    for (let i = 0; i < 1000; i++) await side.ask('eth_estimateGas', call)
  },
  'eth_estimateGas, token to a new holder': async (side) => {
    const call = { from: SENDER, to: side.token, data: `0x${word(0xfeed)}${word(1)}` }
    for (let i = 0; i < 1000; i++) await side.ask('eth_estimateGas', call)
  },
  'eth_estimateGas of a transfer': async (side) => {
    for (let i = 0; i < 1000; i++)
      await side.ask('eth_estimateGas', { from: SENDER, to: HOLDER, value: '0x1' })
  },
  'callTracer of a token transfer': async (side) => {
    side.traced ??= await side.transfer()
    for (let i = 0; i < 1000; i++)
      await side.ask('debug_traceTransaction', side.traced, { tracer: 'callTracer' })
  },
  'struct logs of a token transfer': async (side) => {
    side.traced ??= await side.transfer()
    for (let i = 0; i < 100; i++) await side.ask('debug_traceTransaction', side.traced)
  },
  'a deployment': async (side) => {
    for (let i = 0; i < 30; i++) await side.send({ data: deploying(TOKEN), gas: '0x1000000' })
  },
}

/** Microseconds of the processor, all threads. */
async function costOf(run) {
  const before = process.cpuUsage()
  await run()
  const { user, system } = process.cpuUsage(before)
  return user + system
}

/** The mean without a twentieth at either end: a collection of the whole heap, say. */
function middle(values) {
  const cut = Math.floor(values.length / 20)
  const kept = values.toSorted((a, b) => a - b).slice(cut, values.length - cut)
  return kept.reduce((sum, value) => sum + value) / kept.length
}

/** True as often as not, from a fixed seed. A fixed order would give the collections of every second or fourth work to one side. */
function coin() {
  seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0
  return seed >= 2 ** 31
}

let seed = 1

/** @param only rows whose names contain it */
export async function hardforks(before = 'bpo2', after = 'amsterdam', only = '') {
  const sides = [await new Side(before, 101).open(), await new Side(after, 102).open()]
  console.log(`${''.padEnd(40)} ${before.padStart(10)} ${after.padStart(10)}  ratio`)
  for (const [name, work] of Object.entries(ROWS)) {
    if (!name.includes(only)) continue
    const costs = [[], []]
    for (let round = 0; round < ROUNDS + WARM; round++) {
      for (const at of coin() ? [0, 1] : [1, 0]) {
        const cost = await costOf(() => work(sides[at]))
        if (round >= WARM) costs[at].push(cost)
      }
    }
    const [was, is] = costs.map(middle)
    const shown = [was, is].map((cost) => (cost / 1000).toFixed(2).padStart(10))
    console.log(`${name.padEnd(40)} ${shown.join(' ')}  ${(is / was).toFixed(2)}`)
  }
  for (const { chain } of sides) await chain.close()
}
