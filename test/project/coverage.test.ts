// Coverage by source map: how often lines, functions and branches ran, as lcov has it.
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseEther } from 'viem'
import { describe, expect, test } from 'vitest'
import { bytesFromHex } from '../../src/core/hex.ts'
import { createDevchain, type Devchain } from '../../src/devchain.ts'
import { Catalogue } from '../../src/project/code/catalogue.ts'
import { Coverage, type CoverageReport } from '../../src/project/coverage/coverage.ts'
import { CodeReading, Measure } from '../../src/project/coverage/measure.ts'
import { DetailReader, sourceOf } from '../../src/project/solidity/details.ts'
import { codeMapOf } from '../../src/project/solidity/sourcemap.ts'
import { type Ask, callData, deploy, initCode, SENDER, send } from '../support/chain/deploy.ts'
import { ROOT } from '../support/process/boot.ts'
import {
  type Compilation,
  compile,
  type Layout,
  projectSources,
  type Settings,
  writeProject,
} from '../support/solidity/solidity.ts'

const LAYOUTS: readonly Layout[] = ['foundry', 'hardhat2', 'hardhat3', 'truffle']

/** Code that is as it was written; and code that an optimizer has moved about. */
const COMPILERS: readonly (readonly [string, Settings])[] = [
  ['plain', {}],
  ['optimized', { optimizer: { enabled: true } }],
]

/** A chain beside a project, whose artifacts it has read. */
async function beside<T>(
  layout: Layout,
  project: Compilation,
  work: (ask: Ask, chain: Devchain, folder: string) => Promise<T>,
): Promise<T> {
  const folder = mkdtempSync(path.join(tmpdir(), 'devchain-coverage-'))
  const artifacts = [writeProject(folder, layout, project)]
  const coverage = path.join(folder, 'lcov.info')
  const chain = await createDevchain({ artifacts, coverage }, { folder })
  try {
    await chain.artifactsRead()
    return await work((method, ...params) => chain.request({ method, params }), chain, folder)
  } finally {
    await chain.close()
    rmSync(folder, { recursive: true })
  }
}

async function driveVault(ask: Ask, project: Compilation): Promise<void> {
  const rates = await deploy(ask, initCode(project, 'Rates'))
  const vault = await deploy(ask, initCode(project, 'Vault', [SENDER, 7n], { Rates: rates }))
  const data = (name: string, args: readonly unknown[]): string =>
    callData(project, 'Vault', name, args)
  const deposit = { to: vault, value: '0xde0b6b3a7640000', data: data('deposit', ['x']) }
  const snapshot = await ask('evm_snapshot')
  await send(ask, deposit)
  await ask('evm_revert', snapshot)
  await send(ask, deposit)
  await send(ask, { to: vault, value: '0x1' })
  await send(ask, { to: vault, data: data('withdraw', [1n]) })
  await send(ask, { to: vault, data: data('withdraw', [parseEther('50')]) })
  await ask('eth_call', { to: vault, data: data('withInterest', [5n, 6n]) })
}

/** The counts of an lcov file, read as its readers do. */
interface Section {
  readonly lines: ReadonlyMap<number, number>
  readonly branches: ReadonlyMap<number, readonly string[]>
  readonly functions: ReadonlyMap<string, number>
  readonly sums: Readonly<Record<string, number>>
}

function sectionsIn(lcov: string): ReadonlyMap<string, Section> {
  const sections = lcov.split('end_of_record\n').slice(0, -1)
  return new Map(sections.map((text) => [/^SF:(.+)$/m.exec(text)![1]!, sectionOf(text)]))
}

function sectionOf(text: string): Section {
  const branches = new Map<number, string[]>()
  const functions = new Map<string, number>()
  for (const [, line, taken] of text.matchAll(/^BRDA:(\d+),\d+,\d+,(-|\d+)$/gm)) {
    branches.set(Number(line), [...(branches.get(Number(line)) ?? []), taken!])
  }
  for (const [, count, name] of text.matchAll(/^FNDA:(\d+),(.+)$/gm)) {
    functions.set(name!, Number(count))
  }
  const lines = [...text.matchAll(/^DA:(\d+),(\d+)$/gm)]
  const sums = [...text.matchAll(/^(LF|LH|FNF|FNH|BRF|BRH):(\d+)$/gm)]
  return {
    lines: new Map(lines.map(([, line, count]) => [Number(line), Number(count)])),
    branches,
    functions,
    sums: Object.fromEntries(sums.map(([, name, sum]) => [name, Number(sum)])),
  }
}

