// `devchain exec`: a command that runs beside a chain of its own.
import { spawn } from 'node:child_process'
import { constants } from 'node:os'
import { isatty } from 'node:tty'
import { DevchainError, printValue } from '../core/errors.ts'
import { type Devchain, type Endpoints, type Observer, openDevchain } from '../devchain.ts'
import { type AllSettings, flagOf, OPTION_KEYS, OPTIONS } from '../options/table.ts'
import { type BootFacts, bootFacts, writeReadyFile } from './boot.ts'
import { Hints } from './hints.ts'
import { createJsonRenderer } from './json.ts'
import { Log, type Renderer, type TextWriter } from './log.ts'
import { PLAIN } from './palette.ts'
import { createPrettyRenderer } from './pretty.ts'
import { logFile, observerOf, refusalOf } from './start.ts'
import { helpOf, isHelp } from './subcommand.ts'
import { EXIT, subcommandOf } from './subcommands.ts'
import { LogWriter } from './writer.ts'

/** What a shell ends with when there is no such command, and when it cannot be run. */
const NOT_FOUND = 127
const NOT_EXECUTABLE = 126

/** Characters of the log that are kept for the end: the newest. */
const KEPT = 4_000_000

/** How long the reader of the log is waited for at the end. */
const FLUSH_MS = 1_000

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const

/** When the log is printed. */
type LogWhen = 'always' | 'failure' | 'never'

const LOG_WHEN: readonly LogWhen[] = ['always', 'failure', 'never']

/** What the arguments say. */
export interface ExecWish {
  /** Those for the chain. */
  readonly chain: readonly string[]
  readonly log: LogWhen
  readonly command: readonly [string, ...string[]]
}

/**
 * Runs the subcommand.
 * @param argv the arguments after `exec`
 * @param readSettings reads the options of a chain; undefined when they asked for help
 * @returns the exit code of the command, 128 and its number when a signal ended it
 */
export async function execCommand(
  argv: readonly string[],
  readSettings: (argv: readonly string[]) => Promise<AllSettings | number>,
): Promise<number> {
  let wish: ExecWish | undefined
  try {
    wish = readWish(argv)
  } catch (error) {
    if (!(error instanceof DevchainError)) throw error
    process.stderr.write(`devchain: exec: ${error.message}\n`)
    return EXIT.usage
  }
  if (wish === undefined) return EXIT.ok
  const settings = await readSettings(wish.chain)
  if (typeof settings === 'number') return settings
  const hasPort = wish.chain.some((word) => word === '--port' || word.startsWith('--port='))
  return await runBeside(wish, hasPort ? settings : { ...settings, port: 0 })
}

/**
 * Tells the chain's options from the command: it begins after `--`, or at the first word that is no option.
 * @returns undefined when help is asked for, which is printed
 * @throws {DevchainError} `INVALID_PARAMS` without a command
 */
export function readWish(argv: readonly string[]): ExecWish | undefined {
  const chain: string[] = []
  let log: LogWhen = 'failure'
  let at = 0
  for (; at < argv.length && argv[at] !== '--'; at++) {
    const word = argv[at] ?? ''
    if (!word.startsWith('-')) break
    const [flag = word, value] = word.split('=', 2)
    if (isHelp(flag)) {
      process.stdout.write(helpOf(subcommandOf('exec')))
      return undefined
    }
    if (flag === '--log') {
      log = logWhen(value ?? argv[++at])
      continue
    }
    chain.push(word)
    if (value === undefined && takesValue(flag)) chain.push(argv[++at] ?? '')
  }
  const [program, ...rest] = argv.slice(argv[at] === '--' ? at + 1 : at)
  if (program !== undefined) return { chain, log, command: [program, ...rest] }
  const message = 'expected a command after --, such as devchain exec -- npm test'
  throw new DevchainError('INVALID_PARAMS', message)
}

function takesValue(flag: string): boolean {
  const key = OPTION_KEYS.find((candidate) => flagOf(candidate) === flag)
  return key !== undefined && OPTIONS[key].type.placeholder !== undefined
}

