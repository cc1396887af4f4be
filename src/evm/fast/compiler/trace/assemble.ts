// Assembles a trace's function: the prologue, the loop around the operations, the exits.
import { STACK_LIMIT } from '../../../opcodes.ts'
import * as layout from '../../layout.ts'
import type { Emitter } from '../wasm/emitter.ts'
import { moduleOf } from '../wasm/helpers.ts'
import * as wasm from '../wasm/instructions.ts'
import * as locals from '../wasm/locals.ts'
import { Writer } from '../wasm/writer.ts'
import type { Exit, TraceBuilder } from './trace.ts'

export interface Links {
  readonly newCell: (pc: number) => number
  readonly threshold: number
}

/** The head charges the gas of the whole trace, or exits. */
export function openTrace(trace: TraceBuilder, start: number): void {
  const { emitter } = trace
  // it leaves before the gas is charged
  const exit = { ...trace.exit(start), used: trace.total }
  emitter.get(locals.GAS)
  emitter.i64(BigInt(trace.total))
  emitter.op(wasm.I64_SUB)
  emitter.tee(locals.LEFT)
  emitter.get(locals.YIELD)
  emitter.op(wasm.I64_LT_S)
  trace.leaveIf(exit)
  emitter.get(locals.LEFT)
  emitter.set(locals.GAS)
}

/**
 * Closes a loop: moves slots to the locals of the next round, or to memory if no operation reads them.
 * @returns the slots that differ between rounds
 */
export function closeLoop(trace: TraceBuilder): ReadonlySet<number> {
  const { emitter, stack } = trace
  const { slots, words } = stack.snapshot()
  const targets: number[] = []
  for (const [index, slot] of slots.entries()) {
    const word = words[index]
    const home = stack.entries.get(slot)?.limbs
    for (let i = 0; i < 4; i++) {
      const limb = word?.limbs[i] ?? 0n
      const local = home?.[i]
      if (local === undefined) {
        emitter.get(locals.BASE)
        emitter.limb(limb)
        emitter.store64(placeOf(trace, slot) + 8 * i)
      } else if (typeof local === 'number' && local !== limb) {
        // read all values before writing a local
        emitter.limb(limb)
        targets.push(local)
      }
    }
  }
  for (const local of targets.reverse()) emitter.set(local)
  countSteps(emitter, trace.passed)
  emitter.op(wasm.BR)
  emitter.out.unsigned(emitter.depth)
  return new Set(slots)
}

function countSteps(emitter: Emitter, steps: number): void {
  if (steps === 0) return
  emitter.i32(0)
  emitter.i32(0)
  emitter.load64(layout.STEPS)
  emitter.i64(BigInt(steps))
  emitter.op(wasm.I64_ADD)
  emitter.store64(layout.STEPS)
}

function placeOf({ stack }: TraceBuilder, slot: number): number {
  return 32 * (slot - stack.lowest)
}

/**
 * The module of a finished trace.
 * @param changing slots that differ between rounds
 * @param outer an emitter for the code around the operations
 */
export function assemble(
  trace: TraceBuilder,
  changing: ReadonlySet<number>,
  outer: Emitter,
  links: Links,
): Uint8Array {
  outer.clear()
  writePrologue(outer, trace)
  for (let i = 0; i < trace.exits.length; i++) openBlock(outer, wasm.BLOCK)
  openBlock(outer, wasm.LOOP)
  const locals = declareLocals(trace.emitter.nextLocal)
  const before = outer.out.written.slice()
  outer.out.clear()
  outer.op(wasm.END)
  outer.op(wasm.UNREACHABLE)
  for (const exit of trace.exits) {
    outer.op(wasm.END)
    writeExit(outer, trace, exit, changing)
    writeLeaving(outer, exit, links)
  }
  outer.op(wasm.END)
  return moduleOf([locals, before, trace.emitter.out.written, outer.out.written])
}

function openBlock(emitter: Emitter, opcode: number): void {
  emitter.op(opcode)
  emitter.op(wasm.TYPE_EMPTY)
}

function declareLocals(count: number): Uint8Array {
  const out = new Writer()
  const groups = [
    [locals.VECTOR - locals.BASE, wasm.TYPE_I32],
    [1, wasm.TYPE_V128],
    [count - locals.GAS, wasm.TYPE_I64],
  ] as const
  out.unsigned(groups.length)
  for (const [size, type] of groups) {
    out.unsigned(size)
    out.byte(type)
  }
  return out.written.slice()
}

