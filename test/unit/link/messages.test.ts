// Messages between peers, and what they are bounded by: as bytes, URLs, addresses, reputations.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { hexFromBytes } from '../../../src/core/hex.ts'
import { AddressList } from '../../../src/link/peers/addresses.ts'
import { Dialer } from '../../../src/link/peers/dialer.ts'
import { Reputations } from '../../../src/link/peers/reputation.ts'
import { Throttle } from '../../../src/link/protocol/limits.ts'
import {
  decodeMessage,
  encodeMessage,
  type LinkMessage,
} from '../../../src/link/protocol/messages.ts'
import { readPeerUrl } from '../../../src/options/values.ts'
import { memoryPipes, TestTiming } from '../../support/link/linkworld.ts'
import { nextTurn } from '../../support/waiting/turns.ts'

const bytes = (most: number, least = 0): fc.Arbitrary<Uint8Array> =>
  fc.uint8Array({ maxLength: most, minLength: least })
const hash = bytes(32, 32).map(hexFromBytes)
const number = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })
const difficulty = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n })
const id = fc.nat()
const name = fc.stringMatching(/^[a-z0-9 -]{0,30}$/)

const message = fc.oneof(
  fc.record({
    kind: fc.constant('hello'),
    version: id,
    networkId: number,
    chainId: number,
    genesis: hash,
    genesisTime: number,
    isOpen: fc.boolean(),
    forkId: bytes(4, 4),
    hardfork: name,
    head: hash,
    number,
    totalDifficulty: difficulty,
    nodeId: bytes(32, 32),
    name,
    client: name,
  }),
  fc.record({ kind: fc.constant('goodbye'), reason: name }),
  fc.record({
    kind: fc.constant('announce'),
    head: hash,
    number,
    totalDifficulty: difficulty,
    blocks: fc.array(bytes(100), { maxLength: 5 }),
  }),
  fc.record({
    kind: fc.constant('getHeaders'),
    id,
    locator: fc.array(hash, { maxLength: 5 }),
    most: id,
  }),
  fc.record({ kind: fc.constant('headers'), id, headers: fc.array(bytes(100), { maxLength: 5 }) }),
  fc.record({ kind: fc.constant('getBlocks'), id, hashes: fc.array(hash, { maxLength: 5 }) }),
  fc.record({ kind: fc.constant('pooled'), hashes: fc.array(hash, { maxLength: 5 }) }),
  fc.record({ kind: fc.constant('hold'), isOn: fc.boolean() }),
  fc.record({ kind: fc.constantFrom('ping', 'pong'), id }),
) as unknown as fc.Arbitrary<LinkMessage>

describe('a link message', () => {
  test('decodes to what was encoded', () => {
    fc.assert(
      fc.property(message, (each) => {
        expect(decodeMessage(encodeMessage(each))).toEqual(each)
      }),
      { seed: 17 },
    )
  })

  test.each<[LinkMessage['kind'], number, object]>([
    ['goodbye', 1, { reason: '' }],
    ['headers', 4, { id: 1, headers: [] }],
    ['pooled', 7, { hashes: [] }],
    ['hold', 12, { isOn: true }],
  ])('of the kind %s begins with %i', (kind, number, members) => {
    expect(encodeMessage({ kind, ...members } as LinkMessage)[1]).toBe(number)
  })

  test('of any bytes is decoded, or refused with a reason', () => {
    fc.assert(
      fc.property(bytes(60), (encoded) => {
        try {
          const read = decodeMessage(encoded)
          expect(encodeMessage(read)).toEqual(encoded)
        } catch (error) {
          expect(error).toMatchObject({ word: 'INVALID_PARAMS' })
        }
      }),
      { seed: 17, numRuns: 2_000 },
    )
  })
})

test('Throttle allows a burst, then a number per second', () => {
  const throttle = new Throttle(10, 3, 0)
  expect([1, 2, 3, 4].map(() => throttle.take(0))).toEqual([true, true, true, false])
  expect(throttle.take(100)).toBe(true)
  expect(throttle.take(101)).toBe(false)
})

test.each([
  ['ws://127.0.0.1:8546', 'ws://127.0.0.1:8546'],
  ['wss://Node.Example', 'wss://node.example:443'],
  ['http://localhost:8545/', 'ws://localhost:8545'],
  ['https://a.b:1', 'wss://a.b:1'],
  ['localhost', 'ws://localhost:8545'],
  ['8546', 'ws://127.0.0.1:8546'],
  ['[::1]:8546', 'ws://[::1]:8546'],
  ['enode://ab@1.2.3.4:1', undefined],
  ['ws://x:0', undefined],
  ['ws://x:65536', undefined],
  ['', undefined],
  ['ws://x/path', undefined],
])('readPeerUrl reads %s as %s', (given, url) => {
  expect(readPeerUrl(given)).toBe(url)
})

