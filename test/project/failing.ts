// The ways to fail that fixtures/project has, each as a request: the same for this chain and for Hardhat's.
import { encodeAbiParameters, type Hex } from 'viem'
import { type Ask, callData, deploy, initCode, SENDER } from '../support/chain/deploy.ts'
import type { Compilation } from '../support/solidity/solidity.ts'

/** A request that fails. */
export interface Failing {
  readonly name: string
  readonly request: {
    readonly from: string
    readonly to?: string
    readonly data?: string
    readonly value?: string
  }
}

const NOBODY = '0x00000000000000000000000000000000000a11ce'

/** Functions of `Failures` with arguments that make them fail. */
const CALLS: readonly (readonly [name: string, ...args: readonly unknown[]])[] = [
  ['requireText'],
  ['requireSilent'],
  ['requireCustom'],
  ['revertText'],
  ['revertSilent'],
  ['revertPlain'],
  ['revertDetailed'],
  ['assertion', 1n],
  ['overflow', 1n],
  ['underflow', 1n],
  ['product', 2n],
  ['division', 0n],
  ['modulo', 0n],
  ['enumeration', 5n],
  ['outOfBounds', 3n],
  ['memoryBounds', 3n],
  ['popEmpty'],
  ['tooMuchMemory', 2n ** 70n],
  ['uninitialized'],
  ['guarded', false],
  ['guardedCustom', 1n],
  ['loop', 4n],
  ['recursive', 3n],
  ['innerCustom'],
  ['innerSilent'],
  ['innerCaught'],
  ['innerOutOfGas'],
  ['libraryExternal', 20_000n],
  ['libraryInternal', 3n],
  ['libraryInternal', 4n],
  ['nonContract', NOBODY],
  ['nonContractSilent', NOBODY],
  ['creates', 500n],
  ['createsNoEther', 7n],
  ['ternary', 3n],
  ['ternary', 7n],
  ['tryDecode', '0x1234'],
  ['invalid'],
]

/** Deploys what the requests need, and gives them. */
export async function failuresOn(ask: Ask, project: Compilation): Promise<readonly Failing[]> {
  const rates = await deploy(ask, initCode(project, 'Rates'))
  const failures = await deploy(ask, initCode(project, 'Failures', [], { Rates: rates }))
  const silent = await deploy(ask, initCode(project, 'Silent'))
  const noEther = await deploy(ask, initCode(project, 'NoEther', [1n]))
  const inner = await deploy(ask, initCode(project, 'Inner'))
  const call = (name: string, args: readonly unknown[], to = failures): Failing => ({
    name: [name, ...args]
      .join(' ')
      .replace(silent, 'silent')
      .replace(inner, 'inner')
      .replace(noEther, 'noEther'),
    request: { from: SENDER, to, data: callData(project, 'Failures', name, args) },
  })
  const raw = (name: string, request: Omit<Failing['request'], 'from'>): Failing => ({
    name,
    request: { from: SENDER, ...request },
  })
  const set = callData(project, 'NoEther', 'set', [1n])
  const value = '0xde0b6b3a7640000'
  const short = encodeAbiParameters([{ type: 'uint256' }], [1n])
  const takes = callData(project, 'Failures', 'takes', [[1n, 2n], NOBODY])
  return [
    ...CALLS.map(([name, ...args]) => call(name, args)),
    call('wrongReturn', [silent]),
    call('wrongReturns', [silent]),
    call('byAddress', [inner]),
    {
      ...call('paysRefuser', [noEther]),
      request: { ...call('paysRefuser', [noEther]).request, value },
    },
    raw('function is not payable', { to: noEther, data: set, value }),
    raw('no such function', { to: noEther, data: '0x12345678' }),
    raw('no receive function', { to: noEther, value }),
    raw('nothing is called', { to: noEther, data: '0x' }),
    raw('less than a selector', { to: noEther, data: '0x1234' }),
    raw('arguments are cut off', { to: failures, data: takes.slice(0, 10 + 32) }),
    raw('an argument is no address', {
      to: failures,
      data: takes
        .replace(NOBODY.slice(2), 'ff'.repeat(20))
        .replace(`${'0'.repeat(24)}ff`, 'ff'.repeat(13)),
    }),
    raw('constructor fails', { data: initCode(project, 'BadConstructor', [500n]) }),
    raw('constructor is not payable', { data: initCode(project, 'NoEther', [1n]), value }),
    raw('constructor lacks arguments', { data: withoutArguments(project, 'NoEther', short) }),
    raw('contract is too large', { data: initCode(project, 'Large') }),
  ]
}

function withoutArguments(project: Compilation, name: string, args: Hex): string {
  return initCode(project, name, [1n]).slice(0, 2 - args.length)
}
