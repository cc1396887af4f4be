// debug: look-ups by hash or key, accounts in the middle of a block, and the head of the chain.
import { DevchainError } from '../../core/errors.ts'
import { bytesFromHex, type Hash, hashFromBytes, paddedBytes } from '../../core/hex.ts'
import { yielding } from '../../core/yield.ts'
import { replayOne } from '../../node/calls/replay.ts'
import type { Chain } from '../../node/chain/chain.ts'
import { recordAt, stateAt } from '../../node/chain/lookup.ts'
import { headOf } from '../../node/ledger/blocktree.ts'
import { reorganize } from '../../node/mining/reorganize.ts'
import { param } from '../../rpc/method.ts'
import {
  address,
  asJson,
  data,
  hash,
  list,
  nullable,
  quantity,
  quantityNumber,
} from '../../rpc/primitives.ts'
import { type Decoder, type Encoder, invalid } from '../../rpc/schema.ts'
import { accountAt, accountsOf, emptyAccount, type World } from '../../state/world.ts'
import { nullCommand } from '../common/command.ts'
import { type Methods, method } from '../common/context.ts'
import { requireUnlinked } from '../common/peers.ts'
import { block, blockOrLatest } from '../wire/decodeblock.ts'
import { accountInfo } from '../wire/encodeaccount.ts'
import { quantityResult } from '../wire/encodeobject.ts'
import { ACCOUNT, UNKNOWN } from '../wire/examples.ts'

/** geth's prefix of code keys: the letter c. */
const CODE_PREFIX = 0x63

const CODE_KEY_LENGTH = 33

/**
 * geth's database key of code: the letter c and the code's hash, as 0x hex or text.
 * @see https://github.com/paradigmxyz/reth/blob/main/crates/rpc/rpc/src/debug.rs debug_db_get
 */
const codeKey: Decoder<Hash> = {
  name: 'key of code',
  json: { title: 'key', type: 'string' },
  decode: (value, path) => {
    const bytes =
      typeof value === 'string' && !value.startsWith('0x')
        ? Uint8Array.from(value, (letter) => letter.charCodeAt(0))
        : data.decode(value, path)
    if (bytes.length === CODE_KEY_LENGTH && bytes[0] === CODE_PREFIX) {
      return hashFromBytes(bytes.subarray(1))
    }
    throw invalid(
      path,
      "0x63 and the 32 bytes of a code's hash, as there is no database with other keys",
      value,
    )
  },
}

const badBlock: Encoder<never> = asJson('bad block', {
  type: 'object',
  required: ['hash', 'block', 'rlp'],
})

export const debugLookupMethods: Methods = [
  method('debug_codeByHash', {
    summary: 'Returns code by its Keccak-256, if an account has it after a block; otherwise null.',
    params: [param('hash', hash), blockOrLatest],
    result: nullable(data),
    example: { params: [UNKNOWN], result: null },
    onFork: 'code',
    handle: async ({ chain, caller }, codeHash, block) =>
      codeIn((await stateAt(chain, block, caller)).world, codeHash),
  }),
  method('debug_dbGet', {
    summary: "Returns code by geth's database key: 0x63 and the code hash.",
    params: [param('key', codeKey)],
    result: nullable(data),
    example: { params: [`0x63${'ab'.repeat(32)}`], result: null },
    handle: ({ chain }, codeHash) => codeIn(newestWorld(chain), codeHash),
  }),
  method('debug_preimage', {
    summary: 'Returns the address or storage slot whose Keccak-256 is a key of the newest state.',
    params: [param('hash', hash)],
    result: data,
    handle: ({ chain }, wanted) => preimageIn(newestWorld(chain), wanted),
  }),
  method('debug_accountInfoAt', {
    summary: 'Returns an account after the transaction at an index of a block; null if none.',
    params: [block, param('index', quantityNumber), param('address', address)],
    result: nullable(accountInfo),
    example: { params: ['latest', '0x0', ACCOUNT], result: null },
    onFork: 'replay',
    handle: async ({ chain, caller }, block, index, account) => {
      const record = await recordAt(chain, block, caller)
      if (index >= record.block.transactions.length) return null
      const { outcome } = await replayOne(chain, { record, index }, () => undefined)
      return accountAt(outcome.world, account) ?? emptyAccount(account)
    },
  }),
  method('debug_getBadBlocks', {
    summary: 'Returns rejected blocks: always an empty list.',
    result: list(badBlock),
    example: { result: [] },
    handle: () => [],
  }),
  nullCommand('debug_freeOSMemory', {
    summary: 'Runs the garbage collector; all requests wait for it.',
    effects: 'node',
    handle: () => {
      collectGarbage()
    },
  }),
  method('debug_wireProtocolQueueSize', {
    summary: 'Returns how many peer messages wait to be sent or handled.',
    result: quantityResult,
    example: { result: '0x0' },
    handle: ({ peers }) => BigInt(peers.now?.queueSize() ?? 0),
  }),
  nullCommand('debug_setHead', {
    summary: 'Removes all blocks after a number, as a reorg does, with their transactions.',
    params: [param('number', quantity)],
    example: { params: ['0x0'], result: null },
    handle: async ({ chain, caller, peers }, number) => {
      requireUnlinked({ peers }, 'take blocks off the chain')
      const now = chain.environment.now()
      await chain.update(
        (state, executor) => {
          const head = headOf(state.tree).block.header.number
          if (number === head) return { state, value: undefined }
          if (number > head) throw invalid('number', `a block up to the newest, ${head}`, number)
          const depth = head - number
          return reorganize(executor, state, { depth, blocks: [], requeue: false, now })
        },
        { cancellation: caller },
      )
    },
  }),
]

function newestWorld({ state }: Chain): World {
  return headOf(state.tree).world
}

async function codeIn(world: World, codeHash: Hash): Promise<Uint8Array | null> {
  for await (const account of yielding(accountsOf(world))) {
    if (account.codeHash === codeHash) return account.code
  }
  return null
}

/** @throws {DevchainError} `NOT_FOUND` for a hash without a known key */
async function preimageIn(world: World, wanted: Hash): Promise<Uint8Array> {
  const key = bytesFromHex(wanted)
  const account = world.accounts.get(key)
  if (account !== undefined) return bytesFromHex(account.address)
  for await (const { storage } of yielding(accountsOf(world))) {
    const slot = storage.get(key)
    if (slot !== undefined) return paddedBytes(slot.slot, 32)
  }
  const message = `unknown preimage: ${wanted} is no hash of an address or a slot of the newest state`
  throw new DevchainError('NOT_FOUND', message)
}

/** V8 exposes this function only under a flag, which is reset: cached bytecode is valid for one set of flags. */
function collectGarbage(): void {
  const { setFlagsFromString } = process.getBuiltinModule('node:v8')
  const { runInNewContext } = process.getBuiltinModule('node:vm')
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  setFlagsFromString('--no-expose-gc')
  collect()
}
