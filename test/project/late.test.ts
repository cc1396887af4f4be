// Reports and names where artifacts come late: after what they describe has run, or in place of others.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { gasTable } from '../../src/cli/commands/tables.ts'
import { createDevchain, type Devchain } from '../../src/devchain.ts'
import type { ProjectEvent } from '../../src/project/events.ts'
import { type Ask, callData, deploy, initCode, SENDER, send } from '../support/chain/deploy.ts'
import { assemble, deploying } from '../support/evm/bytecode.ts'
import { COMMAND, startProcess } from '../support/process/boot.ts'
import {
  type Compilation,
  compile,
  projectSources,
  writeProject,
} from '../support/solidity/solidity.ts'

const project = compile(projectSources(), { optimizer: { enabled: true } })

/** A contract before and after an edit: its functions are the same. */
const [before, after] = ['1', '2'].map((step) => {
  const functions = `function add(uint256 by) external { count += by * ${step}; }
  function take(uint256 by) external { count -= by * ${step}; }
  function reset() external { count = ${step}; }`
  const content = `contract Counter {\n  uint256 public count;\n  ${functions}\n}\n`
  return compile({ 'src/Counter.sol': { content } })
}) as [Compilation, Compilation]

let folder: string
let events: ProjectEvent[]
let chain: Devchain
const ask: Ask = (method, ...params) => chain.request({ method, params })

beforeEach(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'devchain-late-'))
  events = []
})

afterEach(async () => {
  await chain.close()
  rmSync(folder, { recursive: true })
})

async function start(): Promise<void> {
  const coverage = path.join(folder, 'lcov.info')
  const observer = { onArtifacts: (event: ProjectEvent) => events.push(event) }
  chain = await createDevchain({ gasReport: true, coverage }, { folder, observer })
  await chain.artifactsRead()
}

/** Deploys a counter, and calls it. */
async function count(compilation: Compilation): Promise<void> {
  const to = await deploy(ask, initCode(compilation, 'Counter'))
  for (const by of [1n, 2n]) {
    await send(ask, { to, data: callData(compilation, 'Counter', 'add', [by]) })
  }
}

const linesIn = (lcov: string): readonly string[] => lcov.match(/^(?:FNDA|DA):.*$/gm) ?? []

describe('a report', () => {
  test('has what ran before the project was compiled, once it is compiled', async () => {
    await start()
    const rates = await deploy(ask, initCode(project, 'Rates'))
    const vault = await deploy(ask, initCode(project, 'Vault', [SENDER, 7n], { Rates: rates }))
    const proxy = await deploy(ask, initCode(project, 'Proxy', [vault]))
    const data = callData(project, 'Vault', 'withInterest', [100n, 5n])
    for (const to of [vault, proxy]) await send(ask, { to, data })
    expect(await chain.gasSummary()).toMatchObject({
      rows: [],
      warning:
        'the gas report is empty: 5 transactions ran, but no artifacts were found (--artifacts names the folder of a project)',
    })
    expect(await chain.coverage()).toEqual({
      rows: [],
      lcov: '',
      warning:
        'the coverage report is empty: no artifacts were found (--artifacts names the folder of a project)',
    })
    writeProject(folder, 'foundry', project)
    const { rows, warning } = await chain.gasSummary()
    expect(gasTable(rows)).toMatchInlineSnapshot(`
      "Contract  Function                               Calls  Failed      Min  Average   Median      Max
      Proxy     (deployment)                               1       0  103,564  103,564  103,564  103,564
      Rates     (deployment)                               1       0  130,600  130,600  130,600  130,600
                withInterest(uint256,uint256) (inner)      2       0      520      520      520      520
      Vault     (deployment)                               1       0  523,194  523,194  523,194  523,194
                withInterest(uint256,uint256)              2       0   25,127   27,519   27,519   29,911"
    `)
    expect(warning).toBeUndefined()
    const { lcov } = await chain.coverage()
    expect(lcov).toContain('FNDA:2,Vault.withInterest\n')
    expect(lcov).toContain('FNDA:1,Vault.constructor\n')
  })

  test('has what ran of a source that was edited and compiled again', async () => {
    writeProject(folder, 'foundry', before)
    await start()
    await count(before)
    const first = linesIn((await chain.coverage()).lcov)
    await count(after)
    const early = (await chain.gasSummary()).rows.map((row) => `${row.contract} ${row.function}`)
    expect(early).toEqual(['Counter (deployment)', 'Counter add(uint256)', '~Counter add(uint256)'])
    writeProject(folder, 'foundry', after)
    const { rows } = await chain.gasSummary()
    expect(rows.map((row) => [row.contract, row.function, row.calls])).toEqual([
      ['Counter', '(deployment)', 2],
      ['Counter', 'add(uint256)', 4],
    ])
    expect(linesIn((await chain.coverage()).lcov)).toEqual(first)
  })

  test('has what ran before the artifacts came, though the source was compiled again before it', async () => {
    await start()
    await count(before)
    writeProject(folder, 'foundry', before)
    await chain.artifactsReadAgain()
    writeProject(folder, 'foundry', after)
    await chain.artifactsReadAgain()
    const { rows } = await chain.gasSummary()
    expect(rows.map((row) => [row.contract, row.function, row.calls])).toEqual([
      ['Counter', '(deployment)', 1],
      ['Counter', 'add(uint256)', 2],
    ])
  })

  test('has no row for transfers, even to a labeled account', async () => {
    await start()
    await ask('devchain_label', { [SENDER]: 'alice' })
    await send(ask, { to: SENDER, value: '0x1' })
    expect(await chain.gasSummary()).toMatchObject({ rows: [], warning: undefined })
  })

  test('says when artifacts have none of the code that ran', async () => {
    writeProject(folder, 'foundry', project)
    await start()
    await deploy(ask, initCode(before, 'Counter'))
    expect((await chain.gasSummary()).warning).toBe(
      'the gas report is empty: 1 transaction ran code without an artifact',
    )
  })

  test('keeps a limited number of calls of unknown code, and logs that once', async () => {
    await start()
    const hex = (code: Uint8Array): string => `0x${Buffer.from(code).toString('hex')}`
    const callee = await deploy(ask, hex(deploying(assemble('STOP'))) as `0x${string}`)
    // calls it with all selectors from 1 to 6,000
    const body = `0 loop: 1 ADD DUP1 224 SHL 0 MSTORE
      0 0 4 0 0 ${callee} GAS CALL POP
      DUP1 6000 GT @loop JUMPI STOP`
    const caller = await deploy(ask, hex(deploying(assemble(body))) as `0x${string}`)
    const gas = '0x1c9c380'
    expect((await send(ask, { to: caller, gas })).status).toBe('0x1')
    const warning =
      'the gas report is incomplete: too many functions, or too much code without an artifact'
    for (let i = 0; i < 2; i++)
      expect(await chain.gasSummary()).toMatchObject({ rows: [], warning })
    expect(events).toEqual([{ event: 'artifacts', warning }])
  })
})

