// Contracts and accounts that are there from the start: --predeploy.
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import {
  type Address,
  createPublicClient,
  custom,
  defineChain,
  type Hex,
  keccak256,
  multicall3Abi,
  zeroAddress,
} from 'viem'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createDevchain, type Devchain, type DevchainOptions } from '../../src/devchain.ts'
import { forkOf, startUpstream } from '../support/fork/upstream.ts'
import { boot, request, temporaryFolder } from '../support/process/boot.ts'

const MULTICALL3 = '0xca11bde05977b3631167028862be2a173976ca11'
const CODE_HASH = '0xd5c15df687b16f2ff992fc8d767b4216323184a2bbc6ee2f9c398c318e770891'
const BOX = `0x${'b0'.repeat(20)}` as Address
const FIRST = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'
/** Answers slot 1. */
const READS_SLOT_1 = '0x60015460005260206000f3'

async function open(options: DevchainOptions): Promise<Devchain> {
  const devchain = await createDevchain(options)
  onTestFinished(() => devchain.close())
  return devchain
}

const ask = async <T>(devchain: Devchain, method: string, ...params: unknown[]): Promise<T> =>
  (await devchain.request({ method, params })) as T

/** Writes a file of accounts. @returns its path */
function fileOf(content: unknown, name = 'accounts.json'): string {
  const file = path.join(temporaryFolder(onTestFinished), name)
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content))
  return file
}

describe('--predeploy multicall3', () => {
  test('lets viem send many reads as one call', async () => {
    const devchain = await open({ predeploy: 'multicall3' })
    const multicall3 = { address: MULTICALL3, abi: multicall3Abi } as const
    const chain = defineChain({
      id: 33,
      name: 'devchain',
      nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
      rpcUrls: { default: { http: [] } },
      contracts: { multicall3: { address: MULTICALL3 } },
    })
    const client = createPublicClient({ chain, transport: custom(devchain) })
    const reads = await client.multicall({
      contracts: [
        { ...multicall3, functionName: 'getEthBalance', args: [FIRST] },
        { ...multicall3, functionName: 'getEthBalance', args: [zeroAddress] },
        { ...multicall3, address: BOX, functionName: 'getEthBalance', args: [FIRST] },
      ],
    })
    expect(reads.map(({ status }) => status)).toEqual(['success', 'success', 'failure'])
    expect(reads[0]?.result).toBe(10_000n * 10n ** 18n)
  })

  test('has the code of mainnet at its address, which is empty without it', async () => {
    const plain = await open({})
    expect(await ask(plain, 'eth_getCode', MULTICALL3)).toBe('0x')
    const devchain = await open({ predeploy: ['multicall3'] })
    expect(keccak256(await ask<Hex>(devchain, 'eth_getCode', MULTICALL3))).toBe(CODE_HASH)
    expect(await ask(devchain, 'eth_getTransactionCount', MULTICALL3)).toBe('0x1')
    await ask(devchain, 'evm_mine')
    await ask(devchain, 'hardhat_reset')
    expect(keccak256(await ask<Hex>(devchain, 'eth_getCode', MULTICALL3))).toBe(CODE_HASH)
  })

  test('can be combined with a genesis file', async () => {
    const genesis = fileOf({ alloc: { [BOX]: { balance: '0x5' } } }, 'genesis.json')
    const options = ['--accounts', '0', '--genesis', genesis, '--predeploy', 'multicall3']
    const { url, stop } = await boot([...options, '--port', '0'])
    expect(keccak256((await request(url, 'eth_getCode', MULTICALL3)) as Hex)).toBe(CODE_HASH)
    expect(await request(url, 'eth_getBalance', BOX)).toBe('0x5')
    await stop()
  })
})

