// The colors of the terminal: chalk's when colors are wanted, else none.

/** Dresses text; every member gives back the text itself where there are no colors. */
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
 * True when colors are wanted: on a terminal, unless `--no-color` or NO_COLOR say otherwise; FORCE_COLOR asks for
 * them everywhere (`0` and `false` forbid them).
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

/** The palette for a terminal. chalk is loaded only if it is needed: it would cost a pipe its start time. */
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
