// Imagined blocks: what they are made of, what calls come to in them, and what is refused.
import fc from 'fast-check'
import { beforeEach, describe, expect, test } from 'vitest'
import { keccakHash } from '../../../../src/core/crypto/crypto.ts'
import {
  type Address,
  bigintFromBytes,
  EMPTY_BYTES,
  type Hash,
  hexFromBytes,
  paddedBytes,
  ZERO_ADDRESS,
  ZERO_HASH,
} from '../../../../src/core/hex.ts'
import { ETHER_ADDRESS } from '../../../../src/evm/tracers/recorders.ts'
import type { AccountOverride } from '../../../../src/node/calls/overrides.ts'
import {
  type BlockPlan,
  type SimulatedBlock,
  type SimulatedCall,
  type Simulation,
  simulateBlocks,
} from '../../../../src/node/calls/simulateblocks.ts'
import type { Chain } from '../../../../src/node/chain/chain.ts'
import type { ChainOptions } from '../../../../src/node/chainoptions.ts'
import { mine } from '../../../../src/node/commands/mine.ts'
import { setMiningMode } from '../../../../src/node/commands/miningmode.ts'
import { headOf } from '../../../../src/node/ledger/blocktree.ts'
import { latest, pendingReference } from '../../../../src/node/ledger/references.ts'
import { sendRawTransaction } from '../../../../src/node/sending/send.ts'
import { EMPTY_BLOOM } from '../../../../src/protocol/blocks/bloom.ts'
import { encodeHeader } from '../../../../src/protocol/blocks/header.ts'
import { balanceAt, nonceAt, stateRoot } from '../../../../src/state/world.ts'
import {
  assemble,
  calling,
  deploying,
  RETURN_WORD,
  storing,
} from '../../../support/evm/bytecode.ts'
import { countTurns } from '../../../support/waiting/turns.ts'
import { account, signed, testChain } from '../chains.ts'

const ALICE = `0x${'a1'.repeat(20)}` as Address
const BOB = `0x${'b0'.repeat(20)}` as Address
const CONTRACT = `0x${'cc'.repeat(20)}` as Address
const IDENTITY = `0x${'4'.padStart(40, '0')}` as Address
const LIMIT = 30_000_000n

const sixBlobs = {
  versionedHashes: Array.from({ length: 6 }, (_, index) => `0x01${`${index}`.repeat(62)}` as Hash),
}

let chain: Chain
beforeEach(async () => {
  chain = await testChain()
})

function simulate(
  blocks: readonly BlockPlan[],
  options: Partial<Simulation> = {},
  reference = latest,
): Promise<SimulatedBlock[]> {
  const simulation = { blocks, validation: false, traceTransfers: false, ...options }
  return simulateBlocks(chain, simulation, reference)
}

/** The only call of the last block. */
async function lastCall(
  blocks: readonly BlockPlan[],
  options: Partial<Simulation> = {},
): Promise<SimulatedCall> {
  return (await simulate(blocks, options)).at(-1)!.calls.at(-1)!
}

/** A block in which `CONTRACT` consists of `program` and is called. */
function programBlock(program: string, fields: BlockPlan = {}): BlockPlan {
  return {
    stateOverrides: new Map([[CONTRACT, { code: assemble(program) }]]),
    calls: [{ from: ALICE, to: CONTRACT }],
    ...fields,
  }
}

/** The word that a program leaves on top of the stack. */
async function wordIn(
  program: string,
  before: readonly BlockPlan[],
  fields: BlockPlan = {},
): Promise<bigint> {
  const { outcome } = await lastCall([...before, programBlock(`${program} ${RETURN_WORD}`, fields)])
  expect(outcome.failure).toBeUndefined()
  return bigintFromBytes(outcome.output)
}

const rich = new Map([[ALICE, { balance: 10n ** 18n }]])
const pay = (value: bigint): { from: Address; to: Address; value: bigint } => ({
  from: ALICE,
  to: BOB,
  value,
})

