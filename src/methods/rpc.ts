// rpc: the list of available methods, for clients and people.

import { discover } from '../rpc/discover.ts'
import { asJson, text } from '../rpc/primitives.ts'
import { moduleOf } from '../rpc/registry.ts'
import type { Encoder, Json } from '../rpc/schema.ts'
import { type MethodContext, type Methods, method } from './common/context.ts'
import { mapOf } from './wire/encodeobject.ts'

const document: Encoder<Json> = asJson('OpenRPC document', {
  type: 'object',
  required: ['openrpc', 'info', 'methods'],
})

export const rpcMethods: Methods = [
  method({
    name: 'rpc_modules',
    summary: 'Returns the enabled modules and their versions.',
    result: mapOf('modules', text),
    handle: ({ registry }) => new Map(modulesOf(registry).map((name) => [name, '1.0'])),
  }),
  method({
    name: 'rpc.discover',
    aliases: ['rpc_discover'],
    summary: 'Returns the OpenRPC document of all methods.',
    result: document,
    handle: ({ registry, info }) => discover([...new Set(registry.values())], info),
  }),
]

/** Modules by their names here, if any of their methods is supported. */
function modulesOf(registry: MethodContext['registry']): readonly string[] {
  const names = [...registry]
    .filter(([, { unsupported }]) => unsupported === undefined)
    .map(([name]) => moduleOf(name))
  return [...new Set(names)].sort()
}
