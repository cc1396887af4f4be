// The built program, which is one bundle with parts that load late: every method answers from it.
import {
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import {
  type Booted,
  boot,
  COMMAND,
  ROOT,
  request,
  startProcess,
  temporaryFolder,
} from '../support/process/boot.ts'
import { eventually } from '../support/waiting/eventually.ts'

interface Described {
  readonly name: string
  readonly examples: readonly { readonly params: readonly { readonly value: unknown }[] }[]
}

/** Code of an error that is a bug here. */
const INTERNAL_ERROR = -32603

/** The program without the folder of its loader, and without the line that opens that. */
function withoutLoader(): readonly [string, string] {
  const { folder } = copyProgram()
  rmSync(path.join(folder, 'dist/loader'), { recursive: true })
  const command = path.join(folder, path.relative(ROOT, COMMAND))
  const lines = readFileSync(command, 'utf8').split('\n')
  const left = lines.filter((line) => !line.includes('/loader/'))
  expect(lines.length - left.length).toBe(1)
  writeFileSync(command, left.join('\n'))
  return [process.execPath, command]
}

test.each([
  ['as it is built', () => [process.execPath, COMMAND] as const],
  ['without its loader', withoutLoader],
])('the bundle %s runs every method’s example without a bug', async (_, makeCommand) => {
  const { url, stop } = await boot([], { command: [...makeCommand()] })
  onTestFinished(async () => {
    await stop()
  })
  const { methods } = (await request(url, 'rpc.discover')) as { methods: Described[] }
  expect(methods.length).toBeGreaterThan(200)
  const failures: unknown[] = []
  for (const { name, examples } of methods) {
    const params = examples[0]!.params.map(({ value }) => value)
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: name, params })
    const response = await fetch(url, { method: 'POST', body })
    const { error } = (await response.json()) as { error?: { code: number } }
    if (error?.code === INTERNAL_ERROR) failures.push(name)
  }
  expect(failures).toEqual([])
})

test('the bundle runs commands without its loader', async () => {
  const command = withoutLoader()
  const { url, stop } = await boot([], { command: [...command] })
  onTestFinished(async () => {
    await stop()
  })
  const called = startProcess(['rpc', 'eth_chainId', '--url', url], { command: [...command] })
  expect(await called.ended).toBe(0)
  expect(called.stdout()).toContain('0x21')
})

test('the bundle mines thousands of blocks without worker threads', async () => {
  const permission = ['--permission', '--experimental-permission'].find((flag) =>
    process.allowedNodeEnvironmentFlags.has(flag),
  )!
  const rights = [permission, '--allow-fs-read=*', '--allow-fs-write=*']
  const { url, stop } = await boot([], { command: [process.execPath, ...rights, COMMAND] })
  onTestFinished(async () => {
    await stop()
  })
  expect(await request(url, 'evm_mine', { blocks: 20_000 })).toBe('0x0')
  expect(await request(url, 'eth_blockNumber')).toBe('0x4e20')
})

/** A copy of the built program, with its bytecode in a folder of its own. */
interface Copy {
  readonly folder: string
  readonly start: () => Promise<Booted>
  readonly kept: () => string[]
  readonly caches: string
}

