// Normalizes parameters to the one form that every node accepts; this chain accepts more.
import { DevchainError } from '../../core/errors.ts'
import type { MethodContext } from '../../methods/common/context.ts'
import type { Method } from '../../rpc/method.ts'
import { isSchema, type Json } from '../../rpc/schema.ts'
import { unexpected } from '../network/answers.ts'

/** False: the method itself refuses them. */
export function areTaken(method: Method<MethodContext>, given: readonly unknown[]): boolean {
  if (given.length > method.params.length) return false
  return method.params.every(({ name, decoder, required }, index) => {
    const value = given[index] ?? undefined
    return value === undefined ? !required : isTaken(() => decoder.decode(value as Json, name, []))
  })
}

function isTaken(decode: () => unknown): boolean {
  try {
    decode()
    return true
  } catch (error) {
    if (error instanceof DevchainError) return false
    throw error
  }
}

/** Parameters in canonical form; undefined: the method itself refuses them. */
export function plainParams(
  method: Method<MethodContext>,
  given: readonly unknown[],
): readonly unknown[] | undefined {
  if (given.length > method.params.length) return undefined
  const sent: unknown[] = []
  for (const [index, { name, decoder, required, fallback }] of method.params.entries()) {
    const value = given[index] ?? undefined
    if (value === undefined && required) return undefined
    if (!isSchema(decoder)) {
      sent.push(value)
      continue
    }
    let decoded: unknown = fallback
    const decode = (): void => {
      if (value !== undefined) decoded = decoder.decode(value, name, [])
    }
    if (!isTaken(decode)) return undefined
    sent.push(decoded === undefined ? undefined : decoder.encode(decoded))
  }
  while (sent.length > 0 && sent.at(-1) === undefined) sent.pop()
  return sent
}

/** Renames the slots of a proof to the form in which the client gave them. */
export function namedAsGiven(
  { params }: Method<MethodContext>,
  given: readonly unknown[],
  answer: Json,
): Json {
  const index = params.findIndex(({ name }) => name === 'storageKeys')
  const { storageProof: proofs } = (answer ?? {}) as { readonly storageProof?: unknown }
  if (!Array.isArray(proofs)) return answer
  const keys = params[index]!.decoder.decode(given[index] ?? [], 'storageKeys', [])
  if (proofs.length !== (keys as readonly unknown[]).length) throw unexpected('a proof', answer)
  const storageProof = (keys as readonly { readonly key: string }[]).map(({ key }, at) => ({
    ...(proofs[at] as object),
    key,
  }))
  return { ...(answer as object), storageProof }
}
