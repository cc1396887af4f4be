// Genesis contracts: the create2 deployer and the system contracts of each hardfork.
import { type Address, bytesFromHex } from '../core/hex.ts'
import { type Hardfork, isAtLeast } from '../protocol/forks.ts'

/** The sender of system calls; it has no key. */
export const SYSTEM_ADDRESS = '0xfffffffffffffffffffffffffffffffffffffffe' as Address

/** A contract with its runtime code on mainnet. */
export interface Predeploy {
  readonly address: Address
  readonly code: Uint8Array
}

/**
 * The deterministic deployment proxy. Its input is 32 bytes of salt, then init code; it returns the 20-byte address.
 * @see https://github.com/Arachnid/deterministic-deployment-proxy
 */
export const CREATE2_DEPLOYER: Predeploy = predeploy('0x4e59b44847b379578588920ca78fbf26c0b4956c', [
  '7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe03601600081602082378035828234f5',
  '8015156039578182fd5b8082525050506014600cf3',
])

/** Mainnet's deposit contract (EIP-6110), which other chains lack at genesis. */
export const DEPOSIT_CONTRACT: Address = '0x00000000219ab540356cbb839cbe05303d7705fa' as Address

/** Roots of recent beacon blocks by timestamp (EIP-4788), since cancun. */
export const BEACON_ROOTS: Predeploy = predeploy('0x000f3df6d732807ef1319fb7b8bb8522d0beac02', [
  '3373fffffffffffffffffffffffffffffffffffffffe14604d57602036146024575f5ffd5b5f35801560495762001fff',
  '810690815414603c575f5ffd5b62001fff01545f5260205ff35b5f5ffd5b62001fff42064281555f359062001fff0155',
  '00',
])

/** Hashes of the last 8,191 blocks (EIP-2935), since prague. */
export const HISTORY_STORAGE: Predeploy = predeploy('0x0000f90827f1c53a10cb7a02335b175320002935', [
  '3373fffffffffffffffffffffffffffffffffffffffe14604657602036036042575f35600143038111604257611fff81',
  '430311604257611fff9006545f5260205ff35b5f5ffd5b5f35611fff60014303065500',
])

/** The queue of withdrawal requests (EIP-7002), since prague. */
export const WITHDRAWAL_REQUESTS: Predeploy = predeploy(
  '0x00000961ef480eb55e80d19ad83579a64c007002',
  [
    '3373fffffffffffffffffffffffffffffffffffffffe1460cb5760115f54807fffffffffffffffffffffffffffffffff',
    'ffffffffffffffffffffffffffffffff146101f457600182026001905f5b5f8211156068578101908302848302900491',
    '6001019190604d565b909390049250505036603814608857366101f457346101f4575f5260205ff35b34106101f45760',
    '0154600101600155600354806003026004013381556001015f35815560010160203590553360601b5f5260385f601437',
    '604c5fa0600101600355005b6003546002548082038060101160df575060105b5f5b8181146101835782810160030260',
    '040181604c02815460601b8152601401816001015481526020019060020154807fffffffffffffffffffffffffffffff',
    'ff00000000000000000000000000000000168252906010019060401c908160381c81600701538160301c816006015381',
    '60281c81600501538160201c81600401538160181c81600301538160101c81600201538160081c816001015353600101',
    '60e1565b910180921461019557906002556101a0565b90505f6002555f6003555b5f54807fffffffffffffffffffffff',
    'ffffffffffffffffffffffffffffffffffffffffff14156101cd57505f5b6001546002828201116101e25750505f6101',
    'e8565b01600290035b5f555f600155604c025ff35b5f5ffd',
  ],
)

/** The queue of validator consolidations (EIP-7251), since prague. */
export const CONSOLIDATION_REQUESTS: Predeploy = predeploy(
  '0x0000bbddc7ce488642fb579f8b00f3a590007251',
  [
    '3373fffffffffffffffffffffffffffffffffffffffe1460d35760115f54807fffffffffffffffffffffffffffffffff',
    'ffffffffffffffffffffffffffffffff1461019a57600182026001905f5b5f8211156068578101908302848302900491',
    '6001019190604d565b9093900492505050366060146088573661019a573461019a575f5260205ff35b341061019a5760',
    '0154600101600155600354806004026004013381556001015f358155600101602035815560010160403590553360601b',
    '5f5260605f60143760745fa0600101600355005b6003546002548082038060021160e7575060025b5f5b818114610129',
    '5782810160040260040181607402815460601b8152601401816001015481526020018160020154815260200190600301',
    '54905260010160e9565b910180921461013b5790600255610146565b90505f6002555f6003555b5f54807fffffffffff',
    'ffffffffffffffffffffffffffffffffffffffffffffffffffffff141561017357505f5b600154600182820111610188',
    '5750505f61018e565b01600190035b5f555f6001556074025ff35b5f5ffd',
  ],
)

