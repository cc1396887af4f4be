// What somebody can do to the chain from the page: forms, and the calls that they make.

import { hex } from '../data/format.ts'
import {
  parseAddress,
  parseBytes,
  parseCount,
  parseDuration,
  parseEther,
  parseMoment,
} from '../data/parse.ts'
import type { RpcCall } from './callcode.ts'

export interface Field {
  readonly name: string
  readonly label: string
  /** Accounts and snapshots are offered from the chain. */
  readonly kind: 'account' | 'snapshot' | 'text' | 'bytes'
  readonly hint?: string
  readonly isOptional?: boolean
}

type Values = Readonly<Record<string, string>>

export interface Act {
  readonly id: string
  readonly title: string
  readonly group: string
  readonly about: string
  readonly fields: readonly Field[]
  readonly start?: Values
  readonly isDangerous?: boolean
  /** @throws Error that says which field is wrong */
  readonly calls: (values: Values, owned: readonly string[]) => readonly RpcCall[]
}

const FROM: Field = { name: 'from', label: 'From', kind: 'account' }
const ACCOUNT: Field = { name: 'account', label: 'Account', kind: 'account' }
const TO: Field = { name: 'to', label: 'To', kind: 'account' }
const DATA: Field = { name: 'data', label: 'Data', kind: 'bytes', hint: '0x', isOptional: true }
const AMOUNT: Field = {
  name: 'value',
  label: 'Value',
  kind: 'text',
  hint: '1.5 ether',
  isOptional: true,
}

const PEER: Field = {
  name: 'peer',
  label: 'Peer',
  kind: 'text',
  hint: 'name, URL or id',
  isOptional: true,
}

export const ACTS: readonly Act[] = [
  {
    id: 'send',
    title: 'Send a transaction',
    group: 'Transactions',
    about:
      'Sends ether or data, also from accounts without a key here. Without a recipient it deploys the data as a contract.',
    fields: [
      FROM,
      { ...TO, isOptional: true, hint: 'nobody: deploys a contract' },
      AMOUNT,
      DATA,
      { name: 'gas', label: 'Gas limit', kind: 'text', hint: 'estimated', isOptional: true },
    ],
    calls: (values, owned) => {
      const order = transactionFrom(values)
      return [...impersonating(order.from ?? '', owned), call('eth_sendTransaction', order)]
    },
  },
  {
    id: 'call',
    title: 'Call',
    group: 'Transactions',
    about: 'Runs a call on the newest state. The chain does not change.',
    fields: [{ ...FROM, isOptional: true }, TO, AMOUNT, DATA],
    calls: (values) => [call('eth_call', transactionFrom(values), 'latest')],
  },
  {
    id: 'impersonate',
    title: 'Impersonate',
    group: 'Accounts',
    about: 'Lets anybody send from an account without its key.',
    fields: [ACCOUNT],
    calls: (values) => [call('hardhat_impersonateAccount', accountIn(values))],
  },
  {
    id: 'stop',
    title: 'Stop impersonating',
    group: 'Accounts',
    about: 'Refuses transactions from the account again, unless its key is here.',
    fields: [ACCOUNT],
    calls: (values) => [call('hardhat_stopImpersonatingAccount', accountIn(values))],
  },
  {
    id: 'balance',
    title: 'Set a balance',
    group: 'Accounts',
    about: 'Sets the balance of any account, without a transaction.',
    fields: [ACCOUNT, { ...AMOUNT, label: 'Balance', isOptional: false }],
    calls: (values) => [
      call(
        'hardhat_setBalance',
        accountIn(values),
        hex(read(values, 'value', 'Balance', parseEther)),
      ),
    ],
  },
  {
    id: 'label',
    title: 'Name an account',
    group: 'Accounts',
    about: 'Shows a name for the account here, in the log and in traces. An empty name removes it.',
    fields: [ACCOUNT, { name: 'name', label: 'Name', kind: 'text', isOptional: true }],
    calls: (values) => [call('devchain_label', { [accountIn(values)]: values.name ?? '' })],
  },
  {
    id: 'mine',
    title: 'Mine blocks',
    group: 'Blocks and time',
    about: 'Mines blocks now, with the transactions that wait in the pool.',
    fields: [
      { name: 'blocks', label: 'Blocks', kind: 'text' },
      { name: 'interval', label: 'Time between', kind: 'text', hint: '1 s', isOptional: true },
    ],
    start: { blocks: '1' },
    calls: (values) => {
      const blocks = hex(read(values, 'blocks', 'Blocks', parseCount))
      if (isEmpty(values.interval)) return [call('hardhat_mine', blocks)]
      const interval = read(values, 'interval', 'Time between', parseDuration)
      return [call('hardhat_mine', blocks, hex(interval))]
    },
  },
  {
    id: 'automine',
    title: 'Pause mining',
    group: 'Blocks and time',
    about: 'Lets transactions wait in the pool until a block is mined.',
    fields: [],
    calls: () => [call('evm_setAutomine', false)],
  },
  {
    id: 'resume',
    title: 'Resume mining',
    group: 'Blocks and time',
    about: 'Mines a block for each transaction, and one now for those that wait.',
    fields: [],
    calls: () => [call('evm_setAutomine', true), call('hardhat_mine', '0x1')],
  },
  {
    id: 'time',
    title: 'Move time ahead',
    group: 'Blocks and time',
    about: 'Moves the clock ahead and mines a block, so that contracts see the time.',
    fields: [{ name: 'seconds', label: 'By', kind: 'text', hint: '1 d, 2 h 30 min, 90' }],
    start: { seconds: '1 d' },
    calls: (values) => [
      call('evm_increaseTime', hex(read(values, 'seconds', 'By', parseDuration))),
      call('hardhat_mine', '0x1'),
    ],
  },
  {
    id: 'moment',
    title: 'Set the next time',
    group: 'Blocks and time',
    about: 'Mines a block with this timestamp. Later blocks go on from there.',
    fields: [{ name: 'time', label: 'Time (UTC)', kind: 'text', hint: '2030-01-01 12:00' }],
    calls: (values) => [
      call('evm_setNextBlockTimestamp', hex(read(values, 'time', 'Time', parseMoment))),
      call('hardhat_mine', '0x1'),
    ],
  },
  {
    id: 'snapshot',
    title: 'Take a snapshot',
    group: 'Snapshots',
    about: 'Remembers the whole chain. A snapshot with a name stays after a revert.',
    fields: [{ name: 'name', label: 'Name', kind: 'text', isOptional: true }],
    calls: ({ name = '' }) => [
      isEmpty(name) ? call('evm_snapshot') : call('devchain_snapshot', { name: name.trim() }),
    ],
  },
  {
    id: 'revert',
    title: 'Revert to a snapshot',
    group: 'Snapshots',
    about: 'Restores the chain as it was. The snapshot stays, for more reverts.',
    fields: [{ name: 'snapshot', label: 'Snapshot', kind: 'snapshot' }],
    calls: ({ snapshot = '' }) => {
      if (isEmpty(snapshot)) throw new Error('Snapshot: take one first')
      return [call('devchain_revert', snapshot)]
    },
  },
  {
    id: 'reset',
    title: 'Reset the chain',
    group: 'Snapshots',
    about:
      'Goes back to genesis. All blocks, snapshots, pending transactions and imported keys are lost.',
    fields: [],
    isDangerous: true,
    calls: () => [call('evm_reset')],
  },
  {
    id: 'newchain',
    title: 'Make a chain',
    group: 'Network',
    about:
      'Makes another chain in this process, which begins as this one did or branches off a snapshot.',
    fields: [
      { name: 'name', label: 'Name', kind: 'text', hint: 'alice' },
      {
        name: 'origin',
        label: 'From',
        kind: 'text',
        hint: 'a chain or snapshot',
        isOptional: true,
      },
      { name: 'block', label: 'After block', kind: 'text', hint: 'the newest', isOptional: true },
    ],
    calls: (values) => [
      call('devchain_newChain', {
        name: read(values, 'name', 'Name', parseWord),
        from: isEmpty(values.origin) ? undefined : values.origin?.trim(),
        block: isEmpty(values.block) ? undefined : values.block?.trim(),
      }),
    ],
  },
  {
    id: 'dropchain',
    title: 'Drop a chain',
    group: 'Network',
    about: 'Drops a chain of this process with all its blocks, and ends its connections.',
    fields: [{ name: 'name', label: 'Name', kind: 'text', hint: 'alice' }],
    isDangerous: true,
    calls: (values) => [call('devchain_dropChain', read(values, 'name', 'Name', parseWord))],
  },
  {
    id: 'peer',
    title: 'Add a peer',
    group: 'Network',
    about: 'Connects to another devchain. Blocks and transactions travel between both.',
    fields: [{ name: 'url', label: 'URL', kind: 'text', hint: 'ws://localhost:8546' }],
    calls: (values) => [call('admin_addPeer', read(values, 'url', 'URL', parseWord))],
  },
  {
    id: 'partition',
    title: 'Partition a peer',
    group: 'Network',
    about: 'Disconnects a peer until it is connected again; all peers without a name.',
    fields: [PEER],
    calls: ({ peer }) => [partition(peer, true)],
  },
  {
    id: 'heal',
    title: 'Connect a peer again',
    group: 'Network',
    about: 'Ends a partition. The heavier branch of both chains wins.',
    fields: [PEER],
    calls: ({ peer }) => [partition(peer, false)],
  },
]

