// Descriptions of calls, events, errors and creations. Values are decoded on demand: gas reports need none.
import type { Address } from '../../core/hex.ts'
import { lazy } from '../../core/lrucache.ts'
import { type Argument, decodeOutputs } from '../abi/decode.ts'
import { inOneUnit, namedArguments, plainArguments, type ValueStyle } from '../abi/values.ts'
import type { AbiItem } from '../reading/summary.ts'

export interface NestedCall {
  readonly to: Address
  readonly input: Uint8Array
  readonly value: bigint
  readonly described: Described | undefined
}

interface CreatedBy {
  readonly factory: Address
  readonly address: Address | undefined
}

/** Known before values are decoded. */
export interface Subject {
  /** `Vault`, `~Vault` for a guess; undefined if unknown. */
  readonly contract: string | undefined
  /** `withdraw`, or a selector. */
  readonly name: string
  readonly signature: string | undefined
  /** The whole text, if it does not depend on values. */
  readonly text?: string
  /** The text before the arguments; by default the contract's name and its own. */
  readonly full?: string
  /** True: the short form has argument names too. */
  readonly withNames?: boolean
  /** Undefined if the bytes do not fit the ABI. */
  readonly decode: () => readonly Argument[] | undefined
  /** Of a call: has the types of its results. */
  readonly item?: AbiItem
  readonly style: () => ValueStyle
  /** Set for a call that only deploys a contract, such as through a deterministic factory. */
  readonly created?: CreatedBy
}

/** Parameters that are no amounts even in functions that take amounts. */
const NO_AMOUNT = /deadline|nonce|id$/i

export class Described {
  readonly contract: string | undefined
  readonly name: string
  readonly signature: string | undefined
  readonly created: CreatedBy | undefined
  protected readonly subject: Subject
  readonly #values = lazy(() => this.subject.decode())
  readonly #text = lazy(() => this.#written(this.subject.withNames === true, false))

  constructor(subject: Subject) {
    this.contract = subject.contract
    this.name = subject.name
    this.signature = subject.signature
    this.created = subject.created
    this.subject = subject
  }

  get values(): readonly Argument[] | undefined {
    return this.#values()
  }

  get text(): string {
    return this.#text()
  }

  /** With all argument names, nothing shortened. */
  get whole(): string {
    return this.#written(true, true)
  }

  /** The first of the calls in its arguments. */
  get calls(): readonly NestedCall[] {
    return []
  }

  /** The text of a call's result; undefined if it has none or does not fit the ABI. */
  answer(output: Uint8Array): string | undefined {
    const values = this.outputs(output)
    return values && plainArguments(values, this.subject.style())
  }

  protected outputs(output: Uint8Array): readonly Argument[] | undefined {
    const { item } = this.subject
    return item && decodeOutputs(item, output)
  }

  #written(withNames: boolean, isWhole: boolean): string {
    const { contract, name } = this
    const { text, full = contract === undefined ? name : `${contract}.${name}` } = this.subject
    if (text !== undefined) return text
    const { values } = this
    // bytes that do not fit the ABI are shown as …
    if (values === undefined) return `${full}(…)`
    const style = inOneUnit(values, { ...this.subject.style(), isWhole })
    const texts = values.map((each) => this.argumentText(each, style, withNames))
    return `${full}(${texts.join(', ')})`
  }

  protected argumentText(argument: Argument, style: ValueStyle, withNames: boolean): string {
    const write = withNames ? namedArguments : plainArguments
    const isAmount = !NO_AMOUNT.test(argument.parameter.name ?? '')
    return write([argument], isAmount ? style : { ...style, token: undefined })
  }
}

/** A call or creation whose values are unknown. */
export function undecoded(
  contract: string,
  name: string,
  text: string,
  signature?: string,
): Described {
  const style = (): ValueStyle => ({ nameOf: () => undefined, token: undefined, isWhole: false })
  return new Described({ contract, name, signature, text, decode: () => undefined, style })
}
