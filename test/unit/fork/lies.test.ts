// A network that lies to a fork with proofs, in each member that it answers: an error names what does not hold, and nothing stays.
import { createMPTFromProof, verifyMerkleProof } from '@ethereumjs/mpt'
import { describe, expect, test } from 'vitest'
import { keccak256 } from '../../../src/core/crypto/crypto.ts'
import { bytesFromHex, hexFromBytes } from '../../../src/core/hex.ts'
import { decodeRlp } from '../../../src/core/rlp.ts'
import { slotKey } from '../../../src/state/keys.ts'
import {
  type Asked,
  deployKeeper,
  forkOf,
  sendOn,
  setting,
  startUpstream,
  word,
} from '../../support/fork/upstream.ts'

interface Slot {
  readonly key: string
  readonly value: string
  readonly proof: readonly string[]
}

interface Proof {
  readonly balance: string
  readonly nonce: string
  readonly codeHash: string
  readonly storageHash: string
  readonly accountProof: readonly string[]
  readonly storageProof: readonly Slot[]
}

type Change = (proof: Proof) => unknown

const ofSlots =
  (change: (slot: Slot, all: readonly Slot[]) => unknown): Change =>
  (proof) => ({
    ...proof,
    storageProof: proof.storageProof.map((each) => change(each, proof.storageProof)),
  })

const withoutLast = <T>(list: readonly T[]): readonly T[] => list.slice(0, -1)

/** A hexadecimal text with another digit at the end. */
const otherwise = (text: string): string => `${text.slice(0, -1)}${text.endsWith('0') ? '1' : '0'}`

/** Members that nobody believes: what is true stands in the proof. */
const IGNORED: readonly (readonly [string, Change])[] = [
  ['balance', (proof) => ({ ...proof, balance: '0xffff' })],
  ['nonce', (proof) => ({ ...proof, nonce: '0xffff' })],
  ['code hash', (proof) => ({ ...proof, codeHash: `0x${word(7)}` })],
  ['storage hash', (proof) => ({ ...proof, storageHash: `0x${word(7)}` })],
  ['values of slots', ofSlots((slot) => ({ ...slot, value: '0x77' }))],
  ['keys of slots', ofSlots((slot) => ({ ...slot, key: '0x77' }))],
]

const ACCOUNT = /a wrong proof of account 0x[0-9a-f]{40}/
const SLOT = /a wrong proof of slot 0x[0-9a-f]+ of 0x[0-9a-f]{40}/
const NO_PROOF = /the forked network answered .*, not a proof/

const FALSE: readonly (readonly [string, Change, RegExp])[] = [
  ['no proof at all', () => null, NO_PROOF],
  ['no account proof', ({ accountProof: _, ...rest }) => rest, NO_PROOF],
  ['an account proof that is none', (proof) => ({ ...proof, accountProof: ['0xzz'] }), NO_PROOF],
  ['an empty account proof', (proof) => ({ ...proof, accountProof: [] }), ACCOUNT],
  [
    'no leaf of an account',
    (proof) => ({ ...proof, accountProof: withoutLast(proof.accountProof) }),
    ACCOUNT,
  ],
  [
    'no root of the state',
    (proof) => ({ ...proof, accountProof: proof.accountProof.slice(1) }),
    ACCOUNT,
  ],
  [
    'nodes of the state upside down',
    (proof) => ({ ...proof, accountProof: proof.accountProof.toReversed() }),
    ACCOUNT,
  ],
  [
    'another leaf of an account',
    (proof) => ({
      ...proof,
      accountProof: [...withoutLast(proof.accountProof), otherwise(proof.accountProof.at(-1)!)],
    }),
    ACCOUNT,
  ],
  [
    'an empty node',
    (proof) => ({ ...proof, accountProof: [...withoutLast(proof.accountProof), '0x'] }),
    ACCOUNT,
  ],
  ['no list of slots', ({ storageProof: _, ...rest }) => rest, NO_PROOF],
  [
    'too few slots',
    (proof) => ({ ...proof, storageProof: withoutLast(proof.storageProof) }),
    NO_PROOF,
  ],
  ['an empty proof of a slot', ofSlots((slot) => ({ ...slot, proof: [] })), SLOT],
  ['no leaf of a slot', ofSlots((slot) => ({ ...slot, proof: withoutLast(slot.proof) })), SLOT],
  [
    'another leaf of a slot',
    ofSlots((slot) => ({
      ...slot,
      proof: [...withoutLast(slot.proof), otherwise(slot.proof.at(-1)!)],
    })),
    SLOT,
  ],
  ['proofs of another slot', ofSlots((_, all) => all[0]), SLOT],
]

