// Contracts that are built into a network's nodes and have no code to fetch, and the warnings about them.
import type { Address } from '../../core/hex.ts'
import { INVALID, OP } from '../../evm/opcodes.ts'

type Names = Readonly<Record<string, string>>

/** @see https://docs.arbitrum.io/build-decentralized-apps/precompiles/reference, OffchainLabs/go-ethereum core/types */
export const ARBITRUM: Names = {
  '64': 'ArbSys',
  '65': 'ArbInfo',
  '66': 'ArbAddressTable',
  '67': 'ArbBLS',
  '68': 'ArbFunctionTable',
  '69': 'ArbosTest',
  '6b': 'ArbOwnerPublic',
  '6c': 'ArbGasInfo',
  '6d': 'ArbAggregator',
  '6e': 'ArbRetryableTx',
  '6f': 'ArbStatistics',
  '70': 'ArbOwner',
  '71': 'ArbWasm',
  '72': 'ArbWasmCache',
  '73': 'ArbNativeTokenManager',
  '74': 'ArbFilteredTransactionsManager',
  c8: 'NodeInterface',
  c9: 'NodeInterfaceDebug',
  ff: 'ArbDebug',
  a4b05: 'ArbosActs',
}

/** @see https://github.com/bnb-chain/bsc/blob/master/core/vm/contracts.go */
const BSC: Names = {
  '64': 'tmHeaderValidate',
  '65': 'iavlMerkleProofValidate',
  '66': 'blsSignatureVerify',
  '67': 'cometBFTLightBlockValidate',
  '68': 'verifyDoubleSignEvidence',
  '69': 'secp256k1SignatureRecover',
}

/** @see https://github.com/moonbeam-foundation/moonbeam/blob/master/runtime/moonbase/src/precompiles.rs */
const MOONBEAM: Names = {
  '400': 'sha3FIPS256',
  '401': 'dispatch',
  '402': 'ecrecoverPublicKey',
  '800': 'staking',
  '801': 'crowdloan rewards',
  '802': 'the native token as ERC-20',
  '803': 'democracy',
  '804': 'xTokens',
  '805': 'relay encoder',
  '806': 'xcm transactor',
  '807': 'author mapping',
  '808': 'batch',
  '809': 'randomness',
  '80a': 'call permit',
  '80b': 'proxy',
  '80c': 'xcm utilities',
  '80d': 'xcm transactor',
  '80e': 'council',
  '80f': 'technical committee',
  '810': 'treasury council',
  '811': 'referenda',
  '812': 'conviction voting',
  '813': 'preimage',
  '814': 'open technical committee',
  '815': 'the registry of precompiles',
  '816': 'general message passing',
  '817': 'xcm transactor',
  '818': 'identity',
  '819': 'relay data verifier',
  '81a': 'xcm',
}

/** @see https://docs.hedera.com/hedera/core-concepts/smart-contracts/system-smart-contracts */
const HEDERA: Names = {
  '167': 'token service',
  '168': 'exchange rate',
  '169': 'random numbers',
  '16a': 'account service',
  '16b': 'schedule service',
}

/** @see https://docs.celo.org/specs/token-duality: moves CELO */
const CELO: Names = { fd: 'transfer of CELO' }

/** @see https://github.com/base/base-std: StdPrecompiles */
const BASE: Names = {
  b20f000000000000000000000000000000000000: 'B20 factory',
  '8453000000000000000000000000000000000001': 'activation registry',
  '8453000000000000000000000000000000000002': 'policy registry',
  '813000000000000000000000000000000000aa01': 'nonce manager',
  '813000000000000000000000000000000000aa02': 'transaction context',
}

/** The prefix of B20 token addresses on Base. */
const B20_TOKENS = `0xb2${'0'.repeat(18)}`

