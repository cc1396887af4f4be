// The reference machine, on @ethereumjs/evm: slow and complete. Tests compare the other machines with it.
import type { EVM, EVMResult, EVMRunCallOpts, Log as LibraryLog, Message } from '@ethereumjs/evm'
import { CONSOLE_ADDRESS } from '../../core/abi.ts'
import {
  type Address,
  addressFromBytes,
  type Hash,
  type Hex,
  hashFromBytes,
} from '../../core/hex.ts'
import type { Log } from '../../protocol/blocks/receipt.ts'
import { isAtLeast } from '../../protocol/forks.ts'
import type { AccessListEntry } from '../../protocol/transactions/transaction.ts'
import type { BlockEnvironment, Failure, GasNeed } from '../executor.ts'
import { type Machine, type MachineJob, type MachineResult, PRECOMPILE_REASON } from '../machine.ts'
import { frameFailure } from './exceptionalhalts.ts'
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
  const detach = [attachConsole(evm, job), attachTracer(evm, job)]
  const result = await evm.runCall(callOf(job, block))
  for (const each of detach) each()
  const { execResult } = result
  return {
    failure: failureOf(evm, job, result),
    gasUsed: execResult.executionGasUsed,
    gasNeed: needOf(result),
    refund: execResult.gasRefund ?? 0n,
    output: execResult.returnValue,
    logs: (execResult.logs ?? []).map(logOf),
    created:
      result.createdAddress === undefined
        ? undefined
        : addressFromBytes(result.createdAddress.bytes),
    destroyed: destroyedBy(result, job.block),
    touched: touchedBy(evm),
    accessed: accessedBy(evm),
    isAlone: false,
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

function failureOf(
  { precompiles }: EVM,
  { block, message: { to } }: MachineJob,
  { execResult }: EVMResult,
): Failure | undefined {
  const error = execResult.exceptionError?.error
  const isPrecompile = to !== null && precompiles.has(to.slice(2))
  // the library has an error for each, and reverts for some
  if (isPrecompile && error !== undefined && error !== 'out of gas') {
    return { kind: 'halt', reason: PRECOMPILE_REASON }
  }
  return frameFailure(execResult, block.hardfork)
}

/** The library does not measure it, but operations without cost do not read the gas either. */
function needOf({ execResult }: EVMResult): GasNeed | undefined {
  const isFree = execResult.executionGasUsed === 0n && execResult.exceptionError === undefined
  return isFree ? { gas: 0n, isCertain: true } : undefined
}

function logOf([address, topics, data]: LibraryLog): Log {
  return { address: addressFromBytes(address), topics: topics.map(hashFromBytes), data }
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
