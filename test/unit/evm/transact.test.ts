// Transactions: what they cost, what they change, and which are refused.
import { describe, expect, test } from 'vitest'
import { addressOfKey, keccak256, signDigest } from '../../../src/core/crypto/crypto.ts'
import {
  type Address,
  bigintFromBytes,
  bytesFromBigint,
  bytesFromHex,
  concatBytes,
  type Hash,
  ZERO_ADDRESS,
} from '../../../src/core/hex.ts'
import { encodeRlp } from '../../../src/core/rlp.ts'
import type { Outcome } from '../../../src/evm/executor.ts'
import { createExecutor } from '../../../src/evm/run/lazyexecutor.ts'
import {
  type Authorization,
  impersonate,
  type Transaction,
} from '../../../src/protocol/transactions/transaction.ts'
import {
  accountAt,
  balanceAt,
  codeAt,
  nonceAt,
  stateRoot,
  storageAt,
  type World,
  withBalance,
  withCode,
  withNonce,
  withStorage,
} from '../../../src/state/world.ts'
import { assemble, deploying, RETURN_WORD, storing } from '../../support/evm/bytecode.ts'
import {
  ALICE,
  BOB,
  blockWith,
  CONTRACT,
  ETHER,
  funded,
  MINER,
  OTHER,
  transactionWith,
  withProgram,
} from './stage.ts'

const executor = createExecutor()

async function transact(
  fields: Partial<Transaction>,
  world: World = funded,
  block = blockWith(),
): Promise<Outcome> {
  return executor.transact({ world, block, transaction: transactionWith(fields) })
}

describe('a transfer', () => {
  test('moves value, counts up the nonce and uses 21,000 gas', async () => {
    const outcome = await transact({ value: 5n })
    expect(outcome.failure).toBeUndefined()
    expect(outcome.gasUsed).toBe(21_000n)
    expect(balanceAt(outcome.world, BOB)).toBe(5n)
    expect(balanceAt(outcome.world, ALICE)).toBe(10n * ETHER - 5n)
    expect(nonceAt(outcome.world, ALICE)).toBe(1n)
  })

  test('leaves the world that it runs on as it was', async () => {
    const root = stateRoot(funded)
    await transact({ value: 5n })
    expect(stateRoot(funded)).toBe(root)
    expect(balanceAt(funded, BOB)).toBe(0n)
  })

  test('gives the same outcome each time', async () => {
    const [first, second] = await Promise.all([transact({ value: 5n }), transact({ value: 5n })])
    expect(stateRoot(first.world)).toBe(stateRoot(second.world))
    expect(first.gasUsed).toBe(second.gasUsed)
  })

  test('pays the tip to the miner and burns the base fee', async () => {
    const fees = { type: 2, maxFeePerGas: 100n, maxPriorityFeePerGas: 3n } as const
    const { world } = await transact({ ...fees, value: 5n }, funded, blockWith({ baseFee: 10n }))
    expect(balanceAt(world, MINER)).toBe(21_000n * 3n)
    expect(balanceAt(world, ALICE)).toBe(10n * ETHER - 5n - 21_000n * 13n)
  })

  test('pays the whole gas price to the miner before london', async () => {
    const fees = { maxFeePerGas: 9n, maxPriorityFeePerGas: 9n }
    const { world } = await transact(fees, funded, blockWith({ hardfork: 'berlin' }))
    expect(balanceAt(world, MINER)).toBe(21_000n * 9n)
  })

  test('works with a gas limit of nine trillion', async () => {
    const gas = 9_000_000_000_000n
    const block = blockWith({ gasLimit: gas })
    const outcome = await transact({ gasLimit: gas, value: 1n }, funded, block)
    expect(outcome.gasUsed).toBe(21_000n)
  })

  test('of no value to an empty account leaves no account behind', async () => {
    const { world } = await transact({ value: 0n })
    expect(accountAt(world, BOB)).toBeUndefined()
    expect(accountAt(world, MINER)).toBeUndefined()
  })

  test('of no value makes an empty account before EIP-161', async () => {
    const { world } = await transact({ value: 0n }, funded, blockWith({ hardfork: 'homestead' }))
    expect(accountAt(world, BOB)).toMatchObject({ balance: 0n, nonce: 0n })
    expect(accountAt(world, MINER)).toMatchObject({ balance: 0n, nonce: 0n })
  })
})

