// Which contract a deployed code is: of the OpenZeppelin package every one, whatever it was deployed with.
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { Catalogue } from '../../src/project/code/catalogue.ts'
import { shapeOf } from '../../src/project/code/shape.ts'
import { read } from '../../src/project/reading/read.ts'
import type { AbiItem, ReadFile } from '../../src/project/reading/summary.ts'
import { ROOT } from '../support/process/boot.ts'
import {
  compile,
  contractNamed,
  projectSources,
  vaultSources,
} from '../support/solidity/solidity.ts'

const FOLDER = path.join(ROOT, 'node_modules/@openzeppelin/contracts/build/contracts')

interface Artifact {
  readonly contractName: string
  readonly bytecode: string
  readonly deployedBytecode: string
}

const all = readdirSync(FOLDER).map((name) => path.join(FOLDER, name))
const artifacts = all.map((file) => JSON.parse(readFileSync(file, 'utf8')) as Artifact)
const deployable = artifacts.filter(({ bytecode }) => bytecode !== '0x')

async function catalogueOf(files: readonly string[]): Promise<Catalogue> {
  const catalogue = new Catalogue()
  const items = new Map<string, AbiItem>()
  for (const news of read({ files, known: {} })) catalogue.add(news.files, items)
  return catalogue
}

let catalogue: Catalogue

beforeAll(async () => {
  catalogue = await catalogueOf(all)
})

/** Code with its immutables, links and metadata filled in from a source of bytes. */
function deployed(hex: string, byte: () => number): Buffer {
  const bytes = (count: number): string =>
    Buffer.from(Array.from({ length: count }, byte)).toString('hex')
  const linked = hex.slice(2).replace(/__.{38}/g, () => bytes(20))
  const filled = linked.replace(/7f0{64}/g, () => `7f${bytes(32)}`)
  return Buffer.from(
    filled.replace(/^730{40}/, () => `73${bytes(20)}`),
    'hex',
  )
}

/** The same code as a compiler makes of sources with other comments. */
function recommented(code: Buffer, byte: () => number): Buffer {
  const copy = Buffer.from(code)
  const key = Buffer.from('64697066735822', 'hex')
  for (let at = copy.indexOf(key); at >= 0; at = copy.indexOf(key, at + 1)) {
    for (let i = 9; i < 41; i++) copy[at + i] = byte()
  }
  return copy
}

const randomBytes = fc.integer({ min: 1, max: 2 ** 31 }).map((seed) => {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return (state >>> 16) & 0xff
  }
})

describe('the bytecode of an OpenZeppelin package', () => {
  test('belongs to many contracts', () => {
    expect(deployable.length).toBeGreaterThan(75)
    expect(artifacts.length).toBeGreaterThan(250)
  })

  test.each(deployable.map((each) => [each.contractName, each] as const))(
    'of %s is recognized with any immutables, links, metadata and arguments',
    (name, artifact) => {
      fc.assert(
        fc.property(randomBytes, fc.uint8Array({ maxLength: 200 }), (byte, args) => {
          const runtime = deployed(artifact.deployedBytecode, byte)
          expect(catalogue.runtime(runtime)).toMatchObject({ contract: { name }, isGuess: false })
          const changed = catalogue.runtime(recommented(runtime, byte))
          // some libraries differ in nothing but their metadata
          if (changed?.isGuess !== true) expect(changed).toMatchObject({ contract: { name } })
          const init = deployed(artifact.bytecode, byte)
          const created = catalogue.creation(Buffer.concat([init, args]))
          expect(created).toMatchObject({
            contract: { name },
            isGuess: false,
            argumentsAt: init.length,
          })
        }),
        { numRuns: 5, seed: 7 },
      )
    },
  )

  test('of another compilation is guessed by its functions, even with selectors that begin with zero', () => {
    const names = ['AccessManager', 'ERC6909Metadata', 'ERC6909TokenSupply']
    const found = artifacts.flatMap(({ contractName, deployedBytecode }) => {
      if (!names.includes(contractName)) return []
      const code = Buffer.from(`${deployedBytecode.slice(2)}ffffff`, 'hex')
      return [[contractName, catalogue.runtime(code)?.contract.name]]
    })
    expect(found).toEqual(names.map((name) => [name, name]))
  })

  test('without its artifact is only guessed as another contract’s, and marked so', async () => {
    const without = async (index: number): Promise<Catalogue> =>
      await catalogueOf(all.filter((_, i) => i % 3 !== index))
    const kept = await Promise.all([0, 1, 2].map(without))
    const wrong = artifacts.flatMap(({ contractName, bytecode, deployedBytecode }, i) => {
      if (bytecode === '0x') return []
      const code = deployed(deployedBytecode, () => 7)
      const match = kept[i % 3]?.runtime(code)
      const created = kept[i % 3]?.creation(deployed(bytecode, () => 7))
      return [match, created]
        .filter(
          (each) => each !== undefined && !each.isGuess && each.contract.name !== contractName,
        )
        .map((each) => `${contractName} is taken for ${each?.contract.name}`)
    })
    expect(wrong).toEqual([])
  })
})

