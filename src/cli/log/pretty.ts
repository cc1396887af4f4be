// The pretty log: formats events as lines for people.
import type { ObservedCall } from '../../app/observer.ts'
import { checksumAddress } from '../../core/crypto/crypto.ts'
import {
  duration,
  ether,
  fee,
  gas,
  listed,
  milliseconds,
  number,
  oneLine,
  percent,
  plural,
  printable,
  roughEther,
  short,
  time,
} from '../../core/format.ts'
import { type Address, addressFromBytes } from '../../core/hex.ts'
import { memoize } from '../../core/lrucache.ts'
import type { ArtifactsEvent } from '../../project/events.ts'
import type { Described } from '../../project/naming/described.ts'
import type { Json } from '../../rpc/schema.ts'
import { bootText } from '../boot.ts'
import { beginning } from './bounded.ts'
import {
  answerText,
  briefly,
  describeCall,
  describeError,
  describeEvents,
  describeTransaction,
  type LogRecord,
  phraseOf,
} from './context.ts'
import type {
  BlockEvent,
  ChainEvent,
  EndEvent,
  LineEvent,
  RunningEvent,
  TransactionEvent,
} from './events.ts'
import type { Renderer } from './folding.ts'
import { builtInName, nameIn, selectorOf } from './names.ts'
import { failureText, headline, outcomeOf } from './outcome.ts'
import type { Palette } from './palette.ts'
import { blocksText, peerLine } from './peers.ts'
import { accountOf, askedBy, isDeployer } from './request.ts'
import { NARROW, WIDE, wrapped } from './wrap.ts'

/** Fits nearly all methods, so that durations align. */
const METHOD_WIDTH = 28
const DURATION_WIDTH = 8
const INDENT = 2
/** Characters of parameters and result under `--verbose`. */
const VERBOSE_LIMIT = 2_000
const CONSOLE_LIMIT = 4_000
/** Characters of a method's own phrase. */
const PHRASE_LIMIT = 400
/** Cached texts: an address costs a Keccak-256. */
const REMEMBERED = 1_000

/** Events shown on the call's own line instead of its result. */
const HEADLINES: ReadonlySet<ChainEvent['event']> = new Set([
  'snapshot',
  'revert',
  'reset',
  'reorganization',
  'clock',
  'mining',
])

/** `isVerbose` adds parameters and results. */
export function createPrettyRenderer(palette: Palette, isVerbose: boolean): Renderer {
  const plain: PlainLook = {
    palette,
    isVerbose,
    columns: undefined,
    address: memoize(REMEMBERED, checksumAddress),
    label: memoize(REMEMBERED, (method: string) => oneLine(method, 60).padEnd(METHOD_WIDTH)),
  }
  return {
    folds: isVerbose ? 'calls' : 'methods',
    boot: (boot, columns) => bootText(boot, palette, columns),
    entry: (entry, columns) => {
      const { chain, context, stacks, traces, callTrace } = entry
      const look = { ...plain, context, stacks, traces, callTrace }
      const [first = '', ...others] = entryLines(fitted(look, columns), entry)
      return linesText([named(palette, chain, first), ...others], columns)
    },
    line: (event, columns) =>
      linesText(named(palette, event.chain, lineOf(palette, event)).split('\n'), columns),
  }
}

function linesText(lines: readonly string[], columns: number | undefined): string {
  return `${lines.map((line) => wrapped(line, columns)).join('\n')}\n`
}

function named(palette: Palette, chain: string | undefined, line: string): string {
  return chain === undefined ? line : `${palette.cyan(chain)}  ${line}`
}

function lineOf(palette: Palette, event: LineEvent): string {
  switch (event.event) {
    case 'hint':
      return `${palette.yellow('hint')} ${event.hint}`
    case 'running':
      return palette.yellow(runningLine(event))
    case 'notice':
      return palette.yellow(oneLine(event.text, 500))
    case 'artifacts':
      return artifactsLine(palette, event)
    case 'peer':
      return `${palette.cyan('peers')}  ${peerLine(event)}`
    case 'bug':
      return bugLines(palette, event.stack).join('\n')
    case 'overflow':
      return palette.yellow(
        `… ${plural(event.lines, 'line')} dropped: the log's reader is too slow`,
      )
    case 'end':
      return palette.dim(endLine(event))
  }
}

interface PlainLook {
  readonly palette: Palette
  readonly isVerbose: boolean
  /** The address by name, in full if there is room. */
  readonly address: (address: Address) => string
  readonly label: (method: string) => string
  /** Of the terminal; undefined: unlimited. */
  readonly columns: number | undefined
}

