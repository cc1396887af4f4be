// Names storage slots by the compiler's layout and by the mapping keys in a run.
// @see https://docs.soliditylang.org/en/latest/internals/layout_in_storage.html
import { keccak256 } from '../../core/crypto/crypto.ts'
import { short } from '../../core/format.ts'
import {
  type Address,
  addressFromBytes,
  bigintFromBytes,
  bytesFromHex,
  concatBytes,
  EMPTY_BYTES,
  hexFromBytes,
  paddedBytes,
} from '../../core/hex.ts'
import type { Log } from '../../protocol/blocks/receipt.ts'
import { inOneUnit, type ValueStyle, valueText } from '../abi/values.ts'
import { ADMIN_SLOT, BEACON_SLOT, IMPLEMENTATION_SLOT } from '../code/proxies.ts'
import { isObject, type JsonObject } from '../reading/formats.ts'

export interface SlotChange {
  readonly slot: bigint
  readonly before: bigint
  readonly after: bigint
}

interface Variable {
  readonly name: string
  /** As in ABIs: `uint256`, `address`. */
  readonly type: string
  /** Bytes from the low end of the slot, and the length. */
  readonly offset: number
  readonly size: number
  /** For a string or bytes, the slot of its length; short values are in it, long ones start at its hash. */
  readonly head?: bigint
  /** An element of a mapping. */
  readonly isKeyed?: boolean
}

/** A variable with its value, or a slot without a name. */
export interface NamedSlot {
  readonly slot: bigint
  readonly name: string | undefined
  /** As in ABIs; undefined without a name. */
  readonly type: string | undefined
  readonly text: string
  /** The whole slot. */
  readonly word: bigint
}

/** A slot before and after; undefined if unknown. */
export type ReadSlot = (slot: bigint, isKeyed?: boolean) => Omit<SlotChange, 'slot'> | undefined

/** Those of some slots that are known to differ. */
export function slotChanges(slots: readonly bigint[], read: ReadSlot): SlotChange[] {
  return slots.flatMap((slot) => {
    const found = read(slot)
    return found === undefined || found.before === found.after ? [] : [{ slot, ...found }]
  })
}

/** Proxy slots, which are in no layout (EIP-1967). */
const PROXY_SLOTS: ReadonlyMap<bigint, Variable> = new Map([
  [IMPLEMENTATION_SLOT, addressNamed('implementation')],
  [ADMIN_SLOT, addressNamed('admin')],
  [BEACON_SLOT, addressNamed('beacon')],
])

function addressNamed(name: string): Variable {
  return { name, type: 'address', offset: 0, size: 20 }
}

/** Token variables that are amounts. */
const AMOUNTS = /balance|allowance|supply/i

const MOST_PLACES = 20_000

/** Limits for array elements and nested mappings. */
const MOST_ELEMENTS = 64
const DEEPEST = 3

/** Rows of one account. */
const MOST_NAMED = 2_000

/** Slots of one string that are read. */
const MOST_TEXT_SLOTS = 512

/** Words tried as keys of mappings. */
const MOST_KEYS = 128

/** A transaction or call, which may name keys of mappings. */
export interface KeySource {
  readonly addresses: Iterable<Address | null>
  readonly logs?: readonly Log[]
  readonly input?: Uint8Array
}

/** Possible keys of mappings: addresses, and words of events and inputs. */
export function mappingKeys(sources: Iterable<KeySource>): readonly Uint8Array[] {
  const keys = new Map<string, Uint8Array>()
  for (const source of sources) {
    for (const word of wordsOf(source)) {
      keys.set(hexFromBytes(word), word)
      if (keys.size === MOST_KEYS) return [...keys.values()]
    }
  }
  return [...keys.values()]
}

function* wordsOf(source: KeySource): Iterable<Uint8Array> {
  const { addresses, logs = [], input = EMPTY_BYTES } = source
  for (const address of addresses) if (address) yield paddedBytes(BigInt(address), 32)
  for (const { topics } of logs) for (const topic of topics.slice(1)) yield bytesFromHex(topic)
  for (let at = 4; at + 32 <= input.length; at += 32) yield input.slice(at, at + 32)
}

/** What names the slots of an account, and how values are printed. */
export interface SlotNaming {
  /** As the compiler gives it; undefined: unknown. */
  readonly layout: unknown
  /** Possible keys of mappings. */
  readonly keys: readonly Uint8Array[]
  readonly style: ValueStyle
}

