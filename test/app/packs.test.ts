// Packs: a chain with its snapshots as one file, and chains that begin with it.
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { createDevchain, type Devchain } from '../../src/devchain.ts'
import { flagOf } from '../../src/options/derived.ts'
import { FORMAT } from '../../src/store/frames.ts'
import { packInTurns, packState } from '../../src/store/pack.ts'
import { readPack, writePack } from '../../src/store/packfile.ts'
import { temporaryFolder } from '../support/process/boot.ts'
import { testChain, testEnvironment } from '../unit/node/chains.ts'
import { answersOf, step, take } from '../unit/store/histories.ts'

const SECOND = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8'

type Options = NonNullable<Parameters<typeof createDevchain>[0]>

async function open(options: Options): Promise<Devchain> {
  const devchain = await createDevchain({ noArtifacts: true, ...options })
  onTestFinished(() => devchain.close())
  return devchain
}

function ask({ request }: Pick<Devchain, 'request'>, method: string, ...params: unknown[]) {
  return request({ method, params })
}

/** Two blocks, then a snapshot named `deployed`, and a block after it. */
async function prepared(options: Options): Promise<Devchain> {
  const devchain = await open({ clock: 'step:3', ...options })
  const [{ address }] = devchain.accounts as [Devchain['accounts'][number]]
  const send = () =>
    ask(devchain, 'eth_sendTransaction', { from: address, to: SECOND, value: '0x1' })
  await send()
  await send()
  await ask(devchain, 'devchain_snapshot', 'deployed')
  await send()
  return devchain
}

test('the same chain gives the same pack, also after it began with one', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 5, maxLength: 25, size: 'max' }),
      async (steps) => {
        const environment = testEnvironment()
        const chain = await testChain({ environment })
        for (const each of steps) await take(chain, environment, each)
        const pack = await writePack({ state: chain.state, compat: undefined })
        expect(await writePack({ state: chain.state, compat: undefined })).toEqual(pack)
        const { state } = await readPack(pack, 'a.pack', async () => undefined)
        // reading some of it must not change what is written
        const answers = answersOf({ ...chain.state, origin: undefined, resets: 0 })
        expect(answersOf(state)).toEqual(answers)
        expect(await writePack({ state, compat: undefined })).toEqual(pack)
        chain.close()
      },
    ),
    { seed: 20261127, numRuns: 8 },
  )
}, 120_000)

test('two runs of one script save the same bytes', async () => {
  const [one, other] = [await prepared({}), await prepared({})]
  expect(Buffer.compare(await one.save(), await other.save())).toBe(0)
})

test('a pack has nothing of the machine: neither ports nor paths', async () => {
  const folder = temporaryFolder(onTestFinished)
  const one = await prepared({})
  const dumpState = path.join(folder, 'dump.json')
  const other = await prepared({ port: 12_345, host: '0.0.0.0', dumpState })
  expect(Buffer.compare(await one.save(), await other.save())).toBe(0)
})

test('a chain begins with all that the pack held, and resets go back to it', async () => {
  const first = await prepared({ chainId: 5, tip: 7n })
  await ask(first, 'hardhat_setBalance', SECOND, '0x5')
  const pack = await first.save()
  const second = await open({ from: pack })
  const [one, other] = [first, second].map(({ node }) => ({
    ...node.chain.state,
    origin: undefined,
  }))
  expect(answersOf(other!)).toEqual(answersOf(one!))
  expect(await ask(second, 'eth_chainId')).toBe('0x5')
  expect(second.options.tip).toBe(7n)
  await ask(second, 'devchain_revert', 'deployed')
  expect(await ask(second, 'eth_blockNumber')).toBe('0x2')
  await ask(second, 'evm_mine')
  for (const method of ['evm_reset', 'hardhat_reset', 'anvil_reset']) {
    await ask(second, 'devchain_dropSnapshot', 'deployed')
    await ask(second, method)
    expect(await ask(second, 'eth_blockNumber')).toBe('0x3')
    expect(await ask(second, 'eth_getBalance', SECOND, 'latest')).toBe('0x5')
    expect(await ask(second, 'devchain_snapshots')).toMatchObject([{ name: 'deployed' }])
  }
  expect(Buffer.compare(await second.save(), pack)).toBe(0)
})

