// The operations of each hardfork: what they cost at least and how many words they need, as the engine's table has them.
import { HARDFORKS, type Hardfork, isAtLeast } from '../../protocol/forks.ts'
import { INVALID } from './layout.ts'

/** An operation: its base gas, words that it takes from the stack, words that it leaves there. */
export interface Operation {
  readonly gas: number
  readonly takes: number
  readonly leaves: number
}

/** Words on a stack, at most. */
export const STACK_LIMIT = 1024

type Row = readonly [opcode: number, gas: number, takes: number, leaves: number]

/** Those of frontier that do not come in rows of 16 or 32. */
const FRONTIER: readonly Row[] = [
  [0x00, 0, 0, 0],
  ...rows([0x01, 0x03], 3, 2, 1),
  ...rows([0x02, 0x04, 0x05, 0x06, 0x07, 0x0b], 5, 2, 1),
  ...rows([0x08, 0x09], 8, 3, 1),
  [0x0a, 10, 2, 1],
  ...rows([0x10, 0x11, 0x12, 0x13, 0x14, 0x16, 0x17, 0x18, 0x1a], 3, 2, 1),
  ...rows([0x15, 0x19], 3, 1, 1),
  [0x20, 30, 2, 1],
  ...rows([0x30, 0x32, 0x33, 0x34, 0x36, 0x38, 0x3a], 2, 0, 1),
  [0x31, 20, 1, 1],
  [0x35, 3, 1, 1],
  ...rows([0x37, 0x39], 3, 3, 0),
  [0x3b, 20, 1, 1],
  [0x3c, 20, 4, 0],
  [0x40, 20, 1, 1],
  ...rows([0x41, 0x42, 0x43, 0x44, 0x45], 2, 0, 1),
  [0x50, 2, 1, 0],
  [0x51, 3, 1, 1],
  ...rows([0x52, 0x53], 3, 2, 0),
  [0x54, 50, 1, 1],
  [0x55, 0, 2, 0],
  [0x56, 8, 1, 0],
  [0x57, 10, 2, 0],
  ...rows([0x58, 0x59, 0x5a], 2, 0, 1),
  [0x5b, 1, 0, 0],
  ...range(0x60, 32, () => [3, 0, 1]),
  ...range(0x80, 16, (n) => [3, n + 1, n + 2]),
  ...range(0x90, 16, (n) => [3, n + 2, n + 2]),
  ...range(0xa0, 5, (n) => [375, n + 2, 0]),
  [0xf0, 32_000, 3, 1],
  ...rows([0xf1, 0xf2], 40, 7, 1),
  [0xf3, 0, 2, 0],
  // what it costs by fork the engine knows
  [0xff, 0, 1, 0],
]

/** What each fork added, and priced anew. */
const CHANGES: readonly (readonly [since: Hardfork, rows: readonly Row[]])[] = [
  ['homestead', [[0xf4, 40, 6, 1]]],
  [
    'tangerineWhistle',
    [
      [0x31, 400, 1, 1],
      [0x3b, 700, 1, 1],
      [0x3c, 700, 4, 0],
      [0x54, 200, 1, 1],
      ...rows([0xf1, 0xf2], 700, 7, 1),
      [0xf4, 700, 6, 1],
    ],
  ],
  [
    'byzantium',
    [
      [0x3d, 2, 0, 1],
      [0x3e, 3, 3, 0],
      [0xfa, 700, 6, 1],
      [0xfd, 0, 2, 0],
    ],
  ],
  [
    'constantinople',
    [...rows([0x1b, 0x1c, 0x1d], 3, 2, 1), [0x3f, 400, 1, 1], [0xf5, 32_000, 4, 1]],
  ],
  [
    'istanbul',
    [
      [0x31, 700, 1, 1],
      [0x3f, 700, 1, 1],
      [0x46, 2, 0, 1],
      [0x47, 5, 0, 1],
      [0x54, 800, 1, 1],
    ],
  ],
  [
    // by warmth from now on (EIP-2929)
    'berlin',
    [
      ...rows([0x31, 0x3b, 0x3f, 0x54], 0, 1, 1),
      [0x3c, 0, 4, 0],
      ...rows([0xf1, 0xf2], 0, 7, 1),
      ...rows([0xf4, 0xfa], 0, 6, 1),
    ],
  ],
  ['london', [[0x48, 2, 0, 1]]],
  ['shanghai', [[0x5f, 2, 0, 1]]],
  [
    'cancun',
    [
      [0x49, 3, 1, 1],
      [0x4a, 2, 0, 1],
      [0x5c, 100, 1, 1],
      [0x5d, 100, 2, 0],
      [0x5e, 3, 3, 0],
    ],
  ],
  ['osaka', [[0x1e, 5, 1, 1]]],
]

/** The operations of a hardfork, by opcode; the others are invalid. */
export function operationsOf(hardfork: Hardfork): ReadonlyMap<number, Operation> {
  const operations = new Map<number, Operation>()
  const add = ([opcode, gas, takes, leaves]: Row): void => {
    operations.set(opcode, { gas, takes, leaves })
  }
  FRONTIER.forEach(add)
  for (const [since, changed] of CHANGES) {
    if (isAtLeast(hardfork, since)) changed.forEach(add)
  }
  return operations
}

/** The engine's table, OPERATIONS. */
export function operationTable(hardfork: Hardfork): Uint8Array {
  const bytes = new Uint8Array(256 * 8)
  const table = new DataView(bytes.buffer)
  const operations = operationsOf(hardfork)
  for (let opcode = 0; opcode < 256; opcode++) {
    const operation = operations.get(opcode)
    if (operation === undefined) {
      table.setUint16(8 * opcode + 2, INVALID, true)
      continue
    }
    const { gas, takes, leaves } = operation
    table.setUint16(8 * opcode, gas, true)
    table.setUint16(8 * opcode + 2, takes, true)
    table.setUint32(8 * opcode + 4, STACK_LIMIT - Math.max(leaves - takes, 0) - takes, true)
  }
  return bytes
}

/** The place of a fork in their order, as the engine compares them. */
export function forkNumber(hardfork: Hardfork): number {
  return HARDFORKS.indexOf(hardfork)
}

function rows(opcodes: readonly number[], gas: number, takes: number, leaves: number): Row[] {
  return opcodes.map((opcode) => [opcode, gas, takes, leaves])
}

function range(
  first: number,
  count: number,
  row: (index: number) => readonly [gas: number, takes: number, leaves: number],
): Row[] {
  return Array.from({ length: count }, (_, index) => [first + index, ...row(index)])
}
