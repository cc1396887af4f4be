// Recordings of forks beyond their form: what is in them, how they are replayed, and how they go together.
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { hexFromBytes } from '../../../src/core/hex.ts'
import { createDevchain, type DevchainOptions } from '../../../src/devchain.ts'
import { recordingIn, textOfRecording } from '../../../src/fork/store/recordingfile.ts'
import { assemble, deploying, RETURN_WORD } from '../../support/evm/bytecode.ts'
import {
  deployKeeper,
  type Fork,
  KEEPER_CODE,
  sendOn,
  setting,
  startUpstream,
  type Upstream,
} from '../../support/fork/upstream.ts'
import { temporaryFolder } from '../../support/process/boot.ts'

let file = ''

beforeEach(() => {
  const folder = temporaryFolder(onTestFinished)
  file = path.join(folder, 'fork.jsonl')
  vi.stubEnv('XDG_CACHE_HOME', path.join(folder, 'cache'))
})

async function start(options: DevchainOptions): Promise<Fork> {
  const notices: string[] = []
  const devchain = await createDevchain(
    { clock: 'step:12', ...options },
    { observer: { onNotice: (text) => notices.push(text) } },
  )
  onTestFinished(() => devchain.close())
  const close = (): Promise<void> => devchain.close()
  const ask: Fork['ask'] = (method, ...params) => devchain.request({ method, params })
  return { devchain, ask, notices, [Symbol.asyncDispose]: close }
}

async function network(options: DevchainOptions = {}): Promise<Upstream> {
  const upstream = await startUpstream(options)
  onTestFinished(upstream.close)
  return upstream
}

/** Sends to a keeper, and gives the newest block. */
async function play({ ask }: Pick<Fork, 'ask'>, keeper: string): Promise<unknown> {
  await sendOn(ask, { to: keeper, data: setting(2, 9) })
  return ask('eth_getBlockByNumber', 'latest', true)
}

/** Does work on a fork that ends with it. */
async function during<T>(options: DevchainOptions, work: (fork: Fork) => Promise<T>): Promise<T> {
  await using fork = await start(options)
  return await work(fork)
}

const textOf = (name: string): string => readFileSync(name, 'utf8')

describe('--fork-record', () => {
  test('with proofs replays with them, without --fork-proofs', async () => {
    const upstream = await network()
    const keeper = await deployKeeper(upstream)
    const fork = { url: upstream.url }
    const recorded = await during({ fork, forkProofs: true, forkRecord: file }, (each) =>
      play(each, keeper),
    )
    for (const forkProofs of [undefined, true]) {
      const given = forkProofs === undefined ? {} : { forkProofs }
      const replayed = await start({ forkReplay: file, ...given })
      expect(await play(replayed, keeper)).toEqual(recorded)
      expect(await replayed.ask('devchain_forkInfo')).toMatchObject({ stateRootsHold: true })
    }
  })

  test('without proofs does not replay with --fork-proofs', async () => {
    const upstream = await network()
    await during({ fork: { url: upstream.url }, forkRecord: file }, async () => undefined)
    await expect(start({ forkReplay: file, forkProofs: true })).rejects.toThrow(
      `${file} was recorded without --fork-proofs: leave it out, or record again`,
    )
  })

  test.each([true, false])(
    'refuses a file of the other kind; first with proofs: %s',
    async (first) => {
      const upstream = await network()
      const fork = { url: upstream.url }
      await during({ fork, forkRecord: file, forkProofs: first }, async () => undefined)
      const before = textOf(file)
      const words = `${file} was recorded ${first ? 'with' : 'without'} --fork-proofs: ${first ? 'add' : 'leave out'} it, or delete the file to record again`
      await expect(start({ fork, forkRecord: file, forkProofs: !first })).rejects.toThrow(words)
      expect(textOf(file)).toBe(before)
    },
  )
})

