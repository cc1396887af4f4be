// Terminal colors: chalk's, or none.

/** Without colors, every member returns the text unchanged. */
export interface Palette {
  readonly bold: (text: string) => string
  readonly dim: (text: string) => string
  readonly red: (text: string) => string
  readonly green: (text: string) => string
  readonly yellow: (text: string) => string
  readonly cyan: (text: string) => string
}

const plain = (text: string): string => text

export const PLAIN: Palette = {
  bold: plain,
  dim: plain,
  red: plain,
  green: plain,
  yellow: plain,
  cyan: plain,
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
  return {
    bold: (text) => chalk.bold(text),
    dim: (text) => chalk.dim(text),
    red: (text) => chalk.red(text),
    green: (text) => chalk.green(text),
    yellow: (text) => chalk.yellow(text),
    cyan: (text) => chalk.cyan(text),
  }
}