describe('a creation', () => {
  const runtime = assemble(`42 ${RETURN_WORD}`)

  test('deploys what the init code returns, at the address of sender and nonce', async () => {
    const outcome = await transact({ to: null, data: deploying(runtime), value: 7n })
    const created = outcome.created
    const expected = keccak256(encodeRlp([bytesFromHex(ALICE), bytesFromBigint(0n)])).subarray(12)
    expect(bytesFromHex(created ?? '')).toEqual(expected)
    expect(codeAt(outcome.world, created as Address)).toEqual(runtime)
    expect(nonceAt(outcome.world, created as Address)).toBe(1n)
    expect(balanceAt(outcome.world, created as Address)).toBe(7n)
    expect(outcome.output).toEqual(runtime)
  })

  test('that reverts still names the address', async () => {
    const outcome = await transact({ to: null, data: assemble('0 0 REVERT') })
    expect(outcome.failure).toEqual({ kind: 'revert', reason: 'revert' })
    expect(outcome.created).toMatch(/^0x[0-9a-f]{40}$/)
    expect(accountAt(outcome.world, outcome.created as Address)).toBeUndefined()
    expect(nonceAt(outcome.world, ALICE)).toBe(1n)
  })

  test('of more code than EIP-170 allows halts', async () => {
    const outcome = await transact({
      to: null,
      data: assemble('24577 0 RETURN'),
      gasLimit: 20_000_000n,
    })
    expect(outcome.failure).toEqual({ kind: 'halt', reason: 'max code size exceeded' })
  })

  test('of large code succeeds where the limit is lifted', async () => {
    const transaction = transactionWith({
      to: null,
      data: assemble('30000 0 RETURN'),
      gasLimit: 20_000_000n,
    })
    const job = { world: funded, block: blockWith(), transaction }
    const outcome = await executor.transact({ ...job, limits: { codeSize: 30_000 } })
    expect(outcome.failure).toBeUndefined()
    expect(codeAt(outcome.world, outcome.created as Address).length).toBe(30_000)
    const bounded = await executor.transact({ ...job, limits: { codeSize: 29_999 } })
    expect(bounded.failure?.reason).toBe('max code size exceeded')
  })

  test('may have twice the code size as init code', async () => {
    const data = new Uint8Array(60_000)
    const transaction = transactionWith({ to: null, data, gasLimit: 20_000_000n })
    const job = { world: funded, block: blockWith(), transaction }
    await expect(async () => executor.transact(job)).rejects.toMatchObject({
      word: 'INIT_CODE_TOO_LARGE',
      message: 'max initcode size exceeded: code size 60000, limit 49152',
    })
    const outcome = await executor.transact({ ...job, limits: { codeSize: 30_000 } })
    expect(outcome.failure).toBeUndefined()
  })

  test('with too little gas for its code leaves a contract without code on frontier only', async () => {
    // 53,000 gas and a little: enough to run, not for 200 gas a byte
    const data = assemble('1000 0 RETURN')
    const on = (hardfork: 'frontier' | 'homestead') =>
      transact({ to: null, data, gasLimit: 60_000n }, funded, blockWith({ hardfork }))
    const frontier = await on('frontier')
    expect(frontier.failure).toBeUndefined()
    expect(accountAt(frontier.world, frontier.created as Address)).toMatchObject({ nonce: 0n })
    const homestead = await on('homestead')
    expect(homestead.failure?.kind).toBe('halt')
    expect(homestead.gasUsed).toBe(60_000n)
  })
})

