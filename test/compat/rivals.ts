// The other nodes' programs: installed from npm into a cache beside the user's others, started, asked, ended.
import { execFile, spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { homedir, tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { newerNode, npmScript } from '../support/tools/projects.ts'
import { eventually } from '../support/waiting/eventually.ts'
import type { Ask } from './play.ts'
import type { Rival, Settings } from './scenario.ts'

const MNEMONIC = 'test test test test test test test test test test test junk'

const REQUEST_MS = 20_000

/** A node that runs. */
export interface Running {
  readonly ask: Ask
  readonly stop: () => Promise<void>
}

interface Program {
  readonly packages: readonly string[]
  /** The Node that installs and runs it. */
  readonly node: () => Promise<string>
  /** A config file to be written for these settings: name, content. */
  readonly config?: (settings: Settings) => readonly [string, string]
  readonly command: (
    folder: string,
    port: number,
    settings: Settings,
  ) => readonly [string, ...string[]]
  /** False: it starts so fast that it is always started anew. */
  readonly reverts: boolean
  /** True: it answers a transaction before its block is there. */
  readonly minesLater?: true
}

const thisNode = (): Promise<string> => Promise.resolve(process.execPath)

const platform = `${process.platform}-${process.arch}`

const PROGRAMS: Readonly<Record<Rival, Program>> = {
  anvil: {
    packages: [`@foundry-rs/anvil-${platform.replace('x64', 'amd64')}@1.7.1`],
    node: thisNode,
    command: (folder, port, { hardfork }) => [
      path.join(
        folder,
        `node_modules/@foundry-rs/anvil-${platform.replace('x64', 'amd64')}/bin/anvil`,
      ),
      ...['--port', String(port), '--mnemonic', MNEMONIC],
      ...(hardfork === undefined ? [] : ['--hardfork', hardfork]),
    ],
    reverts: false,
    minesLater: true,
  },
  hardhat2: {
    packages: ['hardhat@2.29.1'],
    node: thisNode,
    config: (settings) => [
      'hardhat.config.cjs',
      `module.exports = { networks: { hardhat: ${hardhatNetwork(settings)} } }\n`,
    ],
    command: (folder, port) => [
      process.execPath,
      path.join(folder, 'node_modules/hardhat/internal/cli/bootstrap.js'),
      ...['--config', 'hardhat.config.cjs', 'node', '--hostname', '127.0.0.1'],
      ...['--port', String(port)],
    ],
    reverts: true,
  },
  hardhat3: {
    packages: ['hardhat@3.18.0'],
    node: newerNode,
    config: (settings) => [
      'hardhat.config.js',
      `export default { networks: { node: { type: 'edr-simulated', ...${hardhatNetwork(settings)} } } }\n`,
    ],
    command: (folder, port) => [
      'node',
      path.join(folder, 'node_modules/hardhat/dist/src/cli.js'),
      ...['node', '--hostname', '127.0.0.1', '--port', String(port)],
    ],
    reverts: true,
  },
  ganache: {
    packages: ['ganache@7.9.2'],
    node: thisNode,
    command: (folder, port, { hardfork }) => [
      process.execPath,
      path.join(folder, 'node_modules/ganache/dist/node/cli.js'),
      ...['--server.port', String(port), '--wallet.mnemonic', MNEMONIC],
      ...(hardfork === undefined ? [] : ['--chain.hardfork', hardfork]),
    ],
    reverts: true,
  },
}

function hardhatNetwork({ hardfork, sameTimestamp }: Settings): string {
  return JSON.stringify({ hardfork, allowBlocksWithSameTimestamp: sameTimestamp })
}

/** Installs a program, once; gives its folder and the Node that runs it. */
async function install(rival: Rival): Promise<{ readonly folder: string; readonly node: string }> {
  const { packages, node: nodeOf } = PROGRAMS[rival]
  const node = await nodeOf()
  const cache = process.env.XDG_CACHE_HOME ?? path.join(homedir(), '.cache')
  const folder = path.join(cache, 'devchain-compat', packages.join('+').replaceAll('/', '-'))
  const done = path.join(folder, '.installed')
  if (existsSync(done)) return { folder, node }
  mkdirSync(folder, { recursive: true })
  const isModule = rival === 'hardhat3'
  const project = { private: true, type: isModule ? 'module' : 'commonjs' }
  writeFileSync(path.join(folder, 'package.json'), JSON.stringify(project))
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
  await promisify(execFile)(node, [npmScript(), 'install', ...flags, ...packages], { cwd: folder })
  writeFileSync(done, '')
  return { folder, node }
}

/** Starts a program and waits until it answers. */
async function start(rival: Rival, settings: Settings): Promise<Running> {
  const { folder, node } = await install(rival)
  const { config, command } = PROGRAMS[rival]
  if (config !== undefined) {
    const [name, content] = config(settings)
    writeFileSync(path.join(folder, name), content)
  }
  const port = await freePort()
  const [program, ...args] = command(folder, port, settings)
  // what a node leaves behind of its run, it leaves in a folder that goes with it
  const home = mkdtempSync(path.join(tmpdir(), 'devchain-compat-'))
  const env = { ...process.env, HOME: home, HARDHAT_DISABLE_TELEMETRY_PROMPT: 'true' }
  const child = spawn(program === 'node' ? node : program, args, {
    cwd: folder,
    env,
    stdio: ['ignore', 'ignore', 'ignore'],
  })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const stop = async (): Promise<void> => {
    child.kill('SIGKILL')
    await ended
    rmSync(home, { recursive: true, force: true })
  }
  const direct: Ask = (method, params) => post(`http://127.0.0.1:${port}`, method, params)
  const ask = PROGRAMS[rival].minesLater ? untilMined(direct) : direct
  try {
    await answers(ask, () => child.exitCode === null, rival)
  } catch (error) {
    await stop()
    throw error
  }
  return { ask, stop }
}

/** Methods after which a node that mines by itself has blocks to mine. */
const LETS_MINE = /^eth_send|_setAutomine$/

/** Answers when what was asked is done: while the node mines by itself, when no transaction is left that it can mine. */
function untilMined(ask: Ask): Ask {
  return async (method, params) => {
    const answer = await ask(method, params)
    if (answer.error !== undefined || !LETS_MINE.test(method)) return answer
    if ((await ask('anvil_getAutomine', [])).result !== true) return answer
    await eventually(async () => {
      const status = (await ask('txpool_status', [])).result as { readonly pending: string }
      return BigInt(status.pending) === 0n
    })
    return answer
  }
}

/** Methods that leave nothing behind but blocks, which a snapshot takes back. */
const UNDONE_BY_REVERT = /^(eth|net|web3|debug)_|^evm_mine$/

/** A program that is as at its start for each scenario. */
export class Contestant {
  readonly #rival: Rival
  #settings = ''
  #running: Running | undefined
  /** Of the start; undefined when a revert would not bring it back. */
  #snapshot: unknown

  constructor(rival: Rival) {
    this.#rival = rival
  }

  /** Gives a node with these settings where nothing has happened yet, for requests of these methods. */
  async fresh(settings: Settings, methods: readonly string[]): Promise<Ask> {
    const ask = await this.#freshNode(settings)
    const isUndone = methods.every((method) => UNDONE_BY_REVERT.test(method))
    const reverts = PROGRAMS[this.#rival].reverts && isUndone
    this.#snapshot = reverts ? (await ask('evm_snapshot', [])).result : undefined
    return ask
  }

  async #freshNode(settings: Settings): Promise<Ask> {
    const key = JSON.stringify(settings)
    const running = this.#running
    if (running !== undefined && this.#snapshot !== undefined && key === this.#settings) {
      const { result } = await running.ask('evm_revert', [this.#snapshot])
      if (result === true) return running.ask
    }
    await this.stop()
    this.#running = await start(this.#rival, settings)
    this.#settings = key
    return this.#running.ask
  }

  async stop(): Promise<void> {
    await this.#running?.stop()
    this.#running = undefined
  }
}

async function answers(ask: Ask, isAlive: () => boolean, rival: Rival): Promise<void> {
  await eventually(async () => {
    if (!isAlive()) throw new Error(`${rival} ended before it answered`)
    return await ask('eth_chainId', []).then(
      () => true,
      () => false,
    )
  })
}

async function post(url: string, method: string, params: readonly unknown[]): ReturnType<Ask> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    signal: AbortSignal.timeout(REQUEST_MS),
  })
  const { result, error } = (await response.json()) as Awaited<ReturnType<Ask>>
  return error === undefined ? { result } : { error }
}

async function freePort(): Promise<number> {
  const server = createServer()
  return await new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { readonly port: number }
      server.close(() => resolve(port))
    })
  })
}
