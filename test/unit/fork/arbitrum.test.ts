// The contracts of Arbitrum's nodes on a fork of it: what they only read is asked of the network, at the block that is read.
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { type Hex, hexFromBytes } from '../../../src/core/hex.ts'
import { CONTRACTS, selectorOf } from '../../../src/fork/arbitrum/functions.ts'
import { ARB_INFO, STAND_IN } from '../../../src/fork/arbitrum/slotquery.ts'
import { assemble, deploying, RETURN_WORD } from '../../support/evm/bytecode.ts'
import { forkOf, sendOn, startUpstream, type Upstream, word } from '../../support/fork/upstream.ts'
import { temporaryFolder } from '../../support/process/boot.ts'

const ARBSYS = `0x${'64'.padStart(40, '0')}`
const TABLE = `0x${'66'.padStart(40, '0')}`
const NODE_INTERFACE = `0x${'c8'.padStart(40, '0')}`
const GAS_INFO = `0x${'6c'.padStart(40, '0')}`

/** Slots are read for the words of an answer: see slotquery.ts. */
const IN_WORDS = `
  0 CALLDATALOAD 224 SHR 224 SHL
  CALLVALUE @more JUMPI
  4 CALLDATASIZE LT @more JUMPI
  CALLDATASIZE 4 EQ @ask JUMPI
  CALLDATASIZE 36 EQ ISZERO @more JUMPI
  4 CALLDATALOAD 160 SHR @more JUMPI
  4 CALLDATALOAD OR 1 216 SHL OR @ask JUMP
  more: 2 216 SHL OR
  ask: DUP1 SLOAD DUP1 1 SHR 0
  next: DUP2 DUP2 5 SHL LT ISZERO @done JUMPI
  DUP1 1 ADD 200 SHL DUP5 OR SLOAD DUP2 5 SHL MSTORE
  1 ADD @next JUMP
  done: POP SWAP1 1 AND @fine JUMPI
  0 REVERT
  fine: 0 RETURN
`

test('the code of a stand-in contract assembles from its source', () => {
  expect(hexFromBytes(STAND_IN.code)).toBe(hexFromBytes(assemble(IN_WORDS)))
})

const ARB_INFO_IN_WORDS = `
  CALLVALUE @none JUMPI
  CALLDATASIZE 36 EQ ISZERO @none JUMPI
  0 CALLDATALOAD 224 SHR
  DUP1 ${selectorOf('getBalance(address)')} EQ @balance JUMPI
  ${selectorOf('getCode(address)')} EQ @code JUMPI
  none: 0 0 REVERT
  balance: 4 CALLDATALOAD BALANCE ${RETURN_WORD}
  code: 4 CALLDATALOAD DUP1 EXTCODESIZE
  32 0 MSTORE DUP1 32 MSTORE
  DUP1 0 64 DUP5 EXTCODECOPY
  31 ADD 5 SHR 5 SHL 64 ADD 0 RETURN
`

test('the code of ArbInfo assembles from its source', () => {
  expect(hexFromBytes(ARB_INFO.code)).toBe(hexFromBytes(assemble(ARB_INFO_IN_WORDS)))
})

test.each([
  ['getPricesInWei()', 0x41b247a8],
  ['getMinimumGasPrice()', 0xf918379a],
  ['getSubmissionPrice(uint256)', 0xf88029dc],
  ['arbBlockNumber()', 0xa3b1b31d],
  ['InvalidBlockNumber(uint256,uint256)', 0xd5dc642d],
])('the selector of %s is %i', (signature, selector) => {
  expect(selectorOf(signature)).toBe(selector)
})

test('every ArbGasInfo function is a slot: it has no parameter, or one that fits 20 bytes', () => {
  for (const { functions } of CONTRACTS.values()) {
    for (const signature of functions.values()) {
      expect(signature).toMatch(/^\w+\((address|uint256)?\)$/)
    }
  }
})

/** Returns the selector, the parameter, the number of the block and 3; reverts with the first two for the parameter 57005. */
const ECHO = `
  0 CALLDATALOAD 224 SHR 0 MSTORE 4 CALLDATALOAD 32 MSTORE NUMBER 64 MSTORE 3 96 MSTORE
  4 CALLDATALOAD 57005 EQ @bad JUMPI
  128 0 RETURN
  bad: 64 0 REVERT
`

