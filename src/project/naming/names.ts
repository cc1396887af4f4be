// What calls, events, errors and creations are called, with their values: all that is told of a project in one line each.
import { checksumAddress } from '../../core/crypto/crypto.ts'
import { short } from '../../core/format.ts'
import { type Address, bytesFromHex, type Hash, hexFromBytes } from '../../core/hex.ts'
import type { CallFrame } from '../../evm/tracers/calls.ts'
import type { Chain } from '../../node/chain/chain.ts'
import type { Again } from '../../node/chain/failedrun.ts'
import { headOf } from '../../node/ledger/blocktree.ts'
import type { Log } from '../../protocol/blocks/receipt.ts'
import { codeAt, type World } from '../../state/world.ts'
import { decodeEvent, decodeInputs } from '../abi/decode.ts'
import type { Telling } from '../abi/values.ts'
import type { Catalogue } from '../code/catalogue.ts'
import { isUpgraded } from '../code/proxies.ts'
import type { AbiItem } from '../reading/summary.ts'
import {
  type Callee,
  calleeOf,
  isForwarded,
  type Message,
  memberOf,
  selectorOf,
} from './callees.ts'
import { Identities, type Identity } from './identity.ts'
import type { Labels } from './labels.ts'
import { bare, Named, NamedCall, type Told, type ToldCall } from './told.ts'

/** ERC-20's, and what is usual beside it: their uint256 are amounts of the token. */
const AMOUNTS: ReadonlySet<string> = new Set(
  `transfer approve transferFrom mint burn burnFrom increaseAllowance decreaseAllowance deposit withdraw permit
  balanceOf allowance totalSupply Transfer Approval Deposit Withdrawal ERC20InsufficientBalance
  ERC20InsufficientAllowance`.split(/\s+/),
)

/** What was found out of the accounts of one world. */
interface Memory {
  readonly world: World
  readonly version: number
  readonly names: Remembered<string>
  readonly inArguments: Remembered<string>
  readonly identities: Remembered<Identity>
}

/** Accounts that are remembered; then all are forgotten. */
const MOST_REMEMBERED = 1_000

/** What was found out of accounts, nothing (null) among it. */
class Remembered<T extends object | string> {
  readonly #known = new Map<Address, T | null>()

  get(address: Address, find: () => T | undefined): T | undefined {
    const known = this.#known.get(address)
    if (known !== undefined) return known ?? undefined
    const found = find()
    if (this.#known.size >= MOST_REMEMBERED) this.#known.clear()
    this.#known.set(address, found ?? null)
    return found
  }
}

/** Who tells of whole runs. */
type Tellers = Pick<Names, 'catchUp' | 'explain' | 'explainRun' | 'trace' | 'traceRun'>

/** Knows the names of a project. */
export class Names {
  readonly #chain: Chain
  readonly #catalogue: Catalogue
  readonly #labels: Labels
  readonly identities: Identities
  #memory: Memory | undefined
  /** Resolves when artifacts that have just been written are read, or that takes long; undefined where there are none. */
  readonly catchUp: () => Promise<unknown> | undefined

  /** Why and where in Solidity a mined transaction failed, a line each; undefined where nobody knows. */
  readonly explain: (hash: Hash) => Promise<readonly string[] | undefined>

  /** The same of something else that ran. @param usual what is told where the reason has no better words */
  readonly explainRun: (again: Again, usual: string) => Promise<readonly string[] | undefined>

  /** A mined transaction as a tree of calls, in lines. */
  readonly trace: (hash: Hash) => Promise<readonly string[]>

  /** The same of something else that ran. */
  readonly traceRun: (again: Again) => Promise<readonly string[]>

  constructor(chain: Chain, catalogue: Catalogue, labels: Labels, tellers: Tellers) {
    const { catchUp, explain, explainRun, trace, traceRun } = tellers
    this.catchUp = catchUp
    this.explain = explain
    this.explainRun = explainRun
    this.trace = trace
    this.traceRun = traceRun
    this.#chain = chain
    this.#catalogue = catalogue
    this.#labels = labels
    this.identities = new Identities(chain, catalogue)
  }

