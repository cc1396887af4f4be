// hardhat: methods that are known by name, and serve no purpose here.
import type { Method } from '../../rpc/method.ts'
import type { MethodContext } from '../common/context.ts'
import { unsupported } from '../common/unsupported.ts'

const NO_STACK_TRACES =
  'stack traces of Solidity are put together by Hardhat, for the node within its own process'

export const hardhatUnsupportedMethods: readonly Method<MethodContext>[] = [
  unsupported('hardhat_getStackTraceFailuresCount', NO_STACK_TRACES),
]
