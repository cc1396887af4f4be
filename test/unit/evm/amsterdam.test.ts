// What amsterdam changes for contracts and transactions, on each engine.
import { describe, expect, test } from 'vitest'
import { type Address, bytesFromHex, hexFromBytes, wordFromBigint } from '../../../src/core/hex.ts'
import type { Outcome, TransactionJob } from '../../../src/evm/executor.ts'
import { OPTIONS } from '../../../src/options/table.ts'
import type { Transaction } from '../../../src/protocol/transactions/transaction.ts'
import {
  accountAt,
  balanceAt,
  storageAt,
  type World,
  withBalance,
} from '../../../src/state/world.ts'
import { allEngines } from '../../support/evm/engines.ts'
import {
  ALICE,
  BOB,
  blockWith,
  CONTRACT,
  funded,
  OTHER,
  transactionWith,
  withProgram,
} from './stage.ts'

const block = blockWith({ hardfork: 'amsterdam', slotNumber: 77n })
const EXECUTION_CAP = 2n ** 24n
const NEW_ACCOUNT = 183_600n
const NEW_SLOT = 97_920n
const STRANGER = '0x00000000000000000000000000000000000057a9' as Address
const SYSTEM = '0xfffffffffffffffffffffffffffffffffffffffe'
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

/** A word for each depth, so that the one at depth n is n. */
function words(count: number): string {
  return Array.from({ length: count }, (_, i) => String(count - i)).join(' ')
}

const RETURN_TOP = '0 MSTORE 32 0 RETURN'

