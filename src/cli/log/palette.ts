// Terminal colors: chalk's, or none.
const STYLES = ['bold', 'dim', 'red', 'green', 'yellow', 'cyan'] as const

type Style = (typeof STYLES)[number]

/** Without colors, every member returns the text unchanged. */
export type Palette = Readonly<Record<Style, (text: string) => string>>

export const PLAIN: Palette = paletteOf(() => (text) => text)

function paletteOf(write: (style: Style) => (text: string) => string): Palette {
  return Object.fromEntries(STYLES.map((style) => [style, write(style)])) as Palette
}

/**
 * True on a terminal, unless `--no-color` or NO_COLOR is set; FORCE_COLOR forces colors
 * (`0` and `false` disable them).
 * @see https://no-color.org
 */
export function wantsColor(question: {
  readonly isTerminal: boolean
  readonly noColor: boolean
  readonly environment: Readonly<Record<string, string | undefined>>
}): boolean {
  const { NO_COLOR, FORCE_COLOR, TERM } = question.environment
  if (question.noColor || NO_COLOR) return false
  if (FORCE_COLOR !== undefined) return FORCE_COLOR !== '0' && FORCE_COLOR !== 'false'
  return question.isTerminal && TERM !== 'dumb'
}

/** Loads chalk only if needed, because it would slow the start. */
export async function loadPalette(hasColor: boolean): Promise<Palette> {
  if (!hasColor) return PLAIN
  const { Chalk } = await import('chalk')
  const chalk = new Chalk({ level: 1 })
  return paletteOf((style) => chalk[style])
}
