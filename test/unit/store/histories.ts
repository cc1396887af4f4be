// Random histories of a chain: commands of every kind that leaves something in its state, and what a state answers.
import fc from 'fast-check'
import { keccakHash } from '../../../src/core/crypto/crypto.ts'
import { DevchainError } from '../../../src/core/errors.ts'
import { type Hex, hexFromBytes } from '../../../src/core/hex.ts'
import { impersonateAccount, newAccountWithSeed } from '../../../src/node/accounts/accounts.ts'
import type { Chain } from '../../../src/node/chain/chain.ts'
import { editWorld } from '../../../src/node/cheats/edit.ts'
import { mine } from '../../../src/node/commands/mine.ts'
import { startMining, stopMining } from '../../../src/node/commands/miningmode.ts'
import {
  reset,
  returnTo,
  revertTo,
  takeNamedSnapshot,
  takeSnapshot,
} from '../../../src/node/commands/snapshots.ts'
import { increaseTime, setNextTimestamp } from '../../../src/node/commands/time.ts'
import type { BlockRecord } from '../../../src/node/ledger/blockrecord.ts'
import {
  blockByHash,
  headOf,
  transactionPlace,
  truncateTo,
} from '../../../src/node/ledger/blocktree.ts'
import type { ChainState } from '../../../src/node/ledger/chainstate.ts'
import { snapshotsOf } from '../../../src/node/ledger/snapshots.ts'
import { pooledInOrder } from '../../../src/node/pool/pool.ts'
import { sendRawTransaction } from '../../../src/node/sending/send.ts'
import {
  accountsOf,
  stateRoot,
  withBalance,
  withCode,
  withoutAccount,
  withStorage,
} from '../../../src/state/world.ts'
import { assemble, deploying } from '../../support/evm/bytecode.ts'
import { account, headTime, signed, type TestEnvironment } from '../node/chains.ts'

export type Step =
  | { readonly kind: 'send'; readonly from: number; readonly ahead: number; readonly what: number }
  | { readonly kind: 'mine'; readonly blocks: number }
  | { readonly kind: 'increase' | 'exact'; readonly seconds: number }
  | { readonly kind: 'revert' | 'named' | 'cheat' | 'cut'; readonly id: number }
  | { readonly kind: 'snapshot' | 'reset' | 'stop' | 'start' | 'key' }

const small = fc.nat(6)

export const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('send' as const),
      from: fc.nat(2),
      ahead: fc.constantFrom(0, 0, 0, 1),
      what: fc.nat(4),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('mine' as const),
      // as many as bulk mining takes together
      blocks: fc.constantFrom(1, 1, 2, 3, 40, 70),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constantFrom('increase', 'exact'), seconds: fc.nat(100) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constantFrom('revert', 'named', 'cheat', 'cut'), id: small }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constantFrom('snapshot', 'snapshot', 'reset', 'stop', 'start', 'key'),
    }),
  },
) as fc.Arbitrary<Step>

/** Stores and logs what it is called with, and reverts without input. */
const STORING = deploying(
  assemble(`
    CALLDATASIZE @go JUMPI 0xbad 0 MSTORE 32 0 REVERT
    go: 0 CALLDATALOAD DUP1 SSTORE NUMBER NUMBER SSTORE 7 32 0 LOG1 STOP
  `),
)

/** What transactions do: nothing, deploy, call with input, call without, pay a stranger. */
function contentsOf(what: number, nonce: bigint): object {
  const deployed = '0x5fbdb2315678afecb367f032d93f642f64180aa3' as Hex
  const to = [undefined, null, deployed, deployed, '0x00000000000000000000000000000000000000aa']
  const data = [
    undefined,
    STORING,
    new Uint8Array(32).fill(Number(nonce % 5n)),
    undefined,
    undefined,
  ]
  return {
    gasLimit: 500_000n,
    ...(to[what] === undefined ? {} : { to: to[what] }),
    ...(data[what] === undefined ? {} : { data: data[what] }),
    type: what === 4 ? 2 : 0,
    value: what === 4 ? 5n : 0n,
  }
}

/** Runs a step; refusals change nothing. */
export async function take(chain: Chain, environment: TestEnvironment, each: Step): Promise<void> {
  try {
    await run(chain, environment, each)
  } catch (error) {
    if (!(error instanceof DevchainError)) throw error
  }
}

