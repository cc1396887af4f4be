// The methods that clients call first. A chain starts with these, and loads all (index.ts) on the first other call.
import type { Method } from '../rpc/method.ts'
import type { MethodContext } from './common/context.ts'
import { chainMethods } from './eth/chain.ts'
import { stateMethods } from './eth/state.ts'
import { netMethods } from './net.ts'
import { web3Methods } from './web3.ts'

export const firstMethods: readonly Method<MethodContext>[] = [
  ...web3Methods,
  ...netMethods,
  ...chainMethods,
  ...stateMethods,
]
