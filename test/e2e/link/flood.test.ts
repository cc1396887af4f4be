// Floods: a peer sends whatever it can as fast as it can. A node goes on answering its users, and takes no more memory.
import { randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { joinRlp } from '../../../src/core/fastrlp/writer.ts'
import { bytesFromHex, type Hash, hexFromBytes } from '../../../src/core/hex.ts'
import {
  decodeMessage,
  encodeMessage,
  type LinkMessage,
  MAX_MESSAGE,
  MOST,
} from '../../../src/link/protocol/messages.ts'
import { type Block, encodeBlock, sealBlock } from '../../../src/protocol/blocks/block.ts'
import { decodeHeader, encodeHeader } from '../../../src/protocol/blocks/header.ts'
import { COMMAND, ROOT, type Started, startProcess } from '../../support/process/boot.ts'
import { eventually } from '../../support/waiting/eventually.ts'
import { nextTurn } from '../../support/waiting/turns.ts'
import { signed, testChain } from '../../unit/node/chains.ts'

/** Processor time of the node's longest turn: 3 to 28 were measured, and a machine may be much slower. */
const MOST_HELD_MS = 200

/** Up to 40 MB were measured on a busy machine, nearly all of it garbage: after a collection less than 8 MB are left. */
const MOST_GROWN_BYTES = 50e6

/** As many as a node takes (--max-peers). */
const MOST_PEERS = 25

interface Line {
  readonly heldMs: number
  readonly bytes: number
}

interface Watched {
  readonly url: string
  readonly ask: (method: string, ...params: unknown[]) => Promise<unknown>
  /** Forgets all lines so far. */
  readonly forget: () => void
  readonly lines: () => readonly Line[]
  /** Waits until the node has had some more turns, for so many lines. */
  readonly goesOn: (lines: number) => Promise<void>
}

let folder = ''
let started: Started | undefined
let node: Watched

// one node for all: what a flood leaves behind, the next one finds
beforeAll(async () => {
  node = await startWatched()
})

afterAll(async () => {
  started?.child.kill()
  await started?.ended
  rmSync(folder, { recursive: true, force: true })
})

/** A node that was used for a while, and is watched from within. */
async function startWatched(): Promise<Watched> {
  folder = mkdtempSync(path.join(tmpdir(), 'devchain-flood-'))
  const [ready, file] = [path.join(folder, 'ready'), path.join(folder, 'watch')]
  writeFileSync(file, '')
  const watcher = path.join(ROOT, 'test/e2e/link/watch.mjs')
  started = startProcess(['--port', '0', '--ready-file', ready, '--exit-with-parent', '--quiet'], {
    command: [process.execPath, '--import', watcher, COMMAND] as never,
    env: { WATCH_FILE: file },
  })
  await eventually(() => existsSync(ready))
  const { url } = JSON.parse(readFileSync(ready, 'utf8')) as Watched
  const post = async (body: unknown): Promise<unknown> =>
    (await fetch(url, { method: 'POST', body: JSON.stringify(body) })).json()
  const ask: Watched['ask'] = async (method, ...params) =>
    ((await post({ jsonrpc: '2.0', id: 1, method, params })) as { result: unknown }).result
  const [from, to] = (await ask('eth_accounts')) as [string, string]
  const send = { method: 'eth_sendTransaction', params: [{ from, to, value: '0x1' }] }
  for (let i = 0; i < 6; i++) {
    await post(Array.from({ length: 100 }, (_, id) => ({ jsonrpc: '2.0', id, ...send })))
  }
  // the first link loads the code of links
  const first = await intruder(url)
  first?.end()
  const lines = (): readonly Line[] =>
    readFileSync(file, 'utf8')
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line))
  const goesOn = async (more: number): Promise<void> => {
    const wanted = lines().length + more
    await eventually(() => lines().length >= wanted)
  }
  return { url, ask, forget: () => writeFileSync(file, ''), lines, goesOn }
}

type Answer = (message: LinkMessage) => LinkMessage | undefined

