// The command in the folder of a project: it finds the artifacts, prints names, and prints the gas report at its end.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { callData, deploy, initCode, SENDER, send } from '../support/chain/deploy.ts'
import { boot, request, startProcess } from '../support/process/boot.ts'
import {
  compile,
  deployableOf,
  projectSources,
  writeProject,
} from '../support/solidity/solidity.ts'

const project = compile(projectSources(), { optimizer: { enabled: true } })
const FOUND = `artifacts  ${deployableOf(project)} contracts from ./out`
let folder: string

beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'devchain-command-'))
  writeProject(folder, 'foundry', project)
})

afterAll(() => rmSync(folder, { recursive: true }))

describe('devchain in a project folder', () => {
  test('logs names, failures with their source lines, and finally the gas report', async () => {
    const chain = await boot(['--gas-report', '--default-gas', 'estimate', '--no-hints'], {
      cwd: folder,
    })
    await chain.says(new RegExp(FOUND))
    const ask = (method: string, ...params: unknown[]): Promise<unknown> =>
      request(chain.url, method, ...params)
    const coin = await deploy(ask, initCode(project, 'Coin', [5_000_000n]))
    const transfer = callData(project, 'Coin', 'transfer', [SENDER, 1_500_000n])
    await send(ask, { to: coin, data: transfer })
    await chain.says(/event Transfer\(from 0xf39F…2266, to 0xf39F…2266, value 1\.5 USC\)/)
    await ask('eth_call', { from: coin, to: coin, data: transfer }).catch(() => undefined)
    await chain.says(/✗ ERC20InsufficientBalance\(.*\) at src\/Coin\.sol:23/)
    expect(await chain.stop()).toBe(0)
    const said = chain.stdout()
    expect(said).toMatch(
      /Contract +Function +Calls +Failed +Min +Average +Median +Max\nCoin +\(deployment\) +1 /,
    )
    expect(said).toMatch(/\n +transfer\(address,uint256\) +1 .*\n\nended after/)
    // the report asks for nothing that would be logged
    expect(said).not.toContain('devchain_gasReport')
  })

  test('prints the coverage at the end, and on request before that', async () => {
    const chain = await boot(['--coverage', 'lcov.info', '--no-hints'], { cwd: folder })
    const coin = await deploy(
      (method, ...params) => request(chain.url, method, ...params),
      initCode(project, 'Coin', [5_000_000n]),
    )
    const approve = callData(project, 'Coin', 'approve', [SENDER, 1n])
    await request(chain.url, 'eth_call', { to: coin, data: approve })
    const env = { DEVCHAIN_URL: chain.url }
    const asked = startProcess(['coverage', 'early.info'], { cwd: folder, env })
    expect(await asked.ended).toBe(0)
    expect(asked.stdout()).toMatch(/^src\/Coin\.sol +53\.8 % \(7\/13\) +66\.6 % \(2\/3\) /m)
    expect(asked.stdout()).toMatch(/\n\nwritten to early\.info\n$/)
    expect(await chain.stop()).toBe(0)
    const table = asked.stdout().split('\n\n')[0]!
    expect(chain.stdout()).toContain(`\n${table}\n\ncoverage written to lcov.info\n`)
    const [early, last] = ['early.info', 'lcov.info'].map((name) =>
      readFileSync(path.join(folder, name), 'utf8'),
    )
    expect(last).toBe(early)
    expect(last).toContain('FNDA:1,Coin.approve\n')
  })

  test('prints both reports after exec, whatever its --log', async () => {
    const script = `fetch(process.env.DEVCHAIN_URL, { method: 'POST', body: '{"id":1,"method":"eth_chainId"}' })`
    const ends = async (log: string, file: string, code = 0): Promise<readonly unknown[]> => {
      const flags = ['exec', '--log', log, '--gas-report', '--coverage', file]
      const command = ['--', process.execPath, '-e', `${script}.then(() => process.exit(${code}))`]
      const { ended, stderr } = startProcess([...flags, ...command], { cwd: folder })
      return [await ended, stderr()]
    }
    const reports =
      /no transactions to contracts of the project yet\n\nFile +Lines.*\nsrc\/Coin\.sol +0\.0 %[\s\S]*all files[\s\S]*\n\ncoverage written to lcov\.info\n\n/
    for (const log of ['failure', 'always']) {
      expect(await ends(log, 'lcov.info')).toEqual([0, expect.stringMatching(reports)])
    }
    expect(await ends('failure', 'lcov.info', 3)).toEqual([3, expect.stringMatching(reports)])
    expect(await ends('never', 'lcov.info/no')).toEqual([
      1,
      expect.stringMatching(
        /devchain: exec: cannot write lcov\.info\/no \(--coverage\): (?:EEXIST|ENOTDIR)[^\n]*\n$/,
      ),
    ])
  })

  test('does not mention artifacts with --no-artifacts or without any', async () => {
    const empty = mkdtempSync(path.join(tmpdir(), 'devchain-empty-'))
    try {
      const chains = await Promise.all([
        boot(['--no-artifacts'], { cwd: folder }),
        boot([], { cwd: empty }),
      ])
      for (const chain of chains) {
        await request(chain.url, 'evm_mine')
        await chain.stop()
        expect(chain.stdout()).toContain('block 1')
        expect(chain.stdout()).not.toContain('artifacts')
      }
    } finally {
      rmSync(empty, { recursive: true })
    }
  })
})
