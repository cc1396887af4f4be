// Keys of the whole page, and those that move between links.
import { useLayoutEffect } from 'preact/hooks'

/** Called for keys that are not typed into a field, nor pressed with Control and the like. With what is drawn: a key right after it finds it. */
export function useKeys(onKey: (event: KeyboardEvent) => void): void {
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
