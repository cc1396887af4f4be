// Reads the arguments of a subcommand by its declaration, and explains them. Without a library, which takes 4 ms to load.
import { DevchainError, printValue } from '../core/errors.ts'
import { hintOf } from '../core/nearest.ts'
import { type Subcommand, type SubcommandFlag, usageOf } from './subcommands.ts'

/** Columns of the left half of help. */
const NAME_WIDTH = 30

const HELP: SubcommandFlag = { name: '--help', sentence: 'Print this help' }

/** What the arguments say. */
export interface Given {
  readonly words: readonly string[]
  /** By name with its hyphens; true for a flag without a value. */
  readonly flags: ReadonlyMap<string, string | true>
}

/**
 * Reads arguments, and prints help where that is asked for. What begins with `-` is an option, but for `-` itself and
 * what looks like a number; after `--` nothing is.
 * @returns undefined when help alone was asked for
 * @throws {DevchainError} `INVALID_PARAMS` saying what is wrong with them
 */
export function readSubcommand(subcommand: Subcommand, argv: readonly string[]): Given | undefined {
  const words: string[] = []
  const flags = new Map<string, string | true>()
  for (let i = 0; i < argv.length; i++) {
    const word = argv[i] ?? ''
    if (word === '--') {
      words.push(...argv.slice(i + 1))
      break
    }
    if (!isOption(word)) {
      words.push(word)
      continue
    }
    if (isHelp(word)) {
      process.stdout.write(helpOf(subcommand))
      return undefined
    }
    const { name, value, isNext } = readFlag(subcommand, word, argv[i + 1])
    if (isNext) i++
    flags.set(name, value)
  }
  checkCount(subcommand, words)
  return { words, flags }
}

/** True for what asks for help. */
export function isHelp(word: string): boolean {
  return word === '-h' || word === '--help'
}

function isOption(word: string): boolean {
  return /^-\D/.test(word)
}

/** @param next the word after it, which may be its value */
function readFlag(
  subcommand: Subcommand,
  word: string,
  next: string | undefined,
): { name: string; value: string | true; isNext: boolean } {
  const equals = word.indexOf('=')
  const name = equals < 0 ? word : word.slice(0, equals)
  const given = equals < 0 ? undefined : word.slice(equals + 1)
  const flag = subcommand.flags.find((each) => each.name === name)
  if (flag === undefined) {
    const names = [...subcommand.flags, HELP].map((each) => each.name)
    throw refusal(subcommand, `unknown option ${name}${hintOf(name, names)}`)
  }
  if (flag.placeholder === undefined) {
    if (given === undefined) return { name, value: true, isNext: false }
    throw refusal(subcommand, `${name} takes no value, got ${printValue(given)}`)
  }
  const value = given ?? next
  const isMissing = value === undefined || value === '' || (given === undefined && isOption(value))
  if (isMissing) throw refusal(subcommand, `${name} needs a value: ${flag.placeholder}`)
  return { name, value, isNext: given === undefined }
}

function checkCount(subcommand: Subcommand, words: readonly string[]): void {
  const { arguments: declared } = subcommand
  const missing = declared.find(({ kind }, i) => kind === 'required' && words[i] === undefined)
  const usage = `devchain ${usageOf(subcommand)}`
  if (missing !== undefined) throw refusal(subcommand, `<${missing.name}> is missing: ${usage}`)
  const isOpen = declared.some(({ kind }) => kind === 'repeated')
  if (isOpen || words.length <= declared.length) return
  const surplus = printValue(words[declared.length])
  throw refusal(subcommand, `too many arguments, from ${surplus} on: ${usage}`)
}

function refusal({ name }: Subcommand, message: string): DevchainError {
  return new DevchainError('INVALID_PARAMS', `${message} (devchain ${name} --help tells more)`)
}

/** What `--help` prints. */
export function helpOf(subcommand: Subcommand): string {
  const { sentence, arguments: declared, flags, notes, exits } = subcommand
  const sections = [
    `Usage: devchain ${usageOf(subcommand)}`,
    `${sentence}.`,
    rows(
      'Arguments',
      declared.map(({ name, sentence }) => [name, sentence]),
    ),
    rows('Options', [...flags, HELP].map(flagRow)),
    rows('Exit codes', exits),
    notes ?? '',
  ]
  return `${sections.filter((text) => text !== '').join('\n\n')}\n`
}

function rows(title: string, lines: readonly (readonly [string, string])[]): string {
  if (lines.length === 0) return ''
  return [
    `${title}:`,
    ...lines.map(([name, meaning]) => `  ${name.padEnd(NAME_WIDTH)}  ${meaning}`),
  ].join('\n')
}

function flagRow({ name, placeholder, sentence }: SubcommandFlag): [string, string] {
  const value = placeholder === undefined ? '' : ` <${placeholder}>`
  return [`${name === HELP.name ? '-h, ' : ''}${name}${value}`, sentence]
}
