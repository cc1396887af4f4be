// Markup as tagged templates: text and attributes only, so nothing of the chain becomes HTML.
import htm from 'htm'
import { type ComponentChildren, h, type VNode } from 'preact'

export const html: (strings: TemplateStringsArray, ...values: unknown[]) => VNode = htm.bind(
  h,
) as unknown as (strings: TemplateStringsArray, ...values: unknown[]) => VNode

export type Children = ComponentChildren

/** Class names without those that are not set. */
export function classes(...names: readonly (string | false | undefined)[]): string {
  return names.filter(Boolean).join(' ')
}