function hitIn(counts: Iterable<number | string>): number {
  return [...counts].filter((count) => Number(count) > 0).length
}

describe.each(COMPILERS)('the coverage of %s code', (_, settings) => {
  test('is the same from the artifacts of every tool, with files that nothing reached', async () => {
    const project = compile(projectSources(), settings)
    for (const layout of LAYOUTS) {
      const { lcov } = await beside(layout, project, async (ask, chain) => {
        await driveVault(ask, project)
        return await chain.coverage()
      })
      await expect(lcov, layout).toMatchFileSnapshot('__snapshots__/vault.lcov.info')
    }
  })

  test('counts each line and each branch as often as it ran', async () => {
    const content = readFileSync(path.join(ROOT, 'fixtures/project/Covered.sol'), 'utf8')
    const project = compile({ 'src/Covered.sol': { content } }, settings)
    const { lcov } = await beside('hardhat3', project, async (ask, chain) => {
      await driveCovered(ask, project)
      return await chain.coverage()
    })
    const { lines, branches, functions } = sectionsIn(lcov).get('src/Covered.sol')!
    // its call is put where it would jump to
    const expected = content.replace(/ \/\/~(.*)$/gm, settings.optimizer ? '' : ' //=$1')
    const edited = expected.split('\n').map((line, i) => {
      const count = lines.get(i + 1)
      const ways = branches.get(i + 1)
      const counted =
        count === undefined ? '' : ` //= ${count}${ways ? ` [${ways.join(' ')}]` : ''}`
      return line.replace(/ \/\/=.*$/, '') + counted
    })
    expect(edited.join('\n')).toBe(expected)
    expect([...functions].map((each) => each.join(' '))).toEqual([
      'Answers.answer 3',
      'Base.limited 6',
      'Base.never 0',
      'Covered.constructor 1',
      'Covered.add 3',
      'Covered.put 3',
      'Covered.twice 3',
      'Covered.choose 3',
      'Covered.ask 3',
      'Covered.rounds 1',
      'Covered.low 2',
      'Covered.unused 0',
    ])
  })

  test('counts calls of internal functions, constructors and function pointers', async () => {
    const project = compile({ 'src/Kept.sol': { content: KEPT } }, settings)
    const { lcov } = await beside('foundry', project, async (ask, chain) => {
      const to = await deploy(ask, initCode(project, 'Kept', [3n]))
      for (const n of [1n, 2n]) {
        await send(ask, { to, data: callData(project, 'Kept', 'put', [n]) })
      }
      return await chain.coverage()
    })
    expect(lcov.split('\n').filter((line) => line.startsWith('FNDA'))).toEqual([
      'FNDA:1,Kept.constructor',
      'FNDA:2,Kept.put',
      'FNDA:4,Kept._set',
      'FNDA:1,Kept._two',
      'FNDA:3,Kept._pointed',
    ])
  })
})

test.each<Settings>([{}, { viaIR: true }])(
  'coverage counts empty clauses, and functions with modifiers once (%j)',
  async (settings) => {
    const project = compile({ 'src/Guarded.sol': { content: GUARDED } }, settings)
    const { lcov } = await beside('foundry', project, async (ask, chain) => {
      await expect(deploy(ask, initCode(project, 'Guarded', [1n]))).rejects.toThrow('failed')
      const to = await deploy(ask, initCode(project, 'Guarded', [5n]))
      for (const n of [1n, 4n, 5n]) {
        await send(ask, { to, data: callData(project, 'Guarded', 'tried', [n]) })
      }
      return await chain.coverage()
    })
    const { functions, branches } = sectionsIn(lcov).get('src/Guarded.sol')!
    expect(Object.fromEntries(functions)).toEqual({
      'Guarded.large': 8,
      'Guarded.even': 4,
      'Guarded.constructor': 2,
      'Guarded.put': 6,
      'Guarded.tried': 3,
    })
    expect(branches.get(23)).toEqual(['1', '2'])
    expect(branches.get(24)).toEqual(['1', '2'])
  },
)

