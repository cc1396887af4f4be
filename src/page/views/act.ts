// Acts: what somebody can do to the chain, each with the call that it makes.
import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import { ACTS, type Act } from '../acts/acts.ts'
import type { RpcCall } from '../acts/callcode.ts'
import { useOwned } from '../data/accounts.ts'
import { go, linkTo, type ViewProps } from '../data/route.ts'
import { html } from '../html.ts'
import { Panel } from '../parts/basics.ts'
import { CallCode, RunResult, useRun } from '../parts/calls.ts'
import { FormField } from '../parts/fields.ts'

const GROUPS = [...new Set(ACTS.map(({ group }) => group))]

export function ActView({ route: { query } }: ViewProps): VNode {
  const act = ACTS.find(({ id }) => id === query.do) ?? ACTS[0]!
  return html`<h1 class="hidden">Act</h1>
    <div class="act">
      <nav class="acts" aria-label="Acts" onKeyDown=${moveByArrows}>${GROUPS.map(
        (group) =>
          html`<div><h2>${group}</h2>${ACTS.filter((each) => each.group === group).map(
            ({ id, title }) =>
              html`<a href=${linkTo(['act'], { do: id })} aria-current=${id === act.id ? 'page' : undefined}>${title}</a>`,
          )}</div>`,
      )}</nav>
      <select class="acts" aria-label="Act" value=${act.id} onChange=${(event: Event) => go(linkTo(['act'], { do: (event.currentTarget as HTMLSelectElement).value }))}>${GROUPS.map(
        (group) =>
          html`<optgroup label=${group}>${ACTS.filter((each) => each.group === group).map(
            ({ id, title }) => html`<option value=${id}>${title}</option>`,
          )}</optgroup>`,
      )}</select>
      <${ActForm} key=${act.id} act=${act} given=${query} />
    </div>`
}

function ActForm({ act, given }: { act: Act; given: Readonly<Record<string, string>> }): VNode {
  const owned = useOwned()
  const [typed, setTyped] = useState<Readonly<Record<string, string>>>({})
  const [run, start] = useRun()
  const values: Readonly<Record<string, string>> = {
    from: owned[0] ?? '',
    ...act.start,
    ...given,
    ...typed,
  }
  const calls = callsOf(act, values, owned)
  const submit = (event: Event): void => {
    event.preventDefault()
    if (Array.isArray(calls)) void start(calls)
  }
  return html`<${Panel} title=${act.title}>
    <form class="form inset" onSubmit=${submit}>
      <p class="dim">${act.about}</p>
      ${act.fields.map(
        (field) =>
          html`<${FormField} key=${field.name} ...${field} value=${values[field.name] ?? ''}
            onValue=${(value: string) => setTyped((before) => ({ ...before, [field.name]: value }))} />`,
      )}
      <div class="flow"><button type="submit" class=${act.isDangerous ? 'main danger' : 'main'} disabled=${!Array.isArray(calls) || run.state === 'running'}>${act.title}</button>
        ${!Array.isArray(calls) && html`<span class="dim">${calls as string}</span>`}</div>
      <${RunResult} run=${run} />
      ${Array.isArray(calls) && html`<${CallCode} calls=${calls} />`}
    </form>
  <//>`
}

/** The calls, or which field is missing or wrong. */
function callsOf(
  act: Act,
  values: Readonly<Record<string, string>>,
  owned: readonly string[],
): readonly RpcCall[] | string {
  try {
    return act.calls(values, owned)
  } catch (error) {
    return (error as Error).message
  }
}

/** Up and down move between the links. */
export function moveByArrows(event: KeyboardEvent): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
  const links = [...(event.currentTarget as HTMLElement).querySelectorAll('a')]
  const at = links.indexOf(event.target as HTMLAnchorElement)
  if (step === undefined || at === -1) return
  event.preventDefault()
  links[at + step]?.focus()
}
