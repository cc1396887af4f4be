// Builds the Solidity stack trace of a failed run, innermost first, from recorded frames and source maps.
import { OP } from '../../evm/opcodes.ts'
import type { Contract } from '../code/catalogue.ts'
import { memberOf, selectorOf } from '../naming/callees.ts'
import { type FailedCheck, failedCheckOf } from './checks.ts'
import type { Details, SourceFile } from './details.ts'
import type { FrameContract, RunFrame } from './frames.ts'
import type { SourceFunction } from './outline.ts'
import type { CodeMap, SourceLocation } from './sourcemap.ts'
import { tokensOf } from './tokens.ts'
import type { InnerCall, LastStep, Trail } from './trails.ts'

interface Place {
  readonly path: string
  readonly line: number
  readonly column: number
  /** True if the compiler moved code, so that the place is approximate. */
  readonly isAbout: boolean
}

export interface StackEntry {
  /** `Vault`; the address of an unknown contract. */
  readonly contract: string
  readonly function: string | undefined
  readonly place: Place | undefined
}

/** A frame of a failure's chain with everything known about it. */
interface ChainFrame {
  readonly frame: RunFrame
  readonly known: FrameContract | undefined
  readonly trail: Trail
  /** True if the failure came from a call. */
  readonly isHandedOn: boolean
}

export interface FailedFrame extends ChainFrame {
  readonly entries: readonly StackEntry[]
  /** The text of its last operation; empty if it is not the user's. */
  readonly text: string
  /** Why it did not reach a function's body; undefined if it did or may have. */
  readonly failedCheck: FailedCheck | undefined
}

interface Spot {
  readonly source: SourceFile
  readonly location: SourceLocation
  readonly around: SourceFunction | undefined
}

/** The spots of a frame's code; undefined for generated code. */
interface Spots {
  readonly of: (location: SourceLocation | undefined) => Spot | undefined
  readonly at: (step: LastStep | undefined) => Spot | undefined
}

export function failedFrame(chained: ChainFrame): FailedFrame {
  const { frame, known, trail, isHandedOn } = chained
  if (known?.details === undefined || known.map === undefined) {
    const contract = known?.name ?? frame.to ?? 'new contract'
    const entries = [{ contract, function: undefined, place: undefined }]
    return { ...chained, entries, text: '', failedCheck: undefined }
  }
  const { details, map } = known
  const spots = spotsOf(details, map)
  // operations after a failed call only forward the failure
  const own = endSpot(trail, trail.last.at(isHandedOn ? (trail.calledAt ?? -1) : -1), spots)
  const words = wordsOf(frame, known.contract)
  const end = isHandedOn || words === undefined ? own : saying(words, own, trail.last, spots)
  const isBeforeBody = end?.around === undefined || isDeclaration(end)
  const failedCheck = isBeforeBody ? failedCheckOf(frame, known) : undefined
  const isWhole = isBeforeBody || frame.failure?.reason === 'max code size exceeded'
  const isAbout = isBeforeBody && details.isOptimized && failedCheck?.isCertain !== true
  const entries = isWhole
    ? [declarationOf(frame, known, details, isAbout)]
    : entriesOf(known, trail.calls, end, spots)
  return { ...chained, entries, text: end === undefined ? '' : textOf(end), failedCheck }
}

/** Where the called function, the constructor, or else the contract is declared. */
function declarationOf(
  { code, input }: RunFrame,
  { contract, name }: FrameContract,
  details: Details,
  isAbout: boolean,
): StackEntry {
  const wanted =
    code === undefined ? 'constructor' : memberOf(contract, 'function', selectorOf(input))?.name
  const entry = ({ path, outline }: SourceFile, start: number, called?: string): StackEntry => ({
    contract: name,
    function: called,
    place: { path, ...outline.lineAt(start), isAbout },
  })
  const sources = details.sources()
  const functions = sources.flatMap((source) =>
    source.outline.functions
      .filter((each) => each.name === wanted)
      .map(({ contract: owner, start }) => ({ source, owner, start })),
  )
  const inherited = wanted === 'constructor' ? undefined : functions[0]
  const found = functions.find(({ owner }) => owner === contract.name) ?? inherited
  if (found !== undefined) return entry(found.source, found.start, wanted)
  for (const source of sources) {
    const start = source.outline.contracts.get(contract.name)
    if (start !== undefined) return entry(source, start)
  }
  return { contract: name, function: undefined, place: undefined }
}

function spotsOf(details: Details, map: CodeMap): Spots {
  const of = (location: SourceLocation | undefined): Spot | undefined => {
    const source = location && details.source(location.source)
    if (location === undefined || source === undefined) return undefined
    return { source, location, around: source.outline.functionAt(location.start) }
  }
  return { of, at: (step) => of(step && map.at(step.pc)) }
}

/** True for code within a function's body. */
function isWithin(spot: Spot | undefined): spot is Spot {
  return spot?.around !== undefined && !isDeclaration(spot)
}

