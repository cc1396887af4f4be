// A transaction as a tree of calls with names: as a method, in the log, and as a command.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseEther } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Ask, callData, deploy, initCode, SENDER, send } from '../support/chain/deploy.ts'
import { startLogged } from '../support/chain/loggedchain.ts'
import {
  type Compilation,
  compile,
  projectSources,
  writeProject,
} from '../support/solidity/solidity.ts'

const OTHER = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8'

let folder: string
let artifacts: string
let project: Compilation

beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'devchain-trace-'))
  project = compile(projectSources())
  artifacts = writeProject(folder, 'foundry', project)
})

afterAll(() => rmSync(folder, { recursive: true }))

interface Answer {
  readonly lines: readonly string[]
  readonly call: { readonly name: string; readonly steps: readonly { readonly type: string }[] }
}

async function traced(ask: Ask, request: object): Promise<Answer> {
  const { transactionHash } = await send(ask, request)
  return (await ask('devchain_traceTransaction', transactionHash)) as Answer
}

async function vaultOn(ask: Ask): Promise<string> {
  const rates = await deploy(ask, initCode(project, 'Rates'))
  const vault = await deploy(ask, initCode(project, 'Vault', [SENDER, 7n], { Rates: rates }))
  await send(ask, { to: vault, value: '0xde0b6b3a7640000' })
  return vault
}

const UPGRADES = `
contract Upgraded {
    bytes32 constant SLOT = 0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc;

    constructor(address to) {
        assembly { sstore(SLOT, to) }
    }

    fallback() external payable {
        assembly {
            calldatacopy(0, 0, calldatasize())
            let done := delegatecall(gas(), sload(SLOT), 0, calldatasize(), 0, 0)
            returndatacopy(0, 0, returndatasize())
            if iszero(done) { revert(0, returndatasize()) }
            return(0, returndatasize())
        }
    }
}

contract First {
    bytes32 constant SLOT = 0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc;

    function upgrade(address to) external {
        assembly { sstore(SLOT, to) }
    }
}

contract Second is First {
    function more() external pure returns (uint256) {
        return 2;
    }
}
`

describe('the log of a proxy upgrade', () => {
  test('names the old implementation, and for later calls the new one', async () => {
    const upgrades = compile({ 'src/Upgrades.sol': { content: UPGRADES } })
    await using chain = await startLogged({ trace: 'all' })
    const { ask } = chain
    await ask('devchain_addArtifacts', upgrades.output)
    const first = await deploy(ask, initCode(upgrades, 'First'))
    const second = await deploy(ask, initCode(upgrades, 'Second'))
    const proxy = await deploy(ask, initCode(upgrades, 'Upgraded', [first]))
    chain.lines()
    const { lines } = await traced(ask, {
      to: proxy,
      data: callData(upgrades, 'First', 'upgrade', [second]),
    })
    expect(lines.map((line) => line.replace(/gas [\d,]+/, 'gas'))).toEqual([
      'First.upgrade(Second@0xe7f1…0512) · gas',
      '└─ First.upgrade(Second@0xe7f1…0512) (delegatecall) · gas',
      'storage Second.implementation First@0x5FbD…0aa3 → Second@0xe7f1…0512',
    ])
    await expect.poll(() => chain.written()).toContain('→ First.upgrade(Second@0xe7f1…0512) 0x')
    await traced(ask, { to: proxy, data: callData(upgrades, 'First', 'upgrade', [second]) })
    await expect.poll(() => chain.written()).toContain('→ Second.upgrade(')
  })
})

const TEXTS = `
contract Texts {
    string public note;
    bytes public data;
    mapping(uint256 => string) public notes;
    string[] public list;

    event Written(string note);

    function write(string calldata note_) external {
        note = note_;
        emit Written(note_);
    }

    function keep(bytes calldata data_) external {
        data = data_;
    }

    function writeAt(uint256 at, string calldata note_) external {
        notes[at] = note_;
    }

    function add(string calldata note_) external {
        list.push(note_);
    }

    function fail() external pure {
        assembly {
            mstore(0, 3)
            revert(0, 32)
        }
    }
}
`