/** Formats storage changes: `balanceOf[0xf39F…2266] 1 ether → 0`; unnamed slots as numbers. */
export function storageTexts(
  naming: SlotNaming,
  changes: readonly SlotChange[],
  read: ReadSlot,
): string[] {
  const { style } = naming
  const variables = variablesOf(naming, read)
  const printed = new Set<bigint>()
  return changes.flatMap(({ slot, before, after }) => {
    const proxied = PROXY_SLOTS.get(slot)
    const known = variables.get(slot) ?? (proxied === undefined ? [] : [proxied])
    const changed = known.filter((each) => part(before, each) !== part(after, each))
    const [long] = changed.filter(({ head }) => head !== undefined)
    if (long?.head !== undefined) {
      if (printed.has(long.head)) return []
      const [from, to] = (['before', 'after'] as const).map((side) =>
        longText(long, (at) => read(at)?.[side], style),
      )
      if (from === undefined || to === undefined) return [rawText({ slot, before, after })]
      printed.add(long.head)
      return [`${long.name} ${from} → ${to}`]
    }
    if (changed.length === 0) return [rawText({ slot, before, after })]
    return changed.map((each) => {
      const [from, to] = [part(before, each), part(after, each)]
      const both = [from, to].map((value) => ({ parameter: each, value }))
      const alike = inOneUnit(both, style)
      return `${each.name} ${text(each, from, alike)} → ${text(each, to, alike)}`
    })
  })
}

/**
 * All variables of a layout, the elements of arrays and mappings that are not zero, then the slots that are not among them.
 * @param stored slots that are not zero
 * @param read whether for an element of a mapping
 */
export function namedSlots(
  naming: SlotNaming,
  stored: readonly bigint[],
  read: (slot: bigint, isKeyed?: boolean) => bigint,
): readonly NamedSlot[] {
  const both: ReadSlot = (slot, isKeyed) => {
    const word = read(slot, isKeyed)
    return { before: word, after: word }
  }
  const style = { ...naming.style, isWhole: true }
  const variables = variablesOf(naming, both)
  const found: NamedSlot[] = []
  const isSet = new Set(stored)
  const add = (slot: bigint, variable: Variable): void => {
    const { name, type, head, isKeyed = false } = variable
    const isElement = name.includes('[')
    if (found.length === MOST_NAMED || (head !== undefined && head !== slot)) return
    const word = read(slot, isKeyed)
    if (isElement && !isSet.has(slot) && word === 0n) return
    const value = part(word, variable)
    if (isElement && head === undefined && value === 0n) return
    const shown =
      head === undefined
        ? text(variable, value, style)
        : longText(variable, (at) => read(at, isKeyed), style)
    found.push({ slot, name, type, text: shown ?? '', word })
  }
  for (const [slot, list] of variables) for (const each of list) add(slot, each)
  for (const slot of stored) {
    if (variables.has(slot) || found.length === MOST_NAMED) continue
    const word = read(slot)
    const proxied = PROXY_SLOTS.get(slot)
    const shown =
      proxied === undefined ? `0x${word.toString(16)}` : text(proxied, part(word, proxied), style)
    found.push({ slot, name: proxied?.name, type: proxied?.type, text: shown, word })
  }
  return found
}

function variablesOf({ layout, keys, style }: SlotNaming, read: ReadSlot) {
  const found = new Map<bigint, Variable[]>()
  if (!isObject(layout) || !Array.isArray(layout.storage) || !isObject(layout.types)) return found
  const types = layout.types
  let places = 0
  // elements of mappings come after all variables, and those of mappings in mappings last: they may be more than there is room for
  const later: (() => void)[] = []
  const put = (slot: bigint, depth: number, rest: Variable): void => {
    places += 1
    if (places > MOST_PLACES) return
    found.set(slot, [...(found.get(slot) ?? []), { ...rest, isKeyed: depth > 0 }])
  }
  const expand = (id: unknown, name: string, slot: bigint, offset: number, depth: number): void => {
    const type = types[String(id)]
    if (!isObject(type) || places > MOST_PLACES) return
    const size = Number(type.numberOfBytes)
    switch (type.encoding) {
      case 'mapping':
        if (depth < DEEPEST) later.push(() => keyed(type, name, slot, depth + 1))
        return
      case 'dynamic_array': {
        put(slot, depth, { name: `${name}.length`, type: 'uint', offset: 0, size: 32 })
        const known = read(slot, depth > 0)
        const length = known === undefined ? MOST_ELEMENTS : largest(known, Number)
        elements(type, name, startOf(slot), Math.min(length, MOST_ELEMENTS), depth)
        return
      }
      case 'bytes':
        for (const each of slotsOfText(slot, (at) => read(at, depth > 0))) {
          put(each, depth, { name, type: String(type.label), offset: 0, size: 32, head: slot })
        }
        return
    }
    if (Array.isArray(type.members)) {
      for (const each of (type.members as readonly unknown[]).filter(isObject)) {
        const at = slot + BigInt(String(each.slot))
        expand(each.type, `${name}.${String(each.label)}`, at, Number(each.offset), depth)
      }
    } else if (type.base !== undefined) {
      const length = Number(/\[(\d+)\]$/.exec(String(type.label))?.[1] ?? 0)
      elements(type, name, slot, Math.min(length, MOST_ELEMENTS), depth)
    } else put(slot, depth, { name, type: abiType(type), offset, size })
  }
  const keyed = (type: JsonObject, name: string, slot: bigint, depth: number): void => {
    for (const key of keys) {
      const keyName = places > MOST_PLACES ? undefined : keyText(String(type.key), key, style)
      if (keyName === undefined) continue
      const place = bigintFromBytes(keccak256(concatBytes(key, paddedBytes(slot, 32))))
      expand(type.value, `${name}[${keyName}]`, place, 0, depth)
    }
  }
  const elements = (
    type: JsonObject,
    name: string,
    start: bigint,
    count: number,
    depth: number,
  ): void => {
    const base = types[String(type.base)]
    const size = isObject(base) ? Number(base.numberOfBytes) : 32
    const perSlot = Math.max(1, Math.floor(32 / size))
    const slots = BigInt(Math.ceil(size / 32))
    for (let i = 0; i < count; i++) {
      const at = start + BigInt(Math.floor(i / perSlot)) * slots
      expand(type.base, `${name}[${i}]`, at, (i % perSlot) * size, depth)
    }
  }
  for (const each of (layout.storage as readonly unknown[]).filter(isObject)) {
    expand(each.type, String(each.label), BigInt(String(each.slot)), Number(each.offset), 0)
  }
  for (const next of later) next()
  return found
}