async function run(chain: Chain, environment: TestEnvironment, each: Step): Promise<void> {
  environment.ms += 700
  const now = environment.ms
  switch (each.kind) {
    case 'send': {
      const { world } = headOf(chain.state.tree)
      const from = account(chain, each.from)
      const own = [...accountsOf(world)].find(({ address }) => address === from)
      const waiting = pooledInOrder(chain.state.pool).filter(
        ({ transaction }) => transaction.from === from,
      )
      const nonce = (own?.nonce ?? 0n) + BigInt(waiting.length + each.ahead)
      const fields = { index: each.from, nonce, ...contentsOf(each.what, nonce) }
      await sendRawTransaction(chain, signed(chain, fields).raw)
      break
    }
    case 'mine': {
      const { bulk } = chain.execution
      const blocks = BigInt(each.blocks)
      await chain.update((state) => mine(chain.executor, state, { now, blocks, bulk }))
      break
    }
    case 'increase':
      await chain.update((state) => increaseTime(state, BigInt(each.seconds), now))
      break
    case 'exact': {
      const time = headTime(chain) + 1n + BigInt(each.seconds)
      await chain.update((state) => setNextTimestamp(state, time))
      break
    }
    case 'snapshot':
      await chain.update(takeSnapshot)
      break
    case 'named':
      await chain.update((state) => takeNamedSnapshot(state, `point ${each.id % 3}`))
      break
    case 'revert':
      await chain.update<unknown>((state) =>
        each.id > 4 ? returnTo(state, `point ${each.id % 3}`) : revertTo(state, each.id),
      )
      break
    case 'cut':
      await chain.update((state) => {
        const head = headOf(state.tree).block.header.number
        const number = head > BigInt(each.id) ? head - BigInt(each.id) : 0n
        return { state: { ...state, tree: truncateTo(state.tree, number) }, value: undefined }
      })
      break
    case 'cheat':
      await chain.update((state) =>
        editWorld(
          state,
          (world) => {
            const address = account(chain, 3 + (each.id % 3))
            if (each.id === 6) return withoutAccount(world, address)
            const coded = withCode(world, address, Uint8Array.of(each.id, 0))
            const paid = withBalance(coded, address, 2n ** 200n + BigInt(each.id))
            return withStorage(paid, address, BigInt(each.id) << 200n, BigInt(each.id))
          },
          [],
        ),
      )
      break
    case 'reset':
      await chain.update(reset)
      break
    case 'stop':
      await chain.update(stopMining)
      break
    case 'start':
      await chain.update((state) => startMining(chain.executor, state, now))
      break
    case 'key':
      await chain.update((state) => {
        const { book } = newAccountWithSeed(state.accounts, `${state.tree.canonical.length}`)
        const accounts = impersonateAccount(book, account(chain, 1))
        return { state: { ...state, accounts }, value: undefined }
      })
      break
  }
}

/** All that a state answers, as plain values: two states with the same answers are the same to their users. */
export function answersOf(state: ChainState, depth = 0): unknown {
  const { tree, config, pool, accounts, origin, newestSnapshot, namedSnapshots, blobs, ...rest } =
    state
  // what reverts left is not stored
  const { left: _, ...others } = rest
  const records = [...tree.canonical.values()]
  const hashes = records.flatMap(({ block }) => block.transactions.map(({ hash }) => hash))
  const { source, chainId, networkId, ruleset, initialBaseFee, behaviour } = config
  return {
    ...others,
    config: { source, chainId, networkId, ruleset, initialBaseFee, behaviour },
    rules: records.map(({ block: { header } }) =>
      config.hardforkAt(header.number, header.timestamp),
    ),
    hashes: records.map(({ block }) => block.hash),
    blocks: (depth === 0 ? records : records.slice(-4)).map(answerOf),
    side: tree.side.records.map(answerOf),
    byHash: records.map(({ block }) => blockByHash(tree, block.hash)?.block.header.number),
    bySideHash: tree.side.records.map(({ block }) => blockByHash(tree, block.hash)?.block.hash),
    places: hashes.map((hash) => {
      const place = transactionPlace(tree, hash)
      return place && [place.record.block.hash, place.index]
    }),
    abandoned: tree.abandoned,
    blobs: blobs.map(({ transaction, hashes, sidecar: { version, blobs: contents } }) => [
      transaction,
      hashes,
      version,
      contents.map(keccakHash),
    ]),
    pool: pooledInOrder(pool),
    queues: [...pool.bySender.entries()].map(([sender, { runs }]) => [sender, runs]),
    lastArrival: pool.lastArrival,
    held: [...accounts.held.entries()],
    order: accounts.order,
    impersonated: [...accounts.impersonated.entries()],
    snapshots:
      depth === 0
        ? snapshotsOf(state).map(({ id, name, state: then }) => [id, name, answersOf(then, 1)])
        : snapshotsOf(state).map(({ id, name }) => [id, name]),
    origin: depth === 0 && origin !== undefined ? answersOf(origin, 1) : undefined,
  }
}

function answerOf(record: BlockRecord): unknown {
  const { block, executed, world, totalDifficulty, prevRandao } = record
  return {
    block: { ...block },
    executed,
    root: stateRoot(world),
    totalDifficulty,
    prevRandao,
    accounts: executed.length === 0 ? [] : [...accountsOf(world)].map(accountAnswer),
  }
}

function accountAnswer(
  each: ReturnType<typeof accountsOf> extends IterableIterator<infer A> ? A : never,
): unknown {
  const { address, nonce, balance, code, codeHash, storage } = each
  return [address, nonce, balance, hexFromBytes(code), codeHash, [...storage.values()]]
}
