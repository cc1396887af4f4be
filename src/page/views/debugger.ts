// Runs a transaction step by step, forward and back: instructions, source, stack, memory and storage.
import { useMemo } from 'preact/hooks'
import { number as count, plural, short } from '../../core/format.ts'
import { linkTo, replaceWith, type ViewProps } from '../data/route.ts'
import {
  framesAround,
  otherLine,
  placeIn,
  type RecordedRun,
  runOf,
  storageAt,
} from '../data/run.ts'
import type { RpcSources, RpcStructLog, RpcStructLogs } from '../data/shapes.ts'
import { useRead } from '../data/use.ts'
import { classes, html, typedIn, type VNode } from '../html.ts'
import { Empty, Panel, Waiting } from '../parts/basics.ts'
import { useKeys } from '../parts/keys.ts'
import { Cell, indentAt, List } from '../parts/list.ts'
import { Source } from '../parts/source.ts'
import { placeOf } from '../parts/storage.ts'
import { useTransaction } from '../parts/transactions.ts'

/** Steps that are shown, and up to which memory is recorded too: it is repeated with each step. */
const MOST_STEPS = 20_000
const MOST_WITH_MEMORY = 4_000

export function DebuggerView({ route: { parts, query } }: ViewProps): VNode {
  const hash = parts[1] ?? ''
  const { value: transaction } = useTransaction(hash, 'era').read
  const light = { disableStack: true, disableStorage: true, limit: MOST_STEPS }
  const count = useRead<RpcStructLogs>('debug_traceTransaction', [hash, light], 'era')
  const length = count.value?.structLogs.length
  const whole = { enableMemory: (length ?? 0) <= MOST_WITH_MEMORY, limit: MOST_STEPS }
  const method = length === undefined ? '' : 'debug_traceTransaction'
  const read = useRead<RpcStructLogs>(method, [hash, whole], 'era')
  const logs = read.value?.structLogs
  const run = useMemo(() => logs && transaction && runOf(logs, transaction), [logs, transaction])
  const title = html`<div class="title flow"><h1>Debugger</h1><a href=${linkTo(['tx', hash])} class="mono">${short(hash)}</a></div>`
  if (!run || !logs) return html`${title}<${Waiting} read=${count.error ? count : read} />`
  if (logs.length === 0) return html`${title}<${Empty}>This transaction runs no code.<//>`
  const step = Math.min(Math.max(Number(query.step ?? 0) || 0, 0), logs.length - 1)
  return html`${title}<${Debugger} hash=${hash} run=${run} step=${step} />`
}

