// Builds blocks that are not stored, as a consensus client asks an execution client to.
import { invalidParams } from '../../core/errors.ts'
import { type Address, type Hash, ZERO_HASH } from '../../core/hex.ts'
import type { Cancellation } from '../../evm/cancellation.ts'
import type { BlockEnvironment } from '../../evm/executor.ts'
import type { BlockAccessList } from '../../protocol/blocks/accesslist.ts'
import { type Block, sealBlock } from '../../protocol/blocks/block.ts'
import { type BlockContents, headerOf } from '../../protocol/blocks/header.ts'
import {
  checkBlobGas,
  checkBody,
  checkHeader,
  GAS_LIMIT_PARTS,
} from '../../protocol/blocks/headerrules.ts'
import type { Withdrawal } from '../../protocol/blocks/withdrawal.ts'
import { isAtLeast } from '../../protocol/forks.ts'
import type { BlobSidecar, SentTransaction } from '../../protocol/transactions/sidecar.ts'
import { requireChainId } from '../../protocol/transactions/transactionrules.ts'
import { stateRoot } from '../../state/world.ts'
import { signersOf } from '../accounts/accounts.ts'
import { cancellable } from '../chain/cancellable.ts'
import type { Chain } from '../chain/chain.ts'
import { placeOf, runBlock } from '../import/validate.ts'
import { type BlockRecord, tipsOf } from '../ledger/blockrecord.ts'
import { blockByHash, blockNotFound, headOf } from '../ledger/blocktree.ts'
import type { ChainState } from '../ledger/chainstate.ts'
import { environmentAfter } from '../mining/environment.ts'

export interface BlockAttributes {
  readonly timestamp: bigint
  readonly prevRandao: Hash
  readonly feeRecipient: Address
  readonly withdrawals: readonly Withdrawal[]
  readonly parentBeaconBlockRoot: Hash | undefined
  /** The gas limit moves towards it by at most 1/1024 of the parent's; undefined: this chain's usual limit. */
  readonly targetGasLimit: bigint | undefined
  /** From amsterdam on; undefined: the slot after the parent's. */
  readonly slotNumber: bigint | undefined
}

interface BlockRequest {
  readonly parentHash: Hash
  readonly attributes: BlockAttributes
  /** All of them go into the block, in this order; undefined: the pool's transactions. */
  readonly transactions: readonly SentTransaction[] | undefined
  readonly extraData: Uint8Array
}

export interface BuiltBlock {
  readonly block: Block
  readonly value: bigint
  /** The requests by type: the type's number, then the requests (EIP-7685). */
  readonly requests: readonly Uint8Array[]
  readonly sidecars: readonly BlobSidecar[]
  /** From amsterdam on. */
  readonly accessList: BlockAccessList | undefined
}

/** The default gas limit target of clients (EIP-7935). */
const NETWORK_GAS_LIMIT = 60_000_000n

/**
 * The block has no difficulty and no uncles, like a payload.
 * @throws {DevchainError} `NOT_FOUND` for an unknown parent, `INVALID_BLOCK` with the broken rule, `INVALID_PARAMS` for
 *   the pool's transactions on a block other than the newest
 * @see https://github.com/ethereum/execution-apis/blob/main/src/testing/testing_buildBlockV1.yaml
 */
export async function buildBlock(
  chain: Chain,
  order: BlockRequest,
  cancellation: Cancellation,
): Promise<BuiltBlock> {
  const { state } = chain
  const { parentHash } = order
  const parent = blockByHash(state.tree, parentHash)
  if (parent === undefined) {
    throw blockNotFound(state.tree, `parent block ${parentHash}`, { hash: parentHash })
  }
  const sent = order.transactions ?? (await waitingOn(chain, parent, cancellation))
  const transactions = sent.map(({ transaction }) => transaction)
  for (const each of transactions) requireChainId(each, state.config.chainId)
  const { withdrawals, parentBeaconBlockRoot: beaconRoot } = order.attributes
  const environment = environmentOf(state, parent, order.attributes)
  const contents: BlockContents = {
    transactions,
    receipts: [],
    stateRoot: ZERO_HASH,
    extraData: order.extraData,
    withdrawals,
    beaconRoot,
  }
  const draft = headerOf(environment, parentHash, contents)
  const block = sealBlock(draft, transactions, [], withdrawals)
  const place = placeOf(state, draft, parent.block)
  // the requested gas limit may differ from the chain's own
  checkHeader(draft, { ...place, own: place.own && { ...place.own, gasLimit: draft.gasLimit } })
  checkBody({ ...block, transactions: transactions.map(({ raw }) => raw) }, place)
  checkBlobGas(block)
  const { totalDifficulty, world } = parent
  const signers = signersOf(state.accounts)
  const record: BlockRecord = { block, executed: [], world, totalDifficulty, signers }
  const result = await runBlock(cancellable(chain.executor, cancellation), state, record)
  const header = headerOf(environment, parentHash, {
    ...contents,
    receipts: result.executed.map(({ receipt }) => receipt),
    stateRoot: stateRoot(result.world),
    end: result.end,
  })
  return {
    block: sealBlock(header, transactions, [], withdrawals),
    value: tipsOf(result.executed, draft),
    requests: result.requests,
    sidecars: sent.flatMap(({ sidecar }) => sidecar ?? []),
    accessList: result.accessList,
  }
}

/** Skips blob transactions and their senders' later ones: the proofs beside a payload are not kept. */
async function waitingOn(
  chain: Chain,
  parent: BlockRecord,
  cancellation: Cancellation,
): Promise<readonly SentTransaction[]> {
  const newest = headOf(chain.state.tree).block
  if (newest.hash !== parent.block.hash) {
    const message = `transactions: null takes those of the pool, which need the newest block ${newest.hash} as the parent, got ${parent.block.hash}`
    throw invalidParams(message)
  }
  const { block } = await chain.pending(cancellation)
  const left = new Set<Address>()
  return block.transactions.flatMap((transaction) => {
    if (transaction.blobs !== undefined) left.add(transaction.from)
    return left.has(transaction.from) ? [] : [{ transaction, sidecar: undefined }]
  })
}

function environmentOf(
  state: ChainState,
  { block: { header } }: BlockRecord,
  attributes: BlockAttributes,
): BlockEnvironment {
  const { timestamp } = attributes
  const number = header.number + 1n
  const hardfork = state.config.hardforkAt(number, timestamp)
  if (!isAtLeast(hardfork, 'paris')) {
    const message = `payloads need paris or later: block ${number} at ${timestamp} is of ${hardfork}`
    throw invalidParams(message)
  }
  const environment = environmentAfter(state, header, {
    number,
    timestamp,
    coinbase: attributes.feeRecipient,
    gasLimit: gasLimitAfter(state, header.gasLimit, attributes.targetGasLimit),
    difficulty: 0n,
    prevRandao: attributes.prevRandao,
    blockHash: () => undefined,
  })
  return { ...environment, slotNumber: attributes.slotNumber ?? environment.slotNumber }
}

/** As near to the target as one block may come; without a target the limit that blocks here jump to, if any. */
function gasLimitAfter(
  { config, settings }: ChainState,
  before: bigint,
  target: bigint | undefined,
): bigint {
  if (target === undefined && config.ruleset === 'own') return settings.blockGasLimit
  const wanted = target ?? NETWORK_GAS_LIMIT
  const step = before / GAS_LIMIT_PARTS - 1n
  if (wanted > before + step) return before + step
  return wanted < before - step ? before - step : wanted
}
