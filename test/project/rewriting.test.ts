// Lines and coverage while a compiler rewrites artifacts: whatever it has written so far, no reported place is wrong.
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createDevchain, type Devchain } from '../../src/devchain.ts'
import { type Ask, callData, deploy, initCode, send } from '../support/chain/deploy.ts'
import {
  type Compilation,
  compile,
  foundryFiles,
  hardhatFiles,
  type Settings,
} from '../support/solidity/solidity.ts'

/** A watch waits until the compiler is quiet. */

/** What a writer does next: a file with its content, or one that is removed. */
type Step = readonly [name: string, content: string | undefined]

const SOURCES: Readonly<Record<string, string>> = {
  'src/Aaa.sol':
    'contract Aaa {\n  uint256 public x;\n  function set(uint256 y) external { x = y; }\n}\n',
  'src/Bank.sol': `import {Base} from "./Base.sol";
import {Lib} from "./Lib.sol";
contract Bank is Base {
  mapping(address => uint256) public balance;
  error InsufficientBalance(uint256 want);
  function deposit() external payable {
    balance[msg.sender] += msg.value;
  }
  function withdraw(uint256 amount) external {
    if (balance[msg.sender] < amount) {
      revert InsufficientBalance(amount);
    }
    balance[msg.sender] -= amount;
  }
  function half(uint256 amount) external {
    balance[msg.sender] = Lib.half(amount);
  }
  function close() external onlyOwner {
    balance[msg.sender] = 0;
  }
}
`,
  'src/Base.sol': `contract Base {
  address owner = address(1);
  modifier onlyOwner() {
    require(owner == msg.sender, "not the owner");
    _;
  }
}
`,
  'src/Lib.sol': `library Lib {
  function half(uint256 amount) internal pure returns (uint256) {
    require(amount % 2 == 0, "odd");
    return amount / 2;
  }
}
`,
}

const EDITED = { ...SOURCES, 'src/Base.sol': `// a\n// b\n// c\n${SOURCES['src/Base.sol']}` }
const CHANGED = {
  ...SOURCES,
  'src/Lib.sol': `uint256 constant ODD = 1;\n${SOURCES['src/Lib.sol']!.replace('== 0', '!= ODD')}`,
}

/** A base without code: the indexes of Bank's map fit the sources of a compilation with `Barn` as well, and mean others. */
const DECOY = {
  'src/Bank.sol': SOURCES['src/Bank.sol']!.replace(
    'onlyOwner {',
    '{\n    require(msg.sender == address(1), "not the owner");',
  ),
  'src/Barn.sol': 'contract Barn {\n  uint256 public y;\n}\n',
  'src/Base.sol': 'contract Base {\n  event Opened();\n}\n',
  'src/Lib.sol': SOURCES['src/Lib.sol']!,
}

function compiled(
  sources: Readonly<Record<string, string>>,
  names: readonly string[] = Object.keys(sources),
  settings: Settings = {},
): Compilation {
  const chosen = names.map((name) => [name, { content: sources[name]! }])
  return compile(Object.fromEntries(chosen), settings)
}

const PART = ['src/Bank.sol', 'src/Base.sol', 'src/Lib.sol']
const WHOLE = compiled(SOURCES)

let folder: string
let chain: Devchain | undefined
let clock: number

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'devchain-rewriting-'))
  clock = 1_600_000_000
})

afterEach(async () => {
  await chain?.close()
  rmSync(folder, { recursive: true })
})

/** Writes a file, each a second after the one before. */
function take([name, content]: Step): void {
  const file = path.join(folder, name)
  if (content === undefined) {
    rmSync(file)
    return
  }
  mkdirSync(path.dirname(file), { recursive: true })
  writeFileSync(file, content)
  clock += 1
  utimesSync(file, clock, clock)
}

function sourceSteps(sources: Readonly<Record<string, string>>): readonly Step[] {
  return Object.entries(sources)
}

function steps(files: readonly (readonly [string, unknown])[]): readonly Step[] {
  return files.map(([name, value]) => [name, JSON.stringify(value)])
}

