// Checks the options against a recording, which holds one fork.
import path from 'node:path'
import { invalidParams } from '../../core/errors.ts'
import type { DevchainSettings } from '../../options/derived.ts'
import { isOtherBlock } from '../../options/fork.ts'
import type { Json } from '../../rpc/schema.ts'
import type { RemoteBlock } from '../network/header.ts'
import { type RecordingHead, transactionsIn } from '../store/recordingfile.ts'

/** @throws {DevchainError} `INVALID_PARAMS` if the options name another fork */
export function requireAsked(
  file: string,
  { chainId, prefix, proofs }: RecordingHead,
  { header: { number }, hash }: RemoteBlock,
  { fork, forkTransaction, forkChainId, forkProofs, forkRecord }: DevchainSettings,
): void {
  const block = fork?.block
  if (forkProofs && !proofs) {
    throw invalidParams(`${file} was recorded without --fork-proofs: leave it out, or record again`)
  }
  if (forkRecord !== undefined && path.resolve(forkRecord) === path.resolve(file)) {
    throw invalidParams(`${file} is replayed: --fork-record needs another file`)
  }
  const begins = `${file} begins at block ${number}`
  const problem =
    forkChainId !== undefined && `${forkChainId}` !== chainId
      ? `${file} is of a network with the chain id ${chainId}, not ${forkChainId} (--fork-chain-id)`
      : isOtherBlock(block, number, hash)
        ? `${begins} (${hash}), not ${block} (--fork)`
        : forkTransaction !== undefined && transactionIn(prefix) !== forkTransaction
          ? `${begins}${prefix === undefined ? '' : ` and before ${transactionIn(prefix)}`}, not before ${forkTransaction} (--fork-transaction)`
          : undefined
  if (problem === undefined) return
  throw invalidParams(`${problem}: record again with --fork-record`)
}

function transactionIn(prefix: RecordingHead['prefix']): string | undefined {
  if (prefix === undefined) return undefined
  const transaction = transactionsIn(prefix)[prefix.index] as { readonly hash?: Json } | undefined
  return String(transaction?.hash)
}
