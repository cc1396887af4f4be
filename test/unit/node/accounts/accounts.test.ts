// Keys that the node holds: derived, made, imported, encrypted, locked and unlocked.
import { decryptKeystoreJsonSync } from 'ethers'
import { describe, expect, it } from 'vitest'
import type { Signature } from '../../../../src/core/crypto/crypto.ts'
import { bytesFromHex, hexFromBytes, parseAddress, ZERO_ADDRESS } from '../../../../src/core/hex.ts'
import {
  addresses,
  bookOfKeys,
  deriveAccounts,
  emptyBook,
  impersonateAccount,
  impersonateSignature,
  importKey,
  isImpersonated,
  keyOf,
  keyWithPassphrase,
  lock,
  newAccountWithSeed,
  requireKey,
  signersOf,
  stopImpersonating,
  unlock,
} from '../../../../src/node/accounts/accounts.ts'
import { decryptKey, encryptKey } from '../../../../src/node/accounts/keystore.ts'
import {
  DEFAULT_PATH,
  derivedKeys,
  isTestMnemonic,
  TEST_ACCOUNTS,
  TEST_MNEMONIC,
} from '../../../../src/node/accounts/mnemonic.ts'
import { NOON, testEnvironment } from '../chains.ts'

const KEY = bytesFromHex(`0x${'42'.repeat(32)}`)
const STRANGER = parseAddress(`0x${'77'.repeat(20)}`)

const cheap = () => ({ cost: 2, random: testEnvironment().random })

describe('an account derived from a mnemonic', () => {
  it('is the one that wallets derive', async () => {
    const book = await deriveAccounts({ mnemonic: TEST_MNEMONIC, path: DEFAULT_PATH, count: 3 })
    expect(addresses(book)).toEqual([
      '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266',
      '0x70997970c51812dc3a010c7d01b50e0d17dc79c8',
      '0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc',
    ])
    expect(hexFromBytes(keyOf(book, addresses(book)[0]!, NOON)!)).toBe(
      '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80',
    )
  })

  it('equals its derivation where it is precomputed', async () => {
    const options = { mnemonic: TEST_MNEMONIC, path: DEFAULT_PATH, count: TEST_ACCOUNTS.length }
    const known = await deriveAccounts(options)
    expect(isTestMnemonic(options.mnemonic)).toBe(true)
    const derived = bookOfKeys(await derivedKeys(options))
    expect(addresses(known)).toEqual(addresses(derived))
    for (const address of addresses(derived)) {
      expect(keyOf(known, address, NOON)).toEqual(keyOf(derived, address, NOON))
    }
    const more = await deriveAccounts({ ...options, count: TEST_ACCOUNTS.length + 1 })
    expect(addresses(more).slice(0, -1)).toEqual(addresses(known))
  })

  it('may come from other phrases and paths, with any spacing', async () => {
    const mnemonic =
      ' legal winner thank year wave  sausage worth useful legal winner thank Yellow\n'
    const book = await deriveAccounts({ mnemonic, path: "m/44'/60'/0'/0", count: 1 })
    const other = await deriveAccounts({ mnemonic, path: "m/44'/1'/0'", count: 1 })
    expect(addresses(book)).toEqual(['0x58a57ed9d8d624cbd12e2c467d34787555bb1b25'])
    expect(addresses(other)).not.toEqual(addresses(book))
  })

  it.each([
    [
      `${'test '.repeat(11)}test`,
      DEFAULT_PATH,
      /^mnemonic: expected .* the checksum of its 12 words does not fit$/,
    ],
    [`${'test '.repeat(11)}junc`, DEFAULT_PATH, 'word 12 of 12 is not on its list'],
    [TEST_MNEMONIC, "44'/x", `expected a derivation path such as ${DEFAULT_PATH}, got "44'/x"`],
  ])('is refused for %s at %s', async (mnemonic, path, words) => {
    await expect(deriveAccounts({ mnemonic, path, count: 1 })).rejects.toThrow(words)
  })
})

