// Whom a call called, and which function: in the log of calls, estimates, transactions and failures.
import { expect, test } from 'vitest'
import { beginning } from '../../../src/cli/log/bounded.ts'
import { builtInName, errorText } from '../../../src/cli/log/names.ts'
import { hexFromBytes } from '../../../src/core/hex.ts'
import { startLogged } from '../../support/chain/loggedchain.ts'
import { assemble } from '../../support/evm/bytecode.ts'

const A = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
const OTHER = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const TOKEN = '0x5FbDB2315678afecb367f032d93F642f64180aa3'

// as 4byte.directory and the contracts' own tests have them
test.each([
  ['0xa9059cbb', 'transfer(address,uint256)'],
  ['0x70a08231', 'balanceOf(address)'],
  ['0x095ea7b3', 'approve(address,uint256)'],
  ['0x23b872dd', 'transferFrom(address,address,uint256)'],
  ['0xdd62ed3e', 'allowance(address,address)'],
  ['0x18160ddd', 'totalSupply()'],
  ['0xd505accf', 'permit(address,address,uint256,uint256,uint8,bytes32,bytes32)'],
  ['0x6352211e', 'ownerOf(uint256)'],
  ['0x42842e0e', 'safeTransferFrom(address,address,uint256)'],
  ['0xf242432a', 'safeTransferFrom(address,address,uint256,uint256,bytes)'],
  ['0x01ffc9a7', 'supportsInterface(bytes4)'],
  ['0x3659cfe6', 'upgradeTo(address)'],
  ['0x4f1ef286', 'upgradeToAndCall(address,bytes)'],
  ['0x5c60da1b', 'implementation()'],
  ['0x8da5cb5b', 'owner()'],
  ['0xf2fde38b', 'transferOwnership(address)'],
  ['0x2f2ff15d', 'grantRole(bytes32,address)'],
  ['0x82ad56cb', 'aggregate3((address,bool,bytes)[])'],
  ['0x252dba42', 'aggregate((address,bytes)[])'],
  ['0x791a009b', undefined],
  ['0xa9059c', undefined],
  ['', undefined],
])('the log shows the selector %s as %s', (selector, signature) => {
  expect(builtInName(TOKEN, selector)).toBe(signature)
})

test('any call to the console’s address prints', () => {
  expect(builtInName('0x000000000000000000636F6e736F6c652e6c6f67', '0x41304fac')).toBe(
    'console.log',
  )
})

test.each([
  [
    `0xe450d38c${A.slice(2).padStart(64, '0')}${'0'.repeat(64)}${'5'.padStart(64, '0')}`,
    'ERC20InsufficientBalance(0xf39F…2266, 0, 5)',
  ],
  [`0x118cdaa7${A.slice(2).padStart(64, '0')}`, 'OwnableUnauthorizedAccount(0xf39F…2266)'],
  ['0xf92ee8a9', 'InvalidInitialization()'],
  ['0xe450d38c00', undefined],
  ['0xf988f737', undefined],
])('the log shows the error %s as %s', (data, text) => {
  expect(errorText(data)).toBe(text)
})

/** Reverts with what it is called with, from byte 4 on. */
const ECHO = hexFromBytes(
  assemble('4 CALLDATASIZE SUB 4 0 CALLDATACOPY 4 CALLDATASIZE SUB 0 REVERT'),
)
const SHORTAGE = `e450d38c${A.slice(2).padStart(64, '0')}${'0'.repeat(64)}${'5'.padStart(64, '0')}`

test('calls, estimates and failures are logged with contract and function', async () => {
  await using chain = await startLogged()
  const to = TOKEN
  await chain.ask('hardhat_setCode', to, '0x00')
  chain.lines()
  await chain.ask('eth_call', { to, data: '0x18160ddd' })
  await chain.ask('eth_call', { to, input: '0x791a009b' })
  await chain.ask('eth_call', { transaction: 'no' }).catch(() => undefined)
  await chain.ask('eth_estimateGas', { from: A, to, data: '0xa9059cbb' })
  await chain.ask('eth_estimateGas', { from: A, to })
  await chain.ask('eth_estimateGas', { from: OTHER, data: '0x00' })
  await chain.ask('hardhat_setCode', to, ECHO)
  await chain.ask('eth_call', { to, data: `0x791a009bf988f737` }).catch(() => undefined)
  await chain.ask('eth_call', { to, data: `0xa9059cbb${SHORTAGE}` }).catch(() => undefined)
  await chain.ask('eth_estimateGas', { from: A, to, data: '0xa9059cbb' }).catch(() => undefined)
  await chain.ask('debug_traceCall', { to, data: '0x70a08231' }, 'latest', { tracer: 'noopTracer' })
  expect(chain.lines()).toEqual([
    'eth_call  1.0 ms  0x5FbD…0aa3 totalSupply → 0x',
    'eth_call  1.0 ms  0x5FbD…0aa3 0x791a009b → 0x',
    expect.stringMatching(/^eth_call {2}1.0 ms/),
    'eth_estimateGas  1.0 ms  0x5FbD…0aa3 transfer → 21,160 gas',
    'eth_estimateGas  1.0 ms  0x5FbD…0aa3 → 21,000 gas',
    expect.stringMatching(/^eth_estimateGas {2}1.0 ms {2}new contract → 53,006 gas$/),
    `hardhat_setCode  1.0 ms  code of ${TOKEN} 16 bytes`,
    'eth_call  1.0 ms  0x5FbD…0aa3 0x791a009b ✗ revert custom error 0xf988f737',
    'eth_call  1.0 ms  0x5FbD…0aa3 transfer ✗ revert ERC20InsufficientBalance(0xf39F…2266, 0, 5)',
    'eth_estimateGas  1.0 ms  0x5FbD…0aa3 transfer ✗ revert',
    'debug_traceCall  1.0 ms  0x5FbD…0aa3 balanceOf → 0 fields',
  ])
})

