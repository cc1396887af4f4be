// Starts a chain for the command line, logs its events, and stops it on a signal.
import { spawn } from 'node:child_process'
import { createWriteStream, fstatSync, openSync, readFileSync } from 'node:fs'
import { constants } from 'node:os'
import path from 'node:path'
import type { Writable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { isatty } from 'node:tty'
import { attempt, DevchainError, invalidParams, writeFailure } from '../core/errors.ts'
import { hintOf } from '../core/nearest.ts'
import { type Devchain, type Observer, openDevchain } from '../devchain.ts'
import { makeFolderOf, replaceFile } from '../loader/cachefolder.ts'
import type { AllSettings } from '../options/derived.ts'
import { nodeOptionsWith } from '../runners/workers.ts'
import { type BootEvent, bootEvent, readyFacts } from './boot.ts'
import type { Renderer, Screen } from './log/folding.ts'
import { createJsonRenderer } from './log/json.ts'
import { Logger, methodPattern } from './log/logger.ts'
import { loadPalette, type Palette, wantsColor } from './log/palette.ts'
import { createPrettyRenderer } from './log/pretty.ts'
import { fileSink, LogWriter, type Sink } from './log/writer.ts'
import { CommandFailure, complain, isGone, outliveReaders } from './output.ts'
import { EXIT } from './parse/subcommands.ts'
import { endReports } from './reports.ts'

/** Milliseconds that the end waits for sockets, and then for the log's reader. */
const CLOSE_MS = 50
const FLUSH_MS = 30

/** Milliseconds before the spinner shows. */
const PATIENCE_MS = 200

/** Milliseconds for which the first calls have the processor before less urgent work. */
const FIRST_CALLS_MS = 20

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Runs a chain until a signal or the parent's end stops it.
 * @returns the exit code
 * @throws {CommandFailure} for what the user can fix
 */
export async function start(settings: AllSettings): Promise<number> {
  const stopped = stopSignal(settings.exitWithParent)
  let terminal: Terminal | undefined
  try {
    await checkLogged(settings)
    terminal = await openTerminal(settings)
    const up = await Promise.race([bringUp(settings, terminal), stopped])
    if (up === undefined) return EXIT.ok
    const { devchain } = up
    setTimeout(outliveReaders, FIRST_CALLS_MS).unref()
    await stopped
    const reports = await endReports(devchain, settings)
    terminal.report(reports.text)
    await Promise.race([devchain.close(), delay(CLOSE_MS)])
    if (reports.refusal === undefined) return EXIT.ok
    throw new CommandFailure(reports.refusal, EXIT.refused)
  } catch (error) {
    throw refusalOf(error, settings) ?? error
  } finally {
    await terminal?.close()
  }
}

/**
 * A misspelt name would silently empty the log.
 * @throws {DevchainError} `INVALID_PARAMS` for a name in `--log-only` or `--log-except` that matches no method
 */
export async function checkLogged({ logOnly, logExcept, alias }: AllSettings): Promise<void> {
  const patterns = [...logOnly, ...logExcept]
  // targets of aliases are unknown here
  if (patterns.length === 0 || alias.length > 0) return
  const { methods } = await import('../methods/index.ts')
  const names = methods.flatMap((method) => [method.name, ...method.aliases])
  for (const pattern of patterns) {
    if (names.some((name) => methodPattern(pattern).test(name))) continue
    const flag = logOnly.includes(pattern) ? '--log-only' : '--log-except'
    throw invalidParams(`${flag}: no method matches ${pattern}${hintOf(pattern, names)}`)
  }
}

export async function bringUp(
  settings: AllSettings,
  { observer, spinner, greet }: Greeter,
): Promise<{ readonly devchain: Devchain; readonly url: string }> {
  const { devchain, endpoints } = await withSpinner(spinner, async () => {
    // a folder that was deleted has no project
    const folder = attempt(() => process.cwd())
    const devchain = await openDevchain(settings, { observer, folder })
    return { devchain, endpoints: await devchain.listen() }
  })
  const { setup, readyFile } = settings
  const isReady = (): void => {
    if (readyFile === undefined) return
    replaceFile(readyFile, `${JSON.stringify(readyFacts(devchain, endpoints), null, 2)}\n`)
  }
  if (setup === undefined) isReady()
  greet(bootEvent(readyFacts(devchain, endpoints)))
  if (setup !== undefined) {
    await devchain.setUp(() => runSetup(setup, endpoints.url))
    isReady()
  }
  return { devchain, url: endpoints.url }
}

/** A spinner on the terminal for slow work. */
async function withSpinner<T>(spinner: Greeter['spinner'], work: () => Promise<T>): Promise<T> {
  if (spinner === undefined) return await work()
  let isDone = false
  let stop: (() => void) | undefined
  const timer = setTimeout(async () => {
    // ora never returns on a terminal whose width is 0
    if (!process.stderr.columns) return
    const { default: ora } = await import('ora')
    if (isDone) return
    const spinning = ora({ text: 'starting the chain', discardStdin: false, ...spinner }).start()
    stop = () => spinning.stop()
  }, PATIENCE_MS)
  try {
    return await work()
  } finally {
    isDone = true
    clearTimeout(timer)
    stop?.()
  }
}

/**
 * Runs a shell command with the variables of `devchain exec`. What it prints goes to standard error. It ends with
 * devchain, as do processes that it leaves running.
 * @throws {CommandFailure} unless it exits with 0, and at a signal
 */
async function runSetup(command: string, url: string): Promise<void> {
  const env = environmentFor(url)
  // in a group of its own, with what it starts: a shell passes no signals on
  const detached = process.platform !== 'win32'
  const child = spawn(command, { shell: true, stdio: ['ignore', 2, 2], env, detached })
  const send = (signal: NodeJS.Signals | 0): boolean =>
    attempt(() => process.kill(detached ? -child.pid! : child.pid!, signal)) === true
  const stop = (): void => void send('SIGTERM')
  process.once('exit', stop)
  let ignoreSignals: (() => void) | undefined
  const end = await new Promise<string | undefined>((resolve, reject) => {
    ignoreSignals = onSignals((signal) => reject(new CommandFailure('', codeOf(signal))))
    child.once('error', ({ message }) => resolve(message))
    child.once('exit', (code, signal) => {
      resolve(code === 0 ? undefined : signal === null ? `exit code ${code}` : `ended by ${signal}`)
    })
  }).finally(() => ignoreSignals?.())
  // unless it left something running
  if (!send(0)) process.off('exit', stop)
  if (end === undefined) return
  throw new CommandFailure(`--setup failed: ${command}: ${end}`, EXIT.refused)
}

/**
 * Calls `listener` at each signal that ends a command beside a chain.
 * @returns stops that
 */
export function onSignals(listener: (signal: NodeJS.Signals) => void): () => void {
  const signals = [...SIGNALS, 'SIGQUIT'] as const
  for (const signal of signals) process.on(signal, listener)
  return () => {
    for (const signal of signals) process.off(signal, listener)
  }
}

/** The exit code by which a shell reports that a signal ended a command. */
export function codeOf(signal: NodeJS.Signals): number {
  return 128 + constants.signals[signal]
}

/**
 * The variables of a command beside a chain, without those of another `devchain exec --chains` around it. With chains, every
 * node process below it loads runners/preload.ts.
 */
export function environmentFor(url: string, hasChains = false): NodeJS.ProcessEnv {
  const DEVCHAIN_CHAINS = hasChains ? url : undefined
  const env = { ...process.env, DEVCHAIN_URL: url, ETH_RPC_URL: url, DEVCHAIN_CHAINS }
  if (!hasChains) return env
  const preload = path.resolve(import.meta.dirname, '../runners/preload.cjs')
  return { ...env, NODE_OPTIONS: nodeOptionsWith(preload, process.env.NODE_OPTIONS) }
}

export interface Greeter {
  readonly observer: Observer
  readonly spinner?: { readonly color: 'cyan' | false } | undefined
  readonly greet: (boot: BootEvent) => void
}

interface Terminal extends Greeter {
  readonly report: (text: string) => void
  readonly close: () => Promise<void>
}

async function openTerminal(settings: AllSettings): Promise<Terminal> {
  const screen = await openOutput(settings, standardOutput())
  const output =
    settings.logFile === undefined ? screen : await openOutput(settings, logFile(settings.logFile))
  const { noColor, quiet } = settings
  const isSilent = quiet && settings.logFile === undefined
  const isColored = wantsColor({ isTerminal: true, noColor, environment: process.env })
  const hasSpinner = isatty(2) && !quiet && settings.log === 'pretty'
  const outputs = new Set([screen, output])
  let isUp = false
  const onExit = (): void => {
    output.log.finish()
    for (const { writer } of outputs) writer.flushNow()
  }
  process.once('exit', onExit)
  return {
    observer: isSilent ? ONLY_FAILURES : observerWith(output.log, settings, output.isColored),
    spinner: hasSpinner ? { color: isColored && 'cyan' } : undefined,
    greet: (boot) => {
      isUp = true
      for (const { writer, renderer, size } of outputs) {
        if (!(quiet && writer === screen.writer)) {
          writer.write(renderer.boot(boot, size?.().columns))
        }
      }
    },
    report: (text) => {
      output.log.finish()
      output.writer.write(text)
    },
    close: async () => {
      if (isUp && !isSilent) output.log.end()
      else output.log.finish()
      await Promise.all([...outputs].map(({ writer }) => writer.finish(FLUSH_MS)))
      process.off('exit', onExit)
    },
  }
}

/** What --quiet leaves of a log. */
export const ONLY_FAILURES: Observer = {
  onFailure: (text) => void complain(`devchain: ${text}\n`),
}

/** With the log of chains in threads, which is written in the same way. */
export function observerWith(log: Logger, settings: AllSettings, isColored: boolean): Observer {
  const order: LogOrder = { settings, isColored, totals: log.totals.memory }
  return { ...log, inThreads: { order, write: (text) => log.foreign(text) } }
}

interface Output {
  readonly writer: LogWriter
  readonly renderer: Renderer
  readonly size: Screen
  readonly isColored: boolean
  readonly log: Logger
}

/** What the log of another thread is written with. */
export interface LogOrder {
  readonly settings: AllSettings
  readonly isColored: boolean
  /** Memory of `LogTotals`. */
  readonly totals: SharedArrayBuffer
}

async function openOutput(settings: AllSettings, sink: Sink): Promise<Output> {
  // a dumb terminal moves no cursor and shows no colors
  const isTerminal = sink.fd === undefined && isatty(1) && process.env.TERM !== 'dumb'
  const isColored = wantsColor({ isTerminal, noColor: settings.noColor, environment: process.env })
  const renderer = rendererOf(settings, await loadPalette(isColored))
  const writer = writerTo(sink, renderer)
  const size = isTerminal ? sizeOfScreen : undefined
  const log = new Logger({ renderer, writer, screen: size, settings })
  return { writer, renderer, size, isColored, log }
}

export function writerTo(sink: Sink, renderer: Renderer): LogWriter {
  return new LogWriter(sink, (lines) => renderer.line({ event: 'overflow', lines }))
}

export function rendererOf({ log, verbose }: AllSettings, palette: Palette): Renderer {
  return log === 'json'
    ? createJsonRenderer(Date.now, verbose)
    : createPrettyRenderer(palette, verbose)
}

/** Asked late, because making the stream takes a while. */
function sizeOfScreen(): { readonly columns: number; readonly rows: number } {
  const { stdout } = process
  return { columns: stdout.columns || 80, rows: stdout.rows || 24 }
}

/** Standard output; a file is written in the background, unlike with `process.stdout`. */
function standardOutput(): Sink {
  // closed: process.stdout discards what it gets
  const isFile = attempt(() => fstatSync(1).isFile())
  const onBroken = endOf('standard output')
  if (isFile !== true) return { open: () => process.stdout, fd: undefined, onBroken }
  return { open: () => fileStream(1), fd: 1, onBroken }
}

/** Reports what a failure means, such as a full disk, unless the log's reader is gone. */
function endOf(file: string, meaning = 'the log ends'): NonNullable<Sink['onBroken']> {
  return (error) => {
    if (isGone(error)) return
    void complain(`devchain: ${meaning}: cannot write to ${file}: ${writeFailure(error)}\n`)
  }
}

/** Appends; a missing folder is made. */
export function logFile(path: string): Sink {
  makeFolderOf(path)
  const fd = openSync(path, 'a')
  const named = `${path} (--log-file)`
  if (fstatSync(fd).isFile()) return fileSink(path, fd, endOf(named, 'the log has a gap'))
  // a pipe may have a reader that does not read
  return { open: () => fileStream(fd), fd: undefined, onBroken: endOf(named) }
}

function fileStream(fd: number): Writable {
  return createWriteStream('', { fd, autoClose: false })
}

/** Resolves at the first stop signal; further signals are ignored. */
function stopSignal(exitWithParent: boolean): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of SIGNALS) process.on(signal, () => resolve())
    if (exitWithParent) watchParent(resolve)
  })
}

