// Random loops whose values no compiler knows in advance: words that live on the stack from round to round, and that each
// round computes anew from one another, from memory and from storage. Their rounds are many enough to be compiled.
import type { Address } from '../../src/core/hex.ts'
import { HARDFORKS, type Hardfork, isAtLeast } from '../../src/protocol/forks.ts'
import type { Case, CaseMessage } from './cases.ts'
import { Random } from './random.ts'

const CONTRACT = `0x${'aa'.repeat(20)}` as Address

/** The case of a seed: a contract with a loop, called with enough gas and with too little. */
export function loopCaseOf(seed: number): Case {
  const random = new Random(seed)
  const hardfork = random.percent(70) ? 'osaka' : random.pick(HARDFORKS)
  return {
    name: `loop ${seed}`,
    hardfork,
    baseFee: 0,
    coinbase: `0x${'c0'.repeat(20)}` as Address,
    accounts: [
      {
        address: CONTRACT,
        balance: '5',
        nonce: 1,
        code: new Loops(random, hardfork).program(),
        storage: { 0: '7', 2: String(random.below(1000)) },
      },
    ],
    messages: [20_000_000, random.between(30_000, 200_000), random.between(30_000, 2_000_000)].map(
      (gas) => messageOf(random, gas),
    ),
  }
}

function messageOf(random: Random, gas: number): CaseMessage {
  return {
    kind: 'call',
    to: CONTRACT,
    value: '0',
    data: `0x${random.digits(80)}`,
    code: [],
    gas,
    accessList: [],
    delegations: [],
  }
}

/** Words that begin as such are worth a look at their limbs. */
const EDGES: readonly string[] = [
  ...['0', '1', '2', '31', '255', '256', '0x7f', '0xffffffff', '0x100000000'],
  ...['0x7fffffffffffffff', '0x8000000000000000', '0xffffffffffffffff', '0x10000000000000000'],
  `0x${'ff'.repeat(16)}`,
  `0x1${'00'.repeat(16)}`,
  `0x${'ff'.repeat(24)}`,
  `0x80${'00'.repeat(31)}`,
  `0x7f${'ff'.repeat(31)}`,
  `0x${'ff'.repeat(32)}`,
  '0x30644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd47',
]

const UNARY: readonly (readonly [string, Hardfork])[] = [
  ...['ISZERO', 'NOT', '0xffff AND', '0xffffffffffffffff AND'].map(
    (name) => [name, 'frontier'] as const,
  ),
  ['CLZ', 'osaka'],
  ['128 SHR', 'constantinople'],
  ['65 SHL', 'constantinople'],
]

const BINARY: readonly (readonly [string, Hardfork])[] = [
  ...['ADD', 'MUL', 'SUB', 'DIV', 'SDIV', 'MOD', 'SMOD', 'SIGNEXTEND', 'LT', 'GT', 'SLT'].map(
    (name) => [name, 'frontier'] as const,
  ),
  ...['SGT', 'EQ', 'AND', 'OR', 'XOR', 'BYTE', '7 AND EXP'].map(
    (name) => [name, 'frontier'] as const,
  ),
  ...['SHL', 'SHR', 'SAR', '0xff AND SHL', '0xff AND SHR', '0xff AND SAR'].map(
    (name) => [name, 'constantinople'] as const,
  ),
]

const SOURCES: readonly (readonly [string, Hardfork])[] = [
  ...['ADDRESS', 'CALLER', 'CALLVALUE', 'CALLDATASIZE', 'CODESIZE', 'MSIZE', 'GAS', 'PC'].map(
    (name) => [name, 'frontier'] as const,
  ),
  ...['TIMESTAMP', 'NUMBER', 'COINBASE', 'GASLIMIT', 'ORIGIN', 'GASPRICE'].map(
    (name) => [name, 'frontier'] as const,
  ),
  ['RETURNDATASIZE', 'byzantium'],
  ['SELFBALANCE', 'istanbul'],
  ['BASEFEE', 'london'],
]

export class Loops {
  readonly #random: Random
  readonly #hardfork: Hardfork
  #labels = 0
  /** Words on the stack that live from round to round; above them stand counters, and what is being computed. */
  #kept = 0
  #above = 0

  constructor(random: Random, hardfork: Hardfork) {
    this.#random = random
    this.#hardfork = hardfork
  }