describe('a simulated block', () => {
  test('follows its base block or the simulated block before', async () => {
    const head = headOf(chain.state.tree).block
    const results = await simulate([{ stateOverrides: rich, calls: [pay(1n)] }, {}, {}])
    let parent = head
    for (const { record } of results) {
      const { header, hash } = record.block
      expect(header.number).toBe(parent.header.number + 1n)
      expect(header.parentHash).toBe(parent.hash)
      expect(header.timestamp).toBe(parent.header.timestamp + 12n)
      expect(hash).toBe(keccakHash(encodeHeader(header)))
      parent = record.block
    }
  })

  test('inherits from its parent what is not overridden', async () => {
    const overrides = {
      gasLimit: 5_000_000n,
      coinbase: BOB,
      difficulty: 9n,
      prevRandao: `0x${'5e'.repeat(32)}` as Hash,
    }
    const [one, two] = await simulate([{ blockOverrides: overrides }, {}])
    const head = headOf(chain.state.tree)
    const shared = { gasLimit: 5_000_000n, miner: BOB, difficulty: 9n }
    expect(one?.record.block.header).toMatchObject({ ...shared, mixHash: overrides.prevRandao })
    expect(two?.record.block.header).toMatchObject({
      ...shared,
      mixHash: ZERO_HASH,
      extraData: EMPTY_BYTES,
      baseFeePerGas: 0n,
    })
    expect(two?.record.totalDifficulty).toBe(head.totalDifficulty + 18n)
  })

  test('fills a gap in the numbers with empty blocks', async () => {
    const results = await simulate([
      { blockOverrides: { number: 2n } },
      { blockOverrides: { number: 5n, timestamp: 10n ** 10n } },
      {},
    ])
    const numbers = results.map(({ record }) => record.block.header.number)
    expect(numbers).toEqual([1n, 2n, 3n, 4n, 5n, 6n])
    const times = results.map(({ record }) => record.block.header.timestamp)
    const base = headOf(chain.state.tree).block.header.timestamp
    expect(times.map((time) => time - base).slice(0, 4)).toEqual([12n, 24n, 36n, 48n])
    expect(times.slice(4)).toEqual([10n ** 10n, 10n ** 10n + 12n])
    for (const [i, { record }] of results.entries()) {
      if (i > 0) expect(record.block.header.parentHash).toBe(results[i - 1]?.record.block.hash)
    }
  })

  test('can follow any block, the pending one and its hash included', async () => {
    await chain.update((state) => setMiningMode(chain.executor, state, { kind: 'manual' }, 0))
    await sendRawTransaction(chain, signed(chain).raw)
    const pending = await chain.pending()
    const program = `1 NUMBER SUB BLOCKHASH ${RETURN_WORD}`
    const [block] = await simulate([programBlock(program)], {}, pendingReference)
    expect(block?.record.block.header.parentHash).toBe(pending.block.hash)
    expect(hexFromBytes(block!.calls[0]!.outcome.output)).toBe(pending.block.hash)
  })

  test('does not change the chain', async () => {
    const before = chain.state
    await simulate([{ stateOverrides: rich, calls: [pay(1n)] }])
    expect(chain.state).toBe(before)
    expect(balanceAt(headOf(before.tree).world, ALICE)).toBe(0n)
  })

  test('equals the block that would be mined with the same calls', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ index: fc.nat(3), value: fc.bigInt(0n, 10n ** 20n), to: fc.nat(3) }), {
          maxLength: 8,
          size: 'max',
        }),
        async (payments) => {
          const real = await testChain({ clock: { kind: 'step', seconds: 12n } })
          await real.update((state) => setMiningMode(real.executor, state, { kind: 'manual' }, 0))
          const counts = new Map<number, bigint>()
          for (const { index, value, to } of payments) {
            const nonce = counts.get(index) ?? 0n
            counts.set(index, nonce + 1n)
            const fields = { type: 2, index, nonce, value, to: account(real, to) } as const
            await sendRawTransaction(real, signed(real, fields).raw)
          }
          const base = headOf(real.state.tree)
          await real.update((state) =>
            mine(real.executor, state, {
              blocks: 1n,
              timestamp: base.block.header.timestamp + 12n,
              now: 0,
            }),
          )
          const mined = headOf(real.state.tree).block
          const calls = mined.transactions.map(({ from, to, value, gasLimit }) => ({
            from,
            to,
            value,
            gas: gasLimit,
          }))
          const [block] = await simulateBlocks(
            real,
            { blocks: [{ calls }], validation: true, traceTransfers: true },
            { kind: 'number', number: 0n },
          )
          const { header } = block!.record.block
          expect(mined.transactions).toHaveLength(payments.length)
          const { gasUsed, logsBloom, receiptsRoot, requestsHash, stateRoot: root } = header
          expect({ gasUsed, logsBloom, receiptsRoot, requestsHash, root }).toEqual({
            gasUsed: mined.header.gasUsed,
            logsBloom: mined.header.logsBloom,
            receiptsRoot: mined.header.receiptsRoot,
            requestsHash: mined.header.requestsHash,
            root: mined.header.stateRoot,
          })
          expect(root).toBe(stateRoot(block!.record.world))
        },
      ),
      { numRuns: 15, seed: 6 },
    )
  })
})

