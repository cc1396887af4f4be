// A chain goes out as bytes and comes back the same; a block that breaks a rule stops where it is, and the rule is named.
import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { type Address, concatBytes, type Hash } from '../../../../src/core/hex.ts'
import type { Chain } from '../../../../src/node/chain/chain.ts'
import type { ChainOptions } from '../../../../src/node/chainoptions.ts'
import { mine } from '../../../../src/node/commands/mine.ts'
import { changeSettings } from '../../../../src/node/commands/settings.ts'
import { increaseTime } from '../../../../src/node/commands/time.ts'
import { createChain } from '../../../../src/node/create.ts'
import { importBlocks } from '../../../../src/node/import/importblocks.ts'
import { headOf } from '../../../../src/node/ledger/blocktree.ts'
import type { Settings } from '../../../../src/node/ledger/chainstate.ts'
import { sendTransaction } from '../../../../src/node/sending/send.ts'
import { encodeBlock } from '../../../../src/protocol/blocks/block.ts'
import { decodeBlock } from '../../../../src/protocol/blocks/blockdecoding.ts'
import { HARDFORKS } from '../../../../src/protocol/forks.ts'
import { parseGenesis } from '../../../../src/state/genesis.ts'
import { networkBlocks, networkGenesis } from '../../../support/chain/networkchain.ts'
import { account, testEnvironment } from '../chains.ts'

/** Forks by block up to the merge, then by time: one a block, each twice as long where time passes. */
const CONFIG = {
  chainId: 33,
  homesteadBlock: 1,
  eip150Block: 2,
  eip155Block: 3,
  eip158Block: 3,
  byzantiumBlock: 4,
  constantinopleBlock: 5,
  petersburgBlock: 6,
  istanbulBlock: 7,
  berlinBlock: 8,
  londonBlock: 9,
  mergeNetsplitBlock: 10,
  shanghaiTime: 1_000,
  cancunTime: 2_000,
  pragueTime: 3_000,
  osakaTime: 4_000,
  bpo1Time: 5_000,
  bpo2Time: 6_000,
  amsterdamTime: 7_000,
}

const options: ChainOptions = {
  genesis: parseGenesis({
    config: CONFIG,
    timestamp: '0x0',
    difficulty: '0x1',
    gasLimit: '0x1c9c380',
  }),
  clock: { kind: 'frozen' },
  scryptCost: 2,
}

const MINER = `0x${'c0'.repeat(20)}` as Address

/** PUSH1 1 PUSH1 0 SSTORE PUSH1 0 PUSH1 0 LOG0, as the code that a creation runs. */
const CREATION = Uint8Array.of(0x60, 1, 0x60, 0, 0x55, 0x60, 0, 0x60, 0, 0xa0)

/** A chain of every fork: each block creates a contract that stores and logs, and pays somebody. */
async function grown(changes: ChainOptions = {}): Promise<Chain> {
  const chain = await createChain({ ...options, environment: testEnvironment(), ...changes })
  const from = account(chain, 0)
  for (const _ of Array.from({ length: 10 })) {
    await sendTransaction(chain, { from, data: CREATION, gas: 200_000n })
    await sendTransaction(chain, { from, to: account(chain, 1), value: 5n })
  }
  for (const _ of Array.from({ length: 8 })) {
    await chain.update((state) => increaseTime(state, 1_000n, chain.environment.now()))
    await sendTransaction(chain, { from, data: CREATION, gas: 500_000n })
  }
  return chain
}

/** The blocks of a chain as bytes, block 0 first. */
function exported(chain: Chain): Uint8Array[] {
  return [...chain.state.tree.canonical.values()].map(({ block }) => encodeBlock(block))
}

function headHash(chain: Chain): Hash {
  return headOf(chain.state.tree).block.hash
}

describe('import of a chain of devchain', () => {
  test('restores the same head, from the first fork to the newest', async () => {
    const chain = await grown()
    const forks = [...chain.state.tree.canonical.values()].map(({ block: { header } }) =>
      chain.state.config.hardforkAt(header.number, header.timestamp),
    )
    expect(new Set(forks)).toEqual(new Set(HARDFORKS))
    const blocks = concatBytes(...exported(chain))
    const again = await createChain({ ...options, environment: testEnvironment(), blocks })
    expect(headHash(again)).toBe(headHash(chain))
    expect(again.state.config.ruleset).toBe('own')
  })
})