/** A catalogue of contracts of a name, each in a file of its own. */
function withFiles(names: readonly (readonly [name: string, source: string])[]): Catalogue {
  const known = new Catalogue()
  const files: ReadFile[] = names.map(([name, source]) => ({
    path: `/${source}.json`,
    stamp: '',
    contracts: [
      {
        name,
        source,
        format: 'foundry',
        sourceId: 0,
        abi: [],
        creation: undefined,
        runtime: undefined,
      },
    ],
  }))
  known.add(files, new Map())
  return known
}

test.each([
  ['Vault.vy', 64, 'Vault'],
  ['Vault.vy', 63, undefined],
  ['Vault.sol', 64, undefined],
])('code of %s with %i bytes behind is of %s', (source, count, expected) => {
  const item = { kind: 'function', name: 'set', signature: 'set()', key: '0xb8e010de' } as const
  const code = { object: `5f3560e01c6360fe47b1${'5b'.repeat(20)}5f5ffd`, references: [] }
  const known = new Catalogue()
  const vault = { name: 'Vault', source, format: 'hardhat2', sourceId: undefined } as const
  const shapes = { creation: undefined, runtime: shapeOf(code) }
  const contracts = [{ ...vault, ...shapes, abi: [{ ...item, isPayable: false, json: '{}' }] }]
  known.add([{ path: 'Vault.json', stamp: '', contracts }])
  const immutables = '11'.repeat(count)
  const match = known.runtime(Buffer.from(code.object + immutables, 'hex'))
  expect(match?.contract.name).toBe(expected)
  expect(match?.isSame).toBe(expected && true)
})

describe('a contract name', () => {
  test('has its path if several contracts share it', () => {
    const same = withFiles([
      ['Token', 'src/Token.sol'],
      ['Token', 'lib/Token.sol'],
      ['Vault', 'src/Vault.sol'],
    ])
    expect(same.contracts.map((each) => same.nameOf(each))).toEqual([
      'Token (src/Token.sol)',
      'Token (lib/Token.sol)',
      'Vault',
    ])
  })

  test.each([false, true])(
    'of code that was compiled otherwise is a guess (viaIR: %s)',
    async (viaIR) => {
      const plain = compile(projectSources(), { optimizer: { enabled: true } })
      const settings = { optimizer: { enabled: true, runs: 1_000_000 }, viaIR }
      const other = compile(vaultSources(), settings)
      const catalogue = new Catalogue()
      const { Summarizer } = await import('../../src/project/reading/read.ts')
      const { contractsIn } = await import('../../src/project/reading/formats.ts')
      const summarizer = new Summarizer()
      const contracts = contractsIn(plain, 'plain')!.map((each) => summarizer.summaryOf(each))
      catalogue.add([{ path: '/plain.json', stamp: '', contracts }], new Map())
      const code = contractNamed(other, 'Vault').evm.deployedBytecode.object.replace(
        /__.{38}/g,
        '11'.repeat(20),
      )
      expect(catalogue.runtime(Buffer.from(code, 'hex'))).toMatchObject({
        contract: { name: 'Vault' },
        isGuess: true,
      })
    },
  )
})
