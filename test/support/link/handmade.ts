// A peer made by hand, which says what a test wants.
import { helloOf } from '../../../src/link/protocol/handshake.ts'
import {
  decodeMessage,
  encodeMessage,
  type LinkMessage,
  type LinkMessages,
  type MessageKind,
} from '../../../src/link/protocol/messages.ts'
import type { LinkWorld, MemoryPipe, TestNode } from './linkworld.ts'

export interface HandmadePeer {
  readonly pipe: MemoryPipe
  readonly say: (message: LinkMessage) => void
  /** Bytes as they are. */
  readonly throwIn: (bytes: Uint8Array) => void
  /** What came, of a kind. */
  readonly heard: <K extends MessageKind>(kind: K) => readonly LinkMessage<K>[]
  /** Why the node said goodbye; undefined while it has not. */
  readonly farewell: () => string | undefined
}

/** Answers to questions, by their kind; what is left out is not answered. */
export interface Answers {
  readonly getHeaders?: (question: LinkMessage<'getHeaders'>) => readonly Uint8Array[]
  readonly getBlocks?: (question: LinkMessage<'getBlocks'>) => readonly Uint8Array[]
  readonly getTransactions?: (question: LinkMessage<'getTransactions'>) => readonly Uint8Array[]
}

/** Introduces itself as a node of the same chain, but for these changes, and answers as a test says. */
export async function handmadePeer(
  world: LinkWorld,
  node: TestNode,
  changes: Partial<LinkMessages['hello']> | 'silent' = {},
  answers: Answers = {},
): Promise<HandmadePeer> {
  const pipe = world.connect(node)
  const heard: LinkMessage[] = []
  const say = (message: LinkMessage): void => pipe.send(encodeMessage(message))
  pipe.listen({
    message: (bytes) => {
      const message = decodeMessage(bytes)
      heard.push(message)
      const { id } = message as { readonly id: number }
      if (message.kind === 'getHeaders' && answers.getHeaders) {
        say({ kind: 'headers', id, headers: answers.getHeaders(message) })
      }
      if (message.kind === 'getBlocks' && answers.getBlocks) {
        say({ kind: 'blocks', id, blocks: answers.getBlocks(message) })
      }
      if (message.kind === 'getTransactions' && answers.getTransactions) {
        say({ kind: 'transactions', id, transactions: answers.getTransactions(message) })
      }
    },
    part: () => undefined,
    end: () => undefined,
  })
  const identity = { nodeId: new Uint8Array(32).fill(0xee), name: 'mallory', client: 'test' }
  if (changes !== 'silent') {
    say({ kind: 'hello', ...helloOf(node.chain.state, identity), ...changes })
    // it takes the node
    say({ kind: 'ping', id: 0 })
    await world.settle()
  }
  return {
    pipe,
    say,
    throwIn: (bytes) => pipe.send(bytes),
    heard: <K extends MessageKind>(kind: K) =>
      heard.filter((message) => message.kind === kind) as unknown as readonly LinkMessage<K>[],
    farewell: () => heard.find((message) => message.kind === 'goodbye')?.reason,
  }
}