function writePrologue(emitter: Emitter, trace: TraceBuilder): void {
  const { lowest, highest, entries } = trace.stack
  emitter.frame32(layout.FRAME_STACK_TOP)
  emitter.set(locals.ADDRESS)
  if (lowest < 0) returnIfHeight(emitter, wasm.I32_LT_S, -32 * lowest)
  returnIfHeight(emitter, wasm.I32_GT_S, 32 * (STACK_LIMIT - highest))
  emitter.get(locals.ADDRESS)
  emitter.i32(32 * lowest)
  emitter.op(wasm.I32_ADD)
  emitter.set(locals.BASE)
  emitter.frame32(layout.FRAME_MEMORY)
  emitter.set(locals.MEMORY)
  emitter.get(locals.FRAME)
  emitter.load64(layout.FRAME_GAS)
  emitter.set(locals.GAS)
  emitter.readLimit()
  // the gas below which the trace must yield, at least 0
  emitter.i32(0)
  emitter.load64(layout.YIELD_BELOW)
  emitter.setAtLeastZero(locals.YIELD)
  for (const [slot, { limbs }] of entries) {
    for (const [i, local] of limbs.entries()) {
      if (typeof local !== 'number') continue
      emitter.get(locals.BASE)
      emitter.load64(placeOf(trace, slot) + 8 * i)
      emitter.set(local)
    }
  }
}

function returnIfHeight(emitter: Emitter, comparison: number, bytes: number): void {
  emitter.get(locals.ADDRESS)
  emitter.frame32(layout.FRAME_STACK)
  emitter.op(wasm.I32_SUB)
  emitter.i32(bytes)
  emitter.op(comparison)
  emitter.if()
  leaveWith(emitter, layout.EXIT_CONTINUE)
  emitter.end()
}

function leaveWith(emitter: Emitter, exit: number): void {
  emitter.i32(exit)
  emitter.op(wasm.RETURN)
}

function writeExit(
  emitter: Emitter,
  trace: TraceBuilder,
  { pc, snapshot, used, passed }: Exit,
  changing: ReadonlySet<number>,
): void {
  countSteps(emitter, passed)
  const { slots, words, height } = snapshot
  const written = new Set(slots)
  for (const [index, slot] of slots.entries()) {
    writeSlot(emitter, trace, slot, words[index]?.limbs ?? [])
  }
  for (const slot of changing) {
    if (slot >= height || written.has(slot)) continue
    writeSlot(emitter, trace, slot, trace.stack.entries.get(slot)?.limbs ?? [])
  }
  emitter.get(locals.FRAME)
  emitter.get(locals.GAS)
  emitter.i64(BigInt(trace.total - used))
  emitter.op(wasm.I64_ADD)
  emitter.store64(layout.FRAME_GAS)
  emitter.get(locals.FRAME)
  emitter.i32(pc)
  emitter.store32(layout.FRAME_PC)
  emitter.get(locals.FRAME)
  emitter.get(locals.BASE)
  emitter.i32(placeOf(trace, height))
  emitter.op(wasm.I32_ADD)
  emitter.store32(layout.FRAME_STACK_TOP)
}

/** Limbs that no operation read are in memory already. */
function writeSlot(
  emitter: Emitter,
  trace: TraceBuilder,
  slot: number,
  limbs: Exit['snapshot']['words'][number]['limbs'],
): void {
  for (const [i, limb] of limbs.entries()) {
    if (limb === undefined) continue
    emitter.get(locals.BASE)
    emitter.limb(limb)
    emitter.store64(placeOf(trace, slot) + 8 * i)
  }
}

/** Returns the trace behind the exit if linked, and counts otherwise. */
function writeLeaving(emitter: Emitter, { pc, isLinked }: Exit, links: Links): void {
  if (isLinked) {
    const cell = links.newCell(pc)
    emitter.global32(cell)
    emitter.tee(locals.COUNT)
    emitter.i32(0)
    emitter.op(wasm.I32_LT_S)
    emitter.if()
    emitter.get(locals.COUNT)
    emitter.op(wasm.RETURN)
    emitter.end()
    writeCounting(emitter, cell, links.threshold)
  }
  leaveWith(emitter, layout.EXIT_CONTINUE)
}

function writeCounting(emitter: Emitter, cell: number, threshold: number): void {
  emitter.get(locals.COUNT)
  emitter.i32(threshold)
  emitter.op(wasm.I32_LT_U)
  emitter.if()
  emitter.i32(0)
  emitter.get(locals.COUNT)
  emitter.i32(1)
  emitter.op(wasm.I32_ADD)
  emitter.tee(locals.COUNT)
  emitter.store32(cell)
  emitter.get(locals.COUNT)
  emitter.i32(threshold)
  emitter.op(wasm.I32_EQ)
  emitter.if()
  emitter.i32(0)
  emitter.i32(cell)
  emitter.store32(layout.LAST_CELL)
  leaveWith(emitter, layout.EXIT_HOT)
  emitter.end()
  emitter.end()
}
