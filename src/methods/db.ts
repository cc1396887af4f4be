// db: names and texts that nodes kept once; the specification lists them as not supported.
import type { Method } from '../rpc/method.ts'
import type { MethodContext } from './common/context.ts'
import { unsupported } from './common/unsupported.ts'

const NAMES = ['db_putString', 'db_getString', 'db_putHex', 'db_getHex']

export const dbMethods: readonly Method<MethodContext>[] = NAMES.map((name) =>
  unsupported(name, 'deprecated'),
)
