// Calls: free runs without a signature, and what the code they run can see.
import { describe, expect, test } from 'vitest'
import { type Address, bigintFromBytes, type Hash, ZERO_ADDRESS } from '../../../src/core/hex.ts'
import type { BlockEnvironment, CallJob, Outcome } from '../../../src/evm/executor.ts'
import { createExecutor } from '../../../src/evm/run/lazyexecutor.ts'
import { HARDFORKS } from '../../../src/protocol/forks.ts'
import {
  balanceAt,
  nonceAt,
  stateRoot,
  storageAt,
  type World,
  withBalance,
  withCode,
} from '../../../src/state/world.ts'
import { assemble, calling, deploying, RETURN_WORD } from '../../support/evm/bytecode.ts'
import { countTurns } from '../../support/waiting/turns.ts'
import {
  ALICE,
  BOB,
  blockWith,
  CONTRACT,
  callOf,
  ETHER,
  funded,
  MINER,
  messageWith,
  OTHER,
  withProgram,
} from './stage.ts'

const executor = createExecutor()

/** The word that a program leaves on top of the stack. */
async function wordOf(
  program: string,
  message: Parameters<typeof callOf>[1] = {},
  block: Partial<BlockEnvironment> = {},
): Promise<bigint> {
  const outcome = await executor.call(callOf(`${program} ${RETURN_WORD}`, message, block))
  expect(outcome.failure).toBeUndefined()
  return bigintFromBytes(outcome.output)
}

describe('a call', () => {
  test('returns data and the gas that a transaction would use', async () => {
    const outcome = await executor.call(callOf(`42 ${RETURN_WORD}`))
    expect(bigintFromBytes(outcome.output)).toBe(42n)
    expect(outcome.gasUsed).toBe(21_000n + 3n + 3n + 6n + 3n + 3n)
  })

  test('costs what the same transaction costs', async () => {
    const job = callOf('1 0 SSTORE 0 1 SSTORE')
    const outcome = await executor.call(job)
    const { message, ...rest } = job
    const transaction = {
      ...message,
      type: 0,
      chainId: 33n,
      nonce: 0n,
      hash: '0x',
      raw: new Uint8Array(),
      v: 0n,
      r: 1n,
      s: 2n,
    }
    const sent = await executor.transact({ ...rest, transaction: transaction as never })
    expect(outcome.gasUsed).toBe(sent.gasUsed)
    expect(stateRoot(outcome.world)).toBe(stateRoot(sent.world))
  })

  test('without a price needs no funds, even from an account that does not exist', async () => {
    expect(await wordOf('CALLER', { from: ZERO_ADDRESS })).toBe(0n)
    expect(await wordOf('CALLER', { from: BOB })).toBe(BigInt(BOB))
  })

  test('may come from a contract', async () => {
    const job = callOf(`CALLER ${RETURN_WORD}`, { from: OTHER })
    const outcome = await executor.call({
      ...job,
      world: withCode(job.world, OTHER, assemble('STOP')),
    })
    expect(bigintFromBytes(outcome.output)).toBe(BigInt(OTHER))
  })

  test('with more value than its sender has is refused', async () => {
    const call = async () => executor.call(callOf('STOP', { from: BOB, value: 1n }))
    await expect(call).rejects.toMatchObject({
      word: 'INSUFFICIENT_FUNDS',
      message: `insufficient funds for gas * price + value: address ${BOB} (an account that does not exist yet) have 0 want 1`,
    })
  })

  test('with a price needs the funds for it, and must meet the base fee', async () => {
    const poor = async () => executor.call(callOf('STOP', { from: BOB, maxFeePerGas: 1n }))
    await expect(poor).rejects.toMatchObject({ word: 'INSUFFICIENT_FUNDS' })
    const low = async () => executor.call(callOf('STOP', { maxFeePerGas: 1n }, { baseFee: 2n }))
    await expect(low).rejects.toMatchObject({ word: 'FEE_CAP_TOO_LOW' })
  })

  test('below the intrinsic gas is refused', async () => {
    const call = async () => executor.call(callOf('STOP', { gasLimit: 20_000n }))
    await expect(call).rejects.toMatchObject({ word: 'INTRINSIC_GAS_TOO_LOW' })
  })

  test('may have more gas than the block', async () => {
    expect(await wordOf('GAS', { gasLimit: 9_000_000_000_000n })).toBeGreaterThan(
      8_999_999_000_000n,
    )
  })

  test('without a price sees the base fee of the block and a gas price of zero', async () => {
    expect(await wordOf('BASEFEE', {}, { baseFee: 12n })).toBe(12n)
    expect(await wordOf('GASPRICE', {}, { baseFee: 12n })).toBe(0n)
  })

  test('with a price sees what it would pay', async () => {
    const fees = { maxFeePerGas: 20n, maxPriorityFeePerGas: 3n }
    expect(await wordOf('GASPRICE', fees, { baseFee: 12n })).toBe(15n)
  })

  test('pays nobody without a price, where the block has a base fee', async () => {
    const outcome = await executor.call(callOf('STOP', {}, { baseFee: 12n }))
    expect(balanceAt(outcome.world, ALICE)).toBe(10n * ETHER)
    expect(balanceAt(outcome.world, MINER)).toBe(0n)
  })

  test('pays the miner with a price', async () => {
    const fees = { maxFeePerGas: 20n, maxPriorityFeePerGas: 3n }
    const outcome = await executor.call(callOf('STOP', fees, { baseFee: 12n }))
    expect(balanceAt(outcome.world, MINER)).toBe(3n * outcome.gasUsed)
    expect(balanceAt(outcome.world, ALICE)).toBe(10n * ETHER - 15n * outcome.gasUsed)
  })

  test('that creates a contract uses the nonce that it names for the address', async () => {
    const data = deploying(assemble('STOP'))
    const job: CallJob = {
      world: funded,
      block: blockWith(),
      message: messageWith({ to: null, data }),
    }
    const own = await executor.call(job)
    const named = await executor.call({ ...job, message: { ...job.message, nonce: 5n } })
    expect(own.created).not.toBe(named.created)
    expect(nonceAt(named.world, ALICE)).toBe(6n)
  })

  test('does not change the world that it runs on', async () => {
    const job = callOf('1 0 SSTORE')
    const root = stateRoot(job.world)
    const outcome = await executor.call(job)
    expect(storageAt(outcome.world, CONTRACT, 0n)).toBe(1n)
    expect(stateRoot(job.world)).toBe(root)
  })

  test('does not see the changes of a concurrent call', async () => {
    const words = Array.from({ length: 20 }, (_, i) => wordOf(`${i} 0 SSTORE 0 SLOAD`))
    expect(await Promise.all(words)).toEqual(Array.from({ length: 20 }, (_, i) => BigInt(i)))
  })
})