test.each<Settings>([{}, { viaIR: true }])(
  'coverage counts an error of a modifier apart from the same error of a function (%j)',
  async (settings) => {
    const project = compile({ 'src/Limited.sol': { content: LIMITED } }, settings)
    const { lcov } = await beside('foundry', project, async (ask, chain) => {
      const to = await deploy(ask, initCode(project, 'Limited', []))
      for (const [name, n] of [
        ['put', 3n],
        ['put', 101n],
        ['only', 1n],
        ['only', 1n],
      ] as const) {
        await send(ask, { to, data: callData(project, 'Limited', name, [n]) })
      }
      return await chain.coverage()
    })
    const { branches, lines } = sectionsIn(lcov).get('src/Limited.sol')!
    expect([branches.get(7), lines.get(8), lines.get(10)]).toEqual([['1', '1'], 1, 1])
    expect([branches.get(16), lines.get(17)]).toEqual([['2', '0'], 2])
  },
)

const LIMITED = `// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;
contract Limited {
    uint256 public a;
    error Bad(uint256 x);
    modifier limited(uint256 x) {
        if (x > 100) {
            revert Bad(x);
        }
        a += 1;
        _;
    }
    function put(uint256 x) external limited(x) {
    }
    function only(uint256 x) external {
        if (msg.sender != address(this))
            revert Bad(0);
        a = x;
    }
}
`

const GUARDED = `// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;
contract Guarded {
    uint256 public a;
    modifier large(uint256 x) {
        require(x > 3);
        _;
    }
    modifier even(uint256 x) {
        if (x % 2 == 0) {
            _;
        } else {
            revert("odd");
        }
    }
    constructor(uint256 x) large(x) {
        a = x;
    }
    function put(uint256 x) public large(x) even(x) {
        a = x;
    }
    function tried(uint256 x) public {
        try this.put(x) {} catch { a = 1; }
        try this.put(x) { a = 2; } catch {}
    }
}
`

/** `_set` begins with a loop: it is entered less often than its first statement runs. */
const KEPT = `// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

contract Kept {
    uint256 public a;
    uint256 public b;
    function() internal pointer;

    constructor(uint256 x) {
        _set(x);
        _two();
        _set(x);
        pointer = x > 1 ? _pointed : _two;
        pointer();
    }

    function put(uint256 x) external {
        _set(x);
        _pointed();
    }

    function _set(uint256 x) internal {
        while (a < x) a++;
        while (a > x) a--;
    }

    function _two() internal {
        b = 2;
    }

    function _pointed() internal {
        b = 3;
    }
}
`

async function driveCovered(ask: Ask, project: Compilation): Promise<void> {
  const answers = await deploy(ask, initCode(project, 'Answers'))
  const to = await deploy(ask, initCode(project, 'Covered', [answers]))
  const data = (name: string, n: bigint): string => callData(project, 'Covered', name, [n])
  for (const n of [1n, 2n, 100n]) await send(ask, { to, data: data('add', n) })
  for (const n of [3n, 5n, 6n]) await send(ask, { to, data: data('put', n) })
  for (const n of [0n, 1n, 2n]) await ask('eth_call', { to, data: data('choose', n) })
  for (const n of [3n, 4n, 6n]) await send(ask, { to, data: data('ask', n) })
  await ask('eth_call', { to, data: data('rounds', 9n) })
  for (const n of [1n, 9n]) await ask('eth_call', { to, data: data('low', n) })
}

test('coverage counts a variable where its value is set, or where it begins as zero', () => {
  const text =
    'contract C { function f(bool b, uint) public { if (b) { uint v = 5; } uint w = 0; } }'
  // as Solidity 0.4 has it: v begins before the condition, and w has no other operation
  const code = bytesFromHex('0x6000600160095760055b600000')
  const parts = ['uint v', 'b)', 'if (b)', 'if (b)', '5', 'if (b)', 'uint w', 'function']
  const places = parts.map((each) => `${text.indexOf(each)}:${each.replace(/^b\)/, 'b').length}:0`)
  const measure = new Measure()
  const file = measure.file('C.sol', sourceOf('C.sol', text))
  const marks = new Map([
    [6, { count: 2, ends: 0 }],
    [9, { count: 3, ends: 0 }],
  ])
  const map = codeMapOf(places.join(';'), code)
  new CodeReading({ code, counts: { starts: 3, marks }, map, file: () => file }).read()
  const counts = file.functions.flatMap(({ statements }) =>
    statements.map(({ range, count }) => [text.slice(range.start, range.end), count]),
  )
  expect(counts).toEqual([
    ['b', 3],
    ['uint v = 5', 1],
    ['uint w = 0', 3],
  ])
})

