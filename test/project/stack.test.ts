// Where in Solidity an execution fails: the stack beside the error, for every layout and kind of failure.
import { mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseEther } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  createDevchain,
  type Devchain,
  type DevchainOptions,
  type RpcError,
} from '../../src/devchain.ts'
import type { Tracer } from '../../src/evm/executor.ts'
import { Catalogue } from '../../src/project/code/catalogue.ts'
import { type Explainer, explain } from '../../src/project/solidity/explain.ts'
import { type Ask, callData, deploy, initCode, SENDER, send } from '../support/chain/deploy.ts'
import {
  type Compilation,
  compile,
  type Layout,
  projectSources,
  type Settings,
  vaultSources,
  writeProject,
} from '../support/solidity/solidity.ts'

let folder: string

beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'devchain-stack-'))
})

afterAll(() => rmSync(folder, { recursive: true }))

interface Stage {
  readonly chain: Devchain
  readonly ask: Ask
  readonly project: Compilation
  /** The lines of the failure of a request. */
  readonly failing: (method: string, ...params: unknown[]) => Promise<readonly string[] | undefined>
  readonly [Symbol.asyncDispose]: () => Promise<void>
}

const WAYS: Readonly<Record<string, Settings>> = {
  plain: {},
  optimized: { optimizer: { enabled: true } },
  viaIR: { optimizer: { enabled: true }, viaIR: true },
}

async function staged(
  layout: Layout,
  way = 'plain',
  options: DevchainOptions = {},
): Promise<Stage> {
  const project = compile(way === 'viaIR' ? vaultSources() : projectSources(), WAYS[way])
  const artifacts = writeProject(path.join(folder, `${layout}-${way}`), layout, project)
  const chain = await createDevchain({ defaultGas: 'estimate', artifacts: [artifacts], ...options })
  await chain.artifactsRead()
  const ask: Ask = (method, ...params) => chain.request({ method, params })
  return {
    chain,
    ask,
    project,
    failing: async (method, ...params) => {
      const lines = await failureOf(ask, method, params)
      // what is known of the contracts is at hand by now
      if (method === 'eth_call') expect(await failureOf(ask, method, params)).toEqual(lines)
      return lines
    },
    [Symbol.asyncDispose]: () => chain.close(),
  }
}

async function failureOf(
  ask: Ask,
  method: string,
  params: readonly unknown[],
): Promise<readonly string[] | undefined> {
  try {
    await ask(method, ...params)
  } catch (error) {
    return (error as RpcError).solidityStack
  }
  throw new Error(`${method} did not fail`)
}

async function vaultOn({ ask, project }: Stage): Promise<string> {
  const rates = await deploy(ask, initCode(project, 'Rates'))
  const vault = await deploy(ask, initCode(project, 'Vault', [SENDER, 7n], { Rates: rates }))
  await send(ask, { to: vault, value: '0xde0b6b3a7640000' })
  return vault
}

const STACK = [
  'InsufficientBalance(have 1 ether, want 5 ether)',
  'at Vault._check (src/Vault.sol:72:20)',
  'at Vault._withdraw (src/Vault.sol:66:9)',
  'at Vault.withdraw (src/Vault.sol:45:9)',
]