describe('devchain exec', () => {
  const counter = callData(before, 'Counter', 'add', [1n])

  /** What a command of exec does: it compiles, where it does, and uses a counter. */
  function script(isCompiled: boolean): string {
    const compiles = `fs.cpSync('built/out', 'out', { recursive: true })`
    // the log waits for what is being read, though not longer than two seconds
    const read = `ask('devchain_gasReport', [])`
    return `const fs = require('node:fs')
      const ask = (method, params) => fetch(process.env.DEVCHAIN_URL, { method: 'POST', body: JSON.stringify(
        { id: 1, method, params }) }).then((reply) => reply.text())
      const send = (transaction) => ask('eth_sendTransaction', [{ from: '${SENDER}', gas: '0x4c4b40', ...transaction }])
      ${isCompiled ? compiles : ''}
      ${isCompiled ? read : 'Promise.resolve()'}.then(() => send({ data: '${initCode(before, 'Counter')}' }))
        .then(() => send({ to: '0x5fbdb2315678afecb367f032d93f642f64180aa3', data: '${counter}' }))`
  }

  /** Runs it in a clean checkout of a project. */
  async function ends(
    isCompiled: boolean,
    ...flags: readonly string[]
  ): Promise<readonly unknown[]> {
    const place = mkdtempSync(path.join(folder, 'checkout-'))
    writeProject(path.join(place, 'built'), 'foundry', before)
    writeFileSync(path.join(place, 'foundry.toml'), '')
    mkdirSync(path.join(place, 'src'))
    writeFileSync(
      path.join(place, 'src/Counter.sol'),
      before.input.sources['src/Counter.sol']!.content,
    )
    const all = ['exec', ...flags, '--gas-report', '--coverage', 'lcov.info']
    const command = ['--', process.execPath, '-e', script(isCompiled)]
    const { ended, stderr } = startProcess([...all, ...command], { cwd: place })
    return [await ended, stderr(), readFileSync(path.join(place, 'lcov.info'), 'utf8')]
  }

  test('names and counts calls of a command that compiles first', async () => {
    const [code, said, lcov] = await ends(true, '--log', 'always', '--coverage-min', '40')
    expect(said).toMatch(/→ new Counter\(\)[\s\S]*→ Counter\.add\(1\)/)
    expect(said).toMatch(/\nCounter +\(deployment\) +1 [\s\S]*\n +add\(uint256\) +1 /)
    expect(said).toMatch(/\nall files +33\.3 % \(1\/3\)/)
    expect(said).toMatch(
      /\ndevchain: exec: 33\.3 % \(1\/3\) of the lines are covered, less than the 40 % of --coverage-min\n$/,
    )
    expect(code).toBe(1)
    expect(lcov).toContain('FNDA:1,Counter.add\n')
    const [enough] = await ends(true, '--coverage-min', '33.3')
    expect(enough).toBe(0)
  })

  test('warns of empty reports, and fails with --coverage', async () => {
    const [code, said, lcov] = await ends(false)
    expect([code, lcov]).toEqual([0, ''])
    expect(said).toContain(
      '\nwarning: the gas report is empty: 2 transactions ran, but no artifacts were found (--artifacts names the folder of a project)\n',
    )
    expect(said).toContain(
      '\nwarning: the coverage report is empty: no artifacts were found (--artifacts names the folder of a project)\n',
    )
    const [refused, why] = await ends(false, '--coverage-min', '0')
    expect(refused).toBe(1)
    expect(why).toMatch(
      /\ndevchain: exec: the coverage report is empty, less than the 0 % of --coverage-min\n$/,
    )
  })

  test.each([
    ['the report is empty, but FILE is not', [{ contract: 'A', function: 'a()', average: 1 }]],
    ['FILE is an empty report', []],
  ])('fails when it compares an empty report: %s', async (sentence, rows) => {
    const earlier = path.join(folder, 'before.json')
    writeFileSync(earlier, JSON.stringify(rows))
    const compare = [COMMAND, 'gas-report', '--compare', earlier]
    const { ended, stdout } = startProcess(['exec', '--', process.execPath, ...compare])
    expect([await ended, stdout()]).toEqual([1, `${sentence.replace('FILE', earlier)}\n`])
  })

  test('accepts --coverage-min only with --coverage', async () => {
    const { ended, stderr } = startProcess(['exec', '--coverage-min', '80', '--', 'true'])
    expect([await ended, stderr()]).toEqual([2, 'devchain: --coverage-min needs --coverage FILE\n'])
  })
})
