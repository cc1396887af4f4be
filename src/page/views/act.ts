// Acts: what somebody can do to the chain, each with the call that it makes.
import { ACTS, type Act } from '../acts/acts.ts'
import type { FormValues, Texts } from '../acts/fields.ts'
import { go, linkTo, type ViewProps } from '../data/route.ts'
import { useOwned } from '../data/use.ts'
import { html, typedIn, type VNode } from '../html.ts'
import { Panel, Waiting } from '../parts/basics.ts'
import { CallForm } from '../parts/form.ts'
import { moveByArrows } from '../parts/keys.ts'

const GROUPS = Object.entries(ACTS).map(([group, acts]) => [group, Object.entries(acts)] as const)
const ALL = GROUPS.flatMap(([, acts]) => acts)

export function ActView({ route: { query } }: ViewProps): VNode {
  const [chosen, act] = ALL.find(([id]) => id === query.do) ?? ALL[0]!
  return html`<h1 class="hidden">Act</h1>
    <div class="act">
      <nav class="acts" aria-label="Acts" onKeyDown=${moveByArrows('a')}>${GROUPS.map(
        ([group, acts]) =>
          html`<div><h2>${group}</h2>${acts.map(
            ([id, { title }]) =>
              html`<a href=${linkTo(['act'], { do: id })} aria-current=${id === chosen ? 'page' : undefined}>${title}</a>`,
          )}</div>`,
      )}</nav>
      <select class="acts" aria-label="Act" value=${chosen} onChange=${(event: Event) => go(linkTo(['act'], { do: typedIn(event) }))}>${GROUPS.map(
        ([group, acts]) =>
          html`<optgroup label=${group}>${acts.map(
            ([id, { title }]) => html`<option value=${id}>${title}</option>`,
          )}</optgroup>`,
      )}</select>
      <${ActForm} key=${chosen} act=${act} given=${query} />
    </div>`
}

function ActForm({ act, given }: { act: Act; given: Texts }): VNode {
  const read = useOwned()
  const { value: owned } = read
  // an account that came into a field later would come between what somebody types
  if (owned === undefined) return html`<${Panel} title=${act.title}><${Waiting} read=${read} /><//>`
  return html`<${Panel} title=${act.title}>
    <${CallForm} ...${act} start=${{ from: owned[0], ...act.start, ...given }}
      buttons=${{ [act.title]: (values: FormValues) => act.calls(values, owned) }} />
  <//>`
}
