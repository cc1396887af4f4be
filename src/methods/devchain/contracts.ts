// devchain: what the project knows of a contract.
import { wordFromBigint } from '../../core/hex.ts'
import { call } from '../../node/calls/call.ts'
import { stateAt } from '../../node/chain/lookup.ts'
import { type DirectChange, directChanges } from '../../node/cheats/directchanges.ts'
import { latest } from '../../node/ledger/references.ts'
import type { KnownContract, KnownToken } from '../../project/contracts.ts'
import type { NamedSlot } from '../../project/trace/storage.ts'
import { optional, param } from '../../rpc/method.ts'
import {
  address,
  asJson,
  boolean,
  data,
  hash,
  list,
  nullable,
  quantityNumber,
  text,
} from '../../rpc/primitives.ts'
import { type Decoder, invalid } from '../../rpc/schema.ts'
import type { Account } from '../../state/world.ts'
import { type Methods, method } from '../common/context.ts'
import { blockOrLatest } from '../wire/decodeblock.ts'
import { refined } from '../wire/decodeobject.ts'
import { field, mapOf, plainInteger, quantityResult, shape, wei } from '../wire/encodeobject.ts'
import { ACCOUNT } from '../wire/examples.ts'

/** Enough for a call that does nothing. */
const READY_GAS = 100_000n

const contractShape = shape<KnownContract>('contract', {
  name: field(text, ({ name }) => name),
  source: field(text, ({ source }) => source),
  guess: field(boolean, ({ isGuess }) => isGuess),
  via: field(nullable(text), ({ via }) => via),
  proxy: field(nullable(text), ({ proxy }) => proxy),
  compiler: field(text, ({ compiler }) => compiler),
  abi: field(asJson<KnownContract['abi']>('ABI', { type: 'array' }), ({ abi }) => abi),
  sources: field(mapOf('sources', text), ({ sources }) => sources),
})

const slotShape = shape<NamedSlot>('slot', {
  slot: field(hash, ({ slot }) => wordFromBigint(slot)),
  name: field(nullable(text), ({ name }) => name),
  type: field(nullable(text), ({ type }) => type),
  value: field(text, (named) => named.text),
  word: field(hash, ({ word }) => wordFromBigint(word)),
})

/** Blocks whose states are compared in one request. */
const MOST_SEARCHED = 10_000

const blockCount: Decoder<number> = refined(quantityNumber, (blocks, path) => {
  if (blocks >= 1 && blocks <= MOST_SEARCHED) return blocks
  throw invalid(path, `a number of blocks from 1 to ${MOST_SEARCHED}`, blocks)
})

type AccountSide = Pick<Account, 'balance' | 'nonce' | 'code'>

const sideShape = shape<AccountSide>('account', {
  balance: field(wei, ({ balance }) => balance),
  nonce: field(quantityResult, ({ nonce }) => nonce),
  code: field(data, ({ code }) => code),
})

interface TextedChange extends DirectChange {
  readonly storage: readonly string[]
}

const changeShape = shape<TextedChange>('change', {
  blockNumber: field(quantityResult, ({ record }) => record.block.header.number),
  blockHash: field(hash, ({ record }) => record.block.hash),
  before: field(nullable(sideShape), ({ before }) => before),
  after: field(nullable(sideShape), ({ after }) => after),
  storage: field(list(text), ({ storage }) => [...storage]),
})

const tokenShape = shape<KnownToken>('token', {
  address: field(address, (token) => token.address),
  symbol: field(text, ({ symbol }) => symbol),
  decimals: field(plainInteger, ({ decimals }) => BigInt(decimals)),
})

export const contractMethods: Methods = [
  method('devchain_contract', {
    summary: 'Returns name, ABI and sources of the contract that an account runs; null if unknown.',
    params: [param('account', address)],
    result: nullable(contractShape),
    example: { result: null },
    handle: async ({ project }, account) => {
      const contracts = await (await project.open()).contracts()
      return contracts.of(account)
    },
  }),
  method('devchain_storage', {
    summary: 'Returns the storage of an account by the names in its layout, then unnamed slots.',
    params: [param('account', address), blockOrLatest],
    result: list(slotShape),
    example: { result: [] },
    onFork: 'here',
    handle: async ({ chain, caller, project }, account, block) => {
      const contracts = await (await project.open()).contracts()
      const { world } = await stateAt(chain, block, caller)
      return contracts.storage(chain.state, world, account)
    },
  }),
  method('devchain_directChanges', {
    summary: 'Returns what was set of an account without a transaction in the blocks up to one.',
    params: [param('account', address), blockOrLatest, optional('blocks', blockCount, 1_000)],
    result: list(changeShape, 'change'),
    example: { params: [ACCOUNT, 'latest', 100], result: [] },
    onFork: 'here',
    handle: async ({ chain, caller, project }, account, block, blocks) => {
      const contracts = await (await project.open()).contracts()
      const changes: TextedChange[] = []
      for (const each of await directChanges(chain, account, { block, blocks }, caller)) {
        const { before, after } = each
        const storage = await contracts.changes(chain.state, before, after)
        changes.push({ ...each, storage })
      }
      return changes
    },
  }),
  method('devchain_tokens', {
    summary: 'Returns symbol and decimals of those accounts that are tokens.',
    params: [param('accounts', list(address))],
    result: list(tokenShape),
    example: { params: [[ACCOUNT]], result: [] },
    handle: async ({ chain, project }, accounts) => {
      const contracts = await (await project.open()).contracts()
      // tokens are asked without waiting, and the first call of a process waits for the machine
      await call(chain, { gas: READY_GAS }, latest)
      return contracts.tokensOf(accounts)
    },
  }),
]
