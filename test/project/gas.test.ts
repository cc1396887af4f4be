// Gas used by a project's functions: counted whatever is reverted, printed as a table, compared with an earlier report.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseEther } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  differenceTable,
  gasDifferences,
  gasTable,
  parseGasReport,
  parseThreshold,
} from '../../src/cli/commands/tables.ts'
import { createDevchain, type Devchain } from '../../src/devchain.ts'
import type { GasRow } from '../../src/project/gas/report.ts'
import { type Ask, callData, deploy, initCode, SENDER, send } from '../support/chain/deploy.ts'
import { compile, projectSources, writeProject } from '../support/solidity/solidity.ts'

const project = compile(projectSources(), { optimizer: { enabled: true } })
let folder: string
let chain: Devchain
let ask: Ask

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'devchain-gas-'))
  chain = await createDevchain({ artifacts: [writeProject(folder, 'foundry', project)] })
  await chain.artifactsRead()
  ask = (method, ...params) => chain.request({ method, params })
})

afterAll(async () => {
  await chain.close()
  rmSync(folder, { recursive: true })
})

async function rows(): Promise<readonly GasRow[]> {
  return (await ask('devchain_gasReport')) as readonly GasRow[]
}

describe('the gas report', () => {
  test('has calls and deployments of a project, reverted ones included', async () => {
    const rates = await deploy(ask, initCode(project, 'Rates'))
    const vault = await deploy(ask, initCode(project, 'Vault', [SENDER, 7n], { Rates: rates }))
    const deposit = {
      to: vault,
      value: '0xde0b6b3a7640000',
      data: callData(project, 'Vault', 'deposit', ['x']),
    }
    const snapshot = await ask('evm_snapshot')
    await send(ask, deposit)
    await send(ask, deposit)
    await ask('evm_revert', snapshot)
    await send(ask, deposit)
    await send(ask, { to: vault, value: '0x1' })
    await send(ask, { to: vault, data: callData(project, 'Vault', 'withdraw', [1n]) })
    // fails: its gas is left out
    await send(ask, { to: vault, data: callData(project, 'Vault', 'withdraw', [parseEther('50')]) })
    // of nobody's
    await send(ask, { to: SENDER, value: '0x1' })
    expect(gasTable(await rows())).toMatchInlineSnapshot(`
      "Contract  Function           Calls  Failed      Min  Average   Median      Max
      Rates     (deployment)           1       0  130,600  130,600  130,600  130,600
      Vault     (deployment)           1       0  523,194  523,194  523,194  523,194
                deposit(string)        3       0   36,850   59,650   71,050   71,050
                receive()              1       0   35,705   35,705   35,705   35,705
                withdraw(uint256)      1       1   42,538   42,538   42,538   42,538"
    `)
  })

  test('does not count transactions twice after a reorg', async () => {
    const before = await rows()
    await ask('devchain_reorg', { depth: 1 })
    expect(await rows()).toEqual(before)
  })
})

test('the gas report has a column of state gas once there is any, as under amsterdam', () => {
  const amounts = { min: 9, average: 9, median: 9, max: 9 }
  const row = { contract: 'Vault', kind: 'transaction', calls: 1, failed: 0, ...amounts } as const
  const rows = [
    { ...row, function: 'deposit(string)', state: 97_920 },
    { ...row, function: 'withdraw(uint256)' },
  ]
  expect(gasTable(rows)).toMatchInlineSnapshot(`
    "Contract  Function           Calls  Failed  Min  Average  Median  Max   State
    Vault     deposit(string)        1       0    9        9       9    9  97,920
              withdraw(uint256)      1       0    9        9       9    9       –"
  `)
})