/** Calls an address with the input that follows it in the calldata, and returns or keeps in slots what that returned. */
const RELAY = `
  32 CALLDATASIZE SUB 32 0 CALLDATACOPY
  0 0 32 CALLDATASIZE SUB 0 0 CALLDATALOAD GAS STATICCALL 0 SSTORE
  RETURNDATASIZE 0 0 RETURNDATACOPY
  0 MLOAD 1 SSTORE 32 MLOAD 2 SSTORE 64 MLOAD 3 SSTORE
  RETURNDATASIZE 4 SSTORE
  RETURNDATASIZE 0 RETURN
`

interface ForkedNetwork extends Upstream {
  readonly relay: string
}

/** A network whose blocks see every other number of those of the L1, which are their own here. */
async function startArbitrum(): Promise<ForkedNetwork> {
  const upstream = await startUpstream({ chainId: 42_161 })
  for (const address of [GAS_INFO, TABLE, ARBSYS, NODE_INTERFACE]) {
    await upstream.ask('anvil_setCode', address, hexFromBytes(assemble(ECHO)))
  }
  const data = hexFromBytes(deploying(assemble(RELAY)))
  const { contractAddress: relay = '' } = await sendOn(upstream.ask, { data })
  await upstream.ask('hardhat_mine', '0x8')
  upstream.faults.lie = ({ method }, result) => {
    if (!/^eth_getBlockBy/.test(method) || result === null) return result
    const { number } = result as { number: string }
    return {
      ...(result as object),
      l1BlockNumber: `0x${Math.floor(Number(number) / 2).toString(16)}`,
    }
  }
  return { ...upstream, relay }
}

function calling(signature: string, parameter?: bigint | number): Hex {
  const selector = selectorOf(signature).toString(16).padStart(8, '0')
  return `0x${selector}${parameter === undefined ? '' : word(parameter)}`
}

function relayed(to: string, input: Hex): Hex {
  return `0x${to.slice(2).padStart(64, '0')}${input.slice(2)}`
}

const PRICES = calling('getPricesInWei()')

/** What the network's contract returns in a block. */
function echoed(input: Hex, block: number): string {
  return `0x${word(Number(input.slice(0, 10)))}${input.slice(10).padEnd(64, '0')}${word(block)}${word(3)}`
}

/** Calls of the network that were asked of it. */
function callsOf({ requests }: Upstream, to: string): number {
  return requests
    .flat()
    .filter(
      ({ method, params }) => method === 'eth_call' && (params[0] as { to?: string }).to === to,
    ).length
}

