// A pool of @ethereumjs/vm instances by hardfork, chain id and limits.
import { Common, Mainnet, type ParamsDict } from '@ethereumjs/common'
import {
  type EVM,
  EVMError,
  type EVMMockBlockchainInterface,
  type ExecResult,
  type PrecompileFunc,
  type PrecompileInput,
  paramsEVM,
} from '@ethereumjs/evm'
import { Address as LibraryAddress } from '@ethereumjs/util'
import { createVM } from '@ethereumjs/vm'
import { hashBytes, keccak256 } from '../../core/crypto/crypto.ts'
import { type Address, bytesFromHex, EMPTY_BYTES } from '../../core/hex.ts'
import { getOrMake, LruCache } from '../../core/lrucache.ts'
import { blobBaseFeeIn } from '../../protocol/fees.ts'
import { type Hardfork, isAtLeast } from '../../protocol/forks.ts'
import { ECRECOVER, P256VERIFY } from '../../protocol/precompiles.ts'
import type { BlockEnvironment, ExecutionLimits, MovedPrecompiles, Signers } from '../executor.ts'
import type { MachineJob } from '../machine.ts'
import { ecrecoverWith } from '../precompiles/hashes.ts'
import { isTooLongToCompute } from '../precompiles/modexp.ts'
import { type PrecompileCode, whenLoaded } from '../precompiles/precompile.ts'
import { p256verify, pointEvaluation } from '../precompiles/signatures.ts'
import { withMoved } from '../precompiles/table.ts'
import { boundMemory, chargeAtAccess, keepRevertData, yieldAtJumps } from './patches.ts'
import { OverlayStateManager } from './statemanager.ts'

const MODEXP = '0000000000000000000000000000000000000005'
const POINT_EVALUATION = '000000000000000000000000000000000000000a'

export type LibraryBlock = NonNullable<Parameters<EVM['runCall']>[0]['block']>

interface VmTraits {
  readonly hardfork: Hardfork
  readonly chainId: bigint
  readonly limits: ExecutionLimits | undefined
}

export interface PooledVm {
  readonly evm: EVM
  /** As the fork has them, before a run moves any, as hex digits. */
  readonly precompiles: ReadonlySet<string>
  readonly begin: (job: MachineJob) => LibraryBlock
  readonly end: () => void
}

const IDLE_LIMIT = 4

/** The pool has at most twice as many. */
const TRAITS_LIMIT = 8

/**
 * Reuses VMs, as creating one takes longer than a transfer. Drops those whose run threw, as their journal may be inconsistent.
 */
export class VmPool {
  readonly #idle = new LruCache<string, PooledVm[]>(TRAITS_LIMIT)

