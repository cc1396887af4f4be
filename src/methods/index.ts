// Every method that is answered, in the order of tables.
import type { Method } from '../rpc/method.ts'
import type { MethodContext } from './context.ts'
import { debugMethods } from './debug.ts'
import { debugChangesMethods } from './debugchanges.ts'
import { debugLookupMethods } from './debuglookup.ts'
import { debugStateMethods } from './debugstate.ts'
import { debugWitnessMethods } from './debugwitness.ts'
import { blockMethods } from './eth/block.ts'
import { bundleMethods } from './eth/bundles.ts'
import { chainMethods } from './eth/chain.ts'
import { conditionalMethods } from './eth/conditional.ts'
import { configMethods } from './eth/config.ts'
import { executeMethods } from './eth/execute.ts'
import { feeMethods } from './eth/fees.ts'
import { fillMethods } from './eth/fill.ts'
import { filterMethods } from './eth/filters.ts'
import { proofMethods } from './eth/proof.ts'
import { signMethods } from './eth/sign.ts'
import { simulateMethods } from './eth/simulate.ts'
import { stateMethods } from './eth/state.ts'
import { subscribeMethods } from './eth/subscribe.ts'
import { transactionMethods } from './eth/transaction.ts'
import { workMethods } from './eth/work.ts'
import { evmMethods } from './evm.ts'
import { mnrMethods } from './mnr.ts'
import { netMethods } from './net.ts'
import { otsMethods } from './ots.ts'
import { personalMethods } from './personal.ts'
import { rawMethods } from './raw.ts'
import { reorganizeMethods } from './reorganize.ts'
import { rpcMethods } from './rpc.ts'
import { snapshotMethods } from './snapshots.ts'
import { testingAccountMethods } from './testing/accounts.ts'
import { testingBlobMethods } from './testing/blobs.ts'
import { buildBlockMethods } from './testing/buildblock.ts'
import { testingChainMethods } from './testing/chain.ts'
import { testingMiningMethods } from './testing/mining.ts'
import { testingPoolMethods } from './testing/pool.ts'
import { testingSignatureMethods } from './testing/signatures.ts'
import { testingTokenMethods } from './testing/tokens.ts'
import { traceMethods } from './trace.ts'
import { traceOpcodeMethods } from './traceopcodes.ts'
import { txpoolMethods } from './txpool.ts'
import { unsupportedMethods } from './unsupported.ts'
import { web3Methods } from './web3.ts'

export const methods: readonly Method<MethodContext>[] = [
  ...web3Methods,
  ...netMethods,
  ...chainMethods,
  ...configMethods,
  ...feeMethods,
  ...stateMethods,
  ...proofMethods,
  ...blockMethods,
  ...transactionMethods,
  ...executeMethods,
  ...conditionalMethods,
  ...simulateMethods,
  ...bundleMethods,
  ...fillMethods,
  ...signMethods,
  ...filterMethods,
  ...subscribeMethods,
  ...workMethods,
  ...mnrMethods,
  ...personalMethods,
  ...evmMethods,
  ...snapshotMethods,
  ...reorganizeMethods,
  ...testingAccountMethods,
  ...testingSignatureMethods,
  ...testingTokenMethods,
  ...testingMiningMethods,
  ...testingPoolMethods,
  ...testingBlobMethods,
  ...testingChainMethods,
  ...buildBlockMethods,
  ...txpoolMethods,
  ...debugMethods,
  ...debugStateMethods,
  ...debugChangesMethods,
  ...debugLookupMethods,
  ...debugWitnessMethods,
  ...traceMethods,
  ...traceOpcodeMethods,
  ...otsMethods,
  ...rawMethods,
  ...rpcMethods,
  ...unsupportedMethods,
]
