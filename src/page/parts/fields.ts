// Fields of forms, with what the chain offers for them.
import type { VNode } from 'preact'
import { useEffect, useId } from 'preact/hooks'
import { number as count } from '../../core/format.ts'
import type { Field } from '../acts/fields.ts'
import { useNames, useOwned } from '../data/accounts.ts'
import { isAddress } from '../data/format.ts'
import { useRead } from '../data/use.ts'
import { html, typedIn } from '../html.ts'

interface FieldProps extends Field {
  readonly value: string
  readonly onValue: (value: string) => void
}

export function FormField(props: FieldProps): VNode {
  const { label, kind, value, onValue, hint = '', isOptional = false } = props
  const id = useId()
  const name = useNames(kind === 'account' && isAddress(value) ? [value] : []).get(
    value.toLowerCase(),
  )
  const onInput = (event: Event): void => onValue(typedIn(event))
  const common = { id, value, onInput, placeholder: hint, spellcheck: false, autocomplete: 'off' }
  return html`<div class="field">
    <label for=${id}>${label} <span class="dim">${name ?? (isOptional && 'optional')}</span></label>
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
  const owned = useOwned()
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
