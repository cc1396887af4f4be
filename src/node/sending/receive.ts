// Admits transactions that peers forward.
import { DevchainError } from '../../core/errors.ts'
import type { Hash } from '../../core/hex.ts'
import { decodeSent, type SentTransaction } from '../../protocol/transactions/sidecar.ts'
import {
  decodeImpersonated,
  decodeTransaction,
} from '../../protocol/transactions/transactiondecoding.ts'
import type { Chain } from '../chain/chain.ts'
import type { Change } from '../ledger/change.ts'
import { isInstant } from '../ledger/miningmode.ts'
import { mineWaiting } from '../mining/miner.ts'
import { keptSidecar, withBlobs } from '../pool/blobstore.ts'
import { admit } from './admission.ts'
import { requireProven } from './blobs.ts'

export interface Received {
  readonly refused: readonly { readonly hash: Hash; readonly error: DevchainError }[]
  /** Known transactions whose blobs were missing until now. */
  readonly completed: readonly Hash[]
}

const NOTHING: Received = { refused: [], completed: [] }

/** Where the chain's rules allow it, a sender may stand in place of the signature. */
export async function readReceived(chain: Chain, raw: Uint8Array): Promise<SentTransaction> {
  const { ruleset } = chain.state.config
  const sent = decodeSent(raw, ruleset === 'own' ? decodeImpersonated : decodeTransaction)
  await requireProven(chain, sent)
  return sent
}

/** @param mines false leaves them to a later block even under instant mining */
export function receiveTransactions(
  chain: Chain,
  sent: readonly SentTransaction[],
  mines: boolean,
): Promise<Received> {
  return chain.update(async (state, executor) => {
    const now = chain.environment.now()
    const { state: waiting, value } = sent.reduce((current, each) => admitOne(current, each, now), {
      state,
      value: NOTHING,
    })
    const isNew = waiting.pool !== state.pool
    if (!(mines && isInstant(state.mining)) || !isNew) return { state: waiting, value }
    const mined = await mineWaiting(executor, waiting, now)
    return { state: mined.state, value, dropped: mined.dropped }
  })
}

function admitOne(
  { state, value }: Change<Received>,
  { transaction, sidecar }: SentTransaction,
  now: number,
): Change<Received> {
  const { hash } = transaction
  const blobs = sidecar ? withBlobs(state.blobs, transaction, sidecar) : state.blobs
  try {
    return { state: { ...state, pool: admit(state, transaction, now), blobs }, value }
  } catch (error) {
    if (!(error instanceof DevchainError)) throw error
    const isKnown = error.word === 'ALREADY_KNOWN'
    if (isKnown && sidecar !== undefined && keptSidecar(state.blobs, hash) === undefined) {
      return {
        state: { ...state, blobs },
        value: { ...value, completed: [...value.completed, hash] },
      }
    }
    return { state, value: { ...value, refused: [...value.refused, { hash, error }] } }
  }
}