describe('gas', () => {
  test('is refunded for cleared storage, up to a fifth', async () => {
    const world = withStorage(withProgram(funded, CONTRACT, '0 0 SSTORE'), CONTRACT, 0n, 1n)
    const outcome = await transact({ to: CONTRACT }, world)
    // 21,000 + two pushes + cold slot 2,100 + write 2,900
    const spent = 21_000n + 6n + 5_000n
    expect(outcome.gasRefund).toBe(4_800n)
    expect(outcome.gasUsed).toBe(spent - 4_800n)
    expect(storageAt(outcome.world, CONTRACT, 0n)).toBe(0n)
  })

  test('is refunded up to a half before london', async () => {
    const world = withStorage(withProgram(funded, CONTRACT, '0 0 SSTORE'), CONTRACT, 0n, 1n)
    const outcome = await transact({ to: CONTRACT }, world, blockWith({ hardfork: 'berlin' }))
    expect(outcome.gasRefund).toBe((21_000n + 6n + 5_000n) / 2n)
  })

  test('is not refunded by a run that reverts', async () => {
    const program = '0 0 SSTORE 0 0 REVERT'
    const world = withStorage(withProgram(funded, CONTRACT, program), CONTRACT, 0n, 1n)
    const outcome = await transact({ to: CONTRACT }, world)
    expect(outcome.gasRefund).toBe(0n)
    expect(storageAt(outcome.world, CONTRACT, 0n)).toBe(1n)
  })

  test('has a floor that grows with calldata from prague on', async () => {
    const data = new Uint8Array(1_000).fill(1)
    const newest = await transact({ data })
    expect(newest.gasUsed).toBe(21_000n + 40n * 1_000n)
    const cancun = await transact({ data }, funded, blockWith({ hardfork: 'cancun' }))
    expect(cancun.gasUsed).toBe(21_000n + 16n * 1_000n)
  })

  test('is all used up by a halt', async () => {
    const outcome = await transact({ to: CONTRACT }, withProgram(funded, CONTRACT, 'INVALID'))
    expect(outcome.failure).toEqual({ kind: 'halt', reason: 'invalid opcode 0xfe' })
    expect(outcome.gasUsed).toBe(100_000n)
    expect(nonceAt(outcome.world, ALICE)).toBe(1n)
  })

  test('of an access list is charged, and its entries are warm', async () => {
    const world = withProgram(funded, CONTRACT, '0 SLOAD POP')
    const storageKeys = [`0x${'00'.repeat(32)}` as Hash]
    const accessList = [{ address: CONTRACT, storageKeys }]
    const listed = await transact({ type: 1, to: CONTRACT, accessList }, world)
    expect(listed.gasUsed).toBe(21_000n + 2_400n + 1_900n + 3n + 100n + 2n)
    const plain = await transact({ to: CONTRACT }, world)
    expect(plain.gasUsed).toBe(21_000n + 3n + 2_100n + 2n)
  })

  test('for the coinbase is that of a warm account from shanghai on', async () => {
    const world = withProgram(funded, CONTRACT, 'COINBASE BALANCE POP')
    const newest = await transact({ to: CONTRACT }, world)
    expect(newest.gasUsed).toBe(21_000n + 2n + 100n + 2n)
    const paris = await transact({ to: CONTRACT }, world, blockWith({ hardfork: 'paris' }))
    expect(paris.gasUsed).toBe(21_000n + 2n + 2_600n + 2n)
  })
})

describe('a log', () => {
  test('has its address, topics and data', async () => {
    const program = `${storing(Uint8Array.of(1, 2, 3))} 8 7 3 0 LOG2`
    const outcome = await transact({ to: CONTRACT }, withProgram(funded, CONTRACT, program))
    const topics = [7n, 8n].map((n) => `0x${n.toString(16).padStart(64, '0')}`)
    expect(outcome.logs).toEqual([{ address: CONTRACT, topics, data: Uint8Array.of(1, 2, 3) }])
  })

  test('of a run that reverts is gone', async () => {
    const program = '0 0 LOG0 0 0 REVERT'
    const outcome = await transact({ to: CONTRACT }, withProgram(funded, CONTRACT, program))
    expect(outcome.logs).toEqual([])
  })
})

describe('SELFDESTRUCT', () => {
  const world = withBalance(withProgram(funded, CONTRACT, `${BOB} SELFDESTRUCT`), CONTRACT, 9n)

  test('deletes the contract and sends its balance to the heir before cancun', async () => {
    const outcome = await transact({ to: CONTRACT }, world, blockWith({ hardfork: 'shanghai' }))
    expect(accountAt(outcome.world, CONTRACT)).toBeUndefined()
    expect(balanceAt(outcome.world, BOB)).toBe(9n)
  })

  test('only sends the balance away from cancun on', async () => {
    const outcome = await transact({ to: CONTRACT }, world)
    expect(codeAt(outcome.world, CONTRACT).length).toBeGreaterThan(0)
    expect(balanceAt(outcome.world, CONTRACT)).toBe(0n)
    expect(balanceAt(outcome.world, BOB)).toBe(9n)
  })

  test('deletes the contract from cancun on if the same transaction created it', async () => {
    const outcome = await transact({ to: null, data: assemble(`${BOB} SELFDESTRUCT`), value: 4n })
    expect(accountAt(outcome.world, outcome.created as Address)).toBeUndefined()
    expect(balanceAt(outcome.world, BOB)).toBe(4n)
  })
})

