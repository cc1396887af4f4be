// Private keys from a mnemonic (BIP-39, BIP-32).
import { pbkdf2 } from 'node:crypto'
import { promisify } from 'node:util'
import type { HDKey } from '@scure/bip32'
import { DevchainError, printValue } from '../../core/errors.ts'
import { OPTIONS } from '../../options/table.ts'

export const TEST_MNEMONIC: string = OPTIONS.mnemonic.default

/** The usual path of Ethereum wallets (BIP-44), to which `/0`, `/1`, … are added. */
export const DEFAULT_PATH: string = OPTIONS.derivationPath.default

export interface DerivationOptions {
  readonly mnemonic: string
  readonly path: string
  readonly count: number
}

export function isTestMnemonic(mnemonic: string): boolean {
  // the first Unicode normalization takes half a millisecond
  return mnemonic === TEST_MNEMONIC || wordsOf(mnemonic) === TEST_MNEMONIC
}

/** The private keys at `path`/0, `path`/1, … Throws `INVALID_PARAMS` for an invalid phrase or path. */
export async function derivedKeys({
  mnemonic,
  path,
  count,
}: DerivationOptions): Promise<Uint8Array[]> {
  const words = wordsOf(mnemonic)
  if (words !== TEST_MNEMONIC) await checkMnemonic(words)
  // node's own is native code; the package's is slow JavaScript
  const seed = await promisify(pbkdf2)(words, 'mnemonic', 2048, 64, 'sha512')
  const { HDKey } = await import('@scure/bip32')
  const parent = parentKey(HDKey.fromMasterSeed(new Uint8Array(seed)), path)
  return Array.from({ length: count }, (_, index) => parent.deriveChild(index).privateKey!)
}

function wordsOf(mnemonic: string): string {
  return mnemonic.normalize('NFKD').trim().split(/\s+/).join(' ').toLowerCase()
}

async function checkMnemonic(words: string): Promise<void> {
  // loaded only for the user's phrases, because the word list slows down the start
  const [{ validateMnemonic }, { wordlist }] = await Promise.all([
    import('@scure/bip39'),
    import('@scure/bip39/wordlists/english.js'),
  ])
  if (validateMnemonic(words, wordlist)) return
  // a phrase is secret even with a typo in it, so no message quotes it
  const all = words.split(' ')
  const unknown = all.findIndex((word) => !wordlist.includes(word))
  const problem =
    unknown < 0
      ? `the checksum of its ${all.length} words does not fit`
      : `word ${unknown + 1} of ${all.length} is not on its list`
  throw new DevchainError('INVALID_PARAMS', `expected an English BIP-39 mnemonic: ${problem}`)
}

function parentKey(root: HDKey, path: string): HDKey {
  try {
    return root.derive(path)
  } catch (error) {
    const message = `expected a derivation path such as ${DEFAULT_PATH}, got ${printValue(path)}: ${(error as Error).message}`
    throw new DevchainError('INVALID_PARAMS', message)
  }
}
