// A small assembler, so that tests can say in words what a contract does.
import {
  type Address,
  bytesFromBigint,
  bytesFromHex,
  concatBytes,
  hexFromBytes,
} from '../../../src/core/hex.ts'

/** Operations by name, but for PUSH, DUP, SWAP and LOG, which are computed. */
const OPCODES: Readonly<Record<string, number>> = {
  STOP: 0x00,
  ADD: 0x01,
  MUL: 0x02,
  SUB: 0x03,
  DIV: 0x04,
  SDIV: 0x05,
  MOD: 0x06,
  SMOD: 0x07,
  ADDMOD: 0x08,
  MULMOD: 0x09,
  EXP: 0x0a,
  SIGNEXTEND: 0x0b,
  LT: 0x10,
  GT: 0x11,
  SLT: 0x12,
  SGT: 0x13,
  EQ: 0x14,
  ISZERO: 0x15,
  AND: 0x16,
  OR: 0x17,
  XOR: 0x18,
  NOT: 0x19,
  BYTE: 0x1a,
  SHL: 0x1b,
  SHR: 0x1c,
  SAR: 0x1d,
  CLZ: 0x1e,
  KECCAK256: 0x20,
  ADDRESS: 0x30,
  BALANCE: 0x31,
  ORIGIN: 0x32,
  CALLER: 0x33,
  CALLVALUE: 0x34,
  CALLDATALOAD: 0x35,
  CALLDATASIZE: 0x36,
  CALLDATACOPY: 0x37,
  CODESIZE: 0x38,
  CODECOPY: 0x39,
  GASPRICE: 0x3a,
  EXTCODESIZE: 0x3b,
  EXTCODECOPY: 0x3c,
  RETURNDATASIZE: 0x3d,
  RETURNDATACOPY: 0x3e,
  EXTCODEHASH: 0x3f,
  BLOCKHASH: 0x40,
  COINBASE: 0x41,
  TIMESTAMP: 0x42,
  NUMBER: 0x43,
  PREVRANDAO: 0x44,
  DIFFICULTY: 0x44,
  GASLIMIT: 0x45,
  CHAINID: 0x46,
  SELFBALANCE: 0x47,
  BASEFEE: 0x48,
  BLOBHASH: 0x49,
  BLOBBASEFEE: 0x4a,
  POP: 0x50,
  MLOAD: 0x51,
  MSTORE: 0x52,
  MSTORE8: 0x53,
  SLOAD: 0x54,
  SSTORE: 0x55,
  JUMP: 0x56,
  JUMPI: 0x57,
  PC: 0x58,
  MSIZE: 0x59,
  GAS: 0x5a,
  JUMPDEST: 0x5b,
  TLOAD: 0x5c,
  TSTORE: 0x5d,
  MCOPY: 0x5e,
  PUSH0: 0x5f,
  CREATE: 0xf0,
  CALL: 0xf1,
  CALLCODE: 0xf2,
  RETURN: 0xf3,
  DELEGATECALL: 0xf4,
  CREATE2: 0xf5,
  STATICCALL: 0xfa,
  REVERT: 0xfd,
  INVALID: 0xfe,
  SELFDESTRUCT: 0xff,
}

/**
 * Assembles a program. Words are separated by spaces: names of operations (`DUP1`, `LOG2`); numbers, decimal or hex,
 * which are pushed in as few bytes as they need (zero as PUSH1 0, which every hardfork knows); `name:`, a jump
 * destination; `@name`, which pushes it; `=60ff`, bytes as they are.
 */
export function assemble(program: string): Uint8Array {
  const words = program.split(/\s+/).filter((word) => word !== '')
  const places = new Map<string, number>()
  let size = 0
  for (const word of words) {
    if (word.endsWith(':')) places.set(word.slice(0, -1), size)
    size += word.startsWith('@') ? 3 : encodeWord(word).length
  }
  return concatBytes(
    ...words.map((word) =>
      word.startsWith('@') ? pushPlace(places, word.slice(1)) : encodeWord(word),
    ),
  )
}

/** Init code that deploys `runtime`. */
export function deploying(runtime: Uint8Array): Uint8Array {
  // the offset of what follows depends on the length of the pushes before it: two bytes each
  const length = runtime.length
  const head = (offset: number): Uint8Array =>
    Uint8Array.of(
      0x61,
      length >> 8,
      length & 255,
      0x61,
      offset >> 8,
      offset & 255,
      0x60,
      0,
      0x39,
      0x61,
      length >> 8,
      length & 255,
      0x60,
      0,
      0xf3,
    )
  return concatBytes(head(head(0).length), runtime)
}

/** A program that returns the word on top of the stack. */
export const RETURN_WORD = '0 MSTORE 32 0 RETURN'

/** A program that calls `to` with gas, value and no input, and leaves success on the stack. */
export function calling(
  to: Address | string,
  { gas = 'GAS', value = '0' }: { gas?: string; value?: string } = {},
): string {
  return `0 0 0 0 ${value} ${to} ${gas} CALL`
}

/** A program that writes bytes to memory from offset 0 on. */
export function storing(bytes: Uint8Array): string {
  const words: string[] = []
  for (let at = 0; at < bytes.length; at += 32) {
    const part = hexFromBytes(bytes.subarray(at, at + 32))
      .slice(2)
      .padEnd(64, '0')
    words.push(`0x${part} ${at} MSTORE`)
  }
  return words.join(' ')
}

function encodeWord(word: string): Uint8Array {
  if (word.endsWith(':')) return Uint8Array.of(0x5b)
  if (word.startsWith('=')) return bytesFromHex(`0x${word.slice(1)}`)
  if (/^(0x[0-9a-f]+|\d+)$/i.test(word)) return push(BigInt(word))
  const [, family, digits] = /^(DUP|SWAP|LOG)(\d+)$/.exec(word) ?? []
  const first = { DUP: 0x7f, SWAP: 0x8f, LOG: 0xa0 }[family ?? '']
  const opcode = first === undefined ? OPCODES[word] : first + Number(digits)
  if (opcode === undefined) throw new Error(`no operation is called ${word}`)
  return Uint8Array.of(opcode)
}

function push(value: bigint): Uint8Array {
  const bytes = value === 0n ? Uint8Array.of(0) : bytesFromBigint(value)
  return concatBytes(Uint8Array.of(0x5f + bytes.length), bytes)
}

function pushPlace(places: ReadonlyMap<string, number>, name: string): Uint8Array {
  const place = places.get(name)
  if (place === undefined) throw new Error(`no place is called ${name}`)
  return Uint8Array.of(0x61, place >> 8, place & 255)
}
