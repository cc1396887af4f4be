// Bytecode that was damaged since it was kept: no start crashes or hangs over it, whatever happened to it.
import { execFileSync } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { boot, request, temporaryFolder } from '../support/process/boot.ts'
import { eventually } from '../support/waiting/eventually.ts'

/** Numbers from 0 to 1 that a seed determines. */
function numbersOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

type Damage = (bytes: Buffer, random: () => number) => Buffer

const zeros: Damage = (bytes) => {
  const middle = Math.floor(bytes.length / 2)
  return Buffer.from(bytes).fill(0, middle, Math.min(middle + 4096, bytes.length))
}

/** Other bits at some places, which are more often near the beginning, where V8 looks first. */
const flipped =
  (bits: number): Damage =>
  (bytes, random) => {
    const changed = Buffer.from(bytes)
    for (let i = 0; i < bits; i++) {
      const at = Math.floor(random() ** 3 * bytes.length)
      changed[at] = changed[at]! ^ (1 << Math.floor(random() * 8))
    }
    return changed
  }

const overwritten: Damage = (bytes, random) => {
  const changed = Buffer.from(bytes)
  const begin = Math.floor(random() * bytes.length)
  for (let i = begin; i < begin + 500 && i < bytes.length; i++) changed[i] = random() * 256
  return changed
}

const DAMAGES: readonly (readonly [name: string, damage: Damage, seeds: number])[] = [
  ['zeros in the middle', zeros, 1],
  ['one other bit', flipped(1), 4],
  ['other bits at many places', flipped(200), 4],
  ['random bytes within', overwritten, 4],
  ['an end that is missing', (bytes, random) => bytes.subarray(0, random() * bytes.length), 3],
  ['an end that is too long', (bytes) => Buffer.concat([bytes, Buffer.alloc(4096)]), 1],
  ['nothing', () => Buffer.alloc(0), 1],
  ['nothing but zeros', (bytes) => Buffer.alloc(bytes.length), 1],
]

/** The bytecode of a start, by the names of its files. */
const kept = new Map<string, Buffer>()

beforeAll(async () => {
  const cache = mkdtempSync(path.join(tmpdir(), 'devchain-bytecode-'))
  const { url, child, stop } = await boot([], { env: { XDG_CACHE_HOME: cache } })
  try {
    await request(url, 'eth_call', { to: `0x${'00'.repeat(20)}` })
    await stop()
    const folder = path.join(cache, 'devchain')
    for (const name of readdirSync(folder)) kept.set(name, readFileSync(path.join(folder, name)))
  } finally {
    child.kill('SIGKILL')
    rmSync(cache, { recursive: true })
  }
  expect(kept.size).toBeGreaterThan(2)
})

/** A folder where a program keeps its bytecode, with that of a start. */
function keptByStart(): { cache: string; files: ReadonlyMap<string, Buffer> } {
  const cache = temporaryFolder(onTestFinished)
  const folder = path.join(cache, 'devchain')
  mkdirSync(folder)
  const files = new Map([...kept].map(([name, bytes]) => [path.join(folder, name), bytes]))
  for (const [file, bytes] of files) writeFileSync(file, bytes)
  return { cache, files }
}

/** Bytes that are kept of a file's part: whether it is loaded late, and so its file's name, depends on how fast a start is. */
function largestOf(file: string): number {
  const folder = path.dirname(file)
  const [part] = path.basename(file).split('.')
  const ofPart = readdirSync(folder).filter((name) => name.split('.')[0] === part)
  return Math.max(...ofPart.map((name) => statSync(path.join(folder, name)).size))
}

async function startAndStop(cache: string): Promise<void> {
  const { url, child, stop, stderr } = await boot([], { env: { XDG_CACHE_HOME: cache } })
  onTestFinished(() => void child.kill('SIGKILL'))
  expect(await request(url, 'eth_call', { to: `0x${'00'.repeat(20)}` })).toBe('0x')
  expect([await stop(), stderr()]).toEqual([0, ''])
}

test.each(DAMAGES)('the bundle starts normally if bytecode has %s', async (_, damage, seeds) => {
  const { cache, files } = keptByStart()
  for (let seed = 1; seed <= seeds; seed++) {
    const random = numbersOf(seed)
    for (const [file, bytes] of files) writeFileSync(file, damage(bytes, random))
    await startAndStop(cache)
  }
  // what was damaged is made anew; of parts that load while flags are set, none is kept
  for (const [file, bytes] of files) {
    if (!file.endsWith('.late.cache')) expect(largestOf(file)).toBeGreaterThan(bytes.length / 2)
  }
})

test('the bundle starts normally if bytecode has the name of another part', async () => {
  const { cache, files } = keptByStart()
  const names = [...files.keys()]
  for (const [i, name] of names.entries()) {
    writeFileSync(name, files.get(names[(i + 1) % names.length]!)!)
  }
  await startAndStop(cache)
})

test.runIf(process.platform !== 'win32').each<[string, (file: string) => void]>([
  ['folders', (file) => mkdirSync(file)],
  ['pipes that nobody writes to', (file) => execFileSync('mkfifo', [file])],
])('the bundle starts normally with %s instead of bytecode', async (_, make) => {
  const { cache, files } = keptByStart()
  for (const file of files.keys()) {
    rmSync(file)
    make(file)
  }
  await startAndStop(cache)
})

test.runIf(process.platform === 'linux')(
  'the bundle without a cache folder ends when requested',
  async () => {
    const { url, stop } = await boot([], { env: { XDG_CACHE_HOME: '/proc/1/x' } })
    // bytecode is kept a while after the start
    await eventually(async () => (await request(url, 'eth_chainId')) === '0x21')
    await startAndStop('/proc/1/x')
    expect(await stop()).toBe(0)
  },
)
