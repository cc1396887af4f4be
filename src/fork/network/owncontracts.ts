// Contracts that are part of a network's own nodes, and so cannot be fetched: what is told of them when something calls them.
import type { Address } from '../../core/hex.ts'
import { INVALID } from '../../evm/opcodes.ts'

type Names = Readonly<Record<string, string>>

/** @see https://docs.arbitrum.io/build-decentralized-apps/precompiles/reference */
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
  c8: 'NodeInterface',
  ff: 'ArbDebug',
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

/** @see https://docs.moonbeam.network/builders/ethereum/precompiles/overview/ */
const MOONBEAM: Names = {
  '400': 'dispatch',
  '401': 'sha3FIPS256',
  '402': 'ecrecoverPublicKey',
  '800': 'staking',
  '802': 'the native token as ERC-20',
  '804': 'xTokens',
  '805': 'relay encoder',
  '806': 'xcm transactor',
  '808': 'batch',
  '80a': 'call permit',
  '80b': 'proxy',
}

/** @see https://docs.hedera.com/hedera/core-concepts/smart-contracts/system-smart-contracts */
const HEDERA: Names = { '167': 'token service', '168': 'exchange rate', '169': 'random numbers' }

/** @see https://docs.celo.org/build-on-celo/build-with-local-developers: CELO is moved by it */
const CELO: Names = { fd: 'transfer of CELO' }

const BY_CHAIN: ReadonlyMap<bigint, readonly [network: string, names: Names]> = new Map([
  [42_161n, ['Arbitrum', ARBITRUM]],
  [42_170n, ['Arbitrum', ARBITRUM]],
  [421_614n, ['Arbitrum', ARBITRUM]],
  [56n, ['BNB Smart Chain', BSC]],
  [97n, ['BNB Smart Chain', BSC]],
  [1_284n, ['Moonbeam', MOONBEAM]],
  [1_285n, ['Moonbeam', MOONBEAM]],
  [1_287n, ['Moonbeam', MOONBEAM]],
  [295n, ['Hedera', HEDERA]],
  [296n, ['Hedera', HEDERA]],
  [42_220n, ['Celo', CELO]],
])

/**
 * What a user should know when an account is used that is code of its network's nodes.
 * @returns undefined for any other account
 */
export function ownContractNotice(
  chainId: bigint,
  address: Address,
  code: Uint8Array,
): string | undefined {
  const [network, names] = BY_CHAIN.get(chainId) ?? []
  const name = names?.[address.slice(2).replace(/^0+/, '')]
  if (name !== undefined) {
    const rest = standsIn(chainId, address)
      ? 'of its functions only arbBlockNumber and arbChainID are here, others fail'
      : 'calls of it do not what they do there'
    return `${address} is ${name}, a contract of ${network} that is code of its nodes: ${rest}`
  }
  if (code.length !== 1 || code[0] !== INVALID) return undefined
  return `${address} has INVALID as its only code, by which networks mark contracts that are code of their nodes: calls of it fail here`
}

export const ARBSYS: Address = `0x${'64'.padStart(40, '0')}` as Address

function standsIn(chainId: bigint, address: Address): boolean {
  return address === ARBSYS && BY_CHAIN.get(chainId)?.[1] === ARBITRUM
}