describe('a simulated call', () => {
  test('builds on those before it, within a block and across blocks', async () => {
    const [one, two] = await simulate([
      { stateOverrides: rich, calls: [pay(5n), { from: BOB, to: ALICE, value: 3n }] },
      { calls: [{ from: BOB, to: CONTRACT, value: 2n }] },
    ])
    expect(one?.calls.map(({ outcome }) => outcome.failure)).toEqual([undefined, undefined])
    const world = two!.record.world
    expect([balanceAt(world, BOB), balanceAt(world, CONTRACT), nonceAt(world, BOB)]).toEqual([
      0n,
      2n,
      2n,
    ])
    const nonces = [...one!.record.block.transactions, ...two!.record.block.transactions].map(
      ({ nonce }) => nonce,
    )
    expect(nonces).toEqual([0n, 0n, 1n])
  })

  test('sees its block and the hashes of those before', async () => {
    const fields = { blockOverrides: { number: 4n, timestamp: 10n ** 10n, baseFee: 0n } }
    expect(await wordIn('NUMBER', [{}], fields)).toBe(4n)
    expect(await wordIn('TIMESTAMP', [{}], fields)).toBe(10n ** 10n)
    const [one] = await simulate([{}])
    expect(await wordIn('1 BLOCKHASH', [{}])).toBe(BigInt(one!.record.block.hash))
    expect(await wordIn('0 BLOCKHASH', [{}])).toBe(BigInt(headOf(chain.state.tree).block.hash))
    expect(await wordIn('2 BLOCKHASH', [{}])).toBe(0n)
  })

  test('sees the overridden blob fee, which the header does not show', async () => {
    const blocks = [
      programBlock(`BLOBBASEFEE ${RETURN_WORD}`, { blockOverrides: { blobBaseFee: 500n } }),
    ]
    const [block] = await simulate(blocks)
    expect(bigintFromBytes(block!.calls[0]!.outcome.output)).toBe(500n)
    expect(block?.record.block.header.excessBlobGas).toBe(0n)
  })

  test('pays the overridden blob fee, 0 included', async () => {
    const blobs = { versionedHashes: [`0x01${'07'.repeat(31)}` as Hash], maxFeePerBlobGas: 10n }
    const program = `BLOBBASEFEE ${RETURN_WORD}`
    for (const blobBaseFee of [0n, 3n]) {
      const [block] = await simulate([
        {
          blockOverrides: { blobBaseFee },
          stateOverrides: new Map<Address, AccountOverride>([
            ...rich,
            [CONTRACT, { code: assemble(program) }],
          ]),
          calls: [{ from: ALICE, to: CONTRACT, blobs }],
        },
      ])
      expect(bigintFromBytes(block!.calls[0]!.outcome.output)).toBe(blobBaseFee)
      const left = 10n ** 18n - 131_072n * blobBaseFee
      expect(balanceAt(block!.record.world, ALICE)).toBe(left)
      expect(block!.record.executed[0]?.receipt.blobGas?.price).toBe(blobBaseFee)
    }
  })

  test('with only a blob fee is no blob transaction', async () => {
    const calls = [{ from: ALICE, to: BOB, blobs: { maxFeePerBlobGas: 0n } }]
    for (const validation of [false, true]) {
      const [block] = await simulate([{ stateOverrides: rich, calls }], { validation })
      expect(block?.record.block.transactions[0]).toMatchObject({ type: 2, blobs: undefined })
    }
  })

  test('with the last possible nonce is followed by nonce 0', async () => {
    const last = 2n ** 64n - 1n
    const stateOverrides = new Map([[ALICE, { balance: 10n, nonce: last }]])
    const [block] = await simulate([{ stateOverrides, calls: [pay(1n), pay(1n)] }])
    expect(block?.record.block.transactions.map(({ nonce }) => nonce)).toEqual([last, 0n])
    expect(nonceAt(block!.record.world, ALICE)).toBe(1n)
  })

  test('sees the overridden beacon root', async () => {
    const root = `0x${'be'.repeat(32)}` as Hash
    const read = '0x000f3df6d732807ef1319fb7b8bb8522d0beac02'
    const program = `TIMESTAMP 0 MSTORE 32 0 32 0 0 ${read} GAS CALL POP 0 MLOAD ${RETURN_WORD}`
    const [block] = await simulate([
      programBlock(program, { blockOverrides: { beaconRoot: root } }),
    ])
    expect(hexFromBytes(block!.calls[0]!.outcome.output)).toBe(root)
    expect(block?.record.block.header.parentBeaconBlockRoot).toBe(root)
  })

  test('is a type 2 transaction without a signature, or of the type that its members imply', async () => {
    const accessList = [{ address: BOB, storageKeys: [] }]
    const [block] = await simulate([
      {
        stateOverrides: rich,
        calls: [
          { to: BOB },
          { from: ALICE, to: BOB, gasPrice: 1n },
          { to: BOB, gasPrice: 0n, accessList },
        ],
      },
    ])
    const [plain, priced, listed] = block!.record.block.transactions
    expect(plain).toMatchObject({
      type: 2,
      from: ZERO_ADDRESS,
      chainId: 33n,
      v: 0n,
      r: 0n,
      s: 0n,
      gasLimit: LIMIT,
    })
    expect(priced).toMatchObject({
      type: 0,
      maxFeePerGas: 1n,
      nonce: 0n,
      gasLimit: LIMIT - 21_000n,
    })
    expect(listed).toMatchObject({ type: 1, accessList })
    expect(plain?.hash).toBe(keccakHash(plain!.raw))
  })

  test('that reverts or halts has an outcome, and costs gas', async () => {
    const results = await simulate([
      programBlock(`${storing(new Uint8Array(32).fill(7))} 32 0 REVERT`),
      programBlock('INVALID', { calls: [{ to: CONTRACT, gas: 50_000n }] }),
    ])
    const [reverted, halted] = results.map(({ calls }) => calls[0]!.outcome)
    expect(reverted).toMatchObject({
      failure: { kind: 'revert' },
      output: new Uint8Array(32).fill(7),
    })
    expect(halted).toMatchObject({
      failure: { kind: 'halt', reason: 'invalid opcode 0xfe' },
      gasUsed: 50_000n,
    })
    expect(results.map(({ record }) => record.executed[0]?.receipt.status)).toEqual([false, false])
  })

  test('shows a nonce that is not validated', async () => {
    const calls = [
      { from: ALICE, to: BOB, nonce: 100n },
      { from: ALICE, data: deploying(Uint8Array.of(0)) },
    ]
    const [block] = await simulate([{ calls }])
    expect(block?.record.block.transactions.map(({ nonce }) => nonce)).toEqual([100n, 1n])
    expect(nonceAt(block!.record.world, ALICE)).toBe(2n)
  })

  test('may come from a contract, even with validation', async () => {
    const stateOverrides = new Map([[CONTRACT, { code: assemble('STOP'), balance: 5n }]])
    const calls = [{ from: CONTRACT, to: BOB, value: 5n }]
    const { outcome } = await lastCall([{ stateOverrides, calls }], { validation: true })
    expect(outcome.failure).toBeUndefined()
  })

  test('finds precompiles where its block moved them, and later blocks at their own addresses', async () => {
    const move = new Map([
      [IDENTITY, { movePrecompileToAddress: BOB, code: assemble(`42 ${RETURN_WORD}`) }],
    ])
    const calls = [BOB, IDENTITY].map((to) => ({ to, data: Uint8Array.of(1, 2) }))
    const [one, two] = await simulate([{ stateOverrides: move, calls }, { calls }])
    const outputs = [one, two].map((block) =>
      block?.calls.map(({ outcome }) => hexFromBytes(outcome.output)),
    )
    expect(outputs).toEqual([
      ['0x0102', hexFromBytes(paddedBytes(42n, 32))],
      ['0x', '0x0102'],
    ])
  })
})

