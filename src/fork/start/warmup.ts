// Preloads modules for the first requests while a fork waits for the network.
import { signDigest } from '../../core/crypto/crypto.ts'
import { type Address, EMPTY_BYTES, ZERO_ADDRESS, ZERO_HASH } from '../../core/hex.ts'
import { nextTurn } from '../../core/yield.ts'
import type { CallJob, Executor } from '../../evm/executor.ts'
import { DEFAULT_HARDFORK } from '../../protocol/forks.ts'
import { emptyWorld, withCode } from '../../state/world.ts'

/** @param waited ends it */
export async function warmUp(executor: Executor, waited: Promise<unknown>): Promise<void> {
  let isOver = false
  const end = (): void => {
    isOver = true
  }
  waited.then(end, end)
  const pieces: readonly (() => unknown)[] = [
    () => executor.call(JOB),
    () => import('../../methods/index.ts'),
    () => signDigest(new Uint8Array(32).fill(1), new Uint8Array(32).fill(1)),
  ]
  // requests leave at the end of this turn, on a connection made in the next
  await nextTurn()
  for (const piece of pieces) {
    // handle an answer that has arrived first
    await nextTurn()
    if (isOver) return
    await piece()
  }
}

const CONTRACT = `0x${'11'.repeat(20)}` as Address

/** PUSH1 0, SLOAD, PUSH1 0, SSTORE, STOP */
const CODE = Uint8Array.of(0x60, 0, 0x54, 0x60, 0, 0x55, 0)

const JOB: CallJob = {
  world: withCode(emptyWorld, CONTRACT, CODE),
  block: {
    chainId: 1n,
    hardfork: DEFAULT_HARDFORK,
    number: 1n,
    timestamp: 1n,
    coinbase: ZERO_ADDRESS,
    gasLimit: 30_000_000n,
    difficulty: 0n,
    prevRandao: ZERO_HASH,
    baseFee: 0n,
    excessBlobGas: 0n,
    slotNumber: 0n,
    blockHash: () => undefined,
  },
  message: {
    from: ZERO_ADDRESS,
    to: CONTRACT,
    value: 0n,
    data: EMPTY_BYTES,
    gasLimit: 1_000_000n,
    maxFeePerGas: 0n,
    maxPriorityFeePerGas: 0n,
    accessList: [],
    authorizationList: [],
  },
}
