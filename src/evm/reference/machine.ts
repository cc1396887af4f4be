// The reference machine, on @ethereumjs/evm: slow and complete. Tests compare the other machines with it.
import {
  type EVM,
  EVMError,
  type EVMInterface,
  type EVMResult,
  type EVMRunCallOpts,
  type ExecResult,
  type Message,
} from '@ethereumjs/evm'
import { createBlockLevelAccessList } from '@ethereumjs/util'
import { CONSOLE_ADDRESS } from '../../core/abi.ts'
import {
  type Address,
  addressFromBytes,
  type Hash,
  type Hex,
  hashFromBytes,
} from '../../core/hex.ts'
import { NO_SLOTS } from '../../protocol/blocks/accesslist.ts'
import { type Hardfork, isAtLeast } from '../../protocol/forks.ts'
import type { AccessListEntry } from '../../protocol/transactions/transaction.ts'
import type { BlockEnvironment, Failure, GasNeed } from '../executor.ts'
import {
  type Machine,
  type MachineJob,
  type MachineResult,
  PRECOMPILE_REASON,
  type StateResult,
} from '../machine.ts'
import { OP, operationsAt, STACK_LIMIT } from '../opcodes.ts'
import { describeHalt, describeRevert } from '../reasons.ts'
import { type LibraryBlock, libraryAddress, type PooledVm, VmPool } from './vm.ts'

type Attach = (evm: EVM, job: MachineJob) => () => void

/** @param attachTracer listens for the job's tracer until its result is called; by default a traced job throws */
export function createReferenceMachine(attachTracer: Attach = refuseTracer): Machine {
  const vms = new VmPool()
  return {
    run: (job) => {
      const { hardfork, chainId } = job.block
      return vms.use({ hardfork, chainId, limits: job.limits }, (vm) => run(vm, job, attachTracer))
    },
  }
}

async function run(vm: PooledVm, job: MachineJob, attachTracer: Attach): Promise<MachineResult> {
  const { evm } = vm
  const block = vm.begin(job)
  if (job.reportsAccess) evm.journal.startReportingAccessList()
  if (isAtLeast(job.block.hardfork, 'berlin')) warm(vm, job)
  const isOfState = isAtLeast(job.block.hardfork, 'amsterdam')
  if (isOfState) beginState(evm, job)
  const detach = [attachConsole(evm, job), attachTracer(evm, job)]
  const result = await evm.runCall(callOf(job, block))
  for (const each of detach) each()
  const { execResult } = result
  return {
    failure: failureOf(evm, job, result),
    gasUsed: isFailedPrecompile(evm, job, result) ? job.gas : execResult.executionGasUsed,
    gasNeed: needOf(result),
    refund: execResult.gasRefund ?? 0n,
    output: execResult.returnValue,
    logs: (execResult.logs ?? []).map(([address, topics, data]) => ({
      address: addressFromBytes(address),
      topics: topics.map(hashFromBytes),
      data,
    })),
    created:
      result.createdAddress === undefined
        ? undefined
        : addressFromBytes(result.createdAddress.bytes),
    destroyed: destroyedBy(result, job.block),
    touched: touchedBy(evm),
    accessed: accessedBy(evm),
    isAlone: false,
    dependsOnTime: true,
    state: isOfState ? stateOf(evm, job, result) : undefined,
  }
}

/** As the library's transactions do. */
function beginState(evm: EVM, { stateGas }: MachineJob): void {
  evm.stateGasReservoir = stateGas
  evm.executionStateGasUsed = 0n
  evm.eip2780PrepOog = false
  // biome-ignore lint/complexity/useLiteralKeys: it is protected, and the library has no other door for this
  evm['_stateGasSnapshots'] = []
  evm.createdAccountStateGas = new Map()
  evm.createdAccountIntrinsicStateGas = new Map()
  const open: EVMInterface = evm
  open.blockLevelAccessList = createBlockLevelAccessList()
}

function stateOf(
  evm: EVM,
  { stateGas, message: { from, to } }: MachineJob,
  { execResult, createdAddress }: EVMResult,
): StateResult {
  const reservoir = evm.stateGasReservoir
  const error = execResult.exceptionError?.error
  const isTaken = to === null && error === EVMError.errorMessages.CREATE_COLLISION
  const read = new Map<Address, readonly bigint[]>()
  for (const [address, access] of Object.entries(evm.blockLevelAccessList?.accesses ?? {})) {
    const keys = [...access.storageReads, ...Object.keys(access.storageChanges)]
    // the sender is there in any case, but not that of a system call; 0 is written without digits
    const slots = keys.map((key) => BigInt(key === '0x' ? 0 : key))
    if (address !== from) read.set(address as string as Address, [...new Set(slots)])
  }
  // the library lists no account that it lacks the gas to make
  const target = to ?? (createdAddress && addressFromBytes(createdAddress.bytes))
  if (evm.eip2780PrepOog && target !== undefined && !read.has(target)) read.set(target, NO_SLOTS)
  return {
    reservoir,
    spilled: evm.executionStateGasUsed - (stateGas - reservoir),
    isUnprepared: evm.eip2780PrepOog || isTaken,
    read,
  }
}

function refuseTracer(_evm: EVM, { tracer }: MachineJob): () => void {
  if (tracer !== undefined) throw new Error('the reference machine does not trace')
  return () => undefined
}

