// Detects a network's hardfork by probing its EVM, as many networks show it nowhere else.
import { type Hex, quantityFromBigint } from '../../core/hex.ts'
import { ASSUMED_HARDFORK, type Hardfork } from '../../protocol/forks.ts'
import type { Client } from '../client/client.ts'
import { isWord, word } from '../network/answers.ts'

/** Each leaves nonzero on the stack if the EVM has the opcode, and uses nothing newer than london. */
const QUESTIONS: readonly (readonly [code: string, hardfork: Hardfork])[] = [
  // PUSH0 (EIP-3855)
  [creating('5f00'), 'shanghai'],
  // MCOPY (EIP-5656)
  [creating('5f5f5f5e00'), 'cancun'],
  // a sum of two points by the precompile at 0x0b (EIP-2537) has 128 bytes
  ['60006000610100610100600b617530fa503d608014', 'prague'],
  // CLZ (EIP-7939)
  [creating('60011e00'), ASSUMED_HARDFORK],
  // SLOTNUM (EIP-7843)
  [creating('4b00'), 'amsterdam'],
]

/** Bytes between a question and the start of the next one. */
const TO_NEXT = 9

/** Init code that asks until the first no, as an unknown opcode burns 63/64 of the gas; returns how many were yes. */
const ASKING: Hex = asking()

/** Leaves the address of a contract with this init code, stored at 0x20; 0 if the creation fails. */
function creating(initCode: string): string {
  const size = initCode.length / 2
  const place = [byte(size), byte(0x40 - size)].map((number) => `60${number}`)
  return [byte(0x5f + size), initCode, '602052', ...place, '6000f0'].join('')
}

function asking(): Hex {
  let code = ''
  QUESTIONS.forEach(([question], index) => {
    code += question
    // continues behind the return of word 0, or returns it
    const next = code.length / 2 + TO_NEXT
    code += `61${byte(next >> 8)}${byte(next & 0xff)}5760206000f35b`
    // adds 1 to the last byte of that word
    code += `60${byte(index + 1)}601f53`
  })
  return `0x${code}60206000f3`
}

function byte(number: number): string {
  return number.toString(16).padStart(2, '0')
}

/** Undefined: no answer, or nothing newer than paris. */
export async function askMachine(client: Client, number: bigint): Promise<Hardfork | undefined> {
  try {
    const call = { data: ASKING }
    const answer = await client.request('eth_call', [call, quantityFromBigint(number)])
    const count = isWord(answer) ? word(answer) : 0n
    return QUESTIONS[Number(count) - 1]?.[1]
  } catch {
    // headers show part of it
    return undefined
  }
}
