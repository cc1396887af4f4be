// debug_executionWitness as who has nothing else would use it: another library makes the block's state root of its nodes.
import { createMPT, type MerklePatriciaTrie, updateMPTFromMerkleProof } from '@ethereumjs/mpt'
import { RLP } from '@ethereumjs/rlp'
import { afterEach, describe, expect, test } from 'vitest'
import { keccakHash } from '../../../src/core/crypto/crypto.ts'
import {
  bytesFromBigint,
  bytesFromHex,
  concatBytes,
  type Hash,
  type Hex,
  hexFromBytes,
  paddedBytes,
} from '../../../src/core/hex.ts'
import { createDevchain, type Devchain, type DevchainOptions } from '../../../src/devchain.ts'
import { DEFAULT_HARDFORK, HARDFORKS } from '../../../src/protocol/forks.ts'
import { networkBlocks, networkGenesis } from '../../support/chain/networkchain.ts'

interface Witness {
  readonly state: readonly Hex[]
  readonly codes: readonly Hex[]
  readonly keys: readonly Hex[]
  readonly headers: readonly Hex[]
}

interface Account {
  readonly balance: Hex
  readonly nonce: Hex
  readonly codeHash: Hex
  readonly storageHash: Hex
  readonly storageProof: readonly { readonly value: Hex }[]
}

interface Block {
  readonly hash: Hex
  readonly stateRoot: Hex
  readonly parentHash: Hex
}

const NO_CODE = keccakHash(new Uint8Array(0))
const EMPTY_ROOT = keccakHash(Uint8Array.of(0x80))

let devchain: Devchain
let sender: string

const ask = <T>(method: string, ...params: unknown[]): Promise<T> =>
  devchain.request({ method, params }) as Promise<T>

async function start(options: DevchainOptions = {}): Promise<void> {
  devchain = await createDevchain({ clock: 'frozen', ...options })
  sender = (await ask<string[]>('eth_accounts'))[0] ?? ''
}
afterEach(() => devchain.close())

/** Deploys runtime code. */
async function deploy(runtime: string): Promise<string> {
  const size = (runtime.length / 2).toString(16).padStart(2, '0')
  const data = `0x60${size}600c60003960${size}6000f3${runtime}`
  const hash = await ask('eth_sendTransaction', { from: sender, data, gas: '0x50000' })
  return (await ask<{ contractAddress: string }>('eth_getTransactionReceipt', hash)).contractAddress
}

const word = (value: bigint): string => hexFromBytes(paddedBytes(value, 32)).slice(2)

const call = (to: string, ...words: readonly bigint[]): Promise<string> =>
  ask('eth_sendTransaction', {
    from: sender,
    to,
    data: `0x${words.map(word).join('')}`,
    gas: '0x70000',
  })

/** The keys by account, in 20 bytes, each with its slots. */
function keysOf({ keys }: Witness): Map<Hex, Hex[]> {
  const slots = new Map<Hex, Hex[]>()
  let latest: Hex[] = []
  for (const key of keys) {
    if (key.length === 66) latest.push(key)
    else {
      latest = []
      slots.set(key, latest)
    }
  }
  return slots
}

/** Sets values, then takes away: a client that does it the other way round could need more nodes. */
async function changed(
  trie: MerklePatriciaTrie,
  values: readonly (readonly [Hex, Uint8Array | null])[],
): Promise<Hex> {
  const [set, gone] = [values.filter(([, value]) => value), values.filter(([, value]) => !value)]
  for (const [key, value] of [...set, ...gone]) await trie.put(bytesFromHex(key), value)
  return hexFromBytes(trie.root())
}

async function partialTrie(root: Hex, nodes: readonly Hex[]): Promise<MerklePatriciaTrie> {
  const trie = await createMPT({ root: bytesFromHex(root), useKeyHashing: true })
  await updateMPTFromMerkleProof(trie, nodes.map(bytesFromHex))
  return trie
}

/**
 * The state root after a block, made of its witness and of the values that the accounts and slots of its keys have after.
 * Throws where a node is missing.
 */
