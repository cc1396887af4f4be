// Where devchain answers otherwise than a node whose ways it takes, on purpose: why. What it answers there stands in
// fixtures/compat/devchain.json, so that it does not change unseen.
import type { Node } from './scenario.ts'

const EXTRA_DATA = 'the extra data of blocks names the program that mined them'
const ORDER = 'members are in one order whatever node is asked for; blocks have both totals'
const EXACT = 'the estimate is exact; Hardhat adds one to what a transfer takes'
const TYPE = 'a type that no fork has is named as such'
const ENGINE = "the words are those of the other node's engine, with places in its memory"
const FEE_CAP = 'the transaction was not mined, so there is no hash and no place to return'

export const DIFFERENCES: Readonly<Record<Node, Readonly<Record<string, string>>>> = {
  anvil: {
    'the limits and fees of the genesis': EXTRA_DATA,
    'the limits and fees of the first block': EXTRA_DATA,
    'a method that does not exist': 'the nearest name helps whoever mistyped it',
    'a transaction that does not exist, traced': 'an empty trace would look like one of a transfer',
    'an estimate of a transfer with blobs': 'the estimate is exact; anvil adds one',
    'a transfer that is filled in and not sent': 'what waits has a time that is still open',
    'the names and the order of members: block 0x1': ORDER,
    'the names and the order of members: block pending': ORDER,
    'the names and the order of members: transaction and receipt': ORDER,
  },
  hardhat: {
    'the limits and fees of the genesis': EXTRA_DATA,
    'the limits and fees of the first block': EXTRA_DATA,
    'an estimate of a transfer': EXACT,
    'a value that the sender of an estimate has not': EXACT,
    'a fee history without percentiles': 'prices of blobs are returned too',
  },
  hardhat2: {},
  ganache: {
    'the limits and fees of the genesis': EXTRA_DATA,
    'the limits and fees of the first block': EXTRA_DATA,
    'the pending block': 'what is pending is the block to come; ganache returns the newest again',
    'what is filled in of a transfer': 'the fee cap has room for a base fee that doubles',
    'what is filled in of a transfer with a tip': 'the fee cap has room for the tip',
    'a call that halts: a jump into nowhere': ENGINE,
    'an estimate that halts: a jump into nowhere': ENGINE,
    'a fee cap below the base fee': FEE_CAP,
    'a gas price below the base fee': FEE_CAP,
    'a tip above the fee cap': 'no block could hold such a transaction (EIP-1559)',
    'a raw transaction that is none': TYPE,
  },
}