  async use<T>(traits: VmTraits, work: (vm: PooledVm) => Promise<T>): Promise<T> {
    const key = `${traits.hardfork} ${traits.chainId} ${traits.limits?.codeSize ?? ''} ${traits.limits?.rip7212 === true}`
    const idle = getOrMake(this.#idle, key, () => [])
    const vm = idle.pop() ?? (await createPooledVm(traits))
    const result = await work(vm)
    vm.end()
    if (idle.length < IDLE_LIMIT) idle.push(vm)
    return result
  }
}

async function createPooledVm(traits: VmTraits): Promise<PooledVm> {
  const { hardfork, chainId, limits } = traits
  const stateManager = new OverlayStateManager()
  let running: BlockEnvironment | undefined
  const blockchain: EVMMockBlockchainInterface = {
    getBlock: async (number) => {
      const hash = running?.blockHash(BigInt(number))
      return { hash: () => (hash === undefined ? UNKNOWN_HASH : hashBytes(hash)) }
    },
    putBlock: async () => {},
    shallowCopy: () => blockchain,
  }
  const vm = await createVM({
    common: new Common({
      chain: { ...Mainnet, chainId: chainId.toString() },
      hardfork: hardfork === 'frontier' ? 'chainstart' : hardfork,
      customCrypto: { keccak256 },
    }),
    stateManager,
    blockchain,
    evmOpts: { params: paramsWithin(limits) },
  })
  const evm = vm.evm as EVM
  const yielding = yieldAtJumps(evm)
  const memory = boundMemory(evm)
  keepRevertData(evm)
  if (isAtLeast(hardfork, 'amsterdam')) chargeAtAccess(evm)
  const usual = precompilesOf(evm, traits)
  return {
    evm,
    precompiles: new Set(usual.keys()),
    begin: ({ overlay, block, movedPrecompiles, memoryLimit, pause }) => {
      stateManager.use(overlay)
      running = block
      // biome-ignore lint/complexity/useLiteralKeys: it is protected, and the library has no other door for this
      evm['_precompiles'] = precompilesIn(usual, block.signers, movedPrecompiles)
      memory.limit = memoryLimit
      yielding.pause = pause
      evm.journal.cleanJournal()
      return libraryBlock(block)
    },
    end: () => {
      yielding.pause = undefined
      stateManager.use(undefined)
      delete evm.journal.accessList
      running = undefined
    },
  }
}

type Precompiles = Map<string, PrecompileFunc>

/** The library's, by hex digits, with those that need it replaced or bounded. */
function precompilesOf({ precompiles }: EVM, { hardfork, limits }: VmTraits): Precompiles {
  const modexp = precompiles.get(MODEXP)
  if (modexp !== undefined) {
    // numbers on which the library's modexp would crash the process
    precompiles.set(MODEXP, (input) =>
      isTooLongToCompute(input.data) ? failed(input, 'OUT_OF_GAS') : modexp(input),
    )
  }
  // the library has no KZG of its own, and its P256VERIFY has the price of osaka
  if (precompiles.has(POINT_EVALUATION)) precompiles.set(POINT_EVALUATION, adapted(pointEvaluation))
  if (limits?.rip7212 && !isAtLeast(hardfork, 'osaka')) {
    precompiles.set(digitsOf(P256VERIFY.address), adapted(p256verify(hardfork)))
  }
  return precompiles
}

function precompilesIn(
  usual: Precompiles,
  signers: Signers | undefined,
  moved: MovedPrecompiles | undefined,
): Precompiles {
  const all =
    signers === undefined
      ? usual
      : new Map(usual).set(digitsOf(ECRECOVER.address), adapted(ecrecoverWith(signers)))
  if (moved === undefined) return all
  const places = [...moved].map(([from, to]) => [digitsOf(from), to && digitsOf(to)] as const)
  return withMoved(all, new Map(places))
}

function digitsOf(address: Address): string {
  return address.slice(2)
}

/** A precompile of the fast machines, as the library calls it. */
function adapted({ gas, run }: PrecompileCode): PrecompileFunc {
  return async (input) => {
    const executionGasUsed = gas(input.data)
    if (input.gasLimit < executionGasUsed) return failed(input, 'OUT_OF_GAS')
    const returnValue = await whenLoaded(() => run(input.data))
    if (returnValue === undefined) return failed(input, 'INVALID_INPUTS')
    return { executionGasUsed, returnValue }
  }
}

function failed(
  { gasLimit }: PrecompileInput,
  error: keyof typeof EVMError.errorMessages,
): ExecResult {
  return {
    executionGasUsed: gasLimit,
    returnValue: EMPTY_BYTES,
    exceptionError: new EVMError(EVMError.errorMessages[error]),
  }
}

/** The library's table, with the code size limits replaced (EIP-170, EIP-3860). */
function paramsWithin(limits: ExecutionLimits | undefined): ParamsDict {
  if (limits?.codeSize === undefined) return paramsEVM
  return {
    ...paramsEVM,
    607: { ...paramsEVM[607], maxCodeSize: limits.codeSize },
    3860: { ...paramsEVM[3860], maxInitCodeSize: 2 * limits.codeSize },
    7954: { maxCodeSize: limits.codeSize, maxInitCodeSize: 2 * limits.codeSize },
  }
}

function libraryBlock(block: BlockEnvironment): LibraryBlock {
  const blobPrice = isAtLeast(block.hardfork, 'cancun') ? blobBaseFeeIn(block) : undefined
  return {
    header: {
      number: block.number,
      coinbase: libraryAddress(block.coinbase),
      timestamp: block.timestamp,
      difficulty: block.difficulty,
      prevRandao: hashBytes(block.prevRandao),
      gasLimit: block.gasLimit,
      baseFeePerGas: block.baseFee,
      slotNumber: block.slotNumber,
      getBlobGasPrice: () => blobPrice,
    },
  }
}

export function libraryAddress(address: Address): LibraryAddress {
  return new LibraryAddress(bytesFromHex(address))
}

const UNKNOWN_HASH = new Uint8Array(32)