async function rootFrom(witness: Witness, block: Block, parent: Block): Promise<Hex> {
  const accounts: [Hex, Uint8Array | null][] = []
  for (const [address, slots] of keysOf(witness)) {
    const [before, after] = await Promise.all(
      [parent, block].map(({ hash }) => ask<Account>('eth_getProof', address, slots, hash)),
    )
    if (before === undefined || after === undefined) throw new Error('no proofs')
    const storage = await partialTrie(before.storageHash, witness.state)
    const values = after.storageProof.map(({ value }, i): [Hex, Uint8Array | null] => [
      slots[i]!,
      BigInt(value) === 0n ? null : RLP.encode(bytesFromBigint(BigInt(value))),
    ])
    const isGone = after.nonce === '0x0' && after.balance === '0x0' && after.codeHash === NO_CODE
    if (!isGone) expect(await changed(storage, values), address).toBe(after.storageHash)
    accounts.push([address, isGone ? null : leafOf(after)])
  }
  return changed(await partialTrie(parent.stateRoot, witness.state), accounts)
}

function leafOf({ nonce, balance, storageHash, codeHash }: Account): Uint8Array {
  return RLP.encode([
    bytesFromBigint(BigInt(nonce)),
    bytesFromBigint(BigInt(balance)),
    bytesFromHex(storageHash),
    bytesFromHex(codeHash),
  ])
}

const checkNewest = (): Promise<Witness> => check('latest')

/** Checks the witness of a block. */
async function check(number: string | number): Promise<Witness> {
  const block = await ask<Block>('eth_getBlockByNumber', number, false)
  const parent = await ask<Block>('eth_getBlockByHash', block.parentHash, false)
  const witness = await ask<Witness>('debug_executionWitness', number)
  expect(await rootFrom(witness, block, parent), `block ${number}`).toBe(block.stateRoot)
  expect(keccakHash(bytesFromHex(witness.headers.at(-1)!))).toBe(block.parentHash)
  return witness
}

const FORKS = [...new Set([DEFAULT_HARDFORK, HARDFORKS.at(-1)!])]

describe.each(FORKS)('debug_executionWitness alone gives the state root under %s', (hardfork) => {
  test('of an empty block, which passes the parent hash to system contracts', async () => {
    await start({ hardfork })
    await ask('evm_mine')
    const witness = await checkNewest()
    expect([...keysOf(witness).keys()]).toContain('0x0000f90827f1c53a10cb7a02335b175320002935')
  })

  test('of a transfer to a new account', async () => {
    await start({ hardfork })
    const to = `0x${'a1'.repeat(20)}`
    await ask('eth_sendTransaction', { from: sender, to, value: '0x1', gas: '0x5208' })
    expect([...keysOf(await checkNewest()).keys()]).toContain(to)
  })

  test.each([
    { order: 'as they came', clear: [1n, 2n, 3n, 4n, 5n, 6n, 7n, 8n] },
    { order: 'from the last on', clear: [8n, 7n, 6n, 5n, 4n, 3n, 2n, 1n] },
  ])('of slots that are set and cleared $order, with their branches', async ({ clear }) => {
    await start({ hardfork })
    // SSTORE(calldata[32], calldata[0])
    const store = await deploy('60003560203555')
    await checkNewest()
    for (const slot of clear) {
      await call(store, slot, slot)
      await checkNewest()
    }
    for (const slot of clear) {
      await call(store, 0n, slot)
      const witness = await checkNewest()
      expect(keysOf(witness).get(store as Hex)).toContain(`0x${word(slot)}`)
      expect(witness.codes).toEqual(expect.arrayContaining(['0x60003560203555']))
    }
  })

  test('of many cleared slots in one block', async () => {
    await start({ hardfork })
    // SSTORE(calldata[32], calldata[0]), SSTORE(calldata[96], calldata[64])
    const store = await deploy('600035602035556040356060355500')
    for (let slot = 0n; slot < 20n; slot += 2n) await call(store, 7n, slot, 7n, slot + 1n)
    await ask('evm_stopMining')
    for (let slot = 2n; slot < 20n; slot += 2n) await call(store, 0n, slot, 0n, slot + 1n)
    await ask('evm_mine')
    await checkNewest()
  })

  test('of a contract that destroys itself', async () => {
    await start({ hardfork: 'shanghai', accounts: 3 })
    for (let i = 0; i < 4; i++) {
      const mortal = await deploy('33ff')
      await call(mortal)
      await checkNewest()
      expect(await ask('eth_getCode', mortal, 'latest')).toBe('0x')
    }
  })
})

