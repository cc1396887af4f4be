// Validates foreign blocks: position, uncles, and all results of running them.
import { DevchainError, unlessRefused } from '../../core/errors.ts'
import { equalBytes, type Hash } from '../../core/hex.ts'
import { yielder } from '../../core/yield.ts'
import type { BlockEnd, BlockEnvironment, Executor } from '../../evm/executor.ts'
import {
  AccessParts,
  type AccountAccess,
  type BlockAccessList,
  excessOfItems,
} from '../../protocol/blocks/accesslist.ts'
import { type Block, cumulativeDifficulty } from '../../protocol/blocks/block.ts'
import type { EncodedBlock } from '../../protocol/blocks/blockdecoding.ts'
import { mergeBlooms } from '../../protocol/blocks/bloom.ts'
import { type Header, hashHeader, LATER_FIELDS } from '../../protocol/blocks/header.ts'
import {
  brokenRule,
  type CheckContext,
  checkBlobGas,
  checkBody,
  checkHeader,
  unequal,
} from '../../protocol/blocks/headerrules.ts'
import {
  type BlockGas,
  blockGasUsed,
  NO_GAS,
  receiptsRoot,
  withGasOf,
} from '../../protocol/blocks/receipt.ts'
import type { Withdrawal } from '../../protocol/blocks/withdrawal.ts'
import { type Hardfork, isAtLeast } from '../../protocol/forks.ts'
import { blockRoom } from '../../protocol/stategas.ts'
import type { Transaction } from '../../protocol/transactions/transaction.ts'
import { decodeBlockTransaction } from '../../protocol/transactions/transactiondecoding.ts'
import { hasGasCap, TRANSACTION_GAS_CAP } from '../../protocol/transactions/transactionrules.ts'
import { Overlay } from '../../state/overlay.ts'
import { accessOf } from '../../state/systemslots.ts'
import { balanceAt, stateRoot, type World } from '../../state/world.ts'
import { addresses, signersOf } from '../accounts/accounts.ts'
import type { BlockRecord, ExecutedTransaction } from '../ledger/blockrecord.ts'
import { blockByHash, headOf, UNCLE_GENERATIONS } from '../ledger/blocktree.ts'
import type { ChainState } from '../ledger/chainstate.ts'
import { KeptRecord } from '../ledger/packing/keptrecord.ts'
import { blockEnvironment, ownBaseFee } from '../mining/environment.ts'
import { blockLimits } from '../mining/limits.ts'
import { executedAs } from '../mining/receipts.ts'
import { credited, withRewards } from '../mining/rewards.ts'

const NETWORK_UNCLES = 2

const WEI_PER_GWEI = 10n ** 9n

/** Checks all rules but proof of work. Throws `INVALID_BLOCK` whose message begins with the broken rule. */
export async function validateBlock(
  executor: Executor,
  state: ChainState,
  encoded: EncodedBlock,
): Promise<BlockRecord> {
  const { header } = encoded
  const parent = blockByHash(state.tree, header.parentHash)
  if (parent === undefined) throw unknownParent(state, header)
  const place = placeOf(state, header, parent.block)
  checkHeader(header, place)
  checkBody(encoded, place)
  const block = { ...encoded, transactions: await readTransactions(executor, encoded, place) }
  checkBlobGas(block)
  checkUncles(state, block, place)
  const unproven: BlockRecord = {
    block,
    executed: [],
    world: parent.world,
    totalDifficulty: parent.totalDifficulty + cumulativeDifficulty(block),
    signers: signersOf(state.accounts),
  }
  const result = await runBlock(executor, state, unproven)
  checkResult(block, result)
  const { executed, world } = result
  return new KeptRecord({ ...unproven, executed, world }, parent)
}

function unknownParent({ tree }: ChainState, { parentHash }: Header): DevchainError {
  const { header, hash } = headOf(tree).block
  const known = `the newest known block is ${header.number} (${hash})`
  return brokenRule('parent hash', `${parentHash} is not known: ${known}`)
}

export function placeOf(
  { config, settings }: ChainState,
  header: Header,
  parent: Pick<Block, 'header' | 'hash'>,
): CheckContext {
  return {
    parent: parent.header,
    parentHash: parent.hash,
    hardfork: config.hardforkAt(header.number, header.timestamp),
    blobRules: config.blobRulesAt(header.number, header.timestamp),
    bombDelay: config.bombDelayAt(header.number, header.timestamp),
    own:
      config.ruleset === 'network'
        ? undefined
        : {
            gasLimit: settings.blockGasLimit,
            baseFee: ownBaseFee(config, settings, parent.header),
            hasOwnGenesis: config.hasOwnGenesis,
            sharesTimes: config.options.sameTimestamp,
          },
  }
}

