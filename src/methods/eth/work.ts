// eth: work for miners, and hash rates.
import { wordFromBigint } from '../../core/hex.ts'
import { firstIndex } from '../../core/search.ts'
import { type BlockTree, headOf } from '../../node/ledger/blocktree.ts'
import type { EthashWork } from '../../node/sealing/getwork.ts'
import { param } from '../../rpc/method.ts'
import { boolean, data, hash, list, quantity } from '../../rpc/primitives.ts'
import { type Decoder, type Encoder, invalid } from '../../rpc/schema.ts'
import { trueCommand } from '../common/command.ts'
import { type Methods, method } from '../common/context.ts'
import { encodedAs, quantityResult } from '../wire/encodeobject.ts'
import { UNKNOWN } from '../wire/examples.ts'

const SECONDS_PER_HOUR = 3600n

const workResult: Encoder<EthashWork> = encodedAs(list(hash), ({ sealHash, seedHash, target }) => [
  sealHash,
  seedHash,
  wordFromBigint(target),
])

/** 8 bytes. */
const nonce: Decoder<Uint8Array> = {
  name: 'nonce',
  json: { title: 'nonce', type: 'string', pattern: '^0x[0-9a-fA-F]{16}$' },
  decode: (value, path) => {
    const bytes = data.decode(value, path)
    if (bytes.length === 8) return bytes
    throw invalid(path, '8 bytes as 0x and 16 digits', value)
  },
}

export const workMethods: Methods = [
  method('eth_getWork', {
    summary: 'Returns Ethash work for the next block: hash to seal, seed hash, target.',
    result: workResult,
    effects: 'node',
    handle: ({ caller, getWork }) => getWork.ethashWork(caller),
  }),
  /** The first call may take seconds: a thread builds the cache for checking proofs once. */
  method('eth_submitWork', {
    summary: 'Mines the block of eth_getWork with an Ethash proof; false for a wrong proof.',
    params: [param('nonce', nonce), param('hash', hash), param('mixDigest', hash)],
    result: boolean,
    example: { params: ['0x0000000000000001', UNKNOWN, UNKNOWN], result: false },
    effects: 'chain',
    handle: ({ getWork }, given, sealHash, mixDigest) =>
      getWork.submitEthash(given, sealHash, mixDigest),
  }),
  trueCommand('eth_submitHashrate', {
    summary: "Records a miner's hash rate for one minute.",
    params: [param('rate', quantity), param('id', hash)],
    example: { params: ['0x500000', UNKNOWN], result: true },
    effects: 'node',
    handle: ({ getWork }, rate, id) => {
      getWork.reportRate(id, rate)
    },
  }),
  method('eth_hashrate', {
    summary: 'Returns the hashes per second that miners reported in the last minute.',
    result: quantityResult,
    example: { result: '0x0' },
    handle: ({ getWork }) => getWork.hashrate(),
  }),
  method('eth_netHashrate', {
    summary: "Returns the network's hashes per second, from the last hour's difficulty.",
    result: quantityResult,
    example: { result: '0x0' },
    handle: ({ chain }) => hashrateOf(chain.state.tree),
  }),
]

/** The sum of difficulties in the hour before the newest block, divided by its seconds. */
function hashrateOf(tree: BlockTree): bigint {
  const head = headOf(tree)
  const since = head.block.header.timestamp - SECONDS_PER_HOUR
  const { canonical } = tree
  // timestamps rise
  const timeAt = (index: number): bigint => canonical.at(index)?.block.header.timestamp ?? 0n
  const oldest = firstIndex(canonical.length - 1, (index) => timeAt(index) > since)
  const before = oldest === 0 ? 0n : (canonical.at(oldest - 1)?.totalDifficulty ?? 0n)
  return (head.totalDifficulty - before) / SECONDS_PER_HOUR
}
