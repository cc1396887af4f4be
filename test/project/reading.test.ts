// Reading a project's artifacts: of every tool, whole or broken, now and when they change.
import { mkdirSync, mkdtempSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Address } from '../../src/core/hex.ts'
import { createDevchain, type Devchain, type DevchainOptions } from '../../src/devchain.ts'
import type { ProjectEvent } from '../../src/project/events.ts'
import type { Names } from '../../src/project/naming/names.ts'
import type { Project } from '../../src/project/project.ts'
import { artifactsBelow } from '../../src/project/reading/find.ts'
import { codeAt } from '../../src/state/world.ts'
import { deploy, initCode, SENDER } from '../support/chain/deploy.ts'
import {
  compile,
  contractNamed,
  deployableOf,
  type Layout,
  projectSources,
  writeProject,
} from '../support/solidity/solidity.ts'

const LAYOUTS: readonly Layout[] = ['foundry', 'hardhat2', 'hardhat3', 'truffle']
const PLACES = {
  foundry: './out',
  hardhat2: './artifacts',
  hardhat3: './artifacts',
  truffle: './build/contracts',
}

let folder: string
let events: ProjectEvent[]
let names: Names | undefined
let devchain: Devchain | undefined

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'devchain-reading-'))
  events = []
  names = undefined
})

afterEach(async () => {
  await devchain?.close()
  rmSync(folder, { recursive: true })
})

async function started(options: DevchainOptions = {}): Promise<Devchain> {
  const observer = {
    onArtifacts: (event: ProjectEvent) => events.push(event),
    onProject: (known: Project) => {
      names = known.names
    },
  }
  devchain = await createDevchain({ defaultGas: 'estimate', ...options }, { observer, folder })
  await devchain.artifactsRead()
  return devchain
}

const project = compile(projectSources(), { optimizer: { enabled: true } })

const ALL = deployableOf(project)

/** Writes an artifact that has the code of the vault under another name. */
function writeSafe(file: string): void {
  const { abi, evm } = contractNamed(project, 'Vault')
  const artifact = {
    contractName: 'Safe',
    _format: 'hh-sol-artifact-1',
    sourceName: 'src/Safe.sol',
    abi,
    bytecode: `0x${evm.bytecode.object}`,
    deployedBytecode: `0x${evm.deployedBytecode.object}`,
  }
  writeFileSync(file, JSON.stringify(artifact))
}

/** Deploys a vault, and says what it is taken for. */
async function nameOfVault({ request }: Devchain): Promise<string | undefined> {
  const ask = (method: string, ...params: unknown[]): Promise<unknown> =>
    request({ method, params })
  const rates = await deploy(ask, initCode(project, 'Rates'))
  const address = await deploy(ask, initCode(project, 'Vault', [SENDER, 7n], { Rates: rates }))
  const world = names!.world
  expect(codeAt(world, address as Address).length).toBeGreaterThan(0)
  return names?.nameOf(world, address as Address)
}

