// What a block changed in the world, as bytes; and the world after many blocks, from one before them.
import { writeRlp } from '../../../core/fastrlp/writer.ts'
import type { Address } from '../../../core/hex.ts'
import {
  addressFromBytes,
  bigintFromBytes,
  bytesFromHex,
  EMPTY_BYTES,
  equalBytes,
} from '../../../core/hex.ts'
import { getOrMake } from '../../../core/lrucache.ts'
import {
  decodeRlp,
  decodeRlpItem,
  encodedItems,
  type RlpItem,
  type RlpValue,
} from '../../../core/rlp.ts'
import { addressKey } from '../../../state/keys.ts'
import type { Trie, TrieChange } from '../../../state/trie.ts'
import { collectChanges, type ValueChange } from '../../../state/triewalk.ts'
import {
  type Account,
  accountAt,
  emptyAccount,
  emptyStorage,
  type World,
  withAccounts,
  withSlots,
} from '../../../state/world.ts'
import { StoredBytes } from './slab.ts'

type Code = Pick<Account, 'code' | 'codeHash'>

/**
 * A list of accounts: address alone if it is gone, else nonce, balance, whether it is new, 0 or from 1 on the place of its new
 * code, and its changed slots. Codes are not copied, as later worlds have them too.
 */
export class WorldChanges extends StoredBytes {
  readonly codes: readonly Code[] | undefined

  constructor(bytes: Uint8Array, codes: readonly Code[]) {
    super(bytes)
    this.codes = codes.length === 0 ? undefined : codes
  }
}

/** Undefined for a fork's world, which has parts elsewhere. */
export function worldChanges(before: World, after: World): WorldChanges | undefined {
  if (before.accounts.isBacked || after.accounts.isBacked) return undefined
  const codes: Code[] = []
  const accounts: RlpValue[] = []
  for (const [old, account] of changesOf(before.accounts, after.accounts)) {
    if (account === undefined) {
      accounts.push([old!.address])
      continue
    }
    const { address, nonce, balance, code, codeHash, storage } = account
    const { codeHash: oldCode, storage: oldStorage } = old ?? emptyAccount(address)
    const slots: RlpValue[] = []
    for (const [was, is] of changesOf(oldStorage, storage)) {
      slots.push([(is ?? was)!.slot, is?.value ?? 0n])
    }
    const hasNewCode = codeHash !== oldCode
    if (hasNewCode) codes.push({ code, codeHash })
    const isNew = old === undefined ? 1n : 0n
    accounts.push([address, nonce, balance, isNew, BigInt(hasNewCode ? codes.length : 0), slots])
  }
  return new WorldChanges(writeRlp(accounts), codes)
}

/** Accounts and slots that differ, with bytes of new code; undefined for a fork's world. */
export function sizeOfChanges(
  before: World,
  after: World,
): { readonly values: number; readonly codeBytes: number } | undefined {
  if (before.accounts.isBacked || after.accounts.isBacked) return undefined
  let [values, codeBytes] = [0, 0]
  for (const [old, account] of changesOf(before.accounts, after.accounts)) {
    values += 1
    if (account === undefined) continue
    const { address, code, codeHash, storage } = account
    const was = old ?? emptyAccount(address)
    values += changesOf(was.storage, storage).length
    if (codeHash !== was.codeHash) codeBytes += code.length
  }
  return { values, codeBytes }
}

function changesOf<V>(before: Trie<V>, after: Trie<V>): readonly ValueChange<V>[] {
  const changes: ValueChange<V>[] = []
  if (before !== after) collectChanges(before.root, after.root, changes)
  return changes
}

interface ChangedAccount {
  readonly nonce: bigint
  readonly balance: bigint
  /** What the account was before is gone. */
  readonly isWhole: boolean
  readonly code: Uint8Array | undefined
  readonly slots: readonly (readonly RlpItem[])[]
}

