// Chains on disk in a process that is killed at random moments, with requests to all of them under way: after the next start
// each is as it was after some request, never a mixture. KILLS=200 kills more often.
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createDevchain } from '../../src/devchain.ts'
import { Random } from '../fuzz/random.ts'
import { ROOT, request, startProcess, temporaryFolder } from '../support/process/boot.ts'

const KILLS = Number(process.env.KILLS ?? 3)
const SCRIPT = path.join(ROOT, 'test/cli/keptprocess.mjs')
const PATHS = ['', '/1', '/2', '/alice']
const FIRST = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'

/** What a chain answers. */
interface Note {
  readonly number: string
  readonly hash: string
  readonly parentHash: string
  readonly snapshots: readonly string[]
  readonly balance: unknown
}

interface Block {
  readonly number: string
  readonly hash: string
  readonly parentHash: string
  readonly transactions: readonly string[]
}

/** In one batch: notes are most of what a process has to do before it is killed. */
async function noteOf(url: string): Promise<Note> {
  const methods = [
    ['eth_getBlockByNumber', 'latest', false],
    ['devchain_snapshots'],
    ['eth_getBalance', FIRST, 'latest'],
  ]
  const batch = methods.map(([method, ...params], id) => ({ jsonrpc: '2.0', id, method, params }))
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(batch) })
  const replies = (await response.json()) as readonly { readonly result: unknown }[]
  const [{ number, hash, parentHash }, snapshots, balance] = replies.map(
    ({ result }) => result,
  ) as [Block, readonly { readonly id: string }[], unknown]
  return { number, hash, parentHash, snapshots: snapshots.map(({ id }) => id), balance }
}

/** A client of one chain: one request after another, each with what the chain answers after it. */
class Client {
  readonly path: string
  readonly notes: Note[] = []
  /** What the request under way may leave, as far as it is known. */
  underWay: ((after: Note) => boolean) | undefined
  readonly #random: Random
  /** The number of its first block: in a fork, that of the network. */
  #first = 0n
  readonly #atSnapshot = new Map<string, Note>()

  constructor(at: string, random: Random) {
    this.path = at
    this.#random = random
  }

  async begin(url: string): Promise<void> {
    const first = await noteOf(url + this.path)
    this.#first = BigInt(first.number)
    this.notes.push(first)
  }

  /** Until the process is gone. */
  async run(url: string, onRequest: () => void): Promise<void> {
    try {
      for (;;) {
        onRequest()
        await this.#next(url + this.path)
        this.notes.push(await noteOf(url + this.path))
        this.underWay = undefined
      }
    } catch (error) {
      if (!/fetch failed|terminated|other side closed|ECONNREFUSED/.test(String(error))) throw error
    }
  }

  async #next(url: string): Promise<void> {
    const random = this.#random
    const last = this.notes.at(-1)!
    const kind = random.weighted([
      [8, 'send'],
      [2, 'mine'],
      [2, 'snapshot'],
      [2, 'revert'],
      [1, 'reorg'],
    ] as const)
    if (kind === 'send' || kind === 'mine') {
      this.underWay = (after) => after.parentHash === last.hash
      const to = `0x${random.digits(20)}`
      if (kind === 'mine') await request(url, 'evm_mine')
      else await request(url, 'eth_sendTransaction', { from: FIRST, to, value: '0x1' })
    } else if (kind === 'snapshot') {
      this.underWay = ({ hash, snapshots }) =>
        hash === last.hash && snapshots.length === last.snapshots.length + 1
      this.#atSnapshot.set((await request(url, 'evm_snapshot')) as string, last)
    } else if (kind === 'revert' && last.snapshots.length > 0) {
      const id = random.pick(last.snapshots)
      const then = this.#atSnapshot.get(id)
      this.underWay = ({ hash }) => then === undefined || hash === then.hash
      await request(url, 'evm_revert', id)
    } else if (kind === 'reorg' && BigInt(last.number) > this.#first + 2n) {
      this.underWay = ({ number }) => number === last.number
      await request(url, 'anvil_reorg', '0x1', [])
    }
  }

  /** After a restart. */
  check(now: Note, durability: string): void {
    const last = this.notes.at(-1)!
    const isLater = this.underWay?.(now) === true
    const known = durability === 'block' ? [last] : this.notes
    if (!isLater) expect(known).toContainEqual(now)
    this.notes.length = 0
    this.notes.push(now)
    this.underWay = undefined
  }
}

/** A network to fork, with blocks. */
async function startNetwork(): Promise<string> {
  const network = await createDevchain({ port: 0 })
  onTestFinished(network.close)
  await network.request({ method: 'hardhat_mine', params: ['0x20'] })
  return (await network.listen()).url
}

test.each([
  ['interval', 'forks', [0]],
  ['block', 'other numbers of threads each time', [0, 2, 1, 0]],
] as const)(
  'chains of a killed process are as they were after some request (--durability %s, %s)',
  async (durability, kind, threads) => {
    const fork = kind === 'forks' ? [await startNetwork()] : []
    const folder = path.join(temporaryFolder(onTestFinished), 'chains')
    const random = new Random(20_261_126)
    const clients = PATHS.map((at) => new Client(at, random))
    let compactions = 0
    for (let kill = 0; kill <= KILLS; kill++) {
      const started = startProcess(
        [SCRIPT, folder, durability, `${threads[kill % threads.length]}`, ...fork],
        { command: [process.execPath] },
      )
      onTestFinished(() => void started.child.kill('SIGKILL'))
      const [, url = ''] = await started.says(/Listening on (\S+)/)
      if (kill === 0)
        await request(url, 'devchain_newChain', { name: 'alice', options: { chainId: 7 } })
      for (const client of clients) {
        if (kill === 0) await client.begin(url)
        else client.check(await noteOf(url + client.path), durability)
      }
      let left = random.between(1, 100)
      const onRequest = (): void => {
        left -= 1
        if (left === 0) started.child.kill('SIGKILL')
      }
      await Promise.all(clients.map((client) => client.run(url, onRequest)))
      expect(await started.ended).toBe('SIGKILL')
      compactions += started.stderr().split('compacted ').length - 1
    }
    if (KILLS > 20) expect(compactions).toBeGreaterThan(0)
  },
  KILLS * 60_000,
)