/** @see https://hyperliquid.gitbook.io/hyperliquid-docs: L1Read.sol, which reads HyperCore */
const HYPEREVM: Names = {
  '800': 'position',
  '801': 'spotBalance',
  '802': 'userVaultEquity',
  '803': 'withdrawable',
  '804': 'delegations',
  '805': 'delegatorSummary',
  '806': 'markPx',
  '807': 'oraclePx',
  '808': 'spotPx',
  '809': 'l1BlockNumber',
  '80a': 'perpAssetInfo',
  '80b': 'spotInfo',
  '80c': 'tokenInfo',
  '80d': 'tokenSupply',
  '80e': 'bbo',
  '80f': 'accountMarginSummary',
  '810': 'coreUserExists',
  ...Object.fromEntries(['811', '812', '813', '814'].map((at) => [at, 'a read of HyperCore'])),
}

/** @see https://docs.monad.xyz/developer-essentials/precompiles */
const MONAD: Names = { '1000': 'staking', '1001': 'reserve balance' }

/** @see https://github.com/sei-protocol/sei-chain/tree/main/precompiles */
const SEI: Names = {
  '1001': 'bank',
  '1002': 'wasmd',
  '1003': 'json',
  '1004': 'addr',
  '1005': 'staking',
  '1006': 'gov',
  '1007': 'distribution',
  '1008': 'oracle',
  '1009': 'ibc',
  '100a': 'pointerview',
  '100b': 'pointer',
}

/** @see https://github.com/rsksmart/rskj/blob/master/rskj-core/src/main/java/org/ethereum/vm/PrecompiledContracts.java */
const ROOTSTOCK: Names = {
  '1000006': 'Bridge',
  '1000008': 'Remasc',
  '1000009': 'HDWalletUtils',
  '1000010': 'BlockHeader',
  '1000011': 'Environment',
}

type NodeContracts = readonly [network: string, names: Names, ...chainIds: bigint[]]

/** Any Arbitrum chain (One, Nova, Orbit), recognized by the L1 numbers in its blocks. */
const OF_ARBITRUM: NodeContracts = ['Arbitrum', ARBITRUM]

const NETWORKS: readonly NodeContracts[] = [
  ['BNB Smart Chain', BSC, 56n, 97n],
  ['Moonbeam', MOONBEAM, 1_284n, 1_285n, 1_287n],
  ['Hedera', HEDERA, 295n, 296n],
  ['Celo', CELO, 42_220n, 44_787n, 11_142_220n],
  ['Base', BASE, 8_453n, 84_532n],
  ['HyperEVM', HYPEREVM, 999n, 998n],
  ['Monad', MONAD, 143n, 10_143n],
  ['Sei', SEI, 1_329n, 1_328n],
  ['Rootstock', ROOTSTOCK, 30n, 31n],
]

/** Placeholder code of such contracts: INVALID (Arbitrum), ADD (Avalanche's Subnet-EVM). Neither can run. */
const MARKS: ReadonlyMap<number, string> = new Map([
  [INVALID, 'INVALID'],
  [OP.ADD, 'ADD'],
])

/** @param isArbitrum true if blocks have L1 numbers */
export function ownContractNotice(
  chainId: bigint,
  isArbitrum: boolean,
  address: Address,
  code: Uint8Array,
): string | undefined {
  const known = NETWORKS.find(([, , ...chainIds]) => chainIds.includes(chainId))
  const [network, names] = (isArbitrum ? OF_ARBITRUM : known) ?? []
  const isToken = names === BASE && address.startsWith(B20_TOKENS)
  const name = isToken ? 'a B20 token' : names?.[address.slice(2).replace(/^0+/, '')]
  if (name !== undefined) {
    return `${address} is ${name}, which is built into the nodes of ${network}: calls to it behave differently here`
  }
  const mark = code.length === 1 ? MARKS.get(code[0]!) : undefined
  if (mark === undefined) return undefined
  return `${address} has only ${mark} as code, as contracts have that are built into a network's nodes: calls to it fail here`
}

export const ARBSYS: Address = `0x${'64'.padStart(40, '0')}` as Address
