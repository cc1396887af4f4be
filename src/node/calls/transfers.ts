// Ether transfers as logs, for simulations that ask for them.
import { type Address, type Hash, paddedBytes, wordFromBigint } from '../../core/hex.ts'
import type { Destruction, FrameEnd, FrameStart, Tracer } from '../../evm/executor.ts'
import type { Log } from '../../protocol/blocks/receipt.ts'

/** Stands for ether where a token's address is expected (ERC-7528). */
export const ETHER_ADDRESS: Address = `0x${'ee'.repeat(20)}` as Address

/** Transfer(address,address,uint256) */
const TRANSFER_TOPIC = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef' as Hash

interface OpenFrame {
  readonly logs: Log[]
  /** Ether for the contract that it creates, whose address is known at the end. */
  readonly endowment: { readonly from: Address; readonly value: bigint } | undefined
}

/** Collects logs and ether transfers, self-destructs included. Fees are no transfers; a failed frame drops its own. */
export function watchTransfers(): {
  readonly tracer: Tracer
  readonly logs: () => readonly Log[]
} {
  const frames: OpenFrame[] = []
  let whole: readonly Log[] = []
  const record = (log: Log): void => {
    frames.at(-1)?.logs.push(log)
  }
  const onEnter = ({ kind, from, to, value }: FrameStart): void => {
    const isMoved = value > 0n && kind !== 'DELEGATECALL' && kind !== 'CALLCODE'
    frames.push({ logs: [], endowment: isMoved && to === null ? { from, value } : undefined })
    if (isMoved && to !== null) record(transfer(from, to, value))
  }
  const onExit = ({ created, failure }: FrameEnd): void => {
    const frame = frames.pop()
    if (frame === undefined) return
    const { logs, endowment } = frame
    if (endowment !== undefined && created !== undefined) {
      logs.unshift(transfer(endowment.from, created, endowment.value))
    }
    const kept = failure === undefined ? logs : []
    const outer = frames.at(-1)
    if (outer === undefined) whole = kept
    else outer.logs.push(...kept)
  }
  const onDestroy = ({ address, beneficiary, balance }: Destruction): void => {
    if (balance > 0n) record(transfer(address, beneficiary, balance))
  }
  return { tracer: { onEnter, onExit, onDestroy, onLog: record }, logs: () => whole }
}

function transfer(from: Address, to: Address, value: bigint): Log {
  const topics = [TRANSFER_TOPIC, ...[from, to].map((each) => wordFromBigint(BigInt(each)))]
  return { address: ETHER_ADDRESS, topics, data: paddedBytes(value, 32) }
}
