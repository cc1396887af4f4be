// What the log says that a method did: of every method that changes the chain, under the call that did it.
import { once } from 'node:events'
import { describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { CONSOLE_ADDRESS } from '../../../src/core/abi.ts'
import { methods } from '../../../src/methods/index.ts'
import { changesChain } from '../../../src/rpc/method.ts'
import { type LogForm, startLogged } from '../../support/chain/loggedchain.ts'
import { startUpstream } from '../../support/fork/upstream.ts'

const A = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'
const B = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8'
const SENT = { from: A, to: B, value: '0x1' }
const WITH_CODE = `0x${'c0de'.repeat(10)}`
const SHORT_LIVED = `0x${'dead'.repeat(10)}`
const WORD = `0x${'11'.repeat(32)}`

test.each<[reported: string, method: string, ...params: unknown[]]>([
  [`balance of ${A} 5 ether`, 'hardhat_setBalance', A, '0x4563918244f40000'],
  [`balance of ${A}, ${B} 7 wei`, 'anvil_setBalance', [A, B], '0x7'],
  [`balance of ${A}, ${A} and 2 more 7 wei`, 'tenderly_setBalance', [A, A, B, B], '0x7'],
  [`1 ether more for ${A}`, 'anvil_addBalance', A, '0xde0b6b3a7640000'],
  [`code of ${B} 1 byte`, 'hardhat_setCode', B, '0x00'],
  [`nonce of ${A} 1,000`, 'anvil_setNonce', A, '0x3e8'],
  [`storage of ${B} slot 0x0 = 0x7`, 'hardhat_setStorageAt', B, '0x0', `0x${'00'.repeat(31)}07`],
  [`impersonating ${B}`, 'hardhat_impersonateAccount', B],
  [`no longer impersonating ${B}`, 'anvil_stopImpersonatingAccount', B],
  ['impersonating everybody', 'anvil_autoImpersonateAccount', true],
  ['no longer impersonating everybody', 'anvil_autoImpersonateAccount', false],
  [`account ${WORD.slice(0, 42)} without its key`, 'evm_addAccount', WORD.slice(0, 42), 'x'],
  ['0x1111…1111 → false', 'evm_removeAccount', WORD.slice(0, 42), 'x'],
  [`signature counts as of ${A}`, 'anvil_impersonateSignature', `${WORD}${WORD.slice(2)}1b`, A],
  [`balance of ${A} 7 wei`, 'anvil_deal', { account: A, amount: '0x7' }],
  ['blocks 60 s apart', 'anvil_setBlockTimestampInterval', 60],
  ['false', 'anvil_removeBlockTimestampInterval'],
  ['gas limit 30,000,000', 'evm_setBlockGasLimit', '0x1c9c380'],
  [`coinbase ${A}`, 'hardhat_setCoinbase', A],
  [`coinbase ${A}`, 'miner_setEtherbase', A],
  ['next base fee 1 gwei', 'hardhat_setNextBlockBaseFeePerGas', '0x3b9aca00'],
  [`next PREVRANDAO ${WORD}`, 'hardhat_setPrevRandao', WORD],
  ['least gas price 1 wei', 'hardhat_setMinGasPrice', '0x1'],
  ['gas price 1 gwei', 'miner_setGasPrice', '0x3b9aca00'],
  ['extra data 0x6869', 'miner_setExtra', 'hi'],
  ['mining instant', 'miner_start'],
  ['mining stopped', 'miner_stop'],
  ['mining instant', 'evm_startMining'],
  ['mining stopped', 'evm_stopMining'],
  ['next block at 2033-05-18 03:33:20', 'evm_setNextBlockTimestamp', '0x77359400'],
  ['clock +400,000,000 s', 'evm_setTime', '0x77359400'],
  ['clock +60 s', 'evm_increaseTime', 60],
  ['automine off', 'evm_setAutomine', false],
  ['automine on', 'hardhat_setAutomine', true],
  ['mining every 2 s', 'evm_setIntervalMining', 2],
  ['mining instant', 'evm_setIntervalMining', 0],
  ['false', 'hardhat_dropTransaction', WORD],
  ['none of that hash waits', 'anvil_dropTransaction', WORD],
  ['dropped all that waited', 'debug_clearTxpool'],
  [`dropped what waited of ${A}`, 'anvil_removePoolTransactions', A],
  ['chain id 31337', 'anvil_setChainId', '0x7a69'],
  ['log on', 'hardhat_setLoggingEnabled', true],
  ['snapshot 0x1 at block 0', 'evm_snapshot'],
  ['31337', 'eth_chainId'],
  ['1 wei', 'eth_blobGasPrice'],
  ['0 wei', 'eth_baseFee'],
  ['logs, filter 0x1', 'eth_newFilter'],
  [`logs of ${A}, by 1 topic, filter 0x1`, 'eth_newFilter', { address: A, topics: [null, WORD] }],
  ['blocks, filter 0x1', 'eth_newBlockFilter'],
  ['pending transactions, filter 0x1', 'eth_newPendingTransactionFilter'],
  ['false', 'eth_uninstallFilter', '0x1'],
  ['disconnected from all peers, 0 linked now', 'devchain_partition'],
  ['reconnected to all peers, 0 linked now', 'devchain_partition', false],
  ['0 links ended, none made or taken', 'devchain_unlink'],
  ['links made and taken again', 'devchain_link'],
  ['banned 10.0.0.0/8', 'sco_banAddress', '10.0.0.0/8'],
  ['no longer banned 10.0.0.0/8', 'sco_unbanAddress', '10.0.0.0/8'],
  ['false: no such snapshot', 'evm_revert', '0x7'],
  ['reset: still block 0', 'hardhat_reset'],
  ['1 block', 'evm_mine'],
  [`locked ${A}`, 'personal_lockAccount', A],
  [`unlocked ${A} for 60 s`, 'personal_unlockAccount', A, '', 60],
  [`unlocked ${A} for good`, 'personal_unlockAccount', A, '', 0],
])('the log summarizes %s: %s', async (reported, method, ...params) => {
  await using chain = await startLogged({ chainId: 31_337n })
  await chain.ask(method, ...params)
  const shown = reported.replaceAll(
    /0x[0-9a-f]{64}/g,
    (hash) => `${hash.slice(0, 6)}…${hash.slice(-4)}`,
  )
  expect(chain.lines()[0]?.toLowerCase()).toBe(`${method}  1.0 ms  ${shown}`.toLowerCase())
})

test('the log says that a reset began a fork, whose block was not mined here', async () => {
  await using upstream = await startUpstream()
  await upstream.ask('hardhat_mine', '0x5')
  const { url: jsonRpcUrl } = upstream
  await using chain = await startLogged({ fork: { url: jsonRpcUrl, block: 3 }, noForkCache: true })
  await chain.ask('hardhat_reset', { forking: { jsonRpcUrl, blockNumber: 4 } })
  await chain.ask('evm_mine')
  await chain.ask('evm_reset')
  chain.end()
  expect(chain.lines()).toEqual([
    'hardhat_reset  1.0 ms  reset: forked at block 4, clock −12 s',
    'evm_mine  1.0 ms  1 block',
    expect.stringContaining('block 5 '),
    expect.stringContaining('empty'),
    'evm_reset  1.0 ms  reset: block 5 → 4',
    expect.stringContaining('1 block'),
  ])
})

test('the log names a subscription by its kind, and its end by its id', async () => {
  await using chain = await startLogged({ port: 0 })
  const { wsUrl } = await chain.devchain.listen()
  const socket = new WebSocket(wsUrl)
  const answered = (): Promise<{ result: string }> =>
    once(socket, 'message').then(([data]) => JSON.parse(String(data)))
  const ask = async (method: string, ...params: unknown[]): Promise<string> => {
    socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }))
    return (await answered()).result
  }
  await once(socket, 'open')
  const subscriptions = [
    ['newHeads'],
    ['logs', { address: [A, B], topics: [WORD, [WORD, WORD]] }],
    ['newPendingTransactions', true],
    ['transactionReceipts', { transactionHashes: [WORD] }],
    ['transactionReceipts'],
  ] as const
  let last = ''
  for (const wanted of subscriptions) last = await ask('eth_subscribe', ...wanted)
  await ask('eth_unsubscribe', last)
  socket.close()
  expect(chain.lines().map((line) => line.replaceAll(/0x[0-9a-f]{4}…[0-9a-f]{4}$/g, 'ID'))).toEqual(
    [
      'eth_subscribe  1.0 ms  newHeads, id ID',
      'eth_subscribe  1.0 ms  logs of 0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266, 0x70997970C51812dc3A010C7d01b50e0d17dc79C8, by 2 topics, id ID',
      'eth_subscribe  1.0 ms  newPendingTransactions with bodies, id ID',
      'eth_subscribe  1.0 ms  receipts of 1 transaction, id ID',
      'eth_subscribe  1.0 ms  transactionReceipts, id ID',
      'eth_unsubscribe  1.0 ms  ended ID',
    ],
  )
})

