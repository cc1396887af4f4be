// Ganache 7.
import { EXECUTION_ERROR } from '../../evm/reasons.ts'
import type { ErrorObject } from '../../rpc/errors.ts'
import { SERVER_ERROR } from './codes.ts'
import type { FailedExecution } from './failure.ts'
import { OWN, type Profile } from './profile.ts'

const GWEI = 10n ** 9n
const ETHER = 10n ** 18n

export const GANACHE: Profile = {
  ...OWN,
  defaults: { chainId: 1337n, balance: 1000n * ETHER, baseFee: GWEI, difficulty: 0n },
  chain: { callsBelowBaseFee: true, estimatesAskForFunds: false, callsSeeBaseFee: true },
  block: { pendingNulls: [], hasTotals: true },
  clientName: 'Ganache/EthereumJS TestRPC',
  ack: true,
  secondsAhead: Number,
  failure,
}

function failure({ reason, data, hash, cause }: FailedExecution): ErrorObject {
  const said = cause.kind === 'text' ? cause.text : undefined
  const told = said === undefined ? 'revert' : `revert ${said}`
  const message = EXECUTION_ERROR + (cause.kind === 'halt' ? reason : told)
  if (hash === undefined) return { code: SERVER_ERROR, message, data }
  const facts = { hash, result: data, reason: said ?? null, message: told }
  return { code: SERVER_ERROR, message, data: facts }
}