type Look = PlainLook & Pick<LogRecord, 'context' | 'stacks' | 'traces' | 'callTrace'>

function fitted(look: Look, columns: number | undefined): Look {
  if (columns === undefined || columns >= WIDE) return { ...look, columns }
  const label = columns < NARROW ? (method: string) => oneLine(method, 60) : look.label
  return { ...look, columns, label, address: (address) => short(look.address(address)) }
}

function entryLines(look: Look, entry: LogRecord): string[] {
  const { call, events } = entry
  // changes without a call are not indented, or they would seem the effect of the call above
  if (call === undefined) {
    return events.flatMap((event) => eventLines(look, event).map((line) => line.slice(INDENT)))
  }
  // nearly all calls are reads, which need no further checks
  const isPlain = events.length === 0 && !look.isVerbose && look.callTrace === undefined
  if (isPlain && call.console.length + call.notes.length === 0) {
    return [callLine(look, call, descriptionOf(look, call, [], []), entry)]
  }
  const headlines = events.filter((event) => HEADLINES.has(event.event))
  const others = events.filter((event) => !HEADLINES.has(event.event))
  const description = call.error === undefined ? descriptionOf(look, call, headlines, others) : ''
  return [
    callLine(look, call, description, entry),
    ...noteLines(look, call.notes),
    ...(look.isVerbose ? verboseLines(look, call) : []),
    ...(look.isVerbose ? stackLines(look, call.error?.solidityStack) : []),
    ...traceLines(look, look.callTrace),
    ...call.console.flatMap((line) => consoleLines(look.palette, line)),
    ...others.flatMap((event) => eventLines(look, event)),
  ]
}

function noteLines(look: Look, notes: readonly string[] = []): string[] {
  return notes.map((note) => `    ${look.palette.yellow('note')} ${withNames(look, note)}`)
}

/** The call's phrase, if it says more than its result. */
function descriptionOf(
  look: Look,
  { method, description }: ObservedCall,
  headlines: readonly ChainEvent[],
  others: readonly ChainEvent[],
): string {
  if (description !== undefined) return withNames(look, description)
  if (headlines.length > 0) return headlines.map(headline).join(', ')
  if (!/_mine$/.test(method)) return ''
  const blocks = others.filter((event) => event.event === 'block')
  return plural(
    blocks.reduce((sum, { first, number }) => sum + number - first + 1n, 0n),
    'block',
  )
}

function withNames({ address }: Look, phrase: string): string {
  return oneLine(phrase, PHRASE_LIMIT)
    .replace(/0x[0-9a-f]{40}\b/g, (each) => address(each as Address))
    .replace(/0x[0-9a-f]{64}\b/g, short)
}

function callLine(
  look: Look,
  call: ObservedCall,
  description: string,
  { count, isMixed, events }: LogRecord,
): string {
  const method = look.label(call.method)
  const { palette } = look
  const time = milliseconds(call.durationMs)
  const isNarrow = look.columns !== undefined && look.columns < NARROW
  const took = palette.dim(isNarrow ? time : time.padStart(DURATION_WIDTH))
  // the transaction's line has the callee
  const hasTransaction = events.some(({ event }) => event === 'transaction')
  const named = hasTransaction ? undefined : describeCall(look.context, call)
  const subject =
    hasTransaction || call.description !== undefined ? undefined : subjectOf(look, call, named)
  const failed = call.error !== undefined
  const dress = failed ? palette.red : (text: string) => text
  const differing = isMixed ? palette.dim(', parameters differ') : ''
  const counter = count > 1 ? `  ${palette.yellow(`×${number(count)}`)}${differing}` : ''
  const said = description || saidOf(look, call, named)
  const reason = isShort(look) ? said.replace(/0x[0-9a-f]{40}\b/gi, short) : said
  const outcome = failed ? `✗ ${reason}` : said
  const line =
    subject === undefined ? outcome : `${subject} ${/^[→✗]/.test(outcome) ? '' : '→ '}${outcome}`
  return `${dress(method)}  ${took}  ${dress(line)}${counter}`
}

/** The outcome, with the project's names if known. */
function saidOf(look: Look, call: ObservedCall, named: Described | undefined): string {
  const { failure, error: { solidityStack } = {} } = call
  if (solidityStack !== undefined) return briefly(solidityStack)
  if (failure !== undefined) {
    const error = describeError(look.context, askedBy(call)?.to ?? null, failure.data)
    if (error !== undefined) return phraseOf(error, look.isVerbose)
  }
  const answer = call.error === undefined ? answerText(named, call) : undefined
  return answer === undefined ? outcomeOf(call) : `→ ${answer}`
}

