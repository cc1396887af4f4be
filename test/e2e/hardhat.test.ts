// Hardhat projects as their users have them, run by Hardhat itself with `--network localhost` against a chain that
// speaks like its node.
import { execFile } from 'node:child_process'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createDevchain, type Devchain } from '../../src/devchain.ts'
import { installProject, newerNode, projectFolder } from '../support/projects.ts'

const TWO_MINUTES = 120_000

/** Runs a project's own tests to their end; what it says, and its exit code. */
function testsOf(
  name: string,
  node: string,
  args: readonly string[],
  url: string,
): Promise<{ readonly code: number; readonly output: string }> {
  const env = {
    ...process.env,
    DEVCHAIN_URL: url,
    HARDHAT_DISABLE_TELEMETRY_PROMPT: 'true',
    // what it lists is compared
    NO_COLOR: '1',
    FORCE_COLOR: '0',
  }
  return new Promise((resolve) => {
    execFile(node, [...args], { cwd: projectFolder(name), env }, (error, stdout, stderr) => {
      const code = error === null ? 0 : Number(error.code ?? 1)
      resolve({ code, output: stdout + stderr })
    })
  })
}

describe('a Hardhat project', () => {
  let devchain: Devchain
  let url: string
  let newNode: string

  beforeAll(async () => {
    newNode = await newerNode()
    await installProject('hardhat2')
    await installProject('hardhat3', newNode)
    devchain = await createDevchain({ port: 0, compat: 'hardhat' })
    url = (await devchain.listen()).url
  }, TWO_MINUTES)
  afterAll(async () => {
    await devchain.close()
  })

  test(
    'of version 2 has its helpers and matchers',
    async () => {
      const cli = 'node_modules/hardhat/internal/cli/bootstrap.js'
      const config = ['--config', 'hardhat.config.cjs', '--network', 'localhost']
      const args = [cli, ...config, 'test', 'test/piggybank.cjs']
      const { code, output } = await testsOf('hardhat2', process.execPath, args, url)
      expect(output).toContain('15 passing')
      expect(code).toBe(0)
    },
    TWO_MINUTES,
  )

  test(
    'of version 3 has its helpers and matchers',
    async () => {
      const cli = 'node_modules/hardhat/dist/src/cli.js'
      const args = [cli, 'test', 'mocha', '--network', 'localhost']
      const { code, output } = await testsOf('hardhat3', newNode, args, url)
      expect(output).toContain('14 passing')
      expect(code).toBe(0)
    },
    TWO_MINUTES,
  )
})