describe('the lcov file', () => {
  const project = compile(projectSources())

  test('is valid: sums match, and branches and functions are on existing lines', async () => {
    const { lcov, rows } = await beside('foundry', project, async (ask, chain) => {
      await driveVault(ask, project)
      return await chain.coverage()
    })
    const sections = sectionsIn(lcov)
    expect([...sections.keys()]).toEqual(rows.map(({ file }) => file))
    expect(lcov).not.toMatch(/NaN|undefined|\n\n|-\d/)
    for (const [file, { lines, branches, functions, sums }] of sections) {
      const ways = [...branches.values()].flat()
      expect(sums, file).toEqual({
        LF: lines.size,
        LH: hitIn(lines.values()),
        FNF: functions.size,
        FNH: hitIn(functions.values()),
        BRF: ways.length,
        BRH: hitIn(ways),
      })
      for (const line of branches.keys()) expect(lines.has(line), `${file}:${line}`).toBe(true)
      expect([...lines.keys()], file).toEqual([...lines.keys()].sort((a, b) => a - b))
    }
  })

  test('has conditions on their own lines', async () => {
    const content = `contract Spread {
  function go(uint256 a) external {
    uint256 n;
    if (
      a > 1
    ) n = 1;
    else if (
      a > 0
    ) n = 2;
    while (
      n < 2
    ) n++;
    do n++; while (
      n < 3
    );
    try
      this.go(0)
    { n = 0; } catch { n = 4; }
    assembly {
      if
        gt(n, 5)
      { n := 0 }
    }
  }
}
`
    const spread = compile({ 'src/Spread.sol': { content } })
    const { lcov } = await beside('foundry', spread, async (ask, chain) => {
      await deploy(ask, initCode(spread, 'Spread'))
      return await chain.coverage()
    })
    const { lines, branches } = sectionsIn(lcov).get('src/Spread.sol')!
    expect([...lines.keys()]).toEqual([2, 3, 4, 6, 7, 9, 10, 12, 13, 16, 18, 20, 22])
    expect([...branches.keys()]).toEqual([4, 7, 16, 20])
  })

  test('is written into a new folder when the chain closes, or the error names it', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'devchain-coverage-'))
    const file = path.join(folder, 'reports/lcov.info')
    const artifacts = [writeProject(folder, 'foundry', project)]
    const chain = await createDevchain({ artifacts, coverage: file }, { folder })
    await driveVault((method, ...params) => chain.request({ method, params }), project)
    await chain.close()
    expect(readFileSync(file, 'utf8')).toContain('FNDA:2,Vault.withdraw\n')
    const lost = await createDevchain({ coverage: path.join(file, 'lcov.info') }, { folder })
    await expect(lost.close()).rejects.toThrow(/ENOTDIR|EEXIST/)
    rmSync(folder, { recursive: true })
  })
})

