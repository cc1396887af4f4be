// All accounts as gzipped JSON in the form that anvil writes and reads, and back.
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import { keccakHash } from '../core/crypto.ts'
import { DevchainError, printValue } from '../core/errors.ts'
import {
  type Address,
  hexFromBytes,
  parseAddress,
  parseBytes,
  quantityFromBigint,
  wordFromBigint,
} from '../core/hex.ts'
import { type Account, accountsOf, emptyAccount, withSlots } from '../state/world.ts'
import { headOf } from './blocktree.ts'
import type { Change } from './chain.ts'
import type { ChainState } from './chainstate.ts'
import { editAccounts } from './edit.ts'

/** Bytes of JSON that a dump may unfold to: gzip makes a thousand of one. */
const MAX_DUMP = 512 * 2 ** 20

/** An account as a dump has it. */
interface DumpedAccount {
  readonly nonce: number
  readonly balance: string
  readonly code: string
  readonly storage: Readonly<Record<string, string>>
}

/** The accounts after the newest block, and that block's members, gzipped. */
export async function dumpState({ tree, config }: ChainState): Promise<Uint8Array> {
  const { world, block } = headOf(tree)
  const { header } = block
  const dump = {
    block: {
      number: quantityFromBigint(header.number),
      beneficiary: header.miner,
      timestamp: quantityFromBigint(header.timestamp),
      gas_limit: Number(header.gasLimit),
      basefee: Number(header.baseFeePerGas ?? 0n),
      difficulty: quantityFromBigint(header.difficulty),
      prevrandao: header.mixHash,
      blob_excess_gas_and_price: null,
    },
    chain_id: Number(config.chainId),
    accounts: Object.fromEntries(
      [...accountsOf(world)].map((account) => [account.address, dumpedOf(account)]),
    ),
    best_block_number: Number(header.number),
    blocks: [],
    transactions: [],
  }
  return new Uint8Array(await promisify(gzip)(JSON.stringify(dump)))
}

/**
 * The accounts of a dump, as they are to be.
 * @throws {DevchainError} `INVALID_PARAMS` for bytes that are no dump, `LIMIT_EXCEEDED` for one too large to hold
 */
export async function readDump(bytes: Uint8Array): Promise<readonly Account[]> {
  const dump = parseDump(await unzipped(bytes))
  const accounts = (dump as { readonly accounts?: unknown } | null)?.accounts
  if (typeof accounts !== 'object' || accounts === null) {
    throw noDump('it has no member accounts')
  }
  return Object.entries(accounts).map(([address, account]) =>
    accountOf(parseAddress(address), account),
  )
}

/** The chain with accounts put in place; the slots of those that were there before stay, where no others are given. */
export function loadAccounts(before: ChainState, accounts: readonly Account[]): Change<undefined> {
  const byAddress = new Map(accounts.map((account) => [account.address, account]))
  return editAccounts(before, [...byAddress.keys()], ({ address, storage }) => {
    const account = byAddress.get(address)!
    const slots = [...account.storage.values()].map(({ slot, value }) => [slot, value] as const)
    return { ...account, storage: withSlots(storage, new Map(slots)) }
  })
}

function dumpedOf({ nonce, balance, code, storage }: Account): DumpedAccount {
  const slots = [...storage.values()].map(({ slot, value }) => [
    wordFromBigint(slot),
    wordFromBigint(value),
  ])
  return {
    nonce: Number(nonce),
    balance: quantityFromBigint(balance),
    code: hexFromBytes(code),
    storage: Object.fromEntries(slots),
  }
}

async function unzipped(bytes: Uint8Array): Promise<Uint8Array> {
  // the two bytes that gzip begins with (RFC 1952)
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes
  try {
    return await promisify(gunzip)(bytes, { maxOutputLength: MAX_DUMP })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_BUFFER_TOO_LARGE') {
      throw noDump(`it cannot be unzipped: ${(error as Error).message}`)
    }
    throw new DevchainError('LIMIT_EXCEEDED', `state: expected at most ${MAX_DUMP} bytes unzipped`)
  }
}

function parseDump(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes))
  } catch (error) {
    throw noDump(`it is no JSON: ${(error as Error).message}`)
  }
}

function accountOf(address: Address, given: unknown): Account {
  if (typeof given !== 'object' || given === null) {
    throw noDump(`expected an object for account ${address}, got ${printValue(given)}`)
  }
  const { nonce = 0, balance = 0, code = '0x', storage = {} } = given as Record<string, unknown>
  const bytes = parseBytes(String(code))
  const account = emptyAccount(address)
  const slots = Object.entries((storage ?? {}) as object).map(
    ([slot, value]) => [integerOf(slot, address), integerOf(value, address)] as const,
  )
  return {
    ...account,
    nonce: integerOf(nonce, address),
    balance: integerOf(balance, address),
    code: bytes,
    codeHash: keccakHash(bytes),
    storage: withSlots(account.storage, new Map(slots)),
  }
}

/** A number of JSON, or 0x hex. */
function integerOf(value: unknown, address: Address): bigint {
  const isNumber = typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
  if (isNumber) return BigInt(value)
  if (typeof value === 'string' && /^0x[0-9a-fA-F]{1,64}$/.test(value)) return BigInt(value)
  throw noDump(`expected a number for account ${address}, got ${printValue(value)}`)
}

function noDump(problem: string): DevchainError {
  const message = `state: expected what anvil_dumpState answered: ${problem}`
  return new DevchainError('INVALID_PARAMS', message)
}
