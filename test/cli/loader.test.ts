// The loader of the bundle: parts in their order, late ones when used, and bytecode that may be stale, broken or missing.

import { EventEmitter } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type Compile, compilePlainly, compileWithCache, Loader } from '../../src/loader.ts'
import { temporaryFolder } from '../support/boot.ts'
import { eventually } from '../support/eventually.ts'

const PARTS = {
  'main-a1.cjs': `
    const shared = require('./shared-b2.cjs')
    const heavy = require('late:heavy')
    const path = require('late:node:path')
    exports.count = () => shared.next()
    exports.late = () => heavy.value
    exports.join = () => path.join('a', 'b')
    exports.file = __filename`,
  'shared-b2.cjs': `
    let count = 0
    exports.next = () => ++count`,
  'heavy-c3.cjs': `
    const shared = require('./shared-b2.cjs')
    exports.value = 'loaded after ' + shared.next()`,
}

const require = createRequire(import.meta.url)

const ENTRIES = { main: 'main-a1.cjs', heavy: 'heavy-c3.cjs' }

/** Compiles for a program that does not end. */
const compileAndKeep = (): Compile =>
  compileWithCache({ keepAfterMs: 0, program: new EventEmitter() })

/** As the bundler writes parts. */
const asFunction = (code: string): string =>
  `(function (exports, require, module, __filename, __dirname) {${code}\n})`

function folderOf(parts: Readonly<Record<string, string>>): string {
  const folder = temporaryFolder(onTestFinished)
  for (const [name, code] of Object.entries(parts))
    writeFileSync(path.join(folder, name), asFunction(code))
  return folder
}

interface Main {
  readonly count: () => number
  readonly late: () => string
  readonly join: () => string
  readonly file: string
}

/** Another number in the head of V8's format. */
function withWord(bytes: Buffer, offset: number): Buffer {
  const changed = Buffer.from(bytes)
  changed.writeUInt32LE(7, offset)
  return changed
}

const kept = (folder: string): string[] =>
  readdirSync(folder).filter((name) => name.endsWith('.cache'))

describe.each([
  ['with bytecode', compileAndKeep()],
  ['plainly', compilePlainly],
])('parts that are compiled %s', (_, compile) => {
  test('are loaded once, and late ones when something of them is used', () => {
    const folder = folderOf(PARTS)
    const main = new Loader(folder, ENTRIES, compile, require).load('main') as unknown as Main
    expect(main.file).toBe(path.join(folder, 'main-a1.cjs'))
    expect([main.count(), main.count()]).toEqual([1, 2])
    expect(main.late()).toBe('loaded after 3')
    expect(main.late()).toBe('loaded after 3')
    expect(main.join()).toBe(path.join('a', 'b'))
  })

  test('tell their file in the stack of an error', () => {
    const folder = folderOf({ 'main-a1.cjs': 'exports.fail = () => {\n throw new Error("no") }' })
    const main = new Loader(folder, ENTRIES, compile, require).load('main') as { fail: () => void }
    try {
      main.fail()
      expect.unreachable()
    } catch (error) {
      expect((error as Error).stack).toContain(path.join(folder, 'main-a1.cjs'))
    }
  })
})

