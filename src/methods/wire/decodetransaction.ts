// Decodes the transaction object of eth_sendTransaction, eth_call and similar methods.
import { equalBytes, type Hash } from '../../core/hex.ts'
import type { BlobRequest, TransactionRequest } from '../../node/calls/request.ts'
import { blobHash, CELLS } from '../../protocol/transactions/sidecar.ts'
import type {
  AccessListEntry,
  Authorization,
  TransactionType,
} from '../../protocol/transactions/transaction.ts'
import { type Param, param } from '../../rpc/method.ts'
import { address, data, hash, hashOfTransaction, list, quantity } from '../../rpc/primitives.ts'
import { type Decoder, invalid, type Notes, remark } from '../../rpc/schema.ts'
import { type Decoded, members, refined, required, same, uint64 } from './decodeobject.ts'
import { TRANSFER } from './examples.ts'

const accessListEntry: Decoder<AccessListEntry> = refined(
  members('access list entry', { address, storageKeys: list(hash) }),
  (entry, path) => ({
    address: required(entry.address, `${path}.address`, 'a 20-byte address'),
    storageKeys: entry.storageKeys ?? [],
  }),
)

const authorization: Decoder<Authorization> = refined(
  members('authorization', {
    chainId: quantity,
    address,
    nonce: uint64,
    yParity: quantity,
    v: quantity,
    r: quantity,
    s: quantity,
  }),
  (given, path) => ({
    chainId: required(given.chainId, `${path}.chainId`, 'a chain id'),
    address: required(given.address, `${path}.address`, 'a 20-byte address'),
    nonce: required(given.nonce, `${path}.nonce`, 'a nonce'),
    yParity: parityOf(given.yParity, given.v, path),
    r: required(given.r, `${path}.r`, 'an integer'),
    s: required(given.s, `${path}.s`, 'an integer'),
  }),
)

/** Blob members in geth's names; alloy has another name for cell proofs. */
const blobMembers = {
  maxFeePerBlobGas: quantity,
  blobVersionedHashes: list(hash),
  blobs: list(data),
  commitments: list(data),
  proofs: list(data),
  cellProofs: list(data),
}

const BLOB_MEMBERS = Object.keys(blobMembers) as readonly (keyof typeof blobMembers)[]

type GivenBlobs = Decoded<typeof blobMembers>

/** web3.js 1 sends '' for no data, which other nodes take. */
const callData: Decoder<Uint8Array> = {
  ...data,
  decode: (value, path) => data.decode(value === '' ? '0x' : value, path),
}

/** Members that only returned transactions have. Clients send them back; they are ignored in a new one. */
const RETURNED = ['hash', 'blockHash', 'blockNumber', 'transactionIndex', 'v', 'r', 's', 'yParity']

/** The object of `eth_sendTransaction`, `eth_call` and similar (spec 4.5). */
export const transactionRequest: Decoder<TransactionRequest> = refined(
  members(
    'transaction',
    {
      from: address,
      to: address,
      gas: quantity,
      gasLimit: quantity,
      gasPrice: quantity,
      maxFeePerGas: quantity,
      maxPriorityFeePerGas: quantity,
      value: quantity,
      data: callData,
      input: callData,
      nonce: quantity,
      chainId: quantity,
      type: quantity,
      accessList: list(accessListEntry),
      authorizationList: list(authorization),
      ...blobMembers,
    },
    // web3.js also describes the network
    [...RETURNED, 'networkId', 'chain', 'hardfork', 'common'],
  ),
  // all members are listed, so that all requests have one shape, which V8 reads faster than rest and spread copies
  (given, path, notes) => {
    const type = given.type === undefined ? undefined : usedType(given.type, given, path, notes)
    return {
      from: given.from,
      to: given.to,
      gas: same(given.gas, given.gasLimit, Object.is, `${path}: gas and gasLimit`),
      gasPrice: given.gasPrice,
      maxFeePerGas: given.maxFeePerGas,
      maxPriorityFeePerGas: given.maxPriorityFeePerGas,
      value: given.value,
      data: same(given.data, given.input, equalBytes, `${path}: data and input`),
      nonce: given.nonce,
      // some clients send 0 for any chain
      chainId: given.chainId === 0n ? undefined : given.chainId,
      type,
      accessList: given.accessList,
      authorizationList: given.authorizationList,
      blobs: type === 3 || isOfBlobs(given) ? blobRequest(given, path) : undefined,
    }
  },
)

