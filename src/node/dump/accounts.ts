// The accounts of a dump, of the newest and of older blocks, in anvil's two formats.
import { EMPTY_CODE_HASH, keccakHash } from '../../core/crypto/crypto.ts'
import { type Address, type Hash, hexFromBytes } from '../../core/hex.ts'
import { yielder } from '../../core/yield.ts'
import { delegationTo } from '../../protocol/transactions/delegation.ts'
import { addressKey } from '../../state/keys.ts'
import { PackedAccounts } from '../../state/packed/packedaccounts.ts'
import { type PlainEntries, plainEntries } from '../../state/packed/pieces.ts'
import type { TrieChange } from '../../state/trie.ts'
import {
  type Account,
  accountAt,
  accountsOf,
  emptyAccount,
  emptyStorage,
  type World,
  withAccounts,
  withSlots,
} from '../../state/world.ts'
import { addressAt, bytesAt, integerAt, Members, noDump, objectAt } from './members.ts'

/** Slots or accounts put into a trie before yielding. */
const CHANGES_A_TURN = 5_000

interface GivenAccount extends Omit<Account, 'storage'> {
  readonly slots: ReadonlyMap<bigint, bigint>
}

type Code = Pick<Account, 'code' | 'codeHash'>

/** The accounts that the dump lacks are few up to here: then those that it has are made into a trie of their own at once. */
const FEW_ACCOUNTS = 1_000

/** An account without nonce, code and storage, as anvil and devchain write it. */
const PLAIN_ACCOUNT = [
  '"0x([\\da-fA-F]{40})"',
  ':',
  '\\{',
  '"nonce"',
  ':',
  '0',
  ',',
  '"balance"',
  ':',
  '"0x0*([1-9a-fA-F][\\da-fA-F]{0,63})"',
  ',',
  '"code"',
  ':',
  '"0x"',
  ',',
  '"storage"',
  ':',
  '\\{',
  '\\}',
  '\\}',
]

/** Each world shares with the one before it what did not change; the first older one, with the newest. */
export class WorldReader {
  /** Reads accounts that need no more than a pattern; undefined if each is compared with the base. */
  readonly plain: PlainEntries | undefined
  readonly #base: World
  readonly #keepsEmpty: boolean
  /** By its text in the dump, because many accounts and blocks repeat it. */
  readonly #codes = new Map<string, Code>()
  readonly #yieldIfDue = yielder()
  /** Of the newest world, until it is made. */
  #packed: PackedAccounts | undefined
  /** Of the base, and empty in the dump. */
  readonly #gone = new Set<Address>()
  /** Of the newest world, not in it yet. */
  #changes: TrieChange<Account>[] = []
  #newest: World
  #lastOlder: World | undefined
  readonly #older = new Map<Hash, World>()

  /**
   * @param base has the accounts that the dump lacks
   * @param keepsEmpty true on forks with empty accounts (before EIP-161)
   */
  constructor(base: World, keepsEmpty: boolean) {
    this.#base = base
    this.#newest = base
    this.#keepsEmpty = keepsEmpty
    if (!isSmall(base)) return
    this.#packed = new PackedAccounts()
    this.plain = plainEntries(PLAIN_ACCOUNT, (groups) => {
      this.#packed?.add(groups[1]!, groups[2]!)
      return this.#packed !== undefined
    })
  }

  /** An account of the newest world. @throws {DevchainError} `INVALID_PARAMS` naming it if it is bad */
  async addAccount(key: string, value: unknown): Promise<void> {
    const members = new Members(value, `accounts.${key}`)
    const account = await this.#accountOf(
      addressAt(key, 'accounts'),
      members,
      members.value('storage'),
    )
    const before = accountAt(this.#base, account.address)
    const after = await this.#accountAfter(account, before)
    if (this.#packed === undefined) {
      if (after !== before) this.#changes.push(changeTo(account.address, after))
      if (this.#changes.length >= CHANGES_A_TURN) this.#settleChanges()
    } else if (after !== undefined) this.#packed.addOther(account.address.slice(2), after)
    else if (before !== undefined) this.#gone.add(account.address)
  }

  /** Anvil's older states keep storage beside the accounts. Throws `INVALID_PARAMS` naming the bad account. */
  async addOlder(hash: Hash, state: unknown, path: string): Promise<void> {
    const members = new Members(state, path)
    const storages = objectAt(members.value('storage') ?? {}, `${path}.storage`)
    const given = await this.#givenAt(members.value('accounts'), `${path}.accounts`, storages)
    this.#lastOlder = await this.#worldOf(given, this.#lastOlder ?? (await this.#settle()))
    this.#older.set(hash, this.#lastOlder)
  }

  async worlds(): Promise<{
    readonly world: World
    readonly older: ReadonlyMap<Hash, World>
  }> {
    return { world: await this.#settle(), older: this.#older }
  }

  async #settle(): Promise<World> {
    const packed = this.#packed
    if (packed === undefined) return this.#settleChanges()
    this.#packed = undefined
    const { world, repeated } = await packed.world(this.#yieldIfDue)
    if (repeated !== undefined) {
      throw noDump(`accounts: expected each address once, got ${repeated} twice`)
    }
    const missing = [...accountsOf(this.#base)].filter(
      ({ address }) => !this.#gone.has(address) && accountAt(world, address) === undefined,
    )
    this.#newest = withAccounts(
      world,
      missing.map((account) => changeTo(account.address, account)),
    )
    return this.#newest
  }

  #settleChanges(): World {
    this.#newest = withAccounts(this.#newest, this.#changes)
    this.#changes = []
    return this.#newest
  }

  async #givenAt(
    accounts: unknown,
    path: string,
    storages: Readonly<Record<string, unknown>>,
  ): Promise<ReadonlyMap<Address, GivenAccount>> {
    const given = new Map<Address, GivenAccount>()
    for (const [key, value] of Object.entries(objectAt(accounts, path))) {
      const members = new Members(value, `${path}.${key}`)
      const account = await this.#accountOf(addressAt(key, path), members, storages[key])
      given.set(account.address, account)
      await this.#yieldIfDue()
    }
    return given
  }

