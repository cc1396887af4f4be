// Forms that make calls for somebody: fields, a button for each call, the call to copy, and what came of it.
import { useEffect, useId, useState } from 'preact/hooks'
import { number as count, plural } from '../../core/format.ts'
import type { Act } from '../acts/acts.ts'
import { call, type RpcCall } from '../acts/callcode.ts'
import { type Field, type FormValues, type Texts, valuesOf } from '../acts/fields.ts'
import { client } from '../data/chain.ts'
import { hex, isAddress } from '../data/format.ts'
import { useNames, useOwned, useRead, useView } from '../data/use.ts'
import { classes, html, typedIn, type VNode } from '../html.ts'
import { CallCode, type Run, RunResult, useRun } from './calls.ts'

interface FormProps extends Partial<Omit<Act, 'title' | 'calls'>> {
  /** The last is the main one, and its calls are shown. Enter presses the first. */
  readonly buttons: Readonly<Record<string, (values: FormValues) => readonly RpcCall[]>>
  readonly result?: (run: Run) => VNode
}

export function CallForm(props: FormProps): VNode {
  const { about, fields = [], start, buttons, isDangerous, result } = props
  const [typed, setTyped] = useState<Texts>({})
  const [run, begin] = useRun()
  const texts = { ...start, ...typed }
  const made = callsOf(props, texts)
  const calls = made instanceof Error ? undefined : made
  const last = Object.keys(buttons).length - 1
  const onSubmit = (event: Event): void => {
    event.preventDefault()
    if (calls) void begin(calls[0]!)
  }
  return html`<form class="form inset" onSubmit=${onSubmit}>
    ${about && html`<p class="dim">${about}</p>`}
    ${fields.map(
      (field) =>
        html`<${FormField} key=${field.name} ...${field} value=${texts[field.name] ?? ''}
          onValue=${(text: string) => setTyped((before) => ({ ...before, [field.name]: text }))} />`,
    )}
    <div class="flow">${Object.keys(buttons).map(
      (label, i) =>
        html`<button type=${i === 0 ? 'submit' : 'button'} class=${classes(i === last && 'main', isDangerous && 'danger')} disabled=${!calls || run.state === 'running'}
          onClick=${() => i > 0 && calls && begin(calls[i]!)}>${label}</button>`,
    )}<span class="dim" aria-live="polite">${made instanceof Error && made.message}</span></div>
    ${result ? result(run) : html`<${RunResult} run=${run} />`}
    ${calls && html`<${CallCode} calls=${calls[last]} />`}
  </form>`
}

type Calls = readonly (readonly RpcCall[])[]

/** The calls of each button, or which field is missing or wrong. */
function callsOf({ fields = [], buttons }: FormProps, texts: Texts): Calls | Error {
  try {
    const values = valuesOf(fields, texts)
    return Object.values(buttons).map((each) => each(values))
  } catch (error) {
    return error as Error
  }
}

type FieldProps = Field & Readonly<{ value: string; onValue: (value: string) => void }>

function FormField(props: FieldProps): VNode {
  const { label, kind, value, onValue, hint = '', isOptional = false } = props
  const id = useId()
  const named = useNames(kind === 'account' && isAddress(value) ? [value] : [])
  const onInput = (event: Event): void => onValue(typedIn(event))
  const common = { id, value, onInput, placeholder: hint, spellcheck: false, autocomplete: 'off' }
  return html`<div class="field">
    <label for=${id}>${label} <span class="dim">${named.get(value.toLowerCase()) ?? (isOptional && 'optional')}</span></label>
    ${
      kind === 'snapshot'
        ? html`<${SnapshotSelect} id=${id} value=${value} onValue=${onValue} />`
        : kind === 'bytes'
          ? html`<textarea ...${common} rows="2" class="mono"></textarea>`
          : kind === 'account'
            ? html`<${AccountInput} ...${common} />`
            : html`<input type="text" ...${common} />`
    }
  </div>`
}

/** Any address, with those of the node to choose from. */
function AccountInput(props: { readonly id: string; readonly value: string }): VNode {
  const { value: owned = [] } = useOwned()
  const names = useNames(owned)
  return html`<input type="text" class="mono" list=${`${props.id}-known`} ...${props} />
    <datalist id=${`${props.id}-known`}>${owned.map(
      (each, i) => html`<option value=${each}>${names.get(each) ?? `account ${i}`}</option>`,
    )}</datalist>`
}

export interface RpcSnapshot {
  readonly id: string
  readonly name: string | null
  readonly blockNumber: string
  readonly blockHash: string
  readonly timestamp: string
}

export function titleOf({ id, name }: Pick<RpcSnapshot, 'id' | 'name'>): string {
  return name ?? `Snapshot ${Number(id)}`
}

type SelectProps = Readonly<{ id: string; value: string; onValue: (value: string) => void }>

function SnapshotSelect({ id, value, onValue }: SelectProps): VNode {
  const all = useRead<readonly RpcSnapshot[]>('devchain_snapshots', [], 'now').value
  const isGone = value !== '' && all?.some((each) => (each.name ?? each.id) === value) === false
  useEffect(() => {
    if (isGone) onValue('')
  }, [isGone])
  return html`<select id=${id} value=${value} onChange=${(event: Event) => onValue(typedIn(event))}>
    <option value="">${all?.length === 0 ? 'none taken yet' : 'choose one'}</option>
    ${all
      ?.toReversed()
      .map(
        (each) =>
          html`<option value=${each.name ?? each.id}>${titleOf(each)} at block ${count(Number(each.blockNumber))}</option>`,
      )}
  </select>`
}

type OfferProps = Pick<Act, 'about' | 'isDangerous'> & Readonly<{ label: string; call: RpcCall }>

/** A call behind a disclosure. */
export function Offer({ label, call, ...rest }: OfferProps): VNode {
  return html`<details class="offer"><summary class="inset">${label}</summary>
    <${CallForm} ...${rest} buttons=${{ [label]: () => [call] }} />
  </details>`
}

/** What goes on from a block. @param hash of one that is off the chain */
export function BlockOffers({ number, hash }: { number: number; hash?: string }): VNode {
  const { head } = useView()
  const behind = (head?.number ?? number) - number
  const name = `block ${count(number)}`
  const branch = call('devchain_newChain', { from: client.path, block: hash ?? hex(number) })
  return html`
    ${
      hash === undefined &&
      behind > 0 &&
      html`<${Offer} label=${`Go back to ${name}`} isDangerous call=${call('debug_setHead', hex(number))}
        about=${`Removes ${plural(behind, 'block')} with their transactions. They stay as a branch under Time, to be replayed.`} />`
    }
    <${Offer} label=${`Branch from ${name}`} call=${branch}
      about="Makes another chain that begins after this block, at a path of its own. Change what you like there; later blocks are under its Time, to be replayed." />
    ${
      hash !== undefined &&
      html`<${Offer} label=${`Replay up to ${name}`} call=${call('devchain_replay', hash)}
        about="Runs the blocks up to this one again on the newest block, each with its time, fees and randomness, and compares." />`
    }`
}