test('debug_executionWitness has the headers that BLOCKHASH reads, oldest first', async () => {
  await start()
  await ask('hardhat_mine', '0x14')
  // MSTORE(0, BLOCKHASH(calldata[0])) RETURN(0, 32)
  const look = await deploy('6000354060005260206000f3')
  await call(look, 17n)
  const { headers } = await checkNewest()
  const blocks = await Promise.all(
    [17, 18, 19, 20, 21].map((number) => ask<Block>('eth_getBlockByNumber', number, false)),
  )
  expect(headers.map((header) => keccakHash(bytesFromHex(header)))).toEqual(
    blocks.map(({ hash }) => hash),
  )
  await call(look, 10_000n)
  expect((await checkNewest()).headers).toHaveLength(1)
})

test('debug_executionWitness of a block that a revert left is as before', async () => {
  await start()
  // MSTORE(0, BLOCKHASH(calldata[0])) RETURN(0, 32)
  const look = await deploy('6000354060005260206000f3')
  const snapshot = await ask('evm_snapshot')
  for (let i = 0; i < 3; i++) await call(look, 2n)
  const { hash } = await ask<Block>('eth_getBlockByNumber', 'latest', false)
  const witness = await checkNewest()
  await ask('evm_revert', snapshot)
  for (let i = 0; i < 3; i++) await call(look, 0n)
  expect(witness.headers).toHaveLength(2)
  expect(await ask('debug_executionWitness', hash)).toEqual(witness)
})

test('debug_executionWitness has the caller of the system contracts', async () => {
  await start()
  await ask('evm_mine')
  expect([...keysOf(await checkNewest()).keys()]).toContain(`0x${'f'.repeat(39)}e`)
})

test.each([
  { hardfork: 'homestead', value: '00', gas: 21_800 },
  { hardfork: 'berlin', value: '01', gas: 36_000 },
  { hardfork: 'osaka', value: '01', gas: 36_000 },
] as const)(
  'debug_executionWitness under $hardfork has an account whose existence decides that a call runs out of gas',
  async ({ hardfork, value, gas }) => {
    await start({ hardfork })
    const [caller, called] = [`0x${'cc'.repeat(20)}`, `0x${'dd'.repeat(20)}`]
    await ask('hardhat_setCode', caller, `0x600060006000600060${value}73${called.slice(2)}5af1`)
    await ask('evm_mine')
    await ask('eth_sendTransaction', { from: sender, to: caller, gas: `0x${gas.toString(16)}` })
    const keys = keysOf(await ask<Witness>('debug_executionWitness', 'latest'))
    expect([...keys.keys()]).toContain(called)
  },
)

test('debug_executionWitness omits nodes that no key leads to', async () => {
  await start()
  await ask('evm_mine')
  const { state } = await checkNewest()
  const { accounts } = await ask<{ accounts: object }>('debug_dumpBlock', 'latest')
  const nodes = new Set(state.map((node) => keccakHash(bytesFromHex(node))))
  expect(nodes.has(EMPTY_ROOT)).toBe(false)
  expect(state.length).toBeLessThan(Object.keys(accounts).length)
})

test('debug_executionWitness covers every fork of a network: rewards, uncles, withdrawals, requests', async () => {
  const options = { genesis: networkGenesis, accounts: 0 }
  await using empty = await createDevchain(options)
  const genesis = (await empty.request({
    method: 'eth_getBlockByNumber',
    params: ['earliest', false],
  })) as { hash: Hash }
  const blocks = await networkBlocks(genesis.hash)
  devchain = await createDevchain({ ...options, import: concatBytes(...blocks) })
  for (let number = 1; number <= blocks.length; number++) await check(number)
})
