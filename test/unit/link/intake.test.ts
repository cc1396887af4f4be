// What came from all peers and is not handled: how much there may be, and who is let go.
import { expect, test } from 'vitest'
import { Intake, type IntakeHolder, MAX_INTAKE } from '../../../src/link/protocol/intake.ts'
import { MAX_ANNOUNCE } from '../../../src/link/protocol/messages.ts'
import { handmadePeer } from '../../support/link/handmade.ts'
import { LinkWorld, type MemoryPipe } from '../../support/link/linkworld.ts'

function holders(names: string): { readonly gone: string[]; readonly all: IntakeHolder[] } {
  const gone: string[] = []
  return { gone, all: [...names].map((name) => ({ letGo: () => void gone.push(name) })) }
}

test('Intake disconnects the link with the oldest pending bytes beyond its limit', () => {
  const intake = new Intake()
  const { gone, all } = holders('abc')
  const [a, b, c] = all as [IntakeHolder, IntakeHolder, IntakeHolder]
  intake.hold(a, MAX_INTAKE / 2)
  intake.hold(b, MAX_INTAKE / 4)
  intake.hold(c, MAX_INTAKE / 4)
  expect(gone).toEqual([])
  // something of the first was handled
  intake.advance(a, MAX_INTAKE / 2)
  intake.hold(c, MAX_INTAKE / 4 + 1)
  expect(gone).toEqual(['b'])
  intake.hold(a, MAX_INTAKE)
  expect(gone).toEqual(['b', 'c'])
  intake.hold(a, MAX_INTAKE + 1)
  expect(gone).toEqual(['b', 'c', 'a'])
})

test('Intake stops counting messages that are handled or whose link has ended', () => {
  const intake = new Intake()
  const { gone, all } = holders('ab')
  for (const holder of all) {
    intake.hold(holder, MAX_INTAKE)
    intake.hold(holder, 0)
    intake.hold(holder, MAX_INTAKE)
    intake.release(holder)
  }
  expect(gone).toEqual([])
})

/** Lets the node at the other end of a pipe hold so many bytes of a message that does not go on. */
function begin({ other }: MemoryPipe, bytes: number): void {
  other?.listener?.part(bytes)
}

test('Intake refuses an unrequested message beyond the limit for such messages', async () => {
  await using world = new LinkWorld()
  const node = await world.add('a')
  const peer = await handmadePeer(world, node)
  begin(peer.pipe, MAX_ANNOUNCE)
  expect(node.network.list().length).toBe(1)
  begin(peer.pipe, 2 * MAX_ANNOUNCE + 1)
  expect(node.network.list()).toEqual([])
  expect(node.events.at(-1)).toMatchObject({
    kind: 'unlinked',
    reason: 'it sends an unrequested message of more than 524288 bytes',
  })
})
