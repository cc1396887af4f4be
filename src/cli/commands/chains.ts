// The subcommands `chains` and `chain`: the chains of one process.
import { DevchainError, printValue } from '../../core/errors.ts'
import { number, plural } from '../../core/format.ts'
import type { Json } from '../../rpc/schema.ts'
import { aligned } from './columns.ts'

interface RemoteChain {
  readonly path: string
  /** Null, as the next two, while the chain is being opened. */
  readonly chainId: number | null
  readonly blockNumber: string | null
  readonly blockHash: string | null
  /** Seconds. */
  readonly age: number
  readonly requests: number
  /** Bytes. */
  readonly memory: number
}

/** One line for each chain. */
export function chainsTable(chains: Json): string {
  const rows = (chains as unknown as readonly RemoteChain[]).map(
    ({ path, chainId, blockNumber, blockHash, age, requests, memory }) => [
      path,
      chainId === null ? 'opening' : `chain ${chainId}`,
      blockNumber === null ? '' : `block ${number(BigInt(blockNumber))}`,
      blockHash ?? '',
      `${number(BigInt(age))} s`,
      plural(requests, 'request'),
      `${number(Math.ceil(memory / 1000))} kB`,
    ],
  )
  return aligned(rows, 4)
}

/** A call for `chain new NAME` or `chain drop NAME`, and the line that reports its result. */
export function chainOrder(
  order: string,
  name: string,
  flags: {
    readonly from?: unknown
    readonly block?: unknown
    readonly options?: Json | undefined
  },
): { readonly method: string; readonly params: readonly unknown[]; readonly done: string } {
  if (order === 'drop') {
    return { method: 'devchain_dropChain', params: [name], done: `dropped chain /${name}` }
  }
  if (order !== 'new') {
    const message = `expected new or drop, got ${printValue(order)}`
    throw new DevchainError('INVALID_PARAMS', message)
  }
  const { from, block, options } = flags
  const given = {
    name,
    ...(from !== undefined && { from: String(from) }),
    ...(block !== undefined && { block: String(block) }),
    ...(options && { options }),
  }
  return { method: 'devchain_newChain', params: [given], done: `made chain /${name}` }
}
