// Descriptions of calls, events, errors and creations. Values are decoded on demand: gas reports need none.
import type { Address } from '../../core/hex.ts'
import { type Argument, decodeOutputs } from '../abi/decode.ts'
import { inOneUnit, namedArguments, plainArguments, type ValueStyle } from '../abi/values.ts'
import type { AbiItem } from '../reading/summary.ts'

export interface Described {
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

export interface DescribedCall extends Described {
  readonly answer: (output: Uint8Array) => string | undefined
  /** The first of the calls in its arguments. */
  readonly calls: readonly NestedCall[]
  /** Set for a call that only deploys a contract, such as through a deterministic factory. */
  readonly created: CreatedBy | undefined
}

export interface NestedCall {
  readonly to: Address
  readonly input: Uint8Array
  readonly value: bigint
  readonly described: DescribedCall | undefined
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
  readonly style: () => ValueStyle
}

/** Parameters that are no amounts even in functions that take amounts. */
const NO_AMOUNT = /deadline|nonce|id$/i

export class Named implements Described {
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
    const style = inOneUnit(values, { ...this.subject.style(), isWhole })
    const texts = values.map((each) => this.argumentText(each, style, withNames))
    return `${full}(${texts.join(', ')})`
  }

  protected argumentText(argument: Argument, style: ValueStyle, withNames: boolean): string {
    const write = withNames ? namedArguments : plainArguments
    return write([argument], withoutToken(argument, style))
  }
}

export class NamedCall extends Named implements DescribedCall {
  readonly created: CreatedBy | undefined = undefined
  readonly #item: AbiItem

  constructor(item: AbiItem, subject: Subject) {
    super(subject)
    this.#item = item
  }

  get calls(): readonly NestedCall[] {
    return []
  }

  answer(output: Uint8Array): string | undefined {
    const values = decodeOutputs(this.#item, output)
    return values && plainArguments(values, this.subject.style())
  }
}

/** A deploying call: its values are the constructor's. */
export class NamedDeployment extends Named implements DescribedCall {
  readonly created: CreatedBy
  readonly calls: readonly NestedCall[] = []

  constructor(subject: Subject, created: CreatedBy) {
    super(subject)
    this.created = created
  }

  answer(): undefined {
    return undefined
  }
}

function withoutToken({ parameter }: Argument, style: ValueStyle): ValueStyle {
  const { token } = style
  const isOther = token !== undefined && NO_AMOUNT.test(parameter.name ?? '')
  return isOther ? { ...style, token: undefined } : style
}

/**
 * A call whose values are unknown.
 * @param name a selector, or the function that takes messages without one; empty for none
 */
export function bare(contract: string, name: string, signature?: string): DescribedCall {
  const text = name === '' ? contract : `${contract}.${name}()`
  const shared = { contract, name, signature, values: undefined }
  return { ...shared, text, whole: text, answer: () => undefined, calls: [], created: undefined }
}