describe.each(['auto', 'reference'] as const)('a balance beyond 256 bits (%s)', (evm) => {
  const engine = createExecutor({ evm })
  const most = 2n ** 256n - 1n

  test('wraps when the miner is paid', async () => {
    const world = withBalance(funded, MINER, most)
    const transaction = transactionWith({ to: BOB, maxFeePerGas: 2n, maxPriorityFeePerGas: 2n })
    const outcome = await engine.transact({ world, block: blockWith({ baseFee: 0n }), transaction })
    expect(balanceAt(outcome.world, MINER)).toBe(2n * 21_000n - 1n)
  })

  test('wraps when a destroyed contract pays its heir', async () => {
    const contract = withBalance(withProgram(funded, CONTRACT, `${BOB} SELFDESTRUCT`), CONTRACT, 5n)
    const world = withBalance(contract, BOB, most)
    const transaction = transactionWith({ to: CONTRACT })
    const outcome = await engine.transact({ world, block: blockWith(), transaction })
    expect(balanceAt(outcome.world, BOB)).toBe(4n)
  })
})

describe('an authorization', () => {
  const key = new Uint8Array(32).fill(0x77)
  const signer = addressOfKey(key)
  const code = assemble(`42 0 SSTORE`)
  const base = withCode(funded, OTHER, code)

  function authorize(address: Address, nonce: bigint, chainId = 33n): Authorization {
    const fields = [bytesFromBigint(chainId), bytesFromHex(address), bytesFromBigint(nonce)]
    const digest = keccak256(concatBytes(Uint8Array.of(5), encodeRlp(fields)))
    return { chainId, address, nonce, ...signDigest(digest, key) }
  }

  const send = (list: Authorization[], world = base, fields: Partial<Transaction> = {}) =>
    transact({ type: 4, to: signer, authorizationList: list, gasLimit: 200_000n, ...fields }, world)

  test('sets the code of an account, which runs in the same transaction', async () => {
    const { world, failure } = await send([authorize(OTHER, 0n)])
    expect(failure).toBeUndefined()
    expect(bigintFromBytes(codeAt(world, signer))).toBe(BigInt(`0xef0100${OTHER.slice(2)}`))
    expect(nonceAt(world, signer)).toBe(1n)
    expect(storageAt(world, signer, 0n)).toBe(42n)
  })

  test('for any chain is valid', async () => {
    const { world } = await send([authorize(OTHER, 0n, 0n)])
    expect(codeAt(world, signer).length).toBe(23)
  })

  test('for another chain or nonce is skipped', async () => {
    const { world } = await send([authorize(OTHER, 0n, 34n), authorize(OTHER, 1n)])
    expect(accountAt(world, signer)).toBeUndefined()
  })

  test('stays when the execution fails', async () => {
    const reverting = withCode(base, OTHER, assemble('0 0 REVERT'))
    const { world, failure } = await send([authorize(OTHER, 0n)], reverting)
    expect(failure?.kind).toBe('revert')
    expect(codeAt(world, signer).length).toBe(23)
  })

  test('to the zero address removes the code', async () => {
    const { world } = await send([authorize(OTHER, 0n), authorize(ZERO_ADDRESS, 1n)])
    expect(codeAt(world, signer).length).toBe(0)
    expect(nonceAt(world, signer)).toBe(2n)
  })

  test('refunds gas for an account that exists', async () => {
    const fields = { to: BOB }
    const fresh = await send([authorize(OTHER, 0n)], base, fields)
    const existing = await send([authorize(OTHER, 0n)], withBalance(base, signer, 1n), fields)
    expect(fresh.gasUsed).toBe(21_000n + 25_000n)
    // 12,500, of which a fifth of what was spent is given
    expect(existing.gasUsed).toBe(46_000n - 46_000n / 5n)
  })

  test('lets the delegating account send transactions', async () => {
    const { world } = await send([authorize(OTHER, 0n)])
    const rich = withBalance(world, signer, ETHER)
    const outcome = await transact({ from: signer, nonce: 1n, value: 3n }, rich)
    expect(outcome.failure).toBeUndefined()
  })
})

