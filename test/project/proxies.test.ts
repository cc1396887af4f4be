// Whose function a message calls where proxies stand before contracts, and which contract stands where code is alike.
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type Abi, encodeDeployData, encodeFunctionData, type Hex } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { GasRow } from '../../src/project/gas/report.ts'
import { callData, deploy, initCode, SENDER, send } from '../support/chain/deploy.ts'
import { type LoggedChain, startLogged } from '../support/chain/loggedchain.ts'
import { ROOT } from '../support/process/boot.ts'
import { type Compilation, compile, writeProject } from '../support/solidity/solidity.ts'

const OTHER = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8'
const ADMIN_SLOT = '0xb53127684a568b3173ae13b9f8a6016e243e63b6e8ee1178d6a717850b5d6103'
const PACKAGES = path.join(ROOT, 'node_modules/@openzeppelin')

let folder: string
let artifacts: string
let project: Compilation

beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'devchain-proxies-'))
  const content = readFileSync(path.join(ROOT, 'fixtures/project/Upgrades.sol'), 'utf8')
  const settings = { optimizer: { enabled: true }, metadata: { appendCBOR: false } }
  project = compile({ 'src/Upgrades.sol': { content } }, settings)
  artifacts = writeProject(folder, 'foundry', project)
})

afterAll(() => rmSync(folder, { recursive: true }))

interface Lab extends LoggedChain {
  readonly counter: string
  /** What a transaction or a call is called in the log, with what it returned. */
  readonly called: (request: object, method?: string) => Promise<string>
}

/** A chain that knows some contracts of the project. */
async function knowing(names: readonly string[], more: readonly string[] = []): Promise<Lab> {
  const place = mkdtempSync(path.join(folder, 'known-'))
  const out = path.join(place, 'out')
  mkdirSync(out)
  for (const name of names) {
    const artifact = path.join('Upgrades.sol', `${name}.json`)
    cpSync(path.join(artifacts, artifact), path.join(out, artifact))
  }
  for (const file of more) cpSync(path.join(PACKAGES, file), path.join(out, path.basename(file)))
  const chain = await startLogged({ artifacts: [out], gasReport: true })
  await chain.devchain.artifactsRead()
  const counter = await deploy(chain.ask, initCode(project, 'Counter'))
  const called = async (request: object, method = 'eth_call'): Promise<string> => {
    chain.lines()
    await chain.ask(method, request).catch(() => undefined)
    const line = chain.lines().find((each) => each.includes('1.0 ms') || each.includes(' → ')) ?? ''
    return line.replace(/^eth_call {2}1\.0 ms {2}/, '')
  }
  return { ...chain, counter, called }
}

const data = (contract: string, name: string, args: readonly unknown[] = []): Hex =>
  callData(project, contract, name, args)

async function trace(chain: Lab, request: object): Promise<readonly string[]> {
  const { transactionHash } = await send(chain.ask, request)
  const { lines } = (await chain.ask('devchain_traceTransaction', transactionHash)) as {
    readonly lines: readonly string[]
  }
  return lines
    .filter((line) => !line.startsWith('storage'))
    .map((line) => line.replace(/ · gas .*$/, ''))
}

/** `contract function calls/failed` of the gas report. */
async function gasRows({ ask }: Lab): Promise<readonly string[]> {
  const rows = (await ask('devchain_gasReport')) as readonly GasRow[]
  return rows
    .filter((row) => row.function !== '(deployment)')
    .map((row) => `${row.contract} ${row.function} ${row.kind} ${row.calls}/${row.failed}`)
}