describe('code sees', () => {
  const randomness = BigInt(`0x${'5e'.repeat(32)}`)

  test.each(HARDFORKS)('difficulty or randomness, whichever %s has', async (hardfork) => {
    const isMerged = HARDFORKS.indexOf(hardfork) >= HARDFORKS.indexOf('paris')
    expect(await wordOf('PREVRANDAO', {}, { hardfork })).toBe(isMerged ? randomness : 7n)
  })

  test('the block: number, time, coinbase, gas limit, chain', async () => {
    expect(await wordOf('NUMBER')).toBe(1000n)
    expect(await wordOf('TIMESTAMP')).toBe(1_700_000_000n)
    expect(await wordOf('COINBASE')).toBe(BigInt(`0x${'c0'.repeat(20)}`))
    expect(await wordOf('GASLIMIT')).toBe(30_000_000n)
    expect(await wordOf('CHAINID')).toBe(33n)
  })

  test('a chain id beyond what a number holds exactly', async () => {
    expect(await wordOf('CHAINID', {}, { chainId: 2n ** 63n + 1n })).toBe(2n ** 63n + 1n)
  })

  test('the price of blobs', async () => {
    expect(await wordOf('BLOBBASEFEE')).toBe(1n)
    expect(await wordOf('BLOBBASEFEE', {}, { excessBlobGas: 50_000_000n })).toBeGreaterThan(1n)
  })

  test('hashes of the last 256 blocks and no others', async () => {
    const blockHash = (number: bigint): Hash => `0x${number.toString(16).padStart(64, '0')}` as Hash
    expect(await wordOf('999 BLOCKHASH', {}, { blockHash })).toBe(999n)
    expect(await wordOf('744 BLOCKHASH', {}, { blockHash })).toBe(744n)
    expect(await wordOf('743 BLOCKHASH', {}, { blockHash })).toBe(0n)
    expect(await wordOf('1000 BLOCKHASH', {}, { blockHash })).toBe(0n)
  })

  test('zero for the hash of a block that is not known', async () => {
    expect(await wordOf('999 BLOCKHASH')).toBe(0n)
  })

  test('value and input', async () => {
    expect(await wordOf('CALLVALUE', { value: 5n })).toBe(5n)
    expect(await wordOf('0 CALLDATALOAD', { data: new Uint8Array(32).fill(2) })).toBe(
      BigInt(`0x${'02'.repeat(32)}`),
    )
  })
})

describe('a deep or wide run', () => {
  test('reaches depth 1,024 without overflowing the JavaScript stack', async () => {
    // counts frames in storage while it calls itself; each call keeps back a 64th of the gas
    const program = `0 SLOAD 1 ADD 0 SSTORE ${calling('ADDRESS')} POP 0 SLOAD ${RETURN_WORD}`
    const depth = await wordOf(program, { gasLimit: 9_000_000_000_000n })
    expect(depth).toBe(1025n)
  })

  test('runs out of gas if it does not end', async () => {
    const outcome = await executor.call(callOf('again: @again JUMP', { gasLimit: 200_000n }))
    expect(outcome.failure).toEqual({ kind: 'halt', reason: 'out of gas' })
    expect(outcome.gasUsed).toBe(200_000n)
  })
})

