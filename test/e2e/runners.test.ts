// Tests side by side: real test runners, each worker on a chain of its own.
import { execFile } from 'node:child_process'
import { lstatSync, rmSync, symlinkSync } from 'node:fs'
import path from 'node:path'
import { createTestClient, http, parseEther, publicActions, walletActions } from 'viem'
import { foundry } from 'viem/chains'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createDevchain, type Devchain } from '../../src/devchain.ts'
import { COMMAND, ROOT, temporaryFolder } from '../support/process/boot.ts'
import { installProject, newerNode, projectFolder } from '../support/tools/projects.ts'

const folder = projectFolder('runners')

/** `npm install devchain` as this repository would be installed. */
function installIn(project: string): void {
  const link = path.join(projectFolder(project), 'node_modules/devchain')
  if (lstatSync(link, { throwIfNoEntry: false }) === undefined) symlinkSync(ROOT, link)
}

function run(
  program: string,
  args: readonly string[],
  variables: Readonly<Record<string, string>> = {},
  cwd = folder,
): Promise<{ readonly code: number; readonly output: string }> {
  // this run's own variables would number its workers
  const own = /^(VITEST|TEST|NODE_ENV|NODE_OPTIONS|DEV|PROD|MODE|SSR|BASE_URL)/
  const outer = Object.entries(process.env).filter(([name]) => !own.test(name))
  const env = { ...Object.fromEntries(outer), NO_COLOR: '1', FORCE_COLOR: '0', ...variables }
  return new Promise((resolve) => {
    execFile(program, [...args], { cwd, env }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code ?? 1), output: stdout + stderr })
    })
  })
}

const bin = (name: string): string => path.join(folder, 'node_modules/.bin', name)

/** A set-up mines one block, with which every worker's chain begins. */
const SETUP = `${process.execPath} ${COMMAND} mine`

const vitest = path.join(folder, 'node_modules/vitest/vitest.mjs')
const VITEST = [vitest, 'run', '--root', '.', '--config', 'vitest/vitest.config.mjs']
const JEST = [bin('jest'), '--config', 'jest/jest.config.cjs']

beforeAll(async () => {
  rmSync(path.join(folder, 'node_modules/.cache'), { recursive: true, force: true })
  await installProject('runners')
  installIn('runners')
})

