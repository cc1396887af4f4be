// The pictures beside the pages show what a command prints today. `npm run pictures` runs this file with PICTURES=write, which
// draws them anew.
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseEther } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Ask, callData, deploy, initCode, SENDER, send } from '../support/chain/deploy.ts'
import { type Booted, boot, ROOT, request, startProcess } from '../support/process/boot.ts'
import { compile, projectSources, writeProject } from '../support/solidity/solidity.ts'
import { terminalSvg, textOfSvg } from './terminalsvg.ts'

const COLORED = { FORCE_COLOR: '1' }
const WEEK = 604_800n
const project = compile(projectSources(), { optimizer: { enabled: true } })
let folder: string

beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'devchain-pictures-'))
  writeProject(folder, 'foundry', project)
})

afterAll(() => rmSync(folder, { recursive: true }))

const withdraw = (amount: string): string =>
  callData(project, 'Vault', 'withdraw', [parseEther(amount)])

/** A chain in the folder of the project, and a vault of the sender with 1 ether in it. */
async function startWithVault(
  ...more: string[]
): Promise<{ chain: Booted; ask: Ask; vault: string }> {
  const flags = ['--timestamp', '2026-01-01', '--clock', 'step:12', '--compat', 'geth']
  const chain = await boot([...flags, ...more], { cwd: folder, env: COLORED })
  await chain.says(/artifacts {2}/)
  const ask: Ask = (method, ...params) => request(chain.url, method, ...params)
  const rates = await deploy(ask, initCode(project, 'Rates'))
  const vault = await deploy(ask, initCode(project, 'Vault', [SENDER, WEEK], { Rates: rates }))
  await send(ask, { to: vault, value: '0xde0b6b3a7640000' })
  return { chain, ask, vault }
}

/** The lines of a text from the first one on that has a match. */
function linesFrom(first: RegExp, text: string): string {
  const lines = text.split('\n')
  return lines.slice(lines.findIndex((line) => first.test(line))).join('\n')
}

/** What a session prints: a devchain in the folder of a project, or a command beside it. */
const SESSIONS: Readonly<Record<string, () => Promise<string>>> = {
  'src/cli/terminal.svg': async () => {
    const { chain, ask, vault } = await startWithVault()
    const snapshot = await ask('evm_snapshot')
    const tooMuch = { from: SENDER, to: vault, data: withdraw('5') }
    await ask('eth_call', tooMuch).catch(() => undefined)
    await send(ask, { to: vault, data: withdraw('0.25') })
    await ask('evm_increaseTime', 86_400)
    await ask('evm_mine')
    await ask('eth_getBalance', vault, 'latest')
    await ask('evm_revert', snapshot)
    // at once, as on a busy machine those that come later are a line of their own
    await Promise.all(Array.from({ length: 12 }, () => ask('eth_blockNumber')))
    await chain.stop()
    return linesFrom(/evm_snapshot/, chain.stdout())
  },
  'src/project/trace.svg': async () => {
    const { chain, ask, vault } = await startWithVault()
    const { transactionHash } = await send(ask, { to: vault, data: withdraw('0.25') })
    const env = { ...COLORED, DEVCHAIN_URL: chain.url }
    const traced = startProcess(['trace', transactionHash], { cwd: folder, env })
    await traced.ended
    await chain.stop()
    return traced.stdout()
  },
  'src/project/coverage.svg': async () => {
    const { chain, ask, vault } = await startWithVault('--coverage', 'lcov.info', '--gas-report')
    await send(ask, { to: vault, data: withdraw('0.25') })
    await send(ask, { to: vault, data: callData(project, 'Vault', 'close') })
    await chain.stop()
    return linesFrom(/Contract /, chain.stdout())
  },
}

describe('the picture', () => {
  test.each(Object.entries(SESSIONS))('%s shows what the command prints', async (name, run) => {
    const file = path.join(ROOT, name)
    const svg = terminalSvg(`What devchain prints: ${path.basename(name, '.svg')}`, await run())
    if (process.env.PICTURES === 'write') writeFileSync(file, svg)
    expect(withoutTimes(textOfSvg(readFileSync(file, 'utf8')))).toBe(withoutTimes(textOfSvg(svg)))
    expect(statSync(file).size).toBeLessThan(150_000)
  })
})

/** How long a call took differs in each run. */
function withoutTimes(text: string): string {
  return text
    .replaceAll(/ +[\d,.]+ m?s(?= )/g, ' TIME')
    .replaceAll(/after [\d,.]+ m?s/g, 'after TIME')
}
