// A network of random blocks to fork: random programs, slots set and cleared, contracts that destroy themselves and come
// back, ether for old and new accounts, empty accounts, transactions that fail. The same in every run.
import { type Hex, hexFromBytes } from '../../../src/core/hex.ts'
import { createDevchain, type Devchain } from '../../../src/devchain.ts'
import type { Hardfork } from '../../../src/protocol/forks.ts'
import { Programs } from '../../fuzz/programs.ts'
import { Random } from '../../fuzz/random.ts'
import { assemble, deploying } from '../evm/bytecode.ts'
import { KEEPER_CODE, setting, type Upstream, word } from './upstream.ts'

export type UpstreamRequest = Upstream['ask']

/** How to ask a devchain. */
export function askOf(devchain: Devchain): UpstreamRequest {
  return (method, ...params) => devchain.request({ method, params })
}

/** Slots that transactions write to. */
const SLOTS = 14

/** Random programs that are there from the beginning, with slots. */
const PROGRAMS = 6

/** Accounts of which nothing is left but that they are there, as old networks have them. */
const EMPTY = 40

/** Destroys itself for who calls it without input; else it is a keeper of one slot. */
const MORTAL = `
  CALLDATASIZE @keep JUMPI
  CALLER SELFDESTRUCT
  keep: 32 CALLDATALOAD 0 CALLDATALOAD SSTORE STOP
`

/** Deploys the mortal by CREATE2, so that it comes back to its old address. */
const NURSE_SALT = word(7)

/** Where whoever calls with a salt and init code has it deployed. */
const CREATE2 = '0x4e59b44847b379578588920ca78fbf26c0b4956c'

const addressOf = (prefix: string, index: number): string =>
  `0x${prefix}${(index + 1).toString(16).padStart(38, '0')}`

/** The genesis: programs with slots, a keeper of many slots, empty accounts. */
function allocOf(random: Random, hardfork: Hardfork): Record<string, unknown> {
  const addresses = Array.from({ length: PROGRAMS }, (_, index) => addressOf('c0', index))
  const programs = new Programs({ random, hardfork, addresses })
  const contracts = addresses.map((address) => {
    const code = hexFromBytes(assemble(programs.program(random.between(8, 30)).join(' ')))
    const storage = Object.fromEntries(
      Array.from({ length: 20 }, (_, slot) => [`0x${word(slot)}`, `0x${word(random.below(300))}`]),
    )
    return [address, { balance: '0x100000', code, storage }] as const
  })
  const empty = Array.from({ length: EMPTY }, (_, index) => [
    addressOf('e0', index),
    { balance: '0x0' },
  ])
  return Object.fromEntries([...contracts, ...empty])
}

/** Makes random transactions. */
class Traffic {
  readonly #random: Random
  readonly #programs: Programs
  readonly #accounts: readonly string[]
  readonly #contracts: string[]

  constructor(random: Random, hardfork: Hardfork, accounts: readonly string[]) {
    const addresses = Array.from({ length: PROGRAMS }, (_, index) => addressOf('c0', index))
    this.#random = random
    this.#programs = new Programs({ random, hardfork, addresses })
    this.#accounts = accounts
    this.#contracts = [...addresses]
  }

  note(contract: string): void {
    this.#contracts.push(contract)
  }

  /** One request of `eth_sendTransaction`. */
  next(): Record<string, unknown> {
    const random = this.#random
    const from = random.pick(this.#accounts)
    const to = random.pick(this.#contracts)
    const gas = random.percent(10) ? '0x6000' : '0x60000'
    return random.weighted<() => Record<string, unknown>>([
      [3, () => ({ from, data: KEEPER_CODE, gas: '0x200000' })],
      [3, () => ({ from, data: this.#program(), gas: '0x200000' })],
      [3, () => ({ from, data: hexFromBytes(deploying(assemble(MORTAL))), gas: '0x200000' })],
      [3, () => this.#reborn(from)],
      [
        4,
        () => ({
          from,
          to: addressOf('a0', random.below(200)),
          value: hex(random.below(900)),
          gas,
        }),
      ],
      [3, () => ({ from, to: addressOf('e0', random.below(EMPTY)), value: '0x0', gas })],
      [8, () => ({ from, to, gas })],
      [8, () => ({ from, to, data: `0x${random.digits(random.below(70))}`, gas })],
      [20, () => ({ from, to, data: setting(random.below(SLOTS), random.below(1_000)), gas })],
      [12, () => ({ from, to, data: setting(random.below(SLOTS), 0), gas })],
    ])()
  }

  #program(): Hex {
    const length = this.#random.between(3, 20)
    return hexFromBytes(deploying(assemble(this.#programs.program(length).join(' '))))
  }

  #reborn(from: string): Record<string, unknown> {
    const init = hexFromBytes(deploying(assemble(MORTAL))).slice(2)
    return { from, to: CREATE2, data: `0x${NURSE_SALT}${init}`, gas: '0x200000' }
  }
}

function hex(value: number): string {
  return `0x${value.toString(16)}`
}

/** Starts a network and grows it by so many blocks. */
export async function randomNetwork(blocks: number, hardfork: Hardfork): Promise<Devchain> {
  const random = new Random(19)
  const network = await createDevchain({
    clock: 'step:12',
    chainId: 77,
    accounts: 7,
    hardfork,
    genesis: { alloc: allocOf(random, hardfork) },
  })
  const ask = askOf(network)
  const accounts = (await ask('eth_accounts')) as readonly string[]
  const traffic = new Traffic(random, hardfork, accounts.slice(0, 5))
  if ((await ask('eth_getCode', CREATE2)) === '0x') throw new Error('nobody deploys by CREATE2')
  await ask('evm_setAutomine', false)
  for (let block = 0; block < blocks; block++) {
    for (let count = random.below(6); count > 0; count--) {
      await ask('eth_sendTransaction', traffic.next())
    }
    await ask('evm_mine')
    const receipts = (await ask('eth_getBlockReceipts', 'latest')) as {
      contractAddress: string | null
    }[]
    for (const { contractAddress } of receipts) {
      if (contractAddress !== null) traffic.note(contractAddress)
    }
  }
  return network
}