function partition(peer: string | undefined, on: boolean): RpcCall {
  return call('devchain_partition', isEmpty(peer) ? { on } : { peer: peer?.trim(), on })
}

function parseWord(text: string): string {
  if (isEmpty(text)) throw new Error('expected a word, got nothing')
  return text.trim()
}

function call(method: string, ...params: readonly unknown[]): RpcCall {
  return { method, params }
}

/** The call that lets an account without a key here send. */
export function impersonating(from: string, owned: readonly string[]): readonly RpcCall[] {
  return owned.includes(from) ? [] : [call('hardhat_impersonateAccount', from)]
}

function transactionFrom(values: Values): Readonly<Record<string, string | undefined>> {
  const optional = <T>(name: string, label: string, parse: (text: string) => T): T | undefined =>
    isEmpty(values[name]) ? undefined : read(values, name, label, parse)
  const value = optional('value', 'Value', parseEther)
  const gas = optional('gas', 'Gas limit', parseCount)
  return {
    from: optional('from', 'From', parseAddress),
    to: optional('to', 'To', parseAddress),
    value: value === undefined ? undefined : hex(value),
    data: optional('data', 'Data', parseBytes),
    gas: gas === undefined ? undefined : hex(gas),
  }
}

function accountIn(values: Values): string {
  return read(values, 'account', 'Account', parseAddress)
}

function read<T>(values: Values, name: string, label: string, parse: (text: string) => T): T {
  try {
    return parse(values[name] ?? '')
  } catch (error) {
    throw new Error(`${label}: ${(error as Error).message}`)
  }
}

function isEmpty(text: string | undefined): boolean {
  return text === undefined || text.trim() === ''
}
