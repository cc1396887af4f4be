// The opcodes of all forks, one row each. The constants of the WebAssembly side are made from this table (build/wasm.mjs).

import { type Hardfork, isAtLeast } from '../protocol/forks.ts'
import type { FrameStart } from './executor.ts'

type Row = readonly [
  opcode: number,
  since: Hardfork,
  /** Words that it takes from the stack, and words that it leaves there; those that it reaches over count as both. */
  takes: number,
  leaves: number,
  /** What it costs at least, where it first came; 0 where the rest depends on more than the fork. */
  baseGas: number,
  /** What it costs at least from later forks on. */
  repriced?: Readonly<Partial<Record<Hardfork, number>>>,
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
  EXTCODESIZE: [0x3b, 'frontier', 1, 1, 20, { tangerineWhistle: 700, berlin: 0 }],
  EXTCODECOPY: [0x3c, 'frontier', 4, 0, 20, { tangerineWhistle: 700, berlin: 0 }],
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

  // PUSH, DUP, SWAP, LOG
  PUSH0: [0x5f, 'shanghai', 0, 1, 2],
  PUSH1: [0x60, 'frontier', 0, 1, 3],
  PUSH2: [0x61, 'frontier', 0, 1, 3],
  PUSH3: [0x62, 'frontier', 0, 1, 3],
  PUSH4: [0x63, 'frontier', 0, 1, 3],
  PUSH5: [0x64, 'frontier', 0, 1, 3],
  PUSH6: [0x65, 'frontier', 0, 1, 3],
  PUSH7: [0x66, 'frontier', 0, 1, 3],
  PUSH8: [0x67, 'frontier', 0, 1, 3],
  PUSH9: [0x68, 'frontier', 0, 1, 3],
  PUSH10: [0x69, 'frontier', 0, 1, 3],
  PUSH11: [0x6a, 'frontier', 0, 1, 3],
  PUSH12: [0x6b, 'frontier', 0, 1, 3],
  PUSH13: [0x6c, 'frontier', 0, 1, 3],
  PUSH14: [0x6d, 'frontier', 0, 1, 3],
  PUSH15: [0x6e, 'frontier', 0, 1, 3],
  PUSH16: [0x6f, 'frontier', 0, 1, 3],
  PUSH17: [0x70, 'frontier', 0, 1, 3],
  PUSH18: [0x71, 'frontier', 0, 1, 3],
  PUSH19: [0x72, 'frontier', 0, 1, 3],
  PUSH20: [0x73, 'frontier', 0, 1, 3],
  PUSH21: [0x74, 'frontier', 0, 1, 3],
  PUSH22: [0x75, 'frontier', 0, 1, 3],
  PUSH23: [0x76, 'frontier', 0, 1, 3],
  PUSH24: [0x77, 'frontier', 0, 1, 3],
  PUSH25: [0x78, 'frontier', 0, 1, 3],
  PUSH26: [0x79, 'frontier', 0, 1, 3],
  PUSH27: [0x7a, 'frontier', 0, 1, 3],
  PUSH28: [0x7b, 'frontier', 0, 1, 3],
  PUSH29: [0x7c, 'frontier', 0, 1, 3],
  PUSH30: [0x7d, 'frontier', 0, 1, 3],
  PUSH31: [0x7e, 'frontier', 0, 1, 3],
  PUSH32: [0x7f, 'frontier', 0, 1, 3],
  DUP1: [0x80, 'frontier', 1, 2, 3],
  DUP2: [0x81, 'frontier', 2, 3, 3],
  DUP3: [0x82, 'frontier', 3, 4, 3],
  DUP4: [0x83, 'frontier', 4, 5, 3],
  DUP5: [0x84, 'frontier', 5, 6, 3],
  DUP6: [0x85, 'frontier', 6, 7, 3],
  DUP7: [0x86, 'frontier', 7, 8, 3],
  DUP8: [0x87, 'frontier', 8, 9, 3],
  DUP9: [0x88, 'frontier', 9, 10, 3],
  DUP10: [0x89, 'frontier', 10, 11, 3],
  DUP11: [0x8a, 'frontier', 11, 12, 3],
  DUP12: [0x8b, 'frontier', 12, 13, 3],
  DUP13: [0x8c, 'frontier', 13, 14, 3],
  DUP14: [0x8d, 'frontier', 14, 15, 3],
  DUP15: [0x8e, 'frontier', 15, 16, 3],
  DUP16: [0x8f, 'frontier', 16, 17, 3],
  SWAP1: [0x90, 'frontier', 2, 2, 3],
  SWAP2: [0x91, 'frontier', 3, 3, 3],
  SWAP3: [0x92, 'frontier', 4, 4, 3],
  SWAP4: [0x93, 'frontier', 5, 5, 3],
  SWAP5: [0x94, 'frontier', 6, 6, 3],
  SWAP6: [0x95, 'frontier', 7, 7, 3],
  SWAP7: [0x96, 'frontier', 8, 8, 3],
  SWAP8: [0x97, 'frontier', 9, 9, 3],
  SWAP9: [0x98, 'frontier', 10, 10, 3],
  SWAP10: [0x99, 'frontier', 11, 11, 3],
  SWAP11: [0x9a, 'frontier', 12, 12, 3],
  SWAP12: [0x9b, 'frontier', 13, 13, 3],
  SWAP13: [0x9c, 'frontier', 14, 14, 3],
  SWAP14: [0x9d, 'frontier', 15, 15, 3],
  SWAP15: [0x9e, 'frontier', 16, 16, 3],
  SWAP16: [0x9f, 'frontier', 17, 17, 3],
  LOG0: [0xa0, 'frontier', 2, 0, 375],
  LOG1: [0xa1, 'frontier', 3, 0, 375],
  LOG2: [0xa2, 'frontier', 4, 0, 375],
  LOG3: [0xa3, 'frontier', 5, 0, 375],
  LOG4: [0xa4, 'frontier', 6, 0, 375],

  // Calls, creations, and what ends a frame
  CREATE: [0xf0, 'frontier', 3, 1, 32_000],
  CALL: [0xf1, 'frontier', 7, 1, 40, { tangerineWhistle: 700, berlin: 0 }],
  CALLCODE: [0xf2, 'frontier', 7, 1, 40, { tangerineWhistle: 700, berlin: 0 }],
  RETURN: [0xf3, 'frontier', 2, 0, 0],
  DELEGATECALL: [0xf4, 'homestead', 6, 1, 40, { tangerineWhistle: 700, berlin: 0 }],
  CREATE2: [0xf5, 'constantinople', 4, 1, 32_000],
  STATICCALL: [0xfa, 'byzantium', 6, 1, 700, { berlin: 0 }],
  REVERT: [0xfd, 'byzantium', 2, 0, 0],
  SELFDESTRUCT: [0xff, 'frontier', 1, 0, 0],
} as const

