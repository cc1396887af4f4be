// Keeps keys and passphrases out of call reports and logs.
import type { ErrorObject } from './errors.ts'
import type { Method } from './method.ts'
import type { CallReport } from './report.ts'
import type { Json } from './schema.ts'
import { HIDDEN, scrubbed } from './scrub.ts'

type Secrecy = Pick<Method<never>, 'params' | 'hasSecrets' | 'isResultSecret'>

/**
 * Hides declared secrets and surplus parameters. After a failure, any text but an address may be a misplaced secret,
 * and the error may quote one.
 */
export function withoutSecrets<R extends CallReport>(method: Secrecy, report: R): R {
  if (!method.hasSecrets) return report
  const { params, result, error, notes } = report
  const secrets: Json[] = []
  const shown = mapped(params, (value, place) => {
    const declared = method.params.find(({ name }, i) => place === i || place === name)
    const isText = typeof value === 'string' && !/^0x[0-9a-f]{40}$/i.test(value)
    const isSecret = (declared?.isSecret ?? true) || (error !== undefined && isText)
    if (isSecret) secrets.push(value)
    return isSecret ? HIDDEN : value
  })
  return {
    ...report,
    params: shown,
    result: result !== undefined && method.isResultSecret ? HIDDEN : result,
    notes: notes.map((note) => scrubbed(note, secrets)),
    error: error && { ...error, message: scrubbed(error.message, secrets) },
  }
}

/** For unknown methods: what was sent may be secret, so nothing is shown. */
export function withoutParams<R extends CallReport>(report: R): R {
  return { ...report, params: mapped(report.params, () => HIDDEN) }
}

function mapped(params: Json, show: (value: Json, place: number | string) => Json): Json {
  if (Array.isArray(params)) return params.map((value: Json, i) => show(value, i))
  const entries = Object.entries(params as Readonly<Record<string, Json>>)
  return Object.fromEntries(entries.map(([name, value]) => [name, show(value, name)]))
}

/** True if the message names a method with secrets, even if it is malformed. */
export function namesSecretMethod(
  registry: ReadonlyMap<string, Pick<Method<never>, 'hasSecrets'>>,
  message: unknown,
): boolean {
  const text = textOf(message)
  return [...registry].some(([name, { hasSecrets }]) => hasSecrets && text.includes(name))
}

export function withoutQuotes(error: ErrorObject): ErrorObject {
  return { ...error, message: `${error.message.split(':', 1)[0]}: ${HIDDEN}` }
}

function textOf(message: unknown): string {
  if (typeof message === 'string') return message
  if (message instanceof Uint8Array) return Buffer.from(message).toString('latin1')
  return JSON.stringify(message) ?? ''
}
