// Plays a scenario on a node, whatever it is, and keeps of its answers what is compared.
import type { Answer, Hidden, Scenario, Step } from './scenario.ts'

/** Sends a request; an error is an answer too. */
export type Ask = (method: string, params: readonly unknown[]) => Promise<Answer>

/** The answers to the steps of `ask`, reduced to what the scenario compares. */
export async function play(scenario: Scenario, ask: Ask): Promise<readonly Answer[]> {
  const { setup = [], ask: asked } = scenario
  const reported: Answer[] = []
  for (const [method, ...params] of [...setup, ...asked] satisfies Step[]) {
    reported.push(
      await ask(
        method,
        params.map((param) => filledIn(param, reported)),
      ),
    )
  }
  return reported.slice(setup.length).map((answer) => reduced(answer, scenario))
}

/** Puts earlier answers where a parameter names them. */
function filledIn(param: unknown, reported: readonly Answer[]): unknown {
  if (typeof param === 'string') {
    const [, step, member] = /^\{(\d+)(?:\.(\w+))?\}$/.exec(param) ?? []
    return step === undefined ? param : earlier(reported[Number(step)], member, param)
  }
  if (Array.isArray(param)) return param.map((item) => filledIn(item, reported))
  if (typeof param !== 'object' || param === null) return param
  return Object.fromEntries(
    Object.entries(param).map(([name, value]) => [name, filledIn(value, reported)]),
  )
}

/** A send that reverts is returned as an error; its hash stands in the error's data. */
function earlier(answer: Answer | undefined, member: string | undefined, text: string): unknown {
  const data = answer?.error?.data as { readonly txHash?: string; readonly hash?: string } | null
  const whole = answer?.result ?? data?.txHash ?? data?.hash
  const value = member === undefined ? whole : (whole as Record<string, unknown> | null)?.[member]
  if (value === undefined) throw new Error(`${text}: ${JSON.stringify(answer)} has no such value`)
  return value
}

function reduced({ result, error }: Answer, scenario: Scenario): Answer {
  const { errors = ['code', 'message', 'data'], members, hide = [] } = scenario
  if (error !== undefined) {
    const kept = Object.entries(error).filter(([part]) => errors.includes(part as 'code'))
    return { error: hidden(Object.fromEntries(kept), hide) as NonNullable<Answer['error']> }
  }
  if (members === undefined || typeof result !== 'object' || result === null) {
    return { result: hidden(result, hide) }
  }
  if (members === 'names') return { result: Object.keys(result) }
  const kept = Array.isArray(result)
    ? result.map((item) => only(item, members))
    : only(result, members)
  return { result: hidden(kept, hide) }
}

function only(value: object, members: readonly string[]): object {
  const kept = members.map((name) => [name, (value as Record<string, unknown>)[name]])
  return Object.fromEntries(kept)
}

/** Puts words where a value changes from run to run. Members that are undefined are left out, as JSON does. */
function hidden(value: unknown, hide: readonly Hidden[]): unknown {
  if (typeof value === 'string') return hiddenText(value, hide)
  if (Array.isArray(value)) return value.map((item) => hidden(item, hide))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(
        ([name, member]) =>
          member !== undefined && !(name === 'programCounter' && hide.includes('counter')),
      )
      .map(([name, member]) =>
        name === 'timestamp' && hide.includes('time')
          ? [name, '<time>']
          : [name, hidden(member, hide)],
      ),
  )
}

const HASH = /0x(?!0{64})[0-9a-f]{64}\b/g
const SECONDS = /\b[12]\d{9}\b/g
const PLACE = / at line 1 column \d+$/
const VERSION = /\bv?\d+\.\d+\.\d+[\w.+-]*/g

function hiddenText(text: string, hide: readonly Hidden[]): string {
  const patterns = { hash: HASH, time: SECONDS, version: VERSION, place: PLACE }
  return hide.reduce((shown, rule) => {
    if (rule === 'counter') return shown
    return shown.replace(patterns[rule], rule === 'place' ? '' : `<${rule}>`)
  }, text)
}
