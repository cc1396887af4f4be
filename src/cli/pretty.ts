// The log for people: facts as lines of text.
import { checksumAddress } from '../core/crypto.ts'
import type { Address } from '../core/hex.ts'
import {
  ether,
  fee,
  milliseconds,
  number,
  oneLine,
  percent,
  plural,
  printable,
  short,
  signed,
  time,
} from '../core/words.ts'
import { describeMining } from '../node/mining.ts'
import type { Json } from '../rpc/schema.ts'
import { bootText } from './boot.ts'
import type {
  BackFact,
  BlockFact,
  BugFact,
  CallFact,
  ChainFact,
  ClockFact,
  SnapshotFact,
  TransactionFact,
} from './facts.ts'
import type { Entry, Renderer } from './log.ts'
import { outcomeOf } from './outcome.ts'
import type { Palette } from './palette.ts'

/** Wide enough for nearly all methods, so that durations stand in a column. */
const METHOD_WIDTH = 28
const DURATION_WIDTH = 8
/** What a call did stands so far to the right of it. */
const INDENT = 2
/** Characters of parameters and of a result that `--verbose` prints. */
const VERBOSE_LIMIT = 2_000
const CONSOLE_LIMIT = 4_000
/** Characters of what a method says that it did. */
const PHRASE_LIMIT = 400
/** Texts whose form is kept: that of an address costs a Keccak-256. */
const REMEMBERED = 1_000

/** Facts of which the call's own line tells, in place of its result. */
const HEADLINES: ReadonlySet<ChainFact['event']> = new Set([
  'snapshot',
  'revert',
  'reset',
  'reorganization',
  'clock',
  'mining',
])

/** Makes the renderer for people. `isVerbose` adds parameters and results. */
export function createPrettyRenderer(palette: Palette, isVerbose: boolean): Renderer {
  const checksum = remembering((address: Address) => checksumAddress(address))
  const label = remembering((method: string) => oneLine(method, 60).padEnd(METHOD_WIDTH))
  const look: Look = { palette, isVerbose, checksum, label }
  return {
    collapses: true,
    boot: (facts) => bootText(facts, palette),
    entry: (entry) => `${entryLines(look, entry).join('\n')}\n`,
    bug: (fact) => `${bugLines(look, fact).join('\n')}\n`,
    dropped: (lines) =>
      `${palette.yellow(`… ${plural(lines, 'line')} dropped: the log's reader is too slow`)}\n`,
  }
}

interface Look {
  readonly palette: Palette
  readonly isVerbose: boolean
  readonly checksum: (address: Address) => string
  /** A method's name as wide as its column. */
  readonly label: (method: string) => string
}

/** `make` with a memory for its newest results. */
function remembering<T extends string>(make: (text: T) => string): (text: T) => string {
  const known = new Map<T, string>()
  return (text) => {
    const remembered = known.get(text)
    if (remembered !== undefined) return remembered
    if (known.size >= REMEMBERED) known.clear()
    const made = make(text)
    known.set(text, made)
    return made
  }
}

function entryLines(look: Look, { call, count, facts }: Entry): string[] {
  // What came by itself stands at the margin: indented it would seem the doing of the call above.
  if (call === undefined) {
    return facts.flatMap((fact) => factLines(look, fact).map((line) => line.slice(INDENT)))
  }
  // Nearly all calls are reads; the rest is not even looked at for them.
  if (facts.length === 0 && !look.isVerbose && call.console.length + call.notes.length === 0) {
    return [callLine(look, call, toldOf(look, call, [], []) || outcomeOf(call), count)]
  }
  const headlines = facts.filter((fact) => HEADLINES.has(fact.event))
  const others = facts.filter((fact) => !HEADLINES.has(fact.event))
  const told = call.error === undefined ? toldOf(look, call, headlines, others) : ''
  return [
    callLine(look, call, told || outcomeOf(call), count),
    ...call.notes.map((note) => `    ${look.palette.yellow('note')} ${oneLine(note, 300)}`),
    ...(look.isVerbose ? verboseLines(look, call) : []),
    ...call.console.flatMap((line) => consoleLines(look.palette, line)),
    ...others.flatMap((fact) => factLines(look, fact)),
  ]
}

/** What a call did, where that says more than its result; else nothing. */
function toldOf(
  look: Look,
  { method, told }: CallFact,
  headlines: readonly ChainFact[],
  others: readonly ChainFact[],
): string {
  if (told !== undefined) return withNames(look, told)
  if (headlines.length > 0) return headlines.map(headline).join(', ')
  if (!/_mine$/.test(method)) return ''
  const blocks = others.filter((fact) => fact.event === 'block')
  return plural(
    blocks.reduce((sum, { first, number }) => sum + number - first + 1n, 0n),
    'block',
  )
}

/** A phrase with its addresses as people know them, and its hashes shortened. */
function withNames({ checksum }: Look, phrase: string): string {
  return oneLine(phrase, PHRASE_LIMIT)
    .replace(/0x[0-9a-f]{40}\b/g, (address) => checksum(address as Address))
    .replace(/0x[0-9a-f]{64}\b/g, short)
}

function callLine(look: Look, call: CallFact, outcome: string, count: number): string {
  const method = look.label(call.method)
  const { palette } = look
  const duration = palette.dim(milliseconds(call.durationMs).padStart(DURATION_WIDTH))
  const failed = call.error !== undefined
  const dress = failed ? palette.red : (text: string) => text
  const counter = count > 1 ? `  ${palette.yellow(`×${number(count)}`)}` : ''
  return `${dress(method)}  ${duration}  ${dress(failed ? `✗ ${outcome}` : outcome)}${counter}`
}

