// The log of a project's contracts: names, arguments, events, errors, amounts, on one line each.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseEther } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Ask, callData, deploy, initCode, SENDER, send } from '../support/chain/deploy.ts'
import { type LogForm, type LoggedChain, startLogged } from '../support/chain/loggedchain.ts'
import {
  type Compilation,
  compile,
  contractNamed,
  deployableOf,
  projectSources,
  writeProject,
} from '../support/solidity/solidity.ts'

const OTHER = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8'
const WEEK = 604_800n

let folder: string
let artifacts: string
let project: Compilation

beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'devchain-project-'))
  project = compile(projectSources(), { optimizer: { enabled: true } })
  artifacts = writeProject(folder, 'foundry', project)
})

afterAll(() => rmSync(folder, { recursive: true }))

async function started(form?: LogForm): Promise<LoggedChain> {
  const chain = await startLogged({ artifacts: [artifacts], defaultGas: 'estimate' }, form)
  await chain.devchain.artifactsRead()
  return chain
}

/** A vault of the sender with 1 ether in it. */
async function vaultOn(ask: Ask): Promise<string> {
  const rates = await deploy(ask, initCode(project, 'Rates'))
  const vault = await deploy(ask, initCode(project, 'Vault', [SENDER, WEEK], { Rates: rates }))
  await send(ask, { to: vault, value: '0xde0b6b3a7640000' })
  return vault
}

const withdraw = (amount: string): string =>
  callData(project, 'Vault', 'withdraw', [parseEther(amount)])

/** The lines with what differs from one contract to the next taken out. */
function plain(lines: readonly string[]): string[] {
  return lines.filter((line) => !/^ {2}(transaction|block)|base fee/.test(line))
}