describe('the default gas of a simulated call', () => {
  const MOST = 50_000_000n
  const gasOf = (block: SimulatedBlock | undefined): unknown[] =>
    block!.record.block.transactions.map(({ gasLimit }) => gasLimit)
  const burning = (gas: bigint): BlockPlan =>
    programBlock('INVALID', { calls: [{ from: ALICE, to: CONTRACT, gas }, { to: BOB }] })
  beforeEach(async () => {
    chain = await testChain({ gasLimit: 200_000_000n })
  })

  test('is the rest of 50,000,000 after the calls before, across blocks', async () => {
    const results = await simulate([
      { calls: [{ to: BOB }, { to: BOB }] },
      {},
      programBlock('STOP'),
    ])
    expect(results.map(gasOf)).toEqual([[MOST, MOST - 21_000n], [], [MOST - 42_000n]])
  })

  test('is what its block has left where that is less', async () => {
    const blockOverrides = { gasLimit: 100_000n }
    const results = await simulate([
      { blockOverrides, calls: [{ to: BOB }, { to: BOB }] },
      { blockOverrides: { gasLimit: 200_000_000n }, calls: [{ to: BOB }] },
    ])
    expect(results.map(gasOf)).toEqual([[100_000n, 79_000n], [MOST - 42_000n]])
  })

  test('is reduced by the gas that other calls name and use', async () => {
    const [block] = await simulate([burning(30_000_000n)])
    expect(gasOf(block)).toEqual([30_000_000n, 20_000_000n])
  })

  test('is 0 when others have used it up, though calls that name gas may use the block’s', async () => {
    const [first] = await simulate([
      programBlock('STOP', { calls: [{ to: BOB, gas: 199_000_000n }] }),
    ])
    expect(gasOf(first)).toEqual([199_000_000n])
    await expect(simulate([burning(MOST - 20_999n)])).rejects.toMatchObject({
      word: 'SIMULATED_BLOCK_GAS_EXCEEDED',
      message:
        'gas limit of the simulation reached: calls without gas share 50000000, of which 20999 are left, expected at least 21000: set gas (call 1 of simulated block 1)',
    })
    await expect(simulate([burning(60_000_000n)])).rejects.toThrow('of which 0 are left')
  })
})

