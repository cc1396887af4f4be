// The artifacts of a project with two chains behind one front: read once, used by each chain on its own.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Backend } from '../../src/app/backend.ts'
import { type Front, openFront } from '../../src/app/front.ts'
import { readDevchainOptions } from '../../src/app/settings.ts'
import type { Address } from '../../src/core/hex.ts'
import type { ProjectEvent } from '../../src/project/events.ts'
import { Summarizer } from '../../src/project/reading/read.ts'
import { type Ask, callData, deploy, initCode, send } from '../support/chain/deploy.ts'
import { compile, projectSources, writeProject } from '../support/solidity/solidity.ts'
import { call, post } from '../support/wire/testserver.ts'

const project = compile(projectSources(), { optimizer: { enabled: true } })

let folder: string
let front: Front
let alice: Backend
let events: (readonly [chain: string, event: ProjectEvent])[]

beforeEach(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'devchain-chains-'))
  events = []
  const observerOf = (chain: string): { onArtifacts: (event: ProjectEvent) => void } => ({
    onArtifacts: (event) => events.push([chain, event]),
  })
  const observer = { ...observerOf('first'), ofChain: observerOf }
  const coverage = path.join(folder, 'lcov.info')
  const settings = readDevchainOptions({ port: 0, coverage })
  front = await openFront(settings, { observer, folder })
  await front.chains.create({ name: 'alice' })
  alice = front.chains.at('/alice')!.chain as Backend
})

afterEach(async () => {
  await front.close()
  rmSync(folder, { recursive: true })
  vi.restoreAllMocks()
})

function askOf(backend: Backend): Ask {
  return (method, ...params) => backend.request(method, params)
}

test('two chains of one process read a project’s artifacts once', async () => {
  writeProject(folder, 'foundry', project)
  const summaryOf = vi.spyOn(Summarizer.prototype, 'summaryOf')
  await front.artifacts.refresh()
  await Promise.all([front.first.project.coverage(), alice.project.gasReport()])
  const names = summaryOf.mock.calls.map(([{ source, name }]) => `${source}:${name}`)
  expect(names).toContain('src/Vault.sol:Vault')
  expect(names).toEqual([...new Set(names)])
  expect(events.map(([chain, { event }]) => [chain, event])).toEqual([['first', 'artifacts']])
})

test('two chains of one process have separate names, labels and gas, and one coverage', async () => {
  const [ask, askAlice] = [askOf(front.first), askOf(alice)]
  const rates = await deploy(ask, initCode(project, 'Rates'))
  const other = await deploy(askAlice, initCode(project, 'NoEther', [1n]))
  expect(other).toBe(rates)
  await send(askAlice, { to: other, data: callData(project, 'NoEther', 'set', [2n]) })
  writeProject(folder, 'foundry', project)
  await front.artifacts.refresh()
  const projects = [front.first, alice].map(({ project: door }) => door)
  const namesOf = (address: string): readonly (string | undefined)[] =>
    projects.map(({ project: { names } = {} }) => names?.nameOf(names.world, address as Address))
  expect(namesOf(rates)).toEqual(['Rates', 'NoEther'])
  await askAlice('devchain_label', { [rates]: 'mine' })
  expect(namesOf(rates)).toEqual(['Rates', 'mine'])
  await askAlice('devchain_label', { [rates]: '' })
  const gas = await Promise.all(projects.map((each) => each.gasReport()))
  expect(gas.map(({ rows }) => rows.map((row) => [row.contract, row.function, row.calls]))).toEqual(
    [
      [['Rates', '(deployment)', 1]],
      [
        ['NoEther', '(deployment)', 1],
        ['NoEther', 'set(uint256)', 1],
      ],
    ],
  )
  const coverage = await Promise.all(projects.map((each) => each.coverage()))
  const hits = (name: string): readonly unknown[] =>
    coverage.map(({ lcov }) => new RegExp(`FNDA:(\\d+),${name}\\n`).exec(lcov)?.[1])
  expect(hits('NoEther.set')).toEqual(['1', '1'])
  // what a chain counted stays when it is dropped
  await front.chains.drop('alice')
  const { rows } = await front.gasSummary()
  expect(rows.map((row) => [row.contract, row.function, row.calls])).toEqual([
    ['NoEther', '(deployment)', 1],
    ['NoEther', 'set(uint256)', 1],
    ['Rates', '(deployment)', 1],
  ])
})

test.each([0, 2])(
  'the gas report counts chains that were dropped before artifacts were read (--threads %d)',
  async (threads) => {
    writeProject(folder, 'foundry', project)
    const settings = readDevchainOptions({ port: 0, threads, gasReport: true })
    const other = await openFront(settings, { folder })
    const { url } = await other.listen()
    const over = (path: string): Ask => {
      return async (method, ...params) => {
        const reply = (await post(url + path, call(1, method, params))) as { result: unknown }
        return reply.result
      }
    }
    for (const path of ['', '/1', '/2', '/3']) await deploy(over(path), initCode(project, 'Rates'))
    // of the thread that has no other chain
    await over('')('devchain_dropChain', '2')
    await deploy(over('/4'), initCode(project, 'Rates'))
    const { rows } = await other.gasSummary()
    expect(rows.map((row) => [row.contract, row.function, row.calls])).toEqual([
      ['Rates', '(deployment)', 5],
    ])
    await other.close()
  },
)

test('artifacts that one chain adds by RPC name contracts on all chains', async () => {
  const address = await deploy(askOf(front.first), initCode(project, 'Rates'))
  await askOf(alice)('devchain_addArtifacts', project)
  const { names } = await front.first.project.open()
  expect(names.nameOf(names.world, address as Address)).toBe('Rates')
})
