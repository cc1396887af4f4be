// `devchain export`: writes the blocks of a running chain to a file, from where --import takes them.
import { open, rename, rm } from 'node:fs/promises'
import { Command, CommanderError, Option } from 'commander'
import { DevchainError, printValue } from '../core/errors.ts'
import { parseBytes, quantityFromBigint } from '../core/hex.ts'
import { decodeBlock, type EncodedBlock } from '../protocol/blockdecoding.ts'

const DEFAULT_URL = 'http://127.0.0.1:8545'

/** Blocks asked for at a time. */
const BATCH = 50

const EXIT = { ok: 0, failure: 1, usage: 2 } as const

/** What the arguments say. */
interface Wish {
  readonly file: string
  readonly url: string
}

/** Something that the user can do something about; anything else is a bug. */
class ExportError extends Error {}

/**
 * Runs the subcommand.
 * @param argv the arguments after `export`
 * @returns the exit code
 */
export async function exportCommand(argv: readonly string[]): Promise<number> {
  const wish = readArguments(argv)
  if (typeof wish === 'number') return wish
  try {
    const last = await exportChain(wish)
    process.stdout.write(`wrote blocks 0 to ${last} of ${wish.url} to ${wish.file}\n`)
    return EXIT.ok
  } catch (error) {
    const isFile = (error as NodeJS.ErrnoException).path !== undefined
    if (!(error instanceof ExportError || isFile)) throw error
    process.stderr.write(`devchain: ${(error as Error).message}\n`)
    return EXIT.failure
  }
}

function readArguments(argv: readonly string[]): Wish | number {
  const command = new Command('devchain export')
    .description('Writes the blocks of a running chain to a file, as --import reads them.')
    .argument('<file>', 'File of concatenated RLP blocks, the genesis first')
    .addOption(
      new Option('--url <URL>', 'HTTP endpoint of the chain')
        .env('DEVCHAIN_URL')
        .default(DEFAULT_URL),
    )
    .helpOption('-h, --help', 'Print this help')
    .allowExcessArguments(false)
    .configureOutput({ writeErr: () => undefined })
    .exitOverride()
  try {
    command.parse([...argv], { from: 'user' })
    const { url } = command.opts<{ url: string }>()
    if (!/^https?:$/.test(protocolOf(url))) {
      throw new CommanderError(
        EXIT.usage,
        'url',
        `--url: expected an http URL, got ${printValue(url)}`,
      )
    }
    return { file: command.args[0] ?? '', url }
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    if (error.exitCode === 0) return EXIT.ok
    const message = error.message.replace(/^error: /, '').replaceAll('\n', ' ')
    process.stderr.write(`devchain: export: ${message}\n`)
    return EXIT.usage
  }
}

function protocolOf(url: string): string {
  return URL.canParse(url) ? new URL(url).protocol : ''
}

/**
 * Writes block after block: first beside the file, then moved there, so that whoever finds the file finds all of it.
 * @returns the number of the last block
 */
async function exportChain({ file, url }: Wish): Promise<bigint> {
  const last = quantityOf(await ask(url, [{ method: 'eth_blockNumber', params: [] }]))
  const beside = `${file}.${process.pid}.tmp`
  const output = await open(beside, 'w')
  try {
    let previous: EncodedBlock | undefined
    for (let first = 0n; first <= last; first += BigInt(BATCH)) {
      for (const bytes of await blocksFrom(url, first, last)) {
        const block = decodeBlock(bytes)
        checkLink(previous, block)
        previous = block
        await output.write(bytes)
      }
    }
    await output.close()
    await rename(beside, file)
    return last
  } catch (error) {
    await output.close()
    await rm(beside, { force: true })
    throw error
  }
}

async function blocksFrom(url: string, first: bigint, last: bigint): Promise<Uint8Array[]> {
  const left = Number(last - first) + 1
  const numbers = Array.from({ length: Math.min(BATCH, left) }, (_, i) => first + BigInt(i))
  const calls = numbers.map((number) => ({
    method: 'debug_getRawBlock',
    params: [quantityFromBigint(number)],
  }))
  return (await ask(url, calls)).map((result) => bytesOf(url, result))
}

/** Between two requests the chain may have gone back and another way. */
function checkLink(previous: EncodedBlock | undefined, block: EncodedBlock): void {
  if (previous === undefined || block.header.parentHash === previous.hash) return
  const { number } = block.header
  throw new ExportError(`the chain changed at block ${number} while it was exported: try again`)
}

interface Call {
  readonly method: string
  readonly params: readonly string[]
}

/** The results of a batch of calls, in the order of the calls. */
async function ask(url: string, calls: readonly Call[]): Promise<unknown[]> {
  const body = JSON.stringify(calls.map((call, id) => ({ jsonrpc: '2.0', id, ...call })))
  const replies = await post(url, body)
  if (!Array.isArray(replies)) throw new ExportError(`${url} answers no batch of calls`)
  const byId = new Map(replies.map((reply: { readonly id?: unknown }) => [reply?.id, reply]))
  return calls.map(({ method, params }, id) => {
    const reply = byId.get(id) as { result?: unknown; error?: { message?: unknown } } | undefined
    if (reply?.result !== undefined) return reply.result
    const why = reply?.error?.message ?? 'no result'
    throw new ExportError(`${url} answers ${[method, ...params].join(' ')} with: ${String(why)}`)
  })
}

async function post(url: string, body: string): Promise<unknown> {
  const headers = { 'content-type': 'application/json' }
  try {
    const response = await fetch(url, { method: 'POST', headers, body })
    return await response.json()
  } catch (error) {
    const { cause, message } = error as Error
    const why = cause instanceof Error ? cause.message || String(cause) : message
    throw new ExportError(`cannot reach a chain at ${url}: ${why} (--url names another)`)
  }
}

function quantityOf([result]: readonly unknown[]): bigint {
  if (typeof result === 'string' && /^0x[0-9a-f]+$/i.test(result)) return BigInt(result)
  throw new ExportError(`expected a block number, got ${printValue(result)}`)
}

function bytesOf(url: string, result: unknown): Uint8Array {
  try {
    return parseBytes(String(result))
  } catch (error) {
    if (!(error instanceof DevchainError)) throw error
    throw new ExportError(`${url} answers debug_getRawBlock with ${printValue(result)}`)
  }
}
