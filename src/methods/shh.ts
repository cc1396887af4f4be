// shh: whisper, messages between nodes; the specification lists its methods as not supported.
import type { Method } from '../rpc/method.ts'
import type { MethodContext } from './common/context.ts'
import { unsupported } from './common/unsupported.ts'

const NAMES = [
  'shh_post',
  'shh_version',
  'shh_newIdentity',
  'shh_hasIdentity',
  'shh_newGroup',
  'shh_addToGroup',
  'shh_newFilter',
  'shh_uninstallFilter',
  'shh_getFilterChanges',
  'shh_getMessages',
]

export const shhMethods: readonly Method<MethodContext>[] = NAMES.map((name) =>
  unsupported(name, 'the whisper messaging protocol is not supported'),
)