describe('a simulated proof-of-work block', () => {
  const before: ChainOptions = { hardfork: 'berlin', difficulty: 131_072n, accounts: 0 }

  test('pays its miner if the chain is a network that pays', async () => {
    const made = await testChain(before)
    const { state } = made
    const config = { ...state.config, ruleset: 'network' as const }
    await made.update(() => ({ state: { ...state, config }, value: undefined }))
    chain = made
    const plan = { blockOverrides: { coinbase: BOB } }
    const [one, two] = await simulate([plan, plan])
    expect(balanceAt(one!.record.world, BOB)).toBe(2n * 10n ** 18n)
    expect(balanceAt(two!.record.world, BOB)).toBe(4n * 10n ** 18n)
  })

  test('pays nobody on a local chain', async () => {
    chain = await testChain(before)
    const [one] = await simulate([{ blockOverrides: { coinbase: BOB } }])
    expect(balanceAt(one!.record.world, BOB)).toBe(0n)
  })
})

describe('the base fee of a simulated block', () => {
  test('is 0 without validation, and the market’s with validation', async () => {
    chain = await testChain({ baseFee: 1_000_000_000n })
    const [free] = await simulate([{}])
    const [checked] = await simulate([{}], { validation: true })
    expect(free?.record.block.header.baseFeePerGas).toBe(0n)
    expect(checked?.record.block.header.baseFeePerGas).toBe(875_000_000n)
    expect(await wordIn('BASEFEE', [{}])).toBe(0n)
  })

  test('is constant on a chain that pins it', async () => {
    const [block] = await simulate([{ blockOverrides: { baseFee: 7n } }, {}], { validation: true })
    expect(block?.record.block.header.baseFeePerGas).toBe(7n)
  })

  test('if overridden is paid only by calls that offer a price', async () => {
    const blockOverrides = { baseFee: 10n }
    const calls = [pay(0n), { ...pay(0n), maxFeePerGas: 12n, maxPriorityFeePerGas: 1n }]
    const [block] = await simulate([{ blockOverrides, stateOverrides: rich, calls }])
    expect(balanceAt(block!.record.world, ALICE)).toBe(10n ** 18n - 21_000n * 11n)
    const prices = block!.record.executed.map(({ receipt }) => receipt.effectiveGasPrice)
    expect(prices).toEqual([0n, 11n])
  })
})

