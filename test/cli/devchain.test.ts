// createDevchain: the chain inside a program, and that every option reaches it.
import { writeFileSync } from 'node:fs'
import { get } from 'node:http'
import path from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { MODULES } from '../../src/app/dispatcher.ts'
import type { DevchainOptions } from '../../src/app/settings.ts'
import { createDevchain, type Devchain, type Hooks } from '../../src/devchain.ts'
import { request as overHttp, temporaryFolder } from '../support/process/boot.ts'

const FIRST = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'
const SECOND = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8'
const DEPLOYER = '0x4e59b44847b379578588920ca78fbf26c0b4956c'

async function open(options: DevchainOptions = {}, hooks: Hooks = {}): Promise<Devchain> {
  const devchain = await createDevchain({ accounts: 2, ...options }, hooks)
  onTestFinished(() => devchain.close())
  return devchain
}
const ask = (devchain: Devchain, method: string, ...params: unknown[]): Promise<unknown> =>
  devchain.request({ method, params })

describe('createDevchain', () => {
  test('responds to requests without a port, and the same over a port once it listens', async () => {
    const devchain = await open({ port: 0 })
    expect(await ask(devchain, 'eth_chainId')).toBe('0x21')
    expect(await ask(devchain, 'net_listening')).toBe(false)
    const { url, wsUrl, port } = await devchain.listen()
    expect([url, wsUrl]).toEqual([`http://127.0.0.1:${port}`, `ws://127.0.0.1:${port}`])
    expect(await overHttp(url, 'net_listening')).toBe(true)
    expect(await overHttp(url, 'eth_accounts')).toEqual([FIRST, SECOND])
    expect(await devchain.listen()).toEqual({ url, wsUrl, port })
  })

  test('rejects with the code, message and data of the wire', async () => {
    const devchain = await open()
    const unknown = ask(devchain, 'eth_nothing')
    await expect(unknown).rejects.toMatchObject({ code: -32601, message: expect.any(String) })
    await expect(unknown).rejects.toBeInstanceOf(Error)
  })

  test('returns accounts with the keys that sign for them', async () => {
    const { accounts } = await open()
    expect(accounts[0]).toEqual({
      address: FIRST,
      privateKey: '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80',
    })
    expect(accounts).toHaveLength(2)
  })

  test('is closed by await using, sockets included; closing again is harmless', async () => {
    let url: string
    let devchain: Devchain
    {
      await using scoped = await createDevchain({ port: 0, accounts: 1 })
      devchain = scoped
      url = (await scoped.listen()).url
      expect(await overHttp(url, 'eth_chainId')).toBe('0x21')
    }
    await expect(fetch(url)).rejects.toThrow()
    await devchain.close()
  })

  test('can listen on a port later that was in use', async () => {
    const first = await open({ port: 0 })
    const { port } = await first.listen()
    const second = await open({ port })
    await expect(second.listen()).rejects.toMatchObject({ code: 'EADDRINUSE' })
    await first.close()
    expect((await second.listen()).port).toBe(port)
  })

  test('makes chains that are independent', async () => {
    const [one, other] = [await open(), await open({ chainId: 5 })]
    await ask(one, 'evm_mine')
    expect(await ask(one, 'eth_blockNumber')).toBe('0x1')
    expect(await ask(other, 'eth_blockNumber')).toBe('0x0')
    expect(await ask(other, 'eth_chainId')).toBe('0x5')
  })

  test('calls an observer for calls and changes; its errors go to onBug', async () => {
    const reported: unknown[] = []
    const bugs: unknown[] = []
    const observer = {
      onCall: ({ method }: { method: string }) => {
        reported.push(method)
        throw new Error('a bad observer')
      },
      onChange: ({ head }: { head: { added: { length: number } } }) =>
        reported.push(head.added.length),
      onBug: (error: unknown) => bugs.push(error),
    }
    const devchain = await open({}, { observer })
    await ask(devchain, 'evm_mine')
    expect(reported).toEqual([1, 'evm_mine'])
    expect(bugs).toEqual([expect.objectContaining({ message: 'a bad observer' })])
  })
})

