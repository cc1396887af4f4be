// A campaign: case after case, until one fails, which is made small and kept.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Engine } from '../support/evm/engines.ts'
import { type Case, caseOf } from './cases.ts'
import { difference } from './compare.ts'
import { shrink } from './shrink.ts'

/** Where failing cases are kept, to be run again with every test. */
export const FIXTURES: string = path.resolve(import.meta.dirname, '../../fixtures/fuzz')

export interface Finding {
  readonly subject: Case
  /** In words, of the small case. */
  readonly problem: string
}

/** Runs the case of one seed. */
export async function trySeed(
  seed: number,
  engines: readonly Engine[],
  make: (seed: number) => Case = caseOf,
): Promise<Finding | undefined> {
  const subject = make(seed)
  const problem = await difference(subject, engines)
  if (problem === undefined) return undefined
  const small = await shrink(
    subject,
    async (candidate) => (await difference(candidate, engines)) !== undefined,
  )
  return { subject: small, problem: (await difference(small, engines)) ?? problem }
}

/** Keeps a case as a fixture. */
export function keep({ subject, problem }: Finding): string {
  mkdirSync(FIXTURES, { recursive: true })
  const file = path.join(FIXTURES, `${subject.name.replaceAll(/[^a-z0-9]+/gi, '-')}.json`)
  writeFileSync(
    file,
    `${JSON.stringify({ ...subject, was: problem.slice(0, 500) }, undefined, 2)}\n`,
  )
  return file
}

/** The cases that failed once. */
export function keptCases(): readonly Case[] {
  return readdirSync(FIXTURES)
    .filter((name) => name.endsWith('.json'))
    .sort()
    .map((name) => JSON.parse(readFileSync(path.join(FIXTURES, name), 'utf8')) as Case)
}