describe('devchain exec --chains gives each worker a chain that begins as the set-up left it', () => {
  const runners: readonly (readonly [string, readonly string[], Record<string, string>, RegExp])[] =
    [
      ['Vitest, in processes', VITEST, { POOL: 'forks' }, /Tests +3 passed/],
      ['Vitest, in threads', VITEST, { POOL: 'threads' }, /Tests +3 passed/],
      ['Jest', JEST, {}, /Tests: +3 passed/],
      ['Mocha', [bin('mocha'), '--parallel', '--jobs', '2', 'mocha/*.test.mjs'], {}, /3 passing/],
      ['node --test', [process.execPath, '--test', 'node/'], {}, /# pass 3\n/],
      ['Playwright', [bin('playwright'), 'test', '--workers', '2', 'playwright'], {}, /3 passed/],
    ]

  test.each(runners)('in %s', async (_name, command, variables, passed) => {
    const args = [COMMAND, 'exec', '--chains', '--setup', SETUP, '--', ...command]
    const { code, output } = await run(process.execPath, args, variables)
    expect(output).toMatch(passed)
    expect(code).toBe(0)
  })
})

test('each shard of Vitest begins with one pack', async () => {
  const pack = path.join(temporaryFolder(onTestFinished), 'deployed.pack')
  const self = `${process.execPath} ${COMMAND}`
  const deploy = ['sh', '-c', `${self} mine && ${self} save ${pack}`]
  expect(await run(process.execPath, [COMMAND, 'exec', '--', ...deploy])).toMatchObject({ code: 0 })
  for (const [shard, passed] of [
    ['1/2', /Tests +2 passed/],
    ['2/2', /Tests +1 passed/],
  ] as const) {
    const args = [COMMAND, 'exec', '--chains', '--from', pack, '--', ...VITEST, '--shard', shard]
    const { code, output } = await run(process.execPath, args, { POOL: 'forks' })
    expect(output).toMatch(passed)
    expect(code).toBe(0)
  }
})

describe('Hardhat in its parallel mode gives each worker the chain that its config asks for', () => {
  const exec = [COMMAND, 'exec', '--chains', '--compat', 'hardhat', '--']

  test('in version 2', async () => {
    await installProject('hardhat2')
    installIn('hardhat2')
    const cli = 'node_modules/hardhat/internal/cli/bootstrap.js'
    const args = ['--config', 'hardhat.parallel.config.cjs', 'test', '--parallel']
    const { output } = await run(
      process.execPath,
      [...exec, process.execPath, cli, ...args],
      { HARDHAT_NETWORK: 'localhost', HARDHAT_DISABLE_TELEMETRY_PROMPT: 'true' },
      projectFolder('hardhat2'),
    )
    expect(output).toContain('16 passing')
  })

  test('in version 3', async () => {
    const node = await newerNode()
    await installProject('hardhat3', node)
    installIn('hardhat3')
    const cli = 'node_modules/hardhat/dist/src/cli.js'
    const args = ['--config', 'hardhat.parallel.config.ts', 'test', 'mocha']
    const { output } = await run(
      process.execPath,
      [...exec, node, cli, ...args, '--network', 'localhost'],
      { HARDHAT_DISABLE_TELEMETRY_PROMPT: 'true' },
      projectFolder('hardhat3'),
    )
    expect(output).toContain('15 passing')
  })
})

describe('a global set-up starts the chains', () => {
  test.each(['forks', 'threads', 'vmThreads'])('of Vitest with pool %s', async (POOL) => {
    const [program = '', ...args] = VITEST
    const { code, output } = await run(program, args, { POOL, SETUP: './vitest/setup.mjs' })
    expect(output).toMatch(/Tests +3 passed/)
    expect(code).toBe(0)
  })

  test.each([[['-i']], [[]]])('of Jest with %j', async (flags) => {
    const [program = '', ...args] = JEST
    const variables = { SETUP: './jest/setup.mjs' }
    const { code, output } = await run(program, [...args, ...flags], variables)
    expect(output).toMatch(/Tests: +3 passed/)
    expect(code).toBe(0)
  })
})

test('wagmi’s test set-up runs on two forks, as on two servers of prool', async () => {
  await using network = await createDevchain({
    port: 0,
    noArtifacts: true,
    predeploy: ['multicall3'],
  })
  await network.request({ method: 'hardhat_mine', params: ['0x10'] })
  const fork = (await network.listen()).url
  const options = { port: 0, compat: 'anvil', noMining: true, fork, noForkCache: true } as const
  await using first = await createDevchain({ ...options, chainId: 123, threads: 2 })
  await using second = await createDevchain({ ...options, chainId: 456 })
  const [{ url: one }, { url: other }] = [await first.listen(), await second.listen()]
  const args = ['run', '--root', '.', '--config', 'wagmi/vitest.config.mjs']
  const { code, output } = await run(vitest, args, {
    FIRST_URL: one,
    SECOND_URL: other,
    FORKED: '16',
  })
  expect(output).toMatch(/Tests +6 passed/)
  expect(code).toBe(0)
})

describe('a server in place of prool', () => {
  let devchain: Devchain
  let url: string

  beforeAll(async () => {
    devchain = await createDevchain({ port: 0, compat: 'anvil' })
    url = (await devchain.listen()).url
  })
  afterAll(() => devchain.close())

  test('is controlled by prool’s own client', async () => {
    const node = await newerNode()
    const { code, output } = await run(node, ['prool/client.mjs'], { DEVCHAIN_URL: url })
    expect([code, output]).toEqual([0, 'done\n'])
  })

  test('serves viem’s test clients by their pool ids', async () => {
    // as viem's own tests number them
    const ids = [1, 2, 103_482, 7_340_129]
    await Promise.all(
      ids.map(async (id) => {
        const transport = http(`${url}/${id}`)
        const client = createTestClient({ chain: foundry, mode: 'anvil', transport })
          .extend(publicActions)
          .extend(walletActions)
        const [account] = await client.getAddresses()
        const value = parseEther(String(id % 10))
        await client.setBalance({ address: account!, value: parseEther('100') })
        const snapshot = await client.snapshot()
        await client.sendTransaction({
          account: account!,
          to: account!,
          value,
        })
        await client.mine({ blocks: id % 7 })
        expect(await client.getBlockNumber({ cacheTime: 0 })).toBe(BigInt(1 + (id % 7)))
        await client.revert({ id: snapshot })
        expect(await client.getBalance({ address: account! })).toBe(parseEther('100'))
        // as wagmi's and viem's set-ups do before each file
        await fetch(`${url}/${id}/restart`)
        expect(await client.getBlockNumber({ cacheTime: 0 })).toBe(0n)
        expect(await client.getBalance({ address: account! })).toBe(parseEther('10000'))
      }),
    )
  })
})
