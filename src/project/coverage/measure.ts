// Maps operation counts to statements, branches and functions by source maps.
import { bigintFromBytes } from '../../core/hex.ts'
import { getOrMake } from '../../core/lrucache.ts'
import { INVALID, isPush, nextOperation, OP } from '../../evm/opcodes.ts'
import { type Hits, hitsOf, type ReachCounts } from '../../evm/tracers/reached.ts'
import type { SourceFile } from '../solidity/details.ts'
import { lastAtMost, type SourceFunction } from '../solidity/outline.ts'
import type { CodeMap, SourceLocation } from '../solidity/sourcemap.ts'
import type { Range } from '../solidity/tokens.ts'
import { type Coverable, coverablesOf, type SourceBranch } from './coverables.ts'

interface MeasuredCode {
  readonly code: Uint8Array
  readonly counts: ReachCounts
  readonly map: CodeMap
  /** By source map index; undefined if not reported. */
  readonly file: (id: number) => MeasuredFile | undefined
}

export interface Tally {
  readonly range: Range
  count: number
  /** Some executed code contains it. */
  isPresent: boolean
}

export interface BranchTally extends Tally {
  readonly branch: SourceBranch
  /** Counts of the ways by their jump; `count` is how often the branch was reached. */
  readonly byJump: [good: number, bad: number]
  /** Ways without statements, counted by their operations. */
  readonly ways: readonly (Tally | undefined)[]
}

/** `range` is its body. */
export interface FunctionTally extends Tally {
  readonly function: SourceFunction
  readonly statements: readonly Tally[]
  readonly branches: readonly BranchTally[]
}

export class Measure {
  readonly #files = new Map<string, MeasuredFile>()

  get files(): readonly MeasuredFile[] {
    return [...this.#files.values()].sort((a, b) => (a.path < b.path ? -1 : 1))
  }

  has(path: string): boolean {
    return this.#files.has(path)
  }

  file(path: string, source: SourceFile): MeasuredFile {
    return getOrMake(this.#files, path, () => new MeasuredFile(path, source))
  }
}

interface Placed {
  readonly statement: Tally
  readonly owner: FunctionTally
  /** Ways of ternaries, which have their own counts. */
  readonly parts: readonly Tally[]
}

export class MeasuredFile {
  readonly path: string
  readonly source: SourceFile
  readonly functions: readonly FunctionTally[]
  readonly #placed: readonly Placed[]
  readonly #starts: readonly number[]
  readonly #byStart: ReadonlyMap<number, FunctionTally>
  readonly #jumps: ReadonlyMap<string, BranchTally>
  /** Clauses without statements. */
  readonly clauses: readonly Tally[]

  constructor(path: string, source: SourceFile) {
    const functions = coverablesOf(source.text, source.outline).map(functionTally)
    this.path = path
    this.source = source
    this.functions = functions
    this.#placed = functions
      .flatMap(placedIn)
      .sort((a, b) => a.statement.range.start - b.statement.range.start)
    this.#starts = this.#placed.map(({ statement }) => statement.range.start)
    this.#byStart = new Map(functions.map((each) => [each.function.start, each]))
    const branches = functions.flatMap((each) => each.branches)
    this.#jumps = new Map(
      branches
        .filter(({ branch: { kind } }) => kind === 'if' || kind === 'require')
        .map((each) => [`${each.range.start} ${each.range.end}`, each]),
    )
    this.clauses = branches
      .filter(({ branch: { kind } }) => kind === 'try' || kind === 'switch')
      .flatMap(waysOf)
  }

  statementAt(location: SourceLocation): Placed | undefined {
    const found = this.#placed[lastAtMost(this.#starts, location.start)]
    return found !== undefined && isWithin(location, found.statement.range) ? found : undefined
  }

  functionAround(location: SourceLocation): FunctionTally | undefined {
    const around = this.source.outline.functionAt(location.start)
    const found = around && this.#byStart.get(around.start)
    return found !== undefined && isWithin(location, found.range) ? found : undefined
  }

  /** The function that contains a range, from its head to the end of its body. */
  functionOf({ start, length }: SourceLocation): FunctionTally | undefined {
    const found = this.#byStart.get(start)
    return found?.function.end === start + length ? found : undefined
  }

  branchOf({ start, length }: SourceLocation): BranchTally | undefined {
    return this.#jumps.get(`${start} ${start + length}`)
  }
}

function isWithin({ start, length }: SourceLocation, range: Range): boolean {
  return start >= range.start && start + length <= range.end
}

function tallyOf(range: Range): Tally {
  return { range, count: 0, isPresent: false }
}

function functionTally({ function: own, body, statements, branches }: Coverable): FunctionTally {
  return {
    ...tallyOf(body),
    function: own,
    statements: statements.map(tallyOf),
    branches: branches.map((branch) => ({
      ...tallyOf(branch.range),
      branch,
      byJump: [0, 0],
      ways: branch.ways.map((way) => way && tallyOf(way)),
    })),
  }
}

function placedIn(owner: FunctionTally): readonly Placed[] {
  const ternaries = owner.branches.filter(({ branch }) => branch.kind === 'ternary')
  return owner.statements.map((statement) => ({
    statement,
    owner,
    parts: ternaries.filter(({ range }) => range === statement.range).flatMap(waysOf),
  }))
}

function waysOf({ ways }: BranchTally): readonly Tally[] {
  return ways.flatMap((each) => each ?? [])
}

interface Anchored {
  /** The first operations with their locations, which identify copies. */
  readonly sign: string
  /** Of the first operation, over all copies. */
  sum: number
  /** True until an operation that is not ahead of the range is found. */
  readonly isAhead: boolean
  /** Of a modifier: its first statement. */
  readonly first: Tally | undefined
}

interface Loop {
  readonly owner: FunctionTally
  readonly target: number
  readonly jumps: number
}

/** Adds the counts of a code to the sources that it was compiled from. */
export class CodeReading {
  readonly #run: Hits & Pick<MeasuredCode, 'code' | 'map'>
  readonly #fileOf: MeasuredCode['file']
  readonly #files = new Map<number, MeasuredFile | undefined>()
  /** Keyed by the function that contains the modifier. */
  readonly #anchors = new Map<FunctionTally | undefined, Map<Tally, Anchored>>()
  readonly #functions = new Set<FunctionTally>()
  /** By each function's first operation. */
  readonly #wholes = new Map<FunctionTally, number>()
  readonly #entries = new Map<number, FunctionTally>()
  readonly #loops: Loop[] = []
  #around: FunctionTally | undefined
  #before: readonly Tally[] = []