/** An account after the block; undefined if it is as before. Decodes no other. */
export function accountSetBy(changes: WorldChanges, address: Address): ChangedAccount | undefined {
  const bytes = changes.view()
  const name = Buffer.from(bytesFromHex(address))
  // most blocks change other accounts
  if (!Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).includes(name)) return undefined
  const isNamed = (item: Uint8Array): boolean =>
    equalBytes(decodeRlpItem(item, 0) as Uint8Array, name)
  const item = encodedItems(bytes, Number.POSITIVE_INFINITY).find(isNamed)
  if (item === undefined) return undefined
  const [, nonce, balance, isNew, codeIndex, slots] = decodeRlp(item) as readonly RlpItem[]
  return {
    nonce: integer(nonce),
    balance: integer(balance),
    isWhole: nonce === undefined || integer(isNew) === 1n,
    code: changes.codes?.[Number(integer(codeIndex)) - 1]?.code,
    slots: (slots ?? []) as readonly (readonly RlpItem[])[],
  }
}

/** An account's code after the block; undefined if it is as before. */
export function codeSetBy(changes: WorldChanges, address: Address): Uint8Array | undefined {
  const account = accountSetBy(changes, address)
  return account?.code ?? (account?.isWhole ? EMPTY_BYTES : undefined)
}

/** A slot after the block; undefined if it is as before. */
export function slotSetBy(
  changes: WorldChanges,
  address: Address,
  slot: bigint,
): bigint | undefined {
  const account = accountSetBy(changes, address)
  const pair = account?.slots.find(([at]) => integer(at) === slot)
  if (pair !== undefined) return integer(pair[1])
  return account?.isWhole ? 0n : undefined
}

interface Merged {
  nonce: bigint
  balance: bigint
  isGone: boolean
  /** What it was before does not matter. */
  isWhole: boolean
  code: Code | undefined
  readonly slots: Map<bigint, bigint>
}

/** @param changes of the blocks after `base`, newest first */
export function worldAfter(
  base: World,
  changes: readonly Pick<WorldChanges, 'read' | 'codes'>[],
): World {
  const merged = new Map<Address, Merged>()
  for (const each of changes) {
    for (const item of decodeRlp(each.read()) as readonly RlpItem[]) merge(merged, item, each.codes)
  }
  const all: TrieChange<Account>[] = []
  for (const [address, { isGone, isWhole, nonce, balance, code, slots }] of merged) {
    const before = (isWhole ? undefined : accountAt(base, address)) ?? emptyAccount(address)
    const storage = withSlots(isWhole ? emptyStorage : before.storage, slots)
    const { code: bytes, codeHash } = code ?? before
    const value = isGone ? undefined : { address, nonce, balance, codeHash, code: bytes, storage }
    all.push({ key: addressKey(address), value })
  }
  return withAccounts(base, all)
}

/** What is known already is newer. */
function merge(merged: Map<Address, Merged>, item: RlpItem, codes: WorldChanges['codes']): void {
  const [name, nonce, balance, isNew, codeIndex, slots] = item as readonly RlpItem[]
  const address = addressFromBytes(name as Uint8Array)
  const known = getOrMake(merged, address, () => ({
    nonce: integer(nonce),
    balance: integer(balance),
    isGone: nonce === undefined,
    isWhole: false,
    code: undefined,
    slots: new Map(),
  }))
  if (known.isWhole) return
  known.isWhole = nonce === undefined || integer(isNew) === 1n
  known.code ??= codes?.[Number(integer(codeIndex)) - 1]
  for (const pair of (slots ?? []) as readonly (readonly RlpItem[])[]) {
    const slot = integer(pair[0])
    if (!known.slots.has(slot)) known.slots.set(slot, integer(pair[1]))
  }
}

function integer(item: RlpItem | undefined): bigint {
  return bigintFromBytes((item ?? EMPTY_BYTES) as Uint8Array)
}