  /** Lines for the assembler: the words, a loop, and the end, which returns all of memory. */
  program(): string[] {
    const random = this.#random
    this.#kept = random.between(2, 7)
    const words = Array.from({ length: this.#kept }, () => this.#number())
    const ends = words.map((_, index) => `${32 * index} MSTORE`)
    return [words.join(' '), ...this.#loop(2), ...ends, 'MSIZE 0 RETURN']
  }

  #loop(depth: number): string[] {
    const random = this.#random
    const start = this.#label()
    const rounds = depth === 2 ? random.between(5, 60) : random.between(1, 12)
    this.#above += 1
    const body = Array.from({ length: random.between(1, 8) }, () => this.#piece(depth))
    this.#above -= 1
    return [`${rounds} ${start}:`, ...body, `1 SWAP1 SUB DUP1 @${start} JUMPI POP`]
  }

  #piece(depth: number): string {
    return this.#random.weighted<() => string>([
      [16, () => `${this.#value(3)} ${this.#keep()}`],
      [5, () => this.#effect()],
      [4, () => this.#branch(depth)],
      [2, () => this.#routine(depth)],
      [2, () => (depth > 1 ? this.#loop(depth - 1).join(' ') : this.#effect())],
    ])()
  }

  /** A word computed, on top of what there is. */
  #value(depth: number): string {
    const random = this.#random
    if (depth === 0) return this.#leaf()
    const inner = (): string => {
      const value = this.#value(depth - 1)
      this.#above += 1
      return value
    }
    const make = random.weighted<() => string>([
      [4, () => this.#leaf()],
      [3, () => `${this.#value(depth - 1)} ${this.#known(UNARY)}`],
      [10, () => this.#computed([inner(), inner()], this.#known(BINARY))],
      [2, () => this.#computed([inner(), inner(), inner()], random.pick(['ADDMOD', 'MULMOD']))],
    ])
    return make()
  }

  #computed(operands: readonly string[], operation: string): string {
    this.#above -= operands.length
    return `${operands.join(' ')} ${operation}`
  }

  #leaf(): string {
    return this.#random.weighted<() => string>([
      [12, () => this.#copied()],
      [3, () => this.#number()],
      [2, () => `${this.#copied()} 0xff AND MLOAD`],
      [1, () => `${this.#number()} 0x3f AND MLOAD`],
      [1, () => `${this.#copied()} 0x3f AND CALLDATALOAD`],
      [1, () => `${this.#copied()} 3 AND SLOAD`],
      [1, () => (this.#has('cancun') ? `${this.#copied()} 3 AND TLOAD` : '5')],
      [1, () => `${this.#copied()} 0x7f AND 32 KECCAK256`],
      [1, () => 'ADDRESS BALANCE'],
      [1, () => `${this.#copied()} EXTCODESIZE`],
      [2, () => this.#known(SOURCES)],
    ])()
  }

  /** One of the words that live on. */
  #copied(): string {
    return `DUP${this.#near(this.#above)}`
  }

  /** What was computed takes the place of one of them. */
  #keep(): string {
    return `SWAP${this.#near(this.#above)} POP`
  }

  #effect(): string {
    const random = this.#random
    const value = this.#value(2)
    this.#above += 1
    const target = this.#copied()
    const effect = random.weighted<() => string>([
      [4, () => `${target} 0xff AND MSTORE`],
      [2, () => `${target} 0xff AND MSTORE8`],
      [1, () => `${random.below(300)} MSTORE`],
      [3, () => `${target} 3 AND SSTORE`],
      [1, () => (this.#has('cancun') ? `${target} 3 AND TSTORE` : 'POP')],
      [1, () => `${target} 0x3f AND 7 LOG1`],
      [1, () => `0x1f AND ${target} 0x3f AND ${random.below(70)} CALLDATACOPY`],
      [1, () => `0x1f AND ${target} 0xff AND ${random.below(70)} CODECOPY`],
      [1, () => (this.#has('cancun') ? `0x1f AND ${target} 0x3f AND 9 MCOPY` : 'POP')],
      [1, () => `POP 32 0 32 0 0 4 5000 CALL ${this.#keepBelow()}`],
      [1, () => (this.#has('byzantium') ? 'POP RETURNDATASIZE 0 3 RETURNDATACOPY' : 'POP')],
    ])()
    this.#above -= 1
    return `${value} ${effect}`
  }

  /** As `#keep`, where the value has been taken away. */
  #keepBelow(): string {
    return `SWAP${this.#near(this.#above - 1)} POP`
  }

  /** The depth of one of the words that live on, as far down as operations reach. */
  #near(above: number): number {
    return Math.min(16, above + this.#random.between(1, this.#kept))
  }

  #branch(depth: number): string {
    if (depth <= 0) return `${this.#value(1)} ${this.#keep()}`
    const [other, end] = [this.#label(), this.#label()]
    const condition = this.#random.pick(['1 AND', '7 AND ISZERO', '5 LT', `${this.#number()} GT`])
    const jump = `${this.#copied()} ${condition} @${other} JUMPI`
    const [first, second] = [this.#piece(depth - 1), this.#piece(depth - 1)]
    return `${jump} ${first} @${end} JUMP ${other}: ${second} ${end}:`
  }

  /** A routine that is called from here, with the place to come back to below its work. */
  #routine(depth: number): string {
    if (depth <= 0) return `${this.#value(1)} ${this.#keep()}`
    const [routine, back] = [this.#label(), this.#label()]
    this.#above += 1
    const work = this.#piece(depth - 1)
    this.#above -= 1
    return `@${back} @${routine} JUMP ${routine}: ${work} JUMP ${back}:`
  }

  #number(): string {
    const random = this.#random
    if (random.percent(60)) return random.pick(EDGES)
    return random.percent(50) ? String(random.below(300)) : `0x${random.digits(32)}`
  }

  #label(): string {
    this.#labels += 1
    return `H${this.#labels}`
  }

  #has(since: Hardfork): boolean {
    return isAtLeast(this.#hardfork, since)
  }

  #known(list: readonly (readonly [string, Hardfork])[]): string {
    return this.#random.pick(list.filter(([, since]) => this.#has(since)))[0]
  }
}
