// --compat held against the nodes whose ways it takes: their programs' answers, recorded by `npm run compat -- --write`.
import { describe, expect, test } from 'vitest'
import { DIFFERENCES } from './differences.ts'
import { answersOfDevchain, readOwnAnswers, readRecording } from './recordings.ts'
import { isAbout, NODES, nodesOf, RIVALS, rivalFor } from './scenario.ts'
import { SCENARIOS } from './scenarios.ts'

const recordings = new Map(RIVALS.map((rival) => [rival, readRecording(rival).answers]))
const own = readOwnAnswers()

describe.each(NODES)('--compat %s', (node) => {
  const asked = SCENARIOS.filter((scenario) => nodesOf(scenario).includes(node))

  test.each(asked)('matches the node: $name', async (scenario) => {
    const { name } = scenario
    const theirs = recordings.get(rivalFor(node, scenario))?.[name]
    expect(theirs, 'recorded by: npm run compat -- --write').toBeDefined()
    const ours = await answersOfDevchain(scenario, node)
    if (DIFFERENCES[node][name] === undefined) {
      expect(ours).toEqual(theirs)
      return
    }
    // a difference that is none any more is no longer reported
    expect(ours).not.toEqual(theirs)
    expect(ours).toEqual(own[node]?.[name])
  })
})

describe('the table of scenarios', () => {
  test('has each name once', () => {
    const names = SCENARIOS.map(({ name }) => name)
    expect(names).toEqual([...new Set(names)])
  })

  test.each(RIVALS)('has all recordings of %s and no others', (rival) => {
    const asked = SCENARIOS.filter((scenario) => isAbout(rival, scenario))
    expect(Object.keys(recordings.get(rival) ?? {})).toEqual(asked.map(({ name }) => name))
  })

  test.each(NODES)('lists for %s only real differences, each with a reason', (node) => {
    const names = SCENARIOS.filter((each) => nodesOf(each).includes(node)).map(({ name }) => name)
    const differences = Object.entries(DIFFERENCES[node])
    expect(differences.filter(([name]) => !names.includes(name))).toEqual([])
    expect(differences.filter(([, why]) => !/\w+ \w+ \w+/.test(why))).toEqual([])
    expect(Object.keys(own[node] ?? {}).sort()).toEqual(differences.map(([name]) => name).sort())
  })
})
