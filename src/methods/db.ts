// db: a key-value store of old nodes, which the specification lists as not supported.
import { unsupported } from './common/command.ts'
import type { Methods } from './common/context.ts'

export const dbMethods: Methods = unsupported(
  'deprecated',
  'db_putString db_getString db_putHex db_getHex',
)
