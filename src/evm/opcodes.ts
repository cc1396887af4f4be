// The opcodes of all forks. build/wasm.mjs generates the constants of the WebAssembly side from this table.
import { memoize } from '../core/lrucache.ts'
import { HARDFORKS, type Hardfork, isAtLeast } from '../protocol/forks.ts'
import type { FrameStart } from './executor.ts'

type Row = readonly [
  opcode: number,
  since: Hardfork,
  /** Stack words removed and added; words that it reaches over (DUP, SWAP) count as both. */
  takes: number,
  leaves: number,
  /** The minimum cost when introduced; 0 if it depends on more than the fork. */
  baseGas: number,
  repriced?: Readonly<Partial<Record<Hardfork, number>>>,
  /** Bytes that follow the opcode. */
  immediate?: number,
]

const TABLE = {
  // Arithmetic, comparison and bits
  STOP: [0x00, 'frontier', 0, 0, 0],
  ADD: [0x01, 'frontier', 2, 1, 3],
  MUL: [0x02, 'frontier', 2, 1, 5],
  SUB: [0x03, 'frontier', 2, 1, 3],
  DIV: [0x04, 'frontier', 2, 1, 5],
  SDIV: [0x05, 'frontier', 2, 1, 5],
  MOD: [0x06, 'frontier', 2, 1, 5],
  SMOD: [0x07, 'frontier', 2, 1, 5],
  ADDMOD: [0x08, 'frontier', 3, 1, 8],
  MULMOD: [0x09, 'frontier', 3, 1, 8],
  EXP: [0x0a, 'frontier', 2, 1, 10],
  SIGNEXTEND: [0x0b, 'frontier', 2, 1, 5],
  LT: [0x10, 'frontier', 2, 1, 3],
  GT: [0x11, 'frontier', 2, 1, 3],
  SLT: [0x12, 'frontier', 2, 1, 3],
  SGT: [0x13, 'frontier', 2, 1, 3],
  EQ: [0x14, 'frontier', 2, 1, 3],
  ISZERO: [0x15, 'frontier', 1, 1, 3],
  AND: [0x16, 'frontier', 2, 1, 3],
  OR: [0x17, 'frontier', 2, 1, 3],
  XOR: [0x18, 'frontier', 2, 1, 3],
  NOT: [0x19, 'frontier', 1, 1, 3],
  BYTE: [0x1a, 'frontier', 2, 1, 3],
  SHL: [0x1b, 'constantinople', 2, 1, 3],
  SHR: [0x1c, 'constantinople', 2, 1, 3],
  SAR: [0x1d, 'constantinople', 2, 1, 3],
  CLZ: [0x1e, 'osaka', 1, 1, 5],
  KECCAK256: [0x20, 'frontier', 2, 1, 30],

  // The message, accounts, the block
  ADDRESS: [0x30, 'frontier', 0, 1, 2],
  BALANCE: [0x31, 'frontier', 1, 1, 20, { tangerineWhistle: 400, istanbul: 700, berlin: 0 }],
  ORIGIN: [0x32, 'frontier', 0, 1, 2],
  CALLER: [0x33, 'frontier', 0, 1, 2],
  CALLVALUE: [0x34, 'frontier', 0, 1, 2],
  CALLDATALOAD: [0x35, 'frontier', 1, 1, 3],
  CALLDATASIZE: [0x36, 'frontier', 0, 1, 2],
  CALLDATACOPY: [0x37, 'frontier', 3, 0, 3],
  CODESIZE: [0x38, 'frontier', 0, 1, 2],
  CODECOPY: [0x39, 'frontier', 3, 0, 3],
  GASPRICE: [0x3a, 'frontier', 0, 1, 2],
  EXTCODESIZE: [0x3b, 'frontier', 1, 1, 20, { tangerineWhistle: 700, berlin: 0, amsterdam: 100 }],
  EXTCODECOPY: [0x3c, 'frontier', 4, 0, 20, { tangerineWhistle: 700, berlin: 0, amsterdam: 100 }],
  RETURNDATASIZE: [0x3d, 'byzantium', 0, 1, 2],
  RETURNDATACOPY: [0x3e, 'byzantium', 3, 0, 3],
  EXTCODEHASH: [0x3f, 'constantinople', 1, 1, 400, { istanbul: 700, berlin: 0 }],
  BLOCKHASH: [0x40, 'frontier', 1, 1, 20],
  COINBASE: [0x41, 'frontier', 0, 1, 2],
  TIMESTAMP: [0x42, 'frontier', 0, 1, 2],
  NUMBER: [0x43, 'frontier', 0, 1, 2],
  PREVRANDAO: [0x44, 'frontier', 0, 1, 2],
  GASLIMIT: [0x45, 'frontier', 0, 1, 2],
  CHAINID: [0x46, 'istanbul', 0, 1, 2],
  SELFBALANCE: [0x47, 'istanbul', 0, 1, 5],
  BASEFEE: [0x48, 'london', 0, 1, 2],
  BLOBHASH: [0x49, 'cancun', 1, 1, 3],
  BLOBBASEFEE: [0x4a, 'cancun', 0, 1, 2],
  SLOTNUM: [0x4b, 'amsterdam', 0, 1, 2],

  // Memory, storage, jumps
  POP: [0x50, 'frontier', 1, 0, 2],
  MLOAD: [0x51, 'frontier', 1, 1, 3],
  MSTORE: [0x52, 'frontier', 2, 0, 3],
  MSTORE8: [0x53, 'frontier', 2, 0, 3],
  SLOAD: [0x54, 'frontier', 1, 1, 50, { tangerineWhistle: 200, istanbul: 800, berlin: 0 }],
  SSTORE: [0x55, 'frontier', 2, 0, 0],
  JUMP: [0x56, 'frontier', 1, 0, 8],
  JUMPI: [0x57, 'frontier', 2, 0, 10],
  PC: [0x58, 'frontier', 0, 1, 2],
  MSIZE: [0x59, 'frontier', 0, 1, 2],
  GAS: [0x5a, 'frontier', 0, 1, 2],
  JUMPDEST: [0x5b, 'frontier', 0, 0, 1],
  TLOAD: [0x5c, 'cancun', 1, 1, 100],
  TSTORE: [0x5d, 'cancun', 2, 0, 100],
  MCOPY: [0x5e, 'cancun', 3, 0, 3],
  PUSH0: [0x5f, 'shanghai', 0, 1, 2],

  // The stack beyond 16 words; the operations check its height (EIP-8024)
  DUPN: [0xe6, 'amsterdam', 0, 1, 3, {}, 1],
  SWAPN: [0xe7, 'amsterdam', 0, 0, 3, {}, 1],
  EXCHANGE: [0xe8, 'amsterdam', 0, 0, 3, {}, 1],

  // Calls, creations, and what ends a frame
  CREATE: [0xf0, 'frontier', 3, 1, 32_000, { amsterdam: 12_000 }],
  CALL: [0xf1, 'frontier', 7, 1, 40, { tangerineWhistle: 700, berlin: 0 }],
  CALLCODE: [0xf2, 'frontier', 7, 1, 40, { tangerineWhistle: 700, berlin: 0 }],
  RETURN: [0xf3, 'frontier', 2, 0, 0],
  DELEGATECALL: [0xf4, 'homestead', 6, 1, 40, { tangerineWhistle: 700, berlin: 0 }],
  CREATE2: [0xf5, 'constantinople', 4, 1, 32_000, { amsterdam: 12_000 }],
  STATICCALL: [0xfa, 'byzantium', 6, 1, 700, { berlin: 0 }],
  REVERT: [0xfd, 'byzantium', 2, 0, 0],
  SELFDESTRUCT: [0xff, 'frontier', 1, 0, 0],
} as const

