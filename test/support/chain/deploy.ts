// Deploys compiled contracts on a chain in this process, with libraries linked and arguments encoded.
import { type Abi, encodeDeployData, encodeFunctionData, type Hex } from 'viem'
import { type Compilation, contractNamed } from '../solidity/solidity.ts'

/** Asks a chain. */
export type Ask = (method: string, ...params: unknown[]) => Promise<unknown>

export const SENDER = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'
const GAS = '0x4c4b40'

/** A receipt, as far as tests read it. */
export interface MinedReceipt {
  readonly status: string
  readonly contractAddress: string | null
  readonly transactionHash: string
}

/** The init code of a contract, with libraries by their names in place. */
export function initCode(
  compilation: Compilation,
  name: string,
  args: readonly unknown[] = [],
  libraries: Readonly<Record<string, string>> = {},
): Hex {
  const { abi, evm } = contractNamed(compilation, name)
  let { object } = evm.bytecode
  const references = Object.values(evm.bytecode.linkReferences as LinkReferences).flatMap(
    Object.entries,
  )
  for (const [library, places] of references) {
    for (const { start } of places) {
      const address = libraries[library]?.slice(2).toLowerCase() ?? ''
      object = object.slice(0, 2 * start) + address + object.slice(2 * start + 40)
    }
  }
  return encodeDeployData({ abi: abi as Abi, bytecode: `0x${object}`, args: [...args] })
}

type LinkReferences = Readonly<
  Record<string, Readonly<Record<string, readonly { readonly start: number }[]>>>
>

/** The input of a call. */
export function callData(
  compilation: Compilation,
  contract: string,
  name: string,
  args: readonly unknown[] = [],
): Hex {
  const { abi } = contractNamed(compilation, contract)
  return encodeFunctionData({ abi: abi as Abi, functionName: name, args: [...args] })
}

/** Sends a transaction, and waits for its receipt. */
export async function send(ask: Ask, transaction: object): Promise<MinedReceipt> {
  const hash = await ask('eth_sendTransaction', { from: SENDER, gas: GAS, ...transaction })
  return (await ask('eth_getTransactionReceipt', hash)) as MinedReceipt
}

/** Deploys, and gives the address. */
export async function deploy(ask: Ask, data: Hex, value = '0x0'): Promise<string> {
  const { contractAddress, status } = await send(ask, { data, value })
  if (status !== '0x1' || contractAddress === null) throw new Error('the deployment failed')
  return contractAddress
}
