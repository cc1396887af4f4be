// hardhat: accounts and impersonation, mining and the pool, chain information, reset, logging, and compilations.
import { MAX_UINT64 } from '../../core/bigints.ts'
import { keccakHash } from '../../core/crypto/crypto.ts'
import { DevchainError, invalidParams, printValue } from '../../core/errors.ts'
import { ether, fee, listed, number, plural } from '../../core/format.ts'
import { type Address, concatBytes, paddedBytes, quantityFromBigint } from '../../core/hex.ts'
import { objectAt } from '../../core/objects.ts'
import { impersonateAccount, stopImpersonating } from '../../node/accounts/accounts.ts'
import { editAccount } from '../../node/cheats/edit.ts'
import { changeAccounts } from '../../node/commands/settings.ts'
import { RESET, reset, resetTo } from '../../node/commands/snapshots.ts'
import { headOf } from '../../node/ledger/blocktree.ts'
import { type ChainState, hashAfter, type Snapshot } from '../../node/ledger/chainstate.ts'
import { isInstant } from '../../node/ledger/miningmode.ts'
import { snapshotsOf } from '../../node/ledger/snapshots.ts'
import type { Upstream } from '../../node/ledger/upstream.ts'
import { dropTransaction } from '../../node/mining/drop.ts'
import { nextRules } from '../../node/mining/environment.ts'
import { FORK_BLOCKS, isForkBlock, readForkUrl, showFork } from '../../options/fork.ts'
import { isAtLeast } from '../../protocol/forks.ts'
import { optional, param, secret } from '../../rpc/method.ts'
import { address, asJson, boolean, data, hash, quantity, text } from '../../rpc/primitives.ts'
import { type Decoder, type Encoder, invalid, type Json } from '../../rpc/schema.ts'
import { nonceAt, withSlot } from '../../state/world.ts'
import { change, command, edit, exchange, trueCommand, unsupported } from '../common/command.ts'
import {
  type ForkOrder,
  headBlock,
  type MethodContext,
  type Methods,
  method,
} from '../common/context.ts'
import { mineOn } from '../common/mine.ts'
import { requireFork, requireUnlinked } from '../common/require.ts'
import { clientVersionOf } from '../common/version.ts'
import { members, oneOrMore } from '../wire/decodeobject.ts'
import { word } from '../wire/decodeoverrides.ts'
import { transactionHash } from '../wire/decodetransaction.ts'
import { field, fieldIfAny, plainInteger, shape } from '../wire/encodeobject.ts'
import { STRANGER } from '../wire/examples.ts'

/** A block of the forked network; also a JSON integer. */
const forkBlock: Decoder<string> = {
  name: 'block of a network',
  json: { title: 'block of a network', anyOf: [{ type: 'string' }, { type: 'integer' }] },
  decode: (value, path) => {
    const isText = typeof value === 'string' && isForkBlock(value)
    if (isText || Number.isSafeInteger(value)) return String(value)
    throw invalid(path, FORK_BLOCKS, value)
  },
}

const forkMembers = { jsonRpcUrl: text, blockNumber: forkBlock }

const forkingMember = members('forking', forkMembers)

/** Anvil also accepts the fork members without `forking` around them. */
const optionMembers = members('options', { forking: forkingMember, ...forkMembers })

/** The fork after the reset: undefined for none, or the initial one. */
const resetOptions: Decoder<ForkOrder | undefined> = {
  name: 'options',
  json: optionMembers.json,
  decode: (value, path, notes) => {
    requireMeant(value, path, ['forking', 'jsonRpcUrl', 'blockNumber'])
    const { forking, ...order } = optionMembers.decode(value, path, notes)
    if (forking === undefined) {
      return Object.keys(order).length === 0 ? undefined : orderOf(order, path)
    }
    const inside = (value as { readonly forking: unknown }).forking
    requireMeant(inside, `${path}.forking`, ['jsonRpcUrl', 'blockNumber'])
    return orderOf(forking, `${path}.forking`)
  },
}

/** @throws {DevchainError} `INVALID_PARAMS` for a list, and for an object with only unknown members */
function requireMeant(value: unknown, path: string, known: readonly string[]): void {
  const names = Object.keys(value ?? {})
  const isMeant = names.length === 0 || names.some((name) => known.includes(name))
  if (!Array.isArray(value) && isMeant) return
  const got = Array.isArray(value) ? printValue(value) : `the members ${names.join(', ')}`
  const message = `${path}: expected {forking: {jsonRpcUrl, blockNumber}} or nothing, got ${got}`
  throw invalidParams(message)
}

