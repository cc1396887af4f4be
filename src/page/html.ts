// Markup as tagged templates: text and attributes only, so nothing of the chain becomes HTML.
import htm from 'htm'
import { type ComponentChildren, h, type VNode } from 'preact'
import { seen } from '../core/format.ts'

/** Templates do it to all text within elements. */
function allSeen(value: unknown): unknown {
  return Array.isArray(value) ? value.map(allSeen) : typeof value === 'string' ? seen(value) : value
}

/** Attributes that are read or pointed at. */
const READ = ['title', 'aria-label']

function element(type: unknown, props: Record<string, unknown> | null, ...all: unknown[]): VNode {
  for (const name of READ) if (props?.[name] !== undefined) props[name] = allSeen(props[name])
  return h(type as string, props, ...(all.map(allSeen) as ComponentChildren[]))
}

type Html = (strings: TemplateStringsArray, ...values: unknown[]) => VNode

export const html: Html = htm.bind(element as unknown as typeof h) as unknown as Html

export type Children = ComponentChildren

export type { VNode }

/** What is in the field that an event is of. */
export function typedIn(event: Event): string {
  return (event.currentTarget as HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement).value
}

/** Class names without those that are not set. */
export function classes(...names: readonly (string | false | undefined)[]): string {
  return names.filter(Boolean).join(' ')
}