export const transaction: Param<TransactionRequest> = param('transaction', {
  ...transactionRequest,
  example: TRANSFER,
})

export const transactionHash: Param<Hash> = param('hash', hashOfTransaction)

/** A signed transaction. */
export const raw: Param<Uint8Array> = param('raw', {
  ...data,
  example: '0x02f86521808080825208947099',
})

/** 0 or 1, or `v` of old signatures: 27 or 28. */
function parityOf(yParity: bigint | undefined, v: bigint | undefined, path: string): 0 | 1 {
  const value = yParity ?? v
  if (value === 0n || value === 27n) return 0
  if (value === 1n || value === 28n) return 1
  throw invalid(`${path}.yParity`, '0 or 1', value)
}

/** The members that decide the possible types. */
type Typed = GivenBlobs &
  Pick<
    TransactionRequest,
    'gasPrice' | 'maxFeePerGas' | 'maxPriorityFeePerGas' | 'accessList' | 'authorizationList'
  >

/** The requested type, unless other members contradict it: geth, anvil and hardhat look only at those. */
function usedType(
  type: bigint,
  given: Typed,
  path: string,
  notes: Notes | undefined,
): TransactionType | undefined {
  const types = typesOf(given)
  const used = types.find((each) => BigInt(each) === type)
  if (used === undefined && notes !== undefined) {
    const made = `the other members make it one of type ${types.join(', ')}`
    remark(notes, `${path}.type: ${type} is ignored; ${made}`)
  }
  return used
}

/** The types that allow all given members. A missing blob or authorization list is refused later. */
function typesOf(given: Typed): readonly TransactionType[] {
  const { gasPrice, maxFeePerGas, maxPriorityFeePerGas, accessList = [] } = given
  if (given.authorizationList !== undefined) return [4]
  if (isOfBlobs(given)) return [3]
  if (maxFeePerGas !== undefined || maxPriorityFeePerGas !== undefined) return [2, 3, 4]
  const listed: readonly TransactionType[] = accessList.length > 0 ? [1] : [0, 1]
  return gasPrice === undefined ? [...listed, 2, 3, 4] : listed
}

function isOfBlobs(given: GivenBlobs): boolean {
  return BLOB_MEMBERS.some((name) => given[name] !== undefined)
}

/** Missing hashes follow from the commitments. Blobs need commitments and proofs. */
function blobRequest(given: GivenBlobs, path: string): BlobRequest {
  const { maxFeePerBlobGas, blobVersionedHashes, blobs, commitments } = given
  const proofs = same(given.proofs, given.cellProofs, () => false, `${path}: proofs and cellProofs`)
  if (blobs !== undefined && blobVersionedHashes === undefined && commitments === undefined) {
    const expected = 'the commitments of the blobs, which this node does not compute'
    required(commitments, `${path}.commitments`, expected)
  }
  const versionedHashes = blobVersionedHashes ?? commitments?.map(blobHash)
  if (blobs === undefined || commitments === undefined || proofs === undefined) {
    return { versionedHashes, maxFeePerBlobGas }
  }
  // geth also distinguishes the versions by the number of proofs
  const version = blobs.length > 0 && proofs.length === blobs.length * CELLS ? 1 : 0
  return { versionedHashes, maxFeePerBlobGas, sidecar: { version, blobs, commitments, proofs } }
}