describe('a project folder', () => {
  test.each(LAYOUTS)('of %s is found and read', async (layout) => {
    writeProject(folder, layout, project)
    const chain = await started()
    expect(events).toEqual([{ event: 'artifacts', contracts: ALL, place: PLACES[layout] }])
    expect(await nameOfVault(chain)).toBe('Vault')
  })

  test('of Foundry with another artifacts folder is read there', async () => {
    writeProject(folder, 'foundry', project)
    writeFileSync(path.join(folder, 'foundry.toml'), "[profile.default]\nout = 'forged'\n")
    rmSync(path.join(folder, 'out'), { recursive: true })
    mkdirSync(path.join(folder, 'forged'))
    writeFileSync(path.join(folder, 'forged/Vault.json'), JSON.stringify(project.output))
    await started()
    expect(events).toEqual([{ event: 'artifacts', contracts: ALL, place: './forged' }])
  })

  test('also names older accounts than the cache of names holds', async () => {
    writeProject(folder, 'foundry', project)
    const chain = await started()
    const rates = await deploy(
      (method, ...params) => chain.request({ method, params }),
      initCode(project, 'Rates'),
    )
    const { world } = names!
    const named = (): string | undefined => names?.nameOf(world, rates as Address)
    expect(named()).toBe('Rates')
    for (let i = 1; i <= 2_500; i++) {
      names?.nameOf(world, `0x${i.toString(16).padStart(40, '0')}` as Address)
    }
    expect(named()).toBe('Rates')
  })

  test('without artifacts loads nothing and logs nothing', async () => {
    const chain = await started()
    expect([events, names]).toEqual([[], undefined])
    await chain.request({ method: 'eth_accounts' })
    expect(names).toBeUndefined()
  })

  test.each([
    ['foundry.toml', 'Foundry'],
    ['hardhat.config.ts', 'Hardhat'],
    ['truffle-config.js', 'Truffle'],
  ])('inside one with %s logs which folder to name', async (config, tool) => {
    writeFileSync(path.join(folder, config), '')
    const inner = path.join(folder, 'test/unit')
    mkdirSync(inner, { recursive: true })
    const observer = { onArtifacts: (event: ProjectEvent) => events.push(event) }
    devchain = await createDevchain({}, { observer, folder: inner })
    await devchain.artifactsRead()
    const flag = '--artifacts ../..'
    const hint = `a ${tool} project is in ../..; ${flag} reads its artifacts`
    expect(events).toEqual([{ event: 'artifacts', hint, flag }])
  })

  test('does not mention a project above its own repository', async () => {
    writeFileSync(path.join(folder, 'foundry.toml'), '')
    const inner = path.join(folder, 'other')
    mkdirSync(path.join(inner, '.git'), { recursive: true })
    const observer = { onArtifacts: (event: ProjectEvent) => events.push(event) }
    devchain = await createDevchain({}, { observer, folder: inner })
    await devchain.artifactsRead()
    expect(events).toEqual([])
  })

  test('that is named before it is compiled is read once it is', async () => {
    const place = path.join(folder, 'contracts')
    mkdirSync(place)
    writeFileSync(path.join(place, 'foundry.toml'), '')
    writeFileSync(path.join(place, 'package.json'), '{}')
    await started({ artifacts: [place] })
    expect(events).toEqual([])
    writeProject(place, 'foundry', project)
    const found = { event: 'artifacts', contracts: ALL, place: './contracts/out' }
    await expect.poll(() => events).toEqual([found])
  })

  test('is not read with noArtifacts', async () => {
    writeProject(folder, 'foundry', project)
    await started({ noArtifacts: true })
    expect([events, names]).toEqual([[], undefined])
  })

  test('is not read if other artifacts are named', async () => {
    writeProject(folder, 'foundry', project)
    const other = path.join(folder, 'other')
    writeProject(other, 'truffle', project)
    await started({ artifacts: [other] })
    expect(events).toEqual([
      { event: 'artifacts', contracts: ALL, place: './other/build/contracts' },
    ])
  })

  test('is read when it is first compiled', async () => {
    await started()
    writeProject(folder, 'hardhat3', project)
    await expect
      .poll(() => events)
      .toContainEqual({ event: 'artifacts', contracts: ALL, place: './artifacts' })
  })

  test('of Foundry with another artifacts folder is read when it is first compiled', async () => {
    writeFileSync(path.join(folder, 'foundry.toml'), "[profile.default]\nout = 'forged'\n")
    await started()
    mkdirSync(path.join(folder, 'forged'))
    writeFileSync(path.join(folder, 'forged/Vault.json'), JSON.stringify(project.output))
    const found = { event: 'artifacts', contracts: ALL, place: './forged' }
    const hint = {
      event: 'artifacts',
      hint: 'this Foundry project has no artifacts yet: run forge build, and devchain reads them',
      flag: 'forge build',
    }
    await expect.poll(() => events).toEqual([hint, found])
  })

  test('that is named before it exists is read once it does', async () => {
    const place = path.join(folder, 'far/away')
    await started({ artifacts: [place] })
    expect(events).toEqual([
      { event: 'artifacts', warning: expect.stringContaining('no such file') },
    ])
    mkdirSync(place, { recursive: true })
    writeFileSync(path.join(place, 'Vault.json'), JSON.stringify(project.output))
    const found = { event: 'artifacts', contracts: ALL, place: './far/away' }
    await expect.poll(() => events.at(-1)).toEqual(found)
  })
})