/** The callee and function, or the account the call is about. */
function subjectOf(
  look: Look,
  call: ObservedCall,
  named: Described | undefined,
): string | undefined {
  const asked = askedBy(call)
  if (asked === undefined) {
    const account = accountOf(call)
    return account && calleeOf(look, account)
  }
  const { to, input } = asked
  if (named !== undefined) {
    const phrase = phraseOf(named, look.isVerbose)
    if (to === null) return `new ${phrase}`
    if (named.created) return `${phrase} by ${calleeOf(look, to)}`
    // a function known only by its selector
    return named.contract === undefined ? `${calleeOf(look, to)} ${phrase}` : phrase
  }
  if (to === null) return 'new contract'
  if (isDeployer(to)) return `new contract by ${calleeOf(look, to)}`
  return [calleeOf(look, to), ...functionOf(to, input)].join(' ')
}

function calleeOf({ address }: Look, to: string): string {
  const isAddress = /^0x[0-9a-f]{40}$/i.test(to)
  return isAddress ? short(address(to.toLowerCase() as Address)) : oneLine(to, 42)
}

/** The function's name, else its selector; empty without either. */
function functionOf(to: string | null, input: string): string[] {
  const selector = selectorOf(input)
  const name = builtInName(to, input)
  if (name !== undefined) return [oneLine(nameIn(name), 60)]
  return selector === '' ? [] : [selector]
}

function verboseLines({ palette }: Look, { params, result, error }: ObservedCall): string[] {
  const lines: [label: string, value: Json][] = [['params', params]]
  if (result !== undefined) lines.push(['result', result])
  if (error?.data !== undefined) lines.push(['data', error.data])
  return lines.map(
    ([label, value]) =>
      `    ${palette.dim(label.padEnd(6))}  ${oneLine(beginning(value, VERBOSE_LIMIT + 1), VERBOSE_LIMIT)}`,
  )
}

function eventLines(look: Look, event: ChainEvent): string[] {
  if (event.event === 'transaction') return transactionLines(look, event)
  return event.event === 'block' ? blockLines(look, event) : [`  ${headline(event)}`]
}

function transactionLines(look: Look, event: TransactionEvent): string[] {
  const { palette } = look
  const status =
    event.failure === undefined
      ? palette.green('success')
      : palette.red(`failed: ${oneLine(failureOf(look, event, event.failure), 300)}`)
  const used = gasOf(look, event)
  const dot = palette.dim(' · ')
  const blobs = event.blobs === undefined ? [] : [plural(event.blobs, 'blob')]
  const amounts = [`value ${ether(event.value)}`, used, ...blobs, `fee ${roughEther(event.fee)}`]
  return [
    `  transaction ${palette.bold(event.hash)}`,
    `    ${nameFor(look, event.from)} ${palette.dim('→')} ${targetOf(look, event)}`,
    `    ${[...amounts, status].join(dot)}`,
    ...stackLines(look, look.stacks?.get(event.hash)),
    ...traceLines(look, look.traces?.get(event.hash)),
    ...noteLines(look, event.notes),
    ...eventTexts(look, event).map((text) => `    ${palette.cyan('event')} ${text}`),
    ...event.console.flatMap((line) => consoleLines(palette, line)),
  ]
}

/** A transaction's callee and input, or the created contract. */
function targetOf(look: Look, event: TransactionEvent): string {
  const { context, address, isVerbose, palette } = look
  const { to, created, executed } = event
  const named = context && describeTransaction(context, event)
  if (to === null) {
    const name = named === undefined ? 'contract' : phraseOf(named, isVerbose)
    return `new ${name}${created === null ? '' : ` ${address(created)}`}`
  }
  if (named === undefined && isDeployer(to)) {
    const made =
      executed?.output.length === 20 ? ` at ${address(addressFromBytes(executed.output))}` : ''
    return `new contract${made} by ${palette.dim(nameFor(look, to))}`
  }
  if (named === undefined) return [nameFor(look, to), ...functionOf(to, event.input)].join(' ')
  const phrase = phraseOf(named, isVerbose)
  if (named.created === undefined) return `${phrase} ${palette.dim(address(to))}`
  const place = named.created.address && ` at ${address(named.created.address)}`
  return `${phrase}${place ?? ''} by ${palette.dim(nameFor(look, to))}`
}

function nameFor({ context, address }: Look, account: Address): string {
  const label = context?.project.names.label(account)
  return label === undefined ? address(account) : `${label} ${address(account)}`
}

function traceLines({ palette }: Look, lines: readonly string[] = []): string[] {
  return lines.map((line) => `    ${palette.dim('│')} ${line}`)
}