describe('bytecode', () => {
  test('is kept a while after the start, and used at the next one', async () => {
    const folder = folderOf(PARTS)
    const load = (): Main =>
      new Loader(folder, ENTRIES, compileAndKeep(), require).load('main') as unknown as Main
    expect(load().count()).toBe(1)
    await eventually(() => kept(folder).length === 2)
    // V8 takes functions from it without looking at the text, as long as its length is the same
    const file = path.join(folder, 'shared-b2.cjs')
    writeFileSync(file, readFileSync(file, 'utf8').replace('++count', '--count'))
    expect(load().count()).toBe(1)
  })

  test('of the start is kept before the end of the start is told, and then at once', async () => {
    const folder = folderOf(PARTS)
    const keptAtEnd: string[][] = []
    const load = (): Main => {
      const onStarted = (): unknown => keptAtEnd.push(kept(folder))
      const compile = compileWithCache({ keepAfterMs: 0, onStarted, program: new EventEmitter() })
      return new Loader(folder, ENTRIES, compile, require).load('main') as unknown as Main
    }
    load()
    await eventually(() => keptAtEnd.length === 1)
    const main = load()
    await eventually(() => keptAtEnd.length === 2)
    expect(keptAtEnd.map((names) => names.length)).toEqual([2, 2])
    // what comes later may be made under other flags, and is kept under another name
    expect(main.late()).toBe('loaded after 1')
    await eventually(() => kept(folder).length === 3)
    expect(kept(folder).filter((name) => name.endsWith('.late.cache'))).toHaveLength(1)
    expect(keptAtEnd).toHaveLength(2)
  })

  test('is kept at the end of a process that ends before that, and made again by a longer one', async () => {
    const folder = folderOf(PARTS)
    const program = new EventEmitter()
    const load = (keepAfterMs: number): unknown =>
      new Loader(folder, ENTRIES, compileWithCache({ keepAfterMs, program }), require).load('main')
    load(1e6)
    expect(kept(folder)).toEqual([])
    program.emit('exit')
    const early = kept(folder).map((name) => readFileSync(path.join(folder, name)))
    expect(early).toHaveLength(2)
    load(1e6)
    program.emit('exit')
    const again = kept(folder).map((name) => readFileSync(path.join(folder, name)))
    expect(again).toEqual(early)
    load(0)
    const isMadeAgain = (name: string, i: number): boolean =>
      !readFileSync(path.join(folder, name)).equals(early[i]!)
    await eventually(() => kept(folder).every(isMadeAgain))
  })

  test.each([
    ['empty', () => Buffer.alloc(0)],
    ['no bytecode', () => Buffer.from('this is no bytecode')],
    ['cut off', (bytes: Buffer) => bytes.subarray(0, bytes.length / 2)],
    ['of another version', (bytes: Buffer) => withWord(bytes, 4)],
    ['of another text', (bytes: Buffer) => withWord(bytes, 8)],
  ])('that is %s is made anew', async (_, spoil) => {
    const folder = folderOf(PARTS)
    const load = (): Main =>
      new Loader(folder, ENTRIES, compileAndKeep(), require).load('main') as unknown as Main
    load()
    await eventually(() => kept(folder).length === 2)
    const files = kept(folder).map((name) => path.join(folder, name))
    const spoiled = files.map((file) => spoil(readFileSync(file)))
    for (const [i, file] of files.entries()) writeFileSync(file, spoiled[i]!)
    // V8 remembers within a process what it compiled, by its text: another one has it look at the bytecode
    for (const [name, code] of Object.entries(PARTS)) {
      writeFileSync(
        path.join(folder, name),
        asFunction(code.replace('++count', '--count').replace("'a'", "'z'")),
      )
    }
    expect(load().count()).toBe(-1)
    await eventually(() => files.every((file, i) => !readFileSync(file).equals(spoiled[i]!)))
    expect(load().count()).toBe(-1)
  })

  test('that cannot be kept harms nothing', async () => {
    const folder = folderOf(PARTS)
    const main = new Loader(folder, ENTRIES, compileAndKeep(), require).load(
      'main',
    ) as unknown as Main
    rmSync(folder, { recursive: true })
    writeFileSync(folder, 'a file where the folder was')
    await new Promise((resolve) => setImmediate(resolve))
    expect(main.count()).toBe(1)
    rmSync(folder)
    mkdirSync(folder)
    expect(existsSync(path.join(folder, 'main-a1.cjs'))).toBe(false)
  })

  test('of runtimes that are gone does not pile up', async () => {
    const folder = folderOf(PARTS)
    for (let i = 0; i < 110; i++) writeFileSync(path.join(folder, `main-a1.cjs.v1.${i}.cache`), '')
    new Loader(folder, ENTRIES, compileAndKeep(), require).load('main')
    const isOurs = (name: string): boolean => name.includes(process.version)
    await eventually(() => kept(folder).filter(isOurs).length === 2)
    expect(kept(folder)).toHaveLength(100)
  })
})