/** The end in the user's text: generated code belongs to its caller. */
function endSpot(
  { last, calls }: Trail,
  step: LastStep | undefined,
  spots: Spots,
): Spot | undefined {
  const newest = (steps: readonly LastStep[]): Spot | undefined =>
    steps.map(spots.at).findLast(isWithin)
  const own = spots.at(step)
  const inner = calls.at(-1)
  if (isWithin(own)) {
    if (!isElsewhere(own, spots.of(inner?.entered))) return own
    // a shared end has the place of one function: the operations before it show which
    const block = last.findLastIndex(({ opcode }) => opcode === OP.JUMPDEST)
    const before = newest(last.slice(0, Math.max(0, block)))
    return before?.around === own.around ? own : (before ?? own)
  }
  const called = spots.of(inner?.site)
  if (isWithin(called)) return called
  // the newest operation of the user's text, if any ran
  return newest(last) ?? own
}

/** Selector of Error(string). */
const ERROR = '0x08c379a0'

/** The thrown error's name or reason text, as in the source. */
function wordsOf({ output, failure }: RunFrame, contract: Contract): string | undefined {
  if (failure?.kind !== 'revert' || output.length < 4) return undefined
  const key = selectorOf(output)
  if (key !== ERROR) return memberOf(contract, 'error', key)?.name
  const length = output.length < 68 ? 0 : Buffer.from(output).readUInt32BE(64)
  const text = Buffer.from(output.subarray(68, 68 + length)).toString('latin1')
  return text === '' ? undefined : text
}

/** Finds a throw whose end the optimizer merged with another's: code that builds the error, then jumps to the shared end. */
function saying(
  words: string,
  end: Spot | undefined,
  last: readonly LastStep[],
  { at }: Spots,
): Spot | undefined {
  const block = last.findLastIndex(({ opcode }) => opcode === OP.JUMPDEST)
  if (block < 1 || last[block - 1]?.opcode !== OP.JUMP) return end
  const spots = last.map(at)
  const says = (each: Spot | undefined): each is Spot =>
    isWithin(each) && wholeTextOf(each).includes(words)
  const decided = last.findLastIndex(
    ({ opcode }, i) => i < block && opcode === OP.JUMPI && spots[i]?.around !== undefined,
  )
  // a jump target has the place of the code before it
  const found = spots.findLast(
    (each, i) => i < block && i > decided && last[i]?.opcode !== OP.JUMPDEST && says(each),
  )
  const wasRefused = last[decided + 1]?.pc === (last[decided]?.pc ?? 0) + 1
  const other = found ?? (wasRefused && says(spots[decided]) ? spots[decided] : undefined)
  return other !== undefined && (end === undefined || !overlaps(other, end)) ? other : end
}

function overlaps(a: Spot, b: Spot): boolean {
  if (a.source !== b.source) return false
  const [first, second] = a.location.start <= b.location.start ? [a, b] : [b, a]
  return second.location.start < first.location.start + first.location.length
}

function wholeTextOf({ source, location }: Spot): string {
  return source.text.slice(location.start, location.start + location.length)
}

/** True for code of a whole function or contract, such as checks of value and arguments. */
function isDeclaration({ location, around }: Spot): boolean {
  return (
    around !== undefined &&
    location.start === around.start &&
    location.length >= around.end - around.start - 1
  )
}

function entriesOf(
  known: FrameContract,
  calls: readonly InnerCall[],
  end: Spot | undefined,
  spots: Spots,
): readonly StackEntry[] {
  const entries: StackEntry[] = []
  if (end !== undefined) {
    const isOptimized = known.details?.isOptimized === true
    const isAbout = isOptimized && isElsewhere(end, spots.of(calls.at(-1)?.entered))
    entries.push(entryOf(known, end, isAbout))
  }
  let inner = end
  for (const { site, entered } of [...calls].reverse()) {
    const declared = spots.of(entered)
    // not a user's function: it has its caller's place
    if (declared === undefined || !isDeclaration(declared)) continue
    const called = spots.of(site)
    // a modifier runs within its function, or is called by it
    const holder = declared.around === inner?.around ? called : declared
    if (inner?.around?.kind === 'modifier' && holder) entries.push(entryOf(known, holder, false))
    inner = called
    if (isWithin(called)) entries.push(entryOf(known, called, false))
  }
  return entries
}

/** True if the operation belongs to another function than the entered one: the optimizer merged equal code. */
function isElsewhere(end: Spot, entered: Spot | undefined): boolean {
  if (entered?.around === undefined || !isDeclaration(entered)) return true
  if (entered.around === end.around) return false
  return end.around?.kind !== 'modifier' || !hasModifier(entered, end.around.name)
}

/** True if a function's declaration has the modifier, whose code runs within it. */
function hasModifier(declared: Spot, name: string): boolean {
  const words = tokensOf(wholeTextOf(declared))
  const body = words.findIndex(({ text }) => text === '{')
  return words.slice(0, body).some(({ text }) => text === name)
}

function entryOf(
  { name }: FrameContract,
  { around, source, location }: Spot,
  isAbout: boolean,
): StackEntry {
  return {
    contract: around?.contract ?? name,
    function: around?.name,
    place: { path: source.path, ...source.outline.lineAt(location.start), isAbout },
  }
}

const QUOTED = 120

function textOf(spot: Spot): string {
  const text = wholeTextOf(spot).slice(0, QUOTED)
  return Buffer.from(text, 'latin1').toString('utf8').replace(/\s+/g, ' ')
}
