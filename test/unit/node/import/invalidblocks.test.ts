// Each rule that an imported block can break: the import stops at the block, with its number and the rule's name.
import { beforeAll, describe, expect, test } from 'vitest'
import { addressOfKey, keccakHash } from '../../../../src/core/crypto/crypto.ts'
import type { DevchainError } from '../../../../src/core/errors.ts'
import {
  type Address,
  bytesFromBigint,
  bytesFromHex,
  concatBytes,
  EMPTY_BYTES,
  type Hash,
} from '../../../../src/core/hex.ts'
import { decodeRlp, encodeRlp, type RlpItem } from '../../../../src/core/rlp.ts'
import type { Chain } from '../../../../src/node/chain/chain.ts'
import type { ChainOptions } from '../../../../src/node/chainoptions.ts'
import { mine } from '../../../../src/node/commands/mine.ts'
import { createChain } from '../../../../src/node/create.ts'
import { importBlocks } from '../../../../src/node/import/importblocks.ts'
import { blockByNumber, headOf } from '../../../../src/node/ledger/blocktree.ts'
import { sendTransaction } from '../../../../src/node/sending/send.ts'
import { encodeBlock } from '../../../../src/protocol/blocks/block.ts'
import { orderedTrieRoot } from '../../../../src/protocol/blocks/orderedtrie.ts'
import { GAS_PER_BLOB } from '../../../../src/protocol/fees.ts'
import { HARDFORKS, type Hardfork } from '../../../../src/protocol/forks.ts'
import {
  signTransaction,
  type UnsignedTransaction,
} from '../../../../src/protocol/transactions/transaction.ts'
import { parseGenesis } from '../../../../src/state/genesis.ts'
import {
  BLOCKS_PER_FORK,
  NETWORK_KEY,
  networkBlocks,
  networkGenesis,
} from '../../../support/chain/networkchain.ts'
import { account, NOON, testEnvironment } from '../chains.ts'

/** Fields of a header, in their order. */
const FIELDS = [
  'parentHash',
  'sha3Uncles',
  'miner',
  'stateRoot',
  'transactionsRoot',
  'receiptsRoot',
  'logsBloom',
  'difficulty',
  'number',
  'gasLimit',
  'gasUsed',
  'timestamp',
  'extraData',
  'mixHash',
  'nonce',
  'baseFeePerGas',
  'withdrawalsRoot',
  'blobGasUsed',
  'excessBlobGas',
  'parentBeaconBlockRoot',
  'requestsHash',
] as const

type Field = (typeof FIELDS)[number]

/** A block taken apart. */
interface Parts {
  header: Uint8Array[]
  transactions: RlpItem[]
  uncles: RlpItem[]
  /** Withdrawals, in a list, from shanghai on. */
  rest: RlpItem[]
}

type Spoiling = (parts: Parts) => void

const WRONG_HASH = new Uint8Array(32).fill(0x99)

const MAX_WORD = 2n ** 64n - 1n

const asGiven: ChainOptions = { genesis: parseGenesis(networkGenesis), accounts: 0 }

let chain: Chain
let blocks: readonly Uint8Array[]

beforeAll(async () => {
  const empty = await createChain({ ...asGiven, environment: testEnvironment() })
  blocks = await networkBlocks(headOf(empty.state.tree).block.hash)
  chain = await createChain({
    ...asGiven,
    blocks: concatBytes(...blocks),
    environment: testEnvironment(),
  })
})

/** The second block of a fork, whose parent is of the same fork. */
function inside(fork: Hardfork): number {
  return HARDFORKS.indexOf(fork) * Number(BLOCKS_PER_FORK) + 1
}

function first(fork: Hardfork): number {
  return HARDFORKS.indexOf(fork) * Number(BLOCKS_PER_FORK)
}

function apart(number: number): Parts {
  const [header, transactions, uncles, ...rest] = decodeRlp(blocks[number - 1]!) as RlpItem[][]
  return {
    header: [...(header as Uint8Array[])],
    transactions: [...transactions!],
    uncles: [...uncles!],
    rest,
  }
}

function together({ header, transactions, uncles, rest }: Parts): Uint8Array {
  return encodeRlp([header, transactions, uncles, ...rest])
}

function spoiled(number: number, spoil: Spoiling): Uint8Array {
  const parts = apart(number)
  spoil(parts)
  return together(parts)
}

function numberIn({ header }: Parts, field: Field): bigint {
  return BigInt(`0x0${Buffer.from(header[FIELDS.indexOf(field)]!).toString('hex')}`)
}

