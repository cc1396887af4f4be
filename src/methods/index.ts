// All methods.
import { adminMethods } from './admin.ts'
import { anvilAccountMethods } from './anvil/accounts.ts'
import { anvilChainMethods } from './anvil/chain.ts'
import type { Methods } from './common/context.ts'
import { dbMethods } from './db.ts'
import { debugLookupMethods } from './debug/lookup.ts'
import { debugStateMethods } from './debug/state.ts'
import { debugTraceMethods } from './debug/trace.ts'
import { chainsMethods } from './devchain/chains.ts'
import { projectMethods } from './devchain/project.ts'
import { snapshotMethods } from './devchain/snapshots.ts'
import { blockMethods } from './eth/block.ts'
import { callMethods } from './eth/call.ts'
import { configMethods } from './eth/config.ts'
import { feeMethods } from './eth/fees.ts'
import { filterMethods } from './eth/filters.ts'
import { sendMethods } from './eth/send.ts'
import { workMethods } from './eth/work.ts'
import { evmMethods } from './evm/commands.ts'
import { extMethods } from './ext.ts'
import { firstMethods } from './first.ts'
import { hardhatMethods } from './hardhat/commands.ts'
import { minerMethods } from './miner.ts'
import { mnrMethods } from './mnr.ts'
import { otsMethods } from './ots/explorer.ts'
import { personalMethods } from './personal.ts'
import { rpcMethods } from './rpc.ts'
import { scoMethods } from './sco.ts'
import { shhMethods } from './shh.ts'
import { testingMethods } from './testing.ts'
import { traceMethods } from './trace/frames.ts'
import { txpoolMethods } from './txpool.ts'
import { walletCallMethods } from './wallet/calls.ts'

/** By prefix, in the order of tables. */
export const methods: Methods = [
  ...firstMethods,
  ...configMethods,
  ...feeMethods,
  ...blockMethods,
  ...callMethods,
  ...sendMethods,
  ...filterMethods,
  ...workMethods,
  ...mnrMethods,
  ...personalMethods,
  ...evmMethods,
  ...snapshotMethods,
  ...chainsMethods,
  ...projectMethods,
  ...hardhatMethods,
  ...anvilAccountMethods,
  ...anvilChainMethods,
  ...minerMethods,
  ...testingMethods,
  ...txpoolMethods,
  ...debugTraceMethods,
  ...debugStateMethods,
  ...debugLookupMethods,
  ...traceMethods,
  ...otsMethods,
  ...walletCallMethods,
  ...extMethods,
  ...scoMethods,
  ...adminMethods,
  ...rpcMethods,
  ...dbMethods,
  ...shhMethods,
]
