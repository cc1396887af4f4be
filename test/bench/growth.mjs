// How large chains, pools and reorganizations grow: `npm run bench -- growth`, after `npm run build`, writes the table of README.md
// anew. Each figure is the processor time of this process, all threads, in a chain of its own.
import { readFileSync, writeFileSync } from 'node:fs'
import { createDevchain } from '../../dist/devchain.js'
import { genesisStart } from './genesis.mjs'

const PAGE = new URL('README.md', import.meta.url)

const hex = (value) => `0x${BigInt(value).toString(16)}`

/** Logs once, with the block's number as its topic. */
const LOGGER = '0x6005600a5f3960055ff3435f5fa100'

/** Logs in each of those chains. */
const LOGS = 100

/** The names of rows, the sizes, and what measures a size for all of these rows. */
const GROUPS = [
  [
    [
      '`eth_getLogs` over so many blocks, 100 hits',
      'the same, one hit',
      '`eth_getFilterChanges` in such a chain, one new log',
    ],
    [10_000, 100_000, 1_000_000],
    logs,
  ],
  [
    ['so many sends that wait', 'one more of them', '`evm_mine` beside them'],
    [500, 5_000, 50_000],
    waiting,
  ],
  [
    ['`anvil_reorg` of so many blocks, a transaction each', '`evm_revert` of as many'],
    [100, 1_000, 10_000],
    back,
  ],
  [
    ['start until the first answer, a genesis of so many accounts'],
    [10_000, 100_000, 1_000_000],
    async (accounts) => [await genesisStart(accounts)],
  ],
]

/** Prints each figure as it is there, and writes the table. */
export async function growth() {
  const lines = [
    '| what, ms of the processor | a hundredth | a tenth | whole |',
    '| --- | ---: | ---: | ---: |',
  ]
  for (const [names, sizes, measure] of GROUPS) {
    const cells = names.map(() => [])
    for (const size of sizes) {
      for (const [at, value] of (await measure(size)).entries()) {
        cells[at].push(`${size.toLocaleString('en')}: ${value.toFixed(value < 10 ? 1 : 0)}`)
        console.log(`${names[at]} ${cells[at].at(-1)}`)
      }
    }
    for (const [at, name] of names.entries()) lines.push(`| ${name} | ${cells[at].join(' | ')} |`)
  }
  const page = readFileSync(PAGE, 'utf8')
  const table = /(## How it grows\n\n(?:.+\n)+\n)\|(?:.+\n)+/
  writeFileSync(
    PAGE,
    page.replace(table, (_, before) => `${before}${lines.join('\n')}\n`),
  )
}

async function chain() {
  const devchain = await createDevchain({})
  const ask = (method, ...params) => devchain.request({ method, params })
  return {
    ask,
    accounts: devchain.accounts.map(({ address }) => address),
    close: () => devchain.close(),
  }
}

async function withChain(run) {
  const { close, ...node } = await chain()
  try {
    return await run(node)
  } finally {
    await close()
  }
}

/** Milliseconds of the processor: the least of three. */
async function timed(run, times = 3) {
  const all = []
  for (let i = 0; i < times; i++) {
    const before = process.cpuUsage()
    await run()
    const { user, system } = process.cpuUsage(before)
    all.push((user + system) / 1000)
  }
  return Math.min(...all)
}

/** Blocks with a log are in even distances. */
async function loggedChain({ ask, accounts: [from] }, blocks) {
  const { contractAddress: to } = await ask(
    'eth_getTransactionReceipt',
    await ask('eth_sendTransaction', { from, data: LOGGER, gas: hex(100_000) }),
  )
  for (let i = 0; i < LOGS; i++) {
    await ask('anvil_mine', hex(blocks / LOGS - 1))
    await ask('eth_sendTransaction', { from, to, gas: hex(50_000) })
  }
  return to
}

/** Milliseconds of all logs, of one, and of what a filter has to say about a new one. */
function logs(blocks) {
  return withChain(async (node) => {
    const { ask, accounts } = node
    const address = await loggedChain(node, blocks)
    const all = { fromBlock: '0x0', toBlock: 'latest', address }
    const { topics } = (await ask('eth_getLogs', all))[LOGS / 2]
    const id = await ask('eth_newFilter', { fromBlock: '0x0', address })
    await ask('eth_sendTransaction', { from: accounts[0], to: address, gas: hex(50_000) })
    return [
      await timed(() => ask('eth_getLogs', all)),
      await timed(() => ask('eth_getLogs', { ...all, topics })),
      await timed(() => ask('eth_getFilterChanges', id), 1),
    ]
  })
}

async function crowd({ ask, accounts }, count) {
  await ask('evm_setAutomine', false)
  for (let i = 0; i < count; i++) {
    await ask('eth_sendTransaction', {
      from: accounts[i % 10],
      to: accounts[0],
      value: '0x1',
      gas: '0x5208',
    })
  }
}

/** Milliseconds of the sends, of one more, and of the block that takes what fits. */
function waiting(count) {
  return withChain(async (node) => [
    await timed(() => crowd(node, count), 1),
    await timed(() => crowd(node, 1)),
    await timed(() => node.ask('evm_mine'), 1),
  ])
}

async function filled({ ask, accounts: [from] }, blocks) {
  for (let i = 0; i < blocks; i++) {
    await ask('eth_sendTransaction', {
      from,
      to: hex(2n ** 159n + BigInt(i)),
      value: '0x1',
      gas: '0x5208',
    })
  }
}

/** Milliseconds of a reorganization to empty blocks, and of going back to a snapshot below them. */
function back(blocks) {
  return withChain(async (node) => {
    const id = await node.ask('evm_snapshot')
    await filled(node, blocks + 1)
    return [
      await timed(() => node.ask('anvil_reorg', blocks, []), 1),
      await timed(() => node.ask('evm_revert', id), 1),
    ]
  })
}