/** Another value of a field of the header. */
function set(field: Field, value: Uint8Array | ((before: bigint) => bigint)): Spoiling {
  return (parts) => {
    const at = FIELDS.indexOf(field)
    parts.header[at] = typeof value === 'function' ? integer(value(numberIn(parts, field))) : value
  }
}

function integer(value: bigint): Uint8Array {
  return value === 0n ? EMPTY_BYTES : bytesFromBigint(value)
}

/** A header that ends before a field, as those of older forks. */
function endBefore(field: Field): Spoiling {
  return (parts) => {
    parts.header = parts.header.slice(0, FIELDS.indexOf(field))
    if (FIELDS.indexOf(field) <= FIELDS.indexOf('withdrawalsRoot')) parts.rest = []
  }
}

/** A header that goes on as those of the next fork. */
function goOnWith(...values: Uint8Array[]): Spoiling {
  return (parts) => {
    parts.header = [...parts.header, ...values]
    if (parts.header.length === FIELDS.indexOf('withdrawalsRoot') + 1) parts.rest = [[]]
  }
}

/** Other uncles, with the hash of them. */
function withUncles(change: (uncles: readonly RlpItem[]) => readonly RlpItem[]): Spoiling {
  return (parts) => {
    parts.uncles = [...change(parts.uncles)]
    set('sha3Uncles', bytesFromHex(keccakHash(encodeRlp(parts.uncles))))(parts)
  }
}

/** Another first transaction, with the root of them all. */
function withTransaction(raw: Uint8Array): Spoiling {
  return (parts) => {
    parts.transactions[0] = raw[0]! < 0xc0 ? raw : decodeRlp(raw)
    const encodings = parts.transactions.map((item) =>
      item instanceof Uint8Array ? item : encodeRlp(item),
    )
    set('transactionsRoot', bytesFromHex(orderedTrieRoot(encodings)))(parts)
  }
}

/** Another first transaction, from the account that the first one is from, like it but for some changes. */
function changed(changes: Partial<UnsignedTransaction>, key: Uint8Array = NETWORK_KEY): Spoiling {
  return (parts) => {
    const { transaction } = blockByNumber(chain.state.tree, numberIn(parts, 'number'))!.executed[0]!
    withTransaction(signTransaction({ ...transaction, ...changes }, key).raw)(parts)
  }
}

/** A first transaction that carries blobs, which the header counts. */
function blobTransaction(carried: NonNullable<UnsignedTransaction['blobs']>): Spoiling {
  const gas = BigInt(carried.versionedHashes.length) * GAS_PER_BLOB
  return (parts) => {
    changed({ type: 3, blobs: carried })(parts)
    set('blobGasUsed', (before) => before + gas)(parts)
  }
}

/** Spoils the uncle of a block. */
function uncleWith(field: Field, value: (before: bigint) => bigint): Spoiling {
  return withUncles(([uncle]) => {
    const parts: Parts = {
      header: [...(uncle as Uint8Array[])],
      transactions: [],
      uncles: [],
      rest: [],
    }
    set(field, value)(parts)
    return [parts.header]
  })
}

/** What the chain says of a block that follows one of its own. */
async function refusal(block: Uint8Array): Promise<DevchainError> {
  const { executor, state } = chain
  return importBlocks(executor, state, block).then(
    () => expect.unreachable('the block is taken'),
    (error: DevchainError) => error,
  )
}

const EMPTY_ROOT = bytesFromHex(orderedTrieRoot([]))
const GWEI = 10n ** 9n

function blobs(count: number, first = '01'): NonNullable<UnsignedTransaction['blobs']> {
  const hash = `0x${first}${'00'.repeat(31)}` as Hash
  return { maxFeePerBlobGas: GWEI, versionedHashes: Array.from({ length: count }, () => hash) }
}

/** The block, the rule, what is wrong, and a part of what is said about it. */
type Case = readonly [number: number, rule: string, problem: string, spoil: Spoiling, words: string]

