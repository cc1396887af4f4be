// The library's own way from a transaction to a state, by @ethereumjs/tx and runTx of @ethereumjs/vm: none of this
// project's code is on it, but for the words of an execution's failure.
import { createBlock } from '@ethereumjs/block'
import { Common, Mainnet } from '@ethereumjs/common'
import { MerkleStateManager } from '@ethereumjs/statemanager'
import { createTxFromRLP } from '@ethereumjs/tx'
import { createAccount, hexToBytes, type PrefixedHexString } from '@ethereumjs/util'
import { createVM, type RunTxResult, runTx, type VM } from '@ethereumjs/vm'
import { type Hash, hexFromBytes, ZERO_HASH } from '../../../src/core/hex.ts'
import type { BlockEnvironment, Failure } from '../../../src/evm/executor.ts'
import { describeHalt, describeRevert } from '../../../src/evm/reasons.ts'
import { libraryAddress } from '../../../src/evm/reference/vm.ts'
import { type Hardfork, isAtLeast } from '../../../src/protocol/forks.ts'
import { accountsOf, type World } from '../../../src/state/world.ts'

/** What a transaction came to; undefined when it may not be in the block. */
export interface LibraryOutcome {
  readonly gasUsed: bigint
  readonly failure: Failure | undefined
  readonly output: string
  readonly logs: readonly string[]
  readonly bloom: string
  readonly created: string | undefined
}

/** A state of the library's, and the block that transactions are put into. */
export class LibraryChain {
  readonly #vm: VM
  readonly #environment: BlockEnvironment

  private constructor(vm: VM, environment: BlockEnvironment) {
    this.#vm = vm
    this.#environment = environment
  }

  static async of(world: World, environment: BlockEnvironment): Promise<LibraryChain> {
    const common = commonOf(environment)
    const vm = await createVM({ common, stateManager: new MerkleStateManager({ common }) })
    await fill(vm, world)
    return new LibraryChain(vm, environment)
  }

  async stateRoot(): Promise<Hash> {
    return hexFromBytes(await this.#vm.stateManager.getStateRoot()) as string as Hash
  }

  /** Runs a transaction; the state stays as it is when it may not be in the block. */
  async run(raw: Uint8Array): Promise<LibraryOutcome | undefined> {
    const { common } = this.#vm
    let result: RunTxResult
    try {
      const block = createBlock(
        { header: headerOf(this.#environment) },
        { common, skipConsensusFormatValidation: true },
      )
      result = await runTx(this.#vm, { tx: createTxFromRLP(raw, { common }), block })
    } catch (error) {
      // it has no class for refusals, and a fault of this test would be one of these
      if (error instanceof TypeError || error instanceof ReferenceError) throw error
      return undefined
    }
    const { execResult, createdAddress, totalGasSpent, bloom } = result
    return {
      gasUsed: totalGasSpent,
      failure: failureOf(execResult),
      output: hexFromBytes(execResult.returnValue),
      logs: (execResult.logs ?? []).map(([address, topics, data]) =>
        [address, ...topics, data].map(hexFromBytes).join(' '),
      ),
      bloom: hexFromBytes(bloom.bitvector),
      created: createdAddress?.toString(),
    }
  }
}

function failureOf({
  exceptionError,
  returnValue,
  runState,
}: RunTxResult['execResult']): Failure | undefined {
  const error = exceptionError?.error
  // before homestead a contract whose code cannot be paid for is made without code
  if (error === undefined || error === 'code store out of gas') return undefined
  if (error === 'revert') return { kind: 'revert', reason: describeRevert(returnValue) }
  const opcode = runState?.code[runState.programCounter]
  return { kind: 'halt', reason: describeHalt(error, opcode) }
}

function commonOf({ hardfork, chainId }: BlockEnvironment): Common {
  return new Common({
    chain: { ...Mainnet, chainId: Number(chainId) },
    hardfork: libraryFork(hardfork),
    // a blob transaction can't be read without it, though nothing is proved
    customCrypto: { kzg: {} as never },
  })
}

function libraryFork(hardfork: Hardfork): string {
  return hardfork === 'frontier' ? 'chainstart' : hardfork
}

function headerOf({ hardfork, ...block }: BlockEnvironment): Record<string, unknown> {
  const isMerged = isAtLeast(hardfork, 'paris')
  return {
    number: block.number,
    timestamp: block.timestamp,
    coinbase: libraryAddress(block.coinbase),
    gasLimit: block.gasLimit,
    difficulty: isMerged ? 0n : block.difficulty,
    mixHash: hexToBytes((isMerged ? block.prevRandao : ZERO_HASH) as string as PrefixedHexString),
    ...(isAtLeast(hardfork, 'london') ? { baseFeePerGas: block.baseFee } : {}),
    ...(isAtLeast(hardfork, 'cancun') ? { excessBlobGas: block.excessBlobGas } : {}),
  }
}

async function fill(vm: VM, world: World): Promise<void> {
  const { stateManager } = vm
  await stateManager.checkpoint()
  for (const account of accountsOf(world)) {
    const { nonce, balance, code } = account
    const address = libraryAddress(account.address)
    await stateManager.putAccount(address, createAccount({ nonce, balance }))
    if (code.length > 0) await stateManager.putCode(address, code)
  }
  await stateManager.commit()
}
