// Every way to fail, beside what Hardhat 2.29.1 says of the same requests (recorded in fixtures/project): the same places in the
// source, or a better one with a reason.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createDevchain, type Devchain, type RpcError } from '../../src/devchain.ts'
import type { Ask } from '../support/chain/deploy.ts'
import { ROOT } from '../support/process/boot.ts'
import { compile, projectSources, writeProject } from '../support/solidity/solidity.ts'
import { type Failing, failuresOn } from './failing.ts'

interface Recorded {
  readonly message: string
  readonly stack: readonly string[]
}

const hardhat: Readonly<Record<string, Recorded>> = JSON.parse(
  readFileSync(path.join(ROOT, 'fixtures/project/hardhat-2.29.1.json'), 'utf8'),
)

/** Where another place is better. */
const BETTER: Readonly<Record<string, readonly [places: readonly string[], why: string]>> = {
  'tryDecode 0x1234': [
    ['src/Failures.sol:263'],
    'abi.decode is no function of the user’s: Hardhat has the line twice, and could not infer the reason',
  ],
  'an argument is no address': [
    ['src/Failures.sol:276'],
    'the function whose argument it is, where Hardhat has the contract, and could not infer the reason',
  ],
}

const project = compile(projectSources())
let folder: string
let chain: Devchain
let failing: readonly Failing[]
const stacks: Record<string, readonly string[] | undefined> = {}

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'devchain-failures-'))
  const artifacts = writeProject(folder, 'foundry', project)
  chain = await createDevchain({ defaultGas: 'estimate', artifacts: [artifacts] })
  await chain.artifactsRead()
  const ask: Ask = (method, ...params) => chain.request({ method, params })
  failing = await failuresOn(ask, project)
  for (const { name, request } of failing) {
    try {
      await ask('eth_call', { gas: '0x4c4b40', ...request })
    } catch (error) {
      stacks[name] = (error as RpcError).solidityStack
    }
  }
})

afterAll(async () => {
  await chain.close()
  rmSync(folder, { recursive: true })
})

/** `src/Vault.sol:45` of each line that has a place. */
function placesIn(lines: readonly string[]): string[] {
  return lines.flatMap((line) => /\((?:about )?([^():]+:\d+)/.exec(line)?.[1] ?? [])
}

test('the failure cases are those of the Hardhat project', () => {
  expect(failing.map(({ name }) => name)).toEqual(Object.keys(hardhat))
  expect(failing.length).toBeGreaterThan(50)
})

test.each(Object.keys(hardhat))('%s fails at the same line as in Hardhat', (name) => {
  const [, ...stack] = stacks[name] ?? []
  const expected = BETTER[name]?.[0] ?? placesIn(hardhat[name]?.stack ?? [])
  expect(placesIn(stack)).toEqual(expected)
})

test('reasons and stacks are printed as in the snapshot', () => {
  const lines = Object.entries(stacks).flatMap(([name, said = []]) => [
    name,
    ...said.map((each) => `  ${each}`),
    '',
  ])
  expect(lines.join('\n')).toMatchSnapshot()
})
