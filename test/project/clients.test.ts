// What client libraries make of an error with a stack beside it: the same as of one without.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { ethers } from 'ethers'
import { type Abi, createPublicClient, http, parseEther } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Web3 } from 'web3'
import { createDevchain, type Devchain, type DevchainOptions } from '../../src/devchain.ts'
import { type Ask, deploy, initCode, SENDER } from '../support/chain/deploy.ts'
import {
  compile,
  contractNamed,
  projectSources,
  writeProject,
} from '../support/solidity/solidity.ts'

const project = compile(projectSources())
const { abi } = contractNamed(project, 'Vault')
const AMOUNT = parseEther('5')

interface Stage {
  readonly chain: Devchain
  readonly url: string
  readonly vault: `0x${string}`
}

let folder: string
let stages: readonly Stage[]

async function staged(artifacts: string, options: DevchainOptions): Promise<Stage> {
  const chain = await createDevchain({
    artifacts: [artifacts],
    defaultGas: 'estimate',
    compat: 'geth',
    port: 0,
    chainId: 1337n,
    accounts: 1,
    ...options,
  })
  await chain.artifactsRead()
  const ask: Ask = (method, ...params) => chain.request({ method, params })
  const from = ((await ask('eth_accounts')) as string[])[0]!
  expect(from).toBe(SENDER)
  const rates = await deploy(ask, initCode(project, 'Rates'))
  const vault = await deploy(ask, initCode(project, 'Vault', [SENDER, 7n], { Rates: rates }))
  const { url } = await chain.listen()
  return { chain, url, vault: vault as `0x${string}` }
}

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'devchain-clients-'))
  const artifacts = writeProject(folder, 'foundry', project)
  stages = [await staged(artifacts, { plainErrors: true }), await staged(artifacts, {})]
})

afterAll(async () => {
  for (const { chain } of stages) await chain.close()
  rmSync(folder, { recursive: true })
})

/** What a library throws, without what differs from one chain to the next. */
async function thrownBy(call: () => Promise<unknown>, { url }: Stage): Promise<string> {
  try {
    await call()
  } catch (error) {
    const { name, message, code, data, reason, shortMessage, revert, cause } = error as Record<
      string,
      unknown
    >
    const { errorName, message: why } = (cause ?? {}) as Record<string, unknown>
    const seen = { errorName, why, name, message, code, data, reason, shortMessage, revert }
    const text = JSON.stringify(seen, (_, value: unknown) =>
      typeof value === 'bigint' ? value.toString() : value,
    )
    return text.replaceAll(url, 'URL')
  }
  throw new Error('the call did not fail')
}

const CALLS: Readonly<Record<string, (stage: Stage) => Promise<unknown>>> = {
  viem: ({ url, vault }) =>
    createPublicClient({ transport: http(url) }).simulateContract({
      address: vault,
      abi: abi as Abi,
      functionName: 'withdraw',
      args: [AMOUNT],
      account: SENDER,
    }),
  'ethers 6': async ({ url, vault }) => {
    const provider = new ethers.JsonRpcProvider(url)
    try {
      const contract = new ethers.Contract(vault, JSON.stringify(abi), provider)
      await contract.getFunction('withdraw').staticCall(AMOUNT, { from: SENDER })
    } finally {
      provider.destroy()
    }
  },
  web3: ({ url, vault }) => {
    const contract = new new Web3(url).eth.Contract(abi as never, vault)
    return (
      contract.methods as never as Record<
        string,
        (amount: bigint) => { call(o: object): Promise<unknown> }
      >
    ).withdraw!(AMOUNT).call({ from: SENDER })
  },
}

describe('an error with a Solidity stack', () => {
  test('has it on the wire', async () => {
    const [plain, explained] = await Promise.all(
      stages.map(async ({ url, vault }) => {
        const data = new ethers.Interface(JSON.stringify(abi)).encodeFunctionData('withdraw', [
          AMOUNT,
        ])
        const body = { jsonrpc: '2.0', id: 1, method: 'eth_call', params: [{ to: vault, data }] }
        const headers = { 'content-type': 'application/json' }
        const reply = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
        return ((await reply.json()) as { error: object }).error
      }),
    )
    const { solidityStack, ...rest } = explained as { solidityStack: readonly string[] }
    expect(rest).toEqual(plain)
    expect(solidityStack).toContain('at Vault.withdraw (src/Vault.sol:45:9)')
  })

  test.each(Object.keys(CALLS))('is the same error to %s as without it', async (library) => {
    const [plain, explained] = await Promise.all(
      stages.map((stage) => thrownBy(async () => CALLS[library]!(stage), stage)),
    )
    expect(explained).toBe(plain)
    expect(explained).toContain('InsufficientBalance')
  })
})
