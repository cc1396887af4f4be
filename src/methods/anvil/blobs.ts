// Blobs that transactions came with, as tests of rollups look them up.

import { blobByHash, blobsOfTransaction } from '../../node/sending/blobs.ts'
import { param } from '../../rpc/method.ts'
import { data, hash, hashOfTransaction, list, nullable } from '../../rpc/primitives.ts'
import { type Methods, method } from '../common/context.ts'

const UNKNOWN = `0x01${'ab'.repeat(31)}`

export const anvilBlobMethods: Methods = [
  method({
    name: 'anvil_getBlobByHash',
    summary: 'The blob of a versioned hash, of the newest 512 that were sent; null when unknown.',
    params: [param('versionedHash', hash)],
    result: nullable(data),
    example: { params: [UNKNOWN], result: null },
    handle: ({ chain }, versionedHash) => blobByHash(chain.state, versionedHash) ?? null,
  }),
  method({
    name: 'anvil_getBlobsByTransactionHash',
    summary: 'The blobs that a transaction came with, mined or waiting; null when it has none.',
    params: [param('hash', hashOfTransaction)],
    result: nullable(list(data)),
    example: { params: [UNKNOWN], result: null },
    onFork: 'here',
    handle: ({ chain }, transaction) => blobsOfTransaction(chain.state, transaction) ?? null,
  }),
]
