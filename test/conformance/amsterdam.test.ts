// Official blockchain tests of amsterdam, on each engine. Where the vectors are absent there is nothing to run.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { DevchainError } from '../../src/core/errors.ts'
import { type Address, bytesFromHex, type Hash } from '../../src/core/hex.ts'
import type { Executor, Jobs } from '../../src/evm/executor.ts'
import { createChain } from '../../src/node/create.ts'
import { BlockImport } from '../../src/node/import/importblocks.ts'
import { headOf } from '../../src/node/ledger/blocktree.ts'
import type { ChainState } from '../../src/node/ledger/chainstate.ts'
import { OPTIONS } from '../../src/options/table.ts'
import { decodeBlock } from '../../src/protocol/blocks/blockdecoding.ts'
import type { Genesis, GenesisAlloc } from '../../src/state/genesis.ts'
import { allEngines } from '../support/evm/engines.ts'
import { vectorsFolder } from './vectors.ts'

interface RawAccount {
  readonly nonce: string
  readonly balance: string
  readonly code: string
  readonly storage: Readonly<Record<string, string>>
}

type RawAlloc = Readonly<Record<string, RawAccount>>

interface Vector {
  readonly name: string
  readonly genesis: {
    readonly hash: string
    readonly stateRoot: string
    readonly gasLimit?: string
  }
  readonly pre: RawAlloc
  readonly blocks: readonly {
    readonly rlp: string
    readonly expectException?: string
    readonly hash: string
  }[]
  readonly lastblockhash: string
}

interface Vectors {
  readonly common: {
    readonly genesisHeader: Readonly<Record<string, string>>
    readonly pre: RawAlloc
  }
  readonly tests: readonly Vector[]
}

/** By the exceptions that the vectors expect. */
const RULES: Readonly<Record<string, RegExp>> = {
  'BlockException.INVALID_BLOCK_ACCESS_LIST': /^block \d+: block access list: /,
}

const folder = vectorsFolder()
const file = folder === undefined ? '' : join(folder, '../amsterdam/vectors.json')

if (!existsSync(file)) {
  test.skip('official tests of amsterdam: no vectors, DEVCHAIN_VECTORS names no folder with amsterdam/', () => {})
} else {
  const vectors = JSON.parse(readFileSync(file, 'utf8')) as Vectors
  describe.each(allEngines())('the official tests of amsterdam on the engine: $name', (engine) => {
    const jobs = engine.jobsWithin(OPTIONS.memoryLimit.default)
    test.each(vectors.tests)('$name', (vector) => run(jobs, vectors.common, vector))
  })
}

async function run(jobs: Jobs, common: Vectors['common'], vector: Vector): Promise<void> {
  const blocks = new BlockImport(await beginning(common, vector))
  expect(headOf(blocks.state.tree).block.hash).toBe(vector.genesis.hash)
  const executor: Executor = { ...jobs, close: () => undefined }
  for (const { rlp, hash, expectException } of vector.blocks) {
    const before = headOf(blocks.state.tree)
    const added = blocks.add(executor, decodeBlock(bytesOf(rlp)))
    if (expectException === undefined) {
      await added
      expect(headOf(blocks.state.tree).block.hash).toBe(hash)
    } else {
      const error = await added.catch((thrown: unknown) => thrown)
      expect(error).toBeInstanceOf(DevchainError)
      expect((error as DevchainError).message).toMatch(RULES[expectException] ?? /^$/)
      expect(headOf(blocks.state.tree)).toBe(before)
    }
  }
  expect(headOf(blocks.state.tree).block.hash).toBe(vector.lastblockhash)
}

async function beginning(
  { genesisHeader, pre }: Vectors['common'],
  vector: Vector,
): Promise<ChainState> {
  const number = (name: string): bigint => BigInt(genesisHeader[name] ?? '0x0')
  const genesis: Partial<Genesis> = {
    alloc: allocOf({ ...pre, ...vector.pre }),
    timestamp: number('timestamp'),
    gasLimit: BigInt(vector.genesis.gasLimit ?? number('gasLimit')),
    difficulty: 0n,
    extraData: bytesFromHex(genesisHeader.extraData ?? '0x'),
    baseFeePerGas: number('baseFeePerGas'),
    coinbase: genesisHeader.coinbase as Address,
    mixHash: genesisHeader.mixHash as Hash,
    config: {},
  }
  const chain = await createChain({
    genesis: genesis as Genesis,
    chainId: 1n,
    accounts: 0,
    hardfork: 'amsterdam',
    noCreate2: true,
  })
  const { state } = chain
  await chain.close()
  return { ...state, config: { ...state.config, ruleset: 'network' } }
}

function allocOf(accounts: RawAlloc): GenesisAlloc {
  return new Map(
    Object.entries(accounts).map(([address, { nonce, balance, code, storage }]) => [
      address.toLowerCase() as Address,
      {
        nonce: BigInt(nonce),
        balance: BigInt(balance),
        code: bytesFromHex(code),
        storage: new Map(
          Object.entries(storage).map(([slot, value]) => [BigInt(slot), BigInt(value)]),
        ),
      },
    ]),
  )
}

/** `{5b*3}` stands for 5b5b5b. */
function bytesOf(text: string): Uint8Array {
  const whole = text.replace(/\{([0-9a-f]{2})\*(\d+)\}/g, (_, byte: string, count: string) =>
    byte.repeat(Number(count)),
  )
  return bytesFromHex(whole)
}
