// The loader of the bundle: parts in their order, late ones when used, and bytecode that may be stale, broken or missing.

import { EventEmitter } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { BytecodeOptions } from '../../src/loader/bytecode.ts'
import { cacheFolder } from '../../src/loader/cachefolder.ts'
import { openLoader } from '../../src/loader/loader.ts'
import { temporaryFolder } from '../support/process/boot.ts'
import { eventually } from '../support/waiting/eventually.ts'

const PARTS = {
  'main.cjs': `module.exports = require('./main-a1b2c3d4.cjs')`,
  'main-a1b2c3d4.cjs': `
    const shared = require('./shared-b2c3d4e5.cjs')
    const path = require('node:path')
    const util = require('node:util')
    exports.count = () => shared.next()
    exports.late = () => require('./heavy-c3d4e5f6.cjs').value
    exports.join = () => path.join('a', 'b')
    exports.format = () => util.format('%d', 7)
    exports.file = __filename`,
  'shared-b2c3d4e5.cjs': `
    let count = 0
    exports.next = () => ++count`,
  'heavy-c3d4e5f6.cjs': `
    const shared = require('./shared-b2c3d4e5.cjs')
    exports.value = 'loaded after ' + shared.next()`,
}

const require = createRequire(import.meta.url)

function folderOf(parts: Readonly<Record<string, string>>): string {
  const folder = temporaryFolder(onTestFinished)
  for (const [name, code] of Object.entries(parts)) writeFileSync(path.join(folder, name), code)
  return folder
}

/** Loads parts into a program that does not end, and keeps bytecode in a folder beside them at once. */
function load(folder: string, options: Partial<BytecodeOptions> = {}): Main {
  const kept = path.join(folder, 'kept')
  const program = new EventEmitter()
  return openLoader(folder, require, { folder: kept, keepAfterMs: 0, program, ...options })(
    'main.cjs',
  ) as Main
}

interface Main {
  readonly count: () => number
  readonly late: () => string
  readonly join: () => string
  readonly format: () => string
  readonly file: string
}

/** Another number in the head of V8's format. */
function withWord(bytes: Buffer, offset: number): Buffer {
  const changed = Buffer.from(bytes)
  changed.writeUInt32LE(7, offset)
  return changed
}

/** Files of bytecode. */
function kept(folder: string): string[] {
  const place = path.join(folder, 'kept')
  return existsSync(place) ? readdirSync(place).filter((name) => name.endsWith('.cache')) : []
}

const readKept = (folder: string, name: string): Buffer =>
  readFileSync(path.join(folder, 'kept', name))

/** Changes the text of a part, but neither its name nor its length. */
function replaceIn(folder: string, part: keyof typeof PARTS, before: string, after: string): void {
  const file = path.join(folder, part)
  writeFileSync(file, readFileSync(file, 'utf8').replace(before, after))
}

describe.each([
  ['with bytecode', {}],
  ['where it is kept nowhere', { folder: undefined }],
])('a part compiled %s', (_, options) => {
  test('is loaded once, and a lazy one on demand', () => {
    const folder = folderOf(PARTS)
    const main = load(folder, options)
    expect(main.file).toBe(path.join(folder, 'main-a1b2c3d4.cjs'))
    expect([main.count(), main.count()]).toEqual([1, 2])
    expect(main.late()).toBe('loaded after 3')
    expect(main.late()).toBe('loaded after 3')
    expect([main.join(), main.format()]).toEqual([path.join('a', 'b'), '7'])
  })

  test('shows its file in the stack of an error', () => {
    const fail = 'exports.fail = () => {\n throw new Error("no") }'
    const folder = folderOf({ 'main.cjs': fail })
    const main = load(folder, options) as unknown as { fail: () => void }
    try {
      main.fail()
      expect.unreachable()
    } catch (error) {
      expect((error as Error).stack).toContain(path.join(folder, 'main.cjs'))
    }
  })
})

