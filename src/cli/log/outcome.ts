// Short texts of a call's outcome and of changes, for the end of a log line.
import type { ObservedCall } from '../../app/observer.ts'
import { bytes, ether, fee, number, oneLine, plural, short, signed } from '../../core/format.ts'
import { isObject, type UnknownMembers } from '../../core/objects.ts'
import { describeMining } from '../../node/ledger/miningmode.ts'
import type { Json, Meaning } from '../../rpc/schema.ts'
import type { BackEvent, ChainEvent, ClockEvent, SnapshotEvent, WaitingEvent } from './events.ts'
import { errorText } from './names.ts'
import { importedLine } from './peers.ts'

/** Characters of a reason; it may end with what to do. */
const REASON = 500

/** One line of about 100 characters; for a failed call, the reason. */
export function outcomeOf({ meaning = {}, result, error, failure, refusal }: ObservedCall): string {
  if (failure !== undefined) return oneLine(failureText(failure), 300)
  if (error !== undefined) return shortageText(refusal) ?? oneLine(error.message, REASON)
  const { unit, noun } = meaning
  if (result === false && noun !== undefined) return `false: no such ${noun}`
  if (typeof result === 'string') return textOutcome(unit, result)
  if (Array.isArray(result)) {
    return noun === 'call'
      ? runsOutcome(result.flat(), noun)
      : plural(result.length, noun ?? 'item')
  }
  if (isObject(result)) return objectOutcome(result)
  return String(result ?? null)
}

/** Why a sender cannot pay, independent of the caller's error text; undefined for other refusals. */
function shortageText(refusal: ObservedCall['refusal']): string | undefined {
  if (refusal?.word !== 'INSUFFICIENT_FUNDS') return undefined
  const { from, balance, cost } = refusal.facts
  if (typeof balance !== 'bigint' || typeof cost !== 'bigint') return undefined
  return `insufficient funds: ${short(String(from))} has ${ether(balance)}, needs ${ether(cost)}`
}

/** The failure reason, with a custom error by name if known. */
export function failureText({ reason, data }: { reason: string; data: string }): string {
  const error = reason.startsWith('revert custom error') ? errorText(data) : undefined
  return error === undefined ? reason : `revert ${error}`
}

function textOutcome(unit: Meaning['unit'], text: string): string {
  const isHex = /^0x[0-9a-f]*$/i.test(text)
  if (!isHex) return oneLine(text, 100)
  if (unit === 'return data') return `→ ${bytes(text)}`
  if (unit === 'bytes') return bytes(text)
  const isQuantity = /^0x(0|[1-9a-f][0-9a-f]*)$/i.test(text) && text.length < 36
  if (!isQuantity) return text.length === 66 || text.length === 42 ? short(text) : bytes(text)
  if (unit === 'wei') return ether(BigInt(text))
  if (unit === 'wei per gas') return fee(BigInt(text))
  return `${number(BigInt(text))}${unit === 'gas' ? ' gas' : ''}`
}

function runsOutcome(runs: readonly Json[], noun: string): string {
  const failed = runs.filter((run) => typeof run === 'object' && run !== null && 'error' in run)
  return `${plural(runs.length, noun)}${failed.length === 0 ? '' : `, ${number(failed.length)} failed`}`
}

/** Recognizes blocks, receipts, transactions and others by their unique fields. */
function objectOutcome(value: UnknownMembers): string {
  if ('gasLimit' in value && 'parentHash' in value) return blockOutcome(value)
  if ('cumulativeGasUsed' in value) return receiptOutcome(value)
  if ('nonce' in value && 'input' in value) {
    const place = value.blockNumber ? `block ${quantity(value.blockNumber)}` : 'pending'
    return `nonce ${quantity(value.nonce)}, ${place}`
  }
  if (typeof value.pending === 'string' && typeof value.queued === 'string') {
    return `${quantity(value.pending)} pending, ${quantity(value.queued)} queued`
  }
  if ('results' in value && 'totalGasUsed' in value) {
    const { results, totalGasUsed } = value
    return `${runsOutcome(results as readonly Json[], 'transaction')}, gas ${number(Number(totalGasUsed))}`
  }
  // a transaction that was filled in
  if ('raw' in value && isObject(value.tx)) {
    return `nonce ${quantity(value.tx.nonce)}, gas ${quantity(value.tx.gas)}`
  }
  if ('oldestBlock' in value && Array.isArray(value.gasUsedRatio)) {
    const from = `from block ${quantity(value.oldestBlock)} on`
    return `${plural(value.gasUsedRatio.length, 'block')} ${from}`
  }
  return plural(Object.keys(value).length, 'field')
}

