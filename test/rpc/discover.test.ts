// rpc.discover, and the examples it shows: valid for OpenRPC, complete, and true.
import openRpc from '@open-rpc/meta-schema'
import { Ajv, type AnySchema } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, it } from 'vitest'
import { createDevchain } from '../../src/devchain.ts'
import { methods } from '../../src/methods/index.ts'

interface Document {
  readonly openrpc: string
  readonly info: { readonly title: string; readonly version: string }
  readonly methods: readonly {
    readonly name: string
    readonly 'x-aliases'?: readonly string[]
    readonly summary: string
    readonly params: readonly { readonly name: string; readonly schema: AnySchema }[]
    readonly examples: readonly {
      readonly params: readonly { readonly name: string; readonly value: unknown }[]
    }[]
  }[]
}

const supported = methods.filter(({ unsupported }) => unsupported === undefined)

async function discover(options: Parameters<typeof createDevchain>[0] = {}): Promise<Document> {
  await using devchain = await createDevchain(options)
  return (await devchain.request({ method: 'rpc.discover' })) as Document
}

describe('the OpenRPC document', () => {
  it('is valid against the meta-schema', async () => {
    const meta = structuredClone(openRpc) as Record<string, unknown>
    // The meta-schema names a dialect of its own, which is draft 7 in all that it uses, and leaves schemas within the
    // document to another meta-schema: those are compiled below.
    delete meta.$schema
    const ajv = new Ajv({ strict: false, validateFormats: false })
    ajv.addSchema({
      $id: 'https://meta.json-schema.tools/',
      type: ['object', 'boolean'],
      definitions: { JSONSchemaObject: { properties: { $ref: { type: 'string' } } } },
    })
    ajv.addSchema({ $id: 'https://meta.json-schema.tools', type: ['object', 'boolean'] })
    const validate = ajv.compile(meta)
    const isValid = validate(await discover())
    expect(isValid, ajv.errorsText(validate.errors)).toBe(true)
  })

  it('has schemas that compile and match the examples', async () => {
    const ajv = new Ajv2020({ strict: false })
    for (const { name, params, examples } of (await discover()).methods) {
      for (const { name: param, schema } of params) {
        const validate = ajv.compile(schema)
        const given = examples[0]?.params.find((example) => example.name === param)
        if (given !== undefined) {
          expect(
            validate(given.value),
            `${name}: ${param}: ${ajv.errorsText(validate.errors)}`,
          ).toBe(true)
        }
      }
    }
  })

  it('lists every supported method, with a summary and its parameters', async () => {
    const document = await discover()
    const listed = new Map(document.methods.map((method) => [method.name, method]))
    for (const { name, summary, params } of supported) {
      expect(listed.get(name)?.summary).toBe(summary)
      expect(listed.get(name)?.params.map((param) => param.name)).toEqual(
        params.map((param) => param.name),
      )
    }
  })

  it('omits a disabled module', async () => {
    const document = await discover({ disable: ['personal'] })
    const names = document.methods.map(({ name }) => name)
    expect(names).toContain('eth_chainId')
    expect(names.filter((name) => name.startsWith('personal_'))).toEqual([])
  })

  it('lists the other names of a method, also those of --alias', async () => {
    const alias = ['acme_*=evm_*', 'mine=evm_mine']
    const { methods: listed } = await discover({ alias, disable: ['hardhat'] })
    const namesOf = (name: string): unknown =>
      listed.find((each) => each.name === name)?.['x-aliases']
    expect(namesOf('eth_chainId')).toBeUndefined()
    expect(namesOf('rpc.discover')).toEqual(['rpc_discover'])
    expect(namesOf('evm_mine')).toEqual(expect.arrayContaining(['acme_mine', 'mine']))
  })

  it('lists a method that has another name alone by that', async () => {
    const { methods: listed } = await discover({ compat: 'hardhat', alias: ['work=eth_getWork'] })
    const names = listed.map(({ name }) => name)
    expect(names).toContain('work')
    expect(names).not.toContain('eth_getWork')
  })

  it('is returned under its other name too', async () => {
    await using devchain = await createDevchain()
    const document = (await devchain.request({ method: 'rpc_discover' })) as Document
    expect(document.openrpc).toMatch(/^1\./)
  })
})

describe('a method declaration', () => {
  it('has a unique name', () => {
    const names = methods.flatMap(({ name, aliases }) => [name, ...aliases])
    expect(names.filter((name, i) => names.indexOf(name) !== i)).toEqual([])
  })

  it.each(methods)('of $name has a summary of one sentence on one line', ({ summary }) => {
    expect(summary).toMatch(/^[A-Z`].*\.$/)
  })

  it.each(supported)('of $name has an example with valid parameters', (method) => {
    method.params.forEach(({ name, decoder, required }, i) => {
      const value = method.example.params[i]
      if (value === undefined) expect(required, name).toBe(false)
      else expect(() => decoder.decode(value, name)).not.toThrow()
    })
  })

  const shown = supported.filter(({ example }) => example.result !== undefined)
  it.each(shown)(
    'of $name has an example with the real result',
    async ({ name, example, result }) => {
      await using devchain = await createDevchain({ clock: 'frozen', port: 0 })
      if (name === 'net_listening') await devchain.listen()
      const answer = await devchain.request({ method: name, params: example.params })
      expect(answer).toEqual(example.result)
      const ajv = new Ajv2020({ strict: false })
      expect(ajv.validate(result.json, answer), ajv.errorsText()).toBe(true)
    },
  )
})
