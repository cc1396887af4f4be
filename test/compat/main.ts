// npm run compat: shows where devchain answers otherwise than the nodes it takes the ways of; with --write it asks
// their programs anew.
import { isDeepStrictEqual } from 'node:util'
import { DIFFERENCES } from './differences.ts'
import { type Ask, play } from './play.ts'
import { answersOfDevchain, readRecording, writeOwnAnswers, writeRecording } from './recordings.ts'
import { Contestant } from './rivals.ts'
import {
  type Answer,
  isAbout,
  NODES,
  type Node,
  nodesOf,
  RIVALS,
  type Rival,
  rivalFor,
  type Scenario,
} from './scenario.ts'
import { SCENARIOS } from './scenarios.ts'

const USAGE = `npm run compat -- [--write] [--only TEXT] [--of PROGRAM]
  shows where answers differ from the recorded ones
  --write        asks anvil, hardhat 2 and 3 and ganache and records what they answer
  --only TEXT    only scenarios whose names contain TEXT
  --of PROGRAM   only what this program answers: anvil, hardhat2, hardhat3 or ganache`

interface Order {
  readonly writes: boolean
  readonly only: string
  readonly rivals: readonly Rival[]
}

/** Does what the arguments say; gives the exit code. */
export async function main(args: readonly string[]): Promise<number> {
  const order = orderOf(args)
  if (order === undefined) {
    console.error(USAGE)
    return 2
  }
  const chosen = SCENARIOS.filter(({ name }) => name.includes(order.only))
  if (order.writes) {
    for (const rival of order.rivals) await record(rival, chosen)
    await recordDifferences()
  }
  return (await showDifferences(chosen, order.rivals)) === 0 ? 0 : 1
}

function orderOf(args: readonly string[]): Order | undefined {
  const rest = [...args]
  let [writes, only] = [false, '']
  let rivals: readonly Rival[] = RIVALS
  while (rest.length > 0) {
    const flag = rest.shift()
    if (flag === '--write') writes = true
    else if (flag === '--only' && rest.length > 0) only = rest.shift() ?? ''
    else if (flag === '--of') rivals = RIVALS.filter((rival) => rival === rest[0])
    else return undefined
    if (flag === '--of' && rivals.length === 0) return undefined
    if (flag === '--of') rest.shift()
  }
  return { writes, only, rivals }
}

/** Asks a program all scenarios that are about it, and keeps what it answered before to others. */
async function record(rival: Rival, chosen: readonly Scenario[]): Promise<void> {
  const asked = chosen.filter((scenario) => isAbout(rival, scenario))
  if (asked.length === 0) return
  const contestant = new Contestant(rival)
  const answers: Record<string, readonly Answer[]> = { ...readRecording(rival).answers }
  try {
    const ask = await contestant.fresh({}, [])
    const client = String((await ask('web3_clientVersion', [])).result)
    for (const scenario of bySettings(asked)) {
      const fresh = await contestant.fresh(scenario.settings ?? {}, methodsOf(scenario))
      answers[scenario.name] = await playNamed(scenario, fresh)
    }
    writeRecording(
      rival,
      { client, answers },
      SCENARIOS.filter((each) => isAbout(rival, each)),
    )
    console.log(`${rival}: ${asked.length} scenarios recorded`)
  } finally {
    await contestant.stop()
  }
}

/** Keeps what devchain answers where it differs on purpose. */
async function recordDifferences(): Promise<void> {
  const answers: Partial<Record<Node, Record<string, readonly Answer[]>>> = {}
  for (const node of NODES) {
    const own: Record<string, readonly Answer[]> = {}
    for (const scenario of SCENARIOS) {
      const why = DIFFERENCES[node][scenario.name]
      if (why !== undefined) own[scenario.name] = await answersOfDevchain(scenario, node)
    }
    answers[node] = own
  }
  writeOwnAnswers(answers)
}

function methodsOf({ setup = [], ask }: Scenario): readonly string[] {
  return [...setup, ...ask].map(([method]) => method)
}

/** What goes wrong is reported with the scenario's name. */
async function playNamed(scenario: Scenario, ask: Ask): Promise<readonly Answer[]> {
  try {
    return await play(scenario, ask)
  } catch (error) {
    throw new Error(`${scenario.name}: ${(error as Error).message}`, { cause: error })
  }
}

/** Scenarios with the same settings follow each other: a node is started once for all of them. */
function bySettings(scenarios: readonly Scenario[]): readonly Scenario[] {
  const key = ({ settings = {} }: Scenario): string => JSON.stringify(settings)
  return scenarios.toSorted((a, b) => key(a).localeCompare(key(b)))
}

/** Prints each difference, side by side; gives the number of those that are not on purpose. */
async function showDifferences(
  chosen: readonly Scenario[],
  rivals: readonly Rival[],
): Promise<number> {
  const recordings = new Map(rivals.map((rival) => [rival, readRecording(rival).answers]))
  let unwanted = 0
  for (const scenario of chosen) {
    for (const node of nodesOf(scenario)) {
      const rival = rivalFor(node, scenario)
      if (!rivals.includes(rival)) continue
      const theirs = recordings.get(rival)?.[scenario.name] ?? []
      const ours = await answersOfDevchain(scenario, node)
      if (isDeepStrictEqual(ours, theirs)) continue
      const why = DIFFERENCES[node][scenario.name]
      if (why === undefined) unwanted += 1
      console.log(`\n${scenario.name}${why === undefined ? '' : ` (on purpose: ${why})`}`)
      print(rival, theirs)
      print('devchain', ours)
    }
  }
  console.log(`\n${unwanted} differences that are not on purpose`)
  return unwanted
}

function print(who: string, answers: readonly Answer[]): void {
  for (const answer of answers) console.log(`  ${who.padEnd(9)} ${JSON.stringify(answer)}`)
}
