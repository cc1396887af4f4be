// Keys of the whole page, and those that move between links.
import { useLayoutEffect } from 'preact/hooks'

/** @param onKey called for keys that are not typed into a field, nor pressed with Control and the like */
export function useKeys(onKey: (event: KeyboardEvent) => void): void {
  // with what is drawn: a key right after it would go on from what was before
  useLayoutEffect(() => {
    const listen = (event: KeyboardEvent): void => {
      const isTyping =
        event.target instanceof HTMLElement &&
        /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)
      if (isTyping && event.key === 'Escape') (event.target as HTMLElement).blur()
      if (!isTyping && !event.ctrlKey && !event.metaKey && !event.altKey) onKey(event)
    }
    addEventListener('keydown', listen)
    return () => removeEventListener('keydown', listen)
  })
}

/** Up and down move between the first links of some elements, from top to bottom. */
export function moveByArrows(selector: string): (event: KeyboardEvent) => void {
  return (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step === undefined) return
    const box = event.currentTarget as HTMLElement
    const topOf = (element: Element): number => element.getBoundingClientRect().top
    const all = [...box.querySelectorAll<HTMLElement>(selector)].sort((a, b) => topOf(a) - topOf(b))
    const here = (event.target as Element).closest<HTMLElement>(selector)
    const next = here
      ? all[all.indexOf(here) + step]
      : all.find((each) => topOf(each) >= topOf(box))
    const link = next?.matches('a') ? next : next?.querySelector('a')
    if (!link) return
    event.preventDefault()
    link.focus()
  }
}
