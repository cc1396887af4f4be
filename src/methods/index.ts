// All methods by prefix.

import { adminMethods } from './admin.ts'
import { anvilAccountMethods } from './anvil/accounts.ts'
import { anvilChainMethods } from './anvil/chain.ts'
import { anvilMiningMethods } from './anvil/mining.ts'
import { anvilPoolMethods } from './anvil/pool.ts'
import type { Methods } from './common/context.ts'
import { dbMethods } from './db.ts'
import { debugChangesMethods } from './debug/changes.ts'
import { debugLookupMethods } from './debug/lookup.ts'
import { debugRawMethods } from './debug/raw.ts'
import { debugStateMethods } from './debug/state.ts'
import { debugTraceMethods } from './debug/trace.ts'
import { chainsMethods } from './devchain/chains.ts'
import { contractMethods } from './devchain/contracts.ts'
import { linkMethods } from './devchain/links.ts'
import { namesMethods } from './devchain/names.ts'
import { projectMethods } from './devchain/project.ts'
import { snapshotMethods } from './devchain/snapshots.ts'
import { accessListMethods } from './eth/accesslist.ts'
import { blockMethods } from './eth/block.ts'
import { bundleMethods } from './eth/bundles.ts'
import { callMethods } from './eth/call.ts'
import { chainMethods } from './eth/chain.ts'
import { configMethods } from './eth/config.ts'
import { feeMethods } from './eth/fees.ts'
import { filterMethods } from './eth/filters.ts'
import { sendMethods } from './eth/send.ts'
import { signMethods } from './eth/sign.ts'
import { simulateMethods } from './eth/simulate.ts'
import { stateMethods } from './eth/state.ts'
import { subscribeMethods } from './eth/subscribe.ts'
import { transactionMethods } from './eth/transaction.ts'
import { workMethods } from './eth/work.ts'
import { evmMethods } from './evm/commands.ts'
import { extMethods } from './ext.ts'
import { hardhatAccountMethods } from './hardhat/accounts.ts'
import { hardhatChainMethods } from './hardhat/chain.ts'
import { hardhatMiningMethods } from './hardhat/mining.ts'
import { minerMethods } from './miner.ts'
import { mnrMethods } from './mnr.ts'
import { netMethods } from './net.ts'
import { otsAccountMethods } from './ots/account.ts'
import { otsBlockMethods } from './ots/block.ts'
import { personalMethods } from './personal.ts'
import { rpcMethods } from './rpc.ts'
import { scoMethods } from './sco.ts'
import { shhMethods } from './shh.ts'
import { testingMethods } from './testing.ts'
import { traceCallMethods } from './trace/call.ts'
import { traceFrameMethods } from './trace/frames.ts'
import { traceReplayMethods } from './trace/replay.ts'
import { txpoolMethods } from './txpool.ts'
import { walletCallMethods } from './wallet/calls.ts'
import { web3Methods } from './web3.ts'

/** In the order of tables. */
export const methodsByPrefix: Readonly<Record<string, Methods>> = {
  web3: web3Methods,
  net: netMethods,
  eth: [
    ...chainMethods,
    ...configMethods,
    ...feeMethods,
    ...stateMethods,
    ...blockMethods,
    ...accessListMethods,
    ...transactionMethods,
    ...callMethods,
    ...sendMethods,
    ...simulateMethods,
    ...bundleMethods,
    ...signMethods,
    ...filterMethods,
    ...subscribeMethods,
    ...workMethods,
  ],
  mnr: mnrMethods,
  personal: personalMethods,
  evm: evmMethods,
  devchain: [
    ...snapshotMethods,
    ...chainsMethods,
    ...linkMethods,
    ...contractMethods,
    ...namesMethods,
    ...projectMethods,
  ],
  hardhat: [...hardhatAccountMethods, ...hardhatMiningMethods, ...hardhatChainMethods],
  anvil: [...anvilAccountMethods, ...anvilMiningMethods, ...anvilPoolMethods, ...anvilChainMethods],
  miner: minerMethods,
  testing: testingMethods,
  txpool: txpoolMethods,
  debug: [
    ...debugTraceMethods,
    ...debugStateMethods,
    ...debugChangesMethods,
    ...debugLookupMethods,
    ...debugRawMethods,
  ],
  trace: [...traceFrameMethods, ...traceReplayMethods, ...traceCallMethods],
  ots: [...otsAccountMethods, ...otsBlockMethods],
  wallet: walletCallMethods,
  ext: extMethods,
  sco: scoMethods,
  admin: adminMethods,
  rpc: rpcMethods,
  db: dbMethods,
  shh: shhMethods,
}

export const methods: Methods = Object.values(methodsByPrefix).flat()