/** A peer of a new id, linked. Resolves with undefined where it is not taken: too many came at once. */
async function intruder(url: string, answer: Answer = () => undefined) {
  const socket = new WebSocket(url.replace('http', 'ws').replace(/\/?$/, '/.link'))
  const say = (message: LinkMessage): void => socket.send(encodeMessage(message))
  const isLinked = new Promise<boolean>((resolve) => {
    socket.on('error', () => resolve(false))
    socket.on('close', () => resolve(false))
    socket.on('message', (data) => {
      const message = decodeMessage(new Uint8Array(data as Buffer))
      if (message.kind === 'hello') {
        const nodeId = randomBytes(32)
        say({ ...message, nodeId, name: 'mallory' })
        say({ kind: 'ping', id: 0 })
      } else if (message.kind === 'goodbye') resolve(false)
      // the first that is said to a peer that is taken
      else if (message.kind === 'announce') resolve(true)
      const reply = answer(message)
      if (reply !== undefined) say(reply)
    })
  })
  if (!(await isLinked)) return undefined
  /** Sends as fast as the other side reads, until it hangs up. */
  const pour = async (messages: Iterable<Uint8Array>): Promise<void> => {
    for (const bytes of messages) {
      if (socket.readyState !== WebSocket.OPEN) break
      await new Promise((resolve) => socket.send(bytes, resolve))
    }
  }
  return { say, pour, socket, end: () => socket.terminate() }
}

type Intruder = NonNullable<Awaited<ReturnType<typeof intruder>>>

/** A peer that is linked, sooner or later: a node takes 20 a second. */
async function taken(url: string, answer?: Answer): Promise<Intruder> {
  return (await eventually(() => intruder(url, answer)))!
}

/** As many peers as a node takes, all at once. Those that it lets go of are still there for the test. */
async function crowd(
  { url, goesOn }: Watched,
  flood: (peer: Intruder) => Promise<void>,
): Promise<void> {
  const peers: Intruder[] = []
  while (peers.length < MOST_PEERS) peers.push(await taken(url))
  await Promise.all(peers.map(flood))
  // they hold on to what they have for a while
  await goesOn(15)
  for (const peer of peers) peer.end()
}

/** The head of a frame of so many bytes, as clients send it (RFC 6455), whose mask changes nothing. */
function frameHead(length: number, opcode: number, isLast: boolean): Uint8Array {
  const head = Buffer.alloc(14)
  head[0] = opcode | (isLast ? 0x80 : 0)
  head[1] = 0x80 | 127
  head.writeBigUInt64BE(BigInt(length), 2)
  return head
}

/** Sends bytes as they are, beneath all frames. Resolves once they have left, or cannot any more. */
function pourRaw({ socket }: Intruder, bytes: Uint8Array): Promise<void> {
  const { _socket: raw } = socket as unknown as { readonly _socket: Socket | null }
  if (!raw?.writable) return Promise.resolve()
  // its error comes here where it is destroyed meanwhile
  return new Promise((resolve) => raw.write(bytes, () => resolve()))
}

/** Peers that come one after another, some at a time, and do the same. */
async function each(
  url: string,
  count: number,
  flood: (peer: Intruder) => Promise<void>,
): Promise<void> {
  let left = count
  const lane = async (): Promise<void> => {
    for (; left > 0; left--) {
      const peer = await intruder(url)
      if (peer === undefined) continue
      await flood(peer)
      peer.end()
    }
  }
  await Promise.all([lane(), lane(), lane(), lane()])
}

function repeated<T>(count: number, item: T): readonly T[] {
  return new Array<T>(count).fill(item)
}

/** Headers that follow one another, from one of the node's on: as valid as headers can be seen to be. */
async function headersAfter({ ask }: Watched, count: number): Promise<readonly Block[]> {
  const { number } = (await ask('eth_getBlockByNumber', 'latest', false)) as { number: string }
  const raw = bytesFromHex((await ask('debug_getRawHeader', number)) as never)
  let block = sealBlock(decodeHeader(raw), [])
  return Array.from({ length: count }, () => {
    const { header, hash } = block
    const [at, after] = [header.number + 1n, header.timestamp + 1n]
    block = sealBlock({ ...header, parentHash: hash, number: at, timestamp: after }, [])
    return block
  })
}