function copyProgram(): Copy {
  const folder = temporaryFolder(onTestFinished)
  const caches = temporaryFolder(onTestFinished)
  // neither types nor maps, which are most of the files
  const filter = (file: string): boolean => !/\.(d\.ts|map)$/.test(file)
  for (const part of ['bin', 'dist', 'package.json']) {
    cpSync(path.join(ROOT, part), path.join(folder, part), { recursive: true, filter })
  }
  symlinkSync(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'))
  const command = [process.execPath, path.join(folder, path.relative(ROOT, COMMAND))] as const
  const start = async (): Promise<Booted> => {
    const env = { XDG_CACHE_HOME: caches }
    const devchain = await boot([], { command: [...command], env })
    await request(devchain.url, 'eth_call', { to: `0x${'00'.repeat(20)}` })
    return devchain
  }
  const kept = (): string[] => {
    const place = path.join(caches, 'devchain')
    return existsSync(place) ? readdirSync(place) : []
  }
  return { folder, start, kept, caches }
}

test('the bundle reuses the bytecode of an earlier start, for lazy parts too', async () => {
  const { start, kept, caches } = copyProgram()
  const fileOf = (name: string): string => path.join(caches, 'devchain', name)
  // the last byte says that it was made after a while
  const isWhole = (name: string): boolean => readFileSync(fileOf(name)).at(-1) === 1
  const inodeOf = (name: string): number => statSync(fileOf(name)).ino

  const first = await start()
  await eventually(async () => {
    await request(first.url, 'eth_chainId')
    return kept().some((name) => name.startsWith('devchain-') && isWhole(name))
  })
  await first.stop()
  await (await start()).stop()
  const before = kept().map((name) => ({ name, inode: inodeOf(name), wasWhole: isWhole(name) }))
  expect(kept().filter((name) => name.endsWith('.late.cache')).length).toBeGreaterThan(1)
  // what cannot be used is written anew, at the end of the process at the latest
  await (await start()).stop()
  const anew = before.filter(({ name, inode }) => inodeOf(name) !== inode)
  // on a slow machine the process is old enough to complete some
  expect(anew.filter(({ name, wasWhole }) => wasWhole || !isWhole(name))).toEqual([])
})

test('V8 optimizes early from the first connection on, before a request loads its parts', async () => {
  const script = `
    const { cachedDataVersionTag } = require('node:v8')
    require(${JSON.stringify(path.join(ROOT, 'dist/loader/loader.cjs'))}).openLoader('.', require)
    // after the end of the start
    setImmediate(() => setImmediate(() => {
      const before = cachedDataVersionTag()
      const server = require('node:net').createServer((socket) => socket.once('data', () => {
        console.log(cachedDataVersionTag() === before ? 'late' : 'in time')
        socket.destroy()
        server.close()
      }))
      server.listen(0, '127.0.0.1', () =>
        require('node:net').connect(server.address().port, '127.0.0.1').write('a request'))
    }))`
  const { ended, stdout } = startProcess(['-e', script], { command: [process.execPath] })
  expect([await ended, stdout()]).toEqual([0, 'in time\n'])
})

test('the bundle writes no files beside itself', async () => {
  const { folder, start, kept } = copyProgram()
  // its packages are a link, below which other tests write
  const own = readdirSync(folder).filter((name) => name !== 'node_modules')
  const files = (): string[] => [
    ...readdirSync(folder),
    ...own
      .filter((name) => statSync(path.join(folder, name)).isDirectory())
      .flatMap((name) => readdirSync(path.join(folder, name), { recursive: true }).map(String)),
  ]
  const before = files()
  await (await start()).stop()
  expect(kept().length).toBeGreaterThan(1)
  expect(files()).toEqual(before)
})

test('the bundle starts many times at once with one bytecode folder', async () => {
  const { start, kept } = copyProgram()
  const all = await Promise.all(Array.from({ length: 4 }, start))
  for (const { url } of all) expect(await request(url, 'eth_blockNumber')).toBe('0x0')
  await Promise.all(all.map(({ stop }) => stop()))
  expect(kept().every((name) => name.endsWith('.cache'))).toBe(true)
  await (await start()).stop()
})

test('each part of the bundle exports what others read of it', () => {
  const folder = path.join(ROOT, 'dist/bundle')
  const parts = readdirSync(folder).filter((each) => each.endsWith('.cjs'))
  const texts = new Map(parts.map((each) => [each, readFileSync(path.join(folder, each), 'utf8')]))
  const exported = new Map([...texts].map(([part, text]) => [part, exportsOf(text)]))
  let reads = 0
  for (const [part, text] of texts) {
    const required = text.matchAll(/^const (require_\w+) = require\("\.\/([^"]+)"\)/gm)
    const names = [...required].flatMap(([, local, file]) =>
      [...text.matchAll(new RegExp(`\\b${local}\\.([\\w$]+)`, 'g'))].map(([, name]) => [
        file!,
        name!,
      ]),
    )
    const defaults = text.matchAll(/require\("\.\/([^"]+)"\)\.default/g)
    for (const [file, name] of [...names, ...[...defaults].map(([, of]) => [of!, 'default'])]) {
      expect(exported.get(file!)!.has(name!), `${part} reads ${name} of ${file}`).toBe(true)
      reads += 1
    }
  }
  expect(reads).toBeGreaterThan(1_000)
})

function exportsOf(text: string): ReadonlySet<string> {
  const forms =
    /^(?:\t([\w$]+): [\w$.]+,$|exports\.([\w$]+) = |Object\.defineProperty\(exports, "([^"]+)")/gm
  return new Set(
    [...text.matchAll(forms)].map(([, member, name, getter]) => (member ?? name ?? getter)!),
  )
}
