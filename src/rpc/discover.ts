// Builds the OpenRPC document of all methods.
import type { Method } from './method.ts'
import type { Json } from './schema.ts'

/** OpenRPC 1.3. @see https://spec.open-rpc.org */
export function discover<C>(
  methods: readonly Method<C>[],
  info: { readonly name: string; readonly version: string },
): Json {
  return {
    openrpc: '1.3.2',
    info: { title: info.name, version: info.version },
    methods: methods.map(describe),
  }
}

function describe<C>(method: Method<C>): Json {
  const { name, summary, params, result, example, unsupported } = method
  return {
    name,
    summary,
    ...(unsupported === undefined ? {} : { deprecated: true }),
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
        params: params
          .slice(0, example.params.length)
          .map((param, i) => ({ name: param.name, value: example.params[i] ?? null })),
        ...(example.result === undefined
          ? {}
          : { result: { name: 'result', value: example.result } }),
      },
    ],
  }
}
