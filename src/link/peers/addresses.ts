// Sets of IP addresses and CIDR blocks: banned addresses, and allowed ones.
import { lookup } from 'node:dns/promises'
import { BlockList, isIP } from 'node:net'
import { type DevchainError, invalidParams, limitExceeded } from '../../core/errors.ts'

const MAX_ENTRIES = 10_000

/** All addresses with the same prefix; a single one has the full length. */
interface Entry {
  readonly text: string
  readonly address: string
  readonly bits: number | undefined
}

/** In the order of sco_bannedAddresses: single addresses first. */
export class AddressList {
  readonly #entries = new Map<string, Entry>()
  #list = new BlockList()

  /**
   * @param text `1.2.3.4`, `1.2.3.0/24`, IPv6 alike, or a host name
   * @throws {DevchainError} `INVALID_PARAMS` for anything else
   */
  async add(text: string): Promise<void> {
    if (this.#entries.size >= MAX_ENTRIES) {
      throw limitExceeded(`too many addresses are banned: there may be ${MAX_ENTRIES}`)
    }
    this.#put(await entryOf(text))
  }

  /** @throws {DevchainError} as `add`, and for host names */
  static of(...texts: readonly string[]): AddressList {
    const list = new AddressList()
    for (const text of texts) {
      const entry = parse(text)
      if (entry === undefined) throw invalid(text)
      list.#put(entry)
    }
    return list
  }

  async remove(text: string): Promise<void> {
    const { text: key } = await entryOf(text)
    this.#entries.delete(key)
    this.#list = new BlockList()
    for (const entry of this.#entries.values()) addTo(this.#list, entry)
  }

  has(address: string): boolean {
    return isIP(address) !== 0 && this.#list.check(address, familyOf(address))
  }

  texts(): readonly string[] {
    const all = [...this.#entries.values()]
    const single = all.filter(({ bits }) => bits === undefined)
    return [...single, ...all.filter((each) => !single.includes(each))].map(({ text }) => text)
  }

  #put(entry: Entry): void {
    this.#entries.set(entry.text, entry)
    addTo(this.#list, entry)
  }
}

/** Unwraps an IPv4-mapped IPv6 address. */
export function plainAddress(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, '')
}

function addTo(list: BlockList, { address, bits }: Entry): void {
  if (bits === undefined) list.addAddress(address, familyOf(address))
  else list.addSubnet(address, bits, familyOf(address))
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return address.includes(':') ? 'ipv6' : 'ipv4'
}

function parse(text: string): Entry | undefined {
  const [given = '', mask, ...rest] = text.trim().split('/')
  const address = plainAddress(given)
  const version = isIP(address)
  // a wildcard is no address
  const isWildcard = /^[0:.]+$/.test(address) && !/[1-9]/.test(address)
  if (version === 0 || isWildcard || rest.length > 0) return undefined
  if (mask === undefined) return { text: address, address, bits: undefined }
  const bits = /^\d{1,3}$/.test(mask) ? Number(mask) : 0
  if (bits < 1 || bits > (version === 4 ? 32 : 128)) return undefined
  return { text: `${address}/${bits}`, address, bits }
}

async function entryOf(text: string): Promise<Entry> {
  const entry = parse(text)
  if (entry !== undefined) return entry
  // only digits and dots: a malformed address, no host name
  if (!/^[a-z0-9]([a-z0-9.-]*[a-z][a-z0-9.-]*)$/i.test(text)) throw invalid(text)
  try {
    const { address } = await lookup(text)
    return { text: address, address, bits: undefined }
  } catch {
    throw invalid(text)
  }
}

function invalid(text: string): DevchainError {
  const expected = 'an IPv4 or IPv6 address, a block such as 10.0.0.0/8, or the name of a host'
  return invalidParams(`invalid banned address ${text.slice(0, 100) || '""'}: expected ${expected}`)
}
