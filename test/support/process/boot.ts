// Runs the built command as a process of its own, as users do.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { nextTurn } from '../waiting/turns.ts'

export const ROOT: string = path.resolve(import.meta.dirname, '../../..')
export const COMMAND: string = path.join(ROOT, 'bin/devchain.js')

/** A script that runs until it is stopped. */
export const FOREVER = 'setInterval(() => {}, 1e6)'

/** Children of this test process: none may outlive it. */
const children = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of children) child.kill('SIGKILL')
})

/** A process that was started, with what it has written so far. */
export interface Started {
  readonly child: ChildProcess
  readonly stdout: () => string
  readonly stderr: () => string
  /** The exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals>
  /** Resolves once stdout has a match; fails with all output when the process ends before. */
  readonly says: (pattern: RegExp) => Promise<RegExpExecArray>
}

/** Environment without what would change how the command speaks. */
export function plainEnvironment(
  extra: Readonly<Record<string, string>> = {},
): Record<string, string | undefined> {
  const { NO_COLOR, FORCE_COLOR, ...environment } = process.env
  return { ...environment, ...extra }
}

/** Starts a command, by default `devchain`, with these arguments. */
export function startProcess(
  args: readonly string[],
  options: {
    readonly env?: Readonly<Record<string, string>>
    readonly cwd?: string
    readonly command?: readonly [string, ...string[]]
    readonly stdin?: 'pipe' | 'ignore'
  } = {},
): Started {
  const [program, ...first] = options.command ?? [process.execPath, COMMAND]
  const child = spawn(program, [...first, ...args], {
    cwd: options.cwd,
    env: plainEnvironment(options.env) as NodeJS.ProcessEnv,
    stdio: [options.stdin ?? 'ignore', 'pipe', 'pipe'],
  })
  children.add(child)
  child.once('exit', () => children.delete(child))
  const written = { stdout: '', stderr: '' }
  child.stdout?.on('data', (chunk: Buffer) => {
    written.stdout += chunk
  })
  child.stderr?.on('data', (chunk: Buffer) => {
    written.stderr += chunk
  })
  const ended = once(child, 'close').then(
    ([code, signal]) => (code ?? signal) as number | NodeJS.Signals,
  )
  const says = async (pattern: RegExp): Promise<RegExpExecArray> => {
    for (;;) {
      const match = pattern.exec(stripVTControlCharacters(written.stdout))
      if (match !== null) return match
      const isOver = await Promise.race([
        ended.then(() => true),
        once(child.stdout!, 'data').then(() => false),
      ])
      if (isOver && !pattern.test(stripVTControlCharacters(written.stdout))) {
        throw new Error(`ended without saying ${pattern}: ${written.stdout}${written.stderr}`)
      }
    }
  }
  return { child, stdout: () => written.stdout, stderr: () => written.stderr, ended, says }
}

/** A devchain that listens on a free port. */
export interface Booted extends Started {
  readonly url: string
  /** Sends SIGTERM and waits for the end. */
  readonly stop: () => Promise<number | NodeJS.Signals>
}

/** Starts `devchain --port 0` with these arguments and waits until it listens. */
export async function boot(
  args: readonly string[] = [],
  options: Parameters<typeof startProcess>[1] = {},
): Promise<Booted> {
  const started = startProcess(['--port', '0', ...args], options)
  const [, url = ''] = await started.says(/(?:Listening on |"url":")(http:\/\/[^\s"]+)/)
  const stop = async (): Promise<number | NodeJS.Signals> => {
    started.child.kill('SIGTERM')
    return await started.ended
  }
  return { ...started, url, stop }
}

/** Sends one request; gives the result, or throws the error's message. */
export async function request(url: string, method: string, ...params: unknown[]): Promise<unknown> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  const reply = (await response.json()) as { result?: unknown; error?: { message: string } }
  if (reply.error !== undefined) throw new Error(reply.error.message)
  return reply.result
}

/** An empty folder that is gone when the test is over. */
export function temporaryFolder(onFinished: (remove: () => Promise<void>) => void): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'devchain-test-'))
  onFinished(async () => {
    // the cache of a fork writes what it fetched last in the next turn
    await nextTurn()
    rmSync(folder, { recursive: true, force: true })
  })
  return folder
}
