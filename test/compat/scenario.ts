// What a scenario is: requests whose answers are compared with those that other nodes gave.
import type { DevchainOptions } from '../../src/devchain.ts'

/** What `--compat` takes that is held against programs from npm. */
export const NODES = ['anvil', 'hardhat', 'hardhat2', 'ganache'] as const

export type Node = (typeof NODES)[number]

/** Whom a scenario is about that names nobody: the versions of Hardhat differ in the failures of executions alone. */
const ALL: readonly Node[] = ['anvil', 'hardhat', 'ganache']

/** The programs that are asked. `--compat hardhat` is held against version 3, `hardhat2` against version 2. */
export const RIVALS = ['anvil', 'hardhat2', 'hardhat3', 'ganache'] as const

export type Rival = (typeof RIVALS)[number]

/**
 * A method and its parameters. The text `{0}` in a parameter stands for what the first step of the scenario answered,
 * `{1.number}` for a member of what the second did; a whole parameter `{0}` keeps its kind.
 */
export type Step = readonly [method: string, ...params: readonly unknown[]]

/** What a node is started with besides its defaults. */
export interface Settings {
  readonly hardfork?: NonNullable<DevchainOptions['hardfork']>
  /** Blocks may have the time of their parents. Hardhat alone knows it. */
  readonly sameTimestamp?: true
}

/** Parts of an answer that change from run to run, and what stands for them. */
export type Hidden =
  /** 32 bytes that are not zero: `<hash>`. */
  | 'hash'
  /** Members named `timestamp`, and seconds of this century in texts: `<time>`. */
  | 'time'
  /** Members named `programCounter`, which ganache alone has: left out. */
  | 'counter'
  /** The place in the text of a request where its reader stopped: left out. */
  | 'place'
  /** Numbers of versions: `<version>`. */
  | 'version'

/** What is compared of an answer. */
export interface Answer {
  readonly result?: unknown
  readonly error?: { readonly code?: number; readonly message?: string; readonly data?: unknown }
}

/** One entry of the table: one behaviour of a node. */
export interface Scenario {
  /** A sentence about the behaviour; recorded answers are found by it. */
  readonly name: string
  /** Who is asked; all nodes when left out. */
  readonly nodes?: readonly Node[]
  readonly settings?: Settings
  /** Steps before, whose answers are not compared. */
  readonly setup?: readonly Step[]
  /** Steps whose answers are compared. */
  readonly ask: readonly Step[]
  /** Parts of errors that are compared; code, message and data when left out. */
  readonly errors?: readonly ('code' | 'message' | 'data')[]
  /** Members of results that are compared, or the names of all in their order; all members when left out. */
  readonly members?: readonly string[] | 'names'
  readonly hide?: readonly Hidden[]
  /** Why the answer of Hardhat 2 is taken where that of Hardhat 3 differs. */
  readonly likeHardhat2?: string
}

/** Answers of one program, by scenarios. */
export interface Recording {
  /** As `web3_clientVersion` returned it. */
  readonly client: string
  readonly answers: Readonly<Record<string, readonly Answer[]>>
}

/** The nodes that a scenario is about. */
export function nodesOf({ nodes = ALL }: Scenario): readonly Node[] {
  return nodes
}

/** Whether a scenario is asked of a program. */
export function isAbout(rival: Rival, scenario: Scenario): boolean {
  return nodesOf(scenario).some((node) => rival.startsWith(node))
}

/** The program whose answer devchain has to give as a node. */
export function rivalFor(node: Node, { likeHardhat2 }: Scenario): Rival {
  if (node !== 'hardhat') return node
  return likeHardhat2 === undefined ? 'hardhat3' : 'hardhat2'
}
