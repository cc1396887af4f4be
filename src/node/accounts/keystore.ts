// Private keys under a passphrase, in the wallets' exchange format (Web3 Secret Storage, version 3).
import { createCipheriv, createDecipheriv, scrypt, timingSafeEqual } from 'node:crypto'
import { keccak256 } from '../../core/crypto/crypto.ts'
import { DevchainError } from '../../core/errors.ts'
import { concatBytes } from '../../core/hex.ts'

/** The `crypto` section of a version 3 key file, in bytes. */
export interface EncryptedKey {
  /** aes-128-ctr with the first half of the derived key. */
  readonly ciphertext: Uint8Array
  readonly iv: Uint8Array
  readonly salt: Uint8Array
  readonly cost: number
  /** Keccak-256 of the second half of the derived key, then the ciphertext. */
  readonly mac: Uint8Array
}

export interface EncryptionOptions {
  /** Parameter N of scrypt, a power of two: memory and time grow with it. */
  readonly cost: number
  readonly random: (length: number) => Uint8Array
}

export async function encryptKey(
  privateKey: Uint8Array,
  passphrase: string,
  { cost, random }: EncryptionOptions,
): Promise<EncryptedKey> {
  const salt = random(32)
  const iv = random(16)
  const derived = await derivedKey(passphrase, salt, cost)
  const cipher = createCipheriv('aes-128-ctr', derived.subarray(0, 16), iv)
  const ciphertext = concatBytes(cipher.update(privateKey), cipher.final())
  return { ciphertext, iv, salt, cost, mac: macOf(derived, ciphertext) }
}

export async function decryptKey(
  { ciphertext, iv, salt, cost, mac }: EncryptedKey,
  passphrase: string,
): Promise<Uint8Array> {
  const derived = await derivedKey(passphrase, salt, cost)
  if (!timingSafeEqual(macOf(derived, ciphertext), mac)) {
    throw new DevchainError('WRONG_PASSPHRASE', 'wrong passphrase: it does not decrypt the key')
  }
  const decipher = createDecipheriv('aes-128-ctr', derived.subarray(0, 16), iv)
  return concatBytes(decipher.update(ciphertext), decipher.final())
}

function derivedKey(passphrase: string, salt: Uint8Array, cost: number): Promise<Uint8Array> {
  const options = { N: cost, r: 8, p: 1, maxmem: 2 * 128 * 8 * cost + 1_000_000 }
  return new Promise((resolve, reject) => {
    scrypt(passphrase.normalize('NFKC'), salt, 32, options, (error, key) => {
      if (error === null) resolve(new Uint8Array(key))
      else reject(error)
    })
  })
}

function macOf(derived: Uint8Array, ciphertext: Uint8Array): Uint8Array {
  return keccak256(concatBytes(derived.subarray(16, 32), ciphertext))
}
