// Forms that make calls for somebody: fields, a button for each call, the call to copy, and what came of it.
import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import type { RpcCall } from '../acts/callcode.ts'
import { type Field, type FormValues, type Texts, valuesOf } from '../acts/fields.ts'
import { classes, html } from '../html.ts'
import { CallCode, type Run, RunResult, useRun } from './calls.ts'
import { FormField } from './fields.ts'

interface FormProps {
  readonly about?: string
  readonly fields?: readonly Field[]
  /** What is in the fields at first. */
  readonly start?: Texts
  /** The last is the main one, and its calls are shown. Enter presses the first. */
  readonly buttons: Readonly<Record<string, (values: FormValues) => readonly RpcCall[]>>
  readonly isDangerous?: boolean | undefined
  readonly result?: (run: Run) => VNode
}

export function CallForm(props: FormProps): VNode {
  const { about, fields = [], start, buttons, isDangerous, result = resultOf } = props
  const [typed, setTyped] = useState<Texts>({})
  const [run, begin] = useRun()
  const texts = { ...start, ...typed }
  const { calls, problem } = callsOf(props, texts)
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
    )}${problem && html`<span class="dim">${problem}</span>`}</div>
    ${result(run)}
    ${calls && html`<${CallCode} calls=${calls[last]} />`}
  </form>`
}

/** The calls of each button, or which field is missing or wrong. */
function callsOf(
  { fields = [], buttons }: FormProps,
  texts: Texts,
): { readonly calls?: readonly (readonly RpcCall[])[]; readonly problem?: string } {
  try {
    const values = valuesOf(fields, texts)
    return { calls: Object.values(buttons).map((each) => each(values)) }
  } catch (error) {
    return { problem: (error as Error).message }
  }
}

function resultOf(run: Run): VNode {
  return html`<${RunResult} run=${run} />`
}