describe('the stack of a call that fails three functions deep', () => {
  test.each<Layout>(['foundry', 'hardhat2', 'hardhat3', 'truffle'])(
    'is complete with artifacts of %s',
    async (layout) => {
      await using stage = await staged(layout)
      const to = await vaultOn(stage)
      const data = callData(stage.project, 'Vault', 'withdraw', [parseEther('5')])
      const request = { from: SENDER, to, data }
      expect(await stage.failing('eth_call', request)).toEqual(STACK)
      expect(await stage.failing('eth_estimateGas', request)).toEqual(STACK)
      expect(await stage.failing('eth_sendTransaction', request)).toEqual(STACK)
    },
  )

  test('is complete once the build information of its artifact exists', async () => {
    await using stage = await staged('hardhat2')
    const info = path.join(folder, 'hardhat2-plain/artifacts/build-info')
    renameSync(info, `${folder}/taken`)
    const to = await vaultOn(stage)
    const data = callData(stage.project, 'Vault', 'withdraw', [parseEther('5')])
    const failing = () => failureOf(stage.ask, 'eth_call', [{ from: SENDER, to, data }])
    expect(await failing()).toBeUndefined()
    renameSync(`${folder}/taken`, info)
    await expect.poll(() => failing()).toEqual(STACK)
  })

  test.each(['optimized', 'viaIR'])('is complete in %s code', async (way) => {
    await using stage = await staged('foundry', way)
    const to = await vaultOn(stage)
    const data = callData(stage.project, 'Vault', 'withdraw', [parseEther('5')])
    expect(await stage.failing('eth_call', { from: SENDER, to, data })).toMatchSnapshot()
  })
})

/** Reverts that are alike at their ends, which an optimizer joins. Those that fail say so by the number they are given. */
const ALIKE = `
contract Alike {
    error First(uint256 number, address who);
    error Second(uint256 number, address who);

    mapping(address => uint256) public map;

    function run(uint256 number) external {
        map[msg.sender] = number;
        if (number == 1) {
            revert First(number, msg.sender); // 1
        }
        require(number != 2, "is two"); // 2
        if (number == 3) {
            revert Second(number, msg.sender); // 3
        }
        require(number != 4, "the same"); // 4
        require(number != 5, "the same"); // 5
        inner(number);
        if (number > 100) {
            map[msg.sender] = 1;
        } else {
            map[msg.sender] = 2;
        }
        revert First(number, msg.sender); // 9
    }

    function inner(uint256 number) internal {
        map[address(this)] = number;
        require(number != 6, "is six"); // 6
        if (number == 7) revert First(number, msg.sender); // 7
        if (number == 8) revert Second(number, msg.sender); // 8
    }

    function other(uint256 number) external {
        inner(number);
        inner(number + 1);
    }
}
`

describe('the stack of a revert that the optimizer merged with others', () => {
  const lines = ALIKE.split('\n')

  test.each<Settings>([
    {},
    { optimizer: { enabled: true } },
    { optimizer: { enabled: true, runs: 1 } },
    { optimizer: { enabled: true, runs: 1_000_000 } },
    { optimizer: { enabled: true }, viaIR: true },
  ])('has the line that throws, or one marked as near it (%j)', async (settings) => {
    const compiled = compile({ 'src/Alike.sol': { content: ALIKE } }, settings)
    const name = `alike-${JSON.stringify(settings).replace(/\W/g, '')}`
    const artifacts = writeProject(path.join(folder, name), 'foundry', compiled)
    const chain = await createDevchain({ defaultGas: 'estimate', artifacts: [artifacts] })
    await chain.artifactsRead()
    const ask: Ask = (method, ...params) => chain.request({ method, params })
    const to = await deploy(ask, initCode(compiled, 'Alike'))
    for (let number = 1; number <= 9; number++) {
      const data = callData(compiled, 'Alike', 'run', [BigInt(number)])
      const failed = ask('eth_call', { from: SENDER, to, data })
      const { solidityStack } = (await failed.catch((error: unknown) => error)) as RpcError
      const place = solidityStack?.[1] ?? ''
      const [, line] = /Alike\.sol:(\d+)/.exec(place) ?? []
      // the intermediate language merges several ends and does not say which
      if (settings.viaIR && place.includes('(about ')) continue
      expect(lines[Number(line) - 1]).toContain(`// ${number}`)
    }
    await chain.close()
  })
})

const LONG = `
contract Long {
    function run(uint256 count) external pure returns (uint256 sum) {
        for (uint256 i = 0; i < count; i++) sum += inner(i);
        fail(sum);
    }

    function inner(uint256 a) internal pure returns (uint256) {
        return a == 0 ? 1 : half(a);
    }

    function half(uint256 a) internal pure returns (uint256) {
        return a / 2;
    }

    function fail(uint256 sum) internal pure {
        require(sum == 0, "sum");
    }
}`