/** Undefined if the word does not fit the type. */
function keyText(type: string, key: Uint8Array, style: ValueStyle): string | undefined {
  const value = bigintFromBytes(key)
  if (/^t_(address|contract)/.test(type)) {
    if (value === 0n || value >> 160n !== 0n) return undefined
    return text(addressNamed(''), value, style)
  }
  const bits = Number(/^t_uint(\d+)$/.exec(type)?.[1] ?? 0)
  if (bits > 0) return value >> BigInt(bits) === 0n ? value.toString() : undefined
  return /^t_(bytes32|int256)$/.test(type) ? hexFromBytes(key) : undefined
}

function abiType({ label }: JsonObject): string {
  const name = String(label)
  if (/^(contract|address)/.test(name)) return 'address'
  return name.startsWith('enum') ? 'uint8' : name
}

function part(value: bigint, { offset, size }: Variable): bigint {
  return (value >> BigInt(8 * offset)) & ((1n << BigInt(8 * size)) - 1n)
}

function text({ name, type, size }: Variable, value: bigint, style: ValueStyle): string {
  if (type === 'address') {
    const address = addressFromBytes(paddedBytes(value, 20))
    return valueText({ parameter: { type }, value: address }, style)
  }
  if (type === 'bool') return String(value !== 0n)
  if (/^int\d*$/.test(type)) return BigInt.asIntN(8 * size, value).toString()
  if (/^bytes\d+$/.test(type)) return hexFromBytes(paddedBytes(value, size))
  const token = AMOUNTS.test(name) ? style.token : undefined
  return valueText({ parameter: { type }, value }, { ...style, token })
}

/** The slot of a string, and those of its long content. */
function slotsOfText(
  head: bigint,
  read: (slot: bigint) => ReturnType<ReadSlot>,
): readonly bigint[] {
  const known = read(head) ?? { before: 0n, after: 0n }
  const length = largest(known, (value) => (isLong(value) ? lengthOf(value) : 0))
  return [head, ...contentSlots(head, length)]
}

function largest(
  { before, after }: Omit<SlotChange, 'slot'>,
  of: (value: bigint) => number,
): number {
  return Math.max(of(before), of(after))
}

function contentSlots(head: bigint, length: number): readonly bigint[] {
  const count = Math.min(MOST_TEXT_SLOTS, Math.ceil(length / 32))
  return Array.from({ length: count }, (_, i) => startOf(head) + BigInt(i))
}

/** A slot holds up to 31 bytes with their length; for more it holds twice the length plus one. */
function isLong(value: bigint): boolean {
  return value % 2n === 1n
}

function lengthOf(value: bigint): number {
  return Number(isLong(value) ? (value - 1n) / 2n : (value & 0xffn) / 2n)
}

function startOf(head: bigint): bigint {
  return bigintFromBytes(keccak256(paddedBytes(head, 32)))
}

/** Undefined if a slot is unknown. */
function longText(
  { type, head = 0n }: Variable,
  read: (slot: bigint) => bigint | undefined,
  style: ValueStyle,
): string | undefined {
  const value = read(head)
  if (value === undefined) return undefined
  const words = isLong(value) ? contentSlots(head, lengthOf(value)).map(read) : [value]
  if (words.includes(undefined)) return undefined
  const whole = concatBytes(...words.map((each) => paddedBytes(each!, 32)))
  const found = whole.subarray(0, lengthOf(value))
  const isText = type === 'string'
  const decoded = isText ? Buffer.from(found).toString('utf8') : hexFromBytes(found)
  return valueText({ parameter: { type: isText ? 'string' : 'bytes' }, value: decoded }, style)
}

function rawText({ slot, before, after }: SlotChange): string {
  return `slot ${short(`0x${slot.toString(16)}`)} ${word(before)} → ${word(after)}`
}

function word(value: bigint): string {
  return value < 1n << 64n ? value.toString() : `0x${value.toString(16)}`
}
