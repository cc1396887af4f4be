// Every method that is answered, in the order of tables.
import type { Method } from '../rpc/method.ts'
import { testingBlobMethods } from './anvil/blobs.ts'
import { testingChainMethods } from './anvil/chain.ts'
import { testingPoolMethods } from './anvil/pool.ts'
import { testingSignatureMethods } from './anvil/signatures.ts'
import { testingTokenMethods } from './anvil/tokens.ts'
import type { MethodContext } from './common/context.ts'
import { unsupportedMethods } from './common/unsupported.ts'
import { debugChangesMethods } from './debug/changes.ts'
import { debugLookupMethods } from './debug/lookup.ts'
import { debugStateMethods } from './debug/state.ts'
import { debugMethods } from './debug/trace.ts'
import { debugWitnessMethods } from './debug/witness.ts'
import { reorganizeMethods } from './devchain/reorg.ts'
import { snapshotMethods } from './devchain/snapshots.ts'
import { blockMethods } from './eth/block.ts'
import { bundleMethods } from './eth/bundles.ts'
import { executeMethods } from './eth/call.ts'
import { chainMethods } from './eth/chain.ts'
import { configMethods } from './eth/config.ts'
import { feeMethods } from './eth/fees.ts'
import { filterMethods } from './eth/filters.ts'
import { proofMethods } from './eth/proof.ts'
import { conditionalMethods } from './eth/send.ts'
import { fillMethods } from './eth/sendsync.ts'
import { signMethods } from './eth/sign.ts'
import { simulateMethods } from './eth/simulate.ts'
import { stateMethods } from './eth/state.ts'
import { subscribeMethods } from './eth/subscribe.ts'
import { transactionMethods } from './eth/transaction.ts'
import { workMethods } from './eth/work.ts'
import { evmMethods } from './evm/mining.ts'
import { rawMethods } from './ext.ts'
import { testingAccountMethods } from './hardhat/accounts.ts'
import { testingMiningMethods } from './hardhat/mining.ts'
import { mnrMethods } from './mnr.ts'
import { netMethods } from './net.ts'
import { otsMethods } from './ots/transaction.ts'
import { personalMethods } from './personal.ts'
import { rpcMethods } from './rpc.ts'
import { buildBlockMethods } from './testing.ts'
import { traceMethods } from './trace/frames.ts'
import { traceOpcodeMethods } from './trace/opcodegas.ts'
import { txpoolMethods } from './txpool.ts'
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
