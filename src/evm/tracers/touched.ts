// Records which accounts and slots a run read or changed: the prestate that is needed to run it again elsewhere.
import { type Address, addressFromBytes, paddedBytes } from '../../core/hex.ts'
import { delegateOf } from '../../protocol/transactions/delegation.ts'
import type { StateView, Tracer } from '../executor.ts'
import { OP } from '../opcodes.ts'

/** Accounts, each with the slots of it, in the order in which they were met. */
export type Touched = ReadonlyMap<Address, ReadonlySet<bigint>>

export interface TouchRecorder {
  readonly tracer: Tracer
  readonly touched: Touched
}

/** These find the address of an account on top of the stack. */
const LOOKING_AT: ReadonlySet<number> = new Set([
  ...[OP.BALANCE, OP.EXTCODESIZE, OP.EXTCODECOPY, OP.EXTCODEHASH, OP.SELFDESTRUCT],
])

/**
 * Records what a run touches.
 * @param known accounts that are touched whatever the run does: sender, recipient, miner, authorities
 */
export function recordTouched(known: Iterable<Address>): TouchRecorder {
  const touched = new Map<Address, Set<bigint>>()
  let state: StateView | undefined
  const touch = (address: Address): Set<bigint> => {
    const slots = touched.get(address) ?? new Set()
    touched.set(address, slots)
    return slots
  }
  for (const address of known) touch(address)
  const tracer: Tracer = {
    onBegin: (view) => {
      state = view
    },
    onStep: ({ opcode, stack, address }) => {
      const word = stack.at(-1)
      if (word === undefined) return
      if (opcode === OP.SLOAD || opcode === OP.SSTORE) touch(address).add(word)
      else if (LOOKING_AT.has(opcode)) touch(addressFromBytes(paddedBytes(word, 20)))
    },
    onEnter: ({ from, to }) => {
      touch(from)
      if (to === null) return
      touch(to)
      const code = state?.code(to)
      const delegate = code === undefined ? undefined : delegateOf(code)
      if (delegate !== undefined) touch(delegate)
    },
    onExit: ({ created }) => {
      if (created !== undefined) touch(created)
    },
  }
  return { tracer, touched }
}