/** As `refusalOf` for a command that runs another beside the chain. @throws the error if it is a bug */
export function failedStart(error: unknown, settings: AllSettings): CommandFailure {
  const refusal = refusalOf(error, settings)
  if (refusal === undefined) throw error
  if (refusal.exitCode !== EXIT.refused) return refusal
  return new CommandFailure(refusal.message, EXIT.noStart)
}

/** The message for an error that the user can fix; undefined for a bug. */
function refusalOf(error: unknown, settings: AllSettings): CommandFailure | undefined {
  if (error instanceof CommandFailure) return error
  if (error instanceof DevchainError) {
    // the arguments are valid, but what they name is not
    const isRefused = error.word === 'INVALID_BLOCK' || error.word === 'LIMIT_EXCEEDED'
    return new CommandFailure(error.message, isRefused ? EXIT.refused : EXIT.usage)
  }
  const message = systemMessage(error as NodeJS.ErrnoException, settings)
  return message === undefined ? undefined : new CommandFailure(message, EXIT.refused)
}

function systemMessage(
  error: NodeJS.ErrnoException,
  { host, port, readyFile, logFile, coverage }: AllSettings,
): string | undefined {
  const { code, path, syscall } = error
  if (code === 'EADDRINUSE') {
    return `port ${port} of ${host} is taken: stop the program that listens there, or choose another with --port (--port 0 picks a free one)`
  }
  if (code === 'EACCES' && syscall === 'listen') {
    return `port ${port} needs administrator rights: choose one above 1023`
  }
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
    return `${host} is not an address of this computer: see --host`
  }
  if (syscall === 'listen' || syscall === 'getaddrinfo') {
    return `cannot listen on ${host}: ${code}: see --host`
  }
  if (path === undefined) return undefined
  const flags = { '--log-file': logFile, '--coverage': coverage, '--ready-file': readyFile }
  const [named] = Object.entries(flags).filter(([, given]) => given && path.startsWith(given))
  const file = named === undefined ? path : `${named[1]} (${named[0]})`
  return `cannot write ${file}: ${writeFailure(error)}`
}