function stackLines({ palette }: Look, lines: readonly string[] = []): string[] {
  return lines.slice(1).map((line) => `      ${palette.dim(oneLine(line, 200))}`)
}

function failureOf(
  look: Look,
  { to, hash }: TransactionEvent,
  failure: NonNullable<TransactionEvent['failure']>,
): string {
  const lines = look.stacks?.get(hash)
  if (lines !== undefined) return briefly(lines)
  const error = describeError(look.context, to, failure.data)
  return error === undefined ? failureText(failure) : phraseOf(error, look.isVerbose)
}

function eventTexts(look: Look, event: TransactionEvent): string[] {
  // a trace shows events where they were emitted
  if (look.context === undefined || look.traces?.has(event.hash)) return []
  const { described, others } = describeEvents(look.context, event)
  const texts = described.map((each) => phraseOf(each, look.isVerbose))
  const isRest = others > 0 && described.length > 0
  return isRest ? [...texts, `and ${plural(others, 'other')}`] : texts
}

function gasOf(
  look: Look,
  event: Pick<BlockEvent, 'gasUsed' | 'gasLimit' | 'executionGasUsed' | 'stateGasUsed'>,
): string {
  const { gasUsed, gasLimit, executionGasUsed = 0n, stateGasUsed = 0n } = event
  const whole = isShort(look) ? '' : ` of ${number(gasLimit)}`
  const used = `gas ${number(gasUsed)}${whole} (${percent(gasUsed, gasLimit)})`
  if (stateGasUsed === 0n) return used
  return `${used}, execution ${number(executionGasUsed)}, state ${number(stateGasUsed)}`
}

function isShort({ columns }: Look): boolean {
  return columns !== undefined && columns < WIDE
}

/** A console line; text after its line feeds is indented below. */
function consoleLines(palette: Palette, text: string): string[] {
  const [first = '', ...rest] = printable(text.slice(0, CONSOLE_LIMIT)).split('\n')
  const label = 'console.log'
  return [
    `    ${palette.cyan(label)} ${first}`,
    ...rest.map((line) => `    ${' '.repeat(label.length)} ${line}`),
  ]
}

function blockLines(look: Look, event: BlockEvent): string[] {
  const { palette } = look
  const { transactions, baseFee } = event
  const parts =
    transactions === 0 ? ['empty'] : [plural(transactions, 'transaction'), gasOf(look, event)]
  if (baseFee !== undefined) parts.push(`base fee ${fee(baseFee)}`)
  parts.push(time(event.timestamp))
  return [
    `  ${palette.cyan(blocksText(event))} ${palette.dim(event.hash)}`,
    `    ${parts.join(palette.dim(' · '))}`,
  ]
}

/** `ended after 12 s: 1,234 calls (3 failed), 45 transactions, 46 blocks` */
function endLine(event: EndEvent): string {
  const failures = (count: number): string => (count === 0 ? '' : ` (${number(count)} failed)`)
  const parts = [
    `${plural(event.calls, 'call')}${failures(event.failedCalls)}`,
    `${plural(event.transactions, 'transaction')}${failures(event.failedTransactions)}`,
    plural(event.blocks, 'block'),
  ]
  return `ended after ${duration(event.durationMs)}: ${parts.join(', ')}`
}

/** `artifacts  42 contracts from ./out`, and later `, changed: Vault, Coin` */
function artifactsLine(palette: Palette, event: ArtifactsEvent): string {
  if ('warning' in event) return `${palette.yellow('artifacts')}  ${oneLine(event.warning, 400)}`
  const { contracts, place, changed } = event
  const found = `${plural(contracts, 'contract')} from ${oneLine(place, 200)}`
  const news = changed === undefined ? '' : `, changed: ${oneLine(listed(changed), 200)}`
  return `${palette.dim('artifacts')}  ${found}${news}`
}

/** `eth_sendTransaction still running, 12 s, 1.2 G gas` */
function runningLine({ method, durationMs, gasUsed, others }: RunningEvent): string {
  const seconds = number(Math.round(durationMs / 1000))
  const used = gasUsed === undefined ? '' : `, ${gas(gasUsed)}`
  const more = others > 0 ? ` (and ${plural(others, 'other')})` : ''
  return `${oneLine(method, 60)} still running, ${seconds} s${used}${more}`
}

function bugLines(palette: Palette, stack: string): string[] {
  const [first = '', ...frames] = printable(stack.slice(0, CONSOLE_LIMIT)).split('\n')
  return [
    palette.red(`internal error: ${first}`),
    ...frames.map((frame) => palette.dim(frame)),
    palette.dim('    This is a bug in devchain: please report it with these lines.'),
  ]
}