/** Yields, because recovering senders is slow. */
async function readTransactions(
  executor: Executor,
  { transactions }: EncodedBlock,
  place: CheckContext,
): Promise<readonly Transaction[]> {
  const yieldIfDue = yielder(undefined, () => executor.rest())
  const read: Transaction[] = []
  for (const [index, raw] of transactions.entries()) {
    read.push(readTransaction(raw, index, place))
    await yieldIfDue()
  }
  return read
}

function readTransaction(
  raw: Uint8Array,
  index: number,
  { hardfork, own }: CheckContext,
): Transaction {
  const read = (): Transaction => {
    const rules = { hardfork, allowsImpersonated: own !== undefined }
    const transaction = decodeBlockTransaction(raw, rules)
    if (own === undefined) checkForNetwork(transaction, hardfork)
    return transaction
  }
  return unlessRefused(read, (error) => {
    throw transactionError(error, index)
  })
}

/** Checks that only a network makes: here senders may be impersonated. */
function checkForNetwork({ type, chainId, gasLimit }: Transaction, hardfork: Hardfork): void {
  if (type === 0 && chainId !== undefined && !isAtLeast(hardfork, 'spuriousDragon')) {
    const message = `invalid signature: replay protection begins with spuriousDragon, the block is ${hardfork}`
    throw new DevchainError('INVALID_SIGNATURE', message)
  }
  if (hasGasCap(hardfork) && gasLimit > TRANSACTION_GAS_CAP) {
    const message = `transaction gas limit too high: have ${gasLimit}, at most ${TRANSACTION_GAS_CAP} are allowed`
    throw new DevchainError('GAS_LIMIT_TOO_HIGH', message)
  }
}

/** Makes a transaction's error the block's. Other errors are bugs and stay as they are. */
function transactionError(error: unknown, index: number): unknown {
  if (!(error instanceof DevchainError)) return error
  return brokenRule('transaction', `number ${index}: ${error.message}`)
}

/** Uncles must be valid siblings of recent ancestors, each included once, and not ancestors themselves. */
function checkUncles(state: ChainState, block: Block, { hardfork, own }: CheckContext): void {
  const { uncles } = block
  if (uncles.length === 0) return
  const isMerged = own === undefined && isAtLeast(hardfork, 'paris')
  const most = own === undefined ? NETWORK_UNCLES : state.config.options.maxUncles
  if (isMerged) throw brokenRule('uncles', 'there are none after the merge')
  if (uncles.length > most) {
    throw brokenRule('uncles', `the block has ${uncles.length}, at most ${most} are allowed`)
  }
  const ancestors = ancestorsOf(state, block)
  const known = new Set(ancestors.flatMap((each) => [each.hash, ...each.uncles.map(hashHeader)]))
  for (const [index, uncle] of uncles.entries()) {
    const hash = hashHeader(uncle)
    if (known.has(hash)) {
      throw brokenRule('uncles', `uncle ${index} (${hash}) is an ancestor or included already`)
    }
    known.add(hash)
    const parent = ancestors.slice(1).find((each) => each.hash === uncle.parentHash)
    if (parent === undefined) {
      throw brokenRule('uncles', `uncle ${index} (${hash}) is not a sibling of a recent block`)
    }
    unlessRefused(
      () => checkHeader(uncle, placeOf(state, uncle, parent)),
      ({ message }) => {
        throw brokenRule('uncles', `uncle ${index}: ${message}`)
      },
    )
  }
}

function ancestorsOf({ tree }: ChainState, { header }: Block): readonly Block[] {
  const ancestors: Block[] = []
  let record = blockByHash(tree, header.parentHash)
  while (record !== undefined && ancestors.length < UNCLE_GENERATIONS) {
    ancestors.push(record.block)
    record = blockByHash(tree, record.block.header.parentHash)
  }
  return ancestors
}

interface Result {
  readonly executed: readonly ExecutedTransaction[]
  readonly world: World
  readonly end: BlockEnd['fields']
  readonly requests: readonly Uint8Array[]
  /** Undefined before amsterdam. */
  readonly accessList: BlockAccessList | undefined
}

/**
 * Runs a block on the world of its record, which is its parent's, with system calls, rewards and withdrawals.
 * @throws {DevchainError} `INVALID_BLOCK` for an invalid transaction or invalid requests
 */
