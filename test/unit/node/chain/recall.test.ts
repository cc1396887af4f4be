// Which commands are given up, and which are not.
import { expect, test } from 'vitest'
import { DevchainError } from '../../../../src/core/errors.ts'
import { Recall } from '../../../../src/node/chain/recall.ts'

const RESET = { takesBack: 'was reset' }

/** Pauses until a command is given up; 1,000 when it is not. */
function pauses(command: { readonly isAwaited: () => boolean }): number {
  for (let count = 0; count < 1_000; count += 1) if (!command.isAwaited()) return count
  return 1_000
}

test('a read or request without cancellation goes on', () => {
  const recall = new Recall()
  expect(pauses(recall.read())).toBe(1_000)
  const command = recall.enter({})
  command.begin()
  expect(pauses(command)).toBe(1_000)
  expect(pauses(recall.read())).toBe(1_000)
})

test('a reset cancels all requests before it together, and not itself or later ones', () => {
  const recall = new Recall()
  const read = recall.read()
  const before = [recall.enter({}), recall.enter({})]
  before[0]?.begin()
  const reset = recall.enter(RESET)
  const after = recall.enter({})
  const given = before.map((command) => pauses(command))
  expect(given[0]).toBeGreaterThan(0)
  expect(given[1]).toBe(0)
  expect(pauses(read)).toBe(0)
  reset.begin()
  expect(pauses(reset)).toBe(1_000)
  after.begin()
  expect(pauses(after)).toBe(1_000)
  expect(pauses(recall.read())).toBe(1_000)
})

test('each reset cancels separately, except one that comes while another waits', () => {
  const recall = new Recall()
  const first = recall.enter({})
  first.begin()
  recall.enter(RESET)
  const moment = pauses(first)
  const second = recall.enter({})
  const again = recall.enter(RESET)
  expect(pauses(second)).toBe(0)
  again.begin()
  const third = recall.enter({})
  third.begin()
  recall.enter(RESET)
  expect(pauses(third)).toBe(moment)
})

test('a cancelled request says why, and other errors stay as they are', () => {
  const recall = new Recall()
  const command = recall.enter({})
  command.begin()
  const abandoned = new DevchainError('ABANDONED', 'nobody waits')
  expect(command.explained(abandoned)).toBe(abandoned)
  recall.enter(RESET)
  pauses(command)
  const message = 'the execution was given up: the chain was reset while it ran'
  expect(command.explained(abandoned)).toMatchObject({ word: 'ABANDONED', message })
  const other = new Error('other')
  expect(command.explained(other)).toBe(other)
  const hung = new Recall().enter({ isAwaited: () => false })
  expect(hung.isAwaited()).toBe(false)
  expect(hung.explained(abandoned)).toBe(abandoned)
})

test('closing a chain cancels everything at once', () => {
  const recall = new Recall()
  const command = recall.enter({})
  recall.close()
  expect(pauses(command)).toBe(0)
  expect(pauses(recall.read())).toBe(0)
})