test('the log names the account of a read', async () => {
  await using chain = await startLogged()
  await chain.ask('eth_getBalance', A, 'latest')
  await chain.ask('eth_getCode', B, 'latest')
  await chain.ask('eth_getTransactionCount', B, '0x9').catch(() => undefined)
  expect(chain.lines()).toEqual([
    'eth_getBalance  1.0 ms  0xf39F…2266 → 10,000 ether',
    'eth_getCode  1.0 ms  0x7099…79C8 → 0x',
    expect.stringMatching(/^eth_getTransactionCount {2}1\.0 ms {2}0x7099…79C8 ✗ /),
  ])
})

test.each([undefined, 'geth', 'anvil', 'hardhat'] as const)(
  'the log shows amounts in ether for a sender without funds (--compat %s)',
  async (compat) => {
    await using chain = await startLogged(compat === undefined ? {} : { compat })
    await chain.ask('hardhat_setBalance', A, '0x0')
    chain.lines()
    const costs = { value: '0x1bc16d674ec80000', gas: '0x5208', gasPrice: '0x77359400' }
    await chain.ask('eth_sendTransaction', { ...SENT, ...costs }).catch(() => undefined)
    expect(chain.lines()).toEqual([
      expect.stringMatching(
        /✗ insufficient funds: 0xf39f…2266 has 0 ether, needs 2\.000042 ether$/,
      ),
    ])
  },
)

