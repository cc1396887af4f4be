// Random commands against a chain and against a naive model of it: plain objects, copied whole for a snapshot.
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { DevchainError } from '../../../src/core/errors.ts'
import type { Chain } from '../../../src/node/chain/chain.ts'
import { mine } from '../../../src/node/commands/mine.ts'
import { startMining, stopMining } from '../../../src/node/commands/miningmode.ts'
import {
  dropSnapshot,
  reset,
  revertTo,
  takeSnapshot,
} from '../../../src/node/commands/snapshots.ts'
import { increaseTime, setNextTimestamp } from '../../../src/node/commands/time.ts'
import { headOf } from '../../../src/node/ledger/blocktree.ts'
import { sendRawTransaction } from '../../../src/node/sending/send.ts'
import { balanceAt, nonceAt } from '../../../src/state/world.ts'
import {
  account,
  headTime,
  signed,
  type TestEnvironment,
  testChain,
  testEnvironment,
} from './chains.ts'

const ACCOUNTS = 3

type Command =
  | {
      readonly kind: 'send'
      readonly from: number
      readonly to: number
      readonly value: number
      readonly ahead: number
    }
  | { readonly kind: 'mine'; readonly blocks: number }
  | { readonly kind: 'revert' | 'drop'; readonly id: number }
  | { readonly kind: 'increase' | 'wait' | 'exact'; readonly seconds: number }
  | { readonly kind: 'snapshot' | 'reset' | 'stop' | 'start' }

interface ModelTransaction {
  readonly from: number
  readonly to: number
  readonly value: number
  readonly nonce: number
  readonly arrival: number
}

/** All that a snapshot keeps. */
interface ModelState {
  /** Timestamps of the blocks, and how many transactions each has. */
  blocks: { time: number; transactions: number }[]
  balances: number[]
  nonces: number[]
  pool: ModelTransaction[]
  /** Seconds by which the clock is ahead of the wall. */
  shift: number
  increased: number
  exact: number | undefined
  isMining: boolean
}

class Model {
  state: ModelState
  readonly #genesis: ModelState
  snapshots = new Map<number, ModelState>()
  nextId = 1
  #arrivals = 0

  constructor(time: number, balance: number) {
    const zeros = Array.from({ length: ACCOUNTS }, () => 0)
    this.#genesis = {
      blocks: [{ time, transactions: 0 }],
      balances: zeros.map(() => balance),
      nonces: zeros,
      pool: [],
      shift: 0,
      increased: 0,
      exact: undefined,
      isMining: true,
    }
    this.state = structuredClone(this.#genesis)
  }

  get headTime(): number {
    return this.state.blocks.at(-1)!.time
  }

  nextNonce(from: number): number {
    let nonce = this.state.nonces[from]!
    while (this.state.pool.some((each) => each.from === from && each.nonce === nonce)) nonce += 1
    return nonce
  }

  /** The word of the refusal, or undefined. */
  send(from: number, to: number, value: number, nonce: number, wall: number): string | undefined {
    const { state } = this
    if (state.balances[from]! < value) return 'INSUFFICIENT_FUNDS'
    const rival = state.pool.find((each) => each.from === from && each.nonce === nonce)
    if (rival !== undefined) {
      return rival.to === to && rival.value === value ? 'ALREADY_KNOWN' : 'REPLACEMENT_UNDERPRICED'
    }
    this.#arrivals += 1
    state.pool.push({ from, to, value, nonce, arrival: this.#arrivals })
    if (state.isMining) this.mineWaiting(wall)
    return undefined
  }

  mineWaiting(wall: number): void {
    for (;;) {
      const executed = this.#run(1)
      if (executed === 0) return
      this.#seal(executed, wall)
    }
  }

  mine(blocks: number, wall: number): void {
    for (let count = 0; count < blocks; count += 1)
      this.#seal(this.#run(Number.POSITIVE_INFINITY), wall)
  }

  increase(seconds: number, wall: number): number {
    const { state } = this
    state.shift += Math.max(0, this.headTime - (wall + state.shift)) + seconds
    state.increased += seconds
    if (state.exact !== undefined) state.exact += seconds
    return state.increased
  }

  snapshot(): number {
    this.snapshots.set(this.nextId, structuredClone(this.state))
    this.nextId += 1
    return this.nextId - 1
  }

  revert(id: number): boolean {
    const kept = this.snapshots.get(id)
    if (kept === undefined) return false
    this.state = structuredClone(kept)
    for (const later of [...this.snapshots.keys()].filter((each) => each > id))
      this.snapshots.delete(later)
    return true
  }

  /** The word of the refusal, or undefined. */
  drop(id: number): string | undefined {
    return this.snapshots.delete(id) ? undefined : 'NOT_FOUND'
  }

  reset(): void {
    this.state = structuredClone(this.#genesis)
    this.snapshots.clear()
  }

  /** Executes up to `count` of what waits, first come first served; what cannot be paid is dropped. */
  #run(count: number): number {
    const { state } = this
    const blocked = new Set<number>()
    let executed = 0
    while (executed < count) {
      const heads = state.pool.filter(
        ({ from, nonce }) => nonce === state.nonces[from] && !blocked.has(from),
      )
      const next = heads.sort((a, b) => a.arrival - b.arrival)[0]
      if (next === undefined) break
      state.pool.splice(state.pool.indexOf(next), 1)
      if (state.balances[next.from]! < next.value) {
        blocked.add(next.from)
        continue
      }
      state.balances[next.from]! -= next.value
      state.balances[next.to]! += next.value
      state.nonces[next.from]! += 1
      executed += 1
    }
    return executed
  }

  #seal(transactions: number, wall: number): void {
    const { state } = this
    const clock = wall + state.shift
    const time = state.exact ?? Math.max(clock, this.headTime + 1)
    if (state.exact !== undefined) state.shift += time - clock
    state.exact = undefined
    state.blocks.push({ time, transactions })
  }
}

const index = fc.nat(ACCOUNTS - 1)
const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('send' as const),
      from: index,
      to: index,
      value: fc.nat(60),
      ahead: fc.constantFrom(0, 0, 0, 1, 2),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('mine' as const),
      blocks: fc.integer({ min: 1, max: 2 }),
    }),
  },
  {
    // as many as bulk mining takes together
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('mine' as const),
      blocks: fc.integer({ min: 34, max: 40 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('revert' as const), id: fc.nat(6) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('drop' as const), id: fc.nat(6) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constantFrom('increase' as const, 'wait' as const, 'exact' as const),
      seconds: fc.nat(100),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constantFrom(
        'snapshot' as const,
        'snapshot' as const,
        'stop' as const,
        'start' as const,
        'reset' as const,
      ),
    }),
  },
)

