// Hardhat 3's own node, run from the project of the e2e tests.
import { type ChildProcess, spawn } from 'node:child_process'
import { createServer } from 'node:net'
import path from 'node:path'
import { request } from '../support/process/boot.ts'
import type { Anvil } from '../support/tools/anvil.ts'
import { installProject, newerNode, projectFolder } from '../support/tools/projects.ts'
import { eventually } from '../support/waiting/eventually.ts'

const children = new Set<ChildProcess>()
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL')
})

/** What starts the node with some arguments; undefined where its packages cannot be had. */
export async function hardhatNode(): Promise<
  ((...args: readonly string[]) => Promise<Anvil>) | undefined
> {
  let node: string
  try {
    node = await newerNode()
    await installProject('hardhat3', node)
  } catch {
    return undefined
  }
  return (...args) => start(node, args)
}

async function start(node: string, args: readonly string[]): Promise<Anvil> {
  const cwd = projectFolder('hardhat3')
  const cli = path.join(cwd, 'node_modules/hardhat/dist/src/cli.js')
  const port = await freePort()
  const env = { ...process.env, HARDHAT_DISABLE_TELEMETRY_PROMPT: 'true' }
  const all = [cli, 'node', '--hostname', '127.0.0.1', '--port', String(port), ...args]
  const child = spawn(node, all, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
  children.add(child)
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (part: Buffer) => {
      output += part
    })
  }
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const url = `http://127.0.0.1:${port}`
  await eventually(async () => {
    if (child.exitCode !== null) throw new Error(`hardhat ended with ${child.exitCode}: ${output}`)
    return await request(url, 'eth_chainId').then(
      () => true,
      () => false,
    )
  })
  return {
    url,
    ask: (method, ...params) => request(url, method, ...params),
    stop: () => {
      child.kill('SIGKILL')
      return ended
    },
  }
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}