/** Milliseconds between checks of the parent's process id. */
const LOOK_MS = 250

/**
 * Calls `onGone` once when the parent has ended: its id changes, or (if stdin is a pipe, as in most test runners) the pipe
 * closes. Under npm and npx a shell stands between and outlives a killed npm, so its parent is checked
 * too, where the system shows it (Linux).
 * @returns stops watching
 */
export function watchParent(onGone: () => void): () => void {
  const parent = process.ppid
  const isNpm = process.env.npm_command !== undefined
  const npm = isNpm ? parentOf(parent) : undefined
  const timer = setInterval(() => {
    if (process.ppid !== parent || (npm !== undefined && parentOf(parent) !== npm)) gone()
  }, LOOK_MS)
  timer.unref()
  const stop = (): void => {
    clearInterval(timer)
    process.stdin.off('end', gone)
  }
  const gone = (): void => {
    stop()
    onGone()
  }
  // a closed stdin says nothing about the parent
  const stdin = attempt(() => fstatSync(0))
  if (stdin?.isFIFO() || stdin?.isSocket()) {
    process.stdin.on('end', gone)
    process.stdin.on('error', gone)
    process.stdin.resume()
  }
  return stop
}

/** Undefined if the system does not show it. */
function parentOf(pid: number): number | undefined {
  // no such process, or not Linux
  const stat = attempt(() => readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? ''
  // the name, in brackets, may contain anything
  const [, parent] = /\) \S (\d+) [^)]*$/.exec(stat) ?? []
  return parent === undefined ? undefined : Number(parent)
}
