// What a transaction costs on its way into a block: hashes, signatures, encodings, pool and block: micro-benchmarks.
import {
  addressOfKey,
  keccak256,
  recoverAddress,
  signDigest,
} from '../../src/core/crypto/crypto.ts'
import { type Address, bytesFromHex } from '../../src/core/hex.ts'
import { addresses, requireKey } from '../../src/node/accounts/accounts.ts'
import { systemEnvironment } from '../../src/node/chain/chain.ts'
import { mine } from '../../src/node/commands/mine.ts'
import { createChain } from '../../src/node/create.ts'
import { sendRawTransaction, sendTransaction } from '../../src/node/sending/send.ts'
import {
  signTransaction,
  type UnsignedTransaction,
} from '../../src/protocol/transactions/transaction.ts'
import { decodeTransaction } from '../../src/protocol/transactions/transactiondecoding.ts'
import { eachOf, type Figure, timed } from './measure.ts'

const KEY = new Uint8Array(32).fill(7)

/** Transactions that wait for one block. */
const CROWD = 2_000

/** All figures, one after another: ten seconds. */
export async function* transactionFigures(): AsyncIterableIterator<Figure> {
  for (const length of [32, 532, 24_576]) yield await hashFigure(length)
  yield* signatureFigures()
  yield await decodingFigure()
  yield await creationFigure()
  yield* poolFigures()
}

async function hashFigure(length: number): Promise<Figure> {
  const bytes = new Uint8Array(length)
  return {
    name: `Keccak-256 of ${length} bytes`,
    value: await eachOf(() => keccak256(bytes)),
    unit: 'µs',
  }
}

async function* signatureFigures(): AsyncIterableIterator<Figure> {
  const digests = Array.from({ length: 200 }, (_, i) => keccak256(Uint8Array.of(i)))
  const signatures = digests.map((digest) => signDigest(digest, KEY))
  const each = async (name: string, run: (index: number) => unknown): Promise<Figure> => {
    const value = await eachOf((index) => run(index % digests.length))
    return { name, value, unit: 'µs' }
  }
  yield await each('a signature', (i) => signDigest(digests[i]!, KEY))
  yield await each('a signer recovered', (i) => recoverAddress(digests[i]!, signatures[i]!))
}

/** Read for the first time: each of them another, as senders are remembered. */
async function decodingFigure(): Promise<Figure> {
  const raws = Array.from({ length: 1400 }, (_, i) => signedTransfer(BigInt(i)))
  const value = await eachOf((index) => decodeTransaction(raws[index]!))
  return { name: 'a raw transaction read, its sender recovered', value, unit: 'µs' }
}

async function creationFigure(): Promise<Figure> {
  const chain = await createChain()
  const [from] = addresses(chain.state.accounts)
  const send = (): Promise<unknown> => sendTransaction(chain, { from: from!, data: CREATION })
  // the code is compiled as it runs
  for (let i = 0; i < 2000; i++) await send()
  return { name: 'a creation, signed here, with its block', value: await eachOf(send), unit: 'µs' }
}

/** Transactions that a wallet signed, of a key of the node's, into the pool and then into one block. */
async function* poolFigures(): AsyncIterableIterator<Figure> {
  const chain = await createChain({ noMining: true, gasLimit: 2n ** 40n })
  const now = systemEnvironment.now()
  const { accounts } = chain.state
  const key = requireKey(accounts, addresses(accounts)[0]!, now)
  const raws = Array.from({ length: CROWD }, (_, i) => signedTransfer(BigInt(i), key))
  const entering = await timed(async () => {
    for (const raw of raws) await sendRawTransaction(chain, raw)
  })
  yield { name: 'a raw transaction into the pool', value: (1000 * entering) / CROWD, unit: 'µs' }
  const mining = await timed(() =>
    chain.update((state) => mine(chain.executor, state, { now, blocks: 1n })),
  )
  const name = `one of ${CROWD} transactions in a block`
  yield { name, value: (1000 * mining) / CROWD, unit: 'µs' }
}

/** Init code that leaves the code `00`. */
const CREATION = bytesFromHex('0x60015ff3')

function signedTransfer(nonce: bigint, key: Uint8Array = KEY): Uint8Array {
  const unsigned: UnsignedTransaction = {
    type: 2,
    chainId: 33n,
    nonce,
    gasLimit: 21_000n,
    maxFeePerGas: 0n,
    maxPriorityFeePerGas: 0n,
    to: addressAt(Number(nonce)),
    value: 1n,
    data: new Uint8Array(),
    accessList: [],
    authorizationList: [],
  }
  return signTransaction(unsigned, key, addressOfKey(key)).raw
}

function addressAt(index: number): Address {
  return `0x${(index + 0x10_000).toString(16).padStart(40, '0')}` as Address
}
