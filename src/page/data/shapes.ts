// What the methods return, as far as the page reads it.

export interface RpcBlock {
  readonly number: string
  readonly hash: string
  readonly parentHash: string
  readonly timestamp: string
  readonly miner: string
  readonly gasUsed: string
  readonly gasLimit: string
  readonly baseFeePerGas?: string
  readonly size: string
  readonly stateRoot: string
  readonly extraData: string
  readonly transactions: readonly string[]
}

export interface RpcTransaction {
  readonly hash: string
  readonly from: string
  readonly to: string | null
  readonly value: string
  readonly input: string
  readonly nonce: string
  readonly gas: string
  readonly gasPrice?: string
  readonly type: string
  readonly blockNumber: string | null
  readonly blockHash: string | null
  readonly transactionIndex: string | null
}

export interface RpcLog {
  readonly address: string
  readonly topics: readonly string[]
  readonly data: string
  readonly logIndex: string
}

export interface RpcReceipt {
  readonly status?: string
  readonly gasUsed: string
  readonly effectiveGasPrice: string
  readonly contractAddress: string | null
  readonly logs: readonly RpcLog[]
  readonly blockNumber: string
}
