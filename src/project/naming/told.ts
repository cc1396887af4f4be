// Calls, events, errors and creations in words. Values are decoded when they are asked for: who counts functions needs none.
import type { Address } from '../../core/hex.ts'
import { type Argument, decodeOutputs } from '../abi/decode.ts'
import { inOneUnit, namedArguments, plainArguments, type Telling } from '../abi/values.ts'
import type { AbiItem } from '../reading/summary.ts'

export interface Told {
  /** `Vault`, `~Vault` where it is a guess; undefined where nobody knows. */
  readonly contract: string | undefined
  /** `withdraw`, or a selector. */
  readonly name: string
  readonly signature: string | undefined
  readonly text: string
  /** With the names of all arguments, and nothing shortened. */
  readonly whole: string
  readonly values: readonly Argument[] | undefined
}

export interface ToldCall extends Told {
  readonly answer: (output: Uint8Array) => string | undefined
  /** The first of the calls that it is given to make. */
  readonly calls: readonly GivenCall[]
  /** Of a call that only has a contract created, as a factory for deterministic addresses does. */
  readonly created: CreatedBy | undefined
}

export interface GivenCall {
  readonly to: Address
  readonly input: Uint8Array
  readonly value: bigint
  readonly told: ToldCall | undefined
}

export interface CreatedBy {
  readonly factory: Address
  readonly address: Address | undefined
}

/** What is known before values are looked at. */
export interface Subject {
  readonly contract: string | undefined
  readonly name: string
  readonly signature: string | undefined
  /** What stands before the arguments; the name, with the contract's before it, when left out. */
  readonly full?: string
  /** True: with the names of all arguments in short, too. */
  readonly withNames?: boolean
  /** The values; undefined where the bytes do not fit the ABI. */
  readonly decode: () => readonly Argument[] | undefined
  readonly telling: () => Telling
}

/** Parameters that are no amounts, though others of the same function are. */
const NO_AMOUNT = /deadline|nonce|id$/i

/** Something that the project knows by its ABI. */
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
    // of what does not fit the ABI, nothing but that there is something
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

/** A call that has a contract created: its values are those of the constructor. */
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
 * What is called without values, or with such as nobody knows.
 * @param name a selector, or what takes messages without one; empty for nothing
 */
export function bare(contract: string, name: string, signature?: string): ToldCall {
  const text = name === '' ? contract : `${contract}.${name}()`
  const shared = { contract, name, signature, values: undefined }
  return { ...shared, text, whole: text, answer: () => undefined, calls: [], created: undefined }
}
