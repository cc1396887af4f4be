// Decodes calls within arguments: `multicall` on the contract itself, and Multicall3 on others.
import { bytes, ether, number } from '../../core/format.ts'
import { type Address, bytesFromHex, hexFromBytes } from '../../core/hex.ts'
import { type Argument, decodeOutputs } from '../abi/decode.ts'
import type { Telling } from '../abi/values.ts'
import type { AbiItem } from '../reading/summary.ts'
import { selectorOf } from './callees.ts'
import { type GivenCall, NamedCall, type Subject, type ToldCall } from './told.ts'

/** Multicall3's address on most networks. @see https://www.multicall3.com */
export const MULTICALL3: Address = '0xca11bde05977b3631167028862be2a173976ca11' as Address

/** Calls listed per call: in short form, and in full. */
const LISTED = 8
const MOST_LISTED = 100

const AGGREGATES = /^(?:aggregate(?:3|3Value)?|tryAggregate|(?:tryB|b)lockAndAggregate)$/

export function hasInnerCalls({ name, signature }: AbiItem): boolean {
  return (name === 'multicall' && signature.endsWith('bytes[])')) || AGGREGATES.test(name)
}

export interface InnerTeller {
  readonly self: Address
  readonly call: (to: Address, input: Uint8Array) => ToldCall | undefined
  readonly nameOf: (address: Address) => string
  readonly error: (to: Address, data: Uint8Array) => string | undefined
}

export class NamedMulticall extends NamedCall {
  readonly #item: AbiItem
  readonly #teller: InnerTeller

  constructor(item: AbiItem, subject: Subject, teller: InnerTeller) {
    super(item, subject)
    this.#item = item
    this.#teller = teller
  }

  override get calls(): readonly GivenCall[] {
    const list = this.values?.map((each) => listIn(each)).find((each) => each !== undefined)
    return list === undefined ? [] : this.#told(list, MOST_LISTED)
  }

  override answer(output: Uint8Array): string | undefined {
    const values = decodeOutputs(this.#item, output)
    const results = values?.find(({ parameter }) => /^(?:bytes|tuple)\[\]$/.test(parameter.type))
    if (!Array.isArray(results?.value)) return super.answer(output)
    const calls = this.calls.slice(0, LISTED)
    const list = results.value as readonly unknown[]
    const texts = calls.slice(0, list.length).map((call, i) => this.#answerText(list[i], call))
    return listText(texts, list.length)
  }

  protected override argumentText(
    argument: Argument,
    telling: Telling,
    withNames: boolean,
  ): string {
    const list = listIn(argument)
    if (list === undefined) return super.argumentText(argument, telling, withNames)
    const calls = this.#told(list, telling.isWhole ? MOST_LISTED : LISTED)
    return listText(
      calls.map((call) => this.#callText(call, telling.isWhole)),
      list.length,
    )
  }

  #told(list: readonly unknown[], most: number): readonly GivenCall[] {
    return list.slice(0, most).flatMap((each) => {
      const inner = innerCall(each, this.#teller.self)
      return inner === undefined ? [] : { ...inner, told: this.#teller.call(inner.to, inner.input) }
    })
  }

  #callText({ to, input, value, told }: GivenCall, isWhole: boolean): string {
    const { self, nameOf } = this.#teller
    const text = isWhole ? told?.whole : told?.text
    const sent = value > 0n ? ` value ${ether(value)}` : ''
    if (to === self) {
      const prefix = `${this.contract}.`
      if (text === undefined || told?.name === '') return bytes(hexFromBytes(input))
      return text.startsWith(prefix) ? text.slice(prefix.length) : text
    }
    if (told?.contract !== undefined) return `${text}${sent}`
    const selector = selectorOf(input)
    return `${[nameOf(to), text ?? selector].filter(Boolean).join('.')}${sent}`
  }

  #answerText(result: unknown, { to, told }: GivenCall): string {
    const [succeeded, data] = Array.isArray(result)
      ? (result as readonly Argument[]).map(({ value }) => value)
      : [true, result]
    const text = String(data)
    if (succeeded === true) return told?.answer(bytesFromHex(text)) || bytes(text)
    return `✗ ${this.#teller.error(to, bytesFromHex(text)) ?? bytes(text)}`
  }
}

function listText(texts: readonly string[], count: number): string {
  const more = count - texts.length
  return `[${[...texts, ...(more > 0 ? [`… ${number(more)} more`] : [])].join(', ')}]`
}

function listIn({ parameter, value }: Argument): readonly unknown[] | undefined {
  const { type, components = [] } = parameter
  const isCalls = components[0]?.type === 'address' && components.at(-1)?.type === 'bytes'
  if (!Array.isArray(value)) return undefined
  return type === 'bytes[]' || (type === 'tuple[]' && isCalls) ? value : undefined
}

/** @param item bytes for the contract itself; or a target, its bytes and the value sent along */
function innerCall(item: unknown, self: Address): Omit<GivenCall, 'told'> | undefined {
  if (typeof item === 'string') return { to: self, input: bytesFromHex(item), value: 0n }
  if (!Array.isArray(item)) return undefined
  const members = item as readonly Argument[]
  const sent = members.find(({ parameter }) => parameter.type === 'uint256')?.value
  return {
    to: String(members[0]?.value).toLowerCase() as Address,
    input: bytesFromHex(String(members.at(-1)?.value)),
    value: typeof sent === 'bigint' ? sent : 0n,
  }
}
