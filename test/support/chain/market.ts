// What users of a market do, as transactions that are the same on every hardfork: with the gas that an estimate gives.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import {
  type Address,
  encodeDeployData,
  encodeFunctionData,
  getContractAddress,
  type Hex,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { resolveOptions } from '../../../src/app/settings.ts'
import { openDevchain } from '../../../src/devchain.ts'
import type { Hardfork } from '../../../src/protocol/forks.ts'
import { ROOT } from '../process/boot.ts'
import { type Compilation, compile, contractNamed } from '../solidity/solidity.ts'

export const MARKET_SENDER = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'

/** The second account of the well-known mnemonic. */
const ACCOUNT = privateKeyToAccount(
  '0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d',
)

const NEWCOMERS = [1, 2, 3].map((i) => `0x${`b${i}`.repeat(20)}` as Address)

export interface MarketStep {
  readonly name: string
  readonly transaction: Readonly<Record<string, unknown>>
  /** Before amsterdam. */
  readonly logs: number
}

export function marketProject(): Compilation {
  const sources: Record<string, { content: string }> = {}
  const add = (name: string, file: string): void => {
    if (sources[name] !== undefined) return
    const content = readFileSync(file, 'utf8')
    sources[name] = { content }
    for (const [, imported = ''] of content.matchAll(/from "(.*?)"/g)) {
      const target = imported.startsWith('.')
        ? path.posix.join(path.dirname(name), imported)
        : imported
      add(target, path.join(ROOT, 'node_modules', target))
    }
  }
  add('src/Market.sol', path.join(ROOT, 'fixtures/project/Market.sol'))
  return compile(sources, { optimizer: { enabled: true } })
}

/** @param project of `marketProject` */
export async function marketSteps(project: Compilation, chainId: number): Promise<MarketStep[]> {
  const steps: MarketStep[] = []
  const send = (name: string, logs: number, fields: object): void => {
    steps.push({ name, logs, transaction: { from: MARKET_SENDER, ...fields } })
  }
  const deploy = (name: string, contract: string, logs: number, ...args: unknown[]): Address => {
    const nonce = BigInt(steps.length)
    const { abi, evm } = contractNamed(project, contract)
    const bytecode = `0x${evm.bytecode.object}` as Hex
    send(name, logs, { data: encodeDeployData({ abi, bytecode, args } as never) })
    return getContractAddress({ from: MARKET_SENDER, nonce })
  }
  const call = (contract: string, functionName: string, ...args: unknown[]): object => {
    const { abi } = contractNamed(project, contract)
    return { data: encodeFunctionData({ abi, functionName, args } as never) }
  }
  send('ether to an account that exists', 0, { to: ACCOUNT.address, value: '0x1' })
  send('ether to a new account', 0, { to: NEWCOMERS[0], value: '0x1' })
  const one = deploy('deployment of an ERC-20', 'Token', 1, 'One')
  const other = deploy('deployment of another ERC-20', 'Token', 1, 'Other')
  const transfer = { to: one, ...call('Token', 'transfer', NEWCOMERS[1], 5n) }
  send('ERC-20 transfer to a new holder', 1, transfer)
  send('ERC-20 transfer to a holder', 1, transfer)
  const pool = deploy('deployment of a pool', 'Pool', 0, one, other)
  for (const token of [one, other]) {
    send('ERC-20 approval', 1, { to: token, ...call('Token', 'approve', pool, 10n ** 24n) })
  }
  send('first liquidity', 2, { to: pool, ...call('Pool', 'add', 10n ** 20n, 10n ** 20n) })
  send('swap', 3, { to: pool, ...call('Pool', 'swap', 10n ** 18n) })
  const till = deploy('deployment of a till', 'Till', 0)
  const paying = { to: till, value: '0x1', ...call('Till', 'pay', NEWCOMERS[2]) }
  send('ether through a contract to a new account', 0, paying)
  send('ether through a contract', 0, paying)
  const signed = await ACCOUNT.signAuthorization({ address: till, chainId, nonce: 0 })
  const authorization = {
    chainId: `0x${chainId.toString(16)}`,
    address: signed.address,
    nonce: '0x0',
    yParity: `0x${signed.yParity}`,
    r: signed.r,
    s: signed.s,
  }
  send('EIP-7702 authorization', 0, { to: ACCOUNT.address, authorizationList: [authorization] })
  return steps
}

interface MarketGas {
  readonly gasUsed: number
  /** Before refunds; all gas is execution gas before amsterdam. */
  readonly executionGasUsed: number
  readonly stateGasUsed: number
}

/** The gas of each step on a chain of its own. */
export async function marketGas(hardfork: Hardfork): Promise<ReadonlyMap<string, MarketGas>> {
  await using devchain = await openDevchain(
    { ...resolveOptions([]), hardfork, noArtifacts: true },
    {},
  )
  const ask = async <T>(method: string, ...params: unknown[]): Promise<T> =>
    (await devchain.request({ method, params })) as T
  const gas = new Map<string, MarketGas>()
  for (const { name, transaction } of await marketSteps(marketProject(), 33)) {
    const limit = await ask<string>('eth_estimateGas', transaction)
    const hash = await ask('eth_sendTransaction', { ...transaction, gas: limit })
    const receipt = await ask<Record<string, string>>('eth_getTransactionReceipt', hash)
    if (receipt.status !== '0x1') throw new Error(`${name} failed under ${hardfork}`)
    const { gasUsed, executionGasUsed = gasUsed, stateGasUsed = '0x0' } = receipt
    gas.set(name, {
      gasUsed: Number(gasUsed),
      executionGasUsed: Number(executionGasUsed),
      stateGasUsed: Number(stateGasUsed),
    })
  }
  return gas
}