describe('traceTransfers', () => {
  const trace = { traceTransfers: true }
  /** Sender, recipient and value of each transfer; the address of other logs. */
  const story = ({ logs }: SimulatedCall): unknown[] =>
    logs.map(({ log: { address, topics, data } }) =>
      address === ETHER_ADDRESS
        ? [...topics.slice(1).map((topic) => `0x${topic.slice(26)}`), bigintFromBytes(data)]
        : address,
    )
  const withValue = (program: string): BlockPlan => ({
    stateOverrides: new Map<Address, AccountOverride>([
      ...rich,
      [CONTRACT, { code: assemble(program), balance: 100n }],
    ]),
    calls: [{ from: ALICE, to: CONTRACT, value: 7n }],
  })

  test('reports transfers only when asked for', async () => {
    const blocks = [{ stateOverrides: rich, calls: [pay(7n)] }]
    expect(story(await lastCall(blocks))).toEqual([])
    expect(story(await lastCall(blocks, trace))).toEqual([[ALICE, BOB, 7n]])
  })

  test.each<{ name: string; program: string; expected: unknown[] }>([
    {
      name: 'puts transfers among the logs in the order of events',
      program: `0 0 LOG0 ${calling(BOB, { value: '3' })} POP 0 0 LOG0`,
      expected: [[ALICE, CONTRACT, 7n], CONTRACT, [CONTRACT, BOB, 3n], CONTRACT],
    },
    {
      name: 'omits transfers of nothing',
      program: `${calling(BOB)} POP`,
      expected: [[ALICE, CONTRACT, 7n]],
    },
    {
      name: 'omits transfers that cannot be paid',
      program: `${calling(BOB, { value: '1000' })} POP`,
      expected: [[ALICE, CONTRACT, 7n]],
    },
    {
      name: 'reports transfers of contracts that destroy themselves',
      program: `${BOB} SELFDESTRUCT`,
      expected: [
        [ALICE, CONTRACT, 7n],
        [CONTRACT, BOB, 107n],
      ],
    },
    {
      name: 'omits reverted transfers',
      program: `${calling(BOB, { value: '3' })} 0 0 REVERT`,
      expected: [],
    },
  ])('$name', async ({ program, expected }) => {
    expect(story(await lastCall([withValue(program)], trace))).toEqual(expected)
  })

  test('names a new contract before the transfers of its constructor', async () => {
    const init = assemble(`${calling(BOB, { value: '2' })} POP`)
    const calls = [{ from: ALICE, value: 9n, data: init }]
    const call = await lastCall([{ stateOverrides: rich, calls }], trace)
    const { created } = call.outcome
    expect(story(call)).toEqual([
      [ALICE, created, 9n],
      [created, BOB, 2n],
    ])
  })

  test('omits transfers of a frame that fails, and keeps those around it', async () => {
    const inner = new Map([
      [BOB, { code: assemble(`${calling(ALICE, { value: '1' })} 0 0 REVERT`) }],
    ])
    const plan = withValue(`${calling(BOB, { value: '3' })} POP 0 0 LOG0`)
    const blocks = [{ ...plan, stateOverrides: new Map([...plan.stateOverrides!, ...inner]) }]
    expect(story(await lastCall(blocks, trace))).toEqual([[ALICE, CONTRACT, 7n], CONTRACT])
  })

  test('counts transfers in the block’s log indexes, but not in its bloom and receipts', async () => {
    const plan = withValue('0 0 LOG0')
    const calls = [pay(1n), ...plan.calls!, pay(2n)]
    const [block] = await simulate([{ ...plan, calls }], trace)
    const places = block!.calls.flatMap(({ logs }) =>
      logs.map(({ logIndex, transactionIndex }) => [logIndex, transactionIndex]),
    )
    expect(places).toEqual([
      [0, 0],
      [1, 1],
      [2, 1],
      [3, 2],
    ])
    const { record } = block!
    expect(record.executed.map(({ receipt }) => receipt.logs.length)).toEqual([0, 1, 0])
    const [untraced] = await simulate([{ ...plan, calls }])
    expect(record.block.hash).toBe(untraced?.record.block.hash)
    const [silent] = await simulate([{ stateOverrides: rich, calls: [pay(1n)] }], trace)
    expect(silent?.record.block.header.logsBloom).toEqual(EMPTY_BLOOM)
  })
})

