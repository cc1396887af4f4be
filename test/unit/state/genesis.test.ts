// Genesis files: what is read, what is refused and how it is said, and the world that comes of it.
import { parseGethGenesisState } from '@ethereumjs/common'
import { genesisMPTStateRoot } from '@ethereumjs/mpt'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { EMPTY_CODE_HASH, keccakHash } from '../../../src/core/crypto/crypto.ts'
import { DevchainError } from '../../../src/core/errors.ts'
import { type Address, bytesFromHex, hexFromBytes } from '../../../src/core/hex.ts'
import { createDefaultAlloc, parseGenesis, worldFromAlloc } from '../../../src/state/genesis.ts'
import { CREATE2_DEPLOYER, systemContracts } from '../../../src/state/predeploys.ts'
import { accountAt, accountsOf, stateRoot, storageAt } from '../../../src/state/world.ts'

const ALICE = '0x00000000000000000000000000000000000a11ce' as Address
const BOB = '0x0000000000000000000000000000000000000b0b' as Address

/** A file that both we and @ethereumjs read. */
const FILE = {
  config: {},
  alloc: {
    [ALICE.slice(2).toUpperCase()]: { balance: '5' },
    [BOB]: {
      balance: '0xde0b6b3a7640000',
      nonce: '0x1',
      code: '0x6001',
      storage: {
        [`0x${'0'.repeat(63)}1`]: `0x${'0'.repeat(63)}2`,
        [`0x${'f'.repeat(64)}`]: `0x${'a'.repeat(64)}`,
      },
    },
  },
}

const messageOf = (json: unknown): string => {
  try {
    parseGenesis(json)
  } catch (error) {
    if (error instanceof DevchainError && error.word === 'INVALID_PARAMS') return error.message
    throw error
  }
  return 'accepted'
}

describe('a genesis file', () => {
  it('is parsed completely', () => {
    const genesis = parseGenesis({
      config: { chainId: 1337, homesteadBlock: 0 },
      nonce: '0x42',
      timestamp: '1700000000',
      extraData: '0xABcd',
      gasLimit: '0x1c9c380',
      gasUsed: '0x0',
      difficulty: 131072,
      mixHash: `0x${'AB'.repeat(32)}`,
      parentHash: `0x${'00'.repeat(32)}`,
      coinbase: '0x00000000000000000000000000000000000A11CE',
      number: '0x5',
      baseFeePerGas: '1000000000',
      excessBlobGas: '0x1',
      blobGasUsed: '0x2',
      alloc: {},
    })
    expect(genesis).toEqual({
      config: { chainId: 1337, homesteadBlock: 0 },
      nonce: 0x42n,
      timestamp: 1_700_000_000n,
      extraData: Uint8Array.of(0xab, 0xcd),
      gasLimit: 30_000_000n,
      gasUsed: 0n,
      difficulty: 131_072n,
      mixHash: `0x${'ab'.repeat(32)}`,
      parentHash: `0x${'00'.repeat(32)}`,
      coinbase: ALICE,
      number: 5n,
      baseFeePerGas: 1_000_000_000n,
      excessBlobGas: 1n,
      blobGasUsed: 2n,
      alloc: new Map(),
    })
  })

  it('may leave every field out', () => {
    const genesis = parseGenesis({})
    expect(genesis.alloc.size).toBe(0)
    expect(genesis.gasLimit).toBeUndefined()
    expect(genesis.config).toBeUndefined()
  })

  it('may name accounts with or without 0x, in any letter case, and comment on them', () => {
    const { alloc } = parseGenesis({
      _comment: 'for tests',
      '//': 'also',
      ALLOC: {
        '00000000000000000000000000000000000A11ce': {
          balance: '0xDE0B6B3A7640000',
          privateKey: 'known',
          comment: 'a dev account',
        },
        '0X0000000000000000000000000000000000000B0B': {
          balance: '1000000000000000000000000',
          nonce: 7,
          code: '0x6001',
          storage: { '0x0': '0x2a', [`0x${'0'.repeat(63)}1`]: `${'0'.repeat(62)}FF`, '10': '0' },
        },
      },
    })
    expect(alloc.get(ALICE)).toEqual({
      balance: 10n ** 18n,
      nonce: 0n,
      code: new Uint8Array(0),
      storage: new Map(),
    })
    expect(alloc.get(BOB)).toEqual({
      balance: 10n ** 24n,
      nonce: 7n,
      code: Uint8Array.of(0x60, 0x01),
      storage: new Map([
        [0n, 0x2an],
        [1n, 0xffn],
        [16n, 0n],
      ]),
    })
  })

  it.each([
    [null, 'genesis: expected an object, got null'],
    [[], 'genesis: expected an object, got []'],
    ['{}', 'genesis: expected an object, got "{}"'],
    [{ config: 5 }, 'config: expected an object, got 5'],
    [{ alloc: [] }, 'alloc: expected an object, got []'],
    [{ gasLimit: 'much' }, 'gasLimit: expected an integer of at most 64 bits'],
    [{ gasLimit: `0x1${'0'.repeat(16)}` }, 'gasLimit: expected an integer of at most 64 bits'],
    [{ gasLimit: -1 }, 'gasLimit: expected an integer of at most 64 bits'],
    [{ gasLimit: 1.5 }, 'gasLimit: expected an integer of at most 64 bits'],
    [{ gasLimit: null }, 'gasLimit: expected an integer of at most 64 bits'],
    [{ timestamp: '' }, 'timestamp: expected an integer of at most 64 bits'],
    [{ timestamp: '0x' }, 'timestamp: expected an integer of at most 64 bits'],
    [{ difficulty: `0x1${'0'.repeat(64)}` }, 'difficulty: expected an integer of at most 256 bits'],
    [{ coinbase: '0x12' }, 'coinbase: expected 20 bytes as 40 hex digits, got "0x12"'],
    [{ mixHash: 5 }, 'mixHash: expected 32 bytes as 64 hex digits, got 5'],
    [{ extraData: '0x123' }, 'extraData: expected bytes as an even number of hex digits'],
    [{ extraData: 'hello' }, 'extraData: expected bytes as an even number of hex digits'],
    [{ gaslimt: 5 }, 'gaslimt: expected one of config, timestamp, gasLimit'],
    [{ alloc: { '0x12': {} } }, 'alloc.0x12: expected 20 bytes as 40 hex digits, got "0x12"'],
    [{ alloc: { [ALICE]: '5' } }, `alloc.${ALICE}: expected an object, got "5"`],
    [
      { alloc: { [ALICE]: { balance: 1e21 } } },
      `alloc.${ALICE}.balance: expected an integer above`,
    ],
    [
      { alloc: { [ALICE]: { balnce: 1 } } },
      `alloc.${ALICE}.balnce: expected one of balance, nonce`,
    ],
    [{ alloc: { [ALICE]: { code: '0xzz' } } }, `alloc.${ALICE}.code: expected bytes`],
    [{ alloc: { [ALICE]: { storage: [] } } }, `alloc.${ALICE}.storage: expected an object, got []`],
    [{ alloc: { [ALICE]: { storage: { x: '1' } } } }, `alloc.${ALICE}.storage.x: expected 1 to 64`],
    [{ alloc: { [ALICE]: { storage: { 1: 1 } } } }, `alloc.${ALICE}.storage.1: expected 1 to 64`],
    [
      { alloc: { [ALICE]: { storage: { '0x1': '1', '0x01': '2' } } } },
      `alloc.${ALICE}.storage.0x01: expected each slot once`,
    ],
    [
      { alloc: { [ALICE]: {}, [ALICE.slice(2)]: {} } },
      `alloc.${ALICE.slice(2)}: expected each address once`,
    ],
    [JSON.parse('{"alloc": {"__proto__": {}}}'), 'alloc.__proto__: expected 20 bytes'],
  ])('that is %j is refused', (json, expected) => {
    expect(messageOf(json)).toContain(`invalid genesis: ${expected}`)
    expect(messageOf(json)).not.toContain('\n')
  })

  it('with many wrong fields is refused with all of them, up to a limit', () => {
    const two = messageOf({ gasLimit: 'x', alloc: { [ALICE]: { nonce: 'y' } } })
    expect(two).toMatch(/gasLimit: .*; alloc\.0x0+a11ce\.nonce: .*got "y"$/)
    const many = Object.fromEntries(Array.from({ length: 25 }, (_, i) => [`wrong${i}`, i]))
    expect(messageOf(many)).toMatch(/wrong9.*; and 15 more$/)
    expect(messageOf(many)).not.toContain('wrong10')
  })

  it('of any JSON is parsed, or refused as invalid', () => {
    const names = ['alloc', 'config', 'nonce', 'coinbase', 'extraData', ALICE, 'storage', 'balance']
    const anyFile = fc.oneof(
      fc.jsonValue(),
      fc.dictionary(
        fc.constantFrom(...names),
        fc.oneof(fc.jsonValue(), fc.dictionary(fc.constantFrom(...names), fc.jsonValue())),
      ),
    )
    fc.assert(
      fc.property(anyFile, (json) => {
        expect(messageOf(json)).toMatch(/^(accepted|invalid genesis)/)
      }),
      { seed: 31, numRuns: 500 },
    )
  })
})