const HEADER_CASES: readonly Case[] = [
  [8, 'number', 'one too many', set('number', (n) => n + 1n), 'expected 8, the header says 9'],
  [8, 'timestamp', "the parent's", set('timestamp', (t) => t - 10n), "not after the parent's"],
  [8, 'extra data', 'too long', set('extraData', new Uint8Array(33)), '33 bytes, at most 32'],
  [8, 'difficulty', 'one more', set('difficulty', (d) => d + 1n), 'expected 131'],
  [inside('frontier'), 'difficulty', 'one less', set('difficulty', (d) => d - 1n), 'expected'],
  [inside('byzantium'), 'difficulty', 'one more', set('difficulty', (d) => d + 1n), 'expected'],
  [inside('london'), 'difficulty', 'none before the merge', set('difficulty', () => 0n), 'says 0'],
  [inside('paris'), 'difficulty', 'some after the merge', set('difficulty', () => 1n), 'says 1'],
  [inside('paris'), 'nonce', 'some after the merge', set('nonce', new Uint8Array(8).fill(1)), '0'],
  [8, 'gas limit', 'too far up', set('gasLimit', (n) => n + n / 1024n), 'expected less than'],
  [8, 'gas limit', 'too far down', set('gasLimit', (n) => n - n / 1000n), 'expected less than'],
  [first('london'), 'gas limit', 'not doubled', set('gasLimit', (n) => n / 2n), 'expected less'],
  [
    8,
    'gas used',
    'more than the limit',
    set('gasUsed', () => 10n ** 9n),
    'more than the gas limit',
  ],
  [first('london'), 'base fee', 'wrong', set('baseFeePerGas', (n) => n + 1n), '1000000000, the'],
  [inside('london'), 'base fee', 'wrong', set('baseFeePerGas', (n) => n - 1n), 'expected'],
  [inside('london'), 'base fee', 'missing', endBefore('baseFeePerGas'), 'the header has none'],
  [inside('berlin'), 'base fee', 'early', goOnWith(integer(GWEI)), 'begin with london'],
  [inside('shanghai'), 'withdrawals root', 'missing', endBefore('withdrawalsRoot'), 'has none'],
  [inside('paris'), 'withdrawals root', 'early', goOnWith(EMPTY_ROOT), 'begin with shanghai'],
  [inside('cancun'), 'blob gas used', 'missing', endBefore('blobGasUsed'), 'has none'],
  [inside('shanghai'), 'blob gas used', 'early', goOnWith(EMPTY_BYTES), 'begin with cancun'],
  [inside('cancun'), 'blob gas used', 'no multiple', set('blobGasUsed', (n) => n + 1n), 'multiple'],
  [inside('cancun'), 'blob gas used', 'seven blobs', set('blobGasUsed', () => 7n << 17n), 'more'],
  [inside('prague'), 'blob gas used', 'ten blobs', set('blobGasUsed', () => 10n << 17n), 'more'],
  [inside('cancun'), 'excess blob gas', 'missing', endBefore('excessBlobGas'), 'has none'],
  [inside('bpo1'), 'excess blob gas', 'wrong', set('excessBlobGas', (n) => n + 1n), 'expected'],
  [inside('cancun'), 'parent beacon root', 'none', endBefore('parentBeaconBlockRoot'), 'has none'],
  [inside('prague'), 'requests hash', 'missing', endBefore('requestsHash'), 'has none'],
  [inside('cancun'), 'requests hash', 'early', goOnWith(EMPTY_ROOT), 'begin with prague'],
]

const BODY_CASES: readonly Case[] = [
  [8, 'uncles hash', 'wrong', set('sha3Uncles', WRONG_HASH), 'the header says 0x9999'],
  [8, 'transactions root', 'wrong', set('transactionsRoot', WRONG_HASH), 'the header says 0x9999'],
  [inside('osaka'), 'withdrawals root', 'wrong', set('withdrawalsRoot', WRONG_HASH), '0x9999'],
  [
    inside('osaka'),
    'blob gas used',
    'one less',
    set('blobGasUsed', (n) => n - 131_072n),
    'expected',
  ],
  [
    inside('osaka'),
    'block size',
    'too large',
    changed({ data: new Uint8Array(8_388_608), gasLimit: 2n ** 24n }),
    'at most 8388608 are allowed',
  ],
]

const UNCLE_CASES: readonly Case[] = [
  [8, 'uncles', 'three', withUncles(([uncle]) => [uncle!, uncle!, uncle!]), '3, at most 2 are'],
  [8, 'uncles', 'the same twice', withUncles(([uncle]) => [uncle!, uncle!]), 'included already'],
  [8, 'uncles', 'an ancestor', withUncles(() => [apart(6).header]), 'is an ancestor'],
  [9, 'uncles', "the parent's", withUncles(() => [...apart(8).uncles]), 'included already'],
  [20, 'uncles', 'too old', withUncles(() => [...apart(8).uncles]), 'not a sibling of a recent'],
  [8, 'uncles', 'a sibling', withUncles(() => [apart(8).header]), 'not a sibling of a recent'],
  [8, 'uncles', 'wrong difficulty', uncleWith('difficulty', (n) => n + 1n), 'uncle 0: difficulty'],
  [8, 'uncles', 'wrong number', uncleWith('number', (n) => n + 1n), 'uncle 0: number: expected'],
  [
    inside('paris'),
    'uncles',
    'one after the merge',
    withUncles(() => [apart(inside('paris') - 1).header]),
    'there are none after the merge',
  ],
]

