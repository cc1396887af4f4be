// devchain: what the project knows of a contract.
import { wordFromBigint } from '../../core/hex.ts'
import { call } from '../../node/calls/call.ts'
import { stateAt } from '../../node/chain/lookup.ts'
import { latest } from '../../node/ledger/references.ts'
import type { KnownContract, KnownToken } from '../../project/contracts.ts'
import type { NamedSlot } from '../../project/trace/storage.ts'
import { optional, param } from '../../rpc/method.ts'
import { address, asJson, boolean, hash, list, nullable, text } from '../../rpc/primitives.ts'
import { type Methods, method } from '../common/context.ts'
import { ACCOUNT } from '../common/examples.ts'
import { blockReference } from '../wire/decodeblock.ts'
import { field, mapOf, plainInteger, shape } from '../wire/encodeobject.ts'

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

const tokenShape = shape<KnownToken>('token', {
  address: field(address, (token) => token.address),
  symbol: field(text, ({ symbol }) => symbol),
  decimals: field(plainInteger, ({ decimals }) => BigInt(decimals)),
})

export const contractMethods: Methods = [
  method({
    name: 'devchain_contract',
    summary: 'Returns name, ABI and sources of the contract that an account runs; null if unknown.',
    params: [param('account', address)],
    result: nullable(contractShape),
    example: { params: [ACCOUNT], result: null },
    handle: async ({ project }, account) => {
      const { artifacts, contracts, names } = await project.open()
      await artifacts.catchUp()
      return (await contracts()).of(names.world, account)
    },
  }),
  method({
    name: 'devchain_storage',
    summary: 'Returns the storage of an account by the names in its layout, then unnamed slots.',
    params: [param('account', address), optional('block', blockReference, latest)],
    result: list(slotShape),
    example: { params: [ACCOUNT, 'latest'], result: [] },
    onFork: 'here',
    handle: async ({ chain, caller, project }, account, block) => {
      const { artifacts, contracts } = await project.open()
      await artifacts.catchUp()
      const { world } = await stateAt(chain, block, caller)
      return (await contracts()).storage(chain.state, world, account)
    },
  }),
  method({
    name: 'devchain_tokens',
    summary: 'Returns symbol and decimals of those accounts that are tokens.',
    params: [param('accounts', list(address))],
    result: list(tokenShape),
    example: { params: [[ACCOUNT]], result: [] },
    handle: async ({ chain, project }, accounts) => {
      const { contracts, names } = await project.open()
      // tokens are asked without waiting, and the first call of a process waits for the machine
      await call(chain, { gas: READY_GAS }, latest)
      return (await contracts()).tokensOf(names.world, accounts)
    },
  }),
]
