// Descriptions of calls, events, errors and creations. Values are decoded on demand: gas reports need none.
import type { Address } from '../../core/hex.ts'
import { type Argument, decodeOutputs } from '../abi/decode.ts'
import { inOneUnit, namedArguments, plainArguments, type Telling } from '../abi/values.ts'
import type { AbiItem } from '../reading/summary.ts'

export interface Told {
  /** `Vault`, `~Vault` for a guess; undefined if unknown. */
  readonly contract: string | undefined
  /** `withdraw`, or a selector. */
  readonly name: string
  readonly signature: string | undefined
  readonly text: string
  /** With all argument names, nothing shortened. */
  readonly whole: string
  readonly values: readonly Argument[] | undefined
}

export interface ToldCall extends Told {
  readonly answer: (output: Uint8Array) => string | undefined
  /** The first of the calls in its arguments. */
  readonly calls: readonly GivenCall[]
  /** Set for a call that only deploys a contract, such as through a deterministic factory. */
  readonly created: CreatedBy | undefined
}

export interface GivenCall {
  readonly to: Address
  readonly input: Uint8Array
  readonly value: bigint
  readonly told: ToldCall | undefined
}

interface CreatedBy {
  readonly factory: Address
  readonly address: Address | undefined
}

/** Known before values are decoded. */
export interface Subject {
  readonly contract: string | undefined
  readonly name: string
  readonly signature: string | undefined
  /** The text before the arguments; by default the contract's name and its own. */
  readonly full?: string
  /** True: the short form has argument names too. */
  readonly withNames?: boolean
  /** Undefined if the bytes do not fit the ABI. */
  readonly decode: () => readonly Argument[] | undefined
  readonly telling: () => Telling
}

/** Parameters that are no amounts even in functions that take amounts. */
const NO_AMOUNT = /deadline|nonce|id$/i

export class Named implements Told {
  readonly contract: string | undefined
  readonly name: string
  readonly signature: string | undefined
  protected readonly subject: Subject
  #values: { readonly list: readonly Argument[] | undefined } | undefined
  #text: string | undefined

  constructor(subject: Subject) {
    this.contract = subject.contract
    this.name = subject.name
    this.signature = subject.signature
    this.subject = subject
  }

  get values(): readonly Argument[] | undefined {
    this.#values ??= { list: this.subject.decode() }
    return this.#values.list
  }

  get text(): string {
    this.#text ??= this.#written(this.subject.withNames === true, false)
    return this.#text
  }

  get whole(): string {
    return this.#written(true, true)
  }

  #written(withNames: boolean, isWhole: boolean): string {
    const { contract, name } = this
    const { full = contract === undefined ? name : `${contract}.${name}` } = this.subject
    const { values } = this
    // bytes that do not fit the ABI are shown as …
    if (values === undefined) return `${full}(…)`
    const telling = inOneUnit(values, { ...this.subject.telling(), isWhole })
    const texts = values.map((each) => this.argumentText(each, telling, withNames))
    return `${full}(${texts.join(', ')})`
  }

  protected argumentText(argument: Argument, telling: Telling, withNames: boolean): string {
    const write = withNames ? namedArguments : plainArguments
    return write([argument], withoutToken(argument, telling))
  }
}

export class NamedCall extends Named implements ToldCall {
  readonly created: CreatedBy | undefined = undefined
  readonly #item: AbiItem

  constructor(item: AbiItem, subject: Subject) {
    super(subject)
    this.#item = item
  }

  get calls(): readonly GivenCall[] {
    return []
  }

  answer(output: Uint8Array): string | undefined {
    const values = decodeOutputs(this.#item, output)
    return values && plainArguments(values, this.subject.telling())
  }
}

/** A deploying call: its values are the constructor's. */
export class NamedDeployment extends Named implements ToldCall {
  readonly created: CreatedBy
  readonly calls: readonly GivenCall[] = []

  constructor(subject: Subject, created: CreatedBy) {
    super(subject)
    this.created = created
  }

  answer(): undefined {
    return undefined
  }
}

function withoutToken({ parameter }: Argument, telling: Telling): Telling {
  const { token } = telling
  const isOther = token !== undefined && NO_AMOUNT.test(parameter.name ?? '')
  return isOther ? { ...telling, token: undefined } : telling
}

/**
 * A call whose values are unknown.
 * @param name a selector, or the function that takes messages without one; empty for none
 */
export function bare(contract: string, name: string, signature?: string): ToldCall {
  const text = name === '' ? contract : `${contract}.${name}()`
  const shared = { contract, name, signature, values: undefined }
  return { ...shared, text, whole: text, answer: () => undefined, calls: [], created: undefined }
}