describe('--predeploy FILE', () => {
  test('creates accounts with code, balance, nonce and storage', async () => {
    const others = `0x${'c0'.repeat(20)}`
    const file = fileOf({
      [BOX]: { deployedBytecode: { object: READS_SLOT_1 }, storage: { '0x1': '0x2a' } },
      [others]: { code: READS_SLOT_1, nonce: '0x0', balance: 7 },
      [FIRST]: { balance: '0x1' },
    })
    const devchain = await open({ predeploy: [file, 'multicall3'] })
    expect(await ask(devchain, 'eth_call', { to: BOX })).toBe(`0x${'2a'.padStart(64, '0')}`)
    expect(await ask(devchain, 'eth_getTransactionCount', BOX)).toBe('0x1')
    expect(await ask(devchain, 'eth_getTransactionCount', others)).toBe('0x0')
    expect(await ask(devchain, 'eth_getBalance', others)).toBe('0x7')
    expect(await ask(devchain, 'eth_getBalance', FIRST)).toBe('0x1')
    expect(keccak256(await ask<Hex>(devchain, 'eth_getCode', MULTICALL3))).toBe(CODE_HASH)
  })

  test.each<[string, unknown, RegExp]>([
    ['no JSON', '{', /accounts\.json is not valid JSON/],
    ['a list', [], /accounts\.json: invalid accounts: accounts: expected an object, got \[\]/],
    ['no address', { '0x12': {} }, /0x12: expected 20 bytes as 40 hex digits, got "0x12"/],
    ['another field', { [BOX]: { coed: '0x' } }, /b0\.coed: expected one of balance, nonce, code/],
    [
      'a placeholder of a library',
      { [BOX]: { code: '0x73__$aa$__' } },
      /b0\.code: expected bytes as an even number of hex digits, got "0x73__\$aa\$__"/,
    ],
    [
      'both names of code',
      { [BOX]: { code: '0x00', deployedBytecode: '0x00' } },
      /expected either code or deployedBytecode/,
    ],
    ['nothing', { [BOX]: {} }, /b0: expected code, a balance, a nonce or storage, got \{\}/],
  ])('refuses %s with what was expected', async (_, content, message) => {
    await expect(createDevchain({ predeploy: fileOf(content) })).rejects.toThrow(message)
  })

  test('refuses an address that is also in another file, a name or the genesis', async () => {
    const one = fileOf({ [BOX]: { balance: 1 } }, 'one.json')
    const two = fileOf({ [BOX]: { balance: 2 } }, 'two.json')
    const own = fileOf({ [MULTICALL3]: { balance: 2 } }, 'own.json')
    const refusal = (options: DevchainOptions): Promise<unknown> =>
      createDevchain(options).then(
        () => 'accepted',
        (error: Error) => error.message,
      )
    expect(await refusal({ predeploy: [one, two] })).toBe(
      `predeploy ${two}: ${BOX} is already in ${one}`,
    )
    expect(await refusal({ predeploy: ['multicall3', own] })).toBe(
      `predeploy ${own}: ${MULTICALL3} is already in multicall3`,
    )
    const genesis = { alloc: { [BOX]: { balance: '0x5' } } }
    expect(await refusal({ genesis, predeploy: one })).toBe(
      `predeploy ${one}: ${BOX} is already in the genesis file`,
    )
    expect(await refusal({ predeploy: 'nowhere.json' })).toBe(
      'cannot read the file of accounts nowhere.json: there is no such file',
    )
    expect(await refusal({ predeploy: 'multicall' })).toBe(
      'predeploy: expected multicall3, or the path of a JSON file of accounts, such as ./accounts.json, got "multicall"',
    )
    await open({ predeploy: [one, one] })
  })
})

describe.each([false, true])('--predeploy in a fork, proofs %s', (forkProofs) => {
  test('places a named contract if the network has no code there, and keeps the network’s code', async () => {
    await using upstream = await startUpstream()
    await using fork = await forkOf(upstream, { predeploy: 'multicall3', forkProofs })
    expect(keccak256((await fork.ask('eth_getCode', MULTICALL3)) as Hex)).toBe(CODE_HASH)
    await upstream.ask('anvil_setCode', MULTICALL3, '0x6001')
    await upstream.ask('evm_mine')
    await using later = await forkOf(upstream, { predeploy: 'multicall3', forkProofs })
    expect(await later.ask('eth_getCode', MULTICALL3)).toBe('0x6001')
  })

  test('replaces an account of the network with that of a file', async () => {
    await using upstream = await startUpstream()
    await upstream.ask('anvil_setCode', BOX, '0x6001')
    await upstream.ask('anvil_setStorageAt', BOX, '0x2', `0x${'01'.repeat(32)}`)
    await upstream.ask('anvil_setBalance', BOX, '0x5')
    await upstream.ask('evm_mine')
    const predeploy = fileOf({ [BOX]: { code: READS_SLOT_1, storage: { '0x1': '0x2a' } } })
    await using fork = await forkOf(upstream, { predeploy, forkProofs })
    const check = async (): Promise<void> => {
      expect(await fork.ask('eth_call', { to: BOX })).toBe(`0x${'2a'.padStart(64, '0')}`)
      expect(await fork.ask('eth_getStorageAt', BOX, '0x2')).toBe(`0x${'00'.repeat(32)}`)
      expect(await fork.ask('eth_getBalance', BOX)).toBe('0x0')
      expect(await fork.ask('eth_getTransactionCount', BOX)).toBe('0x1')
    }
    await check()
    await fork.ask('evm_mine')
    await check()
    await fork.ask('evm_reset')
    await check()
  })
})