describe('createDevchain with options', () => {
  /** What one question answers under some options. */
  const cases: readonly [DevchainOptions, method: string, params: unknown[], answer: unknown][] = [
    [{ chainId: 5 }, 'net_version', [], '5'],
    [{ chainId: 5, networkId: '6' }, 'net_version', [], '6'],
    [{ coinbase: SECOND }, 'eth_coinbase', [], SECOND],
    [{ balance: '1.5' }, 'eth_getBalance', [FIRST, 'latest'], '0x14d1120d7b160000'],
    [{ accounts: 0 }, 'eth_accounts', [], []],
    [{ noCreate2: true }, 'eth_getCode', [DEPLOYER, 'latest'], '0x'],
    [{ noMining: true }, 'eth_mining', [], false],
    [{ blockTime: 60 }, 'eth_mining', [], true],
    [{ alias: 'my_*=evm_*' }, 'my_snapshot', [], '0x1'],
    [{ alias: ['ping=eth_chainId'] }, 'ping', [], '0x21'],
    [{ gasPrice: '2gwei' }, 'eth_gasPrice', [], '0x77359400'],
  ]
  test.each(cases)('%j: %s', async (options, method, params, answer) => {
    expect(await ask(await open(options), method, ...params)).toEqual(answer)
  })

  const blockCases: readonly [DevchainOptions, field: string, value: unknown][] = [
    [{ gasLimit: '50M' }, 'gasLimit', '0x2faf080'],
    [{ difficulty: 7 }, 'difficulty', '0x7'],
    [{ timestamp: 1_800_000_000 }, 'timestamp', '0x6b49d200'],
    [{ baseFee: '1 gwei' }, 'baseFeePerGas', '0x3b9aca00'],
    [{ hardfork: 'berlin' }, 'baseFeePerGas', undefined],
    [{ coinbase: SECOND }, 'miner', SECOND],
  ]
  test.each(blockCases)('%j shows it in the first block: %s', async (options, field, value) => {
    const devchain = await open(options)
    const block = await ask(devchain, 'eth_getBlockByNumber', 'latest', false)
    expect((block as Record<string, unknown>)[field]).toEqual(value)
  })

  test('disables a module', async () => {
    const devchain = await open({ disable: ['personal'] })
    await expect(ask(devchain, 'personal_listAccounts')).rejects.toMatchObject({ code: -32601 })
  })

  test('disables every module of the catalogue, those of lazy methods too', async () => {
    const devchain = await open({ disable: MODULES })
    for (const method of ['mnr_getWork', 'sco_peerList']) {
      await expect(ask(devchain, method)).rejects.toMatchObject({
        code: -32601,
        message: expect.stringContaining(`the module ${method.slice(0, 3)} is disabled`),
      })
    }
    expect(await ask(devchain, 'evm_mine').catch(({ code }) => code)).toBe(-32601)
    expect(await ask(devchain, 'hardhat_mine')).toBeNull()
  })

  test.each<[DevchainOptions, RegExp]>([
    [{ alias: 'a_*=sc_*' }, /there is no module sc; did you mean sco\?/],
    [{ disable: 'persnal' }, /there is no module persnal; did you mean personal\?/],
    [{ alias: 'a=eth_chainid' }, /there is no method eth_chainid; did you mean eth_chainId\?/],
    [{ disable: 'foo' }, /--disable: there is no module foo$/],
    [{ alias: 'foo=bar' }, /--alias: there is no method bar$/],
    [{ alias: 'a_*=evn_*' }, /there is no module evn; did you mean evm\?/],
    [{ port: 'x' }, /port: expected a port number/],
    [{ mnemonic: `${'test '.repeat(11)}tset` }, /mnemonic.*word 12 of 12 is not on its list/],
    [{ genesis: { alloc: 5 } }, /alloc/],
    [
      { genesis: { timestamp: '0x5' }, timestamp: 6 },
      /timestamp 6 contradicts the genesis file, which has 0x5|has 5/,
    ],
    [
      { genesis: { config: { chainId: 7 } }, chainId: 8 },
      /chain id 8 contradicts the genesis file, which has 7/,
    ],
  ])('%j is refused', async (options, message) => {
    await expect(createDevchain(options)).rejects.toThrow(message)
  })

  test('takes accounts, time and chain id from a genesis file, and adds dev accounts', async () => {
    const file = path.join(temporaryFolder(onTestFinished), 'genesis.json')
    const rich = `0x${'12'.repeat(20)}`
    const genesis = {
      config: { chainId: 99, londonBlock: 0 },
      alloc: { [rich]: { balance: '0x64' } },
      timestamp: '0x6b49d200',
      gasLimit: '0x1c9c380',
    }
    writeFileSync(file, JSON.stringify(genesis))
    const devchain = await open({ genesis: file })
    expect(await ask(devchain, 'eth_chainId')).toBe('0x63')
    expect(await ask(devchain, 'eth_getBalance', rich, 'latest')).toBe('0x64')
    expect(await ask(devchain, 'eth_getBalance', FIRST, 'latest')).toBe('0x21e19e0c9bab2400000')
    expect(await ask(devchain, 'eth_getBlockByNumber', '0x0', false)).toMatchObject({
      timestamp: '0x6b49d200',
    })
  })

  test('returns the hash for a revert, or an error under onRevert: throw', async () => {
    const failing = { from: FIRST, data: '0x60006000fd', gas: '0x186a0' }
    const hash = await ask(await open(), 'eth_sendTransaction', failing)
    expect(hash).toMatch(/^0x[0-9a-f]{64}$/)
    const throwing = ask(await open({ onRevert: 'throw' }), 'eth_sendTransaction', failing)
    await expect(throwing).rejects.toMatchObject({
      code: -32015,
      data: { hash: expect.any(String) },
    })
  })

  test('can revert to a snapshot again, or once under consumeSnapshots', async () => {
    for (const consumeSnapshots of [false, true]) {
      const devchain = await open({ consumeSnapshots })
      const id = await ask(devchain, 'evm_snapshot')
      expect(await ask(devchain, 'evm_revert', id)).toBe(true)
      expect(await ask(devchain, 'evm_revert', id)).toBe(!consumeSnapshots)
    }
  })

  test('makes equal blocks in two runs with a frozen clock', async () => {
    const hashes = await Promise.all(
      [1, 2].map(async () => {
        const devchain = await open({ clock: 'frozen' })
        await ask(devchain, 'eth_sendTransaction', { from: FIRST, to: SECOND, value: '0x1' })
        return ask(devchain, 'eth_getBlockByNumber', 'latest', true)
      }),
    )
    expect(hashes[0]).toEqual(hashes[1])
  })

  test('ends filters after the filter timeout', async () => {
    let now = 1_800_000_000_000
    const devchain = await open({ filterTimeout: '2' }, { environment: { now: () => now } })
    const id = await ask(devchain, 'eth_newBlockFilter')
    now += 1_900
    expect(await ask(devchain, 'eth_getFilterChanges', id)).toEqual([])
    now += 2_100
    await expect(ask(devchain, 'eth_getFilterChanges', id)).rejects.toMatchObject({ code: -32001 })
  })

  test('refuses bodies over the limit', async () => {
    const { url } = await (await open({ port: 0, bodyLimit: '1kB' })).listen()
    const large = overHttp(url, 'web3_sha3', `0x${'00'.repeat(1_000)}`)
    await expect(large).rejects.toThrow(/1000 bytes/)
  })

  test('responds to an allowed host and not to another', async () => {
    const { url } = await (await open({ port: 0, allowHost: 'chain.test' })).listen()
    expect(await statusFor(url, 'chain.test')).toBe(200)
    expect(await statusFor(url, 'evil.test')).toBe(403)
  })
})

/** The status of `GET /` as a page of `host` would ask for it: fetch does not let a caller choose the Host. */
function statusFor(url: string, host: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    get(url, { headers: { host } }, (response) => {
      response.resume()
      resolve(response.statusCode)
    }).on('error', reject)
  })
}
