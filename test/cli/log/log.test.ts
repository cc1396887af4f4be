// What the log says, from events made by hand: its lines, its repetitions, its JSON.
import { stripVTControlCharacters } from 'node:util'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { ObservedCall } from '../../../src/app/observer.ts'
import { type ChainEvent, changeEvents } from '../../../src/cli/log/events.ts'
import type { Renderer } from '../../../src/cli/log/folding.ts'
import { createJsonRenderer } from '../../../src/cli/log/json.ts'
import { Logger } from '../../../src/cli/log/logger.ts'
import { outcomeOf } from '../../../src/cli/log/outcome.ts'
import { loadPalette, PLAIN, wantsColor } from '../../../src/cli/log/palette.ts'
import { createPrettyRenderer } from '../../../src/cli/log/pretty.ts'
import { type Address, type Hash, hexFromBytes } from '../../../src/core/hex.ts'
import { createDevchain } from '../../../src/devchain.ts'
import { methods } from '../../../src/methods/index.ts'
import type { StateChange } from '../../../src/node/ledger/change.ts'
import type { Json } from '../../../src/rpc/schema.ts'
import { sidecarOf } from '../../support/evm/blobs.ts'

const FROM = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266' as Address
const TOKEN = '0x5fbdb2315678afecb367f032d93f642f64180aa3' as Address
const HASH = `0x48cf${'00'.repeat(28)}b142` as Hash

function call(method: string, fields: Partial<ObservedCall> = {}): ObservedCall {
  return {
    console: [],
    notes: [],
    method,
    params: [],
    durationMs: 0.42,
    result: undefined,
    error: undefined,
    meaning: methods.find(({ name }) => name === method)?.result,
    ...fields,
  }
}

const transfer: ChainEvent = {
  event: 'transaction',
  hash: HASH,
  from: FROM,
  to: TOKEN,
  created: null,
  input: '0x',
  value: 15n * 10n ** 17n,
  gasUsed: 23_642n,
  gasLimit: 90_000n,
  fee: 0n,
  block: 6n,
  failure: undefined,
  console: ['hello 7', 'two\nlines'],
}

const creation: ChainEvent = {
  ...transfer,
  to: null,
  created: TOKEN,
  value: 0n,
  fee: 47_284_000_000_000n,
  failure: { kind: 'revert', reason: 'revert too small', data: '0x' },
  console: [],
}

const block: ChainEvent = {
  event: 'block',
  first: 6n,
  number: 6n,
  hash: HASH,
  transactions: 1,
  gasUsed: 23_642n,
  gasLimit: 30_000_000n,
  baseFee: 0n,
  timestamp: 1_795_225_511n,
}

const pretty = createPrettyRenderer(PLAIN, false)
const print = (event: ObservedCall | undefined, ...events: ChainEvent[]): string =>
  pretty.entry({ call: event, count: 1, events })

test('console lines of a call are below its line, and are not counted as repetitions', () => {
  const written: string[] = []
  const writer = { write: (text: string) => void written.push(text) }
  const log = new Logger({ renderer: createPrettyRenderer(PLAIN, false), writer })
  for (let i = 0; i < 2; i++)
    log.onCall(call('eth_call', { result: '0x', console: ['hello 1', 'two\nlines'] }))
  log.finish()
  const [one] = written
  expect(one?.split('\n').slice(1)).toEqual([
    '    console.log hello 1',
    '    console.log two',
    '                lines',
    '',
  ])
  expect(written).toEqual([one, one])
  const json = createJsonRenderer(() => 0, false).entry({
    call: call('eth_call', { result: '0x', console: ['hello 1'] }),
    count: 1,
    events: [],
  })
  expect(JSON.parse(json)).toMatchObject({ event: 'call', console: ['hello 1'] })
})