describe('AddressList', () => {
  test('finds listed addresses in any spelling', async () => {
    const list = new AddressList()
    await list.add('10.0.0.0/8')
    await list.add('2001:db8::/32')
    await list.add('::ffff:192.168.1.7')
    await list.add('localhost')
    expect(['10.9.8.7', '2001:db8::7', '192.168.1.7'].map((each) => list.has(each))).toEqual([
      true,
      true,
      true,
    ])
    expect(['11.0.0.1', '2001:db9::1', 'nobody', ''].map((each) => list.has(each))).toEqual([
      false,
      false,
      false,
      false,
    ])
    await list.remove('10.0.0.0/8')
    expect(list.has('10.9.8.7')).toBe(false)
    expect(list.has('2001:db8::7')).toBe(true)
  })
})

describe('Reputations', () => {
  const mallory = { id: 'ee'.repeat(32), address: '10.1.1.1' }

  test('bans a node and its address for a time that doubles with each offence', () => {
    const timing = new TestTiming()
    const reputations = new Reputations(timing)
    const bans: unknown[] = []
    for (let round = 0; round < 3; round++) {
      for (let i = 0; i < 3; i++) bans.push(reputations.note(mallory, 'invalidBlocks'))
      const [byId, byAddress] = [mallory.id, mallory.address].map((key) =>
        reputations.bannedMs(key),
      )
      expect(byAddress).toBe(byId)
      timing.move(byId!)
    }
    expect(bans.filter((each) => each !== undefined)).toEqual([10_000, 20_000, 40_000])
    expect(reputations.list(0).map(({ type, punishments }) => [type, punishments])).toEqual([
      ['node', 3],
      ['address', 3],
    ])
  })

  test('does not ban the address of this machine with one of its nodes', () => {
    const reputations = new Reputations(new TestTiming())
    const local = { ...mallory, address: '127.0.0.1' }
    for (let i = 0; i < 10; i++) reputations.note(local, 'invalidBlocks')
    expect(reputations.bannedMs(local.address)).toBe(0)
    expect(reputations.bannedMs(local.id)).toBeGreaterThan(0)
  })

  test('counts good behaviour to a limit', () => {
    const reputations = new Reputations(new TestTiming())
    reputations.note(mallory, 'validBlocks', 10_000)
    expect(reputations.list(0)[0]).toMatchObject({ score: 50, counts: { validBlocks: 10_000 } })
    const bans = [1, 2, 3, 4].map(() => reputations.note(mallory, 'invalidBlocks'))
    expect(bans).toEqual([undefined, undefined, undefined, 10_000])
  })

  test('remembers a thousand nodes, banned ones first', () => {
    const reputations = new Reputations(new TestTiming())
    for (let i = 0; i < 3; i++) reputations.note(mallory, 'invalidBlocks')
    for (let i = 0; i < 2_000; i++) {
      reputations.note({ id: undefined, address: `10.2.${i >> 8}.${i & 255}` }, 'validBlocks')
    }
    expect(reputations.list(0).length).toBe(1_000)
    expect(reputations.bannedMs(mallory.id)).toBe(10_000)
    expect(reputations.bannedMs(mallory.address)).toBe(10_000)
  })
})

test('Dialer retries an absent node after growing waits, and logs it once', async () => {
  const timing = new TestTiming()
  const dialed: number[] = []
  const reported: string[] = []
  const dialer = new Dialer({
    timing,
    dial: () => {
      dialed.push(timing.now())
      return dialed.length < 6
        ? Promise.reject(Object.assign(new Error('no'), { code: 'ECONNREFUSED' }))
        : Promise.resolve(memoryPipes()[0])
    },
    isLinked: () => false,
    connected: () => Promise.resolve(true),
    failed: (reason) => reported.push(reason),
  })
  dialer.start()
  for (let i = 0; i < 300; i++) {
    await nextTurn()
    timing.move(100)
  }
  dialer.end()
  const waits = dialed.slice(1, 6).map((at, i) => at - dialed[i]!)
  expect(waits).toEqual([200, 400, 800, 1_600, 3_200])
  expect(dialed.length).toBeGreaterThan(7)
  expect(reported).toEqual(['nobody listens there'])
})
