// devchain: what the project knows of contracts, and accounts and transactions in words. Names from artifacts and labels of
// clients affect only logs and traces.
import { checksumAddress } from '../../core/crypto/crypto.ts'
import type { Address } from '../../core/hex.ts'
import { call } from '../../node/calls/call.ts'
import { stateAt } from '../../node/chain/lookup.ts'
import { type DirectChange, directChanges } from '../../node/cheats/directchanges.ts'
import { latest } from '../../node/ledger/references.ts'
import type { KnownContract } from '../../project/contracts.ts'
import type { GasRow } from '../../project/gas/report.ts'
import type { CodeSources } from '../../project/solidity/sources.ts'
import type { NamedSlot } from '../../project/trace/storage.ts'
import type { CallTrace } from '../../project/trace/tree.ts'
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
import { type Decoder, type Encoder, invalid } from '../../rpc/schema.ts'
import { type Methods, method } from '../common/context.ts'
import { blockOrLatest, blockReference } from '../wire/decodeblock.ts'
import { either, isText, keyed, members, refined } from '../wire/decodeobject.ts'
import { transactionHash } from '../wire/decodetransaction.ts'
import {
  bytes32,
  encodedAs,
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
  ...plain({ slot: bytes32, name: nullable(text), type: nullable(text) }),
  value: field(text, (named) => named.text),
  ...plain({ word: bytes32 }),
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

const description = plainShape('description', {
  call: nullable(text),
  from: nullable(text),
  to: nullable(text),
  error: nullable(text),
  console: list(text),
  events: list(plainShape('event', { address, text: nullable(text) })),
})

/** An address, or `{creation}`: the code that makes a contract. */
const codeOrAccount: Decoder<Address | Uint8Array> = either(
  'account or {creation}',
  isText,
  address,
  refined(members('code', { creation: data }), ({ creation: code }, path) => {
    if (code !== undefined) return code
    throw invalid(`${path}.creation`, 'the code that makes a contract', code)
  }),
)

/** A path or JSON; validated when it is read. */
const artifacts: Decoder<unknown> = {
  name: 'path, ABI, artifact or compiler output',
  json: {},
  decode: (value, path) => {
    const isPath = typeof value === 'string' && /\S/.test(value)
    if (isPath || (typeof value === 'object' && value !== null)) return value
    throw invalid(path, 'a path, an ABI, an artifact or the output of a compiler', value)
  },
}

const labels: Encoder<ReadonlyMap<Address, string>> = encodedAs(
  mapOf('{address: name}', text),
  (all) => new Map([...all].map(([account, name]) => [checksumAddress(account), name])),
)

export const projectMethods: Methods = [
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
  method('devchain_storageChanges', {
    summary:
      'Returns how the storage of an account differs between two blocks, by the names in its layout.',
    params: [
      param('account', address),
      param('before', blockReference),
      param('after', blockReference),
    ],
    result: list(text),
    example: { params: [ACCOUNT, 'earliest', 'latest'], result: [] },
    onFork: 'here',
    handle: async ({ chain, caller, project }, account, ...blocks) => {
      const contracts = await project.contracts()
      const [older, newer] = [
        await stateAt(chain, blocks[0], caller),
        await stateAt(chain, blocks[1], caller),
      ]
      return await contracts.changesBetween(chain.state, account, older.world, newer.world)
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
  method('devchain_describeTransaction', {
    summary:
      'Returns call, error, console and events of a transaction in words; null if it is unknown.',
    params: [transactionHash],
    result: nullable(description),
    example: { result: null },
    onFork: 'own',
    handle: async ({ project }, hash) => (await project.open()).describe(hash),
  }),
  method('devchain_explainTransaction', {
    summary: 'Returns why a transaction failed and its Solidity stack, in lines; null if unknown.',
    params: [transactionHash],
    result: nullable(list(text)),
    example: { result: null },
    onFork: 'own',
    handle: async ({ project }, hash) => (await project.open()).explainMined(hash),
  }),
  method('devchain_sources', {
    summary:
      'Returns the sources of an account or {creation} code, and the place of each instruction.',
    params: [param('code', codeOrAccount)],
    result: nullable(asJson<CodeSources>('sources', { type: 'object' })),
    example: { params: [ACCOUNT], result: null },
    handle: async ({ project }, code) => (await project.open()).sourcesOf(code),
  }),
  method('devchain_names', {
    summary:
      'Returns the names of accounts: labels, contracts, symbols of tokens. Without accounts: all labels.',
    params: [optional('accounts', list(address))],
    result: labels,
    example: { params: [[ACCOUNT]], result: {} },
    handle: async ({ project }, accounts) => (await project.open()).namesOf(accounts),
  }),
  method('devchain_addArtifacts', {
    summary: 'Adds a path, an ABI, an artifact or compiler output; returns the contract count.',
    params: [param('artifacts', artifacts)],
    result: quantityNumber,
    example: { params: [[]], result: '0x1' },
    effects: 'node',
    handle: ({ project }, given) => project.addArtifacts({ given, name: 'artifacts' }),
  }),
  method('devchain_label', {
    summary: 'Names accounts in logs and traces, as {address: name}; an empty name removes one.',
    params: [param('labels', keyed('{address: name}', address, text))],
    result: labels,
    example: { params: [{ [ACCOUNT]: 'alice' }] },
    effects: 'node',
    handle: async ({ project, subscriptions }, given) => {
      const { labels: named } = await project.open()
      await named.set(given).finally(() => subscriptions.notifyNames())
      return named.all
    },
  }),
  method('devchain_traceTransaction', {
    summary: 'Returns the call tree of a transaction with names, events and storage changes.',
    params: [transactionHash],
    result: asJson<CallTrace>('trace', {}),
    onFork: 'own',
    handle: async ({ project }, transactionHash) => (await project.open()).trace(transactionHash),
  }),
  method('devchain_gasReport', {
    summary: 'Returns gas by function and deployment: calls, failed, min, average, median, max.',
    result: asJson<readonly GasRow[]>('gas report', { type: 'array', items: { type: 'object' } }),
    example: { result: [] },
    handle: async ({ project }) => (await project.gasReport()).rows,
  }),
  method('devchain_coverage', {
    summary: "Returns the coverage of the project's sources: {lcov, files, warning}.",
    result: asJson<unknown>('coverage', { type: 'object' }),
    handle: async ({ project }) => {
      const { lcov, rows, ...rest } = await project.coverage()
      return { lcov, files: rows, ...rest }
    },
  }),
]