test.each([
  ['--compat anvil', { compat: 'anvil' }],
  ['--compat ganache', { compat: 'ganache' }],
  ['--compat geth', { compat: 'geth' }],
  ['--base-fee remote', { baseFee: 'remote' }],
  ['more accounts', { accounts: 20 }],
] as const)('a recording made without %s has what a replay with it needs', async (_, options) => {
  const upstream = await network({ baseFee: 1_000_000_000n, tip: 1_000_000_000n })
  const keeper = await deployKeeper(upstream)
  const act = async (fork: Fork): Promise<unknown> => {
    await fork.ask('eth_maxPriorityFeePerGas')
    await sendOn(fork.ask, { data: KEEPER_CODE })
    return await play(fork, keeper)
  }
  await during({ fork: { url: upstream.url }, forkRecord: file }, act)
  expect(await during({ forkReplay: file, ...options }, act)).toMatchObject({ number: '0x4' })
})

test('a fee market uses tips of blocks mined on the fork, and requests none', async () => {
  const upstream = await network({ baseFee: 1_000_000_000n, tip: 3_000_000_000n })
  await deployKeeper(upstream)
  const fork = await start({ fork: { url: upstream.url }, noForkCache: true, baseFee: 'remote' })
  expect(await upstream.ask('eth_maxPriorityFeePerGas')).toBe('0xb2d05e00')
  const begun = upstream.requests.length
  expect(await fork.ask('eth_maxPriorityFeePerGas')).toBe('0x0')
  expect(upstream.requests).toHaveLength(begun)
  const [from] = (await fork.ask('eth_accounts')) as string[]
  await sendOn(fork.ask, { to: from, maxFeePerGas: '0x77359400', maxPriorityFeePerGas: '0x7' })
  expect(await fork.ask('eth_maxPriorityFeePerGas')).toBe('0x7')
})

/** Reads the balance of another account where its first slot is 0 than where it is not. */
const WAVERING = hexFromBytes(
  deploying(
    assemble(`0 SLOAD @known JUMPI 4369 BALANCE ${RETURN_WORD} known: 8738 BALANCE ${RETURN_WORD}`),
  ),
)

describe('the cache', () => {
  test.each([
    ['without system contracts', { hardfork: 'cancun' }, [], {}],
    ['with system contracts', {}, [], {}],
    ['that does not trace', {}, ['debug_traceCall'], {}],
    ['that foresees nothing', {}, ['debug_traceCall', 'eth_createAccessList'], {}],
    ['that is asked for proofs', {}, [], { forkProofs: true }],
  ] as const)(
    'does not change a recording of a network %s',
    async (...[, options, unknown, how]) => {
      const upstream = await network(options)
      const { contractAddress: wavering } = await sendOn(upstream.ask, { data: WAVERING })
      await upstream.ask('anvil_setStorageAt', wavering, '0x0', `0x${'1'.padStart(64, '0')}`)
      const keeper = await deployKeeper(upstream)
      for (const method of unknown) upstream.faults.unknown.add(method)
      const record = async (name: string, flags: DevchainOptions): Promise<string> => {
        const forkRecord = path.join(path.dirname(file), name)
        const fork = { url: upstream.url }
        const own = { fork, hardfork: 'prague', ...how, ...flags } as const
        await during({ ...own, forkRecord }, async (fork) => {
          await fork.ask('eth_call', { to: wavering })
          await play(fork, keeper)
        })
        return textOf(forkRecord)
      }
      const cold = await record('cold', { noForkCache: true })
      expect(await record('filling', {})).toBe(cold)
      expect(await record('warm', {})).toBe(cold)
    },
  )
})

test('a replay that records leaves out what it does not read', async () => {
  const upstream = await network()
  const keeper = await deployKeeper(upstream)
  const fork = { url: upstream.url }
  await during({ fork, forkRecord: file }, async (each) => {
    await each.ask('eth_getBalance', `0x${'12'.repeat(20)}`)
    await play(each, keeper)
  })
  await upstream.close()
  const [pruned, again] = ['pruned', 'again'].map((name) => `${file}.${name}`)
  const played = await during({ forkReplay: file, forkRecord: pruned }, (each) =>
    play(each, keeper),
  )
  expect(textOf(file)).toContain('0x121212')
  expect(textOf(pruned!)).not.toContain('0x121212')
  const replayed = { forkReplay: pruned, forkRecord: again }
  expect(await during(replayed, (each) => play(each, keeper))).toEqual(played)
  expect(textOf(again!)).toBe(textOf(pruned!))
})

