// What the library's EVM lacks: a memory limit, turns for other work, and revert data that starts like code.
import { type EVM, EVMError, type Message } from '@ethereumjs/evm'
import { Account } from '@ethereumjs/util'
import { MAX_UINT64, smaller } from '../../core/bigints.ts'
import { yielder } from '../../core/yield.ts'
import { MAX_CALL_DEPTH, type MachineJob, MEMORY_LIMIT_REASON } from '../machine.ts'
import { OP } from '../opcodes.ts'

const WORD = 32

type LibraryOperation = NonNullable<EVM['_opcodeMap'][number]>
type RunState = Parameters<LibraryOperation['gasHandler']>[0]
type LibraryCommon = Parameters<LibraryOperation['gasHandler']>[2]

/** Changes what operations do, as far as the fork has them. */
function patch(
  evm: EVM,
  opcodes: Iterable<number>,
  change: (operation: LibraryOperation) => Partial<LibraryOperation>,
): void {
  // biome-ignore lint/complexity/useLiteralKeys: it is protected, and the library has no other door for this
  const operations = evm['_opcodeMap']
  for (const opcode of opcodes) {
    const operation = operations[opcode]
    if (operation !== undefined) operations[opcode] = { ...operation, ...change(operation) }
  }
}

interface MemoryBound {
  limit: number
}

/** Halts frames that exceed the limit. Missing gas takes precedence. */
export function boundMemory(evm: EVM): MemoryBound {
  const bound: MemoryBound = { limit: Number.POSITIVE_INFINITY }
  const words: number[] = []
  evm.events.on('beforeMessage', ({ depth }: Message) => {
    words.length = depth
    words.push(0)
  })
  patch(evm, new Uint8Array(256).keys(), ({ gasHandler, opcodeInfo }) => {
    if (!opcodeInfo.dynamicGas) return {}
    return {
      gasHandler: async (runState, baseGas, common) => {
        const before = runState.memoryWordCount
        const gas = await gasHandler(runState, baseGas, common)
        if (runState.memoryWordCount === before) return gas
        const { depth } = runState.env
        words.length = depth + 1
        words[depth] = Number(runState.memoryWordCount)
        const total = words.reduce((sum, count) => sum + count, 0)
        if (total * WORD > bound.limit && gas <= runState.gasLeft) throw memoryLimitError()
        return gas
      },
    }
  })
  return bound
}

/** The library lacks this error, but passes on any text. */
function memoryLimitError(): EVMError {
  const error: { error: string } = new EVMError(EVMError.errorMessages.OUT_OF_GAS)
  error.error = MEMORY_LIMIT_REASON
  return error as EVMError
}

/** EIP-3541 rejects code that starts with it. */
const FORMAT = 0xef

export function keepRevertData(evm: EVM): void {
  /** The real data by the substitute that the library sees. */
  const kept = new WeakMap<Uint8Array, Uint8Array>()
  // biome-ignore-start lint/complexity/useLiteralKeys: they are protected, and the library has no other door for this
  const runInterpreter = evm['runInterpreter'].bind(evm)
  const executeCreate = evm['_executeCreate'].bind(evm)
  evm['runInterpreter'] = async (message, options) => {
    const result = await runInterpreter(message, options)
    const { exceptionError, returnValue } = result
    const isMistaken = message.isCreate && exceptionError !== undefined && returnValue[0] === FORMAT
    if (!isMistaken) return result
    const shown = new Uint8Array(returnValue.length)
    kept.set(shown, returnValue)
    return { ...result, returnValue: shown }
  }
  evm['_executeCreate'] = async (message) => {
    const result = await executeCreate(message)
    const { execResult } = result
    execResult.returnValue = kept.get(execResult.returnValue) ?? execResult.returnValue
    return result
  }
  // biome-ignore-end lint/complexity/useLiteralKeys: as above
}

/**
 * The order in which amsterdam charges for new accounts (EIP-8037). CREATE and CREATE2 that fail before their account is read
 * cost no state gas, which the library charges first, and may lack. CALL passes on what its state gas leaves, in the library more.
 */
export function chargeAtAccess(evm: EVM): void {
  patch(evm, [OP.CREATE, OP.CREATE2], ({ gasHandler }) => ({
    gasHandler: async (runState, baseGas, common) => {
      // before anything is read, in the library after it
      if (runState.interpreter.isStatic()) {
        throw new EVMError(EVMError.errorMessages.STATIC_STATE_CHANGE)
      }
      const isTooLong = hasLongCode(runState, common)
      if (!isTooLong && (await canCreate(runState))) return gasHandler(runState, baseGas, common)
      const { stateManager } = runState
      // an account that exists costs none
      const living = { getAccount: async () => new Account(1n) }
      runState.stateManager = Object.assign(Object.create(stateManager), living)
      // missing gas takes precedence over the size
      const sizes: { allowUnlimitedInitCodeSize: boolean } = evm
      sizes.allowUnlimitedInitCodeSize = true
      try {
        return await gasHandler(runState, baseGas, common)
      } finally {
        runState.stateManager = stateManager
        sizes.allowUnlimitedInitCodeSize = false
      }
    },
  }))
  patch(evm, [OP.CALL], ({ gasHandler }) => ({
    gasHandler: async (runState, baseGas, common) => {
      const gas = await gasHandler(runState, baseGas, common)
      if ((runState.lastCallNewAccountStateGas ?? 0n) === 0n) return gas
      const left = runState.gasLeft - gas
      const [asked = 0n] = runState.stack.peek(1)
      runState.messageGasLimit = smaller(asked, left - left / 64n)
      return gas
    },
  }))
}

function hasLongCode({ stack }: RunState, common: LibraryCommon): boolean {
  const [, , length = 0n] = stack.peek(3)
  return length > common.param('maxInitCodeSize')
}

async function canCreate({ env, stack, stateManager }: RunState): Promise<boolean> {
  const [value = 0n] = stack.peek(1)
  const { balance = 0n, nonce = 0n } = (await stateManager.getAccount(env.address)) ?? {}
  return env.depth < MAX_CALL_DEPTH && balance >= value && nonce < MAX_UINT64
}

const TURN_MS = 10

/** Jumps and calls between two checks of the clock. */
const LOOK_EVERY = 1_000

/** Every endless run contains one of these. */
const PLACES = [
  ...[OP.JUMP, OP.JUMPI, OP.CREATE, OP.CREATE2],
  ...[OP.CALL, OP.CALLCODE, OP.DELEGATECALL, OP.STATICCALL],
]

interface Yielding {
  /** Awaited by later runs now and then; undefined: they do not yield. */
  pause: MachineJob['pause']
}

/** Yields at jumps and calls. Safe, as a VM runs one job at a time over its own overlay. */
export function yieldAtJumps(evm: EVM): Yielding {
  const yielding: Yielding = { pause: undefined }
  const yieldIfDue = yielder(TURN_MS, async () => yielding.pause?.())
  let count = 0
  patch(evm, PLACES, ({ opHandler, opcodeInfo }) => ({
    opcodeInfo: { ...opcodeInfo, isAsync: true },
    opHandler: async (runState, common) => {
      count += 1
      if (count % LOOK_EVERY === 0) await yieldIfDue()
      return opHandler(runState, common)
    },
  }))
  return yielding
}