  constructor({ code, counts, map, file }: MeasuredCode) {
    this.#run = { code, map, ...hitsOf(code, counts) }
    this.#fileOf = file
  }

  read(): void {
    const { code } = this.#run
    const constants = new PushedConstants()
    for (let pc = 0; pc < code.length; pc = nextOperation(code, pc)) {
      this.#operation(pc, code[pc]!, constants.top)
      constants.pass(code, pc)
    }
    this.#add()
  }

  #file(id: number): MeasuredFile | undefined {
    if (!this.#files.has(id)) this.#files.set(id, this.#fileOf(id))
    return this.#files.get(id)
  }

  #operation(pc: number, opcode: number, pushed: number | undefined): void {
    const { map, hits } = this.#run
    const location = map.at(pc)
    const file = location && this.#file(location.source)
    if (location === undefined || file === undefined) {
      this.#before = []
      return
    }
    const owner = file.functionAround(location)
    if (owner !== undefined) this.#functions.add(owner)
    const whole = file.functionOf(location)
    if (whole !== undefined) this.#around = whole
    if (whole !== undefined) this.#functions.add(whole)
    if (whole !== undefined && !this.#wholes.has(whole)) this.#wholes.set(whole, hits[pc]!)
    if (opcode === OP.JUMPI) this.#branch(file.branchOf(location), pc, pushed)
    // with `viaIR`, a function with modifiers is entered, and again at `_` in each
    const isPlaceholder = location.length === 1 && file.source.text[location.start] === '_'
    if (opcode === OP.JUMP && location.jump === 'i' && !isPlaceholder) this.#enter(pushed)
    else if (owner !== undefined && pushed !== undefined) this.#loop(owner, pc, pushed)
    this.#anchor(file, location, pc)
  }