function logWhen(value: string | undefined): LogWhen {
  const when = LOG_WHEN.find((each) => each === value)
  if (when !== undefined) return when
  const message = `--log: expected always, failure or never, got ${printValue(value)}`
  throw new DevchainError('INVALID_PARAMS', message)
}

/** Where the log of the chain goes. */
interface Output {
  readonly observer: Observer
  readonly greet: (facts: BootFacts) => void
  /** Shows what is to be shown, once the command has ended. */
  readonly finish: (exitCode: number) => Promise<void>
}

async function runBeside({ command, log }: ExecWish, settings: AllSettings): Promise<number> {
  let devchain: Devchain
  let output: Output
  let endpoints: Endpoints
  try {
    output = openOutput(log, settings)
    devchain = await openDevchain(settings, { observer: output.observer })
    endpoints = await devchain.listen()
    const facts = bootFacts(devchain, endpoints, settings)
    if (settings.readyFile !== undefined) await writeReadyFile(settings.readyFile, facts)
    output.greet(facts)
  } catch (error) {
    const refusal = refusalOf(error, settings)
    if (refusal === undefined) throw error
    process.stderr.write(`devchain: exec: ${refusal.message}\n`)
    return refusal.exitCode === EXIT.usage ? EXIT.usage : EXIT.noStart
  }
  try {
    const { exitCode, refusal } = await run(command, endpoints.url)
    await output.finish(refusal === undefined ? exitCode : 0)
    process.stderr.write(refusal ?? '')
    return exitCode
  } finally {
    await devchain.close()
  }
}

function openOutput(when: LogWhen, settings: AllSettings): Output {
  const { logFile: path, quiet, verbose } = settings
  if (path === undefined && (when === 'never' || quiet)) return SILENT
  const renderer =
    settings.log === 'json'
      ? createJsonRenderer(Date.now, verbose)
      : createPrettyRenderer(PLAIN, verbose)
  if (path === undefined && when === 'failure') return keptOutput(renderer, new Hints(settings))
  const sink = path === undefined ? { open: () => process.stderr, fd: undefined } : logFile(path)
  const writer = new LogWriter(sink, renderer.dropped)
  const lines = new Log(renderer, writer, undefined, new Hints(settings))
  return {
    observer: observerOf(lines),
    greet: (facts) => writer.write(renderer.boot(facts)),
    finish: async () => {
      lines.end()
      await writer.finish(FLUSH_MS)
    },
  }
}

const SILENT: Output = { observer: {}, greet: () => undefined, finish: async () => undefined }

/** The log is shown when the command has failed. */
function keptOutput(renderer: Renderer, hints: Hints): Output {
  const kept = new NewestText(KEPT)
  const lines = new Log(renderer, kept, undefined, hints)
  return {
    observer: observerOf(lines),
    greet: (facts) => kept.write(renderer.boot(facts)),
    finish: async (exitCode) => {
      lines.end()
      if (exitCode === 0) return
      await new Promise<void>((resolve) => {
        // nobody may read any more
        process.stderr.once('error', () => resolve())
        process.stderr.write(kept.text, () => resolve())
      })
    },
  }
}

/** How a command ended. */
interface End {
  readonly exitCode: number
  /** Why it could not be run. */
  readonly refusal?: string
}

/** Runs the command to its end, in the same terminal. */
async function run([program, ...args]: ExecWish['command'], url: string): Promise<End> {
  const env = { ...process.env, DEVCHAIN_URL: url, ETH_RPC_URL: url }
  const child = spawn(program, args, { stdio: 'inherit', env })
  // a terminal sends what its keys mean to the command as well; what comes from elsewhere comes to us alone
  const isTyped = (signal: NodeJS.Signals): boolean =>
    (signal === 'SIGINT' || signal === 'SIGQUIT') && isatty(0)
  const pass = (signal: NodeJS.Signals): void => {
    if (!isTyped(signal)) child.kill(signal)
  }
  for (const signal of SIGNALS) process.on(signal, pass)
  try {
    return await new Promise((resolve) => {
      child.once('error', (error) => resolve(cannotRun(program, error)))
      child.once('exit', (code, signal) =>
        resolve({ exitCode: code ?? 128 + constants.signals[signal!] }),
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