describe.each(allEngines())('amsterdam on the engine: $name', (engine) => {
  const jobs = engine.jobsWithin(OPTIONS.memoryLimit.default)

  function send(world: World, fields: Partial<Transaction>): Promise<Outcome> {
    const transaction = transactionWith({ from: ALICE, gasLimit: 1_000_000n, ...fields })
    const job: TransactionJob = { world, block, transaction }
    return Promise.resolve(jobs.transact(job))
  }

  const run = (program: string, fields: Partial<Transaction> = {}, world = funded) =>
    send(withProgram(world, CONTRACT, program), { to: CONTRACT, ...fields })

  test.each([
    ['an account that exists', BOB, 1n, 21_000n, 0n],
    ['nobody, without value', STRANGER, 0n, 15_000n, 0n],
    ['its sender', ALICE, 1n, 12_000n, 0n],
    ['a new account', STRANGER, 1n, 21_000n, NEW_ACCOUNT],
  ])('a transfer to %s pays for its parts', async (_, to, value, execution, state) => {
    const outcome = await send(withBalance(funded, BOB, 1n), { to, value })
    expect(outcome.failure).toBeUndefined()
    expect(outcome.blockGas).toEqual({ execution, state })
    expect(outcome.gasUsed).toBe(execution + state)
  })

  test('a transfer is logged as if ether were a token', async () => {
    const { logs } = await send(funded, { to: STRANGER, value: 5n })
    const topics = [TRANSFER, wordFromBigint(BigInt(ALICE)), wordFromBigint(BigInt(STRANGER))]
    expect(logs).toEqual([{ address: SYSTEM, topics, data: bytesFromHex(wordFromBigint(5n)) }])
  })

  test('a transfer to a new account without gas for it uses all gas and moves nothing', async () => {
    const gasLimit = 21_000n + NEW_ACCOUNT - 1n
    const outcome = await send(funded, { to: STRANGER, value: 1n, gasLimit })
    expect(outcome.failure?.reason).toBe('out of gas')
    expect(outcome.gasUsed).toBe(gasLimit)
    expect(balanceAt(outcome.world, STRANGER)).toBe(0n)
    expect(outcome.accesses?.map(({ address }) => address)).toContain(STRANGER)
  })

  test('a new slot costs state gas, which comes back when it is cleared in the transaction', async () => {
    const kept = await run('7 1 SSTORE')
    expect(kept.blockGas?.state).toBe(NEW_SLOT)
    const cleared = await run('7 1 SSTORE 0 1 SSTORE')
    expect(cleared.blockGas?.state).toBe(0n)
    expect(storageAt(cleared.world, CONTRACT, 1n)).toBe(0n)
  })

  test('a frame that reverts gives its state gas back', async () => {
    const { failure, blockGas, gasUsed } = await run('7 1 SSTORE 0 0 REVERT')
    expect(failure?.kind).toBe('revert')
    expect(blockGas?.state).toBe(0n)
    expect(gasUsed).toBe(15_000n + 2_100n + 10_000n + 4n * 3n)
  })

  test('a call with value to a new account pays for it, and gets it back if the call fails', async () => {
    const rich = withBalance(funded, CONTRACT, 10n)
    const call = (to: string) => `0 0 0 0 1 ${to} 50000 CALL ${RETURN_TOP}`
    expect((await run(call(STRANGER), {}, rich)).blockGas?.state).toBe(NEW_ACCOUNT)
    // the address of a precompile that rejects its input
    expect((await run(call('0x0b'), {}, rich)).blockGas?.state).toBe(0n)
  })

  test('a creation pays for its account and each byte of code', async () => {
    const { blockGas, created } = await send(funded, {
      to: null,
      data: bytesFromHex('0x60016000f3'),
    })
    expect(created).toBeDefined()
    expect(blockGas?.state).toBe(NEW_ACCOUNT + 1_530n)
  })

  test('gas above the cap of execution is only for state', async () => {
    const gasLimit = EXECUTION_CAP + NEW_SLOT
    // 2.8 MB of memory cost 15 million gas, and a round that copies a megabyte 100,000
    const program = '7 1 SSTORE 0 2800000 MSTORE L: 1000000 0 0 CALLDATACOPY @L JUMP'
    const spent = await run(program, { gasLimit })
    expect(spent.failure?.reason).toBe('out of gas')
    expect(spent.gasUsed).toBe(EXECUTION_CAP)
    expect(spent.blockGas).toEqual({ execution: EXECUTION_CAP, state: 0n })
  })

  test('SELFDESTRUCT burns no ether, even of a new contract that is its own heir', async () => {
    const outcome = await send(funded, { to: null, value: 9n, data: bytesFromHex('0x30ff') })
    const { created } = outcome
    expect(created).toBeDefined()
    expect(accountAt(outcome.world, created as Address)).toMatchObject({ balance: 9n, nonce: 0n })
  })

  test('SLOTNUM returns the slot number', async () => {
    expect(hexFromBytes((await run(`=4b ${RETURN_TOP}`)).output)).toBe(wordFromBigint(77n))
  })

  test.each([
    ['DUPN', `${words(20)} =e680`, 17n],
    ['DUPN with the deepest word', `${words(235)} =e65a`, 235n],
    ['SWAPN', `${words(20)} =e780`, 18n],
    ['EXCHANGE', `${words(20)} =e89d POP POP`, 4n],
  ])('%s reaches its words', async (_, program, top) => {
    const { output } = await run(`${program} ${RETURN_TOP}`)
    expect(hexFromBytes(output)).toBe(wordFromBigint(top))
  })

  test.each([
    ['DUPN, as an operation', `${words(20)} =e65b`, 'invalid opcode 0xe6'],
    ['EXCHANGE, as an operation', `${words(20)} =e852`, 'invalid opcode 0xe8'],
    ['DUPN without the words', `${words(16)} =e680`, 'stack underflow'],
  ])('an immediate is refused: %s', async (_, program, reason) => {
    expect((await run(`${program} STOP`)).failure?.reason).toBe(reason)
  })

  test('an account is in the accesses only if the gas covers reading it', async () => {
    const program = `${STRANGER} BALANCE STOP`
    const listed = async (gasLimit: bigint): Promise<boolean> => {
      const { accesses } = await run(program, { gasLimit })
      return accesses?.some(({ address }) => address === STRANGER) === true
    }
    expect(await listed(15_000n + 3n + 3_000n)).toBe(true)
    expect(await listed(15_000n + 3n + 2_999n)).toBe(false)
  })

  test('a creation in a static frame reads no account, not even with too little gas for it', async () => {
    const creator = withProgram(funded, OTHER, '0 0 0 CREATE STOP')
    const program = `0 0 0 0 ${OTHER} GAS STATICCALL ${RETURN_TOP}`
    const { output, accesses } = await run(program, { gasLimit: 100_000n }, creator)
    expect(hexFromBytes(output)).toBe(wordFromBigint(0n))
    expect(accesses).toHaveLength(4)
  })
})