  /** Counts the first operation of each range, in each copy. */
  #anchor(file: MeasuredFile, location: SourceLocation, pc: number): void {
    const placed = file.statementAt(location)
    const parts = [...(placed?.parts ?? []), ...file.clauses].filter(({ range }) =>
      isWithin(location, range),
    )
    const all = placed === undefined ? parts : [placed.statement, ...parts]
    const begun: Tally[] = []
    // a modifier's code is copied into each function that has it
    const isModifier = placed?.owner.function.kind === 'modifier'
    const anchors = getOrMake(this.#anchors, isModifier ? this.#around : undefined, () => new Map())
    for (const tally of all) {
      const isGoingOn = this.#before.includes(tally)
      const isAhead = !isGoingOn && this.#isAhead(file, location, pc, tally.range)
      if (!isAhead) begun.push(tally)
      if (isGoingOn) continue
      const count = this.#countAt(pc, tally.range)
      const sign = this.#signAt(pc, location.source)
      const known = anchors.get(tally)
      const isBetter = known === undefined || (known.isAhead && !isAhead)
      const first = isModifier ? placed?.owner.statements[0] : undefined
      if (isBetter) anchors.set(tally, { sign, sum: count, isAhead, first })
      else if (known.sign === sign) known.sum += count
    }
    this.#before = begun
  }

  /** The count of an operation; for a jump target that stands for a whole range (`if (…) break`), the count of the jump. */
  #countAt(pc: number, range: Range): number {
    const { hits, jumped } = this.#run
    const jump = this.#jumpBehind(pc)
    const isOuter = jump !== undefined && !this.#isAt(jump, range)
    return isOuter ? jumped[jump]! : hits[pc]!
  }