function orderOf(
  { jsonRpcUrl, blockNumber }: { readonly [Name in keyof typeof forkMembers]?: string | undefined },
  path: string,
): ForkOrder {
  if (jsonRpcUrl === undefined) return { url: undefined, block: blockNumber }
  const read = readForkUrl(jsonRpcUrl)
  if (read === undefined) {
    const message = `${path}.jsonRpcUrl: expected a node URL (http, https, ws or wss), got ${showFork(jsonRpcUrl)}`
    throw invalidParams(message)
  }
  if (read.block !== undefined && blockNumber !== undefined) {
    const message = `${path}: expected one block, got @${read.block} and blockNumber ${blockNumber}`
    throw invalidParams(message)
  }
  return { url: read.urls[0], block: blockNumber ?? read.block }
}

function namesAny({ url, block }: ForkOrder): boolean {
  return url !== undefined || block !== undefined
}

/** By id: number and hash of the block of each snapshot. */
const snapshotsShape: Encoder<readonly Snapshot[]> = {
  name: 'snapshots',
  json: { type: 'object', additionalProperties: { type: 'array' } },
  encode: (snapshots) =>
    Object.fromEntries(
      snapshots.map(({ id, state }): [string, Json] => {
        const { header, hash: blockHash } = headOf(state.tree).block
        return [`0x${id.toString(16)}`, [Number(header.number), blockHash]]
      }),
    ),
}

/** The forked network in hardhat's form. */
const forkedNetwork: Encoder<Upstream> = shape<Upstream>('forked network', {
  chainId: field(plainInteger, ({ chainId }) => chainId),
  forkBlockNumber: field(plainInteger, ({ number }) => number),
  forkBlockHash: field(hash, (upstream) => upstream.hash),
})

const compilerJson: Decoder<object> = {
  name: 'JSON of a compiler',
  json: { type: 'object' },
  decode: (value, path) => objectAt(path, value, 'standard JSON of the compiler'),
}