describe('worldFromAlloc', () => {
  it('creates the accounts of the alloc, without slots of value zero', () => {
    const world = worldFromAlloc(parseGenesis(FILE).alloc)
    expect(accountAt(world, ALICE)).toMatchObject({ balance: 5n, codeHash: EMPTY_CODE_HASH })
    expect(accountAt(world, ALICE)?.storage.isEmpty).toBe(true)
    expect(storageAt(world, BOB, 1n)).toBe(2n)
    expect([...(accountAt(world, BOB)?.storage.values() ?? [])]).toHaveLength(2)
    expect(accountAt(world, BOB)).toMatchObject({
      nonce: 1n,
      codeHash: keccakHash(bytesFromHex('0x6001')),
    })
  })

  it('has the state root that @ethereumjs computes from the same file', async () => {
    const oracle = await genesisMPTStateRoot(parseGethGenesisState(FILE as never))
    expect(stateRoot(worldFromAlloc(parseGenesis(FILE).alloc))).toBe(hexFromBytes(oracle))
  })

  it('has the well-known root of the empty state without accounts', () => {
    expect(stateRoot(worldFromAlloc(new Map()))).toBe(
      '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421',
    )
  })
})

describe('the default alloc', () => {
  const options = { accounts: [ALICE, BOB], balance: 7n, create2: true, hardfork: 'osaka' } as const

  it('has the dev accounts, the create2 deployer and the system contracts of the fork', () => {
    const world = worldFromAlloc(createDefaultAlloc(options))
    expect(accountAt(world, ALICE)).toMatchObject({ nonce: 0n, balance: 7n })
    for (const { address, code } of [...systemContracts('osaka'), CREATE2_DEPLOYER]) {
      expect(accountAt(world, address)).toMatchObject({ nonce: 1n, balance: 0n, code })
    }
    expect([...accountsOf(world)]).toHaveLength(7)
  })

  it('leaves out the deployer without create2, and contracts of later forks', () => {
    const alloc = createDefaultAlloc({ ...options, create2: false, hardfork: 'london' })
    expect([...alloc.keys()]).toEqual([ALICE, BOB])
  })
})