test('chains at paths begin with the pack and its snapshots, and are saved alone', async () => {
  const first = await prepared({})
  const second = await open({ from: await first.save() })
  await ask(second, 'evm_mine')
  const seventh = await second.branch('7')
  expect(await ask(seventh, 'eth_blockNumber')).toBe('0x3')
  await ask(seventh, 'devchain_revert', 'deployed')
  await ask(seventh, 'evm_mine')
  const third = await open({ from: await seventh.save() })
  expect(await ask(third, 'eth_getBlockByNumber', 'latest', false)).toEqual(
    await ask(seventh, 'eth_getBlockByNumber', 'latest', false),
  )
  expect(await ask(second, 'eth_blockNumber')).toBe('0x4')
})

test('a chain from a pack has the options and the errors of the chain that was saved', async () => {
  const first = await prepared({ compat: 'hardhat', accounts: 3 })
  const pack = await first.save()
  const second = await open({ from: pack })
  expect(await ask(second, 'web3_clientVersion')).toBe(await ask(first, 'web3_clientVersion'))
  expect(await ask(second, 'eth_accounts')).toHaveLength(3)
  expect(second.options).toMatchObject({ compat: 'hardhat', accounts: 3, onRevert: 'throw' })
  await expect(open({ from: pack, compat: 'hardhat' })).resolves.toBeDefined()
  await expect(open({ from: pack, compat: 'geth' })).rejects.toThrow(
    '--compat: the chain in from began with hardhat; leave the option out',
  )
  await expect(open({ from: pack, accounts: 4 })).rejects.toThrow(
    '--accounts: the chain in from has 3; leave the option out',
  )
  await expect(open({ from: pack, mnemonic: `${'test '.repeat(11)} ball` })).rejects.toThrow(
    /^--mnemonic: the chain in from began with another; leave the option out$/,
  )
  for (const [option, other, own] of [
    ['chainId', 7n, '31337'],
    ['hardfork', 'london', 'bpo2'],
    ['gasLimit', 7_000_000n, '60M'],
    ['difficulty', 7n, '0'],
    ['coinbase', SECOND, '0xc014ba5ec014ba5ec014ba5ec014ba5ec014ba5e'],
  ] as const) {
    await expect(open({ from: pack, [option]: other })).rejects.toThrow(
      `${flagOf(option)}: the chain in from has ${own}; leave the option out`,
    )
  }
  await expect(open({ from: pack, chainId: 31337n })).resolves.toBeDefined()
  await expect(open({ from: pack, import: new Uint8Array(1) })).rejects.toThrow(
    'from contradicts import: a pack has its own genesis and blocks',
  )
})

test('a new chain on disk begins with a pack, which is not read again', async () => {
  const folder = temporaryFolder(onTestFinished)
  const [state, from] = [path.join(folder, 'chain'), path.join(folder, 'a.pack')]
  const first = await prepared({ chainId: 5 })
  writeFileSync(from, await first.save())
  const second = await createDevchain({ from, state, noArtifacts: true })
  await ask(second, 'evm_mine')
  await second.close()
  writeFileSync(from, 'something else')
  const third = await open({ from, state })
  expect(await ask(third, 'eth_blockNumber')).toBe('0x4')
  expect(third.options.chainId).toBe(5n)
  await ask(third, 'evm_reset')
  expect(await ask(third, 'eth_blockNumber')).toBe('0x3')
})

test('a pack of another kind, another version, or with a damaged byte is refused', async () => {
  const folder = temporaryFolder(onTestFinished)
  const file = path.join(folder, 'a.pack')
  const refused = async (bytes: Uint8Array | string): Promise<string> => {
    writeFileSync(file, bytes)
    return await open({ from: file }).then(
      () => 'it began',
      ({ message }: Error) => message.replace(file, 'FILE'),
    )
  }
  const pack = await (await prepared({})).save()
  const text = Buffer.from(pack).toString('latin1')
  const expected = 'FILE: expected a pack that devchain save wrote, got'
  expect(await refused('')).toBe(`${expected} an empty file`)
  expect(await refused('{"accounts":{}}')).toBe(
    `${expected} JSON; --load-state reads dumps of anvil`,
  )
  expect(await refused('RIFF')).toBe(`${expected} something else`)
  const { chain } = (await open({})).node
  expect(await refused(packState(chain.state))).toBe(
    `${expected} the file of a chain on disk; --state reads its folder`,
  )
  for (const [format, age] of [
    [FORMAT + 1, 'a newer'],
    [FORMAT - 1, 'an older'],
  ] as const) {
    const other = text.replace(`devchain pack ${FORMAT}`, `devchain pack ${format}`)
    expect(await refused(Buffer.from(other, 'latin1'))).toBe(
      `${expected} a pack of ${age} devchain (format ${format}; this one reads ${FORMAT})`,
    )
  }
  const damaged = 'FILE: the pack is damaged or cut off: its checksum is another; save it again'
  const beginning = text.indexOf('\n') + 1
  for (const at of fc.sample(fc.integer({ min: beginning, max: pack.length - 1 }), {
    seed: 1,
    numRuns: 30,
  })) {
    const bytes = pack.slice()
    bytes[at]! ^= 1 << (at % 8)
    expect(await refused(bytes)).toBe(damaged)
    expect(await refused(pack.slice(0, at))).toBe(damaged)
  }
  await expect(open({ from: path.join(folder, 'none.pack') })).rejects.toThrow(
    /^cannot read the pack .*none\.pack: /,
  )
})