function Debugger({ hash, run, step }: { hash: string; run: RecordedRun; step: number }): VNode {
  const last = run.steps.length - 1
  const rows = useMemo(() => [...run.steps.keys()], [run])
  const { code } = run.frameOf[step]!
  const { value: sources } = useRead<RpcSources | null>('devchain_sources', [code], 'era')
  const move = (to: number): void =>
    replaceWith(linkTo(['debug', hash], { step: Math.min(Math.max(to, 0), last) }))
  const lineOf = (at: number): string => {
    if (run.frameOf[at] !== run.frameOf[step]) return 'another frame'
    const { source = 0, line = 0, endLine = -1 } = placeIn(sources, run.steps[at]!.pc) ?? {}
    return line === endLine ? `${source}:${line}` : ''
  }
  const moveLine = (direction: 1 | -1): void => move(otherLine(run, step, direction, lineOf))
  useKeys((event) => {
    const { key, shiftKey } = event
    const direction = ({ ArrowRight: 1, ArrowLeft: -1 } as const)[key]
    if (direction !== undefined) shiftKey ? moveLine(direction) : move(step + direction)
    else if (key === 'Home' || key === 'End') move(key === 'Home' ? 0 : last)
    else return
    event.preventDefault()
  })
  const now = run.steps[step]!
  const place = placeIn(sources, now.pc)
  const source = place && sources?.sources[place.source]
  return html`
    <${Controls} run=${run} step=${step} move=${move} moveLine=${moveLine} />
    <div class="debugger fill">
      <${Panel} title="Source" note=${sources?.contract}>${
        source === undefined
          ? html`<${Empty}>${whyNoSource(sources)}<//>`
          : html`<${Source} path=${source.path} text=${source.text} place=${place} />`
      }<//>
      <${Panel} title="Instructions" note=${plural(last + 1, 'step')}>
        <${List} label="Instructions" kind="steps" columns=${['Step', 'PC', 'Instruction', 'Gas']} items=${rows} rowHeight=${24}
          keyOf=${String} focus=${step} row=${(index: number) => html`<${StepCells} index=${index} step=${run.steps[index]} isNow=${index === step} hash=${hash} />`} />
      <//>
      <div class="machine">
        <${Words} title="Stack" note=${plural(now.stack?.length ?? 0, 'word')} words=${stackOf(now, run.steps[step - 1]?.stack)} />
        <${Words} title="Memory" note=${last < MOST_WITH_MEMORY ? plural((now.memory?.length ?? 0) * 32, 'byte') : `not recorded for more than ${count(MOST_WITH_MEMORY)} steps`} words=${memoryOf(now)} />
        <${Words} title="Storage" note="read or written so far" words=${storageOf(run, step)} />
      </div>
    </div>`
}

function whyNoSource(sources: RpcSources | null | undefined): string {
  if (sources === undefined) return 'Reading…'
  return sources === null
    ? 'No source is known for this code: it needs an artifact with a source map.'
    : 'The compiler made this instruction, from no place in the source.'
}

/** Calls that are shown, the innermost. */
const MOST_FRAMES = 10

interface ControlsProps {
  readonly run: RecordedRun
  readonly step: number
  readonly move: (to: number) => void
  readonly moveLine: (direction: 1 | -1) => void
}

function Controls({ run, step, move, moveLine }: ControlsProps): VNode {
  const last = run.steps.length - 1
  const { gas, error } = run.steps[step]!
  const frames = framesAround(run, step)
  const more = frames.length - MOST_FRAMES
  return html`<div class="controls flow" role="group" aria-label="Steps">
    <button type="button" disabled=${step === 0} onClick=${() => moveLine(-1)} title="Shift and ←">Line back</button>
    <button type="button" disabled=${step === 0} onClick=${() => move(step - 1)} title="←">Step back</button>
    <button type="button" disabled=${step === last} onClick=${() => move(step + 1)} title="→">Step</button>
    <button type="button" disabled=${step === last} onClick=${() => moveLine(1)} title="Shift and →">Line</button>
    <input type="range" min="0" max=${last} value=${step} aria-label="Step" onInput=${(event: Event) => move(Number(typedIn(event)))} />
    <span class="step-count">${count(step + 1)} of ${count(last + 1)}</span>
    <span class="dim">${count(gas)} gas left</span>
    ${error && html`<span class="bad">${error}</span>`}
    <ol class="frames flow" aria-label="Call stack">${more > 0 && html`<li class="dim">${count(more)} outer calls</li>`}${frames
      .slice(-MOST_FRAMES)
      .map(
        ({ code, kind }) => html`<li>
      <span class="dim">${kind.toLowerCase()}</span> ${typeof code === 'string' ? html`<a class="mono" href=${linkTo(['address', code])} title=${code}>${short(code)}</a>` : 'new contract'}</li>`,
      )}</ol>
  </div>`
}

type StepProps = Readonly<{ index: number; step: RpcStructLog; isNow: boolean; hash: string }>

function StepCells({ index, step, isNow, hash }: StepProps): VNode {
  const show = (event: Event): void => {
    event.preventDefault()
    replaceWith(linkTo(['debug', hash], { step: index }))
  }
  return html`
    <${Cell} className="dim">${count(index + 1)}<//>
    <${Cell} className="dim">${step.pc}<//>
    <${Cell}><span style=${{ paddingLeft: indentAt(10 * (step.depth - 1)) }}></span><a href=${linkTo(['debug', hash], { step: index })} onClick=${show} aria-current=${isNow ? 'step' : undefined}
      class=${classes('mono', step.error !== undefined && 'bad')}>${step.op}</a><//>
    <${Cell} className="dim">${count(step.gasCost)}<//>`
}

/** Words of a part of the machine that are shown. */
const MOST_WORDS = 512

interface MachineWord {
  readonly label: string | number
  readonly text: string
  /** Shown when pointed at; the text is cut. */
  readonly whole?: string
  readonly isChanged?: boolean
}

type WordsProps = Readonly<{ title: string; note: string; words: readonly MachineWord[] }>

function Words({ title, note, words }: WordsProps): VNode {
  return html`<${Panel} title=${title} note=${note}><ol class="words" tabindex="0" aria-label=${title}>${words
    .slice(0, MOST_WORDS)
    .map(
      ({ label, text, whole, isChanged }) =>
        html`<li key=${label} class=${classes(isChanged && 'changed')}><span class="dim">${label}</span><code class=${classes(whole && 'cut')} title=${whole}>${text}</code></li>`,
    )}</ol><//>`
}

function stackOf({ stack = [] }: RpcStructLog, before: readonly string[] = []): MachineWord[] {
  const wordAt = (text: string, at: number): MachineWord => {
    return { label: stack.length - 1 - at, text, whole: text, isChanged: before[at] !== text }
  }
  return stack.map(wordAt).reverse()
}

function memoryOf({ memory = [] }: RpcStructLog): MachineWord[] {
  return memory.map((word, i) => ({
    label: (i * 32).toString(16).padStart(3, '0'),
    text: word.replace(/^0x/, ''),
  }))
}

function storageOf(run: RecordedRun, step: number): MachineWord[] {
  return Object.entries(storageAt(run, step)).map(([slot, value]) => ({
    label: placeOf(slot),
    text: placeOf(value),
    whole: `${slot}\n${value}`,
  }))
}
