// Random programs, in pieces: each piece is a line for the assembler that leaves the stack as it was, unless it is one of
// those that end or break the run. What is in pieces can be taken apart again when it fails.
import { type Hardfork, isAtLeast } from '../../src/protocol/forks.ts'
import { assemble, deploying, storing } from '../support/evm/bytecode.ts'
import type { Random } from './random.ts'

/** What a program may know of the place that it runs in. */
export interface Surroundings {
  readonly random: Random
  readonly hardfork: Hardfork
  /** Contracts and other accounts that it may deal with. */
  readonly addresses: readonly string[]
}

const NUMBERS: readonly string[] = [
  ...['0', '1', '2', '3', '5', '31', '32', '33', '64', '127', '128', '255', '256', '257', '1000'],
  '0xffff',
  '0xffffffff',
  '0x100000000',
  '0x7fffffffffffffff',
  '0xffffffffffffffff',
  '0x10000000000000000',
  `0x${'ff'.repeat(16)}`,
  `0x1${'00'.repeat(16)}`,
  `0x80${'00'.repeat(31)}`,
  `0x7f${'ff'.repeat(31)}`,
  `0x${'ff'.repeat(32)}`,
  `0x${'ff'.repeat(31)}fe`,
]

const UNARY: readonly (readonly [string, Hardfork])[] = [
  ['ISZERO', 'frontier'],
  ['NOT', 'frontier'],
  ['CLZ', 'osaka'],
]

const BINARY: readonly (readonly [string, Hardfork])[] = [
  ...[
    'ADD',
    'MUL',
    'SUB',
    'DIV',
    'SDIV',
    'MOD',
    'SMOD',
    'SIGNEXTEND',
    'LT',
    'GT',
    'SLT',
    'SGT',
  ].map((name) => [name, 'frontier'] as const),
  ...['EQ', 'AND', 'OR', 'XOR', 'BYTE', 'EXP'].map((name) => [name, 'frontier'] as const),
  ...['SHL', 'SHR', 'SAR'].map((name) => [name, 'constantinople'] as const),
]

const TERNARY = ['ADDMOD', 'MULMOD']

const ENVIRONMENT: readonly (readonly [string, Hardfork])[] = [
  ...['ADDRESS', 'ORIGIN', 'CALLER', 'CALLVALUE', 'CALLDATASIZE', 'CODESIZE', 'GASPRICE'].map(
    (name) => [name, 'frontier'] as const,
  ),
  ...['COINBASE', 'TIMESTAMP', 'NUMBER', 'PREVRANDAO', 'GASLIMIT', 'PC', 'MSIZE', 'GAS'].map(
    (name) => [name, 'frontier'] as const,
  ),
  ['RETURNDATASIZE', 'byzantium'],
  ['CHAINID', 'istanbul'],
  ['SELFBALANCE', 'istanbul'],
  ['BASEFEE', 'london'],
  ['BLOBBASEFEE', 'cancun'],
  ['PUSH0', 'shanghai'],
]

/** Makes programs for one place. */
export class Programs {
  readonly #random: Random
  readonly #hardfork: Hardfork
  readonly #addresses: readonly string[]
  #labels = 0

  constructor({ random, hardfork, addresses }: Surroundings) {
    this.#random = random
    this.#hardfork = hardfork
    this.#addresses = addresses
  }