describe('the log of a project', () => {
  test('says once how many contracts it knows, and from where', async () => {
    await using chain = await started()
    expect(chain.lines()).toEqual([
      `artifacts  ${deployableOf(project)} contracts from ${artifacts}`,
    ])
  })

  test('shows what a transaction creates, calls and emits', async () => {
    await using chain = await started()
    chain.lines()
    const vault = await vaultOn(chain.ask)
    chain.lines()
    await send(chain.ask, {
      to: vault,
      value: '0x1bc16d674ec80000',
      data: callData(project, 'Vault', 'deposit', ['for the rent']),
    })
    expect(plain(chain.lines())).toMatchInlineSnapshot(`
      [
        "eth_sendTransaction  1.0 ms  0x3680…e23c",
        "    0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266 → Vault.deposit("for the rent") 0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512",
        "    value 2 ether · gas 36,982 of 5,000,000 (<1 %) · fee 0 ether · success",
        "    event Deposited(who 0xf39F…2266, amount 2 ether, note "for the rent")",
        "eth_getTransactionReceipt  1.0 ms  success, block 4, gas 36,982",
      ]
    `)
  })

  test('shows a creation with the arguments of its constructor', async () => {
    await using chain = await started()
    chain.lines()
    await vaultOn(chain.ask)
    expect(plain(chain.lines())).toMatchInlineSnapshot(`
      [
        "eth_sendTransaction  1.0 ms  0x647c…4137",
        "    0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266 → new Rates() 0x5FbDB2315678afecb367f032d93F642f64180aa3",
        "    value 0 ether · gas 130,600 of 5,000,000 (2 %) · fee 0 ether · success",
        "eth_getTransactionReceipt  1.0 ms  success, block 1, gas 130,600",
        "eth_sendTransaction  1.0 ms  0x3f99…917a",
        "    0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266 → new Vault(0xf39F…2266, 604,800) 0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512",
        "    value 0 ether · gas 523,218 of 5,000,000 (10 %) · fee 0 ether · success",
        "eth_getTransactionReceipt  1.0 ms  success, block 2, gas 523,218",
        "eth_sendTransaction  1.0 ms  0x0d3d…df95",
        "    0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266 → Vault.receive() 0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512",
        "    value 1 ether · gas 69,905 of 5,000,000 (1 %) · fee 0 ether · success",
        "    event Deposited(who 0xf39F…2266, amount 1 ether, note "")",
        "eth_getTransactionReceipt  1.0 ms  success, block 3, gas 69,905",
      ]
    `)
  })

  test('shows calls with arguments and results, and errors with their arguments', async () => {
    await using chain = await started()
    const { ask } = chain
    const vault = await vaultOn(ask)
    chain.lines()
    const data = callData(project, 'Vault', 'balanceOf', [SENDER])
    await ask('eth_call', { to: vault, data })
    await ask('eth_call', { from: SENDER, to: vault, data: withdraw('5') }).catch(() => undefined)
    await ask('eth_estimateGas', { from: SENDER, to: vault, data: withdraw('5') }).catch(
      () => undefined,
    )
    const order = { who: OTHER, amounts: [1n, 2n, 3n, 4n] }
    await ask('eth_call', { to: vault, data: callData(project, 'Vault', 'place', [order]) }).catch(
      () => undefined,
    )
    expect(chain.lines()).toMatchInlineSnapshot(`
      [
        "eth_call  1.0 ms  Vault.balanceOf(0xf39F…2266) → 1 ether",
        "eth_call  1.0 ms  Vault.withdraw(5 ether) ✗ InsufficientBalance(have 1 ether, want 5 ether) at src/Vault.sol:72",
        "eth_estimateGas  1.0 ms  Vault.withdraw(5 ether) ✗ InsufficientBalance(have 1 ether, want 5 ether) at src/Vault.sol:72",
        "eth_call  1.0 ms  Vault.place((who 0x7099…79C8, amounts [1, 2, 3, … 1 more])) ✗ InsufficientBalance(have 0, want 10) at src/Vault.sol:72",
      ]
    `)
  })

  test('shows compared amounts in one unit', async () => {
    await using chain = await started()
    const { ask } = chain
    const vault = await vaultOn(ask)
    const { transactionHash } = await send(ask, { to: vault, data: withdraw('0.0000000000000001') })
    expect(await ask('devchain_traceTransaction', transactionHash)).toHaveProperty(
      'lines',
      expect.arrayContaining(['storage Vault.total 1 ether → 0.9999999999999999 ether']),
    )
    chain.lines()
    await ask('eth_call', { from: SENDER, to: vault, data: withdraw('5') }).catch(() => undefined)
    expect(chain.lines()[0]).toContain(
      'InsufficientBalance(have 0.9999999999999999 ether, want 5 ether)',
    )
  })

  test('shows neither gas nor the hash of a waiting transaction', async () => {
    await using chain = await started()
    const { ask } = chain
    const vault = await vaultOn(ask)
    await ask('evm_setAutomine', false)
    chain.lines()
    const data = callData(project, 'Vault', 'withInterest', [1_000n, 10n])
    await ask('eth_estimateGas', { to: vault, data })
    await ask('eth_estimateGas', { from: SENDER, to: vault, data: withdraw('0.5') })
    await ask('eth_sendTransaction', { from: SENDER, to: vault, data, gas: '0x186a0' })
    expect(plain(chain.lines())).toMatchInlineSnapshot(`
      [
        "eth_estimateGas  1.0 ms  Vault.withInterest(1,000, 10) → 25,139 gas",
        "eth_estimateGas  1.0 ms  Vault.withdraw(0.5 ether) → 44,814 gas",
        "eth_sendTransaction  1.0 ms  Vault.withInterest(1,000, 10) → 0x0712…47dc",
        "  1 transaction waiting, 1 in the pool",
      ]
    `)
  })

  test('names a known function on an unknown contract', async () => {
    await using chain = await started()
    chain.lines()
    const data = callData(project, 'Vault', 'balanceOf', [SENDER])
    await chain.ask('eth_call', { to: OTHER, data })
    expect(chain.lines()).toEqual([
      'eth_call  1.0 ms  0x7099…79C8 balanceOf(0xf39F…2266) → 0x',
      '    note no code at 0x70997970C51812dc3A010C7d01b50e0d17dc79C8: nothing was called',
    ])
    const hash = await chain.ask('eth_sendTransaction', { from: SENDER, to: OTHER, data })
    expect(await chain.ask('devchain_traceTransaction', hash)).toMatchObject({
      lines: [expect.stringMatching(/^0x7099…79C8\.balanceOf\(0xf39F…2266\) · gas /)],
    })
  })

  test('shows token amounts with their decimals', async () => {
    await using chain = await started()
    const { ask } = chain
    const coin = await deploy(ask, initCode(project, 'Coin', [5_000_000_000n]))
    chain.lines()
    await send(ask, { to: coin, data: callData(project, 'Coin', 'transfer', [OTHER, 1_500_000n]) })
    await send(ask, {
      to: coin,
      data: callData(project, 'Coin', 'approve', [OTHER, 2n ** 256n - 1n]),
    })
    await ask('eth_call', { to: coin, data: callData(project, 'Coin', 'balanceOf', [OTHER]) })
    const data = callData(project, 'Coin', 'transfer', [SENDER, 2_000_000n])
    await ask('eth_call', { from: OTHER, to: coin, data }).catch(() => undefined)
    expect(plain(chain.lines())).toMatchInlineSnapshot(`
      [
        "eth_sendTransaction  1.0 ms  0x5966…addd",
        "    0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266 → Coin.transfer(0x7099…79C8, 1.5 USC) 0x5FbDB2315678afecb367f032d93F642f64180aa3",
        "    value 0 ether · gas 51,533 of 5,000,000 (1 %) · fee 0 ether · success",
        "    event Transfer(from 0xf39F…2266, to 0x7099…79C8, value 1.5 USC)",
        "eth_getTransactionReceipt  1.0 ms  success, block 2, gas 51,533",
        "eth_sendTransaction  1.0 ms  0x6b2f…d8c9",
        "    0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266 → Coin.approve(0x7099…79C8, unlimited USC) 0x5FbDB2315678afecb367f032d93F642f64180aa3",
        "    value 0 ether · gas 46,463 of 5,000,000 (<1 %) · fee 0 ether · success",
        "    event Approval(owner 0xf39F…2266, spender 0x7099…79C8, value unlimited USC)",
        "eth_getTransactionReceipt  1.0 ms  success, block 3, gas 46,463",
        "eth_call  1.0 ms  Coin.balanceOf(0x7099…79C8) → 1.5 USC",
        "eth_call  1.0 ms  Coin.transfer(0xf39F…2266, 2 USC) ✗ ERC20InsufficientBalance(sender 0x7099…79C8, balance 1.5 USC, needed 2 USC) at src/Coin.sol:23",
      ]
    `)
  })

  test('shows the symbol of a token that had none before it was initialized', async () => {
    await using chain = await started()
    const { ask } = chain
    const { object } = contractNamed(project, 'Coin').evm.deployedBytecode
    await ask('hardhat_setCode', OTHER, `0x${object}`)
    chain.lines()
    const data = callData(project, 'Coin', 'balanceOf', [SENDER])
    await ask('eth_call', { to: OTHER, data })
    const symbol = `0x${Buffer.from('USC').toString('hex').padEnd(62, '0')}06`
    await ask('hardhat_setStorageAt', OTHER, '0x1', symbol)
    await ask('eth_call', { to: OTHER, data })
    expect(chain.lines().filter((line) => line.startsWith('eth_call'))).toEqual([
      'eth_call  1.0 ms  Coin.balanceOf(0xf39F…2266) → 0',
      'eth_call  1.0 ms  Coin.balanceOf(0xf39F…2266) → 0 USC',
    ])
  })

  test('keeps the order of many calls, also beside immediate lines', async () => {
    await using chain = await started()
    const { ask } = chain
    const vault = await vaultOn(ask)
    chain.lines()
    const count = 200
    for (let i = 0; i < count; i++) {
      const who = `0x${i.toString(16).padStart(40, '0')}`
      await ask('eth_call', { to: vault, data: callData(project, 'Vault', 'balanceOf', [who]) })
    }
    await ask('devchain_addArtifacts', path.join(artifacts, 'Coin.sol/Coin.json'))
    const lines = chain.lines()
    expect(lines.filter((line) => line.includes('Vault.balanceOf('))).toHaveLength(count)
    expect(lines.findIndex((line) => line.startsWith('artifacts'))).toBe(count)
  })

  test.each(['Proxy', 'BeaconProxy', 'Cloner', 'delegation', ...Object.keys(CLONES)])(
    'names the code behind a %s',
    async (kind) => {
      await using chain = await started()
      const { ask } = chain
      const vault = await vaultOn(ask)
      const proxy = await behind(ask, kind, vault)
      chain.lines()
      await ask('eth_call', { from: SENDER, to: proxy, data: withdraw('5') }).catch(() => undefined)
      expect(chain.lines()).toEqual([
        'eth_call  1.0 ms  Vault.withdraw(5 ether) ✗ InsufficientBalance(have 0, want 5 ether) at src/Vault.sol:72',
      ])
    },
  )

  test('names a created contract by its runtime code if no artifact has its init code', async () => {
    await using chain = await started()
    const { ask } = chain
    const vault = await vaultOn(ask)
    chain.lines()
    await behind(ask, 'clone with arguments of OpenZeppelin', vault)
    const code = (await ask('eth_getCode', vault, 'latest')) as string
    await deployCode(ask, code.slice(2))
    const created = chain.lines().flatMap((line) => /→ (new [\w ]*) 0x/.exec(line)?.[1] ?? [])
    expect(created).toEqual(['new clone of Vault', 'new Vault'])
  })

  test('shows where in Solidity a transaction failed, and with --verbose a call', async () => {
    await using chain = await started({ verbose: true })
    const vault = await vaultOn(chain.ask)
    chain.lines()
    const request = { from: SENDER, to: vault, data: withdraw('5'), gas: '0x186a0' }
    await chain.ask('eth_sendTransaction', request)
    await expect.poll(() => chain.written()).toContain('withdraw')
    await chain.ask('eth_call', request).catch(() => undefined)
    const lines = chain.lines().filter((line) => !/^ {4}(params|result|data)/.test(line))
    expect(plain(lines)).toMatchInlineSnapshot(`
      [
        "eth_sendTransaction  1.0 ms  0xa9cd…8831",
        "    0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266 → Vault.withdraw(amount 5 ether) 0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512",
        "    value 0 ether · gas 26,184 of 100,000 (26 %) · fee 0 ether · failed: InsufficientBalance(have 1 ether, want 5 ether) at src/Vault.sol:72",
        "      at Vault._check (src/Vault.sol:72:20)",
        "      at Vault._withdraw (src/Vault.sol:66:9)",
        "      at Vault.withdraw (src/Vault.sol:45:9)",
        "eth_call  1.0 ms  Vault.withdraw(amount 5 ether) ✗ InsufficientBalance(have 1 ether, want 5 ether) at src/Vault.sol:72",
        "      at Vault._check (src/Vault.sol:72:20)",
        "      at Vault._withdraw (src/Vault.sol:66:9)",
        "      at Vault.withdraw (src/Vault.sol:45:9)",
      ]
    `)
  })

  test('shows the labels of accounts', async () => {
    await using chain = await started()
    const { ask } = chain
    const coin = await deploy(ask, initCode(project, 'Coin', [5_000_000_000n]))
    await ask('devchain_label', { [SENDER]: 'alice', [OTHER]: 'bob', [coin]: 'gold' })
    chain.lines()
    await send(ask, { to: coin, data: callData(project, 'Coin', 'transfer', [OTHER, 1_500_000n]) })
    expect(plain(chain.lines())).toMatchInlineSnapshot(`
      [
        "eth_sendTransaction  1.0 ms  0x5966…addd",
        "    alice 0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266 → gold.transfer(bob, 1.5 USC) 0x5FbDB2315678afecb367f032d93F642f64180aa3",
        "    value 0 ether · gas 51,533 of 5,000,000 (1 %) · fee 0 ether · success",
        "    event Transfer(from alice, to bob, value 1.5 USC)",
        "eth_getTransactionReceipt  1.0 ms  success, block 2, gas 51,533",
      ]
    `)
  })

  test('shows the newest label of an account', async () => {
    await using chain = await started()
    const { ask } = chain
    const vault = await vaultOn(ask)
    chain.lines()
    const data = callData(project, 'Vault', 'balanceOf', [OTHER])
    const lines: (string | undefined)[] = []
    for (const name of ['bob', 'rob', '']) {
      await ask('devchain_label', { [OTHER]: name })
      await ask('eth_call', { to: vault, data })
      lines.push(chain.lines().at(-1))
    }
    expect(lines).toEqual([
      'eth_call  1.0 ms  Vault.balanceOf(bob) → 0',
      'eth_call  1.0 ms  Vault.balanceOf(rob) → 0',
      'eth_call  1.0 ms  Vault.balanceOf(0x7099…79C8) → 0',
    ])
  })

  test('names an account by its code at the time', async () => {
    await using chain = await started()
    const { ask } = chain
    const vault = await vaultOn(ask)
    const data = callData(project, 'Vault', 'balanceOf', [OTHER])
    const snapshot = await ask('evm_snapshot')
    chain.lines()
    const logged = async (): Promise<string | undefined> => {
      await ask('eth_call', { to: vault, data })
      return chain.lines().at(-1)
    }
    const nobody = 'eth_call  1.0 ms  Vault.balanceOf(0x7099…79C8) → 0'
    expect(await logged()).toBe(nobody)
    const { object } = contractNamed(project, 'Coin').evm.deployedBytecode
    await ask('hardhat_setCode', OTHER, `0x${object}`)
    expect(await logged()).toBe('eth_call  1.0 ms  Vault.balanceOf(Coin@0x7099…79C8) → 0')
    await ask('evm_revert', snapshot)
    expect(await logged()).toBe(nobody)
  })

  test('names an account as a proxy only if its code can delegate', async () => {
    await using chain = await started()
    const { ask } = chain
    const coin = await deploy(ask, initCode(project, 'Coin', [5_000_000_000n]))
    const implementation = '0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc'
    await ask('hardhat_setStorageAt', OTHER, implementation, `0x${coin.slice(2).padStart(64, '0')}`)
    const lines: (string | undefined)[] = []
    // 0xf4 is DELEGATECALL, and here the constant of a PUSH1
    for (const code of ['0x60f400', '0xf400']) {
      await ask('hardhat_setCode', OTHER, code)
      chain.lines()
      await ask('eth_call', { to: OTHER, data: '0x313ce567' }).catch(() => undefined)
      lines.push(chain.lines().at(-1))
    }
    expect(lines).toEqual([
      expect.stringContaining('0x7099…79C8 decimals()'),
      expect.stringContaining('Coin.decimals()'),
    ])
  })

  test('names a call by the artifacts that were loaded before it', async () => {
    await using chain = await startLogged({ defaultGas: 'estimate' })
    const { ask } = chain
    const coin = await deploy(ask, initCode(project, 'Coin', [5_000_000_000n]))
    const data = callData(project, 'Coin', 'balanceOf', [OTHER])
    const lines: (string | undefined)[] = []
    const { abi } = contractNamed(project, 'Coin')
    const renamed = { type: 'function', name: 'sumOf', inputs: [], outputs: [] }
    const named = (contractName: string, functions: readonly object[]): object => {
      const code = contractNamed(project, 'Coin').evm
      return {
        contractName,
        abi: functions,
        bytecode: `0x${code.bytecode.object}`,
        deployedBytecode: `0x${code.deployedBytecode.object}`,
      }
    }
    for (const artifact of [named('Coin', abi), named('Money', [...abi, renamed])]) {
      await ask('devchain_addArtifacts', artifact)
      await ask('eth_call', { to: coin, data })
      lines.push(chain.lines().at(-1))
    }
    expect(lines).toEqual([
      'eth_call  1.0 ms  Coin.balanceOf(0x7099…79C8) → 0 USC',
      'eth_call  1.0 ms  ~Money.balanceOf(0x7099…79C8) → 0 USC',
    ])
  })

  test('has the same in JSON', async () => {
    await using chain = await started({ json: true })
    const { ask } = chain
    const vault = await vaultOn(ask)
    chain.lines()
    await ask('eth_call', { from: SENDER, to: vault, data: withdraw('5') }).catch(() => undefined)
    await send(ask, { to: vault, value: '0x1' })
    const [call, , transaction] = chain.lines().map((line) => JSON.parse(line))
    expect(call).toMatchObject({
      called: {
        contract: 'Vault',
        name: 'withdraw',
        signature: 'withdraw(uint256)',
        args: [{ name: 'amount', type: 'uint256', value: parseEther('5').toString() }],
      },
      customError: {
        name: 'InsufficientBalance',
        args: [{ name: 'have', value: parseEther('1').toString() }, { name: 'want' }],
      },
    })
    expect(transaction).toMatchObject({
      called: { contract: 'Vault', name: 'receive' },
      events: [
        {
          name: 'Deposited',
          args: [
            { name: 'who' },
            { name: 'amount', value: '1' },
            { name: 'note', type: 'string', value: '' },
          ],
        },
      ],
    })
    expect(transaction).not.toHaveProperty('executed')
  })
})