describe('a string in storage', () => {
  const long = 'a text that is longer than the slot that its length stands in'
  const other = `${long.slice(0, 40)} and ends otherwise`

  test('is shown whole under its variable, at any slot and of any length', async () => {
    const texts = compile({ 'src/Texts.sol': { content: TEXTS } })
    await using chain = await startLogged()
    const { ask } = chain
    await ask('devchain_addArtifacts', texts.output)
    const to = await deploy(ask, initCode(texts, 'Texts'))
    const changes = async (name: string, ...args: readonly unknown[]): Promise<unknown> => {
      const { lines } = await traced(ask, { to, data: callData(texts, 'Texts', name, args) })
      return lines.filter((line) => line.startsWith('storage'))
    }
    const shown = `"${long.slice(0, 59)}…"`
    const otherShown = `"${other}"`
    expect(await changes('write', 'short')).toEqual(['storage Texts.note "" → "short"'])
    expect(await changes('write', long)).toEqual([`storage Texts.note "short" → ${shown}`])
    // the length is the same, the end is not
    expect(await changes('write', other)).toEqual([`storage Texts.note ${shown} → ${otherShown}`])
    expect(await changes('write', '')).toEqual([`storage Texts.note ${otherShown} → ""`])
    expect(await changes('keep', `0x${'ab'.repeat(40)}`)).toEqual([
      'storage Texts.data 0x → 0xabab…abab (40 bytes)',
    ])
    expect(await changes('writeAt', 7n, other)).toEqual([
      `storage Texts.notes[7] "" → ${otherShown}`,
    ])
    expect(await changes('add', other)).toEqual([
      'storage Texts.list.length 0 → 1',
      `storage Texts.list[0] "" → ${otherShown}`,
    ])
  })

  test('longer than 16 kB is shown by its beginning', async () => {
    const texts = compile({ 'src/Texts.sol': { content: TEXTS } })
    await using chain = await startLogged()
    const { ask } = chain
    await ask('devchain_addArtifacts', texts.output)
    const to = await deploy(ask, initCode(texts, 'Texts'))
    const data = callData(texts, 'Texts', 'write', ['x'.repeat(17_000)])
    const { lines } = await traced(ask, { to, data, gas: '0x1c9c380' })
    const [first] = lines.filter((line) => line.startsWith('storage'))
    expect(first).toBe(`storage Texts.note "" → "${'x'.repeat(59)}…"`)
  })
})

describe('with --trace', () => {
  test('an event is in the trace alone, and data that is no error is shown as data', async () => {
    const texts = compile({ 'src/Texts.sol': { content: TEXTS } })
    await using chain = await startLogged({ trace: 'all' })
    const { ask } = chain
    await ask('devchain_addArtifacts', texts.output)
    const to = await deploy(ask, initCode(texts, 'Texts'))
    chain.lines()
    await send(ask, { to, data: callData(texts, 'Texts', 'write', ['x']) })
    await expect.poll(() => chain.written()).toContain('eth_getTransactionReceipt')
    const said = chain.lines()
    expect(said.filter((line) => line.includes('event Written'))).toEqual([
      '    │ └─ event Written(note "x")',
    ])
    await send(ask, { to, data: callData(texts, 'Texts', 'fail') })
    await expect.poll(() => chain.written()).toContain('eth_getTransactionReceipt')
    const failed = chain.lines().filter((line) => /fail/.test(line))
    const words = `32 bytes of data: 0x${'3'.padStart(64, '0')}`
    expect(failed.join('\n')).toMatch(new RegExp(`failed: (?:revert )?${words}`))
    expect(failed.join('\n')).toMatch(new RegExp(`│ Texts\\.fail\\(\\) · gas [\\d,]+ · ✗ ${words}`))
    expect(failed.join('\n')).not.toContain('custom error')
  })
})