test('devchain_save gives no keys that are not public to whoever asks', async () => {
  const mnemonic = 'myth like bonus scare over problem client lizard pioneer submit female collect'
  const devchain = await open({ mnemonic })
  await expect(ask(devchain, 'devchain_save')).rejects.toThrow('a pack has the keys')
  const again = await open({ from: await devchain.save() })
  expect(again.accounts).toEqual(devchain.accounts)
})

test('a pack of a fork has no URL, and begins with its network or with a recording', async () => {
  const folder = temporaryFolder(onTestFinished)
  const [from, recording] = [path.join(folder, 'a.pack'), path.join(folder, 'fork.jsonl')]
  const network = await open({ port: 0, chainId: 1 })
  const other = await open({ port: 0, chainId: 1, clock: 'frozen' })
  const [account, local, late] = ['aa', 'bb', 'cc'].map((each) => `0x${each.padStart(40, '0')}`)
  await ask(network, 'hardhat_setBalance', account, '0x5')
  await ask(network, 'hardhat_setBalance', late, '0x9')
  await ask(network, 'evm_mine')
  await ask(other, 'evm_mine')
  const { url } = await network.listen()
  const offline = { noForkCache: true, forkRetries: 0, forkMaxWait: '1s' }
  const first = await open({ fork: url, forkRecord: recording, ...offline })
  // turns of one object leave the same bytes
  const fresh = first.node.chain.state
  expect(Buffer.compare(await packInTurns(fresh, 0), packState(fresh))).toBe(0)
  expect(await ask(first, 'eth_getBalance', account, 'latest')).toBe('0x5')
  await ask(first, 'hardhat_setBalance', local, '0x7')
  await ask(first, 'evm_mine')
  const pack = await first.save()
  writeFileSync(from, pack)
  expect(Buffer.from(pack).includes(url)).toBe(false)
  const { hash } = (await ask(network, 'eth_getBlockByNumber', 'latest', false)) as { hash: string }
  await expect(open({ from })).rejects.toThrow(
    `the chain in ${from} is a fork of chain 1 at block ${hash}: name its network with --fork URL, or a recording with --fork-replay FILE`,
  )
  await expect(open({ from, fork: `${url}@0`, ...offline })).rejects.toThrow(
    `--fork: the chain in ${from} is a fork at block 1, ${hash}; leave the option out`,
  )
  await expect(open({ from, fork: (await other.listen()).url, ...offline })).rejects.toThrow()
  const second = await open({ from, fork: url, ...offline })
  const seventh = await second.branch('7')
  for (const chain of [second, seventh]) {
    expect(await ask(chain, 'eth_getBalance', local, 'latest')).toBe('0x7')
    expect(await ask(chain, 'eth_getBalance', account, 'latest')).toBe('0x5')
    await ask(chain, 'hardhat_setBalance', local, '0x1')
  }
  expect(await ask(second, 'eth_getBalance', late, 'latest')).toBe('0x9')
  await ask(second, 'evm_reset')
  expect(await ask(second, 'eth_blockNumber')).toBe('0x2')
  expect(await ask(second, 'eth_getBalance', local, 'latest')).toBe('0x7')
  await first.close()
  await network.close()
  const third = await open({ from, forkReplay: recording })
  expect(await ask(third, 'eth_getBalance', local, 'latest')).toBe('0x7')
  expect(await ask(third, 'eth_getBalance', account, 'latest')).toBe('0x5')
  await ask(third, 'evm_mine')
  expect(await ask(third, 'eth_blockNumber')).toBe('0x3')
  const plain = await (await open({})).save()
  await expect(open({ from: plain, forkReplay: recording })).rejects.toThrow(
    '--fork-replay: the chain in from is no fork; leave the option out',
  )
})