describe('changed artifacts', () => {
  test('change the names at once', async () => {
    const artifacts = writeProject(folder, 'foundry', project)
    const chain = await started()
    expect(await nameOfVault(chain)).toBe('Vault')
    writeSafe(path.join(artifacts, 'Vault.sol/Vault.json'))
    await expect.poll(() => events).toHaveLength(2)
    expect(await nameOfVault(chain)).toBe('Safe')
  })

  test('change the names after their folder was deleted and rebuilt', async () => {
    const artifacts = writeProject(folder, 'foundry', project)
    const chain = await started()
    rmSync(artifacts, { recursive: true })
    await expect.poll(() => events.at(-1)).toMatchObject({ contracts: 0 })
    writeProject(folder, 'foundry', project)
    await expect.poll(() => events.at(-1)).toMatchObject({ contracts: ALL })
    writeSafe(path.join(artifacts, 'Vault.sol/Vault.json'))
    await expect.poll(() => nameOfVault(chain)).toBe('Safe')
  })

  test('change the names after another folder replaced theirs', async () => {
    const artifacts = writeProject(folder, 'foundry', project)
    const chain = await started()
    renameSync(artifacts, path.join(folder, 'old'))
    const other = writeProject(path.join(folder, 'other'), 'foundry', project)
    writeSafe(path.join(other, 'Safe.json'))
    renameSync(other, artifacts)
    await expect.poll(() => events).toHaveLength(2)
    writeSafe(path.join(artifacts, 'Vault.sol/Vault.json'))
    await expect.poll(() => nameOfVault(chain)).toBe('Safe')
  })

  test('are logged by the names that differ, and not if written again unchanged', async () => {
    const artifacts = writeProject(folder, 'foundry', project)
    const chain = await started()
    writeProject(folder, 'foundry', project)
    await chain.artifactsReadAgain()
    expect(events).toHaveLength(1)
    writeSafe(path.join(artifacts, 'Vault.sol/Vault.json'))
    writeSafe(path.join(artifacts, 'Vault.sol/Other.json'))
    await chain.artifactsReadAgain()
    expect(events.slice(1)).toEqual([
      { event: 'artifacts', contracts: ALL + 1, place: './out', changed: ['Safe', 'Vault'] },
    ])
  })

  test('are not logged by a chain that is closed meanwhile', async () => {
    const artifacts = writeProject(folder, 'foundry', project)
    writeFileSync(path.join(artifacts, 'Broken.json'), '{')
    const onArtifacts = (event: ProjectEvent): void => {
      events.push(event)
      void devchain?.close()
    }
    devchain = await createDevchain({}, { observer: { onArtifacts }, folder })
    await devchain.artifactsRead()
    expect(events).toEqual([
      { event: 'artifacts', warning: expect.stringContaining('Broken.json') },
    ])
  })

  test('that are deleted are forgotten', async () => {
    const artifacts = writeProject(folder, 'foundry', project)
    const chain = await started()
    rmSync(path.join(artifacts, 'Vault.sol'), { recursive: true })
    await expect.poll(() => events.at(-1)).toMatchObject({ contracts: ALL - 1 })
    expect(await nameOfVault(chain)).toBeUndefined()
  })
})

