// Why a frame of the library's EVM came to nothing, in the words of all machines.
import type { ExecResult } from '@ethereumjs/evm'
import type { Hardfork } from '../../protocol/forks.ts'
import type { Failure } from '../executor.ts'
import { operationsAt, STACK_LIMIT } from '../opcodes.ts'
import { describeHalt, describeRevert } from '../reasons.ts'

/** The failure of a frame; undefined when it held, as one of frontier does whose code could not be paid for. */
export function frameFailure(
  { exceptionError, returnValue, runState }: ExecResult,
  hardfork: Hardfork,
): Failure | undefined {
  if (exceptionError === undefined) return undefined
  const { error } = exceptionError
  // before homestead a contract whose code cannot be paid for is made without code
  if (error === 'code store out of gas') return undefined
  if (error === 'revert') return { kind: 'revert', reason: describeRevert(returnValue) }
  const isPoor = error === 'out of gas' && runState !== undefined
  const reason = isPoor ? stackProblem(runState, hardfork) : baseProblem(error, runState, hardfork)
  // within code that jumps the library does not tell which operation was invalid
  const opcode = runState?.code[runState.programCounter]
  return { kind: 'halt', reason: reason ?? describeHalt(error, opcode) }
}

/**
 * Want of gas for the base of an operation that a static call may not run: the library looks at the call first, other EVMs and
 * the specification look at the gas.
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

/**
 * What is wrong with the stack for an operation that could not be paid for: for most operations the library looks at the
 * gas first, where the yellow paper and other EVMs look at the stack.
 */
function stackProblem(
  { opCode, code, programCounter, stack }: NonNullable<ExecResult['runState']>,
  hardfork: Hardfork,
): string | undefined {
  // an operation that was paid for is no longer the one at the counter
  const operation = code[programCounter] === opCode ? operationsAt(hardfork).get(opCode) : undefined
  if (operation === undefined) return undefined
  if (stack.length < operation.takes) return 'stack underflow'
  return stack.length - operation.takes + operation.leaves > STACK_LIMIT
    ? 'stack overflow'
    : undefined
}
