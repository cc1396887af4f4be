// rpc: the list of available methods, for clients and people.
import { getOrMake } from '../core/lrucache.ts'
import type { Method } from '../rpc/method.ts'
import { asJson, text } from '../rpc/primitives.ts'
import { moduleOf } from '../rpc/registry.ts'
import type { Json } from '../rpc/schema.ts'
import { type MethodContext, type Methods, method } from './common/context.ts'
import { mapOf } from './wire/encodeobject.ts'

type Described = Method<MethodContext>

export const rpcMethods: Methods = [
  method('rpc_modules', {
    summary: 'Returns the enabled modules and their versions.',
    result: mapOf('modules', text),
    handle: ({ registry }) => new Map(modulesOf(registry).map((name) => [name, '1.0'])),
  }),
  method('rpc.discover', {
    aliases: ['rpc_discover'],
    summary: 'Returns the OpenRPC document of all methods.',
    result: asJson<Json>('OpenRPC document', {
      type: 'object',
      required: ['openrpc', 'info', 'methods'],
    }),
    handle: ({ registry, info: { name: title, version } }) => {
      const names = new Map<Described, string[]>()
      for (const [name, each] of registry) getOrMake(names, each, () => []).push(name)
      const methods = [...names].map(([each, all]) => describe(each, all))
      // @see https://spec.open-rpc.org
      return { openrpc: '1.3.2', info: { title, version }, methods }
    },
  }),
]

/** Modules by their names here, if any of their methods is supported. */
function modulesOf(registry: MethodContext['registry']): readonly string[] {
  const names = [...registry]
    .filter(([, { unsupported }]) => unsupported === undefined)
    .map(([name]) => moduleOf(name))
  return [...new Set(names)].sort()
}

/** @param names of the method here, by which it can be called */
function describe(method: Described, names: readonly string[]): Json {
  const { summary, params, result, example, unsupported } = method
  const name = names.includes(method.name) ? method.name : names[0]!
  const aliases = names.filter((each) => each !== name)
  return {
    name,
    ...(aliases.length > 0 && { 'x-aliases': aliases }),
    summary,
    ...(unsupported !== undefined && { deprecated: true }),
    paramStructure: 'either',
    params: params.map((param) => ({
      name: param.name,
      required: param.required,
      schema: param.decoder.json,
    })),
    result: { name: result.name, schema: result.json },
    examples: [
      {
        name: 'example',
        params: example.params.map((value, i) => ({ name: params[i]!.name, value })),
        ...(example.result !== undefined && { result: { name: 'result', value: example.result } }),
      },
    ],
  }
}
