// Normalizes parameters to the one form that every node accepts; this chain accepts more.
import { DevchainError, unlessRefused } from '../../core/errors.ts'
import type { MethodContext } from '../../methods/common/context.ts'
import type { Method } from '../../rpc/method.ts'
import { isSchema, type Json } from '../../rpc/schema.ts'
import { unexpected } from '../network/answers.ts'

/** Parameters in canonical form; undefined: the method itself refuses them. */
export function plainParams(
  method: Method<MethodContext>,
  given: readonly unknown[],
): readonly unknown[] | undefined {
  if (given.length > method.params.length) return undefined
  return unlessRefused(() => {
    const sent = method.params.map(({ name, decoder, required, fallback }, index) => {
      const value = given[index] ?? undefined
      if (value === undefined && required) throw new DevchainError('INVALID_PARAMS', name)
      const decoded = value === undefined ? fallback : decoder.decode(value as Json, name, [])
      if (!isSchema(decoder)) return value
      return decoded === undefined ? undefined : decoder.encode(decoded)
    })
    while (sent.length > 0 && sent.at(-1) === undefined) sent.pop()
    return sent
  })
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
