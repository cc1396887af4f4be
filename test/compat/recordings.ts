// What the other nodes answered, as it stands in fixtures/compat: one file for each program.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { createDevchain } from '../../src/devchain.ts'
import { ROOT } from '../support/process/boot.ts'
import { type Ask, play } from './play.ts'
import type { Answer, Node, Recording, Rival, Scenario } from './scenario.ts'

const FOLDER = path.join(ROOT, 'fixtures/compat')

const OWN_FILE = path.join(FOLDER, 'devchain.json')

function fileOf(rival: Rival): string {
  return path.join(FOLDER, `${rival}.json`)
}

/** What a program answered when it was asked last. */
export function readRecording(rival: Rival): Recording {
  const file = fileOf(rival)
  if (!existsSync(file)) return { client: '', answers: {} }
  return JSON.parse(readFileSync(file, 'utf8')) as Recording
}

/** Writes answers in the order of the table, without those of scenarios that are gone. */
export function writeRecording(
  rival: Rival,
  { client, answers }: Recording,
  scenarios: readonly Scenario[],
): void {
  const kept = scenarios.flatMap(({ name }) => {
    const reported = answers[name]
    return reported === undefined ? [] : [[name, reported] as const]
  })
  mkdirSync(FOLDER, { recursive: true })
  const text = JSON.stringify({ client, answers: Object.fromEntries(kept) }, null, 2)
  writeFileSync(fileOf(rival), `${text}\n`)
}

/** What devchain answers where it differs on purpose, by nodes and scenarios. */
export function readOwnAnswers(): Partial<Record<Node, Recording['answers']>> {
  return existsSync(OWN_FILE) ? JSON.parse(readFileSync(OWN_FILE, 'utf8')) : {}
}

export function writeOwnAnswers(answers: Partial<Record<Node, Recording['answers']>>): void {
  writeFileSync(OWN_FILE, `${JSON.stringify(answers, null, 2)}\n`)
}

/** What devchain answers when it takes on a node's ways. */
export async function answersOfDevchain(
  scenario: Scenario,
  compat: Node,
): Promise<readonly Answer[]> {
  const devchain = await createDevchain({ ...scenario.settings, compat })
  const ask: Ask = async (method, params) => {
    try {
      return { result: await devchain.request({ method, params }) }
    } catch (thrown) {
      const { code, message, data } = thrown as NonNullable<Answer['error']>
      if (code === undefined) throw thrown
      return { error: JSON.parse(JSON.stringify({ code, message, data })) }
    }
  }
  try {
    return await play(scenario, ask)
  } finally {
    await devchain.close()
  }
}