  /** The accounts as they are now. */
  get world(): World {
    return headOf(this.#chain.state.tree).world
  }

  /** The name that somebody gave an account. */
  label(address: Address): string | undefined {
    return this.#labels.get(address)
  }

  /** What people call an account: its label, its token's symbol, or the contract that it is. */
  nameOf(world: World, address: Address): string | undefined {
    return this.#remembered(world).names.get(address, () => this.#nameOf(world, address))
  }

  #nameOf(world: World, address: Address): string | undefined {
    const label = this.#labels.get(address)
    if (label !== undefined) return label
    const identity = this.#identity(world, address)
    if (identity?.contract !== undefined) return this.#contractName(identity)
    return identity === undefined ? undefined : this.identities.token(world, address)?.symbol
  }

  /** An address within values: a label, or the contract and which one of them. */
  argumentName(world: World, text: string): string | undefined {
    const address = text.toLowerCase() as Address
    const { inArguments } = this.#remembered(world)
    return inArguments.get(address, () => this.#argumentName(world, address))
  }

  #argumentName(world: World, address: Address): string | undefined {
    const label = this.#labels.get(address)
    if (label !== undefined) return label
    const name = codeAt(world, address).length === 0 ? undefined : this.nameOf(world, address)
    return name === undefined ? undefined : `${name}@${short(checksumAddress(address))}`
  }

  /**
   * What a message calls. Undefined where nobody knows the function.
   * @param before the accounts when it was called, where that is known: what upgrades a proxy still runs the old one
   */
  call(world: World, message: Message, before?: World): ToldCall | undefined {
    const { to, input } = message
    const now = this.#identity(world, to)
    const isOld = before !== undefined && now?.via === 'proxy' && isUpgraded(before, world, to)
    const then = isOld ? before : world
    const identity = isOld ? this.identities.of(before, to) : now
    const callee = identity && calleeOf(then, identity, message)
    const named = callee?.item?.kind === 'function' ? callee.item : undefined
    const item = named ?? this.#catalogue.item('function', selectorOf(input))
    const contract = this.#calleeName(then, to, identity, callee, item)
    if (item !== undefined) {
      const { name, signature } = item
      const decode = (): ReturnType<typeof decodeInputs> => decodeInputs(item, input.subarray(4))
      const telling = (): Telling => this.#telling(world, to, item)
      return new NamedCall(item, { contract, name, signature }, decode, telling)
    }
    if (contract === undefined) return undefined
    const { kind } = callee?.item ?? {}
    const name = input.length === 0 ? (kind ?? '') : selectorOf(input) || hexFromBytes(input)
    return bare(contract, name, kind && `${kind}()`)
  }

  /** What stands before a function: whose it is, unless that has none of the kind. */
  #calleeName(
    world: World,
    to: Address,
    identity: Identity | undefined,
    callee: Callee | undefined,
    item: AbiItem | undefined,
  ): string | undefined {
    const label = this.#labels.get(to)
    if (label !== undefined || identity === undefined || callee === undefined) return label
    if (callee.isOwn) return identity.outer && this.#contractName(identity.outer)
    const isOthers = item !== undefined && callee.item === undefined
    if (callee.contract !== undefined && isOthers) return undefined
    return this.#nameOf(world, to)
  }

  /**
   * What a creation creates, with the arguments of the constructor.
   * @param created the account that it made: where no artifact has the code of the creation, what that runs is told
   */
  creation(world: World, input: Uint8Array, created: Address | null): Told | undefined {
    const match = this.#catalogue.creation(input)
    if (match === undefined) return created === null ? undefined : this.#created(world, created)
    const contract = `${match.isGuess ? '~' : ''}${this.#catalogue.nameOf(match.contract)}`
    const item = match.contract.abi.find(({ kind }) => kind === 'constructor')
    if (item === undefined) return made(`${contract}()`, contract)
    const subject = { contract, name: 'constructor', signature: undefined, full: contract }
    return new Named(
      subject,
      () => decodeInputs(item, input.subarray(match.argumentsAt)),
      () => this.#telling(world, undefined, item),
    )
  }

