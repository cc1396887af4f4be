// Methods that are known by name and answered with the reason why they are not supported.
import { DevchainError } from '../../core/errors.ts'
import type { Method } from '../../rpc/method.ts'
import { nothing } from '../../rpc/primitives.ts'
import { type MethodContext, method } from './context.ts'

/** A method of that name that says why it is not supported. */
export function unsupported(name: string, reason: string): Method<MethodContext> {
  const refused = method({
    name,
    summary: `Not supported: ${reason}.`,
    params: [],
    result: nothing,
    example: { params: [] },
    handle: () => {
      throw new DevchainError('METHOD_NOT_SUPPORTED', `${name} is not supported: ${reason}`)
    },
  })
  return { ...refused, unsupported: reason }
}