function attachConsole(evm: EVM, { onConsole }: MachineJob): () => void {
  const onMessage = (message: Message): void => {
    // reading codeAddress of a creation throws
    if (message.to === undefined) return
    if (addressFromBytes(message.codeAddress.bytes) !== CONSOLE_ADDRESS) return
    onConsole(addressFromBytes(message.caller.bytes), message.data)
  }
  evm.events.on('beforeMessage', onMessage)
  return () => evm.events.off('beforeMessage', onMessage)
}

function callOf(
  { message: { from, to, value, data, blobs }, gas, gasPrice }: MachineJob,
  block: LibraryBlock,
): EVMRunCallOpts {
  return {
    block,
    caller: libraryAddress(from),
    ...(to === null ? {} : { to: libraryAddress(to) }),
    value,
    data,
    gasLimit: gas,
    gasPrice,
    blobVersionedHashes: (blobs?.versionedHashes ?? []).map((hash) => hash as string as Hex),
    // the transition has raised the nonce, so that authorizations see it
    skipNonceIncrement: true,
  }
}

function warm({ evm: { journal }, precompiles }: PooledVm, { warm, message }: MachineJob): void {
  for (const address of precompiles) journal.addAlwaysWarmAddress(address)
  for (const address of warm) journal.addAlwaysWarmAddress(address)
  for (const { address, storageKeys } of message.accessList) {
    journal.addAlwaysWarmAddress(address, true)
    for (const key of storageKeys) journal.addAlwaysWarmSlot(address, key, true)
  }
}

function failureOf(evm: EVM, job: MachineJob, result: EVMResult): Failure | undefined {
  const { execResult } = result
  const error = execResult.exceptionError?.error
  if (isFailedPrecompile(evm, job, result) && error !== 'out of gas') {
    return { kind: 'halt', reason: PRECOMPILE_REASON }
  }
  return frameFailure(execResult, job.block.hardfork)
}

/** All its gas is used; the library has an error for each, and reverts for some. */
function isFailedPrecompile(
  { precompiles }: EVM,
  { message: { to } }: MachineJob,
  { execResult }: EVMResult,
): boolean {
  return to !== null && precompiles.has(to.slice(2)) && execResult.exceptionError !== undefined
}

/** The library does not measure it, but operations without cost do not read the gas either. */
function needOf({ execResult }: EVMResult): GasNeed | undefined {
  const isFree = execResult.executionGasUsed === 0n && execResult.exceptionError === undefined
  return isFree ? { gas: 0n, isCertain: true } : undefined
}

function destroyedBy({ execResult }: EVMResult, { hardfork }: BlockEnvironment): Address[] {
  const { selfdestruct, createdAddresses } = execResult
  return [...(selfdestruct?.keys() ?? [])]
    .filter((address) => !isAtLeast(hardfork, 'cancun') || createdAddresses?.has(address) === true)
    .map((address) => address as string as Address)
}

function touchedBy({ journal }: EVM): Address[] {
  // biome-ignore lint/complexity/useLiteralKeys: it is private, and the library would clear them away by itself
  return [...journal['touched']].map((digits) => `0x${digits}` as Address)
}

function accessedBy({ journal }: EVM): AccessListEntry[] {
  return [...(journal.accessList ?? [])].map(([digits, keys]) => ({
    address: `0x${digits}` as Address,
    storageKeys: [...keys].map((key) => `0x${key}` as Hash),
  }))
}

/** Undefined on success, which in frontier includes a creation without gas for its code. */
export function frameFailure(
  { exceptionError, returnValue, runState }: ExecResult,
  hardfork: Hardfork,
): Failure | undefined {
  if (exceptionError === undefined) return undefined
  const { error } = exceptionError
  // before homestead the contract is created without code
  if (error === 'code store out of gas') return undefined
  if (error === 'revert') return { kind: 'revert', reason: describeRevert(returnValue) }
  const isPoor = error === 'out of gas' && runState !== undefined
  const reason = isPoor ? stackProblem(runState, hardfork) : baseProblem(error, runState, hardfork)
  // for code with jumps the library does not report the invalid opcode
  const opcode = runState && opcodeOf(runState)
  return { kind: 'halt', reason: reason ?? describeHalt(error, opcode) }
}

/** Once the library has read an immediate, its counter is past the operation. */
function opcodeOf({
  opCode,
  code,
  programCounter,
}: NonNullable<ExecResult['runState']>): number | undefined {
  return opCode >= OP.DUPN && opCode <= OP.EXCHANGE ? opCode : code[programCounter]
}

/**
 * Out of gas takes precedence over a forbidden operation in a static call, as in other EVMs and the specification; the library
 * checks in reverse order.
 */
function baseProblem(
  error: string,
  runState: ExecResult['runState'],
  hardfork: Hardfork,
): string | undefined {
  if (error !== 'static state change' || runState === undefined) return undefined
  const problem = stackProblem(runState, hardfork)
  if (problem !== undefined) return problem
  const { code, programCounter, gasLeft } = runState
  const operation = operationsAt(hardfork).get(code[programCounter] ?? 0)
  return operation !== undefined && gasLeft < operation.gas ? 'out of gas' : undefined
}

/** Stack errors take precedence over missing gas, as in the Yellow Paper; the library mostly checks gas first. */
function stackProblem(
  { opCode, code, programCounter, stack }: NonNullable<ExecResult['runState']>,
  hardfork: Hardfork,
): string | undefined {
  // once paid for, the operation is no longer at the counter
  const operation = code[programCounter] === opCode ? operationsAt(hardfork).get(opCode) : undefined
  if (operation === undefined) return undefined
  if (stack.length < operation.takes) return 'stack underflow'
  return stack.length - operation.takes + operation.leaves > STACK_LIMIT
    ? 'stack overflow'
    : undefined
}
