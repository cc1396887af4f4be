// Code of the stand-ins for Arbitrum's contracts. It reads answers from slots whose numbers encode the call, so
// that unknown answers are fetched like any slot. It never writes.
import { keccakHash } from '../../core/crypto/crypto.ts'
import { bigintFromBytes, bytesFromHex, paddedBytes } from '../../core/hex.ts'
import type { Account } from '../../state/world.ts'

/**
 * A slot number holds the selector (4 bytes), the kind of input (1 byte: 0 none, 1 a parameter of 20 bytes, 2 anything
 * else, or value was sent), the index of a word (2 bytes), zeros (5 bytes) and the parameter (20 bytes). Word 0 is
 * twice the size of the answer in bytes, plus 1 if the call succeeds; the answer follows.
 * test/unit/fork/arbitrum.test.ts explains the code.
 */
export const STAND_IN: Code = codeOf([
  '0x60003560e01c60e01b3461003f576004361061003f573660041461004657366024141561003f57',
  '60043560a01c61003f5760043517600160d81b17610046565b600260d81b175b80548060011c6000',
  '5b818160051b1015610071578060010160c81b8417548160051b5260010161004f565b5090600116',
  '61007e576000fd5b6000f3',
])

/** ArbInfo: local balances and code of accounts. test/unit/fork/arbitrum.test.ts explains the code. */
export const ARB_INFO: Code = codeOf([
  '0x346100295736602414156100295760003560e01c8063f8b2cb4f1461002f57637e105ce21461003c',
  '575b60006000fd5b6004353160005260206000f35b600435803b6020600052806020528060006040',
  '843c601f0160051c60051b6040016000f3',
])

type Code = Pick<Account, 'code' | 'codeHash'>

function codeOf(parts: readonly string[]): Code {
  const code = bytesFromHex(parts.join(''))
  return { code, codeHash: keccakHash(code) }
}

export interface SlotQuery {
  readonly selector: number
  /** The whole call input; undefined if the slot cannot encode it. */
  readonly data: string | undefined
  readonly parameter: bigint
  readonly index: number
}

const MOST_PARAMETER = (1n << 160n) - 1n

export function slotQueryOf(slot: bigint): SlotQuery {
  const selector = Number(slot >> 224n)
  const follows = (slot >> 216n) & 0xffn
  const parameter = slot & MOST_PARAMETER
  const name = `0x${selector.toString(16).padStart(8, '0')}`
  const whole = follows === 0n ? name : `${name}${parameter.toString(16).padStart(64, '0')}`
  const data = follows > 1n ? undefined : whole
  return { selector, data, parameter, index: Number((slot >> 200n) & 0xffffn) }
}

export function wordsOf(returned: Uint8Array, isSuccess: boolean): readonly bigint[] {
  const head = BigInt(returned.length * 2) + (isSuccess ? 1n : 0n)
  const count = Math.ceil(returned.length / 32)
  const words = Array.from({ length: count }, (_, index) => {
    const word = new Uint8Array(32)
    word.set(returned.subarray(index * 32, index * 32 + 32))
    return bigintFromBytes(word)
  })
  return [head, ...words]
}

export function oneWord(value: bigint): readonly bigint[] {
  return wordsOf(paddedBytes(value, 32), true)
}