type Size = 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 | 11 | 12 | 13 | 14 | 15 | 16
type LongSize = 17 | 18 | 19 | 20 | 21 | 22 | 23 | 24 | 25 | 26 | 27 | 28 | 29 | 30 | 31 | 32

type NumberedName =
  | `PUSH${Size | LongSize}`
  | `DUP${Size}`
  | `SWAP${Size}`
  | `LOG${0 | 1 | 2 | 3 | 4}`

/** Families of opcodes: PUSH by bytes, DUP and SWAP by depth, LOG by topics. */
const NUMBERED: readonly (readonly [string, Row])[] = [
  ...numbered('PUSH', 1, 32, (n) => [0x5f + n, 'frontier', 0, 1, 3, {}, n]),
  ...numbered('DUP', 1, 16, (n) => [0x7f + n, 'frontier', n, n + 1, 3]),
  ...numbered('SWAP', 1, 16, (n) => [0x8f + n, 'frontier', n + 1, n + 1, 3]),
  ...numbered('LOG', 0, 4, (n) => [0xa0 + n, 'frontier', n + 2, 0, 375]),
]

function numbered(
  name: string,
  first: number,
  last: number,
  rowOf: (n: number) => Row,
): (readonly [string, Row])[] {
  const count = last - first + 1
  return Array.from({ length: count }, (_, i) => [`${name}${first + i}`, rowOf(first + i)])
}

