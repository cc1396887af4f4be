// A pool of @ethereumjs/vm instances by hardfork, chain id and limits.
import { Common, type CustomCrypto, Mainnet, type ParamsDict } from '@ethereumjs/common'
import {
  type CustomPrecompile,
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
import { blobBaseFeeIn } from '../../protocol/fees.ts'
import { type Hardfork, isAtLeast } from '../../protocol/forks.ts'
import { ECRECOVER, P256VERIFY } from '../../protocol/precompiles.ts'
import type { BlockEnvironment, ExecutionLimits, MovedPrecompiles, Signers } from '../executor.ts'
import type { MachineJob } from '../machine.ts'
import { trustedSetup } from '../precompiles/kzg.ts'
import { isBeyondReckoning } from '../precompiles/modexp.ts'
import { whenLoaded } from '../precompiles/precompile.ts'
import { p256verify } from '../precompiles/signatures.ts'
import { signerAsked } from '../precompiles/signers.ts'
import { kzg } from './kzg.ts'
import { boundMemory } from './memory.ts'
import { keepRevertData } from './revertdata.ts'
import { OverlayStateManager } from './statemanager.ts'
import { yieldAtJumps } from './yieldatjumps.ts'

const MODEXP = '0x0000000000000000000000000000000000000005'
const POINT_EVALUATION = '0x000000000000000000000000000000000000000a'

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

const TRAITS_LIMIT = 16

/**
 * Reuses VMs, as creating one takes longer than a transfer. Drops those whose run threw, as their journal may be inconsistent.
 */
export class VmPool {
  readonly #idle = new Map<string, PooledVm[]>()

  async use<T>(traits: VmTraits, work: (vm: PooledVm) => Promise<T>): Promise<T> {
    const key = `${traits.hardfork} ${traits.chainId} ${traits.limits?.codeSize ?? ''} ${traits.limits?.rip7212 === true}`
    const vm = this.#idle.get(key)?.pop() ?? (await createPooledVm(traits))
    const result = await work(vm)
    vm.end()
    this.#keep(key, vm)
    return result
  }

  #keep(key: string, vm: PooledVm): void {
    const vms = this.#idle.get(key) ?? []
    if (vms.length < IDLE_LIMIT) vms.push(vm)
    // the map is in order of use: the first entry is the least recent
    this.#idle.delete(key)
    this.#idle.set(key, vms)
    const [oldest] = this.#idle.keys()
    if (this.#idle.size > TRAITS_LIMIT && oldest !== undefined) this.#idle.delete(oldest)
  }
}

async function createPooledVm(traits: VmTraits): Promise<PooledVm> {
  const { hardfork, chainId, limits } = traits
  const stateManager = new OverlayStateManager()
  const ancestors = new Ancestors()
  const vm = await createVM({
    common: new Common({
      chain: { ...Mainnet, chainId: chainId.toString() },
      hardfork: hardfork === 'frontier' ? 'chainstart' : hardfork,
      customCrypto: { keccak256, kzg } satisfies CustomCrypto,
    }),
    stateManager,
    blockchain: ancestors,
    evmOpts: {
      params: paramsWithin(limits),
      customPrecompiles: limits?.rip7212 && !isAtLeast(hardfork, 'osaka') ? [RIP_7212] : [],
    },
  })
  const evm = vm.evm as EVM
  const yielding = yieldAtJumps(evm)
  const memory = boundMemory(evm)
  keepRevertData(evm)
  const precompiles = new Precompiles(evm.precompiles)
  return {
    evm,
    precompiles: precompiles.usual,
    begin: ({ overlay, block, movedPrecompiles, memoryLimit, pause }) => {
      stateManager.use(overlay)
      ancestors.block = block
      if (block.signers !== undefined) precompiles.answer(block.signers)
      if (movedPrecompiles !== undefined) precompiles.move(movedPrecompiles)
      memory.limit = memoryLimit
      yielding.pause = pause
      evm.journal.cleanJournal()
      return libraryBlock(block)
    },
    end: () => {
      yielding.pause = undefined
      stateManager.use(undefined)
      delete evm.journal.accessList
      ancestors.block = undefined
      precompiles.restore()
    },
  }
}

/** The EVM looks up precompiles in this map. */
class Precompiles {
  readonly usual: ReadonlySet<string>
  readonly #map: Map<string, PrecompileFunc>
  readonly #original: ReadonlyMap<string, PrecompileFunc>
  #isChanged = false

  constructor(map: Map<string, PrecompileFunc>) {
    this.#map = map
    replace(map, MODEXP, bounded)
    replace(map, POINT_EVALUATION, afterLoading)
    this.#original = new Map(map)
    this.usual = new Set(map.keys())
  }

  /** Overrides ecrecover until `restore`. Call it before `move`. */
  answer(signers: Signers): void {
    this.#isChanged = true
    const place = ECRECOVER.address.slice(2)
    const code = this.#original.get(place)
    if (code !== undefined) this.#map.set(place, answering(code, signers))
  }

  move(moved: MovedPrecompiles): void {
    this.#isChanged = true
    const before = new Map(this.#map)
    for (const from of moved.keys()) this.#map.delete(from.slice(2))
    for (const [from, to] of moved) {
      const code = before.get(from.slice(2))
      if (code !== undefined && to !== null) this.#map.set(to.slice(2), code)
    }
  }

  restore(): void {
    if (!this.#isChanged) return
    this.#isChanged = false
    this.#map.clear()
    for (const [place, code] of this.#original) this.#map.set(place, code)
  }
}

function replace(
  map: Map<string, PrecompileFunc>,
  address: string,
  by: (code: PrecompileFunc) => PrecompileFunc,
): void {
  const place = address.slice(2)
  const code = map.get(place)
  if (code !== undefined) map.set(place, by(code))
}

/** Throws early if the curve is not loaded yet. */
function afterLoading(pointEvaluation: PrecompileFunc): PrecompileFunc {
  return async (input) => {
    await whenLoaded(trustedSetup)
    return pointEvaluation(input)
  }
}

/** Rejects numbers on which the library's modexp would crash the process. */
function bounded(modexp: PrecompileFunc): PrecompileFunc {
  return (input) => {
    if (!isBeyondReckoning(input.data)) return modexp(input)
    return outOfGas(input)
  }
}

function outOfGas({ gasLimit }: PrecompileInput): ExecResult {
  return {
    executionGasUsed: gasLimit,
    returnValue: EMPTY_BYTES,
    exceptionError: new EVMError(EVMError.errorMessages.OUT_OF_GAS),
  }
}

function answering(ecrecover: PrecompileFunc, signers: Signers): PrecompileFunc {
  return (input) => {
    const returnValue = signerAsked(signers, input.data)
    const executionGasUsed = input.common.param('ecRecoverGas')
    if (returnValue === undefined || input.gasLimit < executionGasUsed) return ecrecover(input)
    return { executionGasUsed, returnValue }
  }
}

/** The library's osaka precompile, at the price of RIP-7212. */
const RIP_7212: CustomPrecompile = {
  address: libraryAddress(P256VERIFY.address),
  function: async (input) => {
    const { gas, run } = p256verify('prague')
    const executionGasUsed = gas(input.data)
    if (input.gasLimit < executionGasUsed) return outOfGas(input)
    const returnValue = (await whenLoaded(() => run(input.data))) ?? EMPTY_BYTES
    return { executionGasUsed, returnValue }
  },
}

/** The library's table, with the code size limits replaced (EIP-170, EIP-3860). */
function paramsWithin(limits: ExecutionLimits | undefined): ParamsDict {
  if (limits?.codeSize === undefined) return paramsEVM
  return {
    ...paramsEVM,
    607: { ...paramsEVM[607], maxCodeSize: limits.codeSize },
    3860: { ...paramsEVM[3860], maxInitCodeSize: 2 * limits.codeSize },
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
      getBlobGasPrice: () => blobPrice,
    },
  }
}

export function libraryAddress(address: Address): LibraryAddress {
  return new LibraryAddress(bytesFromHex(address))
}

const UNKNOWN_HASH = new Uint8Array(32)

class Ancestors implements EVMMockBlockchainInterface {
  block: BlockEnvironment | undefined

  async getBlock(number: number): Promise<{ hash: () => Uint8Array }> {
    const hash = this.block?.blockHash(BigInt(number))
    const bytes = hash === undefined ? UNKNOWN_HASH : hashBytes(hash)
    return { hash: () => bytes }
  }

  async putBlock(): Promise<void> {}

  shallowCopy(): EVMMockBlockchainInterface {
    return this
  }
}