  /**
   * Whether an operation runs before its range does: before 0.5, variables begin as zero where their function begins;
   * with `viaIR`, return addresses are pushed before what runs first.
   */
  #isAhead({ source }: MeasuredFile, at: SourceLocation, pc: number, range: Range): boolean {
    const { code } = this.#run
    const rest = source.text.slice(at.start + at.length, range.end)
    if (/^[\w\s,()]*=[^=]/.test(rest)) return true
    const constants = new PushedConstants()
    let behind = pc
    while (isPush(code[behind]!) && code[behind] !== OP.PUSH1) {
      constants.pass(code, behind)
      if (code[constants.top ?? -1] !== OP.JUMPDEST) return false
      behind = nextOperation(code, behind)
    }
    return behind > pc && !this.#isAt(behind, range)
  }

  #jumpBehind(pc: number): number | undefined {
    const { code } = this.#run
    const behind = nextOperation(code, pc)
    return isPush(code[pc]!) && code[behind] === OP.JUMPI ? behind : undefined
  }

  #isAt(pc: number, range: Range): boolean {
    const location = this.#run.map.at(pc)
    return location !== undefined && isWithin(location, range)
  }

  #signAt(start: number, source: number): string {
    const { code, map } = this.#run
    let sign = ''
    let pc = start
    for (let i = 0; i < SIGN_LENGTH; i++) {
      const location = map.at(pc)
      if (location?.source !== source) break
      sign += `${location.start} ${location.length} ${code[pc]!} `
      pc = nextOperation(code, pc)
    }
    return sign
  }

  #branch(tally: BranchTally | undefined, pc: number, pushed: number | undefined): void {
    if (tally === undefined) return
    const { hits, jumped } = this.#run
    const jumps = jumped[pc]!
    const passes = hits[pc]! - jumps
    const isGoodJump =
      tally.branch.kind === 'require'
        ? this.#isGoodJump(pc, pushed)
        : this.#isPushedBy(pc, tally.branch.ways[0])
    tally.isPresent = true
    tally.count += hits[pc]!
    tally.byJump[0] += isGoodJump ? jumps : passes
    tally.byJump[1] += isGoodJump ? passes : jumps
  }

  /** True if a jump goes where the range would jump: the compiler merges both. */
  #isPushedBy(jump: number, range: Range | undefined): boolean {
    const pushes = [2, 3, 4].map((length) => jump - length)
    return (
      range !== undefined &&
      pushes.some((pc) => this.#jumpBehind(pc) === jump && this.#isAt(pc, range))
    )
  }

  /** Whether a passing check jumps over its revert, as most do. */
  #isGoodJump(pc: number, target: number | undefined): boolean {
    const { code } = this.#run
    return endsBadly(code, pc + 1) || target === undefined || !endsBadly(code, target)
  }

  /** A jump to the operation whose location is the whole function enters it. */
  #enter(target: number | undefined): void {
    const location = target === undefined ? undefined : this.#run.map.at(target)
    const entered = location && this.#file(location.source)?.functionOf(location)
    if (target !== undefined && entered !== undefined) this.#entries.set(target, entered)
  }

  /** A jump within a function to its own entry: optimizers merge that with the head of a leading loop. */
  #loop(owner: FunctionTally, pc: number, target: number): void {
    const { code, hits, jumped } = this.#run
    const jumps = code[pc] === OP.JUMP ? hits[pc]! : code[pc] === OP.JUMPI ? jumped[pc]! : 0
    if (jumps === 0) return
    this.#loops.push({ owner, target, jumps })
  }

  #add(): void {
    const copies = [...this.#anchors.values()]
    for (const anchors of copies) {
      for (const [tally, { sum, first }] of anchors) {
        // with `viaIR`, equal code of a function may have the place of a part of a modifier
        const isWhole = first === undefined || anchors.has(first)
        if (!isWhole && copies.some((each) => each.has(first) && each.has(tally))) continue
        tally.isPresent = true
        tally.count += sum
      }
    }
    for (const entered of this.#functions) {
      entered.isPresent = true
      entered.count += this.#entriesOf(entered)
    }
  }

  /** Counts jumps into a function; without any, runs of its first statement. */
  #entriesOf(entered: FunctionTally): number {
    const targets = [...this.#entries].filter(([, each]) => each === entered)
    if (targets.length === 0) {
      // modifiers may refuse before the first statement; optimizers share code with what runs more often
      const begun = Math.min(this.#run.hits[0] ?? 0, this.#wholes.get(entered) ?? 0)
      return Math.max(this.#firstOf(entered) ?? 0, begun)
    }
    return targets.reduce((sum, [target]) => {
      const loops = this.#loops.filter((each) => each.owner === entered && each.target === target)
      return sum + this.#run.hits[target]! - loops.reduce((all, { jumps }) => all + jumps, 0)
    }, 0)
  }

  #firstOf({ statements }: FunctionTally): number | undefined {
    const all = [...this.#anchors.values()]
    const first = statements.find((tally) => all.some((anchors) => anchors.has(tally)))
    return first && all.reduce((sum, anchors) => sum + (anchors.get(first)?.sum ?? 0), 0)
  }
}

/** Operations that identify a copy. */
const SIGN_LENGTH = 8

/** Operations followed to the end of a revert. */
const LONGEST_REFUSAL = 100

/** Whether code always reaches REVERT or INVALID, without a branch. */
function endsBadly(code: Uint8Array, start: number): boolean {
  const constants = new PushedConstants()
  let pc = start
  for (let steps = 0; steps < LONGEST_REFUSAL && pc < code.length; steps++) {
    const opcode = code[pc]!
    const target = constants.top
    if (opcode === OP.REVERT || opcode === INVALID) return true
    if (opcode === OP.JUMPI || opcode === OP.STOP || opcode === OP.RETURN) return false
    if (opcode === OP.JUMP && target === undefined) return false
    constants.pass(code, pc)
    pc = opcode === OP.JUMP && target !== undefined ? target : nextOperation(code, pc)
  }
  return false
}

const KEPT = 4

/** Bytes of the longest constant: two targets in one word. */
const LONGEST = 8

/** The constants on top of the stack in straight-line code. */
export class PushedConstants {
  #values: bigint[] = []

  /** Undefined if it is no constant. */
  get top(): number | undefined {
    const value = this.#values.at(-1)
    return value === undefined ? undefined : Number(value)
  }

  /** Notes an operation, after its operands were read. */
  pass(code: Uint8Array, pc: number): void {
    const opcode = code[pc]!
    const size = isPush(opcode) ? opcode - OP.PUSH0 : 0
    if (opcode === OP.PUSH0 || (size > 0 && size <= LONGEST)) {
      this.#values.push(bigintFromBytes(code.subarray(pc + 1, pc + 1 + size)))
      if (this.#values.length > KEPT) this.#values.shift()
      return
    }
    const [second, first] = this.#values.slice(-2)
    const result =
      first === undefined || second === undefined ? undefined : combined(opcode, first, second)
    this.#values = result === undefined ? [] : [...this.#values.slice(0, -2), result]
  }
}

/** @param first the top of the stack */
function combined(opcode: number, first: bigint, second: bigint): bigint | undefined {
  if (opcode === OP.OR) return first | second
  if (opcode === OP.AND) return first & second
  if (first > 8n * BigInt(LONGEST)) return undefined
  if (opcode === OP.SHL) return BigInt.asUintN(8 * LONGEST, second << first)
  return opcode === OP.SHR ? second >> first : undefined
}
