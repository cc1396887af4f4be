// `devchain exec`: a command that runs beside a chain of its own.
import { spawn } from 'node:child_process'
import { constants } from 'node:os'
import { isatty } from 'node:tty'
import type { Devchain } from '../../devchain.ts'
import type { AllSettings } from '../../options/derived.ts'
import type { Renderer, TextWriter } from '../log/folding.ts'
import { Log } from '../log/log.ts'
import { PLAIN } from '../log/palette.ts'
import { LogWriter, type Sink } from '../log/writer.ts'
import { complain, sharedStream } from '../output.ts'
import type { CommandLine, GivenOptions } from '../parse/commandline.ts'
import { EXIT } from '../parse/subcommands.ts'
import { endReports } from '../reports.ts'
import {
  bringUp,
  checkLogged,
  type Greeter,
  logFile,
  observerOf,
  refusalOf,
  rendererOf,
} from '../start.ts'

/** What a shell ends with when there is no such command, and when it cannot be run. */
const NOT_FOUND = 127
const NOT_EXECUTABLE = 126

/** Characters of the log that are kept for the end: the newest. */
const KEPT = 4_000_000

/** How long the reader of the log is waited for at the end. */
const FLUSH_MS = 1_000

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const

/** When the log is printed, and its forms. */
const WHEN = ['always', 'failure', 'never'] as const
const FORMS = ['pretty', 'json'] as const

type LogWhen = (typeof WHEN)[number]

/**
 * Runs the command, beside a chain on a free port unless told.
 * @param line the options of the chain, when to print its log, and the command
 * @param readSettings reads the options of a chain, or gives the exit code when something is wrong with them
 * @returns the exit code of the command, 128 and its number when a signal ended it
 */
export async function execCommand(
  { words, flags, options }: Pick<CommandLine, 'words' | 'flags' | 'options'>,
  readSettings: (options: GivenOptions) => Promise<AllSettings | number>,
): Promise<number> {
  const asked = String(flags.log ?? '').split(',')
  const form = lastOf(FORMS, asked)
  const settings = await readSettings(form === undefined ? options : { ...options, log: form })
  if (typeof settings === 'number') return settings
  return await runBeside(
    words,
    lastOf(WHEN, asked) ?? 'failure',
    options.port === undefined ? { ...settings, port: 0 } : settings,
  )
}

/** The last of what was asked for that is one of these words. */
function lastOf<W extends string>(words: readonly W[], asked: readonly string[]): W | undefined {
  return words.find((word) => word === asked.findLast((each) => words.some((one) => one === each)))
}

interface Output extends Greeter {
  /** Puts the reports of the end into the log; undefined: they are shown though the log is not. */
  readonly report: ((text: string) => void) | undefined
  /** Shows what is to be shown, once the command has ended. */
  readonly finish: (exitCode: number) => Promise<void>
}

async function runBeside(
  command: readonly string[],
  log: LogWhen,
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
    const refusal = refusalOf(error, settings)
    if (refusal === undefined) throw error
    await complain(`devchain: exec: ${refusal.message}\n`)
    return refusal.exitCode === EXIT.usage ? EXIT.usage : EXIT.noStart
  }
  try {
    const { exitCode, refusal, isInterrupted } = await run(command, url)
    // what the command has built names what it did
    await devchain.artifactsReadAgain()
    const reports = refusal === undefined ? await reportsOf(devchain, settings) : NO_REPORTS
    output.report?.(reports.text)
    // whoever interrupts a command does not ask why it ended
    await output.finish(refusal === undefined && !isInterrupted ? exitCode : 0)
    const untold = output.report === undefined ? reports.text : ''
    await complain(untold + (refusal ?? reports.refusal))
    return exitCode === 0 && reports.refusal !== '' ? EXIT.refused : exitCode
  } finally {
    await devchain.close().catch(() => undefined)
  }
}

interface Reports {
  readonly text: string
  readonly refusal: string
}

const NO_REPORTS: Reports = { text: '', refusal: '' }

async function reportsOf(devchain: Devchain, settings: AllSettings): Promise<Reports> {
  try {
    const { text, refusal } = await endReports(devchain, settings)
    return { text, refusal: refusal === undefined ? '' : `devchain: exec: ${refusal}\n` }
  } catch (error) {
    const refusal = refusalOf(error, settings)
    if (refusal === undefined) throw error
    return { text: '', refusal: `devchain: exec: ${refusal.message}\n` }
  }
}

