// devchain: what the project knows of a contract.
import { wordFromBigint } from '../../core/hex.ts'
import { call } from '../../node/calls/call.ts'
import { stateAt } from '../../node/chain/lookup.ts'
import { type DirectChange, directChanges } from '../../node/cheats/directchanges.ts'
import { latest } from '../../node/ledger/references.ts'
import type { KnownContract } from '../../project/contracts.ts'
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
import { type Methods, method } from '../common/context.ts'
import { blockOrLatest } from '../wire/decodeblock.ts'
import { refined } from '../wire/decodeobject.ts'
import {
  field,
  mapOf,
  plain,
  plainInteger,
  plainShape,
  quantityResult,
  shape,
  wei,
} from '../wire/encodeobject.ts'
import { ACCOUNT } from '../wire/examples.ts'

/** Enough for a call that does nothing. */
const READY_GAS = 100_000n

const contractShape = shape<KnownContract>('contract', {
  ...plain({ name: text, source: text }),
  guess: field(boolean, ({ isGuess }) => isGuess),
  ...plain({ via: nullable(text), proxy: nullable(text), compiler: text }),
  abi: field(asJson<KnownContract['abi']>('ABI', { type: 'array' }), ({ abi }) => abi),
  sources: field(mapOf('sources', text), ({ sources }) => sources),
})

const slotShape = shape<NamedSlot>('slot', {
  slot: field(hash, ({ slot }) => wordFromBigint(slot)),
  ...plain({ name: nullable(text), type: nullable(text) }),
  value: field(text, (named) => named.text),
  word: field(hash, ({ word }) => wordFromBigint(word)),
})

/** Blocks whose states are compared in one request. */
const MOST_SEARCHED = 10_000

const blockCount: Decoder<number> = refined(quantityNumber, (blocks, path) => {
  if (blocks >= 1 && blocks <= MOST_SEARCHED) return blocks
  throw invalid(path, `a number of blocks from 1 to ${MOST_SEARCHED}`, blocks)
})

const sideShape = plainShape('account', { balance: wei, nonce: quantityResult, code: data })

type NamedChange = DirectChange & { readonly storage: readonly string[] }

const changeShape = shape<NamedChange>('change', {
  blockNumber: field(quantityResult, ({ record }) => record.block.header.number),
  blockHash: field(hash, ({ record }) => record.block.hash),
  ...plain({ before: nullable(sideShape), after: nullable(sideShape), storage: list(text) }),
})

const tokenShape = plainShape('token', { address, symbol: text, decimals: plainInteger })

export const contractMethods: Methods = [
  method('devchain_contract', {
    summary: 'Returns name, ABI and sources of the contract that an account runs; null if unknown.',
    params: [param('account', address)],
    result: nullable(contractShape),
    example: { result: null },
    handle: async ({ project }, account) => (await project.contracts()).of(account),
  }),
  method('devchain_storage', {
    summary: 'Returns the storage of an account by the names in its layout, then unnamed slots.',
    params: [param('account', address), blockOrLatest],
    result: list(slotShape),
    example: { result: [] },
    onFork: 'here',
    handle: async ({ chain, caller, project }, account, block) => {
      const contracts = await project.contracts()
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
      const contracts = await project.contracts()
      const changes: NamedChange[] = []
      for (const each of await directChanges(chain, account, block, blocks, caller)) {
        changes.push({ ...each, storage: await contracts.changes(chain.state, each) })
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
      const contracts = await project.contracts()
      // tokens are asked without waiting, and the first call of a process waits for the machine
      await call(chain, { gas: READY_GAS }, latest)
      return contracts.tokensOf(accounts)
    },
  }),
]