function verboseLines({ palette }: Look, { params, result, error }: CallFact): string[] {
  const lines: [label: string, value: Json][] = [['params', params]]
  if (result !== undefined) lines.push(['result', result])
  if (error?.data !== undefined) lines.push(['data', error.data])
  return lines.map(
    ([label, value]) =>
      `    ${palette.dim(label.padEnd(6))}  ${oneLine(JSON.stringify(value), VERBOSE_LIMIT)}`,
  )
}

function factLines(look: Look, fact: ChainFact): string[] {
  if (fact.event === 'transaction') return transactionLines(look, fact)
  return fact.event === 'block' ? blockLines(look, fact) : [`  ${headline(fact)}`]
}

/** What happened, in one phrase: for every fact that is no block and no transaction. */
function headline(fact: ChainFact): string {
  switch (fact.event) {
    case 'snapshot':
      return `snapshot ${snapshotName(fact)} at block ${number(fact.block)}`
    case 'revert':
    case 'reset':
    case 'reorganization':
      return backLine(fact)
    case 'clock':
      return clockLine(fact)
    case 'mining':
      return `mining ${describeMining(fact.mining)}`
    case 'waiting':
      return `${plural(fact.added.count, 'transaction')} waiting, ${number(fact.poolSize)} in the pool`
    case 'dropped':
      return `dropped ${short(fact.hash)} of ${short(fact.from)}, nonce ${fact.nonce}: ${oneLine(fact.reason, 200)}`
    case 'block':
    case 'transaction':
      return fact.event
  }
}

function snapshotName({ id, name }: SnapshotFact): string {
  return name === undefined ? id : `${name} (${id})`
}

function backLine(fact: BackFact): string {
  const name = fact.event === 'revert' ? `revert to ${oneLine(fact.id ?? '', 64)}` : fact.event
  const parts: string[] = []
  if (fact.fromBlock !== fact.toBlock) {
    parts.push(`block ${number(fact.fromBlock)} → ${number(fact.toBlock)}`)
  } else if (fact.lostBlocks) parts.push(`${plural(fact.lostBlocks, 'block')} replaced`)
  if (fact.clockSeconds !== 0n) parts.push(`clock ${signed(fact.clockSeconds)} s`)
  const { requeued, lost } = fact
  if (requeued !== undefined && requeued.count > 0) {
    parts.push(`${plural(requeued.count, 'transaction')} back in the pool`)
  }
  if (lost !== undefined && lost.count > 0) parts.push(`${plural(lost.count, 'transaction')} gone`)
  return `${name}: ${parts.length > 0 ? parts.join(', ') : `still block ${number(fact.toBlock)}`}`
}

function clockLine({ clockSeconds, offsetSeconds }: ClockFact): string {
  const total = offsetSeconds === clockSeconds ? '' : ` (${signed(offsetSeconds)} s in all)`
  return `clock ${signed(clockSeconds)} s${total}`
}

function transactionLines(look: Look, fact: TransactionFact): string[] {
  const { palette, checksum } = look
  const target =
    fact.to !== null
      ? checksum(fact.to)
      : `new contract${fact.created === null ? '' : ` ${checksum(fact.created)}`}`
  const status =
    fact.failure === undefined
      ? palette.green('success')
      : palette.red(`failed: ${oneLine(fact.failure.reason, 300)}`)
  const used = `gas ${number(fact.gasUsed)} of ${number(fact.gasLimit)} (${percent(fact.gasUsed, fact.gasLimit)})`
  const dot = palette.dim(' · ')
  const blobs = fact.blobs === undefined ? [] : [plural(fact.blobs, 'blob')]
  const amounts = [`value ${ether(fact.value)}`, used, ...blobs, `fee ${ether(fact.fee)}`]
  return [
    `  transaction ${palette.bold(fact.hash)}`,
    `    ${checksum(fact.from)} ${palette.dim('→')} ${target}`,
    `    ${[...amounts, status].join(dot)}`,
    ...fact.console.flatMap((line) => consoleLines(palette, line)),
  ]
}

/** A console line of a contract; lines after a line feed stand under the first. */
function consoleLines(palette: Palette, text: string): string[] {
  const [first = '', ...rest] = printable(text.slice(0, CONSOLE_LIMIT)).split('\n')
  const label = 'console.log'
  return [
    `    ${palette.cyan(label)} ${first}`,
    ...rest.map((line) => `    ${' '.repeat(label.length)} ${line}`),
  ]
}

function blockLines({ palette }: Look, fact: BlockFact): string[] {
  const { first, transactions, gasUsed, gasLimit, baseFee } = fact
  const numbers =
    first === fact.number
      ? `block ${number(first)}`
      : `blocks ${number(first)} to ${number(fact.number)}`
  const used = `gas ${number(gasUsed)} of ${number(gasLimit)} (${percent(gasUsed, gasLimit)})`
  const parts = transactions === 0 ? ['empty'] : [plural(transactions, 'transaction'), used]
  if (baseFee !== undefined) parts.push(`base fee ${fee(baseFee)}`)
  parts.push(time(fact.timestamp))
  return [
    `  ${palette.cyan(numbers)} ${palette.dim(fact.hash)}`,
    `    ${parts.join(palette.dim(' · '))}`,
  ]
}

function bugLines({ palette }: Look, { stack }: BugFact): string[] {
  const [first = '', ...frames] = printable(stack.slice(0, CONSOLE_LIMIT)).split('\n')
  return [
    palette.red(`internal error: ${first}`),
    ...frames.map((frame) => palette.dim(frame)),
    palette.dim('    This is a bug in devchain; a report with these lines helps.'),
  ]
}
