// Calls within the arguments of a call, and contracts created through a factory, by name.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { encodeFunctionData, getContractAddress, type Hex, parseAbi } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { GasRow } from '../../src/project/gas/report.ts'
import { callData, deploy, initCode, SENDER, send } from '../support/chain/deploy.ts'
import { type LogForm, type LoggedChain, startLogged } from '../support/chain/loggedchain.ts'
import { ROOT } from '../support/process/boot.ts'
import {
  type Compilation,
  compile,
  contractNamed,
  writeProject,
} from '../support/solidity/solidity.ts'

const OTHER = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8'
const MULTICALL3 = '0xca11bde05977b3631167028862be2a173976ca11'
const FACTORY = '0x4e59b44847b379578588920ca78fbf26c0b4956c'

const MULTICALL = parseAbi([
  'function multicall(bytes[] calls)',
  'function multicall(uint256 deadline, bytes[] calls)',
  'function multicall(bytes32 previousBlockhash, bytes[] calls)',
])

let folder: string
let artifacts: string
let project: Compilation

beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'devchain-inner-'))
  const content = readFileSync(path.join(ROOT, 'fixtures/project/Many.sol'), 'utf8')
  project = compile({ 'src/Many.sol': { content } }, { optimizer: { enabled: true } })
  artifacts = writeProject(folder, 'foundry', project)
  // known by its ABI alone, as where a network has it
  rmSync(path.join(artifacts, 'Many.sol', 'Calls.json'))
})

afterAll(() => rmSync(folder, { recursive: true }))

interface Lab extends LoggedChain {
  readonly box: string
  /** What the log says of a call, without its method. */
  readonly called: (request: object, method?: string) => Promise<string>
  /** Whom the log says a transaction called. */
  readonly sent: (request: object) => Promise<string>
}

async function lab(form?: LogForm): Promise<Lab> {
  const chain = await startLogged({ artifacts: [artifacts], gasReport: true }, form)
  await chain.devchain.artifactsRead()
  const { ask, lines } = chain
  const box = await deploy(ask, initCode(project, 'Box', [1n]))
  const { object } = contractNamed(project, 'Calls').evm.deployedBytecode
  await ask('hardhat_setCode', MULTICALL3, `0x${object}`)
  const called = async (request: object, method = 'eth_call'): Promise<string> => {
    lines()
    await ask(method, request).catch(() => undefined)
    return lines()
      .join('\n')
      .replace(/^\w+ {2}1\.0 ms {2}/, '')
  }
  const sent = async (request: object): Promise<string> => {
    lines()
    await send(ask, request)
    return (
      lines()
        .find((line) => line.includes(' → '))
        ?.replace(/^.*? → /, '') ?? ''
    )
  }
  return { ...chain, box, called, sent }
}

const call = (name: string, args: readonly unknown[] = []): Hex =>
  callData(project, 'Box', name, args)
const set = (number: bigint): Hex => call('set', [number])
const multicall = (...args: readonly unknown[]): Hex =>
  encodeFunctionData({ abi: MULTICALL, functionName: 'multicall', args: args as never })
const aggregate = (name: string, ...args: readonly unknown[]): Hex =>
  callData(project, 'Calls', name, args)

describe('the log of a multicall to the contract itself', () => {
  test('names the functions, with each result', async () => {
    await using chain = await lab()
    const data = multicall([set(1n), call('write', ['hello']), call('number')])
    expect(await chain.sent({ to: chain.box, data })).toMatch(
      /^Box\.multicall\(\[set\(1\), write\("hello"\), number\(\)\]\) 0x/,
    )
    expect(await chain.called({ to: chain.box, data })).toBe(
      'Box.multicall([set(1), write("hello"), number()]) → [0x, 0x, 1]',
    )
  })

  test.each([
    [2n ** 40n, '1,099,511,627,776'],
    [`0x${'12'.repeat(32)}`, '0x1212…1212'],
  ])('names them after leading arguments: %s', async (first, text) => {
    await using chain = await lab()
    const data = multicall(first, [set(5n)])
    expect(await chain.called({ to: chain.box, data })).toContain(`multicall(${text}, [set(5)])`)
  })

  test('has up to eight calls, nested up to three deep', async () => {
    await using chain = await lab()
    const many = multicall(Array.from({ length: 20 }, (_, i) => set(BigInt(i))))
    expect(await chain.called({ to: chain.box, data: many })).toContain(
      'multicall([set(0), set(1), set(2), set(3), set(4), set(5), set(6), set(7), … 12 more])',
    )
    let deep = set(3n)
    for (let i = 0; i < 60; i++) deep = multicall([deep])
    expect(await chain.called({ to: chain.box, data: deep })).toMatch(
      /^Box\.multicall\(\[multicall\(\[multicall\(\[multicall\(\[0x\w{4}…\w{4} \([\d,]+ bytes\)\]\)\]\)\]\)\]\)/,
    )
  })

  test('shows unknown functions as bytes', async () => {
    await using chain = await lab()
    const data = multicall(['0x12345678', '0x'])
    expect(await chain.called({ to: chain.box, data })).toMatch(
      /^Box\.multicall\(\[0x12345678\(\), 0x\]\) ✗ Box has no function 0x12345678,/,
    )
    expect(await chain.called({ to: chain.box, data: data.slice(0, -64) })).toMatch(
      /^Box\.multicall\(…\) ✗ /,
    )
  })
})