type OpcodeName = keyof typeof TABLE | NumberedName

const ROWS: readonly (readonly [string, Row])[] = [...Object.entries<Row>(TABLE), ...NUMBERED].sort(
  ([, [one]], [, [other]]) => one - other,
)

export const OP: Readonly<Record<OpcodeName, number>> = Object.fromEntries(
  ROWS.map(([name, [opcode]]) => [name, opcode]),
) as Record<OpcodeName, number>

/** The designated invalid opcode, which assertions end with (EIP-141). */
export const INVALID = 0xfe

export function namesAt(hardfork: Hardfork): readonly string[] {
  const names = Array<string>(256).fill('INVALID')
  for (const [name, [opcode, since]] of ROWS) if (isAtLeast(hardfork, since)) names[opcode] = name
  if (!isAtLeast(hardfork, 'paris')) names[OP.PREVRANDAO] = 'DIFFICULTY'
  return names
}

export type Operation = Readonly<Record<'gas' | 'takes' | 'leaves', number>>

export const STACK_LIMIT = 1024

/** The operations of a hardfork by their codes. */
export const operationsAt: (hardfork: Hardfork) => ReadonlyMap<number, Operation> = memoize(
  HARDFORKS.length,
  operationsOf,
)

function operationsOf(hardfork: Hardfork): ReadonlyMap<number, Operation> {
  const operations = new Map<number, Operation>()
  for (const [, [opcode, since, takes, leaves, baseGas, repriced]] of ROWS) {
    if (!isAtLeast(hardfork, since)) continue
    operations.set(opcode, { gas: gasAt(hardfork, baseGas, repriced), takes, leaves })
  }
  return operations
}

function gasAt(hardfork: Hardfork, baseGas: number, repriced: Row[5] = {}): number {
  // Object.entries lists the forks in their order
  const prices = Object.entries(repriced).filter(([fork]) => isAtLeast(hardfork, fork as Hardfork))
  return prices.at(-1)?.[1] ?? baseGas
}

const IMMEDIATES = new Uint8Array(256)
for (const [, [opcode, , , , , , immediate = 0]] of ROWS) IMMEDIATES[opcode] = immediate

/**
 * The position of the next operation. The jump map (`fast/assembly/state/code.ts`) skips immediates of PUSH only. Other
 * immediates (EIP-8024) exclude JUMPDEST and PUSH, so that the map is the same in all forks.
 */
export function nextOperation(code: Uint8Array, pc: number): number {
  const opcode = code[pc] ?? OP.STOP
  const next = code[pc + 1] ?? OP.STOP
  const isFar = opcode >= OP.DUPN && opcode <= OP.EXCHANGE
  if (isFar && (next === OP.JUMPDEST || isPush(next))) return pc + 1
  return pc + 1 + IMMEDIATES[opcode]!
}

/**
 * The words that DUPN, SWAPN or EXCHANGE works on (EIP-8024), by their distance from the top; DUPN's is the second, from 1.
 * Undefined for an immediate that is invalid.
 */
export function farWords(
  opcode: number,
  immediate: number,
): readonly [nearer: number, other: number] | undefined {
  const isPair = opcode === OP.EXCHANGE
  if (immediate > (isPair ? 0x51 : 0x5a) && immediate < 0x80) return undefined
  if (!isPair) return [0, (immediate + 145) & 0xff]
  const first = (immediate ^ 0x8f) >> 4
  const second = (immediate ^ 0x8f) & 15
  return first < second ? [first + 1, second + 1] : [second + 1, 29 - first]
}

/** True for PUSH1 to PUSH32, not PUSH0. */
export function isPush(opcode: number): boolean {
  return opcode >= OP.PUSH1 && opcode <= OP.PUSH32
}

const KINDS = ['CREATE', 'CALL', 'CALLCODE', 'DELEGATECALL', 'CREATE2', 'STATICCALL'] as const

export const FRAME_KINDS: ReadonlyMap<number, FrameStart['kind']> = new Map(
  KINDS.map((kind) => [OP[kind], kind]),
)