  #created(world: World, address: Address): Told | undefined {
    const identity = this.#identity(world, address)
    if (identity === undefined) return undefined
    const { via, outer } = identity
    const behind = this.#contractName(identity)
    const own = via === undefined ? behind : outer && this.#contractName(outer)
    if (own !== undefined) return made(own, own)
    if (behind === undefined) return undefined
    const text = `${via === 'clone' ? 'clone' : 'proxy'} of ${behind}`
    return made(text, text)
  }

  /** What a frame calls or creates, in short; undefined where nobody knows. */
  frame(world: World, frame: CallFrame): string | undefined {
    return this.toldFrame(world, frame)?.text
  }

  /** @param before as of `call` */
  toldFrame(world: World, frame: CallFrame, before?: World): Told | ToldCall | undefined {
    const { kind, from, to, input, calls, isPrecompile } = frame
    if (kind === 'SELFDESTRUCT' || isPrecompile) return undefined
    if (kind === 'CREATE' || kind === 'CREATE2') return this.creation(world, input, to)
    if (to === null) return undefined
    const isHandedOn = calls.some((call) => isForwarded(call, frame))
    return this.call(world, { to, input, from, isHandedOn }, before)
  }

  /** An event with its values; undefined where nobody knows it. @param to whose name is not told */
  event(world: World, log: Log, to: Address | null): Told | undefined {
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

  /** Whose event it is: what a proxy emits by itself is none of what it runs. */
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
    return this.#labels.get(address) ?? own ?? short(checksumAddress(address))
  }

  /** A custom error with its values; undefined where nobody knows it. @param to who was called */
  error(world: World, to: Address | null, data: Uint8Array): Told | undefined {
    if (data.length < 4) return undefined
    const identity = to === null ? undefined : this.#identity(world, to)
    const item = this.#itemOf(identity, 'error', hexFromBytes(data.subarray(0, 4)))
    const values = item && decodeInputs(item, data.subarray(4))
    if (item === undefined || values === undefined) return undefined
    return this.#namedItem(world, to ?? undefined, { contract: undefined, item, values })
  }

  #identity(world: World, address: Address): Identity | undefined {
    const { identities } = this.#remembered(world)
    return identities.get(address, () => this.identities.of(world, address))
  }

  /** What was found out of accounts, as long as neither they nor the artifacts nor the labels change. */
  #remembered(world: World): Memory {
    const version = this.#catalogue.version + this.#labels.version
    if (this.#memory?.world !== world || this.#memory.version !== version) {
      this.#memory = {
        world,
        version,
        names: new Remembered(),
        inArguments: new Remembered(),
        identities: new Remembered(),
      }
    }
    return this.#memory
  }

  /** The ABI member of a contract, of the proxy before it, or of whatever contract has one like it. */
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

  /** An event or error, with values that were decoded. */
  #namedItem(
    world: World,
    at: Address | undefined,
    found: {
      readonly contract: string | undefined
      readonly item: AbiItem
      readonly values: ReturnType<typeof decodeInputs>
    },
  ): Told {
    const { contract, item, values } = found
    const { name, signature } = item
    return new Named(
      { contract, name, signature, withNames: true },
      () => values,
      () => this.#telling(world, at, item),
    )
  }

  #telling(world: World, at: Address | undefined, item: AbiItem): Telling {
    const hasAmounts = at !== undefined && AMOUNTS.has(item.name)
    const token = hasAmounts ? this.identities.token(world, at) : undefined
    return {
      nameOf: (address) => this.argumentName(world, address),
      token,
      isWhole: false,
    }
  }
}

/** A creation whose arguments nobody knows. */
function made(text: string, contract: string): Told {
  return { ...bare(contract, 'constructor'), text, whole: text }
}