const RESULT_CASES: readonly Case[] = [
  [8, 'gas used', 'one less', set('gasUsed', (n) => n - 1n), 'the header says'],
  [8, 'logs bloom', 'empty', set('logsBloom', new Uint8Array(256)), 'not match the logs'],
  [8, 'receipts root', 'wrong', set('receiptsRoot', WRONG_HASH), 'the header says 0x9999'],
  [inside('prague'), 'requests hash', 'wrong', set('requestsHash', WRONG_HASH), '0x9999'],
  [8, 'state root', 'wrong', set('stateRoot', WRONG_HASH), 'the header says 0x9999'],
  [
    inside('byzantium'),
    'state root',
    'another miner',
    set('miner', new Uint8Array(20)),
    'the header says',
  ],
]

const POOR_KEY = new Uint8Array(32).fill(0x38)
const POOR = addressOfKey(POOR_KEY)
const LARGE = new Uint8Array(49_153)

/** What is wrong with the first transaction of a block. */
const TRANSACTION_CASES: readonly (readonly [number, string, Spoiling, string])[] = [
  [8, 'a used nonce', changed({ nonce: 0n }), 'nonce too low'],
  [8, 'a nonce to come', changed({ nonce: 99n }), 'nonce too high'],
  [8, 'a nonce beyond all', changed({ nonce: MAX_WORD }), 'nonce too high'],
  [8, 'more than the sender has', changed({ value: 10n ** 30n }), 'insufficient funds'],
  [8, 'a sender without an account', changed({ nonce: 0n }, POOR_KEY), POOR.toLowerCase()],
  [8, 'too little gas', changed({ gasLimit: 20_999n }), 'intrinsic gas too low'],
  [8, 'more gas than the block has', changed({ gasLimit: 10n ** 9n }), 'it needs 1000000000 gas'],
  [inside('spuriousDragon'), 'another chain id', changed({ chainId: 5n }), 'invalid chain id'],
  [inside('homestead'), 'a chain id before its time', changed({ chainId: 5n }), 'spuriousDragon'],
  [inside('istanbul'), 'a type before its time', changed({ type: 1 }), 'needs hardfork berlin'],
  [inside('berlin'), 'a type before its time', changed({ type: 2 }), 'needs hardfork london'],
  [inside('london'), 'an unknown type', withTransaction(Uint8Array.of(0x05, 0xc0)), 'type'],
  [
    inside('london'),
    'too low a price',
    changed({ maxFeePerGas: 1n, maxPriorityFeePerGas: 1n }),
    'less than block base fee',
  ],
  [
    inside('london'),
    'a tip above the most',
    changed({ type: 2, maxPriorityFeePerGas: 10n ** 12n }),
    'max priority fee per gas higher',
  ],
  [
    inside('shanghai'),
    'large init code',
    changed({ to: null, data: LARGE, gasLimit: 10n ** 7n }),
    'max initcode size exceeded',
  ],
  [inside('osaka'), 'seven blobs', blobTransaction(blobs(7)), 'too many blobs'],
  [inside('cancun'), 'no blobs', blobTransaction(blobs(0)), 'missing blob hashes'],
  [inside('cancun'), 'blobs of a version', blobTransaction(blobs(1, '02')), 'version'],
  [
    inside('cancun'),
    'cheap blobs',
    blobTransaction({ ...blobs(1), maxFeePerBlobGas: 0n }),
    'max fee per blob gas less',
  ],
  [inside('prague'), 'no authorizations', changed({ type: 4 }), 'empty authorization list'],
  [
    inside('prague'),
    'little gas for much data',
    changed({ data: new Uint8Array(4_000).fill(1), gasLimit: 100_000n }),
    'floor',
  ],
  [
    inside('osaka'),
    'more gas than one may have',
    changed({ gasLimit: 2n ** 24n + 1n }),
    'gas limit too high',
  ],
  [
    inside('london'),
    'garbage',
    withTransaction(Uint8Array.of(0xc2, 0x01, 0x02)),
    'fields, expected',
  ],
]

describe('import refuses a block', () => {
  test.each([...HEADER_CASES, ...BODY_CASES, ...UNCLE_CASES, ...RESULT_CASES])(
    'number %i for its %s: %s',
    async (number, rule, _problem, spoil, words) => {
      const error = await refusal(spoiled(number, spoil))
      expect(error.message).toMatch(`block ${number}: ${rule}: `)
      expect(error.message).toContain(words)
      expect(error).toMatchObject({ word: 'INVALID_BLOCK', data: { number, rule } })
    },
  )

  test.each(TRANSACTION_CASES)(
    'number %i for a transaction with %s',
    async (number, _problem, spoil, words) => {
      const error = await refusal(spoiled(number, spoil))
      expect(error.message).toMatch(`block ${number}: transaction: number 0: `)
      expect(error.message).toContain(words)
      expect(error.data).toEqual({ number, rule: 'transaction' })
    },
  )
})

