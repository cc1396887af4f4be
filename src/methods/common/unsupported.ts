// Methods that are known by name and answered with the reason why they are not supported: those that the specification
// lists as such, and a few of other nodes whose purpose nothing here could serve.
import { DevchainError } from '../../core/errors.ts'
import type { Method } from '../../rpc/method.ts'
import { nothing } from '../../rpc/primitives.ts'
import { type MethodContext, method } from './context.ts'

const REASONS: Readonly<Record<string, readonly string[]>> = {
  'compilers are deliberately not included in the node': [
    'eth_getCompilers',
    'eth_compileLLL',
    'eth_compileSolidity',
    'eth_compileSerpent',
  ],
  deprecated: ['db_putString', 'db_getString', 'db_putHex', 'db_getHex'],
  'the whisper messaging protocol is not supported': [
    'shh_post',
    'shh_version',
    'shh_newIdentity',
    'shh_hasIdentity',
    'shh_newGroup',
    'shh_addToGroup',
    'shh_newFilter',
    'shh_uninstallFilter',
    'shh_getFilterChanges',
    'shh_getMessages',
  ],
  'this chain is no fork of another network, whose URL could be changed': [
    'anvil_setRpcUrl',
    'hardhat_setRpcUrl',
  ],
  'stack traces of Solidity are put together by Hardhat, for the node within its own process': [
    'hardhat_addCompilationResult',
    'hardhat_getStackTraceFailuresCount',
  ],
}

function unsupported(name: string, reason: string): Method<MethodContext> {
  const refused = method({
    name,
    summary: `Not supported: ${reason}.`,
    params: [],
    result: nothing,
    example: { params: [] },
    handle: () => {
      throw new DevchainError('METHOD_NOT_SUPPORTED', `${name} is not supported: ${reason}`)
    },
  })
  return { ...refused, unsupported: reason }
}

export const unsupportedMethods: readonly Method<MethodContext>[] = Object.entries(REASONS).flatMap(
  ([reason, names]) => names.map((name) => unsupported(name, reason)),
)
