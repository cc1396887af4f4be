// Hardhat projects as their users have them, run by Hardhat itself with `--network localhost` against a chain that
// speaks like its node.
import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createDevchain, type Devchain } from '../../src/devchain.ts'
import { codeBlocks } from '../support/pages/readme.ts'
import {
  installDevchain,
  installProject,
  newerNode,
  projectFolder,
} from '../support/tools/projects.ts'

const TWO_MINUTES = 120_000

/** Runs a program in a project's folder to its end; what it says, and its exit code. */
function run(
  project: string,
  program: string,
  args: readonly string[],
  variables: Readonly<Record<string, string>> = {},
): Promise<{ readonly code: number; readonly output: string }> {
  const env = {
    ...process.env,
    ...variables,
    HARDHAT_DISABLE_TELEMETRY_PROMPT: 'true',
    // what it lists is compared
    NO_COLOR: '1',
    FORCE_COLOR: '0',
  }
  return new Promise((resolve) => {
    execFile(program, [...args], { cwd: projectFolder(project), env }, (error, stdout, stderr) => {
      const code = error === null ? 0 : Number(error.code ?? 1)
      resolve({ code, output: stdout + stderr })
    })
  })
}

/** Runs Hardhat 2 against the chain at a URL. */
function hardhat2(url: string, task: string, ...args: string[]): ReturnType<typeof run> {
  const cli = 'node_modules/hardhat/internal/cli/bootstrap.js'
  const config = ['--config', 'hardhat.config.cjs', '--network', 'localhost']
  return run('hardhat2', process.execPath, [cli, ...config, task, ...args], { DEVCHAIN_URL: url })
}

/** Runs the tests of the Hardhat 3 project against the chain at a URL. */
function hardhat3(url: string, node: string): ReturnType<typeof run> {
  const args = ['node_modules/hardhat/dist/src/cli.js', 'test', 'mocha', '--network', 'localhost']
  return run('hardhat3', node, args, { DEVCHAIN_URL: url })
}

const PIGGYBANK = 'contracts/Piggybank.sol/Piggybank.json'

const projectFile = (...names: string[]): string => path.join(projectFolder('hardhat2'), ...names)

describe('a Hardhat project', () => {
  let devchain: Devchain
  let url: string
  let newNode: string

  beforeAll(async () => {
    const newer = newerNode()
    const third = newer.then((node) => installProject('hardhat3', node))
    await Promise.all([installProject('hardhat2'), third])
    newNode = await newer
    installDevchain('hardhat2')
    devchain = await createDevchain({ port: 0, compat: 'hardhat' })
    url = (await devchain.listen()).url
  }, TWO_MINUTES)
  afterAll(async () => {
    await devchain.close()
  })

  test(
    'of version 2 can use its helpers and matchers',
    async () => {
      const { code, output } = await hardhat2(url, 'test', 'test/piggybank.cjs')
      expect(output).toContain('15 passing')
      expect(code).toBe(0)
    },
    TWO_MINUTES,
  )

  test(
    'of version 2 can use them with Solidity stacks in errors',
    async () => {
      const stacks: string[] = []
      // both were compiled by the tests above and below, or are now
      const artifacts = ['hardhat2', 'hardhat3'].map((name) => `${projectFolder(name)}/artifacts`)
      for (const folder of artifacts) mkdirSync(folder, { recursive: true })
      const knowing = await createDevchain(
        { port: 0, compat: 'hardhat', artifacts },
        { observer: { onCall: ({ error }) => void stacks.push(...(error?.solidityStack ?? [])) } },
      )
      try {
        await knowing.artifactsRead()
        const { url: known } = await knowing.listen()
        const two = await hardhat2(known, 'test', 'test/piggybank.cjs')
        expect(two.output).toContain('15 passing')
        expect(stacks.some((line) => /^at Piggybank\.\w+ \(/.test(line))).toBe(true)
        stacks.splice(0)
        const three = await hardhat3(known, newNode)
        expect(three.output).toContain('14 passing')
        expect(stacks.some((line) => /^at Piggybank\.\w+ \(/.test(line))).toBe(true)
      } finally {
        await knowing.close()
      }
    },
    TWO_MINUTES,
  )

  test(
    'runs in CI as the README says',
    async () => {
      const [block] = codeBlocks().filter(({ language }) => language === 'yaml')
      const steps = [...(block?.code ?? '').matchAll(/^- run: (.+)$/gm)].map(([, step]) => step)
      expect(steps.shift()).toBe('npm ci')
      for (const step of steps) {
        const { code, output } = await run('hardhat2', 'bash', ['-c', step ?? ''])
        expect(output).toContain('15 passing')
        expect(code).toBe(0)
      }
    },
    TWO_MINUTES,
  )

  test(
    'of version 2 passes on what it compiles, by the watcher of its own node',
    async () => {
      const { code, output } = await hardhat2(url, 'run', '--no-compile', 'scripts/handover.cjs')
      expect([code, output]).toEqual([0, expect.stringContaining('handed over: true')])
      const { bytecode } = JSON.parse(readFileSync(projectFile('artifacts', PIGGYBANK), 'utf8'))
      const wrong = { data: `${bytecode}${'0'.repeat(64)}` }
      const failure = devchain.request({ method: 'eth_call', params: [wrong] })
      await expect(failure).rejects.toMatchObject({
        solidityStack: [
          'Unlock time should be in the future',
          'at Piggybank.constructor (contracts/Piggybank.sol:16:9)',
        ],
      })
    },
    TWO_MINUTES,
  )

  test(
    'of version 3 can use its helpers and matchers',
    async () => {
      const { code, output } = await hardhat3(url, newNode)
      expect(output).toContain('14 passing')
      expect(code).toBe(0)
    },
    TWO_MINUTES,
  )
})