/** Clones of other makers, with what stands before the address and after it. */
const CLONES: Readonly<Record<string, readonly [before: string, after: string]>> = {
  'clone with arguments of OpenZeppelin': [
    '363d3d373d3d3d363d73',
    `5af43d82803e903d91602b57fd5bf3${'ab'.repeat(300)}`,
  ],
  'clone with immutable arguments': [
    '3d3d3d3d363d3d376100066037363936610006013d73',
    '5af43d3d93803e603557fd5bf3aabbccdd0006',
  ],
  'clone with immutable arguments that takes ether at once': [
    `36602c57343d527f${'9e'.repeat(32)}593da1005b363d3d373d3d3d3d610006806062363936013d73`,
    '5af43d3d93803e606057fd5bf3aabbccdd0006',
  ],
}

/** Deploys code as it is. */
async function deployCode(ask: Ask, code: string): Promise<string> {
  const length = (code.length / 2).toString(16).padStart(4, '0')
  return deploy(ask, `0x61${length}80600a3d393df3${code}`)
}

async function behind(ask: Ask, kind: string, vault: string): Promise<string> {
  const clone = CLONES[kind]
  if (clone !== undefined) return deployCode(ask, clone.join(vault.slice(2)))
  if (kind === 'Proxy') return deploy(ask, initCode(project, 'Proxy', [vault]))
  if (kind === 'BeaconProxy') {
    const beacon = await deploy(ask, initCode(project, 'Beacon', [vault]))
    return deploy(ask, initCode(project, 'BeaconProxy', [beacon]))
  }
  if (kind === 'delegation') {
    await ask('hardhat_setCode', OTHER, `0xef0100${vault.slice(2)}`)
    return OTHER
  }
  const cloner = await deploy(ask, initCode(project, 'Cloner'))
  const { transactionHash } = await send(ask, {
    to: cloner,
    data: callData(project, 'Cloner', 'clone', [vault]),
  })
  const receipt = (await ask('eth_getTransactionReceipt', transactionHash)) as {
    logs: { data: string }[]
  }
  return `0x${receipt.logs[0]!.data.slice(-40)}`
}