describe('import of a chain with edited blocks', () => {
  const fixed: ChainOptions = { clock: { kind: 'frozen' }, scryptCost: 2 }
  const cases: [what: string, changes: Partial<Settings>, options: ChainOptions][] = [
    ['gas limit', { blockGasLimit: 100_000_000n }, {}],
    ['base fee', { nextBaseFee: 10n ** 8n }, {}],
    ['base fee of a market', { nextBaseFee: 10n ** 8n }, { baseFee: 10n ** 9n }],
    ['miner and extra data', { coinbase: MINER, extraData: Uint8Array.of(1, 2) }, {}],
    ['gas limit without difficulty', { blockGasLimit: 100_000_000n }, { difficulty: 0n }],
    [
      'base fee without difficulty',
      { nextBaseFee: 10n ** 8n },
      { difficulty: 0n, baseFee: 10n ** 9n },
    ],
    ['PREVRANDAO', { nextPrevRandao: `0x${'77'.repeat(32)}` as Hash }, {}],
  ]
  test.each(cases)('keeps a changed %s', async (_what, changes, more) => {
    const given: ChainOptions = { ...fixed, ...more }
    const chain = await createChain({ ...given, environment: testEnvironment() })
    await chain.update((state) => changeSettings(state, changes))
    const now = chain.environment.now()
    await chain.update((state) => mine(chain.executor, state, { now, blocks: 3n }))
    await sendTransaction(chain, { from: account(chain, 0), gasPrice: 10n ** 10n, data: CREATION })
    const blocks = concatBytes(...exported(chain))
    const again = await createChain({ ...given, blocks, environment: testEnvironment() })
    expect(headHash(again)).toBe(headHash(chain))
  })
})

describe('import of a chain without difficulty that devchain made', () => {
  test('works though its first blocks could be a network’s', async () => {
    const given: ChainOptions = { clock: { kind: 'frozen' }, difficulty: 0n, baseFee: 10n ** 9n }
    const chain = await createChain({ ...given, environment: testEnvironment() })
    const now = chain.environment.now()
    await chain.update((state) => mine(chain.executor, state, { now, blocks: 2n }))
    await chain.update((state) => changeSettings(state, { nextBaseFee: 0n }))
    await sendTransaction(chain, { from: MINER, to: account(chain, 1) }, undefined, 'nobody')
    const blocks = concatBytes(...exported(chain))
    const again = await createChain({ ...given, blocks, environment: testEnvironment() })
    expect(headHash(again)).toBe(headHash(chain))
    expect(again.state.config.ruleset).toBe('own')
  })

  test('works though a file gave the genesis, to which the accounts were added', async () => {
    const given: ChainOptions = {
      genesis: parseGenesis({ difficulty: '0x0', baseFeePerGas: '0x3b9aca00' }),
      clock: { kind: 'frozen' },
      scryptCost: 2,
    }
    const chain = await createChain({ ...given, environment: testEnvironment() })
    const now = chain.environment.now()
    await chain.update((state) => mine(chain.executor, state, { now }))
    await chain.update((state) => changeSettings(state, { blockGasLimit: 100_000_000n }))
    await chain.update((state) => mine(chain.executor, state, { now }))
    const blocks = concatBytes(...exported(chain))
    const again = await createChain({ ...given, blocks, environment: testEnvironment() })
    expect(headHash(again)).toBe(headHash(chain))
    expect(again.state.config.ruleset).toBe('own')
  })

  test('works when its first block has the base fee of the genesis', async () => {
    const given: ChainOptions = {
      clock: { kind: 'frozen' },
      unsaid: { difficulty: 0n, baseFee: 10n ** 9n },
      behaviour: { firstBaseFeeStays: true },
    }
    const chain = await createChain({ ...given, environment: testEnvironment() })
    const now = chain.environment.now()
    await chain.update((state) => mine(chain.executor, state, { now, blocks: 2n }))
    const fees = [...chain.state.tree.canonical.values()].map(
      ({ block }) => block.header.baseFeePerGas,
    )
    expect(fees).toEqual([10n ** 9n, 10n ** 9n, 875_000_000n])
    const blocks = concatBytes(...exported(chain))
    const again = await createChain({ ...given, blocks, environment: testEnvironment() })
    expect(headHash(again)).toBe(headHash(chain))
  })
})

