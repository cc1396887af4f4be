// Stand-ins for the contracts of Arbitrum's nodes, which ask the network with calls at their block.
import {
  type Address,
  bytesFromHex,
  concatBytes,
  isBytes,
  paddedBytes,
  ZERO_HASH,
} from '../../core/hex.ts'
import { LruCache, memoize } from '../../core/lrucache.ts'
import type { BlockEnvironment } from '../../evm/executor.ts'
import type { Json } from '../../rpc/schema.ts'
import type { BackedState, Backing, BackingSource } from '../../state/backing.ts'
import type { MissSource } from '../../state/misses.ts'
import { Trie } from '../../state/trie.ts'
import { EMPTY_ROOT_BYTES } from '../../state/trienode.ts'
import {
  type Account,
  emptyAccount,
  emptyStorage,
  type StorageSlot,
  slotValue,
} from '../../state/world.ts'
import { RefusedByUpstream } from '../client/client.ts'
import { bytesIn } from '../network/answers.ts'
import { missed } from '../network/gather.ts'
import type { BlockPoint, ForkedNetwork } from '../network/network.ts'
import { CONTRACTS, selectorOf } from './functions.ts'
import { ARB_INFO, oneWord, type SlotQuery, STAND_IN, slotQueryOf, wordsOf } from './slotquery.ts'

const MOST_KEPT = 1_024

/** A revert without data. */
const REFUSED: readonly bigint[] = [0n]

const L1_FEES = selectorOf('getCurrentTxL1GasFees()')
const BLOCK_NUMBER = selectorOf('arbBlockNumber()')
const BLOCK_HASH = selectorOf('arbBlockHash(uint256)')
const CHAIN_ID = selectorOf('arbChainID()')
const INVALID_BLOCK = selectorOf('InvalidBlockNumber(uint256,uint256)')

const ARBINFO = `0x${'65'.padStart(40, '0')}`
const ARBINFO_ACCOUNT: Account = { ...emptyAccount(ARBINFO as Address), ...ARB_INFO }

const KNOWN_HASHES = 256n

/** @returns the account of a contract; undefined for any other address */
export function standIns(
  network: ForkedNetwork,
  point: BlockPoint,
  state: BackedState,
): (address: Address) => Account | undefined {
  const answers = new LruCache<string, readonly bigint[]>(MOST_KEPT)
  const source: MissSource = {
    fetch: async (misses) => {
      const asked = misses.map(async (miss) => {
        if (miss.kind !== 'slot') return
        const query = slotQueryOf(miss.slot)
        answers.set(keyOf(miss.address, query), await ask(network, point, miss.address, query))
      })
      await Promise.all(asked)
    },
  }
  const wordAt = (address: Address, slot: bigint): bigint => {
    const query = slotQueryOf(slot)
    const known = answers.get(keyOf(address, query))
    if (known !== undefined) return known[query.index] ?? 0n
    missed({ kind: 'slot', address, slot }, source)
    return 0n
  }
  const standIn = memoize(CONTRACTS.size, (address: Address): Account => {
    const storage = answering({ state, address }, (slot) => wordAt(address, slot))
    return { ...emptyAccount(address), ...STAND_IN, storage }
  })
  return (address) => {
    if (address === ARBINFO) return ARBINFO_ACCOUNT
    return CONTRACTS.has(address) ? standIn(address) : undefined
  }
}

async function ask(
  network: ForkedNetwork,
  point: BlockPoint,
  address: Address,
  { selector, data }: SlotQuery,
): Promise<readonly bigint[]> {
  const { name: contract = address, functions } = CONTRACTS.get(address) ?? {}
  const signature = functions?.get(selector)
  if (signature === undefined || data === undefined) {
    const name = signature ?? `function 0x${selector.toString(16).padStart(8, '0')}`
    network.warnOnce(`${contract} ${name} ${NOT_HERE}`)
    return REFUSED
  }
  if (network.isProven) {
    network.warnOnce(`${contract} ${signature} fails: its result cannot be proven (--fork-proofs)`)
    return REFUSED
  }
  // nothing is posted to L1, so nothing is paid for it
  if (selector === L1_FEES) return oneWord(0n)
  network.warnOnce(`${contract} at ${address} ${AS_AT_FORK}`)
  try {
    return await network.askAt('eth_call', [{ to: address, data }], point, readAnswer)
  } catch (error) {
    const isReverted = error instanceof RefusedByUpstream && /revert/i.test(error.upstream.message)
    if (!isReverted) throw error
    const { data: returned } = error.upstream
    const isData = typeof returned === 'string' && isBytes(returned)
    return wordsOf(bytesFromHex(isData ? returned : '0x'), false)
  }
}

const NOT_HERE = "fails: it is built into Arbitrum's nodes and has no replacement here"
const AS_AT_FORK =
  "is built into Arbitrum's nodes: calls return the network's values at the forked block"

function readAnswer(answer: Json): readonly bigint[] {
  return wordsOf(bytesFromHex(bytesIn(answer, 'what a call returns')), true)
}

function keyOf(address: Address, { selector, data }: SlotQuery): string {
  return `${address} ${data ?? `${selector} and more`}`
}

/** Storage whose slots answer the questions in their numbers. */
function answering(source: BackingSource, read: (slot: bigint) => bigint): Trie<StorageSlot> {
  const backing: Backing<StorageSlot> = {
    source,
    get: (_, slot) => {
      const value = typeof slot === 'bigint' ? read(slot) : 0n
      return value === 0n ? undefined : { slot: slot as bigint, value }
    },
    knows: () => false,
    known: () => [],
    root: (changed) => changed?.() ?? EMPTY_ROOT_BYTES,
  }
  return Trie.backed(emptyStorage.encodeValue, backing)
}

type Block = Pick<BlockEnvironment, 'number' | 'chainId' | 'blockHash'>

export function arbSysIn(standIn: Account, block: Block): Account {
  // a store keeps the stand-in, as each block has such an account of its own
  const { source } = standIn.storage.backedParts!.backing
  const storage = answering(source, (slot) => {
    const query = slotQueryOf(slot)
    const words = query.data === undefined ? undefined : localAnswerTo(block, query)
    return words === undefined ? slotValue(standIn.storage, slot) : (words[query.index] ?? 0n)
  })
  return { ...standIn, storage }
}

function localAnswerTo(
  block: Block,
  { selector, parameter }: SlotQuery,
): readonly bigint[] | undefined {
  if (selector === BLOCK_NUMBER) return oneWord(block.number)
  if (selector === CHAIN_ID) return oneWord(block.chainId)
  return selector === BLOCK_HASH ? hashWords(block, parameter) : undefined
}

/** As in ArbSys since ArbOS 11. */
function hashWords({ number, blockHash }: Block, asked: bigint): readonly bigint[] {
  const isKnown = asked < number && asked + KNOWN_HASHES >= number
  if (isKnown) return oneWord(BigInt(blockHash(asked) ?? ZERO_HASH))
  const selector = paddedBytes(BigInt(INVALID_BLOCK), 4)
  return wordsOf(concatBytes(selector, paddedBytes(asked, 32), paddedBytes(number, 32)), false)
}