/** The name of an opcode, as in the Yellow Paper and the EIPs. */
type OpcodeName = keyof typeof TABLE

const ROWS: readonly (readonly [OpcodeName, Row])[] = Object.entries(TABLE) as [OpcodeName, Row][]

/** Each opcode's number, by name. */
export const OP: Readonly<Record<OpcodeName, number>> = Object.fromEntries(
  ROWS.map(([name, [opcode]]) => [name, opcode]),
) as Record<OpcodeName, number>

/** The opcode that no fork will ever give a meaning, and assertions end with (EIP-141). */
export const INVALID = 0xfe

/** The names of all bytes at a hardfork: INVALID for those that are no operations. */
export function namesAt(hardfork: Hardfork): readonly string[] {
  const names = Array<string>(256).fill('INVALID')
  for (const [name, [opcode, since]] of ROWS) if (isAtLeast(hardfork, since)) names[opcode] = name
  if (!isAtLeast(hardfork, 'paris')) names[OP.PREVRANDAO] = 'DIFFICULTY'
  return names
}

/** An operation as a fork has it. */
export interface Operation {
  /** What it costs at least. */
  readonly gas: number
  /** Words that it takes from the stack, and words that it leaves there. */
  readonly takes: number
  readonly leaves: number
}

/** Words on a stack, at most. */
export const STACK_LIMIT = 1024

/** The operations of a hardfork, by opcode; the others are invalid. */
export function operationsAt(hardfork: Hardfork): ReadonlyMap<number, Operation> {
  const operations = new Map<number, Operation>()
  for (const [, [opcode, since, takes, leaves, baseGas, repriced]] of ROWS) {
    if (!isAtLeast(hardfork, since)) continue
    operations.set(opcode, { gas: gasAt(hardfork, baseGas, repriced), takes, leaves })
  }
  return operations
}

function gasAt(hardfork: Hardfork, baseGas: number, repriced: Row[5] = {}): number {
  // the forks of a row stand in their order
  const since = Object.keys(repriced) as Hardfork[]
  const last = since.findLast((fork) => isAtLeast(hardfork, fork))
  return last === undefined ? baseGas : (repriced[last] ?? baseGas)
}

/** True for PUSH1 to PUSH32, which have their constant behind them in the code. */
export function isPush(opcode: number): boolean {
  return opcode >= OP.PUSH1 && opcode <= OP.PUSH32
}

/** True for LOG0 to LOG4. */
export function isLog(opcode: number): boolean {
  return opcode >= OP.LOG0 && opcode <= OP.LOG4
}

/** The operations that open a frame, as the kind of frame that they open. */
export const FRAME_KINDS: ReadonlyMap<number, FrameStart['kind']> = new Map([
  [OP.CREATE, 'CREATE'],
  [OP.CALL, 'CALL'],
  [OP.CALLCODE, 'CALLCODE'],
  [OP.DELEGATECALL, 'DELEGATECALL'],
  [OP.CREATE2, 'CREATE2'],
  [OP.STATICCALL, 'STATICCALL'],
] as const)
