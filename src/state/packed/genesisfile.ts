// Reads a genesis file as a stream. Only a file without any fault is read here; parseGenesis refuses the others.
import { DevchainError } from '../../core/errors.ts'
import type { Address } from '../../core/hex.ts'
import { yielder } from '../../core/yield.ts'
import { accountFrom, type Genesis, parseAllocAccount, parseGenesis } from '../genesis.ts'
import { OPEN } from './jsonbytes.ts'
import { PackedAccounts } from './packedaccounts.ts'
import { plainEntries, readPieces, type TakePiece, textOf, UnreadableJson } from './pieces.ts'

/** An account that has a balance only, as most have. */
const PLAIN_ACCOUNT = [
  '"(?:0[xX])?([\\da-fA-F]{40})"',
  ':',
  '\\{',
  '"balance"',
  ':',
  '"(?:0[xX]([\\da-fA-F]{1,64})|(\\d{1,64}))"',
  '\\}',
]

export interface StreamedGenesis {
  /** Undefined if the file must be read as a whole: it has a fault, or an unusual form. */
  readonly genesis: Genesis | undefined
  /** An address that the file has twice. */
  readonly repeated?: Address
}

const NOT_READ: StreamedGenesis = { genesis: undefined }

/** @param onAccounts called after each chunk with the number of accounts so far */
export async function readGenesisStream(
  chunks: AsyncIterable<Uint8Array>,
  onAccounts: (count: number) => void,
): Promise<StreamedGenesis> {
  const accounts = new PackedAccounts()
  try {
    const members = await readMembers(
      reported(chunks, () => onAccounts(accounts.count)),
      accounts,
    )
    const header = parseGenesis(JSON.parse(`{${members.join(',')}}`))
    const { world, repeated } = await accounts.world(yielder())
    if (repeated !== undefined) return { genesis: undefined, repeated }
    return { genesis: { ...header, world } }
  } catch (error) {
    const isFault = error instanceof DevchainError || error instanceof SyntaxError
    if (isFault || error instanceof UnreadableJson) return NOT_READ
    throw error
  }
}

async function* reported(
  chunks: AsyncIterable<Uint8Array>,
  onRead: () => void,
): AsyncIterableIterator<Uint8Array> {
  for await (const chunk of chunks) {
    yield chunk
    onRead()
  }
}

/** The text of all members but `alloc`, whose accounts are added. */
async function readMembers(
  chunks: AsyncIterable<Uint8Array>,
  accounts: PackedAccounts,
): Promise<readonly string[]> {
  const members: string[] = []
  const plain = plainEntries(PLAIN_ACCOUNT, (groups) => {
    accounts.add(groups[1]!, groups[2] ?? BigInt(groups[3]!).toString(16))
    return true
  })
  let allocs = 0
  const take: TakePiece = (piece, bytes) => {
    const { path, name, end } = piece
    if (path === 'alloc') addAccount(accounts, String(name), textOf(bytes, piece))
    else if (end !== undefined) members.push(`${JSON.stringify(name)}:${textOf(bytes, piece)}`)
    else if (++allocs > 1) throw new UnreadableJson('alloc is there twice')
  }
  await readPieces(chunks, new Map([['alloc', { brackets: [OPEN], plain }]]), take)
  return members
}

function addAccount(accounts: PackedAccounts, name: string, text: string): void {
  const account = parseAllocAccount(JSON.parse(text))
  const digits = /^(?:0x)?([\da-f]{40})$/i.exec(name)?.[1]
  if (account === undefined || digits === undefined) {
    throw new UnreadableJson(`${name} is no account`)
  }
  const address = digits.toLowerCase()
  accounts.addOther(address, accountFrom(`0x${address}` as Address, account))
}
