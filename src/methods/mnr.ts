// mnr: merged mining. Blocks of a parent chain whose coinbase names a block here also prove that block.
import { DevchainError } from '../core/errors.ts'
import { type Hash, isBytes, parseBytes } from '../core/hex.ts'
import type { Imported, MergedWork } from '../node/sealing/getwork.ts'
import {
  decodeParentBlock,
  decodeParentTransaction,
  proofOfBlock,
  proofOfBranch,
  requireBranchLength,
  requireParentHash,
  requireParentHeader,
} from '../protocol/work/parentchain.ts'
import { param } from '../rpc/method.ts'
import { boolean, data, hash, quantity, text } from '../rpc/primitives.ts'
import { type Decoder, type Encoder, invalid } from '../rpc/schema.ts'
import { type Methods, method } from './common/context.ts'
import { bytes32, field, quantityResult, shape } from './wire/encodeobject.ts'

/** Merged miners write hex without 0x. */
function prefixed(value: unknown): unknown {
  return typeof value === 'string' && !value.startsWith('0x') ? `0x${value}` : value
}

const bytes: Decoder<Uint8Array> = {
  name: 'hex',
  json: { title: 'hex', type: 'string', pattern: '^(0x)?([0-9a-fA-F]{2})*$' },
  decode: (value, path) => {
    const text = prefixed(value)
    if (typeof text === 'string' && isBytes(text)) return parseBytes(text)
    throw invalid(path, 'bytes as pairs of hex digits', value)
  },
}

const hexNumber: Decoder<bigint> = {
  name: 'hex number',
  json: { title: 'hex number', type: 'string', pattern: '^(0x)?[0-9a-fA-F]{1,64}$' },
  decode: (value, path) => quantity.decode(prefixed(value), path),
}

/** A parent chain's hash, little-endian, with or without 0x. */
const parentHash: Decoder<Hash> = {
  name: 'hash',
  json: { title: 'hash', type: 'string', pattern: '^(0x)?[0-9a-fA-F]{64}$' },
  decode: hash.decode,
}

/** Hashes of 32 bytes, separated by white space. */
const hashes: Decoder<readonly Uint8Array[]> = {
  name: 'hashes',
  json: { title: 'hashes', type: 'string' },
  decode: (value, path) => {
    const words = text.decode(value, path).match(/\S+/g) ?? []
    if (words.length === 0) {
      throw new DevchainError('WORK_REJECTED', "The list of merkle hashes can't be empty")
    }
    return words.map((word, i) => parseBytes(hash.decode(word, `${path}[${i}]`)))
  },
}

const work: Encoder<MergedWork> = shape<MergedWork>('merged work', {
  blockHashForMergedMining: field(hash, ({ sealHash }) => sealHash),
  target: field(bytes32, ({ target }) => target),
  feesPaidToMiner: field(text, ({ fees }) => fees.toString()),
  notify: field(boolean, ({ notify }) => notify),
  parentBlockHash: field(hash, ({ parentHash }) => parentHash),
})

const imported: Encoder<Imported> = shape<Imported>('import', {
  blockImportedResult: field(data, ({ result }) => new TextEncoder().encode(result)),
  blockHash: field(hash, ({ hash: blockHash }) => blockHash),
  blockIncludedHeight: field(quantityResult, ({ number }) => number),
})

const parent = [
  param('blockHash', parentHash),
  param('header', bytes),
  param('coinbase', bytes),
] as const

export const mnrMethods: Methods = [
  method('mnr_getWork', {
    summary:
      "Returns work for merged mining: the hash for a parent block's coinbase, and the target.",
    result: work,
    effects: 'node',
    handle: ({ caller, getWork }) => getWork.mergedWork(caller),
  }),
  method('mnr_submitParentChainBlock', {
    summary: 'Mines the block that the coinbase of a parent block commits to.',
    params: [param('block', bytes)],
    result: imported,
    example: { params: ['00'.repeat(80)] },
    effects: 'chain',
    handle: ({ getWork }, block) => getWork.submitMerged(proofOfBlock(decodeParentBlock(block))),
  }),
  method('mnr_submitParentChainBlockTransactions', {
    summary: 'Mines like mnr_submitParentChainBlock, from all transaction ids.',
    params: [...parent, param('transactionIds', hashes)],
    result: imported,
    example: { params: ['00'.repeat(32), '00'.repeat(80), '00'.repeat(65), '00'.repeat(32)] },
    effects: 'chain',
    handle: ({ getWork }, blockHash, header, coinbase, ids) =>
      getWork.submitMerged(
        proofOfBlock({
          header: requireParentHash(requireParentHeader(header), blockHash),
          coinbase: decodeParentTransaction(coinbase),
          // ids are shown in reverse byte order
          ids: ids.map((id) => id.toReversed()),
        }),
      ),
  }),
  method('mnr_submitParentChainBlockPartialMerkle', {
    summary: "Mines like mnr_submitParentChainBlock, from the coinbase's Merkle path.",
    params: [...parent, param('hashes', hashes), param('count', hexNumber)],
    result: imported,
    example: { params: ['00'.repeat(32), '00'.repeat(80), '00'.repeat(65), '00'.repeat(32), '1'] },
    effects: 'chain',
    handle: ({ getWork }, blockHash, header, coinbase, branch, count) => {
      requireBranchLength(branch.length, count)
      return getWork.submitMerged(
        proofOfBranch(
          requireParentHash(requireParentHeader(header), blockHash),
          decodeParentTransaction(coinbase),
          branch,
        ),
      )
    },
  }),
]
