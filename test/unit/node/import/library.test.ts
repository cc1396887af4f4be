// Blocks of amsterdam between devchain and @ethereumjs/vm: each makes the same of the same transactions, and takes what the
// other made.
import { type Block, createBlock, createBlockFromRLP } from '@ethereumjs/block'
import { Common, Mainnet } from '@ethereumjs/common'
import type { EVM } from '@ethereumjs/evm'
import { MerkleStateManager } from '@ethereumjs/statemanager'
import { createTxFromRLP } from '@ethereumjs/tx'
import { createAccount, createAddressFromString } from '@ethereumjs/util'
import { createVM, runBlock, type VM } from '@ethereumjs/vm'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { hashBytes, keccak256 } from '../../../../src/core/crypto/crypto.ts'
import { type Address, concatBytes, paddedBytes } from '../../../../src/core/hex.ts'
import { chargeAtAccess } from '../../../../src/evm/reference/patches.ts'
import { accessListOfBlock } from '../../../../src/node/calls/blockaccesslist.ts'
import type { Chain } from '../../../../src/node/chain/chain.ts'
import type { ChainOptions } from '../../../../src/node/chainoptions.ts'
import type { BlockRecord } from '../../../../src/node/ledger/blockrecord.ts'
import { headOf } from '../../../../src/node/ledger/blocktree.ts'
import { mineGiven } from '../../../../src/node/mining/miner.ts'
import { encodeAccessList } from '../../../../src/protocol/blocks/accesslist.ts'
import { encodeBlock } from '../../../../src/protocol/blocks/block.ts'
import type { Header } from '../../../../src/protocol/blocks/header.ts'
import { accountsOf, type World } from '../../../../src/state/world.ts'
import { testChain } from '../chains.ts'
import { genesisOfSteps, type Step, step, transactionsOf } from '../mining/steps.ts'

/** LIBRARY_BLOCKS=200 runs more of them than a suite has time for. */
const BLOCKS = Number(process.env.LIBRARY_BLOCKS ?? 30)
const MINER = `0x${'c0'.repeat(20)}` as Address

const options: ChainOptions = {
  hardfork: 'amsterdam',
  genesis: genesisOfSteps(),
  // as a network has it, for the library
  difficulty: 0n,
  coinbase: MINER,
  noMining: true,
}

const common = new Common({
  chain: { ...Mainnet, chainId: '33' },
  hardfork: 'amsterdam',
  customCrypto: { keccak256 },
})

/** A machine of the library with this state. */
async function machineWith(world: World): Promise<VM> {
  const stateManager = new MerkleStateManager({ common })
  for (const { address, nonce, balance, code, storage } of accountsOf(world)) {
    const place = createAddressFromString(address)
    await stateManager.putAccount(place, createAccount({ nonce, balance }))
    if (code.length > 0) await stateManager.putCode(place, code)
    for (const { slot, value } of storage.values()) {
      await stateManager.putStorage(place, paddedBytes(slot, 32), paddedBytes(value, 32))
    }
  }
  const vm = await createVM({ common, stateManager })
  chargeAtAccess(vm.evm as EVM)
  return vm
}

/** The library's block of the same transactions, with all that comes of running them. */
async function madeBy(vm: VM, { block }: BlockRecord): Promise<Block> {
  const { header, transactions } = block
  const draft = createBlock(
    {
      header: draftOf(header),
      transactions: transactions.map(({ raw }) => createTxFromRLP(raw, { common })),
      withdrawals: [],
    },
    { common },
  )
  let made: Block | undefined
  const take = ({ block: done }: { readonly block: Block }): void => {
    made = done
  }
  vm.events.on('afterBlock', take)
  await runBlock(vm, { block: draft, generate: true, skipBlockValidation: true })
  vm.events.off('afterBlock', take)
  return made!
}

/** What does not come of running the block. */
function draftOf(
  header: Header,
): NonNullable<NonNullable<Parameters<typeof createBlock>[0]>['header']> {
  return {
    parentHash: hashBytes(header.parentHash),
    coinbase: createAddressFromString(header.miner),
    number: header.number,
    timestamp: header.timestamp,
    gasLimit: header.gasLimit,
    extraData: header.extraData,
    mixHash: hashBytes(header.mixHash),
    baseFeePerGas: header.baseFeePerGas!,
    excessBlobGas: header.excessBlobGas!,
    blobGasUsed: header.blobGasUsed!,
    parentBeaconBlockRoot: hashBytes(header.parentBeaconBlockRoot!),
    slotNumber: header.slotNumber!,
  }
}

/** A chain with a block for each list of steps. */
async function grown(turns: readonly (readonly Step[])[]): Promise<Chain> {
  const chain = await testChain(options)
  const nonces = [0n, 0n, 0n]
  for (const steps of turns) {
    const transactions = transactionsOf(chain, steps, nonces, 1_000_000n)
    await chain.update(async (state, executor) => {
      const mined = await mineGiven(executor, state, transactions, { now: 0 })
      return { state: mined.state, value: undefined }
    })
  }
  return chain
}

test(`${BLOCKS} random blocks of amsterdam are the same in @ethereumjs/vm, each way`, async () => {
  const [turns] = fc.sample(
    fc.array(fc.array(step, { maxLength: 5, size: 'max' }), {
      minLength: BLOCKS,
      maxLength: BLOCKS,
      size: 'max',
    }),
    { seed: 33, numRuns: 1 },
  )
  const chain = await grown(turns!)
  const [first, ...records] = [...chain.state.tree.canonical.values()]
  const maker = await machineWith(first!.world)
  const taker = await machineWith(first!.world)
  const theirs: Uint8Array[] = []
  for (const record of records) {
    const bytes = encodeBlock(record.block)
    const made = await madeBy(maker, record)
    theirs.push(made.serialize())
    expect(made.serialize()).toEqual(bytes)
    const list = await accessListOfBlock(chain, record, { aborted: false })
    await runBlock(taker, {
      block: createBlockFromRLP(bytes, { common }),
      blockAccessList: encodeAccessList(list),
      skipBlockValidation: true,
    })
  }
  expect(theirs).toHaveLength(BLOCKS)
  const again = await testChain({ ...options, blocks: concatBytes(...theirs) })
  expect(headOf(again.state.tree).block.hash).toBe(headOf(chain.state.tree).block.hash)
})
