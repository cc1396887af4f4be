// The accounts that the node holds keys for, those it impersonates, and impersonated signatures.
import {
  addressOfKey,
  keccak256,
  keccakHash,
  type Signature,
  signatureBytes,
} from '../../core/crypto/crypto.ts'
import { DevchainError, limitExceeded } from '../../core/errors.ts'
import { type Address, bytesFromHex, type Hash, type Hex, hexFromBytes } from '../../core/hex.ts'
import { emptyMap, type PersistentMap } from '../../core/persistent.ts'
import type { Signers } from '../../evm/executor.ts'
import { decryptKey, type EncryptedKey, type EncryptionOptions, encryptKey } from './keystore.ts'
import {
  DEFAULT_PATH,
  type DerivationOptions,
  derivedKeys,
  isTestMnemonic,
  TEST_ACCOUNTS,
} from './mnemonic.ts'

export interface AccountBook {
  readonly held: PersistentMap<Address, HeldAccount>
  readonly order: readonly Address[]
  readonly impersonated: PersistentMap<Address, true>
  readonly autoImpersonate: boolean
  /** Signatures that contracts accept as an account's, whatever key made them. */
  readonly signers: Signers
}

interface HeldAccount {
  readonly address: Address
  /**
   * A passphrase opens encrypted keys. Dev accounts and seed accounts have a plain key, which the empty passphrase
   * opens. An account without a key (`evm_addAccount`) has a passphrase too, and is impersonated while it is open.
   */
  readonly secret:
    | { readonly kind: 'plain'; readonly key: Uint8Array }
    | { readonly kind: 'encrypted'; readonly file: EncryptedKey }
    | { readonly kind: 'none'; readonly passphraseHash: Hash }
  /** Undefined while the account is locked. */
  readonly open: { readonly key: Uint8Array | undefined; readonly untilMs: number } | undefined
}

interface AddedAccount {
  readonly book: AccountBook
  readonly address: Address
}

const MAX_HELD = 100_000

const MAX_IMPERSONATED = 100_000

export const emptyBook: AccountBook = {
  held: emptyMap(),
  order: [],
  impersonated: emptyMap(),
  autoImpersonate: false,
  signers: emptyMap(),
}

export async function deriveAccounts(options: DerivationOptions): Promise<AccountBook> {
  const isInTable =
    isTestMnemonic(options.mnemonic) &&
    options.path === DEFAULT_PATH &&
    options.count <= TEST_ACCOUNTS.length
  if (!isInTable) return bookOfKeys(await derivedKeys(options))
  return TEST_ACCOUNTS.slice(0, options.count).reduce((book, line) => {
    const [address, key] = line.split(' ') as [Address, Hex]
    return withHeld(book, plainAccount(address, bytesFromHex(key))).book
  }, emptyBook)
}

export function bookOfKeys(keys: readonly Uint8Array[]): AccountBook {
  return keys.reduce((book, key) => withPlainKey(book, key).book, emptyBook)
}

export function addresses(book: AccountBook): readonly Address[] {
  return book.order
}

export function keyOf(book: AccountBook, address: Address, nowMs: number): Uint8Array | undefined {
  return isOpen(book, address, nowMs) ? book.held.get(address)?.open?.key : undefined
}

export function requireKey(book: AccountBook, address: Address, nowMs: number): Uint8Array {
  const key = keyOf(book, address, nowMs)
  if (key !== undefined) return key
  const account = book.held.get(address)
  if (account === undefined || isOpen(book, address, nowMs)) throw unknownAccount(address)
  throw new DevchainError('ACCOUNT_LOCKED', `account ${address} is locked: unlock it first`)
}

/** Adding a held account changes its passphrase. Throws `INVALID_PARAMS` (bad key) or `LIMIT_EXCEEDED`. */
export async function importKey(
  book: AccountBook,
  key: Uint8Array,
  passphrase: string,
  untilMs: number,
  options: EncryptionOptions,
): Promise<AddedAccount> {
  const address = addressOfKey(key)
  const file = await encryptKey(key, passphrase, options)
  return withHeld(book, { address, secret: { kind: 'encrypted', file }, open: { key, untilMs } })
}

/** Adds the account whose private key is the Keccak-256 of `seed`; it has no passphrase and stays unlocked. */
export function newAccountWithSeed(book: AccountBook, seed: string): AddedAccount {
  return withPlainKey(book, keccak256(new TextEncoder().encode(seed)))
}

/** Adds a locked account without a key, impersonated while it is unlocked (ganache). Undefined if it is already held. */
export function addKeyless(
  book: AccountBook,
  address: Address,
  passphrase: string,
): AccountBook | undefined {
  if (book.held.has(address)) return undefined
  const secret = { kind: 'none', passphraseHash: passphraseHashOf(passphrase) } as const
  return withHeld(book, { address, secret, open: undefined }).book
}