export const hardhatMethods: Methods = [
  command('hardhat_setBalance', {
    aliases: ['anvil_setBalance', 'tenderly_setBalance', 'evm_setAccountBalance'],
    summary: 'Sets the balance of one account or of several, in wei.',
    params: [param('account', oneOrMore(address)), param('balance', quantity)],
    example: { params: [STRANGER, '0xde0b6b3a7640000'], result: null },
    describe: ([accounts, balance]) => `balance of ${listed(accounts)} ${ether(balance)}`,
    handle: ({ chain }, accounts, balance) =>
      edit(chain, accounts, (account) => ({ ...account, balance })),
  }),
  command('hardhat_setCode', {
    aliases: ['anvil_setCode', 'evm_setAccountCode'],
    summary: 'Sets the code of an account; storage, nonce and balance stay.',
    params: [param('account', address), param('code', data)],
    example: { params: [STRANGER, '0x602a60005260206000f3'], result: null },
    describe: ([account, code]) => `code of ${account} ${plural(code.length, 'byte')}`,
    handle: async ({ chain }, account, code) => {
      const codeHash = keccakHash(code)
      await edit(chain, [account], (before) => ({ ...before, code, codeHash }))
    },
  }),
  command('hardhat_setNonce', {
    aliases: ['anvil_setNonce', 'evm_setAccountNonce'],
    summary: 'Sets the nonce of an account; pending transactions below it are dropped.',
    params: [param('account', address), param('nonce', quantity)],
    example: { params: [STRANGER, '0x9'], result: null },
    describe: ([account, nonce]) => `nonce of ${account} ${number(nonce)}`,
    handle: async ({ chain }, account, nonce) => {
      if (nonce > MAX_UINT64) throw invalid('nonce', `at most ${MAX_UINT64} (EIP-2681)`, nonce)
      await chain.update((state) => {
        checkNonceChange(state, account, nonce)
        return editAccount(state, account, (before) => ({ ...before, nonce }))
      })
    },
  }),
  trueCommand('hardhat_setStorageAt', {
    aliases: ['anvil_setStorageAt', 'evm_setAccountStorageAt'],
    summary: 'Sets a storage slot of an account.',
    params: [param('account', address), param('slot', word), param('value', word)],
    example: { params: [STRANGER, '0x0', `0x${'00'.repeat(31)}07`], result: true },
    describe: ([account, slot, value]) =>
      `storage of ${account} slot ${quantityFromBigint(slot)} = ${quantityFromBigint(value)}`,
    handle: ({ chain }, account, slot, value) =>
      edit(chain, [account], (before) => withSlot(before, slot, value)),
  }),
  command('hardhat_impersonateAccount', {
    aliases: ['anvil_impersonateAccount'],
    summary: 'Allows sending from an account without its key, contracts included.',
    params: [param('account', address)],
    example: { params: [STRANGER], result: null },
    describe: ([account]) => `impersonating ${account}`,
    handle: ({ chain }, account) => exchange(chain, (book) => impersonateAccount(book, account)),
  }),
  method('hardhat_stopImpersonatingAccount', {
    aliases: ['anvil_stopImpersonatingAccount'],
    summary: 'Ends hardhat_impersonateAccount for an account.',
    params: [param('account', address)],
    // whether there was something to stop; null where the profile's node does not say
    result: asJson<boolean | null>('null or boolean', { enum: [null, true, false] }),
    example: { params: [STRANGER], result: null },
    effects: 'chain',
    describe: ([account]) => `no longer impersonating ${account}`,
    handle: async ({ chain, profile }, account) => {
      const wasThere = await chain.update((state) => ({
        ...changeAccounts(state, stopImpersonating(state.accounts, account)),
        value: state.accounts.impersonated.has(account),
      }))
      return profile.ack === null ? null : wasThere
    },
  }),
  command('hardhat_mine', {
    summary: 'Mines 1 block or more; timestamps after the first are {interval} seconds apart.',
    params: [optional('blocks', quantity, 1n), optional('interval', quantity)],
    example: { params: ['0x3e8', '0x3c'], result: null },
    handle: ({ chain, caller }, blocks, interval) =>
      mineOn(chain, () => ({ blocks, interval }), caller),
  }),
  method('hardhat_getAutomine', {
    aliases: ['anvil_getAutomine'],
    summary: 'Returns whether instant mining is on.',
    result: boolean,
    example: { result: true },
    handle: ({ chain }) => isInstant(chain.state.mining),
  }),
  command('hardhat_setCoinbase', {
    aliases: ['anvil_setCoinbase'],
    summary: 'Sets the address that gets the fees of later blocks.',
    params: [param('account', address)],
    example: { params: [STRANGER], result: null },
    describe: ([account]) => `coinbase ${account}`,
    handle: ({ chain }, coinbase) => change(chain, { coinbase }),
  }),
  command('hardhat_setNextBlockBaseFeePerGas', {
    aliases: ['anvil_setNextBlockBaseFeePerGas'],
    summary: 'Sets the base fee of the next block, in wei; later ones follow from it.',
    params: [param('baseFee', quantity)],
    example: { params: ['0x3b9aca00'], result: null },
    describe: ([baseFee]) => `next base fee ${fee(baseFee)}`,
    handle: ({ chain, profile }, nextBaseFee) => {
      if (!profile.ignoresForks) requireFork(chain, 'london', 'a base fee')
      return change(chain, { nextBaseFee })
    },
  }),
  command('hardhat_setPrevRandao', {
    aliases: ['anvil_setPrevRandao', 'anvil_setNextBlockPrevRandao'],
    summary: 'Sets the PREVRANDAO of the next block.',
    params: [param('prevRandao', hash)],
    example: { params: [`0x${'11'.repeat(32)}`], result: null },
    describe: ([prevRandao]) => `next PREVRANDAO ${prevRandao}`,
    handle: ({ chain, profile }, nextPrevRandao) => {
      if (!profile.ignoresForks) requireFork(chain, 'paris', 'PREVRANDAO')
      const { setRandomnessGoesOn } = chain.state.config.behaviour
      const laterPrevRandao = setRandomnessGoesOn ? hashAfter(nextPrevRandao) : undefined
      return change(chain, { nextPrevRandao, laterPrevRandao })
    },
  }),
  command('hardhat_setMinGasPrice', {
    aliases: ['anvil_setMinGasPrice'],
    summary: 'Sets the lowest gas price, in wei, that the pool accepts.',
    params: [param('price', quantity)],
    example: { params: ['0x1'], result: null },
    describe: ([price]) => `least gas price ${fee(price)}`,
    handle: ({ chain, profile }, minGasPrice) => {
      const { hardfork } = nextRules(chain.state, chain.environment.now())
      if (!profile.hasLeastPriceWithBaseFee && isAtLeast(hardfork, 'london')) {
        const message = 'under EIP-1559 the base fee is the least price of a block'
        throw new DevchainError('METHOD_NOT_SUPPORTED', message)
      }
      return change(chain, { minGasPrice })
    },
  }),
  method('hardhat_dropTransaction', {
    summary: 'Removes a transaction from the pool; false if it is not there.',
    params: [transactionHash],
    result: boolean,
    example: { result: false },
    effects: 'chain',
    describe: ([wanted]) => `dropped ${wanted}`,
    handle: ({ chain }, wanted) => chain.update((state) => dropTransaction(state, wanted)),
  }),
  method('hardhat_metadata', {
    aliases: ['anvil_metadata'],
    summary: 'Returns client version, chain and head; {instanceId} changes with each reset.',
    result: shape<MethodContext>('metadata', {
      clientVersion: field(text, clientVersionOf),
      chainId: field(plainInteger, ({ chain }) => chain.state.config.chainId),
      instanceId: field(text, ({ chain: { instance, state } }) =>
        keccakHash(concatBytes(instance, paddedBytes(BigInt(state.resets), 8))),
      ),
      latestBlockNumber: field(plainInteger, (context) => headBlock(context).header.number),
      latestBlockHash: field(hash, (context) => headBlock(context).hash),
      snapshots: field(snapshotsShape, ({ chain }) => snapshotsOf(chain.state)),
      forkedNetwork: fieldIfAny(forkedNetwork, ({ chain }) => chain.state.config.upstream),
    }),
    handle: (context) => context,
  }),
  command('hardhat_reset', {
    aliases: ['anvil_reset'],
    summary: 'Restarts the chain, or forks a network; forgets snapshots, pool and imported keys.',
    // a URL may contain a key
    params: [secret(optional('options', resetOptions))],
    effects: 'reset',
    handle: async ({ chain, peers, forking }, order) => {
      requireUnlinked({ peers }, 'reset the chain')
      const isFork = chain.state.config.upstream !== undefined
      // viem sends {forking: {blockNumber: null}} for a plain reset
      const forks = order !== undefined && (forking.knowsNetwork() || namesAny(order))
      if (!forks && !isFork) await chain.update(reset, RESET)
      else {
        const origin = await (forks ? forking.begin(order) : forking.leave())
        await chain.update((state) => resetTo(state, origin), RESET)
      }
    },
  }),
  command('hardhat_setLoggingEnabled', {
    aliases: ['anvil_setLoggingEnabled'],
    summary: 'Turns the log of calls and blocks on or off.',
    params: [param('enabled', boolean)],
    example: { params: [true], result: null },
    effects: 'node',
    describe: ([enabled]) => `log ${enabled ? 'on' : 'off'}`,
    handle: ({ logging }, enabled) => {
      logging.isEnabled = enabled
    },
  }),
  trueCommand('hardhat_addCompilationResult', {
    summary: "Adds artifacts from a compilation, as Hardhat's node does.",
    params: [
      param('solcVersion', text),
      param('compilerInput', compilerJson),
      param('compilerOutput', compilerJson),
    ],
    example: { params: ['0.8.37', { sources: {} }, { contracts: {} }], result: true },
    effects: 'node',
    handle: async ({ project }, solcVersion, input, output) => {
      const name = `compilation by solc ${solcVersion}`
      await project.addArtifacts({ given: { input, output }, name })
    },
  }),
  ...unsupported(
    'it counts stack traces that Hardhat makes within its own process',
    'hardhat_getStackTraceFailuresCount',
  ),
]

/** Where nonces cannot go back, they can only be raised, and only without pending transactions. */
function checkNonceChange(
  { config, pool, tree }: ChainState,
  account: Address,
  nonce: bigint,
): void {
  if (config.behaviour.noncesGoBack) return
  if (pool.size > 0) {
    const message = `nonces cannot be set while transactions wait: there are ${pool.size}`
    throw new DevchainError('INVALID_PARAMS', message, undefined, { waiting: pool.size })
  }
  const existing = nonceAt(headOf(tree).world, account)
  if (nonce >= existing) return
  const message = `nonce: expected at least ${existing}, that of ${account}, got ${nonce}`
  throw new DevchainError('INVALID_PARAMS', message, undefined, { nonce, existing })
}
