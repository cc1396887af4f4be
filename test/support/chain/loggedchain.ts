// A chain in this process with its log, as text.

import { readDevchainOptions } from '../../../src/app/settings.ts'
import type { Renderer } from '../../../src/cli/log/folding.ts'
import { createJsonRenderer } from '../../../src/cli/log/json.ts'
import { Logger } from '../../../src/cli/log/logger.ts'
import { PLAIN } from '../../../src/cli/log/palette.ts'
import { createPrettyRenderer } from '../../../src/cli/log/pretty.ts'
import { createDevchain, type Devchain, type DevchainOptions } from '../../../src/devchain.ts'

export interface LoggedChain {
  readonly devchain: Devchain
  readonly ask: (method: string, ...params: unknown[]) => Promise<unknown>
  /** What the log has said since this was called last. Every call took 1 ms. */
  readonly lines: () => string[]
  /** Ends the log, as at the end of a run. */
  readonly end: () => void
  /** What the log has written since, of what need not wait. */
  readonly written: () => string
  readonly [Symbol.asyncDispose]: () => Promise<void>
}

export interface LogForm {
  readonly json?: boolean
  readonly verbose?: boolean
  readonly hasHints?: boolean
  /** Columns of a terminal; undefined: the log goes to a file. */
  readonly columns?: number
  /** Methods that are logged, and that are not. */
  readonly only?: readonly string[]
  readonly except?: readonly string[]
  /** True: no accelerator stands before node's own HTTP server. */
  readonly isPlain?: boolean
}

/** Starts a chain of a frozen clock with these options. */
export async function startLogged(
  options: DevchainOptions = {},
  form: LogForm = {},
): Promise<LoggedChain> {
  const { json = false, verbose = false, hasHints = false, columns, isPlain = false } = form
  let text = ''
  const renderer: Renderer = json
    ? createJsonRenderer(() => 0, verbose)
    : createPrettyRenderer(PLAIN, verbose)
  const screen = columns === undefined ? undefined : () => ({ columns, rows: 24 })
  const { trace } = readDevchainOptions(options)
  const { only: logOnly = [], except: logExcept = [] } = form
  const settings = {
    noHints: !hasHints,
    trace,
    logOnly,
    logExcept,
    logChain: undefined,
    verbose,
  }
  const log = new Logger({
    renderer,
    writer: { write: (part) => (text += part) },
    screen,
    settings,
  })
  const { onCall, ...observer } = log
  const devchain = await createDevchain(
    { clock: 'frozen', timestamp: 1_600_000_000, ...options },
    { observer: { ...observer, onCall: (call) => onCall({ ...call, durationMs: 1 }) }, isPlain },
  )
  const lines = (): string[] => {
    log.finish()
    const said = text.replaceAll(/ +1\.0 ms {2}/g, '  1.0 ms  ')
    text = ''
    return said.split('\n').slice(0, -1)
  }
  return {
    devchain,
    ask: (method, ...params) => devchain.request({ method, params }),
    lines,
    end: () => log.end(),
    written: () => text,
    [Symbol.asyncDispose]: () => devchain.close(),
  }
}