describe('the gas report of internal calls', () => {
  test('has each call by another contract, without those that a proxy delegates', async () => {
    const inner = await createDevchain({ artifacts: [path.join(folder, 'out')], gasReport: true })
    await inner.artifactsRead()
    const request: Ask = (method, ...params) => inner.request({ method, params })
    const rates = await deploy(request, initCode(project, 'Rates'))
    const links = { Rates: rates }
    const vault = await deploy(request, initCode(project, 'Vault', [SENDER, 7n], links))
    const proxy = await deploy(request, initCode(project, 'Proxy', [vault]))
    const data = callData(project, 'Vault', 'withInterest', [100n, 5n])
    for (const to of [vault, proxy]) await send(request, { to, data })
    const tooHigh = callData(project, 'Vault', 'withInterest', [100n, 5_000_000n])
    await send(request, { to: vault, data: tooHigh })
    const before = await inner.gasReport()
    await request('devchain_reorg', { depth: 1 })
    expect(await inner.gasReport()).toEqual(before)
    expect(gasTable(before)).toMatchInlineSnapshot(`
      "Contract  Function                               Calls  Failed      Min  Average   Median      Max
      Proxy     (deployment)                               1       0  103,564  103,564  103,564  103,564
      Rates     (deployment)                               1       0  130,600  130,600  130,600  130,600
                withInterest(uint256,uint256) (inner)      2       1      520      520      520      520
      Vault     (deployment)                               1       0  523,194  523,194  523,194  523,194
                withInterest(uint256,uint256)              2       1   25,127   27,519   27,519   29,911"
    `)
    await inner.close()
  })
})

const row = (name: string, average: number): GasRow => ({
  contract: 'Vault',
  function: name,
  kind: 'transaction',
  calls: 1,
  failed: 0,
  min: average,
  average,
  median: average,
  max: average,
})

describe('gas-report --compare', () => {
  test('lists differences, worst first, and skips rows in only one report', () => {
    const now = [row('a()', 110), row('b()', 90), row('c()', 100), row('d()', 1), row('f()', 300)]
    const earlier = [
      row('a()', 100),
      row('b()', 100),
      row('c()', 100),
      row('e()', 1),
      row('f()', 100),
    ]
    const differences = gasDifferences(now, earlier)
    expect(differences.map((each) => [each.function, each.percent])).toEqual([
      ['f()', 200],
      ['a()', 10],
      ['b()', -10],
    ])
    expect(differenceTable(differences)).toMatchInlineSnapshot(`
      "Contract  Function  Was   Is    Change
      Vault     f()       100  300  +200.0 %
      Vault     a()       100  110   +10.0 %
      Vault     b()       100   90   −10.0 %"
    `)
    expect(differenceTable([])).toBe('no average changed')
  })

  test('lists a function that always fails now before all others', () => {
    const failing = { ...row('a()', 0), calls: 0, failed: 3 }
    const differences = gasDifferences([row('b()', 300), failing], [row('a()', 9), row('b()', 1)])
    expect(differences.map(({ percent }) => percent)).toEqual([Infinity, 29_900])
    expect(JSON.parse(JSON.stringify(differences))[0]).toMatchObject({ failed: 3, percent: null })
    expect(differenceTable(differences)).toMatchInlineSnapshot(`
      "Contract  Function  Was   Is        Change
      Vault     a()         9    –  always fails
      Vault     b()         1  300    +29900.0 %"
    `)
    // as it did before
    expect(gasDifferences([failing], [failing])).toEqual([])
  })

  test.each([
    ['{', /^x\.json is not valid JSON/],
    ['{}', /^x\.json: expected the output of devchain gas-report --json, got \{\}$/],
    ['[{"contract":"Vault"}]', /expected the output of devchain gas-report --json/],
  ])('refuses an invalid report: %s', (text, message) => {
    expect(() => parseGasReport(text, 'x.json')).toThrow(message)
  })

  test.each([
    ['5', 5],
    ['0.5', 0.5],
    ['5%', 5],
    ['5 %', 5],
  ])('accepts the threshold %s', (text, percent) => {
    expect(parseThreshold(text)).toBe(percent)
  })

  test.each(['', 'x', '-1', '5 %%'])('refuses the threshold %j', (text) => {
    expect(() => parseThreshold(text)).toThrow('expected a percentage such as 5 or 0.5')
  })
})