const SUM = { method: 'eth_call' }

describe('a false proof', () => {
  test.each(IGNORED)('with another %s outside the trie is ignored', async (_, change) => {
    await using upstream = await startUpstream()
    const keeper = await deployKeeper(upstream)
    upstream.faults.lie = lyingBy(change)
    await using fork = await forkOf(upstream, { forkProofs: true })
    for (const [method, ...params] of [
      [SUM.method, { to: keeper }],
      ['eth_getBalance', keeper],
      ['eth_getTransactionCount', keeper],
      ['eth_getStorageAt', keeper, '0x3'],
    ] as const) {
      expect(await fork.ask(method, ...params)).toEqual(await upstream.ask(method, ...params))
    }
  })

  test.each(FALSE)(
    'with %s is an error that names it, and is not kept',
    async (_, change, message) => {
      await using upstream = await startUpstream()
      const keeper = await deployKeeper(upstream)
      upstream.faults.lie = lyingBy(change)
      await using fork = await forkOf(upstream, { forkProofs: true, forkRetries: 0 })
      const request = { from: await firstOf(fork.ask), to: keeper, gas: '0x60000' }
      await expect(fork.ask(SUM.method, { to: keeper })).rejects.toThrow(message)
      await expect(fork.ask('eth_sendTransaction', request)).rejects.toThrow(message)
      upstream.faults.lie = undefined
      expect(await fork.ask(SUM.method, { to: keeper })).toBe(
        await upstream.ask(SUM.method, { to: keeper }),
      )
      expect((await sendOn(fork.ask, request)).status).toBe('0x1')
    },
  )

  test('that hides an account, or shows an absent one, is an error that names it', async () => {
    await using upstream = await startUpstream()
    const keeper = await deployKeeper(upstream)
    const stranger = `0x${'51'.repeat(20)}`
    const proofs = await Promise.all(
      [keeper, stranger].map((each) => upstream.ask('eth_getProof', each, [], 'latest')),
    )
    upstream.faults.lie = ({ method, params }, result) =>
      method === 'eth_getProof' ? proofs[params[0] === keeper ? 1 : 0] : result
    await using fork = await forkOf(upstream, { forkProofs: true })
    for (const address of [keeper, stranger]) {
      await expect(fork.ask('eth_getBalance', address)).rejects.toThrow(
        new RegExp(`a wrong proof of account ${address}`),
      )
    }
  })

  test('with a false header of the fork block is an error at the start', async () => {
    await using upstream = await startUpstream()
    await deployKeeper(upstream)
    for (const member of ['stateRoot', 'parentHash', 'timestamp', 'hash']) {
      upstream.faults.lie = ({ method }, result) => {
        const block = result as Record<string, string> | null
        return method === 'eth_getBlockByNumber' && block !== null
          ? { ...block, [member]: otherwise(block[member] ?? '') }
          : result
      }
      await expect(forkOf(upstream, { forkProofs: true })).rejects.toThrow(
        /fork: the header of block 2 does not hash to 0x[0-9a-f]{64}/,
      )
    }
  })
})

function lyingBy(change: Change): (asked: Asked, result: unknown) => unknown {
  return ({ method }, result) => (method === 'eth_getProof' ? change(result as Proof) : result)
}