describe('coverage', () => {
  const project = compile(projectSources())

  /** How often the functions of Vault were entered. */
  async function entered(chain: Devchain): Promise<Readonly<Record<string, number>>> {
    const report: CoverageReport = await chain.coverage()
    return Object.fromEntries(sectionsIn(report.lcov).get('src/Vault.sol')!.functions)
  }

  test('counts calls and mined transactions, not estimates or trial runs', async () => {
    await beside('foundry', project, async (ask, chain) => {
      const rates = await deploy(ask, initCode(project, 'Rates'))
      const vault = await deploy(ask, initCode(project, 'Vault', [SENDER, 7n], { Rates: rates }))
      const close = { from: SENDER, to: vault, data: callData(project, 'Vault', 'close') }
      const counted = async (): Promise<number | undefined> => (await entered(chain))['Vault.close']
      await ask('eth_estimateGas', close)
      await ask('eth_createAccessList', close)
      await ask('debug_traceCall', close, 'latest', { tracer: 'callTracer' })
      expect(await counted()).toBe(0)
      await ask('eth_call', close)
      await ask('eth_callMany', [{ transactions: [close, close] }], { blockNumber: 'latest' })
      expect(await counted()).toBe(3)
      await ask('evm_setAutomine', false)
      const hash = await ask('eth_sendTransaction', { ...close, gas: '0x30d40' })
      await ask('eth_getBlockByNumber', 'pending', false)
      expect(await counted()).toBe(3)
      await ask('evm_mine')
      expect(await counted()).toBe(4)
      await ask('debug_traceTransaction', hash, { tracer: 'callTracer' })
      await ask('devchain_traceTransaction', hash)
      expect(await counted()).toBe(4)
    })
  })

  test('includes what ran before the artifacts were there', async () => {
    const chain = await createDevchain({ coverage: path.join(import.meta.filename, 'lcov.info') })
    const ask: Ask = (method, ...params) => chain.request({ method, params })
    await driveVault(ask, project)
    await ask('devchain_addArtifacts', project)
    expect(await entered(chain)).toMatchObject({ 'Vault.withdraw': 2, 'Vault.constructor': 1 })
    const { lcov, files } = (await ask('devchain_coverage')) as Record<string, unknown>
    expect(lcov).toContain('SF:src/Vault.sol\n')
    expect(files).toContainEqual({
      file: 'src/Vault.sol',
      lines: { hit: 24, found: 30 },
      functions: { hit: 8, found: 10 },
      branches: { hit: 5, found: 10 },
    })
    await expect(chain.close()).rejects.toThrow(/ENOTDIR|EEXIST/)
  })

  test.each(LAYOUTS)('leaves out a source that cannot be read (%s)', async (layout) => {
    await beside(layout, project, async (ask, chain, folder) => {
      await deploy(ask, initCode(project, 'Coin', [5n]))
      const source = path.join(folder, 'src/Coin.sol')
      rmSync(source)
      mkdirSync(source)
      await chain.artifactsReadAgain()
      const files = (await chain.coverage()).rows.map(({ file }) => file)
      expect(files).toContain('src/Vault.sol')
      expect(files).not.toContain('src/Coin.sol')
    })
  })

  test('is off without --coverage, and no run is watched', async () => {
    const chain = await createDevchain()
    expect(chain.node.chain.execution.callTracer).toBeUndefined()
    await expect(chain.coverage()).rejects.toThrow('start the chain with --coverage FILE')
    await chain.close()
  })
})

describe('coverage of a transaction', () => {
  test('counts once after a reorg, and again if it is sent again after a revert', async () => {
    const project = compile(projectSources())
    await beside('foundry', project, async (ask, chain) => {
      await driveVault(ask, project)
      const { lcov } = await chain.coverage()
      expect(lcov).toContain('FNDA:')
      await ask('devchain_reorg', { depth: 3 })
      await ask('evm_mine')
      expect(await ask('eth_pendingTransactions')).toEqual([])
      expect((await chain.coverage()).lcov).toBe(lcov)
      const before = await ask('evm_snapshot')
      const vault = initCode(project, 'Vault', [SENDER, 7n], { Rates: SENDER })
      const address = await deploy(ask, vault)
      const once = (await chain.coverage()).lcov
      await ask('evm_revert', before)
      expect(await deploy(ask, vault)).toBe(address)
      expect((await chain.coverage()).lcov).not.toBe(once)
    })
  })
})

describe('coverage of unknown code', () => {
  /** A run of a code of its own. */
  const ran = (number: number) => ({
    code: Uint8Array.from([0x5f, number >> 8, number & 255]),
    isCreation: false,
    starts: 1,
    marks: new Uint32Array(),
  })
  const empty =
    'the coverage report is empty: no artifacts were found (--artifacts names the folder of a project)'
  const cut = 'coverage is incomplete: too many contracts ran'

  test.each([
    [2_000, empty, []],
    [2_001, cut, [cut]],
  ])('is kept for a later artifact: of %i codes it reports %s', async (count, warning, logged) => {
    const warnings: string[] = []
    const warn = (text: string): void => void warnings.push(text)
    const catalogue = new Catalogue()
    const details = new DetailReader(catalogue, () => undefined)
    const coverage = new Coverage({ catalogue, details, folder: tmpdir(), warn })
    // those that were kept are the same ones whenever they run
    for (let i = 0; i < 3; i++) coverage.take(Array.from({ length: count }, (_, n) => ran(n)))
    expect((await coverage.report()).warning).toBe(warning)
    expect(warnings).toEqual(logged)
  })
})