function blockOutcome(block: UnknownMembers): string {
  const count = Array.isArray(block.transactions) ? block.transactions.length : 0
  const name =
    // a pending one lacks its hash, or under --compat hardhat its number
    typeof block.hash === 'string' && block.number !== null
      ? `block ${quantity(block.number)} ${short(block.hash)}`
      : 'pending block'
  return `${name}, ${plural(count, 'transaction')}`
}

function receiptOutcome(receipt: UnknownMembers): string {
  const verdict = receipt.status === '0x0' ? 'failed' : 'success'
  const state = quantity(receipt.stateGasUsed ?? '0x0')
  const ofState = state === '0' ? '' : `, state ${state}`
  return `${verdict}, block ${quantity(receipt.blockNumber)}, gas ${quantity(receipt.gasUsed)}${ofState}`
}

function quantity(value: unknown): string {
  return typeof value === 'string' && /^0x[0-9a-f]+$/i.test(value) ? number(BigInt(value)) : '?'
}

/** One phrase for every event except blocks and transactions. */
export function headline(event: ChainEvent): string {
  switch (event.event) {
    case 'snapshot':
      return `snapshot ${snapshotName(event)} at block ${number(event.block)}`
    case 'revert':
    case 'reset':
    case 'reorganization':
      return backLine(event)
    case 'clock':
      return clockLine(event)
    case 'mining':
      return `mining ${describeMining(event.mining)}`
    case 'waiting':
      return waitingLine(event)
    case 'dropped':
      return `dropped ${short(event.hash)} of ${short(event.from)}, nonce ${number(event.nonce)}: ${oneLine(event.reason, 200)}`
    case 'imported':
      return importedLine(event)
    case 'block':
    case 'transaction':
      return event.event
  }
}

function snapshotName({ id, name }: SnapshotEvent): string {
  return name === undefined ? id : `${name} (${id})`
}

function backLine(event: BackEvent): string {
  const branch = event.peer === undefined ? '' : ` to the branch of ${oneLine(event.peer, 40)}`
  const name =
    event.event === 'revert'
      ? `revert to ${oneLine(event.id ?? '', 64)}`
      : `${event.event}${branch}`
  const parts: string[] = []
  if (event.peer !== undefined) parts.push(`${plural(event.lostBlocks ?? 0, 'block')} deep`)
  if (event.forked) {
    parts.push(`forked at block ${number(event.toBlock)}`)
  } else if (event.fromBlock !== event.toBlock) {
    parts.push(`block ${number(event.fromBlock)} → ${number(event.toBlock)}`)
  } else if (event.lostBlocks) parts.push(`${plural(event.lostBlocks, 'block')} replaced`)
  if (event.clockSeconds !== 0n) parts.push(`clock ${signed(event.clockSeconds)} s`)
  const { requeued, lost } = event
  if (requeued !== undefined && requeued.count > 0) {
    parts.push(`${plural(requeued.count, 'transaction')} back in the pool`)
  }
  if (lost !== undefined && lost.count > 0)
    parts.push(`${plural(lost.count, 'transaction')} dropped`)
  return `${name}: ${parts.length > 0 ? parts.join(', ') : `still block ${number(event.toBlock)}`}`
}

function clockLine({ clockSeconds, offsetSeconds }: ClockEvent): string {
  const total = offsetSeconds === clockSeconds ? '' : ` (${signed(offsetSeconds)} s in total)`
  return `clock ${signed(clockSeconds)} s${total}`
}

function waitingLine({ added, poolSize, nonce, nextNonce }: WaitingEvent): string {
  const gap =
    nonce === undefined || nextNonce === undefined
      ? ''
      : `: nonce ${number(nonce)}, account is at ${number(nextNonce)}`
  return `${plural(added.count, 'transaction')} waiting, ${number(poolSize)} in the pool${gap}`
}