async function start(): Promise<void> {
  const coverage = path.join(folder, 'lcov.info')
  chain = await createDevchain({ coverage, accounts: 1 }, { folder })
  await chain.artifactsRead()
}

const ask: Ask = (method, ...params) => chain!.request({ method, params })

/** Uses a bank. @returns the reported places of its failures */
async function used(code: Compilation): Promise<readonly string[]> {
  const to = await deploy(ask, initCode(code, 'Bank'))
  const data = (name: string, ...args: readonly unknown[]): string =>
    callData(code, 'Bank', name, args)
  await send(ask, { to, value: '0x2', data: data('deposit') })
  await send(ask, { to, data: data('half', 4n) })
  const failing = [data('withdraw', 9n), data('half', 3n), data('close')]
  const stacks = await Promise.all(failing.map((each) => stackOf(to, each)))
  return stacks.flat()
}

async function stackOf(to: string, data: string): Promise<readonly string[]> {
  try {
    await ask('eth_call', { to, data })
  } catch (error) {
    const { solidityStack = [] } = error as { readonly solidityStack?: readonly string[] }
    return solidityStack.flatMap((line) => /^at (\S+ \(.+:\d+):\d+\)$/.exec(line)?.[1] ?? [])
  }
  throw new Error('the call did not fail')
}

type Lines = ReadonlyMap<string, string>

/** The counted lines of each file. */
function linesIn(lcov: string): Lines {
  const sections = lcov.split('end_of_record\n').slice(0, -1)
  return new Map(
    sections.map((text) => [/^SF:(.+)$/m.exec(text)![1]!, text.match(/^DA:.+$/gm)!.join(' ')]),
  )
}

/** The report for a code if the whole compilation is there. */
interface Right {
  readonly places: ReadonlySet<string>
  readonly lines: Lines
}

async function rightOf({ before, after, edits, now: code }: Case): Promise<Right> {
  for (const step of [...before, ...edits, ...after]) take(step)
  await start()
  const places = new Set(await used(code))
  const lines = linesIn((await chain!.coverage()).lcov)
  await chain!.close()
  clear()
  return { places, lines }
}

function clear(): void {
  for (const each of ['out', 'artifacts', 'cache', 'src']) {
    rmSync(path.join(folder, each), { recursive: true, force: true })
  }
}

/** Fails if a reported place is wrong; places may be missing. */
async function check(code: Compilation, { places, lines }: Right, state: string): Promise<number> {
  const reported = await used(code)
  for (const place of reported) expect(places, state).toContain(place)
  await checkCoverage(lines, state)
  return reported.length
}

async function checkCoverage(lines: Lines, state: string): Promise<void> {
  const { lcov, warning } = await chain!.coverage()
  for (const [file, counted] of linesIn(lcov)) {
    const isZero = !/,[1-9]/.test(counted)
    // code whose artifact is not written yet is nobody's
    if (isZero && warning !== undefined) continue
    expect(counted, `${state}: ${file}`).toBe(lines.get(file))
  }
}

/** Files in the orders that a compiler may write them in: its cache comes last. */
function orders(
  all: readonly Step[],
  isLast: (name: string) => boolean,
): readonly (readonly Step[])[] {
  const last = all.filter(([name]) => isLast(name))
  const files = all.filter(([name]) => !isLast(name))
  return [all, [...files.toReversed(), ...last]]
}

interface Case {
  readonly before: readonly Step[]
  /** In its order. */
  readonly after: readonly Step[]
  readonly isLast: (name: string) => boolean
  /** Sources that were edited before. */
  readonly edits: readonly Step[]
  readonly old: Compilation
  readonly now: Compilation
}

const isCache = (name: string): boolean => name.startsWith('cache/')
const OLD_ID = '2252745863afc120'
const NEW_ID = '96bcd344a5a586b1'

function editsIn(sources: Readonly<Record<string, string>>): readonly Step[] {
  return sourceSteps(sources).filter(([name]) => sources[name] !== SOURCES[name])
}

