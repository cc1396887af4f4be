// The table of opcodes, held against the library's, and the numbers that both sides of the WebAssembly have.
import { readFileSync } from 'node:fs'
import { Common, Mainnet } from '@ethereumjs/common'
import { createEVM } from '@ethereumjs/evm'
import { describe, expect, test } from 'vitest'
import * as layout from '../../../src/evm/fast/layout.ts'
import { MAX_CALL_DEPTH } from '../../../src/evm/machine.ts'
import { OP, operationsAt } from '../../../src/evm/opcodes.ts'
import { HARDFORKS, type Hardfork, isAtLeast, placeOfFork } from '../../../src/protocol/forks.ts'

const NAMES: ReadonlyMap<number, string> = new Map(
  Object.entries(OP).map(([name, opcode]) => [opcode, name]),
)

/** Words for the same operation. */
const SYNONYMS: Readonly<Record<string, string>> = { DIFFICULTY: 'PREVRANDAO' }

/** An invalid operation by definition (EIP-141), which the library counts among the others. */
const INVALID = 0xfe

async function libraryOperations(hardfork: Hardfork): Promise<[number, string, number][]> {
  const common = new Common({
    chain: Mainnet,
    hardfork: hardfork === 'frontier' ? 'chainstart' : hardfork,
  })
  const evm = await createEVM({ common })
  return [...evm.getActiveOpcodes().values()]
    .filter(({ code }) => code !== INVALID)
    .map(({ code, fullName, fee }) => [
      code,
      SYNONYMS[fullName] ?? fullName,
      baseGasOf(code, fee, hardfork),
    ])
}

/** Where the library reckons gas elsewhere. */
function baseGasOf(code: number, fee: number, hardfork: Hardfork): number {
  // all that it costs is reckoned where it runs, as a static call must refuse it first
  if (code === OP.SELFDESTRUCT) return 0
  // the second read, of the code (EIP-8038)
  const readsCode = code === OP.EXTCODESIZE || code === OP.EXTCODECOPY
  return readsCode && isAtLeast(hardfork, 'amsterdam') ? fee + 100 : fee
}

describe('the opcode table', () => {
  test.each(HARDFORKS)(
    'of %s has the names and the base gas of @ethereumjs/evm',
    async (hardfork) => {
      const ours = [...operationsAt(hardfork)].map(([opcode, { gas }]) => [
        opcode,
        NAMES.get(opcode),
        gas,
      ])
      expect(ours).toEqual(await libraryOperations(hardfork))
    },
  )

  test('has one number and one name for each opcode', () => {
    expect(NAMES.size).toBe(Object.keys(OP).length)
  })

  test.each([
    ['KECCAK256', 2, 1],
    ['EXTCODECOPY', 4, 0],
    ['DUP1', 1, 2],
    ['DUP16', 16, 17],
    ['SWAP1', 2, 2],
    ['SWAP16', 17, 17],
    ['LOG0', 2, 0],
    ['LOG4', 6, 0],
    ['CREATE2', 4, 1],
    ['CALL', 7, 1],
    ['DELEGATECALL', 6, 1],
  ] as const)('lets %s take %i words and leave %i', (name, takes, leaves) => {
    expect(operationsAt('osaka').get(OP[name])).toMatchObject({ takes, leaves })
  })
})

describe('the hardforks in WebAssembly', () => {
  const file = new URL('../../../src/evm/fast/layout.ts', import.meta.url)
  const [section = ''] = /\/\/ ---- Hardforks[\s\S]*?(?=\/\/ ----(?! Hardforks))/.exec(
    readFileSync(file, 'utf8'),
  ) ?? ['']
  const constants = [...section.matchAll(/^export const (\w+): u32 = (\d+)$/gm)]
  /** A fork's name as the layout writes it. */
  const constantOf = (fork: string): string => fork.replace(/[A-Z]/g, '_$&').toUpperCase()

  test.each(constants.map(([, name, value]) => [name, Number(value)]))(
    'number %s as %i',
    (name, value) => {
      const fork = HARDFORKS.find((each) => constantOf(each) === name)
      expect(fork).toBeDefined()
      expect(value).toBe(placeOfFork(fork as Hardfork))
    },
  )

  test('include every one whose rules the code checks', () => {
    const names = constants.map(([, name]) => name)
    expect(names).toEqual(expect.arrayContaining(['HOMESTEAD', 'BERLIN', 'LONDON', 'CANCUN']))
  })
})

test('both WebAssembly machines open the same number of frames', () => {
  expect(layout.MAX_DEPTH).toBe(MAX_CALL_DEPTH)
})