describe('a simulation is refused', () => {
  const poor = [{ calls: [pay(1n)] }]
  const checked = { validation: true }
  const call = (fields: object): BlockPlan[] => [
    { stateOverrides: rich, calls: [{ ...pay(0n), ...fields }] },
  ]
  const authorization = { chainId: 0n, address: BOB, nonce: 0n, yParity: 0, r: 1n, s: 1n } as const

  test.each<{
    why: string
    blocks: BlockPlan[]
    options?: Partial<Simulation>
    word: string
    message: RegExp
  }>([
    { why: 'there is no block', blocks: [], word: 'INVALID_PARAMS', message: /at least one block/ },
    {
      why: 'a number does not increase',
      blocks: [{ blockOverrides: { number: 5n } }, { blockOverrides: { number: 5n } }],
      word: 'BLOCK_NUMBER_NOT_INCREASING',
      message: /above 5, got 5/,
    },
    {
      why: 'a number is that of the base',
      blocks: [{ blockOverrides: { number: 0n } }],
      word: 'BLOCK_NUMBER_NOT_INCREASING',
      message: /above 0, got 0/,
    },
    {
      why: 'a time does not increase',
      blocks: [
        { blockOverrides: { timestamp: 10n ** 10n } },
        { blockOverrides: { timestamp: 10n ** 10n } },
      ],
      word: 'BLOCK_TIMESTAMP_NOT_INCREASING',
      message: /above 10000000000 for block 2, got 10000000000/,
    },
    {
      why: 'it has more than 256 blocks',
      blocks: Array.from({ length: 257 }, () => ({})),
      word: 'TOO_MANY_BLOCKS',
      message: /may have 256/,
    },
    {
      why: 'its gaps make it longer than 256 blocks',
      blocks: [{ blockOverrides: { number: 10n ** 15n } }],
      word: 'TOO_MANY_BLOCKS',
      message: /block 1000000000000000 is 1000000000000000 after block 0/,
    },
    {
      why: 'nobody can pay',
      blocks: poor,
      word: 'SIMULATED_INSUFFICIENT_FUNDS',
      message: /^insufficient funds for gas \* price \+ value: .*\(call 0 of simulated block 1\)$/,
    },
    {
      why: 'a nonce was used',
      blocks: [
        {
          stateOverrides: new Map([[ALICE, { nonce: 5n }]]),
          calls: [{ from: ALICE, to: BOB, nonce: 4n }],
        },
      ],
      options: checked,
      word: 'SIMULATED_NONCE_TOO_LOW',
      message: /^nonce too low: next nonce 5, tx nonce 4/,
    },
    {
      why: 'a nonce leaves a gap',
      blocks: call({ nonce: 1n }),
      options: checked,
      word: 'SIMULATED_NONCE_TOO_HIGH',
      message: /^nonce too high: next nonce 0, tx nonce 1/,
    },
    {
      why: 'a fee is below the base fee',
      blocks: [{ blockOverrides: { baseFee: 10n }, calls: [{ from: ALICE, to: BOB }] }],
      options: checked,
      word: 'SIMULATED_FEE_CAP_TOO_LOW',
      message: /^max fee per gas less than block base fee/,
    },
    {
      why: 'a price is below the base fee, unchecked too',
      blocks: [
        {
          blockOverrides: { baseFee: 10n },
          stateOverrides: rich,
          calls: [{ ...pay(0n), gasPrice: 9n }],
        },
      ],
      word: 'SIMULATED_FEE_CAP_TOO_LOW',
      message: /fee cap 9, base fee 10/,
    },
    {
      why: 'a tip is above the fee',
      blocks: call({ maxFeePerGas: 1n, maxPriorityFeePerGas: 2n }),
      word: 'INVALID_PARAMS',
      message: /^max priority fee per gas higher than max fee per gas/,
    },
    {
      why: 'there is too little gas to begin',
      blocks: call({ gas: 20_999n }),
      word: 'SIMULATED_INTRINSIC_GAS_TOO_LOW',
      message: /^intrinsic gas too low: have 20999, want 21000/,
    },
    {
      why: 'a call wants more gas than its block has left',
      blocks: [{ calls: [{ to: BOB }, { to: BOB, gas: LIMIT - 20_999n }] }],
      word: 'SIMULATED_BLOCK_GAS_EXCEEDED',
      message:
        /^block gas limit reached: expected at most 29979000 .*\(call 1 of simulated block 1\)$/,
    },
    {
      why: 'a call wants more blobs than its block has left',
      blocks: [{ calls: Array.from({ length: 4 }, () => ({ to: BOB, blobs: sixBlobs })) }],
      word: 'SIMULATED_BLOCK_GAS_EXCEEDED',
      message:
        /^block blob gas limit reached: expected at most 393216 blob gas, which is left of 2752512, got 786432 \(call 3 of simulated block 1\)$/,
    },
    {
      why: 'init code is too long',
      blocks: call({ to: undefined, data: new Uint8Array(49_153) }),
      word: 'SIMULATED_INIT_CODE_TOO_LARGE',
      message: /^max initcode size exceeded/,
    },
    {
      why: 'it is for another chain',
      blocks: call({ chainId: 1n }),
      word: 'INVALID_PARAMS',
      message: /expected 33, got 1/,
    },
    {
      why: 'a nonce is beyond 64 bits',
      blocks: call({ nonce: 2n ** 64n }),
      word: 'INVALID_PARAMS',
      message: /nonce: expected at most/,
    },
    {
      why: 'a call sets code and creates a contract',
      blocks: call({ to: undefined, authorizationList: [authorization] }),
      word: 'INVALID_PARAMS',
      message: /cannot create a contract/,
    },
    {
      why: 'a block has no room for a header',
      blocks: [{ blockOverrides: { gasLimit: 2n ** 64n } }],
      word: 'INVALID_PARAMS',
      message: /gasLimit: expected 0 to/,
    },
    {
      why: 'a precompile is moved to itself',
      blocks: [{ stateOverrides: new Map([[IDENTITY, { movePrecompileToAddress: IDENTITY }]]) }],
      word: 'PRECOMPILE_MOVED_TO_ITSELF',
      message: /expected another address, got the same/,
    },
  ])('when $why', async ({ blocks, options, word, message }) => {
    const error = { word, message: expect.stringMatching(message) }
    await expect(simulate(blocks, options)).rejects.toMatchObject(error)
  })

  test('when it stands on no block', async () => {
    const reference = { kind: 'number', number: 9n } as const
    const run = simulateBlocks(
      chain,
      { blocks: [{}], validation: false, traceTransfers: false },
      reference,
    )
    await expect(run).rejects.toMatchObject({ word: 'NOT_FOUND' })
  })

  test('for a type that its hardfork lacks', async () => {
    chain = await testChain({ hardfork: 'istanbul' })
    const typed = simulate([{ calls: [{ to: BOB, type: 2 }] }])
    await expect(typed).rejects.toMatchObject({ word: 'INVALID_PARAMS' })
    const [plain] = await simulate([{ calls: [{ to: BOB }] }])
    expect(plain?.record.block.transactions[0]?.type).toBe(0)
    expect(plain?.record.block.header.baseFeePerGas).toBeUndefined()
  })
})

test('a long simulation gives others their turn', async () => {
  using others = countTurns()
  await simulate([{ calls: Array.from({ length: 1_400 }, () => ({ to: BOB })) }])
  expect(others.count()).toBeGreaterThan(1)
})