async function firstOf(ask: (method: string) => Promise<unknown>): Promise<string> {
  return ((await ask('eth_accounts')) as string[])[0]!
}

test('proofs and witnesses of blocks on a fork convince a verifier that has only the header', async () => {
  await using upstream = await startUpstream()
  const keeper = await deployKeeper(upstream)
  await using fork = await forkOf(upstream, { forkProofs: true, accounts: 2 })
  const stranger = `0x${'51'.repeat(20)}`
  await sendOn(fork.ask, { to: stranger, value: '0x5' })
  for (const [slot, value] of [
    [3, 0],
    [500, 7],
    [0, 9],
    [4, 0],
  ] as const) {
    await sendOn(fork.ask, { to: keeper, data: setting(slot, value) })
    const block = (await fork.ask('eth_getBlockByNumber', 'latest', false)) as { stateRoot: string }
    const slots = ['0x0', '0x3', '0x4', '0x1f4', '0x3e7']
    for (const address of [keeper, stranger, `0x${'52'.repeat(20)}`, await firstOf(fork.ask)]) {
      const proof = (await fork.ask('eth_getProof', address, slots, 'latest')) as Proof
      const leaf = await provenBy(
        block.stateRoot,
        keccak256(bytesFromHex(address)),
        proof.accountProof,
      )
      const [nonce, balance, storageRoot] =
        leaf === undefined ? [] : (decodeRlp(leaf) as Uint8Array[])
      expect(numberOf(nonce)).toBe(
        BigInt((await fork.ask('eth_getTransactionCount', address)) as string),
      )
      expect(numberOf(balance)).toBe(BigInt((await fork.ask('eth_getBalance', address)) as string))
      for (const { key, proof: nodes } of proof.storageProof) {
        const root = hexFromBytes(storageRoot ?? new Uint8Array())
        // no slot, or the root of an empty trie
        const isNone = nodes.length === 0 || nodes[0] === '0x80'
        const held = isNone ? undefined : await provenBy(root, slotKey(BigInt(key)), nodes)
        const is = held === undefined ? 0n : numberOf(decodeRlp(held) as Uint8Array)
        expect(is).toBe(BigInt((await fork.ask('eth_getStorageAt', address, key)) as string))
      }
    }
    await holdsFor(fork.ask, keeper)
  }
  expect(await fork.ask('devchain_forkInfo')).toMatchObject({ proven: true, stateRootsHold: true })
})

const numberOf = (bytes: Uint8Array | undefined): bigint =>
  bytes === undefined || bytes.length === 0 ? 0n : BigInt(hexFromBytes(bytes))

/** The value that a proof has of a key under a root; undefined where it proves that there is none. */
async function provenBy(
  root: string,
  key: Uint8Array,
  nodes: readonly string[],
): Promise<Uint8Array | undefined> {
  const proof = nodes.map(bytesFromHex)
  expect(hexFromBytes(keccak256(proof[0]!))).toBe(root)
  const trie = await createMPTFromProof(proof)
  expect(hexFromBytes(trie.root())).toBe(root)
  return (await verifyMerkleProof(key, proof)) ?? undefined
}

/** The witness of the newest block has the nodes from the root of the block before it to an account, each by its hash. */
async function holdsFor(
  ask: (method: string, ...params: unknown[]) => Promise<unknown>,
  address: string,
): Promise<void> {
  const { state } = (await ask('debug_executionWitness', 'latest')) as { state: string[] }
  const number = BigInt((await ask('eth_blockNumber')) as string) - 1n
  const before = `0x${number.toString(16)}`
  const { stateRoot } = (await ask('eth_getBlockByNumber', before, false)) as { stateRoot: string }
  const byHash = new Map(state.map((node) => [hexFromBytes(keccak256(bytesFromHex(node))), node]))
  expect(byHash.has(stateRoot as never)).toBe(true)
  const { accountProof } = (await ask('eth_getProof', address, [], before)) as Proof
  for (const node of accountProof) expect(state).toContain(node)
}