describe('a trace of a project', () => {
  test('has calls, events, results and storage changes by name', async () => {
    await using chain = await startLogged({ artifacts: [artifacts] })
    await chain.devchain.artifactsRead()
    const { ask } = chain
    const vault = await vaultOn(ask)
    const proxy = await deploy(ask, initCode(project, 'Proxy', [vault]))
    const value = '0xde0b6b3a7640000'
    await send(ask, { to: proxy, value, data: callData(project, 'Vault', 'deposit', ['x']) })
    const data = callData(project, 'Vault', 'withdraw', [parseEther('0.25')])
    const { lines, call } = await traced(ask, { to: proxy, data })
    expect(lines).toMatchInlineSnapshot(`
      [
        "Vault.withdraw(0.25 ether) · gas 48,116",
        "└─ Vault.withdraw(0.25 ether) (delegatecall) · gas 22,076",
        "   ├─ event Withdrawn(who 0xf39F…2266, amount 0.25 ether)",
        "   └─ 0xf39F…2266 · value 0.25 ether · gas 0",
        "storage Vault.balanceOf[0xf39F…2266] 1 ether → 0.75 ether",
        "storage Vault.total 1 ether → 0.75 ether",
      ]
    `)
    expect(call).toMatchObject({ name: 'Vault.withdraw(0.25 ether)', type: 'CALL' })
  })

  test('names token amounts, nested mappings and packed variables', async () => {
    await using chain = await startLogged({ artifacts: [artifacts] })
    await chain.devchain.artifactsRead()
    const { ask } = chain
    const coin = await deploy(ask, initCode(project, 'Coin', [5_000_000n]))
    const approve = callData(project, 'Coin', 'approve', [OTHER, 70n])
    expect((await traced(ask, { to: coin, data: approve })).lines).toMatchInlineSnapshot(`
      [
        "Coin.approve(0x7099…79C8, 0.00007 USC) · gas 46,650 · → true",
        "└─ event Approval(owner 0xf39F…2266, spender 0x7099…79C8, value 0.00007 USC)",
        "storage Coin.allowance[0xf39F…2266][0x7099…79C8] 0 USC → 0.00007 USC",
      ]
    `)
    const vault = await vaultOn(ask)
    const close = callData(project, 'Vault', 'close')
    expect((await traced(ask, { to: vault, data: close })).lines).toMatchInlineSnapshot(`
      [
        "Vault.close() · gas 43,452",
        "storage Vault.isClosed false → true",
      ]
    `)
  })

  test('has a creation, and the failure inside it', async () => {
    await using chain = await startLogged({ artifacts: [artifacts], defaultGas: 'estimate' })
    await chain.devchain.artifactsRead()
    const { ask } = chain
    const rates = await deploy(ask, initCode(project, 'Rates'))
    const data = initCode(project, 'Failures', [], { Rates: rates })
    expect((await traced(ask, { data })).lines).toMatchInlineSnapshot(`
      [
        "new Failures() · gas 2,647,339",
        "└─ new Inner() · gas 151,594",
        "storage Failures.inner 0x0000…0000 → Inner@0xCafa…052c",
      ]
    `)
    const failures = await deploy(ask, data)
    const creates = callData(project, 'Failures', 'creates', [500n])
    expect((await traced(ask, { to: failures, data: creates })).lines).toMatchInlineSnapshot(`
      [
        "Failures.creates(500) · gas 54,813 · ✗ BadConstructor: too much",
        "└─ new BadConstructor(500) · gas 680 · ✗ BadConstructor: too much",
      ]
    `)
  })

  test('in geth’s form has names on request', async () => {
    await using chain = await startLogged({ artifacts: [artifacts] })
    await chain.devchain.artifactsRead()
    const { ask } = chain
    const vault = await vaultOn(ask)
    const data = callData(project, 'Vault', 'withdraw', [parseEther('0.25')])
    const { transactionHash } = await send(ask, { to: vault, data })
    const names = { tracer: 'callTracer', tracerConfig: { names: true } }
    expect(await ask('debug_traceTransaction', transactionHash, names)).toMatchObject({
      name: 'Vault.withdraw(0.25 ether)',
      type: 'CALL',
      calls: [{ value: '0x3782dace9d90000' }],
    })
    const plain = await ask('debug_traceTransaction', transactionHash, { tracer: 'callTracer' })
    expect(plain).not.toHaveProperty('name')
  })

  test('in geth’s form has the source line of a failure, for a block or a call', async () => {
    await using chain = await startLogged({ artifacts: [artifacts] })
    await chain.devchain.artifactsRead()
    const { ask } = chain
    const vault = await vaultOn(ask)
    const data = callData(project, 'Vault', 'withdraw', [parseEther('5')])
    const request = { from: SENDER, to: vault, data }
    const names = { tracer: 'callTracer', tracerConfig: { names: true } }
    const expected = {
      name: 'Vault.withdraw(5 ether)',
      error: 'execution reverted',
      solidityStack: [
        'InsufficientBalance(have 1 ether, want 5 ether)',
        'at Vault._check (src/Vault.sol:72:20)',
        'at Vault._withdraw (src/Vault.sol:66:9)',
        'at Vault.withdraw (src/Vault.sol:45:9)',
      ],
    }
    expect(await ask('debug_traceCall', request, 'latest', names)).toMatchObject(expected)
    const { transactionHash } = await send(ask, request)
    expect(await ask('debug_traceTransaction', transactionHash, names)).toMatchObject(expected)
    const works = { ...request, data: callData(project, 'Vault', 'withdraw', [1n]) }
    const plain = { tracer: 'callTracer' }
    for (const [call, config] of [
      [works, names],
      [request, plain],
    ] as const) {
      expect(await ask('debug_traceCall', call, 'latest', config)).not.toHaveProperty(
        'solidityStack',
      )
    }
  })

  test('works without artifacts as well', async () => {
    await using chain = await startLogged({})
    const vault = await vaultOn(chain.ask)
    const { lines } = await traced(chain.ask, { to: vault, value: '0x1' })
    expect(lines).toMatchInlineSnapshot(`
      [
        "0xe7f1…0512 · value 1 wei · gas 36,243",
        "└─ event 0x6f85…f928 0x0000…0000 (96 bytes)",
        "storage 0xe7f1…0512.slot 0x7230…a722 1000000000000000000 → 1000000000000000001",
        "storage 0xe7f1…0512.slot 0x1 1000000000000000000 → 1000000000000000001",
      ]
    `)
  })

  test.each([
    ['failed', [false, true]],
    ['all', [true, true]],
    [undefined, [false, false]],
  ] as const)('is in the log with --trace %s', async (trace, expected) => {
    await using chain = await startLogged({ artifacts: [artifacts], trace })
    await chain.devchain.artifactsRead()
    const { ask } = chain
    const vault = await vaultOn(ask)
    await expect.poll(() => chain.written()).toContain('Deposited')
    const deposited = chain.lines().some((line) => line.includes('│ Vault.receive'))
    const data = callData(project, 'Vault', 'withdraw', [parseEther('5')])
    await send(ask, { to: vault, data })
    await expect.poll(() => chain.written()).toContain('at Vault.withdraw')
    const failed = chain.lines().some((line) => line.includes('│ Vault.withdraw'))
    expect([deposited, failed]).toEqual(expected)
  })

  test('is in the log below calls and estimates too', async () => {
    await using chain = await startLogged({ artifacts: [artifacts], trace: 'all' })
    await chain.devchain.artifactsRead()
    const { ask } = chain
    const vault = await vaultOn(ask)
    const proxy = await deploy(ask, initCode(project, 'Proxy', [vault]))
    const withdraw = callData(project, 'Vault', 'withdraw', [parseEther('0.25')])
    const failing = callData(project, 'Vault', 'withdraw', [parseEther('5')])
    const below = async (method: string, request: object): Promise<readonly string[]> => {
      chain.lines()
      await ask(method, request).catch(() => undefined)
      await expect.poll(() => chain.written()).toContain('│')
      return chain.lines()
    }
    expect({
      call: await below('eth_call', { from: SENDER, to: vault, data: withdraw }),
      answer: await below('eth_call', {
        to: proxy,
        data: callData(project, 'Vault', 'balanceOf', [SENDER]),
      }),
      failure: await below('eth_call', { from: SENDER, to: proxy, data: failing }),
      estimate: await below('eth_estimateGas', { from: SENDER, to: vault, data: withdraw }),
    }).toMatchInlineSnapshot(`
      {
        "answer": [
          "eth_call  1.0 ms  Vault.balanceOf(0xf39F…2266) → 0",
          "    │ Vault.balanceOf(0xf39F…2266) · gas 7,647 · → 0",
          "    │ └─ Vault.balanceOf(0xf39F…2266) (delegatecall) · gas 2,868 · → 0",
        ],
        "call": [
          "eth_call  1.0 ms  Vault.withdraw(0.25 ether) → 0x",
          "    │ Vault.withdraw(0.25 ether) · gas 22,076",
          "    │ ├─ event Withdrawn(who 0xf39F…2266, amount 0.25 ether)",
          "    │ └─ 0xf39F…2266 · value 0.25 ether · gas 0",
        ],
        "estimate": [
          "eth_estimateGas  1.0 ms  Vault.withdraw(0.25 ether) → 45,556 gas",
          "    │ Vault.withdraw(0.25 ether) · gas 22,076",
          "    │ ├─ event Withdrawn(who 0xf39F…2266, amount 0.25 ether)",
          "    │ └─ 0xf39F…2266 · value 0.25 ether · gas 0",
        ],
        "failure": [
          "eth_call  1.0 ms  Vault.withdraw(5 ether) ✗ InsufficientBalance(have 0, want 5 ether) at src/Vault.sol:72",
          "    │ Vault.withdraw(5 ether) · gas 10,091 · ✗ InsufficientBalance(have 0, want 5 ether)",
          "    │ └─ Vault.withdraw(5 ether) (delegatecall) · gas 5,307 · ✗ InsufficientBalance(have 0, want 5 ether)",
        ],
      }
    `)
  })

  test('is below failed calls alone with --trace failed', async () => {
    await using chain = await startLogged({ artifacts: [artifacts], trace: 'failed' })
    await chain.devchain.artifactsRead()
    const vault = await vaultOn(chain.ask)
    chain.lines()
    const call = (amount: string): Promise<unknown> => {
      const data = callData(project, 'Vault', 'withdraw', [parseEther(amount)])
      return chain.ask('eth_call', { from: SENDER, to: vault, data }).catch(() => undefined)
    }
    await call('0.25')
    await call('5')
    await expect.poll(() => chain.written()).toContain('│')
    const lines = chain.lines()
    expect(lines.filter((line) => line.includes('│'))).toEqual([
      expect.stringMatching(/│ Vault\.withdraw\(5 ether\).*✗ InsufficientBalance/),
    ])
    expect(lines).toHaveLength(3)
  })

  test('is a member of the call’s JSON line', async () => {
    await using chain = await startLogged({ artifacts: [artifacts], trace: 'all' }, { json: true })
    await chain.devchain.artifactsRead()
    const vault = await vaultOn(chain.ask)
    chain.lines()
    const data = callData(project, 'Vault', 'balanceOf', [SENDER])
    await chain.ask('eth_call', { to: vault, data })
    await expect.poll(() => chain.written()).toContain('"trace"')
    expect(JSON.parse(chain.lines()[0]!)).toMatchObject({
      method: 'eth_call',
      trace: [expect.stringMatching(/^Vault\.balanceOf\(0xf39F…2266\) · gas [\d,]+ · → 1 ether$/)],
    })
  })
})