/** The queue of deposits of block builders (EIP-8282), since amsterdam. */
export const BUILDER_DEPOSITS: Predeploy = predeploy('0x0000bff46984e3725691fa540a8c7589300d8282', [
  '3373fffffffffffffffffffffffffffffffffffffffe1461011c575f54807fffffffffffffffffffffffffffffff',
  'ffffffffffffffffffffffffffffffffff146102705760015460088111605257506058565b60089003015b601190',
  '600182026001905f5b5f821115607f57810190830284830290049160010191906064565b90939004925050503660',
  'b814609f57366102705734610270575f5260205ff35b8034106102705760383567ffffffffffffffff1680633b9a',
  'ca001161027057633b9aca00029034031061027057600154600101600155600354806006026004015f3581556001',
  '01602035815560010160403581556001016060358155600101608035815560010160a035905560b85f5f3760b85f',
  'a0600101600355005b60035460025480820380604011610131575060405b5f5b8181146101d75782810160060260',
  '04018160b8028154815260200181600101548152602001816002015480825260401c67ffffffffffffffff168160',
  '10018160381c81600701538160301c81600601538160281c81600501538160201c81600401538160181c81600301',
  '538160101c81600201538160081c8160010153536020018160030154815260200181600401548152602001906005',
  '01549052600101610133565b91018092146101e957906002556101f4565b90505f6002555f6003555b3661024257',
  '5f54600154817fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff14610230576008',
  '82820111610238575b50505f610264565b0160089003610264565b7fffffffffffffffffffffffffffffffffffff',
  'ffffffffffffffffffffffffffff5b5f555f60015560b8025ff35b5f5ffd',
])

/** The queue of exits of block builders (EIP-8282), since amsterdam. */
export const BUILDER_EXITS: Predeploy = predeploy('0x000064d678505ad48f8ccb093bc65613800e8282', [
  '3373fffffffffffffffffffffffffffffffffffffffe1460e1575f54807fffffffffffffffffffffffffffffffff',
  'ffffffffffffffffffffffffffffffff146101c65760015460028111605157506057565b60029003015b60119060',
  '0182026001905f5b5f821115607e57810190830284830290049160010191906063565b9093900492505050366030',
  '14609e57366101c657346101c6575f5260205ff35b34106101c65760015460010160015560035480600302600401',
  '3381556001015f35815560010160203590553360601b5f5260305f60143760445fa0600101600355005b60035460',
  '02548082038060101160f5575060105b5f5b81811461012d5782810160030260040181604402815460601b815260',
  '1401816001015481526020019060020154905260010160f7565b910180921461013f579060025561014a565b9050',
  '5f6002555f6003555b36610198575f54600154817fffffffffffffffffffffffffffffffffffffffffffffffffff',
  'ffffffffffffff146101865760028282011161018e575b50505f6101ba565b01600290036101ba565b7fffffffff',
  'ffffffffffffffffffffffffffffffffffffffffffffffffffffffff5b5f555f6001556044025ff35b5f5ffd',
])

const FIRST_QUEUES: readonly Predeploy[] = [WITHDRAWAL_REQUESTS, CONSOLIDATION_REQUESTS]
const QUEUES: readonly Predeploy[] = [...FIRST_QUEUES, BUILDER_DEPOSITS, BUILDER_EXITS]

/** The queues of requests, in the order of their types from 1 on. */
export function queuesOf(hardfork: Hardfork): readonly Predeploy[] {
  if (!isAtLeast(hardfork, 'prague')) return []
  return isAtLeast(hardfork, 'amsterdam') ? QUEUES : FIRST_QUEUES
}

export function systemContracts(hardfork: Hardfork): readonly Predeploy[] {
  if (isAtLeast(hardfork, 'prague')) return [BEACON_ROOTS, HISTORY_STORAGE, ...queuesOf(hardfork)]
  return isAtLeast(hardfork, 'cancun') ? [BEACON_ROOTS] : []
}

export function predeploy(address: string, codeLines: readonly string[]): Predeploy {
  return { address: address as Address, code: bytesFromHex(`0x${codeLines.join('')}`) }
}
