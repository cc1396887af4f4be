// By which rules a network's machine goes, asked of the machine itself: of many networks neither a header nor anybody else tells.
import { type Hex, quantityFromBigint } from '../../core/hex.ts'
import { ASSUMED_HARDFORK, type Hardfork } from '../../protocol/forks.ts'
import type { Client } from '../client/client.ts'
import { isWord, word } from '../network/answers.ts'

/** Each leaves what is not 0 on the stack, where a machine has it. They need nothing that is newer than london. */
const QUESTIONS: readonly (readonly [code: string, hardfork: Hardfork])[] = [
  // PUSH0 (EIP-3855)
  [creating('5f00'), 'shanghai'],
  // MCOPY (EIP-5656)
  [creating('5f5f5f5e00'), 'cancun'],
  // two points added by the precompile at 0x0b (EIP-2537) are one of 128 bytes
  ['60006000610100610100600b617530fa503d608014', 'prague'],
  // CLZ (EIP-7939)
  [creating('60011e00'), ASSUMED_HARDFORK],
]

/** Bytes of what stands between a question and where the next one begins. */
const TO_NEXT = 9

/**
 * Init code that asks the questions until one is answered by no, as what a machine does not have burns all gas but a 64th, and
 * returns how many were answered by yes.
 */
const ASKING: Hex = asking()

/** Leaves the address of a contract that this init code makes, which is put at 0x20; 0 where it fails. */
function creating(initCode: string): string {
  const size = initCode.length / 2
  const place = [byte(size), byte(0x40 - size)].map((number) => `60${number}`)
  return [byte(0x5f + size), initCode, '602052', ...place, '6000f0'].join('')
}

function asking(): Hex {
  let code = ''
  QUESTIONS.forEach(([question], index) => {
    code += question
    // goes on behind the return of the word at 0, or returns it
    const next = code.length / 2 + TO_NEXT
    code += `61${byte(next >> 8)}${byte(next & 0xff)}5760206000f35b`
    // one more, in the last byte of that word
    code += `60${byte(index + 1)}601f53`
  })
  return `0x${code}60206000f3`
}

function byte(number: number): string {
  return number.toString(16).padStart(2, '0')
}

/** The newest hardfork whose machine the network has in a block; undefined where it does not say, or has none newer than paris. */
export async function askMachine(client: Client, number: bigint): Promise<Hardfork | undefined> {
  try {
    const call = { data: ASKING }
    const answer = await client.request('eth_call', [call, quantityFromBigint(number)])
    const count = isWord(answer) ? word(answer) : 0n
    return QUESTIONS[Number(count) - 1]?.[1]
  } catch {
    // headers tell a part of it
    return undefined
  }
}
