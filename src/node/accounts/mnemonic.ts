// Private keys from a phrase of words (BIP-39, BIP-32).
import { pbkdf2 } from 'node:crypto'
import { promisify } from 'node:util'
import type { HDKey } from '@scure/bip32'
import { DevchainError, printValue } from '../../core/errors.ts'
import { OPTIONS } from '../../options/table.ts'

/** The phrase that development chains share. Its keys are known to everybody. */
export const TEST_MNEMONIC: string = OPTIONS.mnemonic.default

/** Path under which Ethereum wallets keep their accounts (BIP-44): `/0`, `/1`, … are added to it. */
export const DEFAULT_PATH: string = OPTIONS.derivationPath.default

export interface DerivationOptions {
  readonly mnemonic: string
  readonly path: string
  readonly count: number
}

/** True for the phrase whose keys everybody knows, under whatever path. */
export function isTestMnemonic(mnemonic: string): boolean {
  // to normalize text for the first time takes half a millisecond
  return mnemonic === TEST_MNEMONIC || wordsOf(mnemonic) === TEST_MNEMONIC
}

/** The private keys at `path`/0, `path`/1, … Throws `INVALID_PARAMS` for what is no English BIP-39 phrase, or no path. */
export async function derivedKeys({
  mnemonic,
  path,
  count,
}: DerivationOptions): Promise<Uint8Array[]> {
  const words = wordsOf(mnemonic)
  if (words !== TEST_MNEMONIC) await checkMnemonic(words)
  // node's own is native code: the package's is JavaScript, and slow
  const seed = await promisify(pbkdf2)(words, 'mnemonic', 2048, 64, 'sha512')
  const { HDKey } = await import('@scure/bip32')
  const parent = parentKey(HDKey.fromMasterSeed(new Uint8Array(seed)), path)
  return Array.from({ length: count }, (_, index) => parent.deriveChild(index).privateKey!)
}

function wordsOf(mnemonic: string): string {
  return mnemonic.normalize('NFKD').trim().split(/\s+/).join(' ').toLowerCase()
}

async function checkMnemonic(words: string): Promise<void> {
  // loaded for phrases of the user's only: the word list costs time at every start
  const [{ validateMnemonic }, { wordlist }] = await Promise.all([
    import('@scure/bip39'),
    import('@scure/bip39/wordlists/english.js'),
  ])
  if (validateMnemonic(words, wordlist)) return
  // a phrase is a secret, also one with a slip in it: no message has a word of it
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
