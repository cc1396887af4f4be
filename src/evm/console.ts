// Decodes calls of Solidity's console.log, a known address without code.
import { type AbiValue, decodeArguments, selectorOf } from '../core/abi.ts'
import { hexFromBytes } from '../core/hex.ts'
import { lazy } from '../core/lrucache.ts'

const COMBINED_TYPES = ['address', 'bool', 'string', 'uint256'] as const

const MOST_ARGUMENTS = 4

const overloads = lazy(overloadsBySelector)

/**
 * The printed line; undefined if the call is not a console function. Knows all `log` overloads, `logInt`, `logBytes32` etc.,
 * and old libraries whose selectors use `uint` and `int`.
 * @param data a selector and ABI-encoded arguments
 */
export function formatConsoleCall(data: Uint8Array): string | undefined {
  const types = overloads().get(hexFromBytes(data.subarray(0, 4)))
  if (types === undefined) return undefined
  const values = decodeArguments(types, data.subarray(4))
  return values === undefined ? undefined : formatValues(values)
}

/**
 * Formats as Node's `util.format`, with `%s %d %i %o %O %j %x %%`. Keeps placeholders without a value, and appends the rest
 * with spaces. Integers are exact, without `n`.
 */
export function formatValues(values: readonly AbiValue[]): string {
  const [first, ...rest] = values
  if (typeof first !== 'string' || rest.length === 0) return values.map(String).join(' ')
  let used = 0
  const text = first.replace(/%[sdifoOjxc%]/g, (directive) => {
    if (directive === '%%') return '%'
    const value = rest[used]
    if (value === undefined) return directive
    used += 1
    return printAs(directive, value)
  })
  return [text, ...rest.slice(used).map(String)].join(' ')
}

function printAs(directive: string, value: AbiValue): string {
  // `%c` is a style, which a terminal ignores
  if (directive === '%c') return ''
  if (typeof value === 'bigint') return directive === '%x' ? printHex(value) : value.toString()
  if (directive === '%d') return String(Number(value))
  if (directive === '%i') return String(Number.parseInt(String(value), 10))
  if (directive === '%f') return String(Number.parseFloat(String(value)))
  const isShown = typeof value === 'string' && /^%[oOj]$/.test(directive)
  return isShown ? quoted(value, directive) : String(value)
}

function quoted(text: string, directive: string): string {
  if (directive === '%j') return JSON.stringify(text)
  return `'${text.replace(/[\\']/g, '\\$&').replace(/\n/g, '\\n')}'`
}

function printHex(value: bigint): string {
  return value < 0n ? `-0x${(-value).toString(16)}` : `0x${value.toString(16)}`
}

function overloadsBySelector(): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, readonly string[]>()
  const add = (name: string, types: readonly string[]): void => {
    found.set(selectorOf(`${name}(${types.join(',')})`), types)
    const old = types.map((type) => type.replace(/^(u?int)256$/, '$1'))
    found.set(selectorOf(`${name}(${old.join(',')})`), types)
  }
  for (const types of combinations()) add('log', types)
  add('log', ['int256'])
  add('log', ['string', 'int256'])
  add('log', ['bytes'])
  for (const [name, type] of singleOverloads()) {
    add('log', [type])
    add(name, [type])
  }
  return found
}

function combinations(): readonly (readonly string[])[] {
  const all: (readonly string[])[] = [[]]
  let longest: readonly (readonly string[])[] = [[]]
  for (let count = 1; count <= MOST_ARGUMENTS; count++) {
    longest = longest.flatMap((list) => COMBINED_TYPES.map((type) => [...list, type]))
    all.push(...longest)
  }
  return all
}

function singleOverloads(): readonly (readonly [name: string, type: string])[] {
  const sized = Array.from({ length: 32 }, (_, i) => [`logBytes${i + 1}`, `bytes${i + 1}`] as const)
  return [
    ['logInt', 'int256'],
    ['logUint', 'uint256'],
    ['logString', 'string'],
    ['logBool', 'bool'],
    ['logAddress', 'address'],
    ['logBytes', 'bytes'],
    ...sized,
  ]
}