describe('a function that a proxy has itself', () => {
  test('is shown as the proxy’s, even if the implementation has one of that name', async () => {
    await using chain = await knowing(['Counter', 'OwnedProxy'])
    const proxy = await deploy(chain.ask, initCode(project, 'OwnedProxy', [chain.counter]))
    expect(await chain.called({ to: proxy, data: data('Counter', 'owner') })).toBe(
      'OwnedProxy.owner() → 0xf39F…2266',
    )
    expect(await chain.called({ to: chain.counter, data: data('Counter', 'owner') })).toBe(
      'Counter.owner() → 0x0000…0001',
    )
    const upgrade = { to: proxy, data: data('OwnedProxy', 'upgradeTo', [chain.counter]) }
    expect(await trace(chain, upgrade)).toEqual([
      expect.stringMatching(/^OwnedProxy\.upgradeTo\(Counter@/),
    ])
    expect(await trace(chain, { to: proxy, data: data('Counter', 'increment', [5n]) })).toEqual([
      'Counter.increment(5)',
      '└─ Counter.increment(5) (delegatecall)',
    ])
    expect(await gasRows(chain)).toEqual([
      'Counter increment(uint256) transaction 1/0',
      'OwnedProxy upgradeTo(address) transaction 1/0',
    ])
  })

  test('is shown without a contract if the proxy has no artifact', async () => {
    await using chain = await knowing(['Counter'])
    chain.lines()
    const proxy = await deploy(chain.ask, initCode(project, 'OwnedProxy', [chain.counter]))
    expect(chain.lines().find((line) => line.includes(' → '))).toContain(
      ' → new proxy of Counter 0x',
    )
    expect(await chain.called({ to: proxy, data: data('Counter', 'owner') })).toMatch(
      /^0x\w{4}…\w{4} owner\(\) → 0xf39F…2266$/,
    )
    const lines = await trace(chain, {
      to: proxy,
      data: data('OwnedProxy', 'upgradeTo', [chain.counter]),
    })
    expect(lines).toEqual([expect.stringMatching(/^0x\w{4}…\w{4}\.upgradeTo\(Counter@/)])
    expect(await gasRows(chain)).toEqual([])
  })

  test('is the proxy’s for its admin, and the implementation’s for others', async () => {
    await using chain = await knowing(['Counter', 'AdminProxy'])
    const proxy = await deploy(chain.ask, initCode(project, 'AdminProxy', [chain.counter]))
    const owner = { to: proxy, data: data('Counter', 'owner') }
    expect(await chain.called({ ...owner, from: SENDER })).toBe('AdminProxy.owner() → 0xf39F…2266')
    expect(await chain.called({ ...owner, from: OTHER })).toBe('Counter.owner() → 0x0000…0001')
    expect(await trace(chain, { ...owner, from: OTHER })).toEqual([
      'Counter.owner()',
      '└─ Counter.owner() (delegatecall)',
    ])
    expect(await trace(chain, owner)).toEqual(['AdminProxy.owner()'])
    expect(await gasRows(chain)).toEqual([
      'AdminProxy owner() transaction 1/0',
      'Counter owner() transaction 1/0',
    ])
  })
})

describe('ether without data', () => {
  test('that a proxy passes on is counted once, as received by the implementation', async () => {
    await using chain = await knowing(['Counter', 'OwnedProxy'])
    const proxy = await deploy(chain.ask, initCode(project, 'OwnedProxy', [chain.counter]))
    expect(await trace(chain, { to: proxy, value: '0x1' })).toEqual([
      'Counter.receive() · value 1 wei',
      '└─ Counter.receive() (delegatecall)',
    ])
    expect(await gasRows(chain)).toEqual(['Counter receive() transaction 1/0'])
  })
})

describe('an unknown selector', () => {
  test('is shown as bytes, and not as a fallback function that the contract lacks', async () => {
    await using chain = await knowing(['Counter', 'Loose', 'OwnedProxy'])
    const loose = await deploy(chain.ask, initCode(project, 'Loose'))
    for (const to of [chain.counter, loose]) await send(chain.ask, { to, data: '0x12345678' })
    await send(chain.ask, { to: loose })
    expect(await gasRows(chain)).toEqual([
      'Counter 0x12345678 transaction 0/1',
      'Loose fallback() transaction 2/0',
    ])
  })

  test('that another contract has is not shown as the called contract’s', async () => {
    await using chain = await knowing(['Counter', 'OwnedProxy'])
    const upgrade = { to: chain.counter, data: data('OwnedProxy', 'upgradeTo', [OTHER]) }
    expect(await chain.called(upgrade)).toMatch(
      /^0x\w{4}…\w{4} upgradeTo\(0x7099…79C8\) ✗ Counter has no function 0x3659cfe6, /,
    )
    await send(chain.ask, upgrade)
    expect(await gasRows(chain)).toEqual([])
  })
})

describe('an OpenZeppelin contract outside the project', () => {
  const artifact = (name: string): { readonly abi: Abi; readonly bytecode: Hex } =>
    JSON.parse(
      readFileSync(path.join(PACKAGES, 'contracts/build/contracts', `${name}.json`), 'utf8'),
    )
  const creation = (name: string, args: readonly unknown[]): Hex =>
    encodeDeployData({ ...artifact(name), args: [...args] })

  test('is not named as an abstract contract with some of its functions', async () => {
    await using chain = await knowing(
      ['Counter'],
      [
        'contracts/build/contracts/Ownable.json',
        'contracts-upgradeable/build/contracts/OwnableUpgradeable.json',
      ],
    )
    const { ask, counter } = chain
    const start = data('Counter', 'increment', [0n])
    chain.lines()
    const proxy = await deploy(
      ask,
      creation('TransparentUpgradeableProxy', [counter, SENDER, start]),
    )
    const beacon = await deploy(ask, creation('UpgradeableBeacon', [counter, SENDER]))
    await deploy(ask, creation('BeaconProxy', [beacon, start]))
    const slot = (await ask('eth_getStorageAt', proxy, ADMIN_SLOT)) as string
    const admin = `0x${slot.slice(26)}`
    const abi = [...artifact('ProxyAdmin').abi]
    const upgrade = encodeFunctionData({
      abi,
      functionName: 'upgradeAndCall',
      args: [proxy, counter, '0x'],
    })
    await send(ask, { to: admin, data: upgrade })
    const said = chain.lines().filter((line) => /^ +0x\w+ → /.test(line))
    expect(said.map((line) => line.replace(/^.* → /, '').replace(/0x\w+/g, '0x'))).toEqual([
      'new proxy of Counter 0x',
      'new contract 0x',
      'new proxy of Counter 0x',
      expect.stringMatching(/^upgradeAndCall\(Counter@.*, Counter@.*, 0x\) 0x$/),
    ])
    expect(await trace(chain, { to: admin, data: upgrade })).toEqual([
      expect.stringMatching(/^0x\w{4}…\w{4}\.upgradeAndCall\(/),
      // the proxy answers its admin itself
      expect.stringMatching(/^└─ 0x\w{4}…\w{4}\.upgradeToAndCall\(/),
      expect.stringContaining('event 0xbc7c…'),
    ])
    expect(await gasRows(chain)).toEqual(['Counter increment(uint256) inner 2/0'])
  })
})

describe('contracts that differ only in immutables', () => {
  test('are distinguished by the transactions that created them', async () => {
    await using chain = await knowing(['FirstTwin', 'SecondTwin', 'TwinMaker'])
    const first = await deploy(chain.ask, initCode(project, 'FirstTwin', [5n]))
    const second = await deploy(chain.ask, initCode(project, 'SecondTwin'))
    const go = data('FirstTwin', 'go', [6n])
    const names = async (): Promise<readonly string[]> => [
      await chain.called({ to: first, data: go }),
      await chain.called({ to: second, data: go }),
    ]
    const expected = [
      'FirstTwin.go(6) → 5',
      expect.stringMatching(/^SecondTwin\.go\(6\) ✗ too much at src\/Upgrades\.sol:\d+$/),
    ]
    expect(await names()).toEqual(expected)
    await chain.ask('anvil_mine', '0x400')
    expect(await names()).toEqual(expected)
  })

  test('are guessed if another contract created them', async () => {
    await using chain = await knowing(['FirstTwin', 'SecondTwin', 'TwinMaker'])
    const { ask } = chain
    const maker = await deploy(ask, initCode(project, 'TwinMaker'))
    const { transactionHash } = await send(ask, { to: maker, data: data('TwinMaker', 'make') })
    const receipt = (await ask('eth_getTransactionReceipt', transactionHash)) as {
      readonly logs: readonly { readonly data: string }[]
    }
    const made = `0x${receipt.logs[0]?.data.slice(26)}`
    expect(await chain.called({ to: made, data: data('FirstTwin', 'go', [10n]) })).toMatch(
      /^~\w+Twin\.go\(10\) → 9$/,
    )
  })
})