const HEAD = { chainId: '1', block: { hash: '0x00' }, hardfork: null }

/** The text of a recording. */
function recording(head: object, ...items: readonly (readonly unknown[])[]): string {
  const lines = [['devchain fork 1', head], ...items].map((line) => JSON.stringify(line))
  return `${lines.join('\n')}\n`
}

const item = (slot: number, value = '0x1'): readonly unknown[] => [
  '1/0x00',
  'm',
  [`0x${slot}`],
  value,
]

describe('a merge', () => {
  /** Two branches of a repository each add to a recording: git merges them. */
  function merged(base: string, ours: string, theirs: string, attributes: string): string {
    const folder = path.dirname(file)
    const git = (...args: string[]): void => {
      const settings = {
        'user.name': 'a',
        'user.email': 'a@b.c',
        'core.hooksPath': '/dev/null',
        'core.autocrlf': 'false',
        'commit.gpgSign': 'false',
        'merge.conflictStyle': 'merge',
      }
      const own = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
      execFileSync('git', [...own, ...args], { cwd: folder, stdio: 'pipe' })
    }
    const commit = (text: string): void => {
      writeFileSync(file, text)
      git('add', '.')
      git('commit', '-qm', 'x')
    }
    git('init', '-q', '-b', 'main')
    writeFileSync(path.join(folder, '.gitattributes'), attributes)
    commit(base)
    git('checkout', '-qb', 'theirs')
    commit(theirs)
    git('checkout', '-q', 'main')
    commit(ours)
    try {
      git('merge', '-q', 'theirs')
    } catch {
      // a conflict
    }
    return textOf(file)
  }

  const base = recording(HEAD, item(10), item(50))
  const ours = recording(HEAD, item(10), item(20), item(30), item(50), item(60))
  const theirs = recording(HEAD, item(10), item(20), item(40), item(50), item(70))
  const both = recording(HEAD, ...[10, 20, 30, 40, 50, 60, 70].map((slot) => item(slot)))

  test('of two branches of a recording works with git’s merge=union', () => {
    const text = merged(base, ours, theirs, 'fork.jsonl merge=union\n')
    expect(textOfRecording(recordingIn(text, file))).toBe(both)
  })

  test('with conflict markers of git is refused, with advice', () => {
    const text = merged(base, ours, theirs, '')
    expect(() => recordingIn(text, file)).toThrow(
      `${file}: line 4 is a conflict marker of git: delete the markers and keep the lines of both sides; with merge=union in .gitattributes git does so itself`,
    )
    const resolved = text.replaceAll(/^(<{7}|={7}|>{7}).*\n/gm, '')
    expect(textOfRecording(recordingIn(resolved, file))).toBe(both)
    expect(() => recordingIn(`<<<<<<< HEAD\n${base}`, file)).toThrow('line 1 is a conflict marker')
  })

  test.each([
    ['of another block', { ...HEAD, block: { hash: '0x01' } }],
    ['with proofs', { ...HEAD, proofs: true }],
  ])('of two recordings in one file is refused: %s', (_, head) => {
    const text = merged(
      base,
      recording({ ...HEAD, hardfork: 'x' }, item(10)),
      recording(head, item(20)),
      '* merge=union\n',
    )
    expect(() => recordingIn(text, file)).toThrow(
      `${file}: line 3 begins a recording of another fork`,
    )
  })

  test('with contradicting lines is refused with the lines', () => {
    const text = recording(HEAD, item(10), item(20), item(10, '0x2'))
    expect(() => recordingIn(text, file)).toThrow(
      `${file}: line 4 contradicts a line before: m ["0x10"] of 1/0x00 is "0x1" and "0x2"`,
    )
  })

  test('may have a byte order mark and Windows line ends', () => {
    const text = `\uFEFF${both.replaceAll('\n', '\r\n')}`
    expect(textOfRecording(recordingIn(text, file))).toBe(both)
  })
})