describe('import of a chain with the general defaults', () => {
  test('works where other values are set than the defaults', async () => {
    const given: ChainOptions = { clock: { kind: 'frozen' } }
    const chain = await createChain({ ...given, environment: testEnvironment() })
    await sendTransaction(chain, { from: account(chain, 0), to: account(chain, 1), value: 5n })
    const again = await createChain({
      ...given,
      unsaid: { chainId: 1337n, baseFee: 10n ** 9n, difficulty: 0n },
      blocks: concatBytes(...exported(chain)),
      environment: testEnvironment(),
    })
    expect(headHash(again)).toBe(headHash(chain))
    expect(again.state.config.chainId).toBe(33n)
  })
})

describe('import of a network’s chain', () => {
  const asGiven: ChainOptions = { genesis: parseGenesis(networkGenesis), accounts: 0 }
  let parts: readonly Uint8Array[]
  let blocks: Uint8Array
  beforeAll(async () => {
    const empty = await createChain({ ...asGiven, environment: testEnvironment() })
    parts = await networkBlocks(headHash(empty))
    blocks = concatBytes(...parts)
  })

  test('validates it from the first fork to the newest', async () => {
    const chain = await createChain({ ...asGiven, blocks, environment: testEnvironment() })
    expect(exported(chain).slice(1)).toEqual(parts)
    expect(chain.state.config.ruleset).toBe('network')
  })

  test('doubles the gas limit in the first block of london that is mined on top of it', async () => {
    const london = parts.findIndex((each) => decodeBlock(each).header.baseFeePerGas !== undefined)
    const before = concatBytes(...parts.slice(0, london - 1))
    const given: ChainOptions = { ...asGiven, clock: { kind: 'step', seconds: 10n } }
    const chain = await createChain({ ...given, blocks: before, environment: testEnvironment() })
    const now = chain.environment.now()
    await chain.update((state) => mine(chain.executor, state, { now, blocks: 4n }))
    const mined = exported(chain)
      .slice(london - 1)
      .map((each) => decodeBlock(each).header)
    const limit = decodeBlock(parts[london - 2]!).header.gasLimit
    expect(mined.map(({ gasLimit }) => gasLimit / limit)).toEqual([1n, 1n, 2n, 2n, 2n])
    const again = await createChain({
      ...given,
      blocks: concatBytes(...exported(chain)),
      environment: testEnvironment(),
    })
    expect(headHash(again)).toBe(headHash(chain))
    expect(again.state.config.ruleset).toBe('network')
  })

  test('merges after the block that reaches the total difficulty, if no number is given', async () => {
    const whole = await createChain({ ...asGiven, blocks, environment: testEnvironment() })
    const difficulties = [...whole.state.tree.canonical.values()].map(
      ({ block }) => block.header.difficulty,
    )
    const reached = difficulties.reduce((sum, each) => sum + each, 0n)
    const last = difficulties.findLast((each) => each > 0n)!
    const imported = (terminalTotalDifficulty: bigint): Promise<Chain> => {
      const config = {
        ...(networkGenesis.config as object),
        mergeNetsplitBlock: undefined,
        terminalTotalDifficulty: Number(terminalTotalDifficulty),
      }
      const genesis = parseGenesis({ ...networkGenesis, config })
      return createChain({ genesis, accounts: 0, blocks, environment: testEnvironment() })
    }
    for (const enough of [reached, reached - last + 1n]) {
      expect(headHash(await imported(enough))).toBe(headHash(whole))
    }
    await expect(imported(reached - last)).rejects.toThrow('block 29: difficulty: expected 0 after')
    await expect(imported(reached + 1n)).rejects.toThrow(/^block 30: difficulty: expected \d{6},/)
  })

  test('refuses or accepts it by a rule, whatever bytes are changed', async () => {
    const { executor, state } = await createChain({
      ...asGiven,
      blocks,
      environment: testEnvironment(),
    })
    const damage = fc.record({
      block: fc.nat(parts.length - 1),
      at: fc.nat(),
      removed: fc.nat(40),
      added: fc.uint8Array({ maxLength: 40 }),
    })
    const law = fc.asyncProperty(damage, async ({ block, at, removed, added }) => {
      const bytes = parts[block]!
      const from = at % bytes.length
      const file = concatBytes(bytes.subarray(0, from), added, bytes.subarray(from + removed))
      const outcome = await importBlocks(executor, state, file).catch((error) => error)
      if (outcome instanceof Error) expect(outcome).toMatchObject({ word: 'INVALID_BLOCK' })
    })
    await fc.assert(law, { seed: 3, numRuns: 500 })
  })
})