  async #accountOf(address: Address, members: Members, storage: unknown): Promise<GivenAccount> {
    const { path } = members
    const slots = await this.#slotsOf(storage ?? {}, `${path}.storage`)
    const code = this.#codeOf(givenCode(members.value('code'), `${path}.code`), `${path}.code`)
    const codeHash = members.optional('code_hash', (name) => members.hash(name)) ?? code.codeHash
    if (codeHash !== code.codeHash) {
      throw noDump(`${path}: expected code with the hash ${codeHash}, got ${code.codeHash}`)
    }
    // older dumps may lack both
    const nonce = members.has('nonce') ? members.integer('nonce', 64) : 0n
    const balance = members.has('balance') ? members.integer('balance') : 0n
    return { address, nonce, balance, ...code, slots }
  }

  async #slotsOf(value: unknown, path: string): Promise<ReadonlyMap<bigint, bigint>> {
    const slots = new Map<bigint, bigint>()
    for (const [slot, content] of Object.entries(objectAt(value, path))) {
      slots.set(integerAt(slot, path), integerAt(content, `${path}.${slot}`))
      // awaiting nothing takes as long as reading a slot
      const pause = this.#yieldIfDue()
      if (pause !== undefined) await pause
    }
    return slots
  }

  #codeOf(text: unknown, path: string): Code {
    const known = typeof text === 'string' ? this.#codes.get(text) : undefined
    if (known !== undefined) return known
    const code = bytesAt(text, path)
    const read = { code, codeHash: code.length === 0 ? EMPTY_CODE_HASH : keccakHash(code) }
    this.#codes.set(text as string, read)
    return read
  }

  async #worldOf(given: ReadonlyMap<Address, GivenAccount>, previous: World): Promise<World> {
    const changes: TrieChange<Account>[] = []
    for (const account of accountsOf(previous)) {
      const value = accountAt(this.#base, account.address)
      const isLeft = given.has(account.address) || value === account
      if (!isLeft) changes.push(changeTo(account.address, value))
      const pause = this.#yieldIfDue()
      if (pause !== undefined) await pause
    }
    for (const account of given.values()) {
      const before = accountAt(previous, account.address)
      const after = await this.#accountAfter(account, before)
      if (after !== before) changes.push(changeTo(account.address, after))
    }
    let world = previous
    for (let at = 0; at < changes.length; at += CHANGES_A_TURN) {
      world = withAccounts(world, changes.slice(at, at + CHANGES_A_TURN))
      await this.#yieldIfDue()
    }
    return world
  }

  /** `before` itself if nothing differs; undefined for an empty one. */
  async #accountAfter(
    { address, nonce, balance, code, codeHash, slots }: GivenAccount,
    before: Account | undefined,
  ): Promise<Account | undefined> {
    const storage = await this.#storageOf(slots, before?.storage)
    const isEmpty = nonce === 0n && balance === 0n && code.length === 0 && storage.isEmpty
    if (isEmpty && !this.#keepsEmpty) return undefined
    const isSame =
      before?.nonce === nonce &&
      before.balance === balance &&
      before.codeHash === codeHash &&
      before.storage === storage
    return isSame ? before : { ...emptyAccount(address), nonce, balance, code, codeHash, storage }
  }

  async #storageOf(
    slots: ReadonlyMap<bigint, bigint>,
    before: Account['storage'] = emptyStorage,
  ): Promise<Account['storage']> {
    let storage = before
    let part = new Map<bigint, bigint>()
    for (const { slot } of before.values()) {
      if (!slots.has(slot)) part.set(slot, 0n)
      await this.#yieldIfDue()
    }
    for (const [slot, value] of slots) {
      part.set(slot, value)
      if (part.size < CHANGES_A_TURN) continue
      storage = withSlots(storage, part)
      part = new Map()
      await this.#yieldIfDue()
    }
    return withSlots(storage, part)
  }
}

function changeTo(address: Address, value: Account | undefined): TrieChange<Account> {
  return { key: addressKey(address), value }
}

/** False for what a fork has, which is not all known. */
function isSmall({ accounts }: World): boolean {
  if (accounts.isBacked) return false
  let count = 0
  for (const _ of accounts.values()) if (++count > FEW_ACCOUNTS) return false
  return true
}

/** Anvil's older states keep code with padding and a table of jump destinations, as plain bytes, or as the delegated address. */
function givenCode(value: unknown, path: string): unknown {
  if (value === undefined || typeof value === 'string') return value ?? '0x'
  const kinds = new Members(value, path)
  if (kinds.has('LegacyAnalyzed')) {
    const analyzed = new Members(kinds.value('LegacyAnalyzed'), path)
    const length = Number(analyzed.integer('original_len', 32))
    const padded = analyzed.value('bytecode')
    return typeof padded === 'string' ? padded.slice(0, 2 + 2 * length) : padded
  }
  if (kinds.has('LegacyRaw')) return kinds.value('LegacyRaw')
  if (kinds.has('Eip7702')) {
    const target = new Members(kinds.value('Eip7702'), path).address('delegated_address')
    return hexFromBytes(delegationTo(target))
  }
  throw noDump(`${path}: expected LegacyAnalyzed, LegacyRaw or Eip7702`)
}