test('ArbGasInfo is requested from the network once per block', async () => {
  await using upstream = await startArbitrum()
  await using fork = await forkOf(upstream)
  const { ask, notices } = fork
  expect(await ask('eth_call', { to: GAS_INFO, data: PRICES })).toBe(echoed(PRICES, 9))
  expect(await ask('eth_call', { to: GAS_INFO, data: PRICES }, '0x4')).toBe(echoed(PRICES, 4))
  await ask('evm_mine')
  const lookup = calling('lookup(address)', 0xabcdefn)
  const input = relayed(TABLE, lookup)
  expect(await ask('eth_call', { to: upstream.relay, data: input })).toBe(echoed(lookup, 9))
  expect(await ask('eth_call', { to: GAS_INFO, data: PRICES })).toBe(echoed(PRICES, 9))
  expect(callsOf(upstream, GAS_INFO)).toBe(2)
  expect(notices).toEqual([
    expect.stringMatching(/^ArbGasInfo at 0x0{38}6c is built into Arbitrum's nodes: .* values/),
    expect.stringMatching(/^ArbAddressTable at 0x0{38}66 /),
  ])
})

test('ArbGasInfo returns the same to a transaction, a call and a trace', async () => {
  await using upstream = await startArbitrum()
  await using fork = await forkOf(upstream)
  const { ask } = fork
  const lookup = calling('lookup(address)', 0xabcdefn)
  const receipt = await sendOn(ask, { to: upstream.relay, data: relayed(TABLE, lookup) })
  expect(receipt).toMatchObject({ status: '0x1' })
  const slots = await Promise.all(
    [0, 2, 3, 4].map((slot) => ask('eth_getStorageAt', upstream.relay, `0x${slot}`, 'latest')),
  )
  expect(slots.map(Number)).toEqual([1, 0xabcdef, 9, 128])
  const trace = await ask('debug_traceTransaction', receipt.transactionHash, {
    tracer: 'callTracer',
  })
  expect(trace).toMatchObject({ calls: [{ to: TABLE, input: lookup, output: echoed(lookup, 9) }] })
})

test('a call to the network’s own contracts reverts as on the network, with its data', async () => {
  await using upstream = await startArbitrum()
  await using fork = await forkOf(upstream)
  const bad = calling('lookup(address)', 57_005)
  const asked = fork.ask('eth_call', { to: TABLE, data: bad })
  await expect(asked).rejects.toMatchObject({ data: echoed(bad, 9).slice(0, 130) })
})

test('ArbGasInfo reports no L1 fees, without a request', async () => {
  await using upstream = await startArbitrum()
  await using fork = await forkOf(upstream)
  const data = calling('getCurrentTxL1GasFees()')
  expect(await fork.ask('eth_call', { to: GAS_INFO, data })).toBe(`0x${word(0)}`)
  expect(callsOf(upstream, GAS_INFO)).toBe(0)
})

test.each([
  ['a function that changes something', ARBSYS, calling('withdrawEth(address)', 5), '0x0'],
  ['value', ARBSYS, calling('arbBlockNumber()'), '0x1'],
  ['a parameter that a slot cannot say', TABLE, calling('lookupIndex(uint256)', 1n << 200n), '0x0'],
  ['no selector', ARBSYS, '0x64', '0x0'],
])('%s fails, with one warning', async (_, to, data, value) => {
  await using upstream = await startArbitrum()
  await using fork = await forkOf(upstream)
  const [from] = (await fork.ask('eth_accounts')) as readonly string[]
  for (const call of [1, 2]) {
    await expect(fork.ask('eth_call', { from, to, data, value })).rejects.toThrow(/revert/)
    expect([call, fork.notices]).toEqual([
      call,
      [expect.stringMatching(/^Arb\w+ .* fails: it is built into Arbitrum's nodes/)],
    ])
  }
  expect(callsOf(upstream, to)).toBe(0)
})

test('ArbSys returns the hashes of its own blocks, and refuses others like Arbitrum', async () => {
  await using upstream = await startArbitrum()
  await using fork = await forkOf(upstream)
  const { ask } = fork
  await ask('hardhat_mine', '0x2')
  const hashOf = (number: number) =>
    ask('eth_call', { to: ARBSYS, data: calling('arbBlockHash(uint256)', number) })
  for (const number of ['0x3', '0x9', '0xa']) {
    const { hash } = (await ask('eth_getBlockByNumber', number, false)) as { hash: string }
    expect([number, await hashOf(Number(number))]).toEqual([number, hash])
  }
  for (const number of [11, 12]) {
    await expect(hashOf(number)).rejects.toMatchObject({
      data: `0xd5dc642d${word(number)}${word(11)}`,
    })
  }
  expect(fork.notices).toEqual([])
})

test('BLOCKHASH returns the L1 hashes that Arbitrum’s blocks saw, and none after the fork', async () => {
  await using upstream = await startArbitrum()
  const asking = hexFromBytes(deploying(assemble(`0 CALLDATALOAD BLOCKHASH ${RETURN_WORD}`)))
  const { contractAddress: to } = await sendOn(upstream.ask, { data: asking })
  await using fork = await forkOf(upstream, { clock: 'step:24' })
  const { ask } = fork
  const hashes = await Promise.all(
    [3, 4].map(async (number) => {
      const block = await upstream.ask('eth_getBlockByNumber', `0x${number}`, false)
      return (block as { hash: string }).hash
    }),
  )
  // the newest block sees 5
  const blockhash = (number: number, at = 'latest') =>
    ask('eth_call', { to, data: `0x${word(number)}` }, at)
  expect(await Promise.all([3, 4].map((number) => blockhash(number)))).toEqual(hashes)
  expect(await blockhash(5)).toBe(`0x${word(0)}`)
  expect(fork.notices).toEqual([])
  await ask('evm_mine')
  expect(await blockhash(4)).toBe(hashes[1])
  expect(await blockhash(5)).toBe(`0x${word(0)}`)
  expect(fork.notices).toEqual([expect.stringMatching(/^BLOCKHASH returns 0: .* at the fork/)])
})

test('ArbInfo returns balances and code of the fork', async () => {
  await using upstream = await startArbitrum()
  await using fork = await forkOf(upstream)
  const { ask } = fork
  const to = `0x${'65'.padStart(40, '0')}`
  const [first = ''] = (await ask('eth_accounts')) as readonly string[]
  await ask('anvil_setBalance', first, '0x1234')
  const balance = calling('getBalance(address)', BigInt(first))
  expect(await ask('eth_call', { to, data: balance })).toBe(`0x${word(0x1234)}`)
  const code = (await ask('eth_getCode', upstream.relay, 'latest')) as string
  const size = code.length / 2 - 1
  const padded = code.slice(2).padEnd(Math.ceil(size / 32) * 64, '0')
  expect(
    await ask('eth_call', { to, data: calling('getCode(address)', BigInt(upstream.relay)) }),
  ).toBe(`0x${word(32)}${word(size)}${padded}`)
  await expect(ask('eth_call', { to, data: '0x12345678' })).rejects.toThrow(/revert/)
})

test('NodeInterface is called on the network, at the named or forked block', async () => {
  await using upstream = await startArbitrum()
  const to = NODE_INTERFACE
  await using fork = await forkOf(upstream)
  const data = calling('blockL1Num(uint64)', 3)
  expect(await fork.ask('eth_call', { to, data })).toBe(echoed(data, 9))
  await fork.ask('evm_mine')
  expect(await fork.ask('eth_call', { to, data }, 'latest')).toBe(echoed(data, 9))
  expect(await fork.ask('eth_call', { to, data }, '0x4')).toBe(echoed(data, 4))
})

test('PREVRANDAO is 1, as on Arbitrum', async () => {
  await using upstream = await startArbitrum()
  await using fork = await forkOf(upstream)
  const data = hexFromBytes(assemble(`PREVRANDAO ${RETURN_WORD}`))
  expect(await fork.ask('eth_call', { data })).toBe(`0x${word(1)}`)
})

test('code that replaces ArbSys stays', async () => {
  await using upstream = await startArbitrum()
  await using fork = await forkOf(upstream)
  await fork.ask('anvil_setCode', ARBSYS, hexFromBytes(assemble(`77 ${RETURN_WORD}`)))
  const call = { to: ARBSYS, data: calling('arbBlockNumber()') }
  expect(await fork.ask('eth_call', call)).toBe(`0x${word(77)}`)
  await fork.ask('evm_mine')
  expect(await fork.ask('eth_call', call)).toBe(`0x${word(77)}`)
})

test('ArbGasInfo fails with --fork-proofs, while ArbSys still returns the block number', async () => {
  await using upstream = await startArbitrum()
  await using fork = await forkOf(upstream, { forkProofs: true })
  const { ask, notices } = fork
  const number = { to: ARBSYS, data: calling('arbBlockNumber()') }
  expect(await ask('eth_call', number)).toBe(`0x${word(9)}`)
  await expect(ask('eth_call', { to: GAS_INFO, data: PRICES })).rejects.toThrow(/revert/)
  expect(notices).toEqual([
    'ArbGasInfo getPricesInWei() fails: its result cannot be proven (--fork-proofs)',
  ])
})

test('ArbGasInfo fails if the network does not respond', async () => {
  await using upstream = await startArbitrum()
  await using fork = await forkOf(upstream, { forkRetries: 0 })
  upstream.faults.refuse = ({ method }) =>
    method === 'eth_call' ? { code: -32_000, message: 'the method is disabled' } : undefined
  await expect(fork.ask('eth_call', { to: GAS_INFO, data: PRICES })).rejects.toThrow(
    /refuses eth_call: the method is disabled/,
  )
})

test('a recording has the results of Arbitrum’s contracts', async () => {
  const forkRecord = path.join(temporaryFolder(onTestFinished), 'fork.jsonl')
  await using upstream = await startArbitrum()
  {
    await using fork = await forkOf(upstream, { forkRecord })
    await fork.ask('eth_call', { to: GAS_INFO, data: PRICES })
  }
  await using replayed = await forkOf(upstream, {
    fork: undefined,
    forkReplay: forkRecord,
  } as never)
  upstream.faults.isCut = true
  expect(await replayed.ask('eth_call', { to: GAS_INFO, data: PRICES })).toBe(echoed(PRICES, 9))
})

test('transactions before a forked one run as on Arbitrum', async () => {
  await using upstream = await startArbitrum()
  const keeping = hexFromBytes(deploying(assemble('NUMBER 0 SSTORE')))
  const { contractAddress: to } = await sendOn(upstream.ask, { data: keeping })
  await upstream.ask('evm_setAutomine', false)
  const [from] = (await upstream.ask('eth_accounts')) as readonly string[]
  await upstream.ask('eth_sendTransaction', { from, to, gas: '0x20000' })
  const second = await upstream.ask('eth_sendTransaction', { from, to: from })
  await upstream.ask('evm_mine')
  await using fork = await forkOf(upstream, { forkTransaction: second as string })
  // block 11 sees 5 of the L1, as block 10 does
  expect(Number(await fork.ask('eth_getStorageAt', to, '0x0', 'latest'))).toBe(5)
})
