// anvil's own program, where npm has a build of it.
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import path from 'node:path'
import { request } from '../process/boot.ts'
import { installProject, projectFolder } from './projects.ts'

/** How a node is asked: a method, and its parameters. */
export type Ask = (method: string, ...params: unknown[]) => Promise<unknown>

export interface Anvil {
  readonly url: string
  readonly ask: Ask
  readonly stop: () => Promise<void>
}

const children = new Set<ChildProcess>()
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL')
})

/** The program, installed when it is first wanted; undefined where there is no build of it or no registry. */
export async function anvilProgram(): Promise<string | undefined> {
  try {
    await installProject('anvil')
  } catch {
    return undefined
  }
  const file = path.join(
    projectFolder('anvil'),
    'node_modules/@foundry-rs/anvil-linux-amd64/bin/anvil',
  )
  return existsSync(file) ? file : undefined
}

/** Starts anvil on a free port. */
export async function startAnvil(program: string, ...args: string[]): Promise<Anvil> {
  const child = spawn(program, ['--port', '0', ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  children.add(child)
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const url = await listening(child)
  return {
    url,
    ask: (method, ...params) => request(url, method, ...params),
    stop: () => {
      child.kill('SIGINT')
      return ended
    },
  }
}

function listening(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    child.stdout!.on('data', (part: Buffer) => {
      text += part
      const found = /Listening on ([\d.]+:\d+)/.exec(text)
      if (found !== null) resolve(`http://${found[1]}`)
    })
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`anvil ended with ${code}: ${text}`)))
  })
}
