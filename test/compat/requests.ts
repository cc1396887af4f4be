// What scenarios are made of: accounts that all nodes have, small contracts, and the requests that are sent often.
import type { Step } from './scenario.ts'

/** First accounts of the test mnemonic, funded and unlocked everywhere. */
export const ALICE = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'
export const BOB = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8'

/** An account that no node has, without funds. */
export const STRANGER = '0x00000000000000000000000000000000000a11ce'

/** What Alice's first transaction creates, if it is a creation. */
export const CONTRACT = '0x5fbdb2315678afecb367f032d93f642f64180aa3'

export const UNKNOWN_HASH: string = `0x${'ab'.repeat(32)}`

/** Code that reverts with the data of the call. */
const REVERTS_WITH_INPUT = '365f5f37365ffd'

/** The creation of a contract with code of at most 32 bytes. */
export function creationOf(code: string): string {
  const size = code.length / 2
  const push = (0x5f + size).toString(16)
  const [length, offset] = [size, 32 - size].map((byte) => byte.toString(16).padStart(2, '0'))
  return `0x${push}${code}5f5260${length}60${offset}f3`
}

/** Alice deploys code: afterwards it is at CONTRACT, and she has sent one transaction. */
export function deploy(code: string): Step {
  return ['eth_sendTransaction', { from: ALICE, data: creationOf(code), gas: '0x186a0' }]
}

/** At CONTRACT is code that reverts with the data it is called with. */
export const DEPLOY_REVERTING: Step = deploy(REVERTS_WITH_INPUT)

/** A transfer from Alice to Bob; members given replace those of the request. */
export function transfer(members: Readonly<Record<string, unknown>> = {}): Step {
  return ['eth_sendTransaction', { from: ALICE, to: BOB, gas: '0x5208', ...members }]
}

function word(value: number): string {
  return value.toString(16).padStart(64, '0')
}

/** What contracts revert with, by kinds of reasons. */
export const REVERT_DATA: Readonly<
  Record<
    'text' | 'emptyText' | 'panic' | 'unknownPanic' | 'custom' | 'customText' | 'short' | 'nothing',
    string
  >
> = {
  text: `0x08c379a0${word(0x20)}${word(11)}${'6e20746f6f20736d616c6c'.padEnd(64, '0')}`,
  emptyText: `0x08c379a0${word(0x20)}${word(0)}`,
  panic: `0x4e487b71${word(0x11)}`,
  unknownPanic: `0x4e487b71${word(0x99)}`,
  custom: `0x2202f1fa${word(7)}`,
  customText: `0xf9006398${word(0x20)}${word(6)}${'627567676572'.padEnd(64, '0')}`,
  short: '0x12',
  nothing: '0x',
}
