// console.log of Solidity: logged with the transaction or call that printed it, once, and of estimates with their failure alone.
import {
  type Abi,
  createPublicClient,
  createWalletClient,
  encodeFunctionData,
  getAddress,
  type Hex,
  http,
} from 'viem'
import { expect, inject, test } from 'vitest'
import { createDevchain } from '../../src/devchain.ts'

const { abi, bytecode } = inject('contracts').Greeter ?? { abi: [], bytecode: '0x' }

test('a console line is logged with its transaction or call, and not for an estimate', async () => {
  const printed: string[] = []
  await using devchain = await createDevchain(
    { port: 0, defaultGas: 'estimate' },
    {
      observer: {
        onCall: ({ method, console: lines }) =>
          printed.push(...lines.map((line) => `${method}: ${line}`)),
        onChange: ({ head }) =>
          printed.push(
            ...[...head.added].flatMap(({ executed }) =>
              executed.flatMap(({ consoleLines }) =>
                consoleLines.map(({ text }) => `mined: ${text}`),
              ),
            ),
          ),
      },
    },
  )
  const transport = http((await devchain.listen()).url)
  const wallet = createWalletClient({ transport })
  const client = createPublicClient({ transport })
  const [account] = (await wallet.getAddresses()) as [Hex]
  const hash = await wallet.deployContract({ abi: abi as Abi, bytecode, account, chain: null })
  const { contractAddress } = await client.getTransactionReceipt({ hash })
  const to = contractAddress as Hex
  const data = encodeFunctionData({ abi: abi as Abi, functionName: 'greet', args: ['Ada'] })
  await client.estimateGas({ account, to, data })
  expect(printed).toEqual([])
  await client.call({ account, to, data })
  expect(printed.splice(0)).toEqual(['eth_call: hello Ada 1', `eth_call: ${getAddress(account)}`])
  await wallet.sendTransaction({ account, to, data, chain: null })
  expect(printed).toEqual(['mined: hello Ada 1', `mined: ${getAddress(account)}`])
})
