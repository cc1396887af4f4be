// A chain in this process with its log, as text.
import { Hints } from '../../src/cli/log/hints.ts'
import { createJsonRenderer } from '../../src/cli/log/json.ts'
import { Log, type Renderer } from '../../src/cli/log/log.ts'
import { PLAIN } from '../../src/cli/log/palette.ts'
import { createPrettyRenderer } from '../../src/cli/log/pretty.ts'
import { observerOf } from '../../src/cli/start.ts'
import { createDevchain, type Devchain, type DevchainOptions } from '../../src/devchain.ts'
import { readDevchainOptions } from '../../src/settings.ts'

export interface LoggedChain {
  readonly devchain: Devchain
  readonly ask: (method: string, ...params: unknown[]) => Promise<unknown>
  /** What the log has said since this was called last. Every call took 1 ms. */
  readonly lines: () => string[]
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
}

/** Starts a chain of a frozen clock with these options. */
export async function startLogged(
  options: DevchainOptions = {},
  { json = false, verbose = false, hasHints = false, columns }: LogForm = {},
): Promise<LoggedChain> {
  let text = ''
  const renderer: Renderer = json
    ? createJsonRenderer(() => 0, verbose)
    : createPrettyRenderer(PLAIN, verbose)
  const width = columns === undefined ? undefined : (): number => columns
  const { defaultGas, trace } = readDevchainOptions(options)
  const hints = new Hints({ noHints: !hasHints, defaultGas })
  const log = new Log(renderer, { write: (part) => (text += part) }, width, hints, trace)
  const { onCall, ...observer } = observerOf(log)
  const devchain = await createDevchain(
    { clock: 'frozen', timestamp: 1_600_000_000, ...options },
    { observer: { ...observer, onCall: (call) => onCall?.({ ...call, durationMs: 1 }) } },
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
    written: () => text,
    [Symbol.asyncDispose]: () => devchain.close(),
  }
}
