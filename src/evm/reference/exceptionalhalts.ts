// Translates failures of the library's EVM to those of all machines.
import type { ExecResult } from '@ethereumjs/evm'
import type { Hardfork } from '../../protocol/forks.ts'
import type { Failure } from '../executor.ts'
import { operationsAt, STACK_LIMIT } from '../opcodes.ts'
import { describeHalt, describeRevert } from '../reasons.ts'

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
  const opcode = runState?.code[runState.programCounter]
  return { kind: 'halt', reason: reason ?? describeHalt(error, opcode) }
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