export async function runBlock(
  executor: Executor,
  state: ChainState,
  record: BlockRecord,
  block: BlockEnvironment = blockEnvironment(state, record),
): Promise<Result> {
  const { header, transactions, uncles, withdrawals } = record.block
  const { parentHash, parentBeaconBlockRoot } = header
  const start = { world: record.world, block, parentHash, parentBeaconBlockRoot }
  const begun = await executor.beginBlock(start)
  const parts = new AccessParts()
  parts.add(begun.accesses)
  const run = await runTransactions(executor, state, block, transactions, begun.world, parts)
  const { executed, world } = run
  const withdrawn = withWithdrawals(world, withdrawals)
  const rewarded = withRewards(withdrawn, state.config, block.hardfork, header, uncles)
  const logs = executed.flatMap(({ receipt }) => receipt.logs)
  const end = await executor.endBlock({ world: rewarded, block, logs })
  if (end.failure !== undefined && !isOwnForSure(state, header))
    throw brokenRule('requests', end.failure)
  const paid = withdrawnIn(world, withdrawn, withdrawals)
  const listed = parts.listed(block.hardfork, end.fields, [...paid, ...end.accesses])
  checkAccessList(listed.accessList, block.gasLimit)
  const { accessList, fields } = listed
  return { executed, world: end.world, end: fields, requests: end.requests, accessList }
}

/** As part of the block's access list. */
function withdrawnIn(
  before: World,
  after: World,
  withdrawals: readonly Withdrawal[],
): AccountAccess[] {
  const paid = new Set(withdrawals.map(({ address }) => address))
  return [...paid].map((address) => {
    const balance = balanceAt(after, address)
    const access = accessOf(address)
    return balance === balanceAt(before, address) ? access : { ...access, balance }
  })
}

function checkAccessList(list: BlockAccessList | undefined, gasLimit: bigint): void {
  const excess = list && excessOfItems(list, gasLimit)
  if (excess === undefined) return
  const problem = `it has ${excess.items} accounts and slots, at most ${excess.most} are allowed`
  throw brokenRule('block access list', problem)
}

/** The block has a difficulty after the merge, or its genesis has accounts of its own. */
function isOwnForSure({ config, accounts }: ChainState, { difficulty }: Header): boolean {
  return config.ruleset === 'own' && (difficulty > 0n || addresses(accounts).length > 0)
}

async function runTransactions(
  executor: Executor,
  { config }: ChainState,
  block: BlockEnvironment,
  transactions: readonly Transaction[],
  begun: World,
  parts: AccessParts,
): Promise<Pick<Result, 'executed' | 'world'>> {
  const executed: ExecutedTransaction[] = []
  const limits = blockLimits(config)
  const yieldIfDue = yielder(undefined, () => executor.rest())
  const draft = new Overlay(begun)
  let gasUsed = 0n
  let counted = NO_GAS
  for (const [index, transaction] of transactions.entries()) {
    checkRoom(transaction, index, block, counted)
    try {
      const outcome = await executor.transact({ world: begun, draft, block, transaction, limits })
      parts.add(outcome.accesses)
      draft.absorb(outcome.changes)
      gasUsed += outcome.gasUsed
      counted = withGasOf(counted, outcome)
      executed.push(executedAs(transaction, outcome, block, gasUsed, draft))
    } catch (error) {
      throw transactionError(error, index)
    }
    await yieldIfDue()
  }
  return { executed, world: draft.settle() }
}

function checkRoom(
  { gasLimit }: Transaction,
  index: number,
  { gasLimit: most, hardfork }: BlockEnvironment,
  counted: BlockGas,
): void {
  const { needed, left, isOfState } = blockRoom(gasLimit, most, counted, hardfork)
  if (needed <= left) return
  const problem = isOfState
    ? `number ${index}: it may use ${needed} gas for state, the block has ${left} left`
    : `number ${index}: it needs ${needed} gas, the block has ${left} left`
  throw brokenRule('transaction', problem)
}

/** Withdrawals of the beacon chain (EIP-4895). A zero amount creates no account. */
function withWithdrawals(world: World, withdrawals: readonly Withdrawal[]): World {
  const credits = withdrawals
    .filter(({ amountGwei }) => amountGwei > 0n)
    .map(({ address, amountGwei }) => ({ address, amount: amountGwei * WEI_PER_GWEI }))
  return credited(world, credits)
}

function checkResult({ header }: Block, { executed, world, end }: Result): void {
  const receipts = executed.map(({ receipt }) => receipt)
  requireEqual('gas used', blockGasUsed(receipts), header.gasUsed)
  const bloom = mergeBlooms(receipts.map(({ logsBloom }) => logsBloom))
  if (!equalBytes(bloom, header.logsBloom)) {
    throw brokenRule('logs bloom', 'it does not match the logs')
  }
  requireEqual('receipts root', receiptsRoot(receipts), header.receiptsRoot)
  for (const [name, { rule }] of LATER_FIELDS) {
    const made = end[name]
    if (made !== undefined) requireEqual(rule, made, header[name] as Hash | bigint)
  }
  requireEqual('state root', stateRoot(world), header.stateRoot)
}

function requireEqual<T extends Hash | bigint>(
  rule: Parameters<typeof brokenRule>[0],
  expected: T,
  given: T,
): void {
  const problem = unequal(expected, given)
  if (problem !== undefined) throw brokenRule(rule, problem)
}