describe('a built-in module', () => {
  function required(name: string): { readonly module: object; readonly loads: () => string[] } {
    const folder = folderOf({ 'main.cjs': `exports.module = require('${name}')` })
    const loads: string[] = []
    const spy = (target: string): unknown => {
      loads.push(target)
      return require(target)
    }
    const { module } = openLoader(folder, spy, { folder: undefined })('main.cjs') as {
      module: object
    }
    return { module, loads: () => loads }
  }

  test('that is slow to load is loaded at its first use, once', () => {
    const { module, loads } = required('node:zlib')
    expect(loads()).toEqual([])
    const zlib = module as typeof import('node:zlib')
    expect(zlib.gunzipSync(zlib.gzipSync('text')).toString()).toBe('text')
    expect(loads()).toEqual(['node:zlib'])
  })

  test('that is lazy can be listed and copied as if loaded', () => {
    const { module } = required('util')
    const util = require('node:util') as typeof import('node:util')
    expect(Object.keys(module)).toEqual(Object.keys(util))
    expect('inspect' in module).toBe(true)
    expect({ ...module }).toEqual({ ...util })
    expect(Object.getOwnPropertyDescriptor(module, 'nothing')).toBeUndefined()
  })

  test('that is fast to load is node’s own', () => {
    const { module, loads } = required('node:path')
    expect(loads()).toEqual(['node:path'])
    expect(module).toBe(path)
  })
})