function foundryCase(
  sources: Readonly<Record<string, string>>,
  now: Compilation,
  [first, old]: readonly [Readonly<Record<string, string>>, Compilation] = [SOURCES, WHOLE],
): Case {
  return {
    before: [...sourceSteps(first), ...steps(foundryFiles(old, OLD_ID))],
    after: steps(foundryFiles(now, NEW_ID)),
    isLast: isCache,
    edits: sources === first ? [] : editsIn(sources),
    old,
    now,
  }
}

function hardhatCase(version: 2 | 3, sources: Readonly<Record<string, string>>): Case {
  const now = compiled(sources)
  return {
    before: [...sourceSteps(SOURCES), ...steps(hardhatFiles(WHOLE, version, OLD_ID))],
    after: steps(hardhatFiles(now, version, NEW_ID)),
    isLast: () => false,
    edits: editsIn(sources),
    old: WHOLE,
    now,
  }
}

const CASES: readonly (readonly [string, Case])[] = [
  [
    'forge compiles sources again whose indexes fit the old ones',
    foundryCase(DECOY, compiled(DECOY, PART), [DECOY, compiled(DECOY)]),
  ],
  ['forge compiles some sources again', foundryCase(SOURCES, compiled(SOURCES, PART))],
  ['forge compiles a source with new comments', foundryCase(EDITED, compiled(EDITED, PART))],
  ['forge compiles a source that was changed', foundryCase(CHANGED, compiled(CHANGED))],
  ['Hardhat 2 compiles a source with new comments', hardhatCase(2, EDITED)],
  ['Hardhat 3 compiles a source with new comments', hardhatCase(3, EDITED)],
]

describe.each(CASES)('while %s', (_, each) => {
  const { before, after, edits, isLast, old, now } = each

  test('a chain that starts has no wrong line or count, wherever the compiler is', async () => {
    const right = await rightOf(each)
    for (const [number, order] of orders(after, isLast).entries()) {
      for (let count = 0; count <= order.length; count++) {
        for (const step of [...before, ...edits, ...order.slice(0, count)]) take(step)
        for (const code of number === 0 ? [old, now] : [now]) {
          await start()
          const state = `order ${number}, ${count} files, ${code === old ? 'old' : 'new'} code`
          const reported = await check(code, right, state)
          if (code === now && count === order.length)
            expect(reported, state).toBe(right.places.size)
          await chain!.close()
        }
        clear()
      }
    }
  })

  test('a running chain has no wrong line or count, at the latest afterwards', async () => {
    const right = await rightOf(each)
    for (const order of orders(after, isLast)) {
      for (const step of before) take(step)
      await start()
      for (const step of [...edits, ...order]) {
        take(step)
        const to = await deploy(ask, initCode(now, 'Bank'))
        for (const name of ['withdraw', 'half', 'close']) {
          const args = name === 'close' ? [] : [9n]
          for (const place of await stackOf(to, callData(now, 'Bank', name, args))) {
            expect(right.places, step[0]).toContain(place)
          }
        }
      }
      // what is written in another order is known when there is a reason to look
      if (order === after) {
        await expect.poll(async () => new Set(await used(now))).toEqual(right.places)
      }
      const { lcov, warning } = await chain!.coverage()
      expect([...linesIn(lcov).keys()]).toEqual([...right.lines.keys()])
      expect(warning).toBeUndefined()
      await chain!.close()
      clear()
    }
  })
})

test('compiler output without its input has lines while the sources are those of its metadata', async () => {
  const output = { contracts: WHOLE.output.contracts, sources: WHOLE.output.sources }
  const edited = (sources: Readonly<Record<string, string>>): void => {
    for (const step of [...sourceSteps(sources), ...steps([['out.json', output]])]) take(step)
  }
  const places = async (): Promise<readonly string[]> => {
    chain = await createDevchain({ abi: [path.join(folder, 'out.json')], accounts: 1 }, { folder })
    await chain.artifactsRead()
    const found = await used(WHOLE)
    await chain.close()
    return found
  }
  edited(SOURCES)
  expect(await places()).toHaveLength(5)
  edited(Object.fromEntries(Object.entries(SOURCES).map(([name, text]) => [name, `\n\n${text}`])))
  expect(await places()).toEqual([])
})
