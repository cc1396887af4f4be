// Decodes calls within arguments: `multicall` on the contract itself, and Multicall3 on others.
import { bytes, ether } from '../../core/format.ts'
import { type Address, bytesFromHex, hexFromBytes } from '../../core/hex.ts'
import type { Argument } from '../abi/decode.ts'
import { listText, type ValueStyle } from '../abi/values.ts'
import type { AbiItem } from '../reading/summary.ts'
import { selectorOf } from './callees.ts'
import { Described, type NestedCall, type Subject } from './described.ts'

/** Multicall3's address on most networks. @see https://www.multicall3.com */
export const MULTICALL3: Address = '0xca11bde05977b3631167028862be2a173976ca11' as Address

/** Calls listed per call: in short form, and in full. */
const LISTED = 8
const MOST_LISTED = 100

const AGGREGATES = /^(?:aggregate(?:3|3Value)?|tryAggregate|(?:tryB|b)lockAndAggregate)$/

export function hasInnerCalls({ name, signature }: AbiItem): boolean {
  return (name === 'multicall' && signature.endsWith('bytes[])')) || AGGREGATES.test(name)
}

export interface NestedCallContext {
  readonly self: Address
  readonly call: (to: Address, input: Uint8Array) => Described | undefined
  readonly nameOf: (address: Address) => string
  readonly error: (to: Address, data: Uint8Array) => string | undefined
}

export class DescribedMulticall extends Described {
  readonly #context: NestedCallContext

  constructor(subject: Subject, context: NestedCallContext) {
    super(subject)
    this.#context = context
  }

  override get calls(): readonly NestedCall[] {
    const list = this.values?.map((each) => listIn(each)).find((each) => each !== undefined)
    return list === undefined ? [] : this.#nested(list, MOST_LISTED)
  }

  override answer(output: Uint8Array): string | undefined {
    const results = this.outputs(output)?.find(({ parameter }) =>
      /^(?:bytes|tuple)\[\]$/.test(parameter.type),
    )
    if (!Array.isArray(results?.value)) return super.answer(output)
    const calls = this.calls.slice(0, LISTED)
    const list = results.value as readonly unknown[]
    const texts = calls.slice(0, list.length).map((call, i) => this.#answerText(list[i], call))
    return listText(texts, list.length)
  }

  protected override argumentText(
    argument: Argument,
    style: ValueStyle,
    withNames: boolean,
  ): string {
    const list = listIn(argument)
    if (list === undefined) return super.argumentText(argument, style, withNames)
    const calls = this.#nested(list, style.isWhole ? MOST_LISTED : LISTED)
    const texts = calls.map((call) => this.#callText(call, style.isWhole))
    return listText(texts, list.length)
  }

  #nested(list: readonly unknown[], most: number): readonly NestedCall[] {
    return list.slice(0, most).flatMap((each) => {
      const inner = innerCall(each, this.#context.self)
      if (inner === undefined) return []
      return { ...inner, described: this.#context.call(inner.to, inner.input) }
    })
  }

  #callText({ to, input, value, described }: NestedCall, isWhole: boolean): string {
    const { self, nameOf } = this.#context
    const text = isWhole ? described?.whole : described?.text
    const sent = value > 0n ? ` value ${ether(value)}` : ''
    if (to === self) {
      const prefix = `${this.contract}.`
      if (text === undefined || described?.name === '') return bytes(hexFromBytes(input))
      return text.startsWith(prefix) ? text.slice(prefix.length) : text
    }
    if (described?.contract !== undefined) return `${text}${sent}`
    return `${[nameOf(to), text ?? selectorOf(input)].filter(Boolean).join('.')}${sent}`
  }

  #answerText(result: unknown, { to, described }: NestedCall): string {
    const [succeeded, data] = Array.isArray(result)
      ? (result as readonly Argument[]).map(({ value }) => value)
      : [true, result]
    const text = String(data)
    if (succeeded === true) return described?.answer(bytesFromHex(text)) || bytes(text)
    return `✗ ${this.#context.error(to, bytesFromHex(text)) ?? bytes(text)}`
  }
}

function listIn({ parameter, value }: Argument): readonly unknown[] | undefined {
  const { type, components = [] } = parameter
  const isCalls = components[0]?.type === 'address' && components.at(-1)?.type === 'bytes'
  if (!Array.isArray(value)) return undefined
  return type === 'bytes[]' || (type === 'tuple[]' && isCalls) ? value : undefined
}

/** @param item bytes for the contract itself; or a target, its bytes and the value sent along */
function innerCall(item: unknown, self: Address): Omit<NestedCall, 'described'> | undefined {
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
