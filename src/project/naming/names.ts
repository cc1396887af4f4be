// Names of calls, events, errors and creations, with their values: one line each.
import { checksumAddress, keccak256 } from '../../core/crypto/crypto.ts'
import { short } from '../../core/format.ts'
import {
  type Address,
  addressFromBytes,
  bytesFromHex,
  concatBytes,
  hexFromBytes,
} from '../../core/hex.ts'
import { getOrMake, LruCache } from '../../core/lrucache.ts'
import { isErrorData, revertText } from '../../evm/reasons.ts'
import type { CallFrame } from '../../evm/tracers/calls.ts'
import type { Chain } from '../../node/chain/chain.ts'
import { headOf } from '../../node/ledger/blocktree.ts'
import type { Log } from '../../protocol/blocks/receipt.ts'
import { codeAt, type World } from '../../state/world.ts'
import { decodeEvent, decodeInputs } from '../abi/decode.ts'
import type { ValueStyle } from '../abi/values.ts'
import { wellKnownFunction } from '../abi/wellknown.ts'
import type { Catalogue, CreationMatch } from '../code/catalogue.ts'
import { isUpgraded } from '../code/proxies.ts'
import type { AbiItem } from '../reading/summary.ts'
import {
  type Callee,
  type CallMessage,
  calleeOf,
  isForwarded,
  memberOf,
  selectorOf,
} from './callees.ts'
import { Described, type Subject, undecoded } from './described.ts'
import { Identities, type Identity } from './identity.ts'
import {
  DescribedMulticall,
  hasInnerCalls,
  MULTICALL3,
  type NestedCallContext,
} from './innercalls.ts'
import type { Labels } from './labels.ts'

/** ERC-20's and common extensions: their uint256 are token amounts. */
const AMOUNTS: ReadonlySet<string> = new Set(
  `transfer approve transferFrom mint burn burnFrom increaseAllowance decreaseAllowance deposit withdraw permit
  balanceOf allowance totalSupply Transfer Approval Deposit Withdrawal ERC20InsufficientBalance
  ERC20InsufficientAllowance`.split(/\s+/),
)

/** What was looked up; void when accounts, artifacts or labels change. */
interface Memory {
  readonly world: World
  readonly version: number
  readonly found: LruCache<string, { readonly value: unknown }>
}

const REMEMBERED = 3_000

interface When {
  readonly world: World
  readonly before: World | undefined
  readonly depth: number
}

/** Depth to which nested calls in arguments are decoded. */
const DEEPEST = 3

const SALT_LENGTH = 32

export class Names {
  readonly #chain: Chain
  readonly #catalogue: Catalogue
  readonly #labels: Labels
  readonly identities: Identities
  #memory: Memory | undefined

  constructor(chain: Chain, catalogue: Catalogue, labels: Labels) {
    this.#chain = chain
    this.#catalogue = catalogue
    this.#labels = labels
    this.identities = new Identities(chain, catalogue)
  }