describe('cached bytecode', () => {
  test('is written a while after the start, and used at the next', async () => {
    const folder = folderOf(PARTS)
    expect(load(folder).count()).toBe(1)
    await eventually(() => kept(folder).length === 2)
    // V8 takes functions from it without looking at the text, as long as its length is the same
    replaceIn(folder, 'shared-b2c3d4e5.cjs', '++count', '--count')
    expect(load(folder).count()).toBe(1)
  })

  test('is written only for parts whose name contains their hash', async () => {
    const folder = folderOf(PARTS)
    load(folder)
    await eventually(() => kept(folder).length === 2)
    expect(kept(folder).map((name) => name.split('.', 1)[0])).toEqual([
      'main-a1b2c3d4',
      'shared-b2c3d4e5',
    ])
  })

  test('is readable for its user only', async () => {
    const folder = folderOf(PARTS)
    load(folder)
    await eventually(() => kept(folder).length === 2)
    const modeOf = (file: string): number => statSync(path.join(folder, file)).mode & 0o777
    expect(modeOf('kept')).toBe(0o700)
    for (const name of kept(folder)) expect(modeOf(`kept/${name}`)).toBe(0o600)
  })

  test('of the start is written before the start is reported complete, later parts at once', async () => {
    const folder = folderOf(PARTS)
    const keptAtEnd: string[][] = []
    const onStarted = (): unknown => keptAtEnd.push(kept(folder))
    load(folder, { onStarted })
    await eventually(() => keptAtEnd.length === 1)
    const main = load(folder, { onStarted })
    await eventually(() => keptAtEnd.length === 2)
    expect(keptAtEnd.map((names) => names.length)).toEqual([2, 2])
    // what comes later may be made under other flags, and is kept under another name
    expect(main.late()).toBe('loaded after 1')
    await eventually(() => kept(folder).length === 3)
    expect(kept(folder).filter((name) => name.endsWith('.late.cache'))).toHaveLength(1)
    expect(keptAtEnd).toHaveLength(2)
  })

  test('is not written under other flags of V8 than at the load', async () => {
    const folder = folderOf(PARTS)
    const program = new EventEmitter()
    let isStarted = false
    const main = load(folder, { program, onStarted: () => (isStarted = true) })
    await eventually(() => isStarted)
    const flags = vi.spyOn(process.getBuiltinModule('node:v8'), 'cachedDataVersionTag')
    flags.mockReturnValueOnce(1).mockReturnValue(2)
    expect(main.late()).toBe('loaded after 1')
    program.emit('exit')
    expect(kept(folder).filter((name) => name.endsWith('.late.cache'))).toEqual([])
  })

  test('of parts that came since the start is written before other flags are set', async () => {
    const folder = folderOf(PARTS)
    let keepMissing = (): void => undefined
    let isStarted = false
    const main = load(folder, {
      keepAfterMs: 5,
      onStarted: (keep) => {
        isStarted = true
        keepMissing = keep
      },
    })
    await eventually(() => isStarted)
    main.late()
    keepMissing()
    expect(kept(folder).filter((name) => name.endsWith('.late.cache'))).toHaveLength(1)
  })

  test('without a folder does not delay the end of the start', async () => {
    let ends = 0
    load(folderOf(PARTS), { folder: undefined, onStarted: () => void ends++ })
    await eventually(() => ends === 1)
  })

  test('is written when a process ends early, and improved by a longer one', async () => {
    const folder = folderOf(PARTS)
    const program = new EventEmitter()
    load(folder, { keepAfterMs: 1e6, program })
    expect(kept(folder)).toEqual([])
    program.emit('exit')
    const early = kept(folder).map((name) => readKept(folder, name))
    expect(early).toHaveLength(2)
    load(folder, { keepAfterMs: 1e6, program })
    program.emit('exit')
    const again = kept(folder).map((name) => readKept(folder, name))
    expect(again).toEqual(early)
    load(folder)
    const isMadeAgain = (name: string, i: number): boolean =>
      !readKept(folder, name).equals(early[i]!)
    await eventually(() => kept(folder).every(isMadeAgain))
  })

  test.each([
    ['empty', () => Buffer.alloc(0)],
    ['no bytecode', () => Buffer.from('this is no bytecode')],
    ['cut off', (bytes: Buffer) => bytes.subarray(0, bytes.length / 2)],
    ['of another version', (bytes: Buffer) => withWord(bytes, 4)],
    ['of another text', (bytes: Buffer) => withWord(bytes, 8)],
  ])('that is %s is replaced', async (_, spoil) => {
    const folder = folderOf(PARTS)
    load(folder)
    await eventually(() => kept(folder).length === 2)
    const files = kept(folder).map((name) => path.join(folder, 'kept', name))
    const spoiled = files.map((file) => spoil(readFileSync(file)))
    for (const [i, file] of files.entries()) writeFileSync(file, spoiled[i]!)
    // V8 remembers within a process what it compiled, by its text: another one has it look at the bytecode
    replaceIn(folder, 'shared-b2c3d4e5.cjs', '++count', '--count')
    replaceIn(folder, 'main-a1b2c3d4.cjs', "'a'", "'z'")
    expect(load(folder).count()).toBe(-1)
    await eventually(() => files.every((file, i) => !readFileSync(file).equals(spoiled[i]!)))
    expect(load(folder).count()).toBe(-1)
  })

  test('that is not writable does no harm', async () => {
    const folder = folderOf(PARTS)
    writeFileSync(path.join(folder, 'kept'), 'a file where the folder would be')
    let ends = 0
    const main = load(folder, { onStarted: () => void ends++ })
    await eventually(() => ends === 1)
    expect(main.count()).toBe(1)
    expect(main.late()).toBe('loaded after 2')
    expect(readFileSync(path.join(folder, 'kept'), 'utf8')).toContain('a file')
  })

  test('of old versions is deleted', async () => {
    const folder = folderOf(PARTS)
    mkdirSync(path.join(folder, 'kept'))
    for (let i = 0; i < 410; i++) {
      const left = i % 2 === 0 ? '' : '.123-abc'
      writeFileSync(path.join(folder, 'kept', `main-a1b2c3d4.cjs.v1.${i}.cache${left}`), '')
    }
    writeFileSync(path.join(folder, 'kept', 'other'), 'not ours')
    load(folder)
    const isOurs = (name: string): boolean => name.includes(process.version)
    await eventually(() => kept(folder).filter(isOurs).length === 2)
    await eventually(() => readdirSync(path.join(folder, 'kept')).length === 302)
    expect(readdirSync(path.join(folder, 'kept'))).toContain('other')
  })
})

test.each([
  ['linux', { HOME: '/h' }, '/h/.cache/devchain'],
  ['linux', { HOME: '/h', XDG_CACHE_HOME: '/var/c' }, '/var/c/devchain'],
  ['linux', { HOME: '/h', XDG_CACHE_HOME: 'relative' }, '/h/.cache/devchain'],
  ['linux', { HOME: '/h', XDG_CACHE_HOME: '' }, '/h/.cache/devchain'],
  ['linux', {}, undefined],
  ['linux', { HOME: 'relative' }, undefined],
  ['darwin', { HOME: '/u' }, '/u/Library/Caches/devchain'],
  ['darwin', { HOME: '/u', XDG_CACHE_HOME: '/c' }, '/c/devchain'],
  ['win32', { HOME: '/h', LOCALAPPDATA: '/local' }, '/local/devchain/Cache'],
  ['win32', { HOME: '/h' }, undefined],
] as const)('cacheFolder on %s with %j is %s', (platform, environment, folder) => {
  expect(cacheFolder(environment, platform)).toBe(folder)
})
