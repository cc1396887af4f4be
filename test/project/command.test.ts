// The command in the folder of a project: it finds the artifacts, tells names, compiles the gas report at its end.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { boot, request } from '../support/boot.ts'
import { callData, deploy, initCode, SENDER, send } from '../support/deploy.ts'
import { compile, deployableOf, projectSources, writeProject } from '../support/solidity.ts'

const project = compile(projectSources(), { optimizer: { enabled: true } })
const FOUND = `artifacts  ${deployableOf(project)} contracts of ./out`
let folder: string

beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'devchain-command-'))
  writeProject(folder, 'foundry', project)
})

afterAll(() => rmSync(folder, { recursive: true }))

describe('devchain in the folder of a project', () => {
  test('tells names, failures with their places, and at the end what functions used', async () => {
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
      /Contract +Function +Calls +Min +Average +Median +Max\nCoin +\(deployment\) +1 /,
    )
    expect(said).toMatch(/\n +transfer\(address,uint256\) +1 .*\n\nended after/)
    // the report asks for nothing that would be logged
    expect(said).not.toContain('devchain_gasReport')
  })

  test('says nothing of artifacts with --no-artifacts, and without any', async () => {
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
