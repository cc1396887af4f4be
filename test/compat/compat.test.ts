// --compat held against the nodes whose ways it takes: their programs' answers, recorded by `npm run compat -- --write`.
import { describe, expect, test } from 'vitest'
import { AWAITED } from './awaited.ts'
import { answersOfDevchain, readRecording } from './recordings.ts'
import { NODES, nodesOf, RIVALS, rivalFor } from './scenario.ts'
import { SCENARIOS } from './scenarios.ts'

const recordings = new Map(RIVALS.map((rival) => [rival, readRecording(rival).answers]))

describe.each(NODES)('as %s', (node) => {
  const asked = SCENARIOS.filter(
    (scenario) => nodesOf(scenario).includes(node) && !AWAITED[node].includes(scenario.name),
  )

  test.each(asked)('$name', async (scenario) => {
    const theirs = recordings.get(rivalFor(node, scenario))?.[scenario.name]
    expect(theirs, 'recorded by: npm run compat -- --write').toBeDefined()
    const ours = await answersOfDevchain(scenario, node)
    const difference = scenario.differs?.[node]
    if (difference !== undefined) {
      // a difference that is none any more is no longer told of
      expect(ours).not.toEqual(theirs)
    }
    expect(ours).toEqual(difference?.answers ?? theirs)
  })
})

describe('the table', () => {
  test('names each scenario once', () => {
    const names = SCENARIOS.map(({ name }) => name)
    expect(names).toEqual([...new Set(names)])
  })

  test.each(RIVALS)('has all that was recorded of %s, and nothing else is recorded', (rival) => {
    const asked = SCENARIOS.filter((scenario) =>
      nodesOf(scenario).some((node) => rival.startsWith(node)),
    )
    expect(Object.keys(recordings.get(rival) ?? {})).toEqual(asked.map(({ name }) => name))
  })

  test.each(NODES)('awaits of %s only what it has', (node) => {
    const names = SCENARIOS.filter((each) => nodesOf(each).includes(node)).map(({ name }) => name)
    expect(AWAITED[node].filter((name) => !names.includes(name))).toEqual([])
  })

  test('gives a reason for each difference', () => {
    const reasons = SCENARIOS.flatMap(({ differs = {}, likeHardhat2 }) => [
      ...Object.values(differs).map(({ why }) => why),
      ...(likeHardhat2 === undefined ? [] : [likeHardhat2]),
    ])
    expect(reasons.filter((why) => !/\w+ \w+/.test(why))).toEqual([])
  })
})
