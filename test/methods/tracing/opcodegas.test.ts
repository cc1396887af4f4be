// trace_transactionOpcodeGas: the gas of all operations and what a transaction costs before them is what its receipt says.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createDevchain, type Devchain } from '../../../src/devchain.ts'

interface OpcodeGas {
  readonly opcode: string
  readonly count: number
  readonly gasUsed: number
}

let devchain: Devchain
let sender: string
/** Stores 1 in slot 0: 22,106 gas the first time. */
let callee: string

const ask = <T>(method: string, ...params: unknown[]): Promise<T> =>
  devchain.request({ method, params }) as Promise<T>

async function deploy(runtime: string): Promise<string> {
  const size = (runtime.length / 2).toString(16).padStart(2, '0')
  const data = `0x60${size}600c60003960${size}6000f3${runtime}`
  const hash = await ask('eth_sendTransaction', { from: sender, data, gas: '0x50000' })
  return (await ask<{ contractAddress: string }>('eth_getTransactionReceipt', hash)).contractAddress
}

beforeAll(async () => {
  devchain = await createDevchain({ clock: 'frozen' })
  sender = (await ask<string[]>('eth_accounts'))[0] ?? ''
  callee = await deploy('600160005500')
})
afterAll(() => devchain.close())

/** Runs code as a transaction; gives the gas of its operations by name, and what is left of the receipt's. */
async function runOf(
  runtime: string,
): Promise<{ readonly gas: Record<string, number>; readonly rest: number }> {
  const to = await deploy(runtime)
  const hash = await ask('eth_sendTransaction', { from: sender, to, gas: '0x50000', value: '0x9' })
  const { gasUsed } = await ask<{ gasUsed: string }>('eth_getTransactionReceipt', hash)
  const { opcodeGas } = await ask<{ opcodeGas: OpcodeGas[] }>('trace_transactionOpcodeGas', hash)
  const sum = opcodeGas.reduce((total, { gasUsed: used }) => total + used, 0)
  const gas = Object.fromEntries(opcodeGas.map(({ opcode, gasUsed: used }) => [opcode, used]))
  return { gas, rest: Number(gasUsed) - sum }
}

/** CALL with so much gas and value, then STOP. */
const calling = (gas: string, value: string, to: string): string =>
  `600060006000600060${value}73${to.slice(2)}62${gas}f15000`

describe('trace_transactionOpcodeGas sums up to the gas of the receipt', () => {
  test('for code without calls', async () => {
    const { gas, rest } = await runOf('600160025500')
    expect(gas).toEqual({ PUSH1: 6, SSTORE: 22_100, STOP: 0 })
    expect(rest).toBe(21_000)
  })

  test('for a call, without the gas that it passes on', async () => {
    const { gas, rest } = await runOf(calling('0186a0', '00', callee))
    expect(gas).toMatchObject({ CALL: 2_600, SSTORE: 22_100 })
    expect(rest).toBe(21_000)
  })

  test('for a call with ether, without the stipend', async () => {
    const { gas, rest } = await runOf(calling('0186a0', '02', callee))
    expect(gas).toMatchObject({ CALL: 2_600 + 9_000 - 2_300, SSTORE: 2_200 })
    expect(rest).toBe(21_000)
  })

  test('for a precompile, whose gas is the call’s', async () => {
    const { gas, rest } = await runOf(calling('0186a0', '00', `0x${'02'.padStart(40, '0')}`))
    expect(gas.CALL).toBe(100 + 60)
    expect(rest).toBe(21_000)
  })

  test('for ether to an account without code', async () => {
    const { gas, rest } = await runOf(calling('000000', '01', sender))
    // the sender is warm
    expect(gas.CALL).toBe(100 + 9_000 - 2_300)
    expect(rest).toBe(21_000)
  })
})

test('trace_transactionOpcodeGas attributes the lost gas of a failed frame to no opcode', async () => {
  // the callee runs into INVALID with 1,000 gas
  const invalid = await deploy('fe')
  const { gas, rest } = await runOf(calling('0003e8', '00', invalid))
  expect(gas.CALL).toBe(2_600)
  expect(rest).toBe(21_000 + 1_000 - (gas.INVALID ?? 0))
})