describe('import refuses a file', () => {
  async function imported(...file: Uint8Array[]): Promise<DevchainError> {
    const options = { ...asGiven, blocks: concatBytes(...file), environment: testEnvironment() }
    return createChain(options).then(
      () => expect.unreachable('the file is taken'),
      (error: DevchainError) => error,
    )
  }

  test('whose block has no parent in it', async () => {
    const error = await imported(blocks[0]!, blocks[2]!)
    expect(error.message).toMatch(
      /^block 3: parent hash: 0x[0-9a-f]{64} is not known: the newest known block is 1 /,
    )
  })

  test('at its first invalid block, after valid ones', async () => {
    const file = [...blocks.slice(0, 7), spoiled(8, set('stateRoot', WRONG_HASH)), blocks[8]!]
    const error = await imported(...file)
    expect(error.message).toMatch(/^block 8: state root: expected 0x/)
  })

  test('at a first block that fits neither a network nor a local chain, with both reasons', async () => {
    const error = await imported(
      spoiled(
        1,
        set('difficulty', (n) => n + 1n),
      ),
    )
    expect(error.message).toMatch(
      /^block 1: difficulty: expected 131136, the header says 131137; by the rules of devchain's own chains: state root: /,
    )
    expect(error.data).toEqual({ number: 1, rule: 'difficulty' })
  })

  test('at a first block with the single reason that all rules give', async () => {
    const error = await imported(spoiled(1, set('extraData', new Uint8Array(40))))
    expect(error.message).toBe('block 1: extra data: it has 40 bytes, at most 32 are allowed')
  })

  test('that ends in the middle of a block', async () => {
    const error = await imported(blocks[0]!, blocks[1]!.subarray(0, 99))
    expect(error.message).toMatch(`block 2: encoding: at byte ${blocks[0]!.length} of the file: `)
  })

  test('of another format', async () => {
    const error = await imported(new TextEncoder().encode('{"blocks":[]}'))
    expect(error.message).toMatch('block 0: encoding: at byte 0 of the file: ')
  })

  test('that begins with another genesis', async () => {
    const other = await createChain({ environment: testEnvironment() })
    const genesis = encodeBlock(headOf(other.state.tree).block)
    const error = await imported(genesis, blocks[0]!)
    expect(error.message).toMatch(/^block 0: genesis: the file begins with 0x/)
  })
})

describe('a log of the deposit contract that is not a valid deposit', () => {
  const contract = `0x${'de'.repeat(20)}` as Address
  const topic = keccakHash(Buffer.from('DepositEvent(bytes,bytes,bytes,bytes,bytes)'))
  const genesis = parseGenesis({
    config: { depositContractAddress: contract },
    alloc: { [contract]: { balance: '0x0', code: `0x7f${topic.slice(2)}60006000a1` } },
  })

  /** Blocks of a chain of one's own, of which the second has such a log. */
  async function blocksOf(options: ChainOptions): Promise<Uint8Array> {
    const here = await createChain({ ...options, environment: testEnvironment() })
    await here.update((state) => mine(here.executor, state, { now: NOON }))
    await sendTransaction(here, { from: account(here, 0), to: contract })
    return concatBytes(
      ...[...here.state.tree.canonical.values()].map(({ block }) => encodeBlock(block)),
    )
  }

  const options: ChainOptions = { genesis, hardfork: 'prague', clock: { kind: 'frozen' } }

  test('breaks a rule of networks', async () => {
    // difficulty 0 as after the merge, and a sender that is no dev account: nothing else shows whose chain it is
    const keys = [new Uint8Array(32).fill(1)]
    const asNetwork = { ...options, difficulty: 0n, accounts: 0, keys }
    const file = await blocksOf(asNetwork)
    const again = createChain({ ...asNetwork, blocks: file, environment: testEnvironment() })
    await expect(again).rejects.toThrow('block 2: requests: a log of the deposit contract is no')
  })

  test('is ignored by the chain that mined it, and by one that imports its blocks', async () => {
    const file = await blocksOf(options)
    const again = await createChain({ ...options, blocks: file, environment: testEnvironment() })
    expect(headOf(again.state.tree).block.header.number).toBe(2n)
  })
})