  get world(): World {
    return headOf(this.#chain.state.tree).world
  }

  label(address: Address): string | undefined {
    return this.#labels.all.get(address)
  }

  nameOf(world: World, address: Address): string | undefined {
    return this.#remembered(world, `name ${address}`, () => {
      const label = this.label(address)
      if (label !== undefined) return label
      const identity = this.#identity(world, address)
      if (identity?.contract !== undefined) return this.#contractName(identity)
      return identity && this.identities.token(world, address)?.symbol
    })
  }

  /** An address within values: a label, or the contract with its number. */
  argumentName(world: World, text: string): string | undefined {
    const address = text.toLowerCase() as Address
    return this.#remembered(world, `argument ${address}`, () => {
      const label = this.label(address)
      if (label !== undefined) return label
      const name = codeAt(world, address).length === 0 ? undefined : this.nameOf(world, address)
      return name && `${name}@${short(checksumAddress(address))}`
    })
  }

  /**
   * Undefined for an unknown function.
   * @param before the accounts before the call, if known: a proxy upgrade still runs the old code
   */
  call(world: World, message: CallMessage, before?: World): Described | undefined {
    return this.#call({ world, before, depth: 0 }, message)
  }

  #call(when: When, message: CallMessage): Described | undefined {
    const { world, before } = when
    const { to, input } = message
    const now = this.#identity(world, to)
    const isOld = before !== undefined && now?.via === 'proxy' && isUpgraded(before, world, to)
    const then = isOld ? before : world
    const identity = isOld ? this.identities.of(before, to) : now
    const callee = identity && calleeOf(then, identity, message)
    const named = callee?.item?.kind === 'function' ? callee.item : undefined
    const deployment = named === undefined ? this.#deployment(world, message) : undefined
    if (deployment !== undefined) return deployment
    const selector = selectorOf(input)
    const item = named ?? this.#catalogue.item('function', selector) ?? wellKnownFunction(selector)
    const contract = this.#calleeName(then, to, identity, callee, item)
    if (item !== undefined) return this.#namedCall(when, message, item, contract)
    if (contract === undefined) return undefined
    const { kind } = callee?.item ?? {}
    const name = input.length === 0 ? (kind ?? '') : selector || hexFromBytes(input)
    const text = name === '' ? contract : `${contract}.${name}()`
    return undecoded(contract, name, text, kind && `${kind}()`)
  }

  #namedCall(
    when: When,
    { from, to, input }: CallMessage,
    item: AbiItem,
    contract: string | undefined,
  ): Described {
    const { world, depth } = when
    const { name, signature } = item
    const subject: Subject = {
      contract,
      name,
      signature,
      item,
      decode: () => decodeInputs(item, input.subarray(4)),
      style: () => this.#style(world, to, item),
    }
    if (depth >= DEEPEST || !hasInnerCalls(item)) return new Described(subject)
    const within = { ...when, depth: depth + 1 }
    const context: NestedCallContext = {
      self: to,
      call: (target, data) =>
        this.#call(within, { to: target, input: data, from: target === to ? from : to }),
      nameOf: (address) => this.argumentName(world, address) ?? short(checksumAddress(address)),
      error: (target, data) => this.error(world, target, data)?.text ?? revertText(data),
    }
    return new DescribedMulticall(subject, context)
  }

  /** A deployment through a factory that takes a salt and creation code. */
  #deployment(world: World, { to, input }: CallMessage): Described | undefined {
    const code = input.subarray(SALT_LENGTH)
    const match = code.length === 0 ? undefined : this.#catalogue.creation(code)
    if (match === undefined) return undefined
    const address = create2Address(to, input.subarray(0, SALT_LENGTH), code)
    const isThere = codeAt(world, address).length > 0
    const subject = this.#constructed(world, code, match)
    const created = { factory: to, address: isThere ? address : undefined }
    return new Described({ ...subject, full: `new ${subject.full}`, created })
  }

  /** The contract's name before a function, unless the contract has no such function. */
  #calleeName(
    world: World,
    to: Address,
    identity: Identity | undefined,
    callee: Callee | undefined,
    item: AbiItem | undefined,
  ): string | undefined {
    const label = this.label(to)
    if (label !== undefined || identity === undefined || callee === undefined) return label
    if (callee.isOwn) return identity.outer && this.#contractName(identity.outer)
    const isOthers = item !== undefined && callee.item === undefined
    if (callee.contract !== undefined && isOthers) return undefined
    const isMulticall = to === MULTICALL3 && item !== undefined && hasInnerCalls(item)
    return this.nameOf(world, to) ?? (isMulticall ? 'Multicall3' : undefined)
  }

  /**
   * A creation with its constructor arguments.
   * @param created the new account: it is named by its runtime code if no artifact has the creation code
   */
  creation(world: World, input: Uint8Array, created: Address | null): Described | undefined {
    const match = this.#catalogue.creation(input)
    if (match === undefined) return created === null ? undefined : this.#created(world, created)
    return new Described(this.#constructed(world, input, match))
  }

  #constructed(
    world: World,
    input: Uint8Array,
    { contract, isGuess, argumentsAt }: CreationMatch,
  ): Subject {
    const full = `${isGuess ? '~' : ''}${this.#catalogue.nameOf(contract)}`
    const item = contract.abi.find(({ kind }) => kind === 'constructor')
    return {
      contract: full,
      name: 'constructor',
      signature: undefined,
      full,
      decode: () => (item === undefined ? [] : decodeInputs(item, input.subarray(argumentsAt))),
      style: () => this.#style(world, undefined, item),
    }
  }

  #created(world: World, address: Address): Described | undefined {
    const identity = this.#identity(world, address)
    if (identity === undefined) return undefined
    const { via, outer } = identity
    const behind = this.#contractName(identity)
    const own = via === undefined ? behind : outer && this.#contractName(outer)
    if (own === undefined && behind === undefined) return undefined
    const text = own ?? `${via === 'clone' ? 'clone' : 'proxy'} of ${behind}`
    return undecoded(text, 'constructor', text)
  }

  frame(world: World, frame: CallFrame, before?: World): Described | undefined {
    const { kind, from, to, input, calls, isPrecompile } = frame
    if (kind === 'SELFDESTRUCT' || isPrecompile) return undefined
    if (kind === 'CREATE' || kind === 'CREATE2') return this.creation(world, input, to)
    if (to === null) return undefined
    const isHandedOn = calls.some((call) => isForwarded(call, frame))
    return this.call(world, { to, input, from, isHandedOn }, before)
  }

  /** Undefined for an unknown event. @param to the account whose name is left out */
  event(world: World, log: Log, to: Address | null): Described | undefined {
    const [topic] = log.topics
    if (topic === undefined) return undefined
    const identity = this.#identity(world, log.address)
    const item = this.#itemOf(identity, 'event', topic)
    if (item === undefined) return undefined
    const values = decodeEvent(item, log.topics.map(bytesFromHex), log.data)
    if (values === undefined) return undefined
    const contract =
      log.address === to ? undefined : this.#emitter(world, log.address, identity, item)
    return this.#namedItem(world, log.address, { contract, item, values })
  }

  /** The emitter: a proxy's own event does not belong to its implementation. */
  #emitter(
    world: World,
    address: Address,
    identity: Identity | undefined,
    { kind, key }: AbiItem,
  ): string | undefined {
    const isProxy = identity?.via === 'proxy' || identity?.via === 'beacon'
    const isOwn = isProxy && identity.contract && !memberOf(identity.contract, kind, key)
    if (!isOwn) return this.nameOf(world, address)
    const own = identity.outer && this.#contractName(identity.outer)
    return this.label(address) ?? own ?? short(checksumAddress(address))
  }

  /** Undefined for an unknown custom error. @param to the account called */
  error(world: World, to: Address | null, data: Uint8Array): Described | undefined {
    if (!isErrorData(data)) return undefined
    const identity = to === null ? undefined : this.#identity(world, to)
    const item = this.#itemOf(identity, 'error', hexFromBytes(data.subarray(0, 4)))
    const values = item && decodeInputs(item, data.subarray(4))
    if (item === undefined || values === undefined) return undefined
    return this.#namedItem(world, to ?? undefined, { contract: undefined, item, values })
  }

  #identity(world: World, address: Address): Identity | undefined {
    return this.#remembered(world, `identity ${address}`, () => this.identities.of(world, address))
  }

  #remembered<T>(world: World, key: string, find: () => T): T {
    // on a fork, the first attempt of a read has empty accounts, until what it lacked is fetched
    if (world.accounts.isBacked) return find()
    const version = this.#catalogue.version + this.#labels.version
    if (this.#memory?.world !== world || this.#memory.version !== version) {
      this.#memory = { world, version, found: new LruCache(REMEMBERED) }
    }
    return getOrMake(this.#memory.found, key, () => ({ value: find() as unknown })).value as T
  }

  /** From the contract, the proxy in front of it, or any contract with such a member. */
  #itemOf(identity: Identity | undefined, kind: AbiItem['kind'], key: string): AbiItem | undefined {
    if (key === '') return undefined
    return (
      (identity?.contract && memberOf(identity.contract, kind, key)) ??
      (identity?.outer && memberOf(identity.outer.contract, kind, key)) ??
      this.#catalogue.item(kind, key)
    )
  }

  #contractName({ contract, isGuess }: Pick<Identity, 'contract' | 'isGuess'>): string | undefined {
    if (contract === undefined) return undefined
    return `${isGuess ? '~' : ''}${this.#catalogue.nameOf(contract)}`
  }

  #namedItem(
    world: World,
    at: Address | undefined,
    found: Pick<Described, 'contract' | 'values'> & { readonly item: AbiItem },
  ): Described {
    const { contract, item, values } = found
    const { name, signature } = item
    return new Described({
      contract,
      name,
      signature,
      withNames: true,
      decode: () => values,
      style: () => this.#style(world, at, item),
    })
  }

  #style(world: World, at: Address | undefined, item: AbiItem | undefined): ValueStyle {
    return this.style(world, AMOUNTS.has(item?.name ?? '') ? at : undefined)
  }

  /** @param token the account whose amounts are written */
  style(world: World, token: Address | undefined): ValueStyle {
    return {
      nameOf: (address) => this.argumentName(world, address),
      token: token && this.identities.token(world, token),
      isWhole: false,
    }
  }
}

/** @see https://eips.ethereum.org/EIPS/eip-1014 */
function create2Address(factory: Address, salt: Uint8Array, code: Uint8Array): Address {
  const parts = [Uint8Array.of(0xff), bytesFromHex(factory), salt, keccak256(code)]
  return addressFromBytes(keccak256(concatBytes(...parts)).subarray(12))
}