describe('the Solidity stack', () => {
  test('has the open functions, however many were called before', async () => {
    const project = compile({ 'src/Long.sol': { content: `pragma solidity ^0.8.28;${LONG}` } })
    const artifacts = writeProject(path.join(folder, 'long'), 'foundry', project)
    await using chain = await createDevchain({ artifacts: [artifacts] })
    await chain.artifactsRead()
    const ask: Ask = (method, ...params) => chain.request({ method, params })
    const to = await deploy(ask, initCode(project, 'Long'))
    const data = callData(project, 'Long', 'run', [1_000n])
    const error = await ask('eth_call', { to, data }).catch((thrown: unknown) => thrown)
    expect((error as RpcError).solidityStack).toEqual([
      'sum',
      'at Long.fail (src/Long.sol:17:9)',
      'at Long.run (src/Long.sol:5:9)',
    ])
  })

  test('says how many functions of a deep recursion it leaves out', async () => {
    const content = `pragma solidity ^0.8.28;
contract Deep {
    function down(uint256 n) public pure returns (uint256) {
        require(n > 0, "bottom");
        return down(n - 1);
    }
}`
    const project = compile({ 'src/Deep.sol': { content } })
    const artifacts = writeProject(path.join(folder, 'deep'), 'foundry', project)
    await using chain = await createDevchain({ artifacts: [artifacts] })
    await chain.artifactsRead()
    const ask: Ask = (method, ...params) => chain.request({ method, params })
    const to = await deploy(ask, initCode(project, 'Deep'))
    const data = callData(project, 'Deep', 'down', [100n])
    const above = Array.from({ length: 20 }, () => 'at Deep.down (src/Deep.sol:5:16)')
    expect(await failureOf(ask, 'eth_call', [{ to, data }])).toEqual([
      'bottom',
      'at Deep.down (src/Deep.sol:4:9)',
      ...above.slice(1),
      '… 61 more',
      ...above,
    ])
  })

  test('is left out if it takes too long', async () => {
    let nowMs = 0
    const now = (): number => (nowMs += 1_000)
    const explainer = { now, catalogue: new Catalogue() }
    const endless = async (tracer: Tracer): Promise<never> => {
      for (;;) await tracer.onPause?.()
    }
    await expect(explain(explainer as unknown as Explainer, endless, 'too long')).rejects.toThrow(
      'the failure is not explained: running it again takes longer than 3000 ms',
    )
  })

  test('passes through proxies', async () => {
    await using stage = await staged('foundry')
    const vault = await vaultOn(stage)
    const proxy = await deploy(stage.ask, initCode(stage.project, 'Proxy', [vault]))
    const data = callData(stage.project, 'Vault', 'withdraw', [parseEther('5')])
    expect(await stage.failing('eth_call', { from: SENDER, to: proxy, data })).toEqual([
      'InsufficientBalance(have 0, want 5 ether)',
      ...STACK.slice(1),
      'at Proxy.fallback (src/Proxies.sol:17:23)',
    ])
  })

  test('is in the error of a failed send, with the data that clients expect', async () => {
    await using stage = await staged('foundry', 'plain', { onRevert: 'throw', compat: 'hardhat' })
    const to = await vaultOn(stage)
    const data = callData(stage.project, 'Vault', 'withdraw', [parseEther('5')])
    const error = (await stage
      .ask('eth_sendTransaction', { from: SENDER, to, data, gas: '0x186a0' })
      .catch((thrown: unknown) => thrown)) as RpcError
    expect(error.solidityStack).toEqual(STACK)
    expect(error).toMatchObject({ code: 3, data: expect.stringMatching(/^0xcf479181/) })
  })

  test('is left out with plainErrors, and if the source is unknown', async () => {
    await using plain = await staged('foundry', 'plain', { plainErrors: true })
    const data = callData(plain.project, 'Vault', 'withdraw', [parseEther('5')])
    expect(
      await plain.failing('eth_call', { from: SENDER, to: await vaultOn(plain), data }),
    ).toBeUndefined()
    await using stage = await staged('foundry')
    // reverts with nothing
    expect(await stage.failing('eth_call', { data: '0x5f5ffd' })).toBeUndefined()
  })

  test('is made from what Hardhat provides', async () => {
    await using stage = await staged('foundry', 'plain', { artifacts: [] })
    const { input, output } = stage.project
    await stage.ask('hardhat_addCompilationResult', '0.8.37', input, output)
    // what else is handed over leaves it as it is
    for (let i = 0; i < 3; i++)
      await stage.ask('devchain_addArtifacts', { output: { contracts: {} } })
    const data = callData(stage.project, 'Vault', 'withdraw', [parseEther('5')])
    const request = { from: SENDER, to: await vaultOn(stage), data }
    expect(await stage.failing('eth_call', request)).toEqual(STACK)
  })
})