function openOutput(when: LogWhen, settings: AllSettings): Output {
  const { logFile: path, quiet } = settings
  if (path === undefined && (when === 'never' || quiet)) return SILENT
  const wide = rendererOf(settings, PLAIN)
  const renderer =
    path === undefined && isatty(2) ? fitted(wide, () => process.stderr.columns || 80) : wide
  if (path === undefined && when === 'failure') return keptOutput(renderer, settings)
  const sink = path === undefined ? standardError() : logFile(path)
  const writer = new LogWriter(sink, (lines) => renderer.line({ event: 'overflow', lines }))
  const lines = new Log(renderer, writer, undefined, settings)
  return {
    observer: observerOf(lines),
    greet: (boot) => writer.write(renderer.boot(boot)),
    report: (text) => {
      lines.finish()
      writer.write(text)
    },
    finish: async () => {
      lines.end()
      await writer.finish(FLUSH_MS)
    },
  }
}

/** The renderer for a terminal that another program writes to as well: lines break, and none is drawn over. */
export function fitted(renderer: Renderer, columns: () => number): Renderer {
  return {
    ...renderer,
    boot: (boot) => renderer.boot(boot, columns()),
    entry: (entry) => renderer.entry(entry, columns()),
    line: (event) => renderer.line(event, event.event === 'hint' ? columns() : undefined),
  }
}

/** A terminal that is written to is opened anew; all else is shared with the command. */
function standardError(): Sink {
  return { open: () => (isatty(2) ? process.stderr : sharedStream(2)), fd: undefined }
}

const SILENT: Output = {
  observer: {},
  greet: () => undefined,
  report: undefined,
  finish: async () => undefined,
}

function keptOutput(renderer: Renderer, settings: AllSettings): Output {
  const kept = new NewestText(KEPT)
  const lines = new Log(renderer, kept, undefined, settings)
  return {
    observer: observerOf(lines),
    greet: (boot) => kept.write(renderer.boot(boot)),
    report: undefined,
    finish: async (exitCode) => {
      lines.end()
      if (exitCode !== 0) await complain(kept.text)
    },
  }
}

interface End {
  readonly exitCode: number
  readonly refusal?: string
  /** True when the user has interrupted it: Ctrl-C, or the signal that this sends. */
  readonly isInterrupted?: boolean
}

async function run([program = '', ...args]: readonly string[], url: string): Promise<End> {
  const env = { ...process.env, DEVCHAIN_URL: url, ETH_RPC_URL: url }
  const child = spawn(program, args, { stdio: 'inherit', env })
  // a terminal sends what its keys mean to the command as well; what comes from elsewhere comes to us alone
  const isTyped = (signal: NodeJS.Signals): boolean =>
    (signal === 'SIGINT' || signal === 'SIGQUIT') && isatty(0)
  let isInterrupted = false
  const pass = (signal: NodeJS.Signals): void => {
    if (signal === 'SIGINT') isInterrupted = true
    if (!isTyped(signal)) child.kill(signal)
  }
  for (const signal of SIGNALS) process.on(signal, pass)
  try {
    return await new Promise((resolve) => {
      child.once('error', (error) => resolve(cannotRun(program, error)))
      child.once('exit', (code, signal) =>
        resolve({ exitCode: code ?? 128 + constants.signals[signal!], isInterrupted }),
      )
    })
  } finally {
    for (const signal of SIGNALS) process.off(signal, pass)
  }
}

function cannotRun(program: string, error: NodeJS.ErrnoException): End {
  const isMissing = error.code === 'ENOENT'
  const why = isMissing ? 'there is no such command' : error.message
  const refusal = `devchain: exec: cannot run ${program}: ${why}\n`
  return { exitCode: isMissing ? NOT_FOUND : NOT_EXECUTABLE, refusal }
}

/** Keeps the end of what is written, in whole lines. */
export class NewestText implements TextWriter {
  readonly #limit: number
  #parts: string[] = []
  #size = 0
  #lost = false

  /** @param limit characters that are kept at least, and twice as many at most */
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

  /** What is kept; a line says so where its beginning is missing. */
  get text(): string {
    return (this.#lost ? '… what came before is not kept\n' : '') + this.#parts.join('')
  }
}