describe('an unreadable artifact', () => {
  test('may be a folder that cannot be listed', async () => {
    const file = import.meta.filename
    const { files, skipped } = await artifactsBelow(file)
    expect(files).toEqual([])
    expect(skipped).toEqual([{ path: file, why: expect.stringMatching(/folder|ENOTDIR/) }])
    expect((await artifactsBelow(`${file}.gone`)).skipped).toEqual([])
  })

  test('is skipped with one warning that names it', async () => {
    const artifacts = writeProject(folder, 'foundry', project)
    writeFileSync(path.join(artifacts, 'Broken.json'), '{"abi": [')
    writeFileSync(path.join(artifacts, 'Foreign.json'), '{"version": 3}')
    writeFileSync(path.join(artifacts, 'Huge.json'), '')
    truncateSync(path.join(artifacts, 'Huge.json'), 70_000_000)
    const chain = await started()
    expect(events).toEqual([
      {
        event: 'artifacts',
        warning:
          'skipped in ./out: Broken.json (invalid JSON), Foreign.json (not an artifact), Huge.json (70 MB exceed the limit of 64 MB)',
      },
      { event: 'artifacts', contracts: ALL, place: './out' },
    ])
    expect(await nameOfVault(chain)).toBe('Vault')
  })

  test('is read once it is complete, without a second warning', async () => {
    const artifacts = writeProject(folder, 'foundry', project)
    writeFileSync(path.join(artifacts, 'Half.json'), '{"abi": [')
    await started()
    expect(events).toHaveLength(2)
    const { abi } = contractNamed(project, 'Coin')
    const whole = { abi, bytecode: { object: '0x00' }, deployedBytecode: { object: '0x00' } }
    writeFileSync(path.join(artifacts, 'Half.json'), JSON.stringify(whole))
    await expect
      .poll(() => events.at(-1))
      .toEqual({
        event: 'artifacts',
        contracts: ALL + 1,
        place: './out',
        changed: ['Half'],
      })
    expect(events).toHaveLength(3)
  })

  test.each([
    [
      'a folder that is not there',
      'nowhere',
      /cannot read the artifacts in .*nowhere: there is no such file/,
    ],
    [
      'a file that is no artifact',
      'package.json',
      /cannot read the artifacts in .*package.json: not an artifact/,
    ],
  ])('does not stop the chain: %s', async (_, name, warning) => {
    writeFileSync(path.join(folder, 'package.json'), '{"name": "x"}')
    const chain = await started({ artifacts: [path.join(folder, name)] })
    expect(events).toEqual([{ event: 'artifacts', warning: expect.stringMatching(warning) }])
    expect(await chain.request({ method: 'eth_blockNumber' })).toBe('0x0')
  })
})

describe('a single file', () => {
  test.each([
    ['an ABI', contractNamed(project, 'Vault').abi, 1],
    ['the answer to standard JSON', project.output, ALL],
    ['build information', { input: project.input, output: project.output }, ALL],
  ])('may hold %s', async (_, content, contracts) => {
    const file = path.join(folder, 'Vault.json')
    writeFileSync(file, JSON.stringify(content))
    const chain = await started({ abi: [file] })
    expect(events).toEqual([{ event: 'artifacts', contracts, place: './Vault.json' }])
    // an ABI alone knows no code
    expect(await nameOfVault(chain)).toBe(contracts === 1 ? '~Vault' : 'Vault')
  })

  test('is read again when it changes', async () => {
    const file = path.join(folder, 'Vault.json')
    writeFileSync(file, JSON.stringify(project.output))
    const chain = await started({ abi: [file] })
    expect(await nameOfVault(chain)).toBe('Vault')
    writeFileSync(file, '{"abi": [')
    const warning = 'skipped in .: Vault.json (invalid JSON)'
    await expect.poll(() => events.at(-1)).toEqual({ event: 'artifacts', warning })
    expect(await nameOfVault(chain)).toBe('Vault')
    writeSafe(path.join(folder, 'Safe.json'))
    renameSync(path.join(folder, 'Safe.json'), file)
    const found = { event: 'artifacts', contracts: 1, place: './Vault.json' }
    await expect.poll(() => events.at(-1)).toMatchObject(found)
    expect(await nameOfVault(chain)).toBe('Safe')
  })
})