test('the log describes every change of the chain by more than null or true', async () => {
  const silent: string[] = []
  for (const { name, effects, example } of methods) {
    if (!changesChain({ effects }) || effects === 'transaction') continue
    await using chain = await startLogged({ baseFee: 1_000_000_000n })
    await chain.ask('evm_mine').catch(() => undefined)
    chain.lines()
    const answer = await chain.ask(name, ...example.params).catch(() => 'refused')
    const [line = ''] = chain.lines()
    if (answer !== 'refused' && / (null|true)$/.test(line)) silent.push(line)
  }
  expect(silent).toEqual([])
})

test('the log names a dropped snapshot', async () => {
  await using chain = await startLogged()
  await chain.ask('devchain_snapshot', 'deployed')
  await chain.ask('evm_snapshot')
  chain.lines()
  await chain.ask('devchain_dropSnapshot', 'deployed')
  await chain.ask('devchain_dropSnapshot', '0x2')
  expect(chain.lines()).toEqual([
    'devchain_dropSnapshot  1.0 ms  dropped snapshot deployed',
    'devchain_dropSnapshot  1.0 ms  dropped snapshot 0x2',
  ])
})

test('the log shows below a method what it changed, under any name', async () => {
  await using chain = await startLogged()
  for (let i = 0; i < 3; i++) await chain.ask('eth_sendTransaction', SENT)
  chain.lines()
  await chain.ask('debug_setHead', '0x1')
  expect(chain.lines()).toEqual([
    'debug_setHead  1.0 ms  reorganization: block 3 → 1, 2 transactions dropped',
  ])
  await chain.ask('evm_setAutomine', false)
  const request = { ...SENT, gasPrice: '0x1', gas: '0x5208' }
  await chain.ask('eth_sendTransaction', { ...request, nonce: '0x1' })
  chain.lines()
  await chain.ask('eth_resend', { ...request, nonce: '0x1' }, '0x2')
  const [resent, waiting] = chain.lines()
  expect(resent).toMatch(/^eth_resend/)
  expect(waiting).toBeUndefined()
})

test('the log of a reorg shows what waits again and what is gone', async () => {
  await using chain = await startLogged()
  for (let i = 0; i < 3; i++) await chain.ask('eth_sendTransaction', SENT)
  chain.lines()
  await chain.ask('devchain_reorg', { depth: '0x2' })
  expect(chain.lines()).toEqual([
    'devchain_reorg  1.0 ms  reorganization: 2 blocks replaced, 2 transactions back in the pool',
    expect.stringMatching(/^ {2}blocks 2 to 3 0x/),
    expect.stringMatching(/^ {4}empty/),
  ])
})

describe('the log of a transaction behind a nonce gap', () => {
  test('shows its nonce and that of its account', async () => {
    await using chain = await startLogged()
    await chain.ask('eth_sendTransaction', SENT)
    chain.lines()
    await chain.ask('eth_sendTransaction', { ...SENT, nonce: '0x9' })
    expect(chain.lines()[1]).toBe(
      '  1 transaction waiting, 1 in the pool: nonce 9, account is at 1',
    )
    await chain.ask('evm_setAutomine', false)
    await chain.ask('eth_sendTransaction', SENT)
    chain.lines()
    await chain.ask('eth_sendTransaction', { ...SENT, nonce: '0x5' })
    expect(chain.lines()[1]).toBe(
      '  1 transaction waiting, 3 in the pool: nonce 5, account is at 2',
    )
    await chain.ask('eth_sendTransaction', SENT)
    expect(chain.lines()[1]).toBe('  1 transaction waiting, 4 in the pool')
  })

  test('has both nonces in JSON', async () => {
    await using chain = await startLogged({}, { json: true })
    await chain.ask('eth_sendTransaction', { ...SENT, nonce: '0x9' })
    expect(JSON.parse(chain.lines()[1]!)).toMatchObject({
      event: 'waiting',
      nonce: 9,
      nextNonce: 0,
    })
  })
})

