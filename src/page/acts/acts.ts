// What somebody can do to the chain from the page: forms, and the calls that they make.
import { call, type RpcCall } from './callcode.ts'
import { type Field, type FormValues, FROM, type Texts, VALUE } from './fields.ts'

export interface Act {
  readonly title: string
  readonly about: string
  readonly fields?: readonly Field[]
  /** What is in the fields at first. */
  readonly start?: Texts
  readonly isDangerous?: boolean
  readonly calls: (values: FormValues, owned: readonly string[]) => readonly RpcCall[]
}

const ACCOUNT: Field = { name: 'account', label: 'Account', kind: 'account' }
const TO: Field = { name: 'to', label: 'To', kind: 'account' }
const DATA: Field = { name: 'data', label: 'Data', kind: 'bytes', hint: '0x', isOptional: true }
const NAME: Field = { name: 'name', label: 'Name', kind: 'word' }

const OF_PEER = { hint: 'name, URL or id', isOptional: true }
const PEER: Field = { ...NAME, name: 'peer', label: 'Peer', ...OF_PEER }

const MINE = call('hardhat_mine', '0x1')

/** By the headings under which they stand, and by what links call them. */
export const ACTS: Readonly<Record<string, Readonly<Record<string, Act>>>> = {
  Transactions: {
    send: {
      title: 'Send a transaction',
      about:
        'Sends ether or data, also from accounts without a key here. Without a recipient it deploys the data as a contract.',
      fields: [
        FROM,
        { ...TO, isOptional: true, hint: 'nobody: deploys a contract' },
        VALUE,
        DATA,
        { name: 'gas', label: 'Gas limit', kind: 'count', hint: 'estimated', isOptional: true },
      ],
      calls: sending,
    },
    call: {
      title: 'Call',
      about: 'Runs a call on the newest state. The chain does not change.',
      fields: [{ ...FROM, isOptional: true }, TO, VALUE, DATA],
      calls: (order) => [call('eth_call', order, 'latest')],
    },
  },
  Accounts: {
    impersonate: {
      title: 'Impersonate',
      about: 'Lets anybody send from an account without its key.',
      fields: [ACCOUNT],
      calls: ({ account }) => [call('hardhat_impersonateAccount', account)],
    },
    stop: {
      title: 'Stop impersonating',
      about: 'Refuses transactions from the account again, unless its key is here.',
      fields: [ACCOUNT],
      calls: ({ account }) => [call('hardhat_stopImpersonatingAccount', account)],
    },
    balance: {
      title: 'Set a balance',
      about: 'Sets the balance of any account, without a transaction.',
      fields: [ACCOUNT, { ...VALUE, label: 'Balance', isOptional: false }],
      calls: ({ account, value }) => [call('hardhat_setBalance', account, value)],
    },
    label: {
      title: 'Name an account',
      about:
        'Shows a name for the account here, in the log and in traces. An empty name removes it.',
      fields: [ACCOUNT, { ...NAME, isOptional: true }],
      calls: ({ account, name = '' }) => [call('devchain_label', { [String(account)]: name })],
    },
  },
  'Blocks and time': {
    mine: {
      title: 'Mine blocks',
      about: 'Mines blocks now, with the transactions that wait in the pool.',
      fields: [
        { name: 'blocks', label: 'Blocks', kind: 'count' },
        { name: 'between', label: 'Time between', kind: 'duration', hint: '1 s', isOptional: true },
      ],
      start: { blocks: '1' },
      calls: ({ blocks, between }) => [call('hardhat_mine', blocks, ...(between ? [between] : []))],
    },
    automine: {
      title: 'Pause mining',
      about: 'Lets transactions wait in the pool until a block is mined.',
      calls: () => [call('evm_setAutomine', false)],
    },
    resume: {
      title: 'Resume mining',
      about: 'Mines a block for each transaction, and one now for those that wait.',
      calls: () => [call('evm_setAutomine', true), MINE],
    },
    time: {
      title: 'Move time ahead',
      about: 'Moves the clock ahead and mines a block, so that contracts see the time.',
      fields: [{ name: 'seconds', label: 'By', kind: 'duration', hint: '1 d, 2 h 30 min, 90' }],
      start: { seconds: '1 d' },
      calls: ({ seconds }) => [call('evm_increaseTime', seconds), MINE],
    },
    moment: {
      title: 'Set the next time',
      about: 'Mines a block with this timestamp. Later blocks go on from there.',
      fields: [{ name: 'time', label: 'Time (UTC)', kind: 'moment', hint: '2030-01-01 12:00' }],
      calls: ({ time }) => [call('evm_setNextBlockTimestamp', time), MINE],
    },
  },
  Snapshots: {
    snapshot: {
      title: 'Take a snapshot',
      about: 'Remembers the whole chain. A snapshot with a name stays after a revert.',
      fields: [{ ...NAME, isOptional: true }],
      calls: ({ name }) => [name ? call('devchain_snapshot', { name }) : call('evm_snapshot')],
    },
    revert: {
      title: 'Revert to a snapshot',
      about: 'Restores the chain as it was. The snapshot stays, for more reverts.',
      fields: [{ name: 'snapshot', label: 'Snapshot', kind: 'snapshot' }],
      calls: ({ snapshot }) => [call('devchain_revert', snapshot)],
    },
    reset: {
      title: 'Reset the chain',
      about:
        'Goes back to genesis. All blocks, snapshots, pending transactions and imported keys are lost.',
      isDangerous: true,
      calls: () => [call('evm_reset')],
    },
  },
  Network: {
    newchain: {
      title: 'Make a chain',
      about:
        'Makes another chain in this process, which begins as this one did or branches off a snapshot.',
      fields: [
        { ...NAME, hint: 'alice' },
        { ...NAME, name: 'origin', label: 'From', hint: 'a chain or snapshot', isOptional: true },
        { ...NAME, name: 'block', label: 'After block', hint: 'the newest', isOptional: true },
      ],
      calls: ({ name, origin, block }) => [
        call('devchain_newChain', { name, from: origin, block }),
      ],
    },
    dropchain: {
      title: 'Drop a chain',
      about: 'Drops a chain of this process with all its blocks, and ends its connections.',
      fields: [{ ...NAME, hint: 'alice' }],
      isDangerous: true,
      calls: ({ name }) => [call('devchain_dropChain', name)],
    },
    peer: {
      title: 'Add a peer',
      about: 'Connects to another devchain. Blocks and transactions travel between both.',
      fields: [{ name: 'url', label: 'URL', kind: 'word', hint: 'ws://localhost:8546' }],
      calls: ({ url }) => [call('admin_addPeer', url)],
    },
    partition: {
      title: 'Partition a peer',
      about: 'Disconnects a peer until it is connected again; all peers without a name.',
      fields: [PEER],
      calls: ({ peer }) => [call('devchain_partition', { peer, on: true })],
    },
    heal: {
      title: 'Connect a peer again',
      about: 'Ends a partition. The heavier branch of both chains wins.',
      fields: [PEER],
      calls: ({ peer }) => [call('devchain_partition', { peer, on: false })],
    },
  },
}

/** The calls that send, also from an account without a key here. */
export function sending(order: FormValues, owned: readonly string[]): readonly RpcCall[] {
  const { from } = order
  const isOwned = owned.includes(String(from))
  return [
    ...(isOwned ? [] : [call('hardhat_impersonateAccount', from)]),
    call('eth_sendTransaction', order),
  ]
}