describe('a note on a call', () => {
  const note = 'transaction: the member "gasprice" is ignored; did you mean gasPrice?'
  const sent = call('eth_call', { result: '0x', notes: [note], console: ['hello 1'] })

  test('is below its line, before console lines', () => {
    expect(print(sent).split('\n').slice(1)).toEqual([
      `    note ${note}`,
      '    console.log hello 1',
      '',
    ])
  })

  test('repeats with a repeated call, and is part of its text with the counter', () => {
    const written: string[] = []
    const log = new Logger({
      renderer: pretty,
      writer: { write: (text) => void written.push(text) },
    })
    for (let i = 0; i < 3; i++) log.onCall(call('eth_call', { result: '0x', notes: [note] }))
    log.finish()
    expect(written.map((text) => text.split('\n').slice(1))).toEqual([[`    note ${note}`, '']])
    expect(written[0]).toContain('×3')
  })

  test('is a member of the JSON line', () => {
    const json = createJsonRenderer(() => 0, false)
    const line = (event: ObservedCall): unknown =>
      JSON.parse(json.entry({ call: event, count: 1, events: [] }))
    expect(line(sent)).toMatchObject({ event: 'call', notes: [note] })
    expect(line(call('eth_call', { result: '0x' }))).not.toHaveProperty('notes')
  })
})

