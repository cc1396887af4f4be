// Chains in one process, linked over queues in memory, with a clock that stands still until a test moves it.
import { PeerNetwork, type PeerNetworkOptions } from '../../../src/link/network.ts'
import type { Limits } from '../../../src/link/protocol/limits.ts'
import type { Pipe, PipeListener } from '../../../src/link/protocol/pipe.ts'
import type { Timing } from '../../../src/link/protocol/timing.ts'
import type { Chain } from '../../../src/node/chain/chain.ts'
import type { ChainOptions } from '../../../src/node/chainoptions.ts'
import { createChain } from '../../../src/node/create.ts'
import { headOf } from '../../../src/node/ledger/blocktree.ts'
import type { PeerEvent } from '../../../src/node/peers.ts'
import { NOON, testEnvironment } from '../../unit/node/chains.ts'
import { nextTurn } from '../waiting/turns.ts'

interface Timer {
  readonly at: number
  readonly then: () => void
}

/** A clock and its timers. */
export class TestTiming implements Timing {
  #now = 0
  readonly #timers = new Set<Timer>()

  now(): number {
    return this.#now
  }

  after(ms: number, then: () => void): () => void {
    const timer = { at: this.#now + ms, then }
    this.#timers.add(timer)
    return () => {
      this.#timers.delete(timer)
    }
  }

  chance(): number {
    return 0
  }

  /** Milliseconds to the next timer; undefined without one. */
  get next(): number | undefined {
    if (this.#timers.size === 0) return undefined
    return Math.min(...[...this.#timers].map(({ at }) => at)) - this.#now
  }

  /** Moves the clock, and calls what is due. */
  move(ms: number): void {
    this.#now += ms
    const due = [...this.#timers].filter(({ at }) => at <= this.#now)
    for (const timer of due.sort((a, b) => a.at - b.at)) {
      if (this.#timers.delete(timer)) timer.then()
    }
  }
}

/** One end of a queue in memory. */
export class MemoryPipe implements Pipe {
  readonly remote = { address: '127.0.0.1', port: 1 }
  /** What was sent and not delivered. */
  readonly sent: Uint8Array[] = []
  /** All messages that ever left here. */
  readonly log: Uint8Array[] = []
  other: MemoryPipe | undefined
  isOpen = true
  isRead = true
  /** While true nothing that is sent here arrives. */
  isStuck = false
  listener: PipeListener | undefined
  #isDelivering = false

  get unsent(): number {
    return this.sent.length
  }

  get unsentBytes(): number {
    return this.sent.reduce((sum, { length }) => sum + length, 0)
  }

  send(message: Uint8Array): void {
    if (!this.isOpen) return
    this.sent.push(message)
    this.log.push(message)
    void this.deliver()
  }

  /** Hands over what was sent, a message a turn. */
  async deliver(): Promise<void> {
    if (this.#isDelivering) return
    this.#isDelivering = true
    await nextTurn()
    while (this.sent.length > 0 && this.other?.isRead === true && !this.isStuck) {
      const message = this.sent.shift()!
      this.other.listener?.message(message)
      if (this.sent.length % 16 === 0) await nextTurn()
    }
    this.#isDelivering = false
    if (!this.isOpen) this.other?.hangUp()
  }

  close(): void {
    if (!this.isOpen) return
    this.isOpen = false
    void this.deliver()
  }

  destroy(): void {
    this.sent.splice(0)
    this.close()
  }

  hangUp(): void {
    const listener = this.listener
    this.listener = undefined
    this.isOpen = false
    listener?.end(undefined)
  }

  read(wanted: boolean): void {
    this.isRead = wanted
    if (wanted) void this.other?.deliver()
  }

  listen(listener: PipeListener): void {
    this.listener = listener
    void this.other?.deliver()
  }
}

/** Two ends. */
export function memoryPipes(): readonly [MemoryPipe, MemoryPipe] {
  const [a, b] = [new MemoryPipe(), new MemoryPipe()]
  a.other = b
  b.other = a
  return [a, b]
}

export interface TestNode {
  readonly chain: Chain
  readonly network: PeerNetwork
  readonly url: string
  readonly events: PeerEvent[]
}

export type NodeOptions = ChainOptions &
  Partial<Pick<PeerNetworkOptions, 'onSyncing'>> & {
    /** Names of nodes that links are kept to. */
    readonly peers?: readonly string[]
    readonly name?: string
    readonly maxPeers?: number
    readonly follows?: boolean
    readonly minesForPeers?: boolean
    readonly limits?: Partial<Limits>
    /** The wall clock, in milliseconds since 1970. */
    readonly now?: number
  }

/** Nodes that find each other by `ws://NAME`. */
export class LinkWorld implements AsyncDisposable {
  readonly timing: TestTiming = new TestTiming()
  readonly bugs: unknown[] = []
  readonly pipes: MemoryPipe[] = []
  readonly #nodes = new Map<string, TestNode>()

  async add(name: string, options: NodeOptions = {}): Promise<TestNode> {
    const { peers = [], follows = true, minesForPeers = false, maxPeers = 25, limits } = options
    const environment = { ...testEnvironment(), onBug: (bug: unknown) => void this.bugs.push(bug) }
    let drawn = 0
    // each node its own ids
    const random = (length: number): Uint8Array => {
      drawn += 1
      return new Uint8Array(length).fill(drawn).fill(name.charCodeAt(0), 0, 1)
    }
    const chain = await createChain({
      timestamp: 1_767_000_000n,
      ...options,
      environment: { ...environment, now: () => options.now ?? NOON, random },
    })
    const events: PeerEvent[] = []
    const network = new PeerNetwork({
      chain,
      settings: {
        peer: peers.map((each) => `ws://${each}`),
        nodeName: options.name ?? name,
        maxPeers,
        follow: follows ? 'on' : 'off',
        mineForPeers: minesForPeers,
        noLink: false,
        linkHost: [],
      },
      client: 'test',
      log: (event) => events.push(event),
      onSyncing: options.onSyncing ?? (() => undefined),
      onBug: (bug) => this.bugs.push(bug),
      timing: this.timing,
      ...(limits === undefined ? {} : { limits }),
      dial: (url) => this.dial(url),
    })
    const node = { chain, network, url: `ws://${name}`, events }
    this.#nodes.set(name, node)
    void network.start()
    await this.settle()
    return node
  }

  async dial(url: string): Promise<MemoryPipe> {
    const node = this.#nodes.get(url.slice('ws://'.length))
    if (node === undefined) {
      throw Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })
    }
    return this.connect(node)
  }

  /** A connection to a node; what is done with it is the caller's matter. */
  connect(node: TestNode): MemoryPipe {
    const [near, far] = memoryPipes()
    this.pipes.push(near, far)
    node.network.take(far)
    return near
  }

  /** Lets everything happen that happens within so many milliseconds of silence. */
  async settle(quietMs = 150): Promise<void> {
    let quiet = 0
    while (quiet < quietMs) {
      for (let turn = 0; turn < 6; turn++) await nextTurn()
      if (this.#isBusy()) {
        quiet = 0
        this.timing.move(1)
        continue
      }
      const step = Math.min(this.timing.next ?? quietMs, quietMs - quiet)
      quiet += Math.max(step, 1)
      this.timing.move(Math.max(step, 1))
    }
  }

  /** Lets so many milliseconds pass. */
  async pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; ) {
      const step = Math.min(left, Math.max(1, this.timing.next ?? left))
      this.timing.move(step)
      left -= step
      for (let turn = 0; turn < 6; turn++) await nextTurn()
    }
  }

  #isBusy(): boolean {
    const isMoving = this.pipes.some(
      ({ sent, isStuck, other }) => sent.length > 0 && !isStuck && other?.isRead === true,
    )
    return isMoving || [...this.#nodes.values()].some(({ network }) => network.isBusy)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { network, chain } of this.#nodes.values()) {
      network.close()
      chain.close()
    }
    if (this.bugs.length > 0) throw new AggregateError(this.bugs, 'bugs came to light')
  }
}

/** The hash of the newest block. */
export function headHash({ chain }: TestNode): string {
  return headOf(chain.state.tree).block.hash
}