describe('the log of calldata for an address without code', () => {
  const DATA = '0xa9059cbb'
  const note = `no code at ${B}: nothing was called`

  test('has a note below a transaction and a call', async () => {
    await using chain = await startLogged()
    await chain.ask('eth_sendTransaction', { from: A, to: B, data: DATA })
    const [, , , , remark] = chain.lines()
    expect(remark?.toLowerCase()).toBe(`    note ${note}`)
    await chain.ask('eth_call', { to: B, data: DATA })
    expect(chain.lines().map((line) => line.toLowerCase())).toEqual([
      'eth_call  1.0 ms  0x7099…79c8 transfer → 0x',
      `    note ${note}`,
    ])
  })

  test('has a note in JSON', async () => {
    await using chain = await startLogged({}, { json: true })
    await chain.ask('eth_sendTransaction', { from: A, to: B, data: DATA })
    await chain.ask('eth_call', { to: B, data: DATA })
    const lines = chain.lines().map((line) => JSON.parse(line))
    expect(lines.filter(({ notes }) => notes !== undefined)).toEqual([
      expect.objectContaining({ event: 'transaction', notes: [note] }),
      expect.objectContaining({ event: 'call', method: 'eth_call', notes: [note] }),
    ])
  })

  test.each<[what: string, request: object]>([
    ['a transfer without calldata', { to: B }],
    ['a contract that does nothing', { to: WITH_CODE, data: DATA }],
    ['a contract that destroys itself', { to: SHORT_LIVED, data: DATA }],
    ['a precompile', { to: `0x${'0'.repeat(39)}2`, data: DATA }],
    ['console.log', { to: CONSOLE_ADDRESS, data: DATA }],
    ['a creation', { data: '0x00' }],
  ])('has no note if %s was meant', async (_what, request) => {
    await using chain = await startLogged({ hardfork: 'shanghai' })
    await chain.ask('hardhat_setCode', WITH_CODE, '0x00')
    await chain.ask('hardhat_setCode', SHORT_LIVED, '0x33ff')
    chain.lines()
    await chain.ask('eth_call', { from: A, ...request })
    await chain.ask('eth_sendTransaction', { from: A, ...request })
    expect(chain.lines().filter((line) => /note/.test(line))).toEqual([])
  })
})

describe('--log-only and --log-except', () => {
  const say = async (form: LogForm): Promise<string[]> => {
    await using chain = await startLogged({}, form)
    await chain.ask('eth_chainId')
    await chain.ask('eth_getBalance', A, 'latest')
    await chain.ask('eth_sendTransaction', SENT)
    await chain.ask('eth_getCode', A, 'latest')
    await chain.ask('evm_mine')
    await chain.ask('eth_getCode', 'x').catch(() => undefined)
    return chain.lines().map((line) => line.split('  ')[0] || line.trim().split(' ')[0]!)
  }
  const sent = [
    'eth_sendTransaction',
    'transaction',
    expect.stringMatching(/^0x/),
    'value',
    'block',
    '1',
  ]

  test.each<[string, LogForm, unknown[]]>([
    ['one method', { only: ['eth_chainId'] }, ['eth_chainId']],
    [
      'methods by patterns',
      { only: ['eth_get*', '*_chainId'] },
      ['eth_chainId', 'eth_getBalance', 'eth_getCode', 'eth_getCode'],
    ],
    ['all but some', { except: ['eth_get*', 'evm_*'] }, ['eth_chainId', ...sent]],
    ['some of others', { only: ['eth_*'], except: ['eth_get*', 'eth_send*'] }, ['eth_chainId']],
    ['none of that name', { only: ['eth_get'] }, []],
  ])('log %s, with their changes', async (_what, form, names) => {
    expect(await say(form)).toEqual(names)
  })

  test('affect JSON, and not the counts at the end', async () => {
    await using chain = await startLogged({}, { json: true, only: ['evm_*'] })
    await chain.ask('eth_sendTransaction', SENT)
    await chain.ask('evm_mine')
    chain.end()
    expect(chain.lines().map((line) => JSON.parse(line))).toMatchObject([
      { event: 'call', method: 'evm_mine' },
      { event: 'block', number: 2 },
      { event: 'end', calls: 2, transactions: 1, blocks: 2 },
    ])
  })

  test('keep hints', async () => {
    await using chain = await startLogged({}, { hasHints: true, except: ['*'] })
    await chain.ask('eth_call', { data: '0xfe' }).catch(() => undefined)
    expect(chain.lines()).toEqual([expect.stringMatching(/^hint viem and ethers 5/)])
  })
})