  /** A whole program. `depth` bounds the programs within the program, which create others. */
  program(length: number, depth = 1): string[] {
    const pieces = Array.from({ length }, () => this.piece(depth))
    return [...pieces, this.#end()]
  }

  piece(depth: number): string {
    const random = this.#random
    if (isAtLeast(this.#hardfork, 'amsterdam') && random.percent(10)) return this.#far()
    const make = random.weighted<() => string>([
      [26, () => this.#expression()],
      [12, () => this.#memory()],
      [12, () => this.#storage()],
      [4, () => this.#log()],
      [7, () => this.#environment()],
      [5, () => this.#account()],
      [14, () => this.#call()],
      [5, () => this.#creation(depth)],
      [5, () => this.#loop(depth)],
      [5, () => this.#branch(depth)],
      [3, () => this.#routine(depth)],
      [1, () => this.#precompile()],
      [2, () => this.#breach()],
    ])
    return make()
  }

  number(): string {
    const random = this.#random
    return random.weighted<() => string>([
      [6, () => random.pick(NUMBERS)],
      [2, () => String(random.below(300))],
      [1, () => `0x${random.digits(random.between(1, 32))}`],
      [1, () => this.#address()],
    ])()
  }

  #has(since: Hardfork): boolean {
    // now and then an operation that the fork does not know
    return isAtLeast(this.#hardfork, since) || this.#random.below(300) === 0
  }

  #known(list: readonly (readonly [string, Hardfork])[]): string {
    return this.#random.pick(list.filter(([, since]) => this.#has(since)))[0]
  }

  #address(): string {
    const random = this.#random
    return random.weighted<() => string>([
      [8, () => random.pick(this.#addresses)],
      [1, () => 'ADDRESS'],
      [1, () => 'CALLER'],
      [1, () => `0x${random.between(1, 18).toString(16)}`],
      [1, () => random.pick(['0x0', '0x100', '0x000000000000000000636f6e736f6c652e6c6f67'])],
      // the upper bytes of an address do not count
      [1, () => `0xff${random.pick(this.#addresses).slice(2)}`],
    ])()
  }

  #offset(): string {
    const random = this.#random
    return random.weighted<() => string>([
      [12, () => String(random.below(200))],
      [3, () => String(32 * random.below(20))],
      [1, () => String(random.below(5_000))],
    ])()
  }

  #length(): string {
    const random = this.#random
    return random.weighted<() => string>([
      [3, () => '0'],
      [8, () => String(random.below(70))],
      [2, () => String(random.below(700))],
    ])()
  }

  #slot(): string {
    return this.#random.percent(90) ? String(this.#random.below(5)) : this.number()
  }

  /** Takes a word off the stack. */
  #sink(): string {
    const random = this.#random
    return random.weighted<() => string>([
      [6, () => 'POP'],
      [3, () => `${this.#slot()} SSTORE`],
      [4, () => `${this.#offset()} MSTORE`],
    ])()
  }

  #expression(): string {
    const random = this.#random
    const words: string[] = []
    let depth = 0
    for (let i = random.between(2, 12); i > 0; i -= 1) {
      const step = random.below(10)
      if (step < 3 || depth < 2) {
        words.push(this.number())
        depth += 1
      } else if (step < 7) {
        words.push(this.#known(BINARY))
        depth -= 1
      } else if (step === 7) {
        words.push(this.#known(UNARY))
      } else if (step === 8 && depth >= 3) {
        words.push(random.pick(TERNARY))
        depth -= 2
      } else if (random.percent(50)) {
        words.push(`DUP${random.between(1, Math.min(depth, 16))}`)
        depth += 1
      } else {
        words.push(`SWAP${random.between(1, Math.min(depth - 1, 16))}`)
      }
    }
    for (; depth > 0; depth -= 1) words.push(this.#sink())
    return words.join(' ')
  }

  #memory(): string {
    const [offset, length, from] = [this.#offset(), this.#length(), this.#offset()]
    return this.#random.weighted<() => string>([
      [3, () => `${this.number()} ${offset} MSTORE`],
      [2, () => `${this.number()} ${offset} MSTORE8`],
      [3, () => `${offset} MLOAD ${this.#sink()}`],
      [3, () => `${length} ${offset} KECCAK256 ${this.#sink()}`],
      [2, () => `${length} ${from} ${offset} CALLDATACOPY`],
      [1, () => `${from} CALLDATALOAD ${this.#sink()}`],
      [2, () => `${length} ${from} ${offset} CODECOPY`],
      [1, () => `${length} ${this.number()} ${offset} CODECOPY`],
      [1, () => (this.#has('byzantium') ? `${length} ${from} ${offset} RETURNDATACOPY` : '')],
      [2, () => (this.#has('byzantium') ? `RETURNDATASIZE 0 ${offset} RETURNDATACOPY` : '')],
      [2, () => (this.#has('cancun') ? `${length} ${from} ${offset} MCOPY` : '')],
    ])()
  }

  #storage(): string {
    const slot = this.#slot()
    return this.#random.weighted<() => string>([
      [5, () => `${this.number()} ${slot} SSTORE`],
      [3, () => `0 ${slot} SSTORE`],
      [4, () => `${slot} SLOAD ${this.#sink()}`],
      [3, () => `${slot} SLOAD 1 ADD ${slot} SSTORE`],
      [2, () => (this.#has('cancun') ? `${this.number()} ${slot} TSTORE` : '')],
      [2, () => (this.#has('cancun') ? `${slot} TLOAD ${this.#sink()}` : '')],
    ])()
  }

  #log(): string {
    const count = this.#random.below(5)
    const topics = Array.from({ length: count }, () => this.number()).join(' ')
    return `${topics} ${this.#length()} ${this.#offset()} LOG${count}`
  }

  /** DUPN, SWAPN and EXCHANGE (EIP-8024) over a deep stack; some go below it, and some have an invalid immediate. */
  #far(): string {
    const random = this.#random
    const deep = random.between(2, 60)
    const words = Array.from({ length: deep }, () => (random.percent(90) ? '7' : this.number()))
    let depth = deep
    for (let i = random.between(1, 6); i > 0; i -= 1) {
      const opcode = random.pick(['e6', 'e7', 'e8'])
      const reach = (random.between(17, Math.max(depth - 1, 17)) + 111) & 0xff
      const pair = random.pick([random.below(0x52), random.between(0x80, 0xff)])
      const immediate = random.percent(3) ? random.below(256) : opcode === 'e8' ? pair : reach
      words.push(`=${opcode}${immediate.toString(16).padStart(2, '0')}`)
      if (opcode === 'e6') depth += 1
    }
    return [...words, ...Array.from({ length: depth }, () => this.#sink())].join(' ')
  }

  #environment(): string {
    const random = this.#random
    if (isAtLeast(this.#hardfork, 'amsterdam') && random.percent(15)) return `=4b ${this.#sink()}`
    if (random.percent(10)) return `NUMBER ${random.below(300)} SWAP1 SUB BLOCKHASH ${this.#sink()}`
    if (random.percent(5) && this.#has('cancun'))
      return `${random.below(3)} BLOBHASH ${this.#sink()}`
    return `${this.#known(ENVIRONMENT)} ${this.#sink()}`
  }

  #account(): string {
    const address = this.#address()
    return this.#random.weighted<() => string>([
      [3, () => `${address} BALANCE ${this.#sink()}`],
      [2, () => `${address} EXTCODESIZE ${this.#sink()}`],
      [2, () => `${this.#length()} ${this.#offset()} ${this.#offset()} ${address} EXTCODECOPY`],
      [2, () => (this.#has('constantinople') ? `${address} EXTCODEHASH ${this.#sink()}` : '')],
    ])()
  }

  #gas(): string {
    const random = this.#random
    return random.weighted<() => string>([
      [8, () => 'GAS'],
      [3, () => String(random.below(60_000))],
      [1, () => String(random.below(3_000))],
      [1, () => this.number()],
    ])()
  }

  #value(): string {
    return this.#random.weighted<() => string>([
      [8, () => '0'],
      [4, () => '1'],
      [1, () => this.number()],
    ])()
  }

  #call(): string {
    const regions = `${this.#length()} ${this.#offset()} ${this.#length()} ${this.#offset()}`
    const [to, gas] = [this.#address(), this.#gas()]
    const call = this.#random.weighted<() => string>([
      [8, () => `${regions} ${this.#value()} ${to} ${gas} CALL`],
      [2, () => `${regions} ${this.#value()} ${to} ${gas} CALLCODE`],
      [4, () => `${regions} ${to} ${gas} ${this.#has('homestead') ? 'DELEGATECALL' : '0 CALL'}`],
      [4, () => `${regions} ${to} ${gas} ${this.#has('byzantium') ? 'STATICCALL' : '0 CALL'}`],
    ])()
    return `${call} ${this.#sink()}`
  }

  #creation(depth: number): string {
    if (depth === 0) return this.#storage()
    const random = this.#random
    const runtime = assemble(this.program(random.between(0, 3), depth - 1).join(' '))
    const initial = random.weighted<() => Uint8Array>([
      [5, () => deploying(runtime)],
      [3, () => assemble(this.program(random.between(0, 4), depth - 1).join(' '))],
      [1, () => assemble('0xef 0 MSTORE8 1 0 RETURN')],
      [1, () => assemble(`${random.between(1, 30_000)} 0 RETURN`)],
      [1, () => new Uint8Array()],
    ])()
    const tail = `${initial.length} 0 ${this.#value()}`
    const create =
      this.#has('constantinople') && random.percent(50)
        ? `${random.below(3)} ${tail} CREATE2`
        : `${tail} CREATE`
    const call = random.percent(50) ? `DUP1 0 0 0 0 0 SWAP5 GAS CALL ${this.#sink()} ` : ''
    return `${storing(initial)} ${create} ${call}${this.#sink()}`
  }

  #label(): string {
    this.#labels += 1
    return `L${this.#labels}`
  }

  #loop(depth: number): string {
    const random = this.#random
    const start = this.#label()
    const body = Array.from({ length: random.between(1, 3) }, () => this.piece(depth)).join(' ')
    const rounds = random.weighted([
      [6, random.between(1, 6)],
      [3, random.between(1, 60)],
      [1, random.between(1, 400)],
    ])
    return `${rounds} ${start}: ${body} 1 SWAP1 SUB DUP1 @${start} JUMPI POP`
  }

  #branch(depth: number): string {
    const end = this.#label()
    const condition = this.#random.pick([
      `${this.#slot()} SLOAD`,
      `${this.#offset()} MLOAD`,
      'CALLER 1 AND',
      'CALLVALUE',
      'GAS 1 AND',
    ])
    const inner = this.#random.percent(20) ? this.#end() : this.piece(depth)
    return `${condition} @${end} JUMPI ${inner} ${end}:`
  }

  /** A jump to a routine, which jumps back to where its caller says. */
  #routine(depth: number): string {
    const [routine, back] = [this.#label(), this.#label()]
    return `@${back} @${routine} JUMP ${routine}: ${this.piece(depth)} JUMP ${back}:`
  }

  #precompile(): string {
    const random = this.#random
    const length = random.pick([0, 32, 64, 96, 128, 160, 192, 213, 256, 288, 384])
    const fill = random.percent(50)
      ? `${random.between(1, 40)} 31 MSTORE8 ${random.between(1, 40)} 63 MSTORE8 ${random.between(1, 40)} 95 MSTORE8`
      : `${this.number()} 0 MSTORE ${random.pick(['27', '28'])} 32 MSTORE ${this.number()} 64 MSTORE`
    const to = random.percent(95) ? random.between(1, 17) : 256
    return `${fill} 64 0 ${length} 0 0 ${to} ${this.#gas()} CALL ${this.#sink()}`
  }

  /** Something that no decent program does. */
  #breach(): string {
    const random = this.#random
    return random.weighted<() => string>([
      [2, () => 'POP'],
      [2, () => `${random.pick(['SWAP5', 'DUP16', 'MSTORE', 'ADDMOD'])}`],
      [1, () => `${random.below(100)} JUMP`],
      [1, () => `${this.number()} ${random.below(2)} JUMPI`],
      [2, () => `${this.number()} MLOAD POP`],
      [2, () => `${this.number()} ${this.number()} KECCAK256 POP`],
      [1, () => `${this.number()} ${this.number()} ${this.number()} CALLDATACOPY`],
      [1, () => `${this.number()} ${this.number()} ${this.number()} MCOPY`],
      [2, () => `=${random.digits(random.between(1, 12))}`],
      [1, () => `${this.#label()}: 1 1 1 1 1 1 @L${this.#labels} JUMP`],
    ])()
  }

  #end(): string {
    const random = this.#random
    return random.weighted<() => string>([
      [6, () => 'STOP'],
      [5, () => `${this.#length()} ${this.#offset()} RETURN`],
      [4, () => (this.#has('byzantium') ? `${this.#length()} ${this.#offset()} REVERT` : 'STOP')],
      [2, () => `${this.#address()} SELFDESTRUCT`],
      [1, () => 'INVALID'],
      [1, () => ''],
    ])()
  }
}
