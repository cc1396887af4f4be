// Adapts the KZG check to the library's EVM.
import type { KZG } from '@ethereumjs/util'
import { bytesFromHex } from '../../core/hex.ts'
import { verifyEvaluation } from '../precompiles/kzg.ts'

/** The curve must be loaded (`trustedSetup`). */
export const kzg: KZG = {
  verifyProof: (commitment, z, y, proof) => {
    const holds = verifyEvaluation({
      z: bytesFromHex(z),
      y: bytesFromHex(y),
      commitment: bytesFromHex(commitment),
      proof: bytesFromHex(proof),
    })
    // the library recognizes bad input by this text
    if (holds === undefined) throw new Error('C_KZG_BADARGS: not a scalar, or not a point of G1')
    return holds
  },
  blobToKzgCommitment: refuse,
  computeBlobProof: refuse,
  verifyBlobProofBatch: refuse,
  computeCells: refuse,
  computeCellsAndProofs: refuse,
  recoverCellsAndProofs: refuse,
  verifyCellKzgProofBatch: refuse,
}

function refuse(): never {
  throw new Error('no execution needs the blobs themselves')
}
