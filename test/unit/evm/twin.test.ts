// The path around an execution is our own; @ethereumjs/vm has another. Over random programs, on every hardfork, both
// must come to the same gas, the same logs and the same state root.
import { createBlock } from '@ethereumjs/block'
import { Common, Mainnet } from '@ethereumjs/common'
import { MerkleStateManager } from '@ethereumjs/statemanager'
import { createTx } from '@ethereumjs/tx'
import { createAccount, hexToBytes } from '@ethereumjs/util'
import { createVM, runTx, type VM } from '@ethereumjs/vm'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { addressOfKey } from '../../../src/core/crypto.ts'
import { type Address, type Hash, hexFromBytes, ZERO_HASH } from '../../../src/core/hex.ts'
import { libraryAddress } from '../../../src/evm/engine.ts'
import { type BlockEnvironment, createExecutor } from '../../../src/evm/executor.ts'
import { HARDFORKS, type Hardfork, isAtLeast } from '../../../src/protocol/forks.ts'
import { signTransaction, type Transaction } from '../../../src/protocol/transaction.ts'
import { accountsOf, stateRoot, type World, withBalance } from '../../../src/state/world.ts'
import { assemble, calling, deploying, storing } from '../../support/bytecode.ts'
import {
  BOB,
  blockWith,
  CONTRACT,
  ETHER,
  funded,
  OTHER,
  transactionWith,
  withProgram,
} from './stage.ts'

const KEY = new Uint8Array(32).fill(0x42)
const SENDER = addressOfKey(KEY)

/** What a program is put together from; each leaves the stack as it was. */
const PIECES: readonly string[] = [
  '1 0 SSTORE',
  '0 0 SSTORE',
  '2 1 SSTORE',
  '0 SLOAD 1 ADD 0 SSTORE',
  '0 0 LOG0',
  '7 3 0 LOG1',
  `${BOB} BALANCE POP`,
  `${OTHER} EXTCODESIZE POP`,
  `${calling(OTHER)} POP`,
  `${calling(BOB, { value: '1' })} POP`,
  `${calling(BOB, { gas: '0' })} POP`,
  `${calling('0x03', { gas: '700' })} POP`,
  `0 0 0 0 0 ${OTHER} 20000 CALLCODE POP`,
  `${storing(deploying(assemble('1 0 SSTORE')))} 32 0 0 CREATE POP`,
  '0 0 0 CREATE POP',
  '50000 0 MSTORE 32 0 KECCAK256 POP',
  'GAS 2 SSTORE',
]

/** How a program ends. */
const ENDS: readonly string[] = [
  'STOP',
  'INVALID',
  '32 0 RETURN',
  `${BOB} SELFDESTRUCT`,
  'ADDRESS SELFDESTRUCT',
]

const program = fc
  .tuple(fc.array(fc.constantFrom(...PIECES), { maxLength: 6 }), fc.constantFrom(...ENDS))
  .map(([pieces, end]) => [...pieces, end].join(' '))

const executor = createExecutor()

describe.each(HARDFORKS)('on %s', (hardfork) => {
  test('a transaction comes to what it comes to in @ethereumjs/vm', async () => {
    const property = fc.asyncProperty(
      program,
      program,
      fc.boolean(),
      async (own, other, creates) => {
        const world = withProgram(
          withBalance(withProgram(withBalance(funded, SENDER, ETHER), CONTRACT, own), CONTRACT, 5n),
          OTHER,
          other,
        )
        const block = blockWith({ hardfork, baseFee: isAtLeast(hardfork, 'london') ? 7n : 0n })
        const transaction = sign(
          hardfork,
          creates ? null : CONTRACT,
          creates ? assemble(own) : new Uint8Array(),
        )
        const ours = await executor.transact({ world, block, transaction })
        const theirs = await runInLibrary(world, block, transaction)
        expect(ours.gasUsed).toBe(theirs.gasUsed)
        expect(ours.logs.length).toBe(theirs.logs)
        expect(stateRoot(ours.world)).toBe(theirs.root)
      },
    )
    await fc.assert(property, { numRuns: 8, seed: HARDFORKS.indexOf(hardfork) })
  })
})

function sign(hardfork: Hardfork, to: Address | null, data: Uint8Array): Transaction {
  const isPriced = isAtLeast(hardfork, 'london')
  return signTransaction(
    transactionWith({
      type: isPriced ? 2 : 0,
      chainId: isAtLeast(hardfork, 'spuriousDragon') ? 33n : undefined,
      to,
      data,
      value: 3n,
      gasLimit: 400_000n,
      maxFeePerGas: 20n,
      maxPriorityFeePerGas: isPriced ? 2n : 20n,
    }),
    KEY,
  )
}

interface LibraryOutcome {
  readonly gasUsed: bigint
  readonly logs: number
  readonly root: Hash
}

async function runInLibrary(
  world: World,
  environment: BlockEnvironment,
  transaction: Transaction,
): Promise<LibraryOutcome> {
  const { hardfork } = environment
  const common = new Common({
    chain: { ...Mainnet, chainId: 33 },
    hardfork: hardfork === 'frontier' ? 'chainstart' : hardfork,
  })
  const vm = await createVM({ common, stateManager: new MerkleStateManager({ common }) })
  await fill(vm, world)
  const block = createBlock(
    { header: headerOf(environment) },
    { common, skipConsensusFormatValidation: true },
  )
  const fields = {
    type: transaction.type,
    nonce: transaction.nonce,
    gasLimit: transaction.gasLimit,
    ...(transaction.type === 2
      ? {
          maxFeePerGas: transaction.maxFeePerGas,
          maxPriorityFeePerGas: transaction.maxPriorityFeePerGas,
          chainId: 33n,
        }
      : { gasPrice: transaction.maxFeePerGas }),
    ...(transaction.to === null ? {} : { to: libraryAddress(transaction.to) }),
    value: transaction.value,
    data: transaction.data,
    v: transaction.v,
    r: transaction.r,
    s: transaction.s,
  }
  const result = await runTx(vm, { tx: createTx(fields, { common }), block })
  return {
    gasUsed: result.totalGasSpent,
    logs: result.execResult.logs?.length ?? 0,
    root: hexFromBytes(await vm.stateManager.getStateRoot()) as string as Hash,
  }
}

function headerOf({ hardfork, ...block }: BlockEnvironment): Record<string, unknown> {
  return {
    number: block.number,
    timestamp: block.timestamp,
    coinbase: libraryAddress(block.coinbase),
    gasLimit: block.gasLimit,
    difficulty: isAtLeast(hardfork, 'paris') ? 0n : block.difficulty,
    mixHash: hexToBytes(
      (isAtLeast(hardfork, 'paris') ? block.prevRandao : ZERO_HASH) as `0x${string}`,
    ),
    ...(isAtLeast(hardfork, 'london') ? { baseFeePerGas: block.baseFee } : {}),
  }
}

async function fill(vm: VM, world: World): Promise<void> {
  const { stateManager } = vm
  await stateManager.checkpoint()
  for (const { address, nonce, balance, code } of accountsOf(world)) {
    await stateManager.putAccount(libraryAddress(address), createAccount({ nonce, balance }))
    if (code.length > 0) await stateManager.putCode(libraryAddress(address), code)
  }
  await stateManager.commit()
}