async function wordOf(sending: Promise<unknown>): Promise<string | undefined> {
  try {
    await sending
    return undefined
  } catch (error) {
    if (error instanceof DevchainError) return error.word
    throw error
  }
}

/** Runs one command on both and compares what they answer. */
async function run(
  chain: Chain,
  environment: TestEnvironment,
  model: Model,
  each: Command,
): Promise<void> {
  const now = environment.ms
  const wall = Math.floor(now / 1000)
  switch (each.kind) {
    case 'send': {
      const nonce = model.nextNonce(each.from) + each.ahead
      const fields = {
        index: each.from,
        to: account(chain, each.to),
        value: BigInt(each.value),
        nonce: BigInt(nonce),
      }
      const word = await wordOf(sendRawTransaction(chain, signed(chain, fields).raw))
      expect(word).toBe(model.send(each.from, each.to, each.value, nonce, wall))
      break
    }
    case 'mine':
      await chain.update((state) =>
        mine(chain.executor, state, {
          now,
          blocks: BigInt(each.blocks),
          bulk: chain.execution.bulk,
        }),
      )
      model.mine(each.blocks, wall)
      break
    case 'increase': {
      const total = await chain.update((state) => increaseTime(state, BigInt(each.seconds), now))
      expect(Number(total)).toBe(model.increase(each.seconds, wall))
      break
    }
    case 'exact':
      model.state.exact = model.headTime + 1 + each.seconds
      await chain.update((state) => setNextTimestamp(state, BigInt(model.state.exact!)))
      break
    case 'wait':
      environment.ms += each.seconds * 1000
      break
    case 'snapshot':
      expect(await chain.update(takeSnapshot)).toBe(model.snapshot())
      break
    case 'drop':
      expect(await wordOf(chain.update((state) => dropSnapshot(state, each.id)))).toBe(
        model.drop(each.id),
      )
      break
    case 'revert':
      expect(await chain.update((state) => revertTo(state, each.id))).toBe(model.revert(each.id))
      break
    case 'reset':
      await chain.update(reset)
      model.reset()
      break
    case 'stop':
      await chain.update(stopMining)
      model.state.isMining = false
      break
    case 'start':
      await chain.update((state) => startMining(chain.executor, state, now))
      model.state.isMining = true
      model.mineWaiting(wall)
      break
  }
}

function compare(chain: Chain, { state }: Model): void {
  const { tree, pool } = chain.state
  const { world } = headOf(tree)
  const indexes = Array.from({ length: ACCOUNTS }, (_, each) => each)
  const seen = {
    blocks: [...tree.canonical.values()].map(({ block }) => ({
      time: Number(block.header.timestamp),
      transactions: block.transactions.length,
    })),
    balances: indexes.map((each) => Number(balanceAt(world, account(chain, each)))),
    nonces: indexes.map((each) => Number(nonceAt(world, account(chain, each)))),
    waiting: pool.size,
  }
  const { blocks, balances, nonces } = state
  expect(seen).toEqual({ blocks, balances, nonces, waiting: state.pool.length })
}

it.each([
  ['with its accelerators', false],
  ['without any', true],
])('a chain %s behaves like a naive model under random commands', async (_, isPlain) => {
  await fc.assert(
    fc.asyncProperty(fc.array(command, { maxLength: 50, size: 'max' }), async (commands) => {
      const environment = testEnvironment()
      const chain = await testChain({ environment, accounts: ACCOUNTS, balance: 100n, isPlain })
      const model = new Model(Number(headTime(chain)), 100)
      for (const each of commands) {
        await run(chain, environment, model, each)
        compare(chain, model)
      }
      chain.close()
    }),
    { seed: 20_261_121, numRuns: 60 },
  )
})