describe('the executor', () => {
  const contract = withProgram(funded, CONTRACT, 'STOP')
  const cases: readonly [
    why: string,
    fields: Partial<Transaction>,
    block: Parameters<typeof blockWith>[0],
    word: string,
    words: RegExp,
  ][] = [
    [
      'when its nonce was used',
      { nonce: 0n },
      {},
      'NONCE_TOO_LOW',
      /^nonce too low: next nonce 1, tx nonce 0$/,
    ],
    [
      'when its nonce leaves a gap',
      { nonce: 2n },
      {},
      'NONCE_TOO_HIGH',
      /^nonce too high: next nonce 1, tx nonce 2$/,
    ],
    [
      'when its nonce is the highest of all',
      { nonce: 2n ** 64n - 1n },
      {},
      'NONCE_TOO_HIGH',
      /18446744073709551615/,
    ],
    [
      'when it costs more than there is',
      { value: 11n * ETHER },
      {},
      'INSUFFICIENT_FUNDS',
      /^insufficient funds for gas \* price \+ value: .* have 10000000000000000000 want 11000000000000000000$/,
    ],
    [
      'when the fee cap cannot be paid',
      { type: 2, maxFeePerGas: ETHER },
      {},
      'INSUFFICIENT_FUNDS',
      /^insufficient funds/,
    ],
    [
      'with less than the intrinsic gas',
      { gasLimit: 20_999n },
      {},
      'INTRINSIC_GAS_TOO_LOW',
      /^intrinsic gas too low: have 20999, want 21000$/,
    ],
    [
      'with less than the floor',
      { data: new Uint8Array(100).fill(1), gasLimit: 24_999n },
      {},
      'GAS_BELOW_FLOOR',
      /want 25000, the floor/,
    ],
    [
      'with blobs and less than the floor',
      {
        type: 3,
        data: new Uint8Array(100).fill(1),
        gasLimit: 24_999n,
        blobs: { versionedHashes: [`0x01${'00'.repeat(31)}` as Hash], maxFeePerBlobGas: 1n },
      },
      {},
      'GAS_BELOW_FLOOR',
      /want 25000, the floor/,
    ],
    [
      'with more gas than a block has',
      { gasLimit: 30_000_001n },
      {},
      'EXCEEDS_BLOCK_GAS_LIMIT',
      /^exceeds block gas limit: have 30000001/,
    ],
    [
      'with a fee cap below the base fee',
      { type: 2, maxFeePerGas: 9n },
      { baseFee: 10n },
      'FEE_CAP_TOO_LOW',
      /fee cap 9, base fee 10/,
    ],
    [
      'with a tip above the fee cap',
      { type: 2, maxFeePerGas: 9n, maxPriorityFeePerGas: 10n },
      {},
      'TIP_ABOVE_FEE_CAP',
      /tip 10, fee cap 9/,
    ],
    ['for another chain', { chainId: 1n }, {}, 'WRONG_CHAIN_ID', /have 1 want 33/],
    [
      'with a type that the fork does not know',
      { type: 2 },
      { hardfork: 'berlin' },
      'TYPE_NOT_SUPPORTED',
      /type 2 needs hardfork london/,
    ],
    [
      'with an authorization type and no authorization',
      { type: 4 },
      {},
      'EMPTY_AUTHORIZATION_LIST',
      /authorization/,
    ],
    [
      'from a contract',
      { from: CONTRACT, nonce: 1n },
      {},
      'INVALID_SENDER',
      /is a contract with 1 bytes of code/,
    ],
  ]

  test.each(cases)('refuses a transaction: %s', async (_why, fields, block, word, words) => {
    const world = withNonce(contract, ALICE, 1n)
    const transaction = transactionWith({ nonce: 1n, ...fields })
    const run = async () => executor.transact({ world, block: blockWith(block), transaction })
    await expect(run).rejects.toMatchObject({ word, message: expect.stringMatching(words) })
  })

  test('accepts a transaction from an impersonated contract', async () => {
    const transaction = impersonate(transactionWith({ nonce: 1n }), CONTRACT)
    const outcome = await executor.transact({ world: contract, block: blockWith(), transaction })
    expect(outcome.failure).toBeUndefined()
  })

  test('works after refusing a transaction', async () => {
    await expect(transact({ nonce: 5n })).rejects.toThrow('nonce too high')
    expect((await transact({})).gasUsed).toBe(21_000n)
  })
})
