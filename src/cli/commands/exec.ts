// `devchain exec`: runs a command beside its own chain.
import { spawn } from 'node:child_process'
import type { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { isatty } from 'node:tty'
import type { Devchain } from '../../devchain.ts'
import type { AllSettings } from '../../options/derived.ts'
import type { Renderer, TextWriter } from '../log/folding.ts'
import { Logger } from '../log/logger.ts'
import { PLAIN } from '../log/palette.ts'
import { LogWriter, type Sink } from '../log/writer.ts'
import { complain, sharedStream } from '../output.ts'
import type { CommandLine, GivenOptions } from '../parse/commandline.ts'
import { EXIT } from '../parse/subcommands.ts'
import { type EndReports, endReports } from '../reports.ts'
import {
  bringUp,
  checkLogged,
  codeOf,
  environmentFor,
  failedStart,
  type Greeter,
  logFile,
  ONLY_FAILURES,
  observerWith,
  onSignals,
  rendererOf,
  writerTo,
} from '../start.ts'

/** A shell's exit codes for an unknown command and one that cannot be run. */
const NOT_FOUND = 127
const NOT_EXECUTABLE = 126

/** Characters of the newest log that are kept for the end. */
const KEPT = 4_000_000

/** Milliseconds to wait for the log's reader at the end. */
const FLUSH_MS = 1_000

const WHEN = ['always', 'failure', 'never'] as const
const FORMS = ['pretty', 'json'] as const

type LogWhen = (typeof WHEN)[number]

/**
 * Starts the chain on a free port, unless one is given, and runs the command.
 * @param line the chain's options, when to print its log, and the command
 * @param readSettings returns the chain's settings, or the exit code if they are invalid
 * @returns the command's exit code, or 128 plus the number of the signal that ended it
 */
export async function execCommand(
  { words, flags, options }: Pick<CommandLine, 'words' | 'flags' | 'options'>,
  readSettings: (options: GivenOptions) => Promise<AllSettings | number>,
): Promise<number> {
  const asked = String(flags.log ?? '').split(',')
  const form = lastOf(FORMS, asked)
  const settings = await readSettings({ port: 0, ...options, ...(form && { log: form }) })
  if (typeof settings === 'number') return settings
  const log = lastOf(WHEN, asked) ?? 'failure'
  return await runBeside(words, { log, hasChains: flags.chains === true }, settings)
}

function lastOf<W extends string>(words: readonly W[], asked: readonly string[]): W | undefined {
  return words.find((word) => word === asked.findLast((each) => words.some((one) => one === each)))
}

interface Output extends Greeter {
  /** Adds the final reports to the log; undefined: they are printed even if the log is not. */
  readonly report: ((text: string) => void) | undefined
  /** Prints the log if wanted, after the command. */
  readonly finish: (exitCode: number) => Promise<void>
}

async function runBeside(
  command: readonly string[],
  { log, hasChains }: { readonly log: LogWhen; readonly hasChains: boolean },
  settings: AllSettings,
): Promise<number> {
  let devchain: Devchain
  let output: Output
  let url: string
  try {
    await checkLogged(settings)
    output = openOutput(log, settings)
    ;({ devchain, url } = await bringUp(settings, output))
  } catch (error) {
    throw failedStart(error, settings)
  }
  try {
    const { exitCode, refusal, signal } = await run(command, environmentFor(url, hasChains))
    // artifacts that the command built give names to its calls
    await devchain.artifactsReadAgain()
    const reports = refusal === undefined ? await reportsOf(devchain, settings) : NO_REPORTS
    output.report?.(reports.text)
    // a user who interrupts a command need not see why it ended
    await output.finish(refusal === undefined && signal !== 'SIGINT' ? exitCode : 0)
    const unprinted = output.report === undefined ? reports.text : ''
    const why = refusal ?? reports.refusal
    await complain(unprinted + (why === undefined ? '' : `devchain: exec: ${why}\n`))
    return exitCode === 0 && reports.refusal !== undefined ? EXIT.refused : exitCode
  } finally {
    await devchain.close().catch(() => undefined)
  }
}

const NO_REPORTS: EndReports = { text: '', refusal: undefined }

async function reportsOf(devchain: Devchain, settings: AllSettings): Promise<EndReports> {
  try {
    return await endReports(devchain, settings)
  } catch (error) {
    return { text: '', refusal: failedStart(error, settings).message }
  }
}

function openOutput(when: LogWhen, settings: AllSettings): Output {
  const { logFile: path, quiet } = settings
  if (path === undefined && (when === 'never' || quiet)) return SILENT
  const wide = rendererOf(settings, PLAIN)
  const renderer =
    path === undefined && isatty(2) ? fitted(wide, () => process.stderr.columns || 80) : wide
  const kept = path === undefined && when === 'failure' ? new NewestText(KEPT) : undefined
  const writer = kept ?? writerTo(path === undefined ? STANDARD_ERROR : logFile(path), renderer)
  const lines = new Logger({ renderer, writer, settings })
  const report = (text: string): void => {
    lines.finish()
    writer.write(text)
  }
  return {
    observer: observerWith(lines, settings, false),
    greet: (boot) => writer.write(renderer.boot(boot)),
    report: kept === undefined ? report : undefined,
    finish: async (exitCode) => {
      lines.end()
      if (writer instanceof LogWriter) await writer.finish(FLUSH_MS)
      else if (exitCode !== 0) await complain(writer.text)
    },
  }
}

/** The renderer for a terminal shared with the command: lines wrap and are never redrawn. */
export function fitted(renderer: Renderer, columns: () => number): Renderer {
  return {
    ...renderer,
    boot: (boot) => renderer.boot(boot, columns()),
    entry: (entry) => renderer.entry(entry, columns()),
    line: (event) => renderer.line(event, event.event === 'hint' ? columns() : undefined),
  }
}

/** A terminal is opened again for writing; anything else is shared with the command. */
const STANDARD_ERROR: Sink = {
  open: () => (isatty(2) ? process.stderr : sharedStream(2)),
  fd: undefined,
}

const SILENT: Output = {
  observer: ONLY_FAILURES,
  greet: () => undefined,
  report: undefined,
  finish: async () => undefined,
}

export interface CommandEnd {
  readonly exitCode: number
  readonly refusal?: string
  /** The first signal that devchain got while the command ran: SIGINT if the user interrupted it. */
  readonly signal?: NodeJS.Signals | undefined
}

/** @param watch sees its output, all of which goes to standard error then */
export async function run(
  [program = '', ...args]: readonly string[],
  env: NodeJS.ProcessEnv,
  watch?: (bytes: Buffer) => void,
): Promise<CommandEnd> {
  // runners print no colours to a pipe, unless they are asked to
  const colours = isatty(2) && process.env.NO_COLOR === undefined ? { FORCE_COLOR: '1' } : {}
  const child =
    watch === undefined
      ? spawn(program, args, { stdio: 'inherit', env })
      : spawn(program, args, { stdio: [0, 'pipe', 'pipe'], env: { ...colours, ...env } })
  const ends = [child.stdout, child.stderr].map(
    (output) => watch && output && passOn(output, watch),
  )
  // the terminal sends typed signals to the command too; signals from elsewhere reach only devchain
  const isTyped = (signal: NodeJS.Signals): boolean =>
    (signal === 'SIGINT' || signal === 'SIGQUIT') && isatty(0)
  let got: NodeJS.Signals | undefined
  const ignoreSignals = onSignals((signal) => {
    got ??= signal
    if (!isTyped(signal)) child.kill(signal)
  })
  try {
    return await new Promise((resolve) => {
      child.once('error', (error) => resolve(cannotRun(program, error)))
      child.once('exit', (code, signal) =>
        resolve({ exitCode: code ?? codeOf(signal!), signal: got }),
      )
    })
  } finally {
    // what it started may go on and keep its output open
    await Promise.race([Promise.all(ends), delay(FLUSH_MS, undefined, { ref: false })])
    ignoreSignals()
  }
}

/** Resolves at its end. */
function passOn(output: Readable, watch: (bytes: Buffer) => void): Promise<void> {
  output.on('data', watch)
  output.pipe(process.stderr, { end: false })
  return new Promise((resolve) => output.once('close', resolve))
}

function cannotRun(program: string, error: NodeJS.ErrnoException): CommandEnd {
  const isMissing = error.code === 'ENOENT'
  const why = isMissing ? 'there is no such command' : error.message
  const refusal = `cannot run ${program}: ${why}`
  return { exitCode: isMissing ? NOT_FOUND : NOT_EXECUTABLE, refusal }
}

export class NewestText implements TextWriter {
  readonly #limit: number
  #parts: string[] = []
  #size = 0
  #lost = false

  /** @param limit characters kept: at least so many, at most twice */
  constructor(limit: number) {
    this.#limit = limit
  }

  readonly write = (text: string): void => {
    this.#parts.push(text)
    this.#size += text.length
    if (this.#size <= 2 * this.#limit) return
    const all = this.#parts.join('')
    const newest = all.slice(all.indexOf('\n', all.length - this.#limit) + 1)
    this.#parts = [newest]
    this.#size = newest.length
    this.#lost = true
  }

  /** A line says if the beginning is missing. */
  get text(): string {
    return (this.#lost ? '… earlier lines are not kept\n' : '') + this.#parts.join('')
  }
}