describe('solidityStack', () => {
  const OK = { to: SENDER }

  async function answered(method: string, paramsOf: (failing: object) => unknown[]) {
    await using stage = await staged('foundry')
    const to = await vaultOn(stage)
    const data = callData(stage.project, 'Vault', 'withdraw', [parseEther('5')])
    return await stage.ask(method, ...paramsOf({ from: SENDER, to, data }))
  }

  test('is in a reply with an access list', async () => {
    expect(await answered('eth_createAccessList', (failing) => [failing])).toMatchObject({
      error: expect.stringContaining('revert'),
      solidityStack: STACK,
    })
  })

  test('is in a reply of eth_simulateV1 for each call, beside what clients read', async () => {
    const blocks = await answered('eth_simulateV1', (failing) => [
      { blockStateCalls: [{ calls: [OK, failing] }, { calls: [failing] }] },
    ])
    const calls = (blocks as { calls: { error?: object }[] }[]).map((block) => block.calls)
    const error = { code: 3, data: expect.stringMatching(/^0xcf479181/), solidityStack: STACK }
    expect(calls).toMatchObject([[{ status: '0x1' }, { error }], [{ error }]])
    expect(calls[0]![0]).not.toHaveProperty('error')
  })

  test('is in a reply of call bundles', async () => {
    const bundles = (failing: object): unknown[] => [
      [{ transactions: [failing, OK] }, { transactions: [OK, failing] }],
      { blockNumber: 'latest' },
    ]
    const failed = { error: expect.stringContaining('execution reverted'), solidityStack: STACK }
    const right = { value: '0x' }
    expect(await answered('eth_callMany', bundles)).toEqual([
      [failed, right],
      [right, failed],
    ])
  })

  test('is in a reply of a transaction bundle', async () => {
    await using stage = await staged('foundry')
    const to = await vaultOn(stage)
    const data = callData(stage.project, 'Vault', 'withdraw', [parseEther('5')])
    const request = { from: SENDER, to, data, gas: '0x30d40', gasPrice: '0x0' }
    const raw = await stage.ask('eth_signTransaction', request)
    const bundle = { txs: [raw], blockNumber: '0x9', stateBlockNumber: 'latest' }
    expect(await stage.ask('eth_callBundle', bundle)).toMatchObject({
      results: [{ error: expect.stringContaining('reverted'), solidityStack: STACK }],
    })
  })

  test('is not in a reply with plainErrors', async () => {
    await using stage = await staged('foundry', 'plain', { plainErrors: true })
    const to = await vaultOn(stage)
    const data = callData(stage.project, 'Vault', 'withdraw', [parseEther('5')])
    const answer = await stage.ask('eth_createAccessList', { from: SENDER, to, data })
    expect(answer).toHaveProperty('error')
    expect(answer).not.toHaveProperty('solidityStack')
  })
})