describe('the text log', () => {
  test('has a call, its transaction with console lines, and the block', () => {
    const sent = call('eth_sendTransaction', { result: HASH, durationMs: 3.14 })
    expect(print(sent, transfer, block)).toMatchInlineSnapshot(`
      "eth_sendTransaction             3.1 ms  0x48cf…b142
        transaction 0x48cf00000000000000000000000000000000000000000000000000000000b142
          0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266 → 0x5FbDB2315678afecb367f032d93F642f64180aa3
          value 1.5 ether · gas 23,642 of 90,000 (26 %) · fee 0 ether · success
          console.log hello 7
          console.log two
                      lines
        block 6 0x48cf00000000000000000000000000000000000000000000000000000000b142
          1 transaction · gas 23,642 of 30,000,000 (<1 %) · base fee 0 wei · 2026-11-21 01:45:11
      "
    `)
  })

  test('shows execution and state gas of a transaction and its block under amsterdam', () => {
    const gas = { gasUsed: 204_600n, executionGasUsed: 21_000n, stateGasUsed: 183_600n }
    const sent = call('eth_sendTransaction', { result: HASH })
    const text = print(sent, { ...transfer, ...gas, gasLimit: 300_000n }, { ...block, ...gas })
    expect(text).toContain(
      'gas 204,600 of 300,000 (68 %), execution 21,000, state 183,600 · fee 0 ether',
    )
    expect(text).toContain('gas 204,600 of 30,000,000 (<1 %), execution 21,000, state 183,600')
    // nothing to see where no state grew
    expect(print(sent, { ...transfer, executionGasUsed: 23_642n, stateGasUsed: 0n })).toBe(
      print(sent, transfer),
    )
    const json = createJsonRenderer(() => 0, false)
    const lines = json.entry({ call: undefined, count: 1, events: [{ ...transfer, ...gas }] })
    expect(JSON.parse(lines)).toMatchObject({ executionGasUsed: '21000', stateGasUsed: '183600' })
    const receipt = {
      status: '0x1',
      blockNumber: '0x1',
      cumulativeGasUsed: '0x0',
      gasUsed: '0x31f38',
    }
    expect(
      print(call('eth_getTransactionReceipt', { result: { ...receipt, stateGasUsed: '0x2cd30' } })),
    ).toContain('success, block 1, gas 204,600, state 183,600')
  })

  test('says why a creation failed', () => {
    expect(print(call('eth_sendTransaction', { result: HASH }), creation)).toMatchInlineSnapshot(`
      "eth_sendTransaction             0.4 ms  0x48cf…b142
        transaction 0x48cf00000000000000000000000000000000000000000000000000000000b142
          0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266 → new contract 0x5FbDB2315678afecb367f032d93F642f64180aa3
          value 0 ether · gas 23,642 of 90,000 (26 %) · fee 47,284 gwei · failed: revert too small
      "
    `)
  })

  test.each([
    [38_427_164_507_880n, '38,427.16 gwei'],
    [123_456_789_012_345_678n, '0.1234568 ether'],
    [1_000_000_007n, '1 gwei'],
    [1_000_007n, '0.001000007 gwei'],
    [999_999_950_000_000n, '0.001 ether'],
    [0n, '0 ether'],
  ])('shows a fee of %i wei in seven digits', (fee, text) => {
    const sent = print(undefined, { ...creation, fee })
    expect(sent).toContain(` · fee ${text} · `)
  })

  test('shows the number of blobs of a transaction, and their fee', async () => {
    const changes: StateChange[] = []
    const onChange = (change: StateChange): void => void changes.push(change)
    await using devchain = await createDevchain({}, { observer: { onChange } })
    const { blobs, commitments, proofs } = sidecarOf(0, [1, 2])
    const parts = { blobs, commitments, proofs }
    const hex = Object.entries(parts).map(([name, list]) => [name, list.map(hexFromBytes)])
    const request = { from: FROM, to: FROM, ...Object.fromEntries(hex) }
    await devchain.request({ method: 'eth_sendTransaction', params: [request] })
    const [sent] = changeEvents(changes[0]!, undefined)
    expect(print(undefined, sent!)).toContain(' (23 %) · 2 blobs · fee 262,144 wei · success')
  })

  test('has the reason of a failed call on its own line', () => {
    const message = 'VM Exception while processing transaction: revert too small'
    const failure = { reason: 'revert too small', data: '0x', hash: undefined }
    const failed = call('eth_call', { error: { code: -32015, message }, failure, durationMs: 12.3 })
    expect(print(failed)).toMatchInlineSnapshot(`
      "eth_call                         12 ms  ✗ revert too small
      "
    `)
  })

  test('describes snapshots, reverts and time jumps', () => {
    const snapshot: ChainEvent = { event: 'snapshot', id: '0x3', name: undefined, block: 4n }
    const jump: ChainEvent = { event: 'clock', clockSeconds: 86_400n, offsetSeconds: 90_000n }
    const back: ChainEvent = {
      event: 'revert',
      id: '0x3',
      fromBlock: 12n,
      toBlock: 4n,
      clockSeconds: -86_400n,
    }
    const reset: ChainEvent = {
      ...back,
      event: 'reset',
      id: undefined,
      toBlock: 0n,
      clockSeconds: 0n,
    }
    const text = [
      print(call('evm_snapshot', { result: '0x3' }), snapshot),
      print(call('evm_increaseTime', { result: '0x15f90' }), jump),
      print(call('evm_revert', { params: ['0x3'], result: true }), back),
      print(call('evm_reset', { result: null }), reset),
      print(undefined, { ...reset, event: 'reorganization', fromBlock: 5n, toBlock: 6n }),
    ].join('')
    expect(text).toMatchInlineSnapshot(`
      "evm_snapshot                    0.4 ms  snapshot 0x3 at block 4
      evm_increaseTime                0.4 ms  clock +86,400 s (+90,000 s in total)
      evm_revert                      0.4 ms  revert to 0x3: block 12 → 4, clock −86,400 s
      evm_reset                       0.4 ms  reset: block 12 → 0
      reorganization: block 5 → 6
      "
    `)
    expect(text).toContain('revert to 0x3: block 12 → 4, clock −86,400 s')
  })

  test('names a snapshot, also when reverted to', async () => {
    const changes: StateChange[] = []
    const onChange = (change: StateChange): void => void changes.push(change)
    await using devchain = await createDevchain({}, { observer: { onChange } })
    const ask = (method: string, ...params: unknown[]): Promise<unknown> =>
      devchain.request({ method, params })
    await ask('devchain_snapshot', { name: 'deployed' })
    await ask('evm_mine')
    const result = (await ask('devchain_revert', 'deployed')) as ObservedCall['result']
    const params = ['deployed']
    const [snapshot] = changeEvents(changes[0]!, undefined)
    const [back] = changeEvents(changes[2]!, call('devchain_revert', { params, result }))
    const text = [
      print(call('devchain_snapshot', {}), snapshot!),
      print(call('devchain_revert', { params, result }), back!),
    ].join('')
    expect(text).toMatch(/snapshot deployed \(0x1\) at block 0\n.*revert to deployed: block 1 → 0/)
  })

  test('sums up a clock that was increased and then set, in both directions', async () => {
    const changes: StateChange[] = []
    const onChange = (change: StateChange): void => void changes.push(change)
    const timestamp = 1_000_000
    await using devchain = await createDevchain(
      { clock: 'frozen', timestamp },
      { observer: { onChange } },
    )
    const ask = (method: string, ...params: unknown[]): Promise<unknown> =>
      devchain.request({ method, params })
    await ask('evm_snapshot')
    await ask('evm_increaseTime', 86_400)
    await ask('evm_setTime', timestamp + 100_000)
    await ask('evm_increaseTime', 5)
    await ask('evm_revert', '0x1')
    const revert = call('evm_revert', { params: ['0x1'], result: true })
    const lines = changes.map((change, index) => {
      const cause = index === 4 ? revert : undefined
      return changeEvents(change, cause)
        .map((event) => print(cause, event))
        .join('')
    })
    expect(lines.slice(1).join('')).toMatchInlineSnapshot(`
      "clock +86,400 s
      clock +13,600 s (+100,000 s in total)
      clock +5 s (+86,405 s in total)
      evm_revert                      0.4 ms  revert to 0x1: clock −100,005 s
      "
    `)
  })

  test('summarizes lists and objects of some methods', () => {
    const lines = [
      call('devchain_snapshots', { result: [{ id: '0x1' }] }),
      call('txpool_status', { result: { pending: '0x2', queued: '0x0' } }),
      call('eth_simulateV1', { result: [{}, {}] }),
      call('eth_callMany', { result: [[{ value: '0x' }, { error: 'execution reverted' }]] }),
      call('eth_callBundle', { result: { results: [{}, { error: 'x' }], totalGasUsed: 42_000 } }),
      call('eth_getBlockByNumber', {
        result: { number: null, hash: null, gasLimit: '0x1', parentHash: '0x2', transactions: [] },
      }),
    ]
    expect(lines.map((each) => print(each)).join('')).toMatchInlineSnapshot(`
      "devchain_snapshots              0.4 ms  1 snapshot
      txpool_status                   0.4 ms  2 pending, 0 queued
      eth_simulateV1                  0.4 ms  2 blocks
      eth_callMany                    0.4 ms  2 calls, 1 failed
      eth_callBundle                  0.4 ms  2 transactions, 1 failed, gas 42,000
      eth_getBlockByNumber            0.4 ms  pending block, 0 transactions
      "
    `)
  })

  test('counts the blocks that a call mined', () => {
    const mined = print(call('evm_mine', { result: '0x0' }), {
      ...block,
      transactions: 0,
      number: 10n,
    })
    expect(mined).toMatch(/^evm_mine .* 5 blocks\n {2}blocks 6 to 10 0x48cf/)
  })

  test('has automatic blocks at the margin, one and many', () => {
    const empty: ChainEvent = { ...block, transactions: 0, gasUsed: 0n, baseFee: undefined }
    const text = print(undefined, empty) + print(undefined, { ...empty, number: 1_005n })
    expect(text).toMatchInlineSnapshot(`
      "block 6 0x48cf00000000000000000000000000000000000000000000000000000000b142
        empty · 2026-11-21 01:45:11
      blocks 6 to 1,005 0x48cf00000000000000000000000000000000000000000000000000000000b142
        empty · 2026-11-21 01:45:11
      "
    `)
  })

  test('shows waiting and dropped transactions, and changes of mining', () => {
    const dropped: ChainEvent = {
      event: 'dropped',
      hash: HASH,
      from: FROM,
      nonce: 4n,
      reason: 'insufficient funds',
    }
    const waiting: ChainEvent = {
      event: 'waiting',
      added: { count: 1, hashes: [HASH] },
      poolSize: 3,
    }
    const mining: ChainEvent = {
      event: 'mining',
      mining: { mode: { kind: 'interval', intervalMs: 2000 }, stopped: false },
    }
    const text =
      print(call('eth_sendTransaction', { result: HASH }), waiting) +
      print(call('evm_setIntervalMining', { result: true }), mining) +
      print(undefined, dropped)
    expect(text).toMatchInlineSnapshot(`
      "eth_sendTransaction             0.4 ms  0x48cf…b142
        1 transaction waiting, 3 in the pool
      evm_setIntervalMining           0.4 ms  mining every 2 s
      dropped 0x48cf…b142 of 0xf39f…2266, nonce 4: insufficient funds
      "
    `)
  })

  test('has parameters and results with --verbose, cut at 2,000 characters', () => {
    const renderer = createPrettyRenderer(PLAIN, true)
    const event = call('eth_call', {
      params: [{ data: `0x${'ab'.repeat(5_000)}` }],
      result: '0x01',
    })
    const lines = renderer.entry({ call: event, count: 1, events: [] }).split('\n')
    expect(lines[1]).toMatch(/^ {4}params {2}\[\{"data":"0xabab/)
    expect(lines[1]!.length).toBeLessThan(2_020)
    expect(lines[2]).toBe('    result  "0x01"')
  })

  test('removes control characters that callers and contracts write', () => {
    const evil = '\u001b[2J\u0007boo'
    const text = print(call(evil, { error: { code: -32601, message: `no method ${evil}\nfoo` } }), {
      ...transfer,
      console: [evil],
    })
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/)
    expect(text.split('\n')[0]).toMatch(/boo foo$/)
  })

  test('has the same text with colors', async () => {
    const colored = createPrettyRenderer(await loadPalette(true), false)
    const entry = { call: call('eth_x', { result: '0x1' }), count: 3, events: [transfer, block] }
    const text = colored.entry(entry)
    expect(text).toContain('\u001b[')
    expect(stripVTControlCharacters(text)).toBe(pretty.entry(entry))
  })
})

test.each<[method: string, result: Json, outcome: string]>([
  ['eth_getBalance', '0x21e19e0c9bab2400000', '10,000 ether'],
  ['eth_getBalance', '0x0', '0 ether'],
  ['eth_getBalance', '0x21e19e0bdb98b3d2aec', '9,999.999986800911002348 ether'],
  ['eth_gasPrice', '0xe15a8e43d2b6', '247,779.050115766 gwei'],
  ['eth_getBalance', '0x7', '7 wei'],
  ['eth_gasPrice', '0x77359400', '2 gwei'],
  ['eth_blockNumber', '0x1b207', '111,111'],
  ['eth_call', `0x${'00'.repeat(31)}2a`, '→ 0x…2a'],
  ['eth_call', `0x${'00'.repeat(32)}`, '→ 0x…0'],
  ['eth_call', '0x', '→ 0x'],
  ['eth_call', '0x1', '→ 0x1'],
  ['eth_getCode', `0x60${'80'.repeat(1_239)}`, '0x6080…8080 (1,240 bytes)'],
  ['eth_sendTransaction', HASH, '0x48cf…b142'],
  ['eth_coinbase', FROM, '0xf39f…2266'],
  ['eth_accounts', [FROM, TOKEN], '2 accounts'],
  ['eth_getLogs', [], '0 logs'],
  ['eth_getFilterChanges', [HASH], '1 change'],
  ['evm_revert', false, 'false: no such snapshot'],
  ['eth_mining', true, 'true'],
  ['eth_getTransactionReceipt', null, 'null'],
  [
    'eth_getTransactionReceipt',
    { cumulativeGasUsed: '0x1', status: '0x0', gasUsed: '0x5208', blockNumber: '0x2' },
    'failed, block 2, gas 21,000',
  ],
  [
    'eth_getBlockByNumber',
    { gasLimit: '0x1', parentHash: HASH, number: '0x5', hash: HASH, transactions: [HASH] },
    'block 5 0x48cf…b142, 1 transaction',
  ],
  [
    'eth_getTransactionByHash',
    { nonce: '0x5', input: '0x', blockNumber: null },
    'nonce 5, pending',
  ],
  [
    'eth_fillTransaction',
    { raw: '0x02', tx: { nonce: '0x5', gas: '0x5208' } },
    'nonce 5, gas 21,000',
  ],
  // as Hardhat has it
  [
    'eth_getBlockByNumber',
    { number: null, hash: HASH, gasLimit: '0x1', parentHash: '0x2', transactions: [] },
    'pending block, 0 transactions',
  ],
  ['eth_feeHistory', { oldestBlock: '0x3', gasUsedRatio: [0, 0.5] }, '2 blocks from block 3 on'],
  ['web3_clientVersion', 'devchain/1', 'devchain/1'],
  ['rpc_modules', { eth: '1.0', net: '1.0' }, '2 fields'],
  ['devchain_snapshots', [{}], '1 snapshot'],
])('the summary of %s is short (%j)', (method, result, outcome) => {
  expect(outcomeOf(call(method, { result }))).toBe(outcome)
})

describe('a repeated call', () => {
  beforeEach(() => {
    vi.useFakeTimers()
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  function record(renderer: Renderer, columns?: number): { log: Logger; text: () => string } {
    let written = ''
    const screen = columns === undefined ? undefined : () => ({ columns, rows: 24 })
    const log = new Logger({ renderer, writer: { write: (text) => (written += text) }, screen })
    return { log, text: () => written }
  }
  const balance = (account: string): ObservedCall =>
    call('eth_getBalance', { params: [account, 'latest'], result: '0x0' })

  test('in a file is one line with a counter, once something else comes', () => {
    const { log, text } = record(pretty)
    for (let i = 0; i < 12; i++) log.onCall(balance(FROM))
    log.onCall(balance(TOKEN))
    expect(text()).toBe('')
    log.onCall(call('evm_setAutomine', { description: 'automine off', effects: 'chain' }))
    expect(text()).toMatch(/^eth_getBalance .*→ 0 ether {2}×12\neth_getBalance .*→ 0 ether\n$/)
    log.finish()
    expect(text().split('\n')).toHaveLength(4)
  })

  test('in a file is written soon if it was a single one, without a counter', () => {
    const { log, text } = record(pretty)
    log.onCall(balance(FROM))
    vi.advanceTimersByTime(300)
    expect(text()).toMatch(/0 ether\n$/)
    log.finish()
    expect(text().split('\n')).toHaveLength(2)
  })

  test('without end writes ever fewer lines, and every call is counted once', () => {
    const { log, text } = record(pretty)
    for (let second = 0; second < 120; second++) {
      for (let i = 0; i < 10; i++) log.onCall(balance(FROM))
      vi.advanceTimersByTime(1_000)
    }
    log.finish()
    const lines = text().trimEnd().split('\n')
    expect(lines.length).toBeLessThan(15)
    const counts = lines.map((line) => Number(/×([\d,]+)$/.exec(line)?.[1]?.replace(',', '') ?? 1))
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(1_200)
  })

  test('on a terminal is drawn at once, and redrawn with its counter', () => {
    const { log, text } = record(pretty, 24)
    log.onCall(balance(FROM))
    expect(text()).toMatch(/→ 0\n {4}ether\n$/)
    log.onCall(balance(FROM))
    log.onCall(balance(FROM))
    vi.advanceTimersByTime(60)
    // with their indentation they take three rows of 24
    expect(text().split('\u001b[3A\r\u001b[0J')).toEqual([
      'eth_getBalance  0.4 ms\n    0xf39F…2266 → 0\n    ether\n',
      'eth_getBalance  0.4 ms\n    0xf39F…2266 → 0\n    ether  ×3\n',
    ])
  })

  test('with another failure has its own line', () => {
    const { log, text } = record(pretty)
    log.onCall(balance(FROM))
    log.onCall(
      call('eth_getBalance', { params: [FROM, 'latest'], error: { code: 1, message: 'no' } }),
    )
    log.finish()
    expect(text().trimEnd().split('\n')).toHaveLength(2)
  })

  test('in JSON has an object for each call', () => {
    const { log, text } = record(createJsonRenderer(() => 0, false))
    log.onCall(balance(FROM))
    log.onCall(balance(FROM))
    expect(
      text()
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line).method),
    ).toEqual(['eth_getBalance', 'eth_getBalance'])
  })
})

describe('the JSON log', () => {
  const json = createJsonRenderer(() => Date.UTC(2026, 0, 1), false)
  const objects = (text: string): unknown[] =>
    text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))

  test('has an object for a call, its transaction and its block, with the same events', () => {
    const sent = call('eth_sendTransaction', { result: HASH })
    expect(objects(json.entry({ call: sent, count: 1, events: [transfer, block] }))).toEqual([
      {
        time: '2026-01-01T00:00:00.000Z',
        event: 'call',
        method: 'eth_sendTransaction',
        durationMs: 0.42,
        ok: true,
        params: [],
        result: HASH,
        outcome: '0x48cf…b142',
      },
      expect.objectContaining({
        event: 'transaction',
        hash: HASH,
        value: '1500000000000000000',
        gasUsed: '23642',
        block: 6,
        console: ['hello 7', 'two\nlines'],
        ok: true,
      }),
      expect.objectContaining({ event: 'block', number: 6, timestamp: 1_795_225_511 }),
    ])
  })

  test('says that a transaction failed, and why', () => {
    const failed: ChainEvent = {
      ...transfer,
      failure: { kind: 'revert', reason: 'revert too small', data: '0x' },
    }
    expect(objects(json.entry({ call: undefined, count: 1, events: [failed] }))).toEqual([
      expect.objectContaining({
        ok: false,
        failure: { kind: 'revert', reason: 'revert too small', data: '0x' },
      }),
    ])
  })

  test('has the error of a failed call', () => {
    const failed = call('eth_call', { error: { code: -32015, message: 'revert', data: '0x08' } })
    expect(objects(json.entry({ call: failed, count: 1, events: [] }))).toEqual([
      expect.objectContaining({
        ok: false,
        error: { code: -32015, message: 'revert', data: '0x08' },
      }),
    ])
  })

  test('has parameters and results, false and null included', () => {
    const of = (result: Json): unknown =>
      objects(json.entry({ call: call('m', { params: [1], result }), count: 1, events: [] }))[0]
    expect(of(false)).toMatchObject({ params: [1], result: false })
    expect(of(null)).toMatchObject({ result: null })
    expect(of('')).toMatchObject({ result: '' })
  })
})

test.each([
  [{ isTerminal: true, noColor: false, environment: {} }, true],
  [{ isTerminal: false, noColor: false, environment: {} }, false],
  [{ isTerminal: true, noColor: true, environment: {} }, false],
  [{ isTerminal: true, noColor: false, environment: { NO_COLOR: '1' } }, false],
  [{ isTerminal: true, noColor: false, environment: { NO_COLOR: '' } }, true],
  [{ isTerminal: true, noColor: false, environment: { TERM: 'dumb' } }, false],
  [{ isTerminal: false, noColor: false, environment: { FORCE_COLOR: '1' } }, true],
  [{ isTerminal: true, noColor: false, environment: { FORCE_COLOR: '0' } }, false],
  [{ isTerminal: true, noColor: true, environment: { FORCE_COLOR: '1' } }, false],
])('%j on a terminal means colors: %s', (question, expected) => {
  expect(wantsColor(question)).toBe(expected)
})