test('transactions are logged with their function, failed ones with their error', async () => {
  await using chain = await startLogged()
  await chain.ask('eth_sendTransaction', { from: A, to: TOKEN, data: '0xa9059cbb' })
  expect(chain.lines()[2]).toBe(`    ${A} → ${TOKEN} transfer`)
  await chain.ask('hardhat_setCode', TOKEN, ECHO)
  await chain.ask('evm_setAutomine', false)
  chain.lines()
  await chain.ask('eth_sendTransaction', { from: A, to: TOKEN, data: `0x791a009b${SHORTAGE}` })
  expect(chain.lines()[0]).toMatch(
    /^eth_sendTransaction {2}1.0 ms {2}0x5FbD…0aa3 0x791a009b → 0x\w{4}…\w{4}$/,
  )
  await chain.ask('evm_mine')
  const [, , , amounts] = chain.lines()
  expect(amounts).toMatch(/failed: revert ERC20InsufficientBalance\(0xf39F…2266, 0, 5\)$/)
})

test('the log of a --compat response has devchain’s own words', async () => {
  await using chain = await startLogged({ compat: 'anvil' })
  await chain.ask('hardhat_setCode', TOKEN, ECHO)
  chain.lines()
  await chain.ask('eth_call', { to: TOKEN, data: `0x791a009b${SHORTAGE}` }).catch(() => undefined)
  expect(chain.lines()).toEqual([
    'eth_call  1.0 ms  0x5FbD…0aa3 0x791a009b ✗ revert ERC20InsufficientBalance(0xf39F…2266, 0, 5)',
  ])
})

test('repeated calls of one function are one line with a counter', async () => {
  await using chain = await startLogged()
  await chain.ask('hardhat_setCode', TOKEN, '0x00')
  chain.lines()
  for (let i = 0; i < 12; i++) await chain.ask('eth_call', { to: TOKEN, data: '0x18160ddd' })
  await chain.ask('eth_call', { to: TOKEN, data: '0x95d89b41' })
  expect(chain.lines()).toEqual([
    'eth_call  1.0 ms  0x5FbD…0aa3 totalSupply → 0x  ×12',
    'eth_call  1.0 ms  0x5FbD…0aa3 symbol → 0x',
  ])
})

test('JSON lines have an id for calls, and full function signatures', async () => {
  await using chain = await startLogged({}, { json: true })
  await chain.ask('eth_blockNumber')
  await chain.ask('eth_sendTransaction', { from: A, to: TOKEN, data: '0xa9059cbb' })
  await chain.ask('eth_call', { to: TOKEN, data: `0x791a009b${'00'.repeat(6_000)}` })
  const lines = chain.lines().map((line) => JSON.parse(line))
  const named = { to: TOKEN, selector: '0xa9059cbb', function: 'transfer(address,uint256)' }
  expect(lines[1]).toMatchObject({ event: 'call', id: 2, ...named, params: [{ from: A }] })
  expect(lines[2]).toMatchObject({
    event: 'transaction',
    call: 2,
    ...named,
    to: TOKEN.toLowerCase(),
  })
  expect(lines[2]).not.toHaveProperty('input')
  expect(lines[3]).toMatchObject({ event: 'block', call: 2 })
  expect(lines[4]).toMatchObject({ id: 3, selector: '0x791a009b', result: '0x', cut: ['params'] })
  expect(lines[4].params).toMatch(/^\[\{"to":"0x5FbD.*0…$/)
  expect(lines[4].params).toHaveLength(10_001)
})

test('JSON lines have mining and waiting transactions as data', async () => {
  await using chain = await startLogged({}, { json: true })
  await chain.ask('evm_setIntervalMining', 60)
  const hash = await chain.ask('eth_sendTransaction', { from: A, to: TOKEN, value: '0x1' })
  const lines = chain.lines().map((line) => JSON.parse(line))
  expect(lines[1]).toMatchObject({
    event: 'mining',
    mining: 'interval',
    intervalMs: 60_000,
    stopped: false,
  })
  expect(lines[3]).toMatchObject({ event: 'waiting', added: 1, hashes: [hash], poolSize: 1 })
})

test('the beginning of a value is that of its JSON, at every limit', () => {
  const value = { a: ['x'.repeat(50), 7, null, true], b: { c: 'é"' } }
  const text = JSON.stringify(value)
  for (let limit = 1; limit < text.length + 20; limit++) {
    expect(beginning(value, limit)).toBe(text.slice(0, limit))
  }
})
