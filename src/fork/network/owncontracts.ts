// Contracts that are part of a network's own nodes, and so cannot be fetched: what is told of them when something calls them.
import type { Address } from '../../core/hex.ts'
import { INVALID, OP } from '../../evm/opcodes.ts'

type Names = Readonly<Record<string, string>>

/** @see https://docs.arbitrum.io/build-decentralized-apps/precompiles/reference, OffchainLabs/go-ethereum core/types */
const ARBITRUM: Names = {
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

/** @see https://docs.celo.org/specs/token-duality: CELO is moved by it */
const CELO: Names = { fd: 'transfer of CELO' }

/** @see https://github.com/base/base-std: StdPrecompiles */
const BASE: Names = {
  b20f000000000000000000000000000000000000: 'B20 factory',
  '8453000000000000000000000000000000000001': 'activation registry',
  '8453000000000000000000000000000000000002': 'policy registry',
  '813000000000000000000000000000000000aa01': 'nonce manager',
  '813000000000000000000000000000000000aa02': 'transaction context',
}

/** B20 tokens of Base have addresses that begin so. */
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

type Network = readonly [network: string, names: Names]

/** Any network of it, whose blocks tell of those of the network below: Arbitrum One, Nova, and others made of the same. */
const OF_ARBITRUM: Network = ['Arbitrum', ARBITRUM]

const BY_CHAIN: ReadonlyMap<bigint, Network> = new Map<bigint, Network>([
  [56n, ['BNB Smart Chain', BSC]],
  [97n, ['BNB Smart Chain', BSC]],
  [1_284n, ['Moonbeam', MOONBEAM]],
  [1_285n, ['Moonbeam', MOONBEAM]],
  [1_287n, ['Moonbeam', MOONBEAM]],
  [295n, ['Hedera', HEDERA]],
  [296n, ['Hedera', HEDERA]],
  [42_220n, ['Celo', CELO]],
  [44_787n, ['Celo', CELO]],
  [11_142_220n, ['Celo', CELO]],
  [8_453n, ['Base', BASE]],
  [84_532n, ['Base', BASE]],
  [999n, ['HyperEVM', HYPEREVM]],
  [998n, ['HyperEVM', HYPEREVM]],
  [143n, ['Monad', MONAD]],
  [10_143n, ['Monad', MONAD]],
  [1_329n, ['Sei', SEI]],
  [1_328n, ['Sei', SEI]],
  [30n, ['Rootstock', ROOTSTOCK]],
  [31n, ['Rootstock', ROOTSTOCK]],
])

/** What networks show as the code of such contracts: INVALID (Arbitrum), ADD (Subnet-EVM of Avalanche). Neither can run. */
const MARKS: ReadonlyMap<number, string> = new Map([
  [INVALID, 'INVALID'],
  [OP.ADD, 'ADD'],
])

/**
 * What a user should know when an account is used that is code of its network's nodes.
 * @param isArbitrum true where blocks tell of those of a network below
 * @returns undefined for any other account
 */
export function ownContractNotice(
  chainId: bigint,
  isArbitrum: boolean,
  address: Address,
  code: Uint8Array,
): string | undefined {
  const [network, names] = (isArbitrum ? OF_ARBITRUM : BY_CHAIN.get(chainId)) ?? []
  const isToken = names === BASE && address.startsWith(B20_TOKENS)
  const name = isToken ? 'a B20 token' : names?.[address.slice(2).replace(/^0+/, '')]
  if (name !== undefined) {
    return `${address} is ${name}, a contract of ${network} that is code of its nodes: calls of it do not what they do there`
  }
  const mark = code.length === 1 ? MARKS.get(code[0]!) : undefined
  if (mark === undefined) return undefined
  return `${address} has ${mark} as its only code, by which networks mark contracts that are code of their nodes: calls of it fail here`
}

/** True where such contracts have other addresses than low ones. */
export function hasHighContracts(chainId: bigint): boolean {
  return BY_CHAIN.get(chainId)?.[1] === BASE
}

/** How a contract of Arbitrum is called. */
export function nameOfArbitrum(address: Address): string {
  return ARBITRUM[address.slice(2).replace(/^0+/, '')] ?? address
}

export const ARBSYS: Address = `0x${'64'.padStart(40, '0')}` as Address