describe('a key', () => {
  it('is usable until its unlock expires', async () => {
    const { book, address } = await importKey(emptyBook, KEY, 'secret', NOON + 1000, cheap())
    expect(keyOf(book, address, NOON + 999)).toHaveLength(32)
    expect(keyOf(book, address, NOON + 1000)).toBeUndefined()
    expect(() => requireKey(book, address, NOON + 1000)).toThrow(`account ${address} is locked`)
    expect(addresses(book)).toEqual([address])
  })

  it('unlocks only with its passphrase', async () => {
    const { book, address } = await importKey(emptyBook, KEY, 'secret', NOON, cheap())
    await expect(unlock(book, address, 'wrong', NOON + 5)).rejects.toMatchObject({
      word: 'WRONG_PASSPHRASE',
    })
    const unlocked = await unlock(book, address, 'secret', NOON + 5)
    expect(keyOf(unlocked, address, NOON)).toEqual(KEY)
    expect(keyOf(book, address, NOON)).toBeUndefined()
    expect(await keyWithPassphrase(book, address, 'secret')).toEqual(KEY)
  })

  it('is hidden once locked; a dev account unlocks without a passphrase', async () => {
    const book = bookOfKeys([KEY])
    const [address] = addresses(book)
    const locked = lock(book, address!, NOON)!
    expect(keyOf(locked, address!, NOON)).toBeUndefined()
    expect(lock(locked, address!, NOON)).toBeUndefined()
    await expect(unlock(locked, address!, 'anything', NOON + 5)).rejects.toMatchObject({
      word: 'WRONG_PASSPHRASE',
    })
    expect(keyOf(await unlock(locked, address!, '', NOON + 5), address!, NOON)).toEqual(KEY)
  })

  it('of an unknown account is unknown', async () => {
    await expect(unlock(emptyBook, STRANGER, '', NOON)).rejects.toMatchObject({
      word: 'UNKNOWN_ACCOUNT',
    })
    expect(() => requireKey(emptyBook, STRANGER, NOON)).toThrow(`unknown account ${STRANGER}`)
    expect(lock(emptyBook, STRANGER, NOON)).toBeUndefined()
  })

  it('of a seed is its hash', () => {
    expect(newAccountWithSeed(emptyBook, 'cow').address).toBe(
      '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826',
    )
  })

  it('that is imported again keeps its place and gets the new passphrase', async () => {
    const first = await importKey(bookOfKeys([KEY]), new Uint8Array(32).fill(1), 'a', NOON, cheap())
    const { book, address } = await importKey(first.book, KEY, 'b', NOON, cheap())
    expect(addresses(book)[0]).toBe(address)
    expect(addresses(book)).toHaveLength(2)
    expect(await keyWithPassphrase(book, address, 'b')).toEqual(KEY)
  })

  it('that is invalid is refused', async () => {
    await expect(importKey(emptyBook, new Uint8Array(32), '', NOON, cheap())).rejects.toMatchObject(
      { word: 'INVALID_PARAMS' },
    )
  })
})

describe('an encrypted key', () => {
  it('can be read by wallets', async () => {
    const { random } = testEnvironment()
    const file = await encryptKey(KEY, 'secret', { cost: 1024, random })
    const hex = (bytes: Uint8Array): string => hexFromBytes(bytes).slice(2)
    const json = {
      version: 3,
      id: '3198bc9c-6672-5ab3-d995-4942343ae5b6',
      crypto: {
        cipher: 'aes-128-ctr',
        cipherparams: { iv: hex(file.iv) },
        ciphertext: hex(file.ciphertext),
        kdf: 'scrypt',
        kdfparams: { dklen: 32, n: file.cost, r: 8, p: 1, salt: hex(file.salt) },
        mac: hex(file.mac),
      },
    }
    const { privateKey } = decryptKeystoreJsonSync(JSON.stringify(json), 'secret')
    expect(privateKey).toBe(hexFromBytes(KEY))
  })

  it('differs each time for the same key, and decrypts to it', async () => {
    const { random } = testEnvironment()
    const files = await Promise.all(
      [1, 2].map(() => encryptKey(KEY, 'pässword', { cost: 2, random })),
    )
    expect(files[0]?.ciphertext).not.toEqual(files[1]?.ciphertext)
    for (const file of files) expect(await decryptKey(file, 'pässword')).toEqual(KEY)
  })
})

describe('impersonation', () => {
  it('applies to one account or to all', () => {
    const book = impersonateAccount(emptyBook, STRANGER)
    expect(isImpersonated(book, STRANGER, 0)).toBe(true)
    expect(isImpersonated(stopImpersonating(book, STRANGER), STRANGER, 0)).toBe(false)
    expect(isImpersonated({ ...emptyBook, autoImpersonate: true }, STRANGER, 0)).toBe(true)
  })

  it('adds nobody to the list of accounts', () => {
    expect(addresses(impersonateAccount(emptyBook, STRANGER))).toEqual([])
  })

  it('also applies to up to 100,000 signatures, each of which counts as a chosen account’s', () => {
    let book = emptyBook
    const signatureOf = (r: number): Signature => ({ r: BigInt(r), s: 1n, yParity: 1 })
    for (let r = 0; r < 100_000; r += 1) {
      book = impersonateSignature(book, signatureOf(r), STRANGER)
    }
    expect(() => impersonateSignature(book, signatureOf(100_000), STRANGER)).toThrow(
      'too many impersonated signatures: the limit is 100000',
    )
    const again = impersonateSignature(book, signatureOf(7), ZERO_ADDRESS)
    expect(again.signers.size).toBe(100_000)
    expect(signersOf(again)?.get(`0x${'7'.padStart(64, '0')}${'1'.padStart(64, '0')}1c`)).toBe(
      ZERO_ADDRESS,
    )
    expect(signersOf(emptyBook)).toBeUndefined()
  })
})
