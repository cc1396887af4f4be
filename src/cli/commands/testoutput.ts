// Finds the names of failed tests in the output of a test command: TAP, and the summaries of node:test, Mocha (Hardhat uses it),
// Vitest and Jest. Runners print those for any number of tests, so what is missing there has not failed.
import { StringDecoder } from 'node:string_decoder'
import { stripVTControlCharacters } from 'node:util'

/** Names beyond are not kept. */
const MOST_NAMES = 10_000

/** Characters of a line; the rest of a longer one counts as the next. */
const LONGEST_LINE = 10_000

/** Lines of a run that ended, with or without failures. */
const TOTALS = /^(TAP version|[#ℹ] pass \d| +Tests +\d|Tests: +\d)/

/** Of Mocha: `  1 passing (2s)`, `  1 failing`; of all runners of Hardhat 3: `1 failing (1 nodejs)`. */
const MOCHA_TOTALS = /^(?: +|(?=\d+ \w+ \(\d))\d+ (passing|failing)(?: \(|$)/

const TAP_SUBTEST = /^( *)# Subtest: (.*)$/
const TAP_RESULT = /^( *)(not )?ok(?: \d+)?(?: -)?(?: (.*?))??(?: # (.*))?$/
const VITEST_FAILURE = /^ FAIL {2}(.+ > .+)$/
const JEST_FAILURE = /^ {2}● (.+ › .+)$/
const NODE_FAILURE = /^✖ (.+) \([\d.]+ms\)$/
const MOCHA_FAILURE = /^ +\d+\) (.+)$/

/** Between the names of suites and tests, as Vitest and Jest print them. */
const SEPARATOR = ' > '

export class TestOutput {
  readonly #failed = new Set<string>()
  readonly #decoder = new StringDecoder()
  #isKnown = false
  #line = ''
  /** The suites around the next result of TAP, by indentation. */
  #suites: (readonly [indent: number, name: string])[] = []
  #indent = 0
  /** The summary that the lines are of. */
  #summary: 'node' | 'mocha' | undefined
  /** Of Mocha: the names so far, each indented by two more; the last ends with a colon. */
  #title: string[] | undefined

  readonly write = (bytes: Buffer): void => {
    const lines = (this.#line + this.#decoder.write(bytes)).split('\n')
    this.#line = lines.pop()!
    for (const line of lines) this.#read(stripVTControlCharacters(line).trimEnd())
    if (this.#line.length > LONGEST_LINE) this.#line = ''
  }

  /** Undefined: the output is of no runner that is known here. */
  get failed(): readonly string[] | undefined {
    return this.#isKnown ? [...this.#failed] : undefined
  }

  #read(line: string): void {
    const [, total] = MOCHA_TOTALS.exec(line) ?? []
    if (total !== undefined || TOTALS.test(line)) this.#isKnown = true
    if (line === '✖ failing tests:') this.#summary = 'node'
    else if (total === 'failing') this.#summary = 'mocha'
    else if (total === 'passing' || line.startsWith('▶ ')) this.#summary = undefined
    this.#readTap(line)
    if (this.#summary === 'mocha') this.#readMocha(line)
    if (this.#summary === 'node') this.#add(NODE_FAILURE.exec(line)?.[1])
    this.#add(VITEST_FAILURE.exec(line)?.[1])
    this.#add(JEST_FAILURE.exec(line)?.[1]?.replaceAll(' › ', SEPARATOR))
  }

  #readTap(line: string): void {
    const [, margin = '', suite] = TAP_SUBTEST.exec(line) ?? []
    if (suite !== undefined) {
      this.#suites = [...this.#around(margin.length), [margin.length, suite]]
      return
    }
    const result = TAP_RESULT.exec(line)
    if (result === null) return
    const [, { length: indent } = '', not, name = '', directive = ''] = result
    // a suite follows its tests
    const isSuite = this.#indent > indent
    this.#indent = indent
    if (not === undefined || isSuite || /^(skip|todo)/i.test(directive)) return
    const names = [...this.#around(indent).map(([, each]) => each), name]
    this.#add(names.join(SEPARATOR).replaceAll(/\\(.)/g, '$1'))
  }

  #around(indent: number): (readonly [indent: number, name: string])[] {
    return this.#suites.filter(([outer]) => outer < indent)
  }

  #readMocha(line: string): void {
    const margin = 5 + 2 * (this.#title?.length ?? 0)
    if (this.#title !== undefined && line.search(/\S/) === margin) this.#title.push(line.trim())
    else {
      this.#add(this.#title?.join(SEPARATOR).replace(/:$/, ''))
      const [, first] = MOCHA_FAILURE.exec(line) ?? []
      this.#title = first === undefined ? undefined : [first]
    }
  }

  #add(name: string | undefined): void {
    if (name !== undefined && this.#failed.size < MOST_NAMES) this.#failed.add(name)
  }
}