/** Undefined when no account without a key has that address. Throws `WRONG_PASSPHRASE`. */
export function removeKeyless(
  book: AccountBook,
  address: Address,
  passphrase: string,
): AccountBook | undefined {
  const account = book.held.get(address)
  if (account?.secret.kind !== 'none') return undefined
  checkKeyless(account, passphrase)
  const order = book.order.filter((each) => each !== address)
  return { ...book, held: book.held.delete(address), order }
}

export function lock(book: AccountBook, address: Address, nowMs: number): AccountBook | undefined {
  if (!isOpen(book, address, nowMs)) return undefined
  const account = book.held.get(address)!
  return withHeld(book, { ...account, open: undefined }).book
}

export async function unlock(
  book: AccountBook,
  address: Address,
  passphrase: string,
  untilMs: number,
): Promise<AccountBook> {
  const account = book.held.get(address)
  const isKeyless = account?.secret.kind === 'none'
  if (isKeyless) checkKeyless(account, passphrase)
  const key = isKeyless ? undefined : await keyWithPassphrase(book, address, passphrase)
  return withHeld(book, { ...book.held.get(address)!, open: { key, untilMs } }).book
}

/** Works for locked and unlocked accounts. Throws `UNKNOWN_ACCOUNT` or `WRONG_PASSPHRASE`. */
export async function keyWithPassphrase(
  book: AccountBook,
  address: Address,
  passphrase: string,
): Promise<Uint8Array> {
  const account = book.held.get(address)
  if (account === undefined) throw unknownAccount(address)
  if (account.secret.kind === 'encrypted') return decryptKey(account.secret.file, passphrase)
  if (account.secret.kind === 'none') {
    const message = `account ${address} has no key: it can send while it is unlocked, but cannot sign`
    throw new DevchainError('UNKNOWN_ACCOUNT', message)
  }
  if (passphrase === '') return account.secret.key
  const message = `wrong passphrase: account ${address} has none: expected the empty one`
  throw new DevchainError('WRONG_PASSPHRASE', message)
}

export function impersonateAccount(book: AccountBook, address: Address): AccountBook {
  if (!book.impersonated.has(address)) requireRoom('impersonated accounts', book.impersonated.size)
  return { ...book, impersonated: book.impersonated.set(address, true) }
}

export function stopImpersonating(book: AccountBook, address: Address): AccountBook {
  return { ...book, impersonated: book.impersonated.delete(address) }
}

/** Contracts accept the signature as made by `signer`, whatever was signed. The pool does not. */
export function impersonateSignature(
  book: AccountBook,
  signature: Signature,
  signer: Address,
): AccountBook {
  const key = hexFromBytes(signatureBytes(signature))
  if (!book.signers.has(key)) requireRoom('impersonated signatures', book.signers.size)
  return { ...book, signers: book.signers.set(key, signer) }
}

export function signersOf({ signers }: AccountBook): Signers | undefined {
  return signers.size === 0 ? undefined : signers
}

export function isImpersonated(book: AccountBook, address: Address, nowMs: number): boolean {
  if (book.autoImpersonate || book.impersonated.has(address)) return true
  return book.held.get(address)?.secret.kind === 'none' && isOpen(book, address, nowMs)
}

function isOpen(book: AccountBook, address: Address, nowMs: number): boolean {
  const open = book.held.get(address)?.open
  return open !== undefined && nowMs < open.untilMs
}

function checkKeyless({ address, secret }: HeldAccount, passphrase: string): void {
  if (secret.kind === 'none' && secret.passphraseHash === passphraseHashOf(passphrase)) return
  throw new DevchainError('WRONG_PASSPHRASE', `wrong passphrase for account ${address}`)
}

/** The passphrase guards no key, but people reuse passphrases, so it is not kept in the clear. */
function passphraseHashOf(passphrase: string): Hash {
  return keccakHash(new TextEncoder().encode(passphrase))
}

function withPlainKey(book: AccountBook, key: Uint8Array): AddedAccount {
  return withHeld(book, plainAccount(addressOfKey(key), key))
}

function plainAccount(address: Address, key: Uint8Array): HeldAccount {
  const open = { key, untilMs: Number.POSITIVE_INFINITY }
  return { address, secret: { kind: 'plain', key }, open }
}

function withHeld(book: AccountBook, account: HeldAccount): AddedAccount {
  const { address } = account
  const isNew = !book.held.has(address)
  if (isNew && book.order.length >= MAX_HELD) {
    throw limitExceeded(`too many accounts: the limit is ${MAX_HELD}`)
  }
  const order = isNew ? [...book.order, address] : book.order
  return { book: { ...book, held: book.held.set(address, account), order }, address }
}

function requireRoom(what: string, count: number): void {
  if (count < MAX_IMPERSONATED) return
  throw limitExceeded(`too many ${what}: the limit is ${MAX_IMPERSONATED}`)
}

function unknownAccount(address: Address): DevchainError {
  const message = `unknown account ${address}: the node holds no key for it`
  return new DevchainError('UNKNOWN_ACCOUNT', message, undefined, { address })
}
