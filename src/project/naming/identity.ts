// Identifies an account: the contract it runs, also through proxies, and the token it may be.
import { attempt } from '../../core/errors.ts'
import type { Address } from '../../core/hex.ts'
import { LruCache } from '../../core/lrucache.ts'
import { isPromise } from '../../core/promises.ts'
import { deploymentOf } from '../../node/calls/appearances.ts'
import { call } from '../../node/calls/call.ts'
import type { Chain } from '../../node/chain/chain.ts'
import { latest } from '../../node/ledger/references.ts'
import { codeAt, type World } from '../../state/world.ts'
import { decodeValue } from '../abi/decode.ts'
import type { TokenUnit } from '../abi/values.ts'
import type { Catalogue, Contract, Match } from '../code/catalogue.ts'
import { addressIn, type ProxyKind, targetOf } from '../code/proxies.ts'

export interface Identity {
  /** Undefined without an artifact for its code. */
  readonly contract: Contract | undefined
  /** True if the code only resembles the contract's. */
  readonly isGuess: boolean
  /** How it runs that contract; undefined: as its own code. */
  readonly via: ProxyKind | undefined
  /** The proxy's own contract, if there is a proxy. */
  readonly outer: Match | undefined
  /** Those that decide its name: of a proxy its own too. */
  readonly codes: readonly Uint8Array[]
}

const DEEPEST = 4

const ASKING_GAS = 200_000n

const REMEMBERED = 2_000

/** Selectors: bytes4(keccak256('implementation()')) and so on. */
const IMPLEMENTATION = Uint8Array.of(0x5c, 0x60, 0xda, 0x1b)
const SYMBOL = Uint8Array.of(0x95, 0xd8, 0x9b, 0x41)
const DECIMALS = Uint8Array.of(0x31, 0x3c, 0xe5, 0x67)

/** Tokens with more decimals are not believed. */
const MOST_DECIMALS = 36n

interface KnownToken {
  readonly code: Uint8Array
  readonly token: TokenUnit | undefined
  readonly asked: number
}

const MOST_ASKED = 8

export class Identities {
  readonly #chain: Chain
  readonly #catalogue: Catalogue
  readonly #tokens = new LruCache<Address, KnownToken>(REMEMBERED)

  constructor(chain: Chain, catalogue: Catalogue) {
    this.#chain = chain
    this.#catalogue = catalogue
  }

  of(world: World, address: Address, depth = 0): Identity | undefined {
    const code = codeAt(world, address)
    if (code.length === 0) return undefined
    const target = targetOf(world, address, (beacon) => this.#implementationOf(world, beacon))
    const own = this.matchOf(address, code)
    const inner = target && depth < DEEPEST ? this.of(world, target.address, depth + 1) : undefined
    if (target === undefined || inner === undefined) return plain(own, [code])
    const { via } = target
    const codes = via === 'proxy' || via === 'beacon' ? [code, ...inner.codes] : inner.codes
    return inner.contract === undefined ? plain(own, codes) : { ...inner, via, outer: own, codes }
  }

  /** The contract that it runs; undefined if its code only resembles one. */
  exact(world: World, address: Address): Contract | undefined {
    const { contract, isGuess } = this.of(world, address) ?? {}
    return isGuess ? undefined : contract
  }

  /** If several contracts have the same code, the account's creation may decide. */
  matchOf(address: Address, code: Uint8Array): Match | undefined {
    const match = this.#catalogue.runtime(code)
    return match?.isSame === true && match.isGuess ? (this.#created(address, code) ?? match) : match
  }

  #created(address: Address, code: Uint8Array): Match | undefined {
    const input = deploymentOf(this.#chain.state.tree, address)?.data
    const creation = input && this.#catalogue.creation(input)
    const isOne = this.#catalogue.alike(code)?.contracts.includes(creation?.contract as Contract)
    return creation?.isGuess === false && isOne === true ? creation : undefined
  }

  /** Undefined if the contract has no symbol. */
  token(world: World, address: Address): TokenUnit | undefined {
    const code = codeAt(world, address)
    if (code.length === 0) return undefined
    const known = this.#tokens.get(address)
    const isSame = known?.code === code
    // a contract without a symbol may get one when it is initialized
    if (isSame && (known.token !== undefined || known.asked >= MOST_ASKED)) return known.token
    const token = this.#askedToken(world, address)
    this.#tokens.set(address, { code, token, asked: isSame ? known.asked + 1 : 1 })
    return token
  }

  #askedToken(world: World, address: Address): TokenUnit | undefined {
    const symbol = symbolIn(this.#ask(world, address, SYMBOL))
    if (symbol === undefined) return undefined
    const output = this.#ask(world, address, DECIMALS)
    const decimals = output?.length === 32 ? decodeValue('uint256', output) : undefined
    if (typeof decimals !== 'bigint' || decimals > MOST_DECIMALS) return undefined
    return { symbol, decimals: Number(decimals) }
  }

  #implementationOf(world: World, beacon: Address): Address | undefined {
    const word = this.#ask(world, beacon, IMPLEMENTATION)
    return word?.length === 32 ? addressIn(word) : undefined
  }

  /** Calls a contract; undefined if it fails, or the result would have to be waited for. */
  #ask(world: World, to: Address, data: Uint8Array): Uint8Array | undefined {
    const asked = { to, data, gas: ASKING_GAS }
    const outcome = attempt(() => call(this.#chain, asked, latest, { world }))
    if (!isPromise(outcome)) return outcome?.failure === undefined ? outcome?.output : undefined
    outcome.catch(() => undefined)
    return undefined
  }
}

function plain(match: Match | undefined, codes: readonly Uint8Array[]): Identity {
  const { contract, isGuess = false } = match ?? {}
  return { contract, isGuess, via: undefined, outer: undefined, codes }
}

/** A short symbol, as a string or bytes32. */
function symbolIn(output: Uint8Array | undefined): string | undefined {
  if (output === undefined) return undefined
  const text =
    output.length === 32
      ? Buffer.from(output).toString('latin1').replace(/\0+$/, '')
      : decodeValue('string', output)
  return typeof text === 'string' && /^[\w.$€£₿-]{1,16}$/.test(text) ? text : undefined
}
