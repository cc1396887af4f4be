// Which commands a reset, a revert or the end of the chain cancels.
import { expect, test } from 'vitest'
import { throwIfCancelled } from '../../../../src/evm/cancellation.ts'
import { type Command, Discards } from '../../../../src/node/chain/discards.ts'

const RESET = { discards: 'was reset', endsReads: true }
const REVERT = { discards: 'was reverted to a snapshot' }

/** Pauses until a command is cancelled; 1,000 when it is not. */
function pauses(command: Command): number {
  for (let count = 0; count < 1_000; count += 1) {
    command.onPause()
    if (command.aborted) return count
  }
  return 1_000
}

test('reads and commands run on if nothing discards them', () => {
  const discards = new Discards()
  expect(pauses(discards.read())).toBe(1_000)
  const command = discards.enter({})
  command.begin()
  expect(pauses(command)).toBe(1_000)
  expect(pauses(discards.read())).toBe(1_000)
})

test('a reset cancels all before it after a few pauses in total, and nothing after it', () => {
  const discards = new Discards()
  const read = discards.read()
  const before = [discards.enter({}), discards.enter({})]
  before[0]?.begin()
  const reset = discards.enter(RESET)
  const after = discards.enter({})
  const given = before.map((command) => pauses(command))
  expect(given[0]).toBeGreaterThan(0)
  expect(given[1]).toBe(0)
  expect(pauses(read)).toBe(0)
  reset.begin()
  expect(pauses(reset)).toBe(1_000)
  after.begin()
  expect(pauses(after)).toBe(1_000)
  expect(pauses(discards.read())).toBe(1_000)
})

test('a revert cancels commands and drafts before it, and no reads', () => {
  const discards = new Discards()
  const read = discards.read()
  const draft = discards.draft({ aborted: false })
  const command = discards.enter({})
  command.begin()
  discards.enter(REVERT)
  expect(pauses(command)).toBeLessThan(1_000)
  expect(pauses(draft)).toBe(0)
  expect(pauses(read)).toBe(1_000)
  discards.enter(RESET)
  expect(pauses(read)).toBeLessThan(1_000)
})

test('each reset waits for a few pauses, but not one that comes while another waits', () => {
  const discards = new Discards()
  const first = discards.enter({})
  first.begin()
  discards.enter(RESET)
  const moment = pauses(first)
  const second = discards.enter({})
  const again = discards.enter(RESET)
  expect(pauses(second)).toBe(0)
  again.begin()
  const third = discards.enter({})
  third.begin()
  discards.enter(RESET)
  expect(pauses(third)).toBe(moment)
})

test('the error of a cancelled command says why', () => {
  const discards = new Discards()
  const command = discards.enter({})
  command.begin()
  expect(() => throwIfCancelled(command)).not.toThrow()
  discards.enter(RESET)
  pauses(command)
  const message = 'the execution was cancelled: the chain was reset while it ran'
  expect(() => throwIfCancelled(command)).toThrow(
    expect.objectContaining({ word: 'CANCELLED', message }),
  )
  const hung = new Discards().enter({ cancellation: { aborted: true } })
  expect(() => throwIfCancelled(hung)).toThrow('the client disconnected')
})

test('closing the chain cancels everything at once', () => {
  const discards = new Discards()
  const command = discards.enter({})
  discards.close()
  expect(pauses(command)).toBe(0)
  expect(pauses(discards.read())).toBe(0)
})