function announcementOf(
  { hash, header }: Block,
  blocks: readonly Block[],
): LinkMessage<'announce'> {
  const head = { head: hash, number: header.number, totalDifficulty: 10n ** 9n }
  return { kind: 'announce', ...head, blocks: blocks.map((block) => encodeBlock(block)) }
}

/** Everything that a peer does to a node, each for some seconds at most. */
const FLOODS: readonly (readonly [what: string, flood: (node: Watched) => Promise<void>])[] = [
  [
    'garbage',
    async ({ url }) => {
      const garbage = randomBytes(1_000_000)
      await each(url, 12, ({ pour }) => pour(repeated(17, garbage)))
    },
  ],
  [
    'messages that are too large',
    async ({ url }) => {
      const large = new Uint8Array(MAX_MESSAGE + 1)
      await each(url, 12, ({ pour }) => pour(repeated(2, large)))
    },
  ],
  [
    'messages of as many items as bytes',
    async ({ url }) => {
      const many = joinRlp(repeated(MAX_MESSAGE - 10, Uint8Array.of(0x80)))
      await each(url, 12, ({ pour }) => pour([many]))
    },
  ],
  [
    'messages that are never finished',
    async (node) => {
      const half = Buffer.concat([frameHead(MAX_MESSAGE, 2, true), new Uint8Array(MAX_MESSAGE - 1)])
      await crowd(node, (peer) => pourRaw(peer, half))
    },
  ],
  [
    'fragments of messages that are never finished',
    async (node) => {
      const part = new Uint8Array(2 ** 16)
      const first = Buffer.concat([frameHead(part.length, 2, false), part])
      const next = Buffer.concat([frameHead(part.length, 0, false), part])
      const most = Buffer.concat([first, ...repeated(MAX_MESSAGE / part.length - 1, next)])
      await crowd(node, (peer) => pourRaw(peer, most))
    },
  ],
  [
    'fragments of one byte',
    async (node) => {
      const [first, next] = [2, 0].map((opcode) => Buffer.from([opcode, 0x81, 0, 0, 0, 0, 7]))
      const most = Buffer.concat([first!, ...repeated(200_000, next!)])
      await crowd(node, (peer) => pourRaw(peer, most))
    },
  ],
  [
    'messages that arrive in drops',
    async (node) => {
      const head = frameHead(MAX_MESSAGE, 2, true)
      const drop = new Uint8Array(1)
      await crowd(node, async (peer) => {
        await pourRaw(peer, head)
        for (let i = 0; i < 2_000; i++) {
          void pourRaw(peer, drop)
          await nextTurn()
        }
      })
    },
  ],
  [
    'questions whose answers nobody reads',
    async (node) => {
      const numbers = Array.from({ length: 128 }, (_, i) => `0x${(i + 1).toString(16)}`)
      const hashes = await Promise.all(
        numbers.map(async (number) => {
          const block = await node.ask('eth_getBlockByNumber', number, false)
          return (block as { readonly hash: Hash }).hash
        }),
      )
      const question = encodeMessage({ kind: 'getBlocks', id: 1, hashes })
      await crowd(node, async ({ socket }) => {
        socket.pause()
        for (let i = 0; i < 200; i++) socket.send(question)
      })
    },
  ],
  [
    'large messages all at once',
    async (node) => {
      const large = encodeMessage({
        kind: 'blocks',
        id: 1,
        blocks: [randomBytes(MAX_MESSAGE - 99)],
      })
      await crowd(node, ({ pour }) => pour(repeated(3, large)))
    },
  ],
  [
    'announced transactions that are nowhere',
    async (node) => {
      await crowd(node, async ({ pour }) => {
        const hash = (): Hash => hexFromBytes(randomBytes(32)) as Hash
        const hashes = Array.from({ length: MOST.hashes }, hash)
        await pour([encodeMessage({ kind: 'pooled', hashes })])
      })
    },
  ],
  [
    'too many messages',
    async ({ url }) => {
      const ping = encodeMessage({ kind: 'ping', id: 1 })
      const nothing = encodeMessage({ kind: 'pooled', hashes: [] })
      await each(url, 10, ({ pour }) =>
        pour([...repeated(5_000, ping), ...repeated(5_000, nothing)]),
      )
    },
  ],
  [
    'five thousand transactions of no value',
    async ({ url, ask }) => {
      const chain = await testChain()
      const changes = { index: 1, value: 0n, maxFeePerGas: 10n ** 10n }
      const all = Array.from({ length: 5_000 }, (_, i) =>
        signed(chain, { ...changes, nonce: BigInt(i) }),
      )
      const byHash = new Map(all.map((transaction) => [transaction.hash, transaction.raw]))
      const peer = await taken(url, (message) => {
        if (message.kind !== 'getTransactions') return undefined
        const transactions = message.hashes.map((hash) => byHash.get(hash)!)
        return { kind: 'transactions', id: message.id, transactions }
      })
      for (let at = 0; at < all.length; at += MOST.hashes) {
        const hashes = all.slice(at, at + MOST.hashes).map(({ hash }) => hash)
        peer.say({ kind: 'pooled', hashes })
      }
      await eventually(async () => {
        const { pending, queued } = (await ask('txpool_status')) as Record<string, string>
        return Number(pending) + Number(queued) > 3_800
      })
    },
  ],
  [
    'invalid blocks',
    async (node) => {
      const good = await headersAfter(node, 1)
      for (let i = 0; i < 60; i++) {
        const peer = await intruder(node.url)
        for (let extra = 0; extra < 4; extra++) {
          const extraData = Uint8Array.of(i, extra)
          const block = sealBlock({ ...good[0]!.header, extraData, gasUsed: 5n }, [])
          peer?.say(announcementOf(block, [block]))
        }
        await node.ask('eth_blockNumber')
        peer?.end()
      }
    },
  ],
  [
    'headers without end, and garbage for blocks',
    async (node) => {
      const blocks = await headersAfter(node, 20_000)
      const places = new Map(blocks.map(({ hash }, i) => [hash, i]))
      const encoded = blocks.map(({ header }) => encodeHeader(header))
      const garbage = randomBytes(MAX_MESSAGE - 1_000)
      const answer: Answer = (message) => {
        if (message.kind === 'getHeaders') {
          const at = places.get(message.locator[0]!) ?? -1
          return { kind: 'headers', id: message.id, headers: encoded.slice(at + 1, at + 513) }
        }
        if (message.kind === 'getBlocks') {
          return { kind: 'blocks', id: message.id, blocks: [garbage] }
        }
        return undefined
      }
      for (let i = 0; i < 12; i++) {
        const peer = await taken(node.url, answer)
        peer.say(announcementOf(blocks.at(-1)!, []))
        await node.goesOn(4)
        peer.end()
      }
    },
  ],
]

test.each(FLOODS)('a node survives a flood of %s', async (_, flood) => {
  node.forget()
  await node.goesOn(5)
  const before = node.lines()
  await flood(node)
  const number = await node.ask('eth_blockNumber')
  await node.goesOn(3)
  // to seal a full block takes as long with transactions of one's own
  const during = node.lines().slice(before.length)
  await node.ask('evm_mine')
  expect(Number(await node.ask('eth_blockNumber'))).toBe(Number(number) + 1)
  await node.goesOn(3)
  const after = node.lines().slice(before.length)
  const held = Math.max(...during.map(({ heldMs }) => heldMs))
  const grown = Math.max(...after.map(({ bytes }) => bytes)) - before.at(-1)!.bytes
  expect(held).toBeLessThan(MOST_HELD_MS)
  expect(grown).toBeLessThan(MOST_GROWN_BYTES)
})