describe('a long run', () => {
  const endless = [
    ['loops', 'again: @again JUMP'],
    ['loops under a condition', 'again: 1 @again JUMPI'],
    ['calls and calls', `${calling('ADDRESS')} ${calling('ADDRESS')}`],
  ] as const
  const engines = ['reference', 'interpreter', 'auto'] as const
  const cases = engines.flatMap((evm) => endless.map(([how, code]) => [evm, how, code] as const))

  test.each(cases)('under --evm %s and %s lets others have their turn', async (evm, _how, code) => {
    using others = countTurns()
    const gasLimit = 10n ** 15n
    const cancellation = {
      get aborted() {
        return others.count() >= 3
      },
    }
    const job = { ...callOf(code, { gasLimit }), cancellation }
    const run = createExecutor({ evm }).call(job)
    await expect(run).rejects.toMatchObject({ word: 'CANCELLED' })
    expect(others.count()).toBeGreaterThanOrEqual(3)
  })

  test('halts at a jump to nowhere', async () => {
    const outcome = await executor.call(callOf('1 JUMP'))
    expect(outcome.failure).toEqual({ kind: 'halt', reason: 'invalid jump destination' })
  })
})

describe('the access list of a call', () => {
  test('has everything that the call touched, except what is always warm', async () => {
    const program = `${OTHER} BALANCE POP 5 SLOAD POP 4 0 0 0 0 0 4 GAS STATICCALL POP CALLER BALANCE`
    const { accessed } = await executor.call({ ...callOf(program), reportsAccess: true })
    const storageKeys = [`0x${'5'.padStart(64, '0')}`]
    expect(accessed).toEqual([
      { address: OTHER, storageKeys: [] },
      { address: CONTRACT, storageKeys },
    ])
  })

  test('includes what frames touched that reverted', async () => {
    const world = withProgram(withBalance(funded, BOB, ETHER), OTHER, '9 SLOAD 0 0 REVERT')
    const job = callOf(calling(OTHER))
    const both = { ...job, world: withProgram(world, CONTRACT, calling(OTHER)) }
    const { accessed } = await executor.call({ ...both, reportsAccess: true })
    expect(accessed).toEqual([{ address: OTHER, storageKeys: [`0x${'9'.padStart(64, '0')}`] }])
  })
})

describe('a moved precompile', () => {
  const IDENTITY = `0x${'4'.padStart(40, '0')}` as Address
  const data = Uint8Array.of(1, 2, 3)
  const callTo = async (
    to: Address,
    movedPrecompiles?: CallJob['movedPrecompiles'],
    world: World = funded,
  ): Promise<Outcome> =>
    executor.call({
      world,
      // later forks charge for calldata so that nothing else shows
      block: blockWith({ hardfork: 'cancun' }),
      message: messageWith({ to, data }),
      movedPrecompiles,
    })

  test('runs at its new address only', async () => {
    const moved = new Map([[IDENTITY, BOB]])
    const [usual, there, gone] = [
      await callTo(IDENTITY),
      await callTo(BOB, moved),
      await callTo(IDENTITY, moved),
    ]
    expect([usual.output, there.output, gone.output.length]).toEqual([data, data, 0])
    expect(there.gasUsed).toBe(usual.gasUsed)
    expect(gone.gasUsed).toBeLessThan(usual.gasUsed)
  })

  test('is back at its own address in the next run, on any engine', async () => {
    const moved = new Map([[IDENTITY, BOB]])
    const runs = Array.from({ length: 8 }, (_, i) =>
      i % 2 === 0 ? callTo(BOB, moved) : callTo(IDENTITY),
    )
    for (const { output } of await Promise.all(runs)) expect(output).toEqual(data)
    for (let i = 0; i < 6; i += 1) {
      expect((await callTo(IDENTITY)).output).toEqual(data)
      expect((await callTo(BOB)).output).toHaveLength(0)
    }
  })

  test('leaves its old address to the code of an account', async () => {
    const world = withProgram(funded, IDENTITY, `42 ${RETURN_WORD}`)
    expect((await callTo(IDENTITY, undefined, world)).output).toEqual(data)
    const outcome = await callTo(IDENTITY, new Map([[IDENTITY, null]]), world)
    expect(bigintFromBytes(outcome.output)).toBe(42n)
  })

  test('can trade places with another', async () => {
    const SHA256 = `0x${'2'.padStart(40, '0')}` as Address
    const moved = new Map([
      [IDENTITY, SHA256],
      [SHA256, IDENTITY],
    ])
    expect((await callTo(SHA256, moved)).output).toEqual(data)
    expect((await callTo(IDENTITY, moved)).output).toEqual((await callTo(SHA256)).output)
  })
})
