// Every script of fixtures/rpc on a fresh chain over a real socket; every reply held against its method's schema.
// UPDATE_IO=1 writes what came into the scripts: review it before it is committed.
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { describe, expect, it } from 'vitest'
import { methods } from '../../src/methods/index.ts'
import { changesChain } from '../../src/rpc/method.ts'
import {
  type Exchange,
  exchangesOf,
  readScripts,
  runScript,
  SCRIPTS,
  type Script,
  type Send,
} from '../support/wire/io.ts'
import { startNode } from '../support/wire/node.ts'

interface Reply {
  readonly method: string
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly message: string }
}

const ajv = new Ajv2020({ strict: false })
const byName = new Map(
  methods.flatMap((method) => [method.name, ...method.aliases].map((name) => [name, method])),
)
const validators = new Map<string, ValidateFunction>()
const scripts = readScripts()

function validatorOf(name: string): ValidateFunction {
  const known = validators.get(name)
  if (known !== undefined) return known
  const method = byName.get(name)
  if (method === undefined) throw new Error(`no method ${name}`)
  const validate = ajv.compile(method.result.json)
  validators.set(name, validate)
  return validate
}

function repliesOf(exchanges: readonly Exchange[]): readonly Reply[] {
  return exchanges.map(({ request, replies }) => {
    const { method } = JSON.parse(request) as { readonly method: string }
    return { method, ...(JSON.parse(replies.at(-1) ?? '') as object) }
  })
}

function checkReplies(exchanges: readonly Exchange[]): void {
  for (const { method, result, error } of repliesOf(exchanges)) {
    if (error !== undefined) {
      expect(error.code, `${method}: an internal error`).not.toBe(-32603)
      continue
    }
    const validate = validatorOf(method)
    const fits = validate(result)
    expect(fits, `${method}: ${ajv.errorsText(validate.errors)}`).toBe(true)
  }
}

describe('the script', () => {
  it.each(scripts.map((script) => ({ name: path.relative(SCRIPTS, script.file), script })))(
    '$name gets its recorded replies',
    async ({ script }) => {
      await using node = await startNode(script.options, script.transport)
      const send: Send = async (request) => {
        const before = node.changes()
        const replies = await node.send(request)
        if (node.changes() > before) noteWriter(request)
        return replies
      }
      const run = await runScript(script, send)
      if (process.env.UPDATE_IO === '1') writeFileSync(script.file, `${run.lines.join('\n')}\n`)
      else if (run.mismatch) expect(run.mismatch.actual).toEqual(run.mismatch.expected)
      checkReplies(run.exchanges)
    },
  )
})

/** The names by which scripts changed the chain. */
const writers = new Set<string>()

function noteWriter(request: string): void {
  for (const { method } of [JSON.parse(request)].flat()) writers.add(method)
}

// after the scripts
describe('a method', () => {
  it('declares effects if it changed the chain in a script', () => {
    const silent = [...writers].filter((name) => !changesChain(byName.get(name) ?? {}))
    expect(silent.sort()).toEqual([])
  })

  it('that declares effects changed the chain in a script', () => {
    // work takes minutes to do: test/rpc/work.test.ts has a chain with less of it
    const names = methods
      .filter((method) => changesChain(method) && method.name !== 'eth_submitWork')
      .map(({ name }) => name)
    expect(names.filter((name) => !writers.has(name)).sort()).toEqual([])
  })
})

describe('the scripts', () => {
  it.each(methods.map((method) => ({ name: method.name, method })))(
    'for $name have a success and a refusal',
    ({ method }) => {
      const replies = scripts
        .filter((script) => script.method === method.name)
        .flatMap((script) => repliesOf(exchangesOf(script)))
        .filter((reply) => reply.method === method.name)
      const isError = (reply: Reply): boolean => reply.error !== undefined
      expect(replies.some(isError), 'a script with an error').toBe(true)
      // what is asked of another network has one in test/unit/fork
      if (method.unsupported !== undefined || method.name === 'anvil_setRpcUrl') return
      expect(
        replies.some((reply) => !isError(reply)),
        'a script with a result',
      ).toBe(true)
    },
  )

  it('are about existing methods only', () => {
    expect(scripts.map(({ method }) => method).filter((name) => !byName.has(name))).toEqual([])
  })
})

describe('the script runner', () => {
  const script = (...lines: string[]): Script => ({
    file: 'x.io',
    method: 'x',
    options: {},
    transport: 'http',
    lines,
  })
  const request = '>> {"id":1,"params":["<key>"]}'

  it('finds a wrong reply and a missing one', async () => {
    for (const reply of [
      '{"id":1,"result":"0x2"}',
      '{"id":1,"result":"0x1","more":1}',
      '{"id":1}',
    ]) {
      const run = await runScript(script(request, '<< {"id":1,"result":"0x1"}'), async () => [
        reply,
      ])
      expect(run.mismatch).toBeDefined()
      expect(run.lines).toEqual([request, `<< ${reply}`])
    }
  })

  it('binds a name at its first place and requires it at others, also in requests', async () => {
    const lines = ['>> {}', '<< {"a":"<key>","b":"<key>","c":"<*>"}', request, '<< {"a":"<key>"}']
    const sent: string[] = []
    const replies = ['{"a":7,"b":7,"c":[1]}', '{"a":7}']
    const run = await runScript(script(...lines), async (text) => {
      sent.push(text)
      return [replies[sent.length - 1] ?? '']
    })
    expect(run.mismatch).toBeUndefined()
    expect(sent[1]).toBe('{"id":1,"params":[7]}')
    expect(run.lines).toEqual(lines)
    const other = await runScript(script(...lines), async () => ['{"a":7,"b":8,"c":[1]}'])
    expect(other.mismatch).toBeDefined()
  })

  it('refuses a line of unknown form', () => {
    expect(() => exchangesOf(script('> {}'))).toThrow('expected //, >> or <<')
  })
})
