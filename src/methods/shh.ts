// shh: whisper messages between nodes, which the specification lists as not supported.
import { unsupported } from './common/command.ts'
import type { Methods } from './common/context.ts'

export const shhMethods: Methods = unsupported(
  'the whisper messaging protocol is not supported',
  'shh_post shh_version shh_newIdentity shh_hasIdentity shh_newGroup shh_addToGroup ' +
    'shh_newFilter shh_uninstallFilter shh_getFilterChanges shh_getMessages',
)