describe('the log of a Multicall3 call', () => {
  test('names the functions of the targets, with each result or failure', async () => {
    await using chain = await lab()
    const { box: target } = chain
    const number = { target, allowFailure: true, callData: call('number') }
    const data = aggregate('aggregate3', [
      number,
      { ...number, callData: set(700n) },
      { target: OTHER, allowFailure: true, callData: `0xa9059cbb${'0'.repeat(128)}` },
      { target: OTHER, allowFailure: true, callData: '0x' },
      { target: OTHER, allowFailure: true, callData: '0x12345678' },
    ])
    expect(await chain.called({ to: MULTICALL3, data })).toBe(
      'Multicall3.aggregate3([Box.number(), Box.set(700), 0x7099…79C8.transfer(0x0000…0000, 0), 0x7099…79C8, ' +
        '0x7099…79C8.0x12345678]) → [1, ✗ TooMuch(number 700), 0x, 0x, 0x]',
    )
  })

  test.each([
    ['aggregate', [[{ target: '', callData: '0x8381f58a' }]], 'aggregate([Box.number()]) → [1]'],
    [
      'tryAggregate',
      [true, [{ target: '', callData: '0x8381f58a' }]],
      'tryAggregate(true, [Box.number()]) → [1]',
    ],
    [
      'aggregate3Value',
      [[{ target: OTHER, allowFailure: false, value: 10n ** 18n, callData: '0x' }]],
      'aggregate3Value([0x7099…79C8 value 1 ether]) → [0x]',
    ],
  ])('has the calls of %s', async (name, args, text) => {
    await using chain = await lab()
    const placed = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(placed)
      const isCall = typeof value === 'object' && value !== null && 'target' in value
      return isCall && value.target === '' ? { ...value, target: chain.box } : value
    }
    const data = aggregate(name, ...args.map(placed))
    const value = name === 'aggregate3Value' ? '0xde0b6b3a7640000' : '0x0'
    const said = await chain.called({ from: SENDER, to: MULTICALL3, data, value })
    expect(said.slice(0, `Multicall3.${text}`.length)).toBe(`Multicall3.${text}`)
  })

  test('is part of traces and of JSON, with arguments', async () => {
    await using chain = await lab({ json: true })
    const target = chain.box
    const data = aggregate('aggregate3', [{ target, allowFailure: false, callData: set(7n) }])
    const { transactionHash } = await send(chain.ask, { to: MULTICALL3, data })
    const { lines } = (await chain.ask('devchain_traceTransaction', transactionHash)) as {
      readonly lines: readonly string[]
    }
    expect(lines.map((line) => line.replace(/ · gas .*/, ''))).toEqual([
      'Multicall3.aggregate3([Box.set(7)])',
      '└─ Box.set(7)',
      expect.stringMatching(/^storage Box\.number 1 → 7$/),
    ])
    const events = chain.lines().map((line) => JSON.parse(line))
    const [event] = events.filter(({ hash }) => hash === transactionHash)
    const args = [{ name: 'number_', type: 'uint256', value: '7' }]
    expect(event.called.calls).toEqual([
      { to: target, contract: 'Box', name: 'set', signature: 'set(uint256)', args },
    ])
  })
})

describe('the log of a contract from the CREATE2 factory', () => {
  const salt: Hex = `0x${'1'.padStart(64, '0')}`
  const given = (code: Hex): Hex => `${salt}${code.slice(2)}`

  test('names it like one created by a transaction, and counts it', async () => {
    await using chain = await lab()
    const bytecode = initCode(project, 'Box', [5n])
    const request = { from: SENDER, to: FACTORY, data: given(bytecode) }
    const made = getContractAddress({ opcode: 'CREATE2', from: FACTORY, salt, bytecode })
    expect(await chain.called(request, 'eth_estimateGas')).toMatch(
      /^new Box\(5\) by 0x4e59…956C → [\d,]+ gas$/,
    )
    expect(await chain.sent(request)).toBe(
      `new Box(5) at ${made} by 0x4e59b44847b379578588920cA78FbF26c0B4956C`,
    )
    const rows = (await chain.ask('devchain_gasReport')) as readonly GasRow[]
    expect(
      rows
        .filter((row) => row.function === '(deployment)')
        .map(({ contract, kind, calls }) => `${contract} ${kind} ${calls}`),
    ).toEqual(['Box transaction 2', 'Box inner 1'])
  })

  test('has no name if there is no artifact', async () => {
    await using chain = await startLogged()
    const bytecode = initCode(project, 'Box', [5n])
    const made = getContractAddress({ opcode: 'CREATE2', from: FACTORY, salt, bytecode })
    await send(chain.ask, { to: FACTORY, data: given(bytecode) })
    expect(chain.lines().find((line) => line.includes(' → '))).toContain(
      ` → new contract at ${made} by 0x4e59b44847b379578588920cA78FbF26c0B4956C`,
    )
  })
})
