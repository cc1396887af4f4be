// The facts of a started chain for terminal, JSON log and ready file. Only the ready file has keys that are not public.
import { checksumAddress } from '../core/crypto/crypto.ts'
import { ether, fee, number, plural } from '../core/format.ts'
import type { Devchain, Endpoints } from '../devchain.ts'
import { isTestMnemonic } from '../node/accounts/mnemonic.ts'
import { headOf } from '../node/ledger/blocktree.ts'
import { describeMining } from '../node/ledger/miningmode.ts'
import type { Upstream } from '../node/ledger/upstream.ts'
import { PROGRAM } from '../program.ts'
import { balanceAt } from '../state/world.ts'
import type { Palette } from './log/palette.ts'
import { wrapped } from './log/wrap.ts'

/** Accounts listed on the terminal; the ready file has all. */
const LISTED = 20

interface ForkFacts {
  readonly source: string
  readonly chainId: number
  readonly blockNumber: number
  readonly blockHash: string
}

/** The fields of `--log json`. Amounts in wei, as decimal strings. */
export interface BootEvent {
  readonly version: string
  readonly pid: number
  readonly url: string
  readonly wsUrl: string
  readonly chainId: number
  readonly networkId: number
  readonly hardfork: string
  readonly gasLimit: string
  readonly gasPrice: string
  /** Per gas, for transactions that name none. */
  readonly tip: string
  /** The node named by `--compat`. */
  readonly compat: string | undefined
  /** Of the newest block, or the value set for the next one; undefined before london. */
  readonly baseFee: string | undefined
  readonly isBaseFeePinned: boolean
  readonly mining: string
  readonly clock: string
  readonly blockNumber: number
  /** The folder or the file that the chain is kept in, or began with. */
  readonly state: string | undefined
  readonly from: string | undefined
  readonly fork: ForkFacts | undefined
  /** Undefined unless it is the public one. */
  readonly mnemonic: string | undefined
  readonly derivationPath: string
  readonly accounts: readonly {
    readonly address: string
    /** Undefined unless the mnemonic is the public one. */
    readonly privateKey: string | undefined
    readonly balance: string
  }[]
}

/** The fields of `--ready-file`, with all keys. */
export interface ReadyFacts extends BootEvent {
  readonly mnemonic: string
  readonly accounts: readonly (BootEvent['accounts'][number] & { readonly privateKey: string })[]
}

export function bootEvent(ready: ReadyFacts): BootEvent {
  if (isTestMnemonic(ready.mnemonic)) return ready
  const accounts = ready.accounts.map((account) => ({ ...account, privateKey: undefined }))
  return { ...ready, mnemonic: undefined, accounts }
}

export function readyFacts(devchain: Devchain, endpoints: Endpoints): ReadyFacts {
  const { options } = devchain
  const { state } = devchain.node.chain
  const { config, settings } = state
  const { block, world } = headOf(state.tree)
  const clock = options.clock
  return {
    version: PROGRAM.version,
    pid: process.pid,
    url: endpoints.url,
    wsUrl: endpoints.wsUrl,
    chainId: Number(config.chainId),
    networkId: Number(config.networkId),
    hardfork: config.hardforkAt(block.header.number, block.header.timestamp),
    gasLimit: settings.blockGasLimit.toString(),
    gasPrice: settings.gasPrice.toString(),
    tip: settings.tip.toString(),
    compat: options.compat,
    baseFee: (settings.nextBaseFee ?? block.header.baseFeePerGas)?.toString(),
    isBaseFeePinned: settings.pinnedBaseFee,
    mining: describeMining(state.mining),
    clock: clock.kind === 'step' ? `${clock.seconds} s per block` : clock.kind,
    blockNumber: Number(block.header.number),
    state: options.state,
    from: typeof options.from === 'string' ? options.from : undefined,
    fork: forkOf(config.upstream),
    mnemonic: options.mnemonic,
    derivationPath: options.derivationPath,
    accounts: devchain.accounts.map(({ address, privateKey }) => ({
      address: checksumAddress(address),
      privateKey,
      balance: balanceAt(world, address).toString(),
    })),
  }
}

function forkOf(upstream: Upstream | undefined): ForkFacts | undefined {
  return (
    upstream && {
      source: upstream.facts().name,
      chainId: Number(upstream.chainId),
      blockNumber: Number(upstream.number),
      blockHash: upstream.hash,
    }
  )
}

/**
 * The first screen: accounts, keys and settings, and the URL last, where people look for it. Keys and addresses
 * are never shortened, so that they can be copied.
 * @param columns of the terminal; undefined: unlimited
 */
export function bootText(boot: BootEvent, palette: Palette, columns?: number): string {
  const base = boot.baseFee === undefined ? 'none' : fee(BigInt(boot.baseFee))
  const rows = [
    ['Mnemonic', boot.mnemonic ?? 'not shown; --ready-file writes it and the keys'],
    ['Path', `${boot.derivationPath}/i`],
    ['Chain id', String(boot.chainId)],
    ['Hardfork', boot.hardfork],
    ['Gas limit', `${number(BigInt(boot.gasLimit))} per block`],
    // by default, eth_gasPrice follows a base fee that is not pinned
    ...(boot.isBaseFeePinned || boot.gasPrice !== '0'
      ? [['Gas price', fee(BigInt(boot.gasPrice))]]
      : []),
    ['Base fee', `${base}${boot.isBaseFeePinned ? ', pinned' : ', changes with demand'}`],
    ['Mining', boot.mining === 'instant' ? 'instant, one block per transaction' : boot.mining],
  ]
  const block = number(BigInt(boot.blockNumber))
  if (boot.from !== undefined) rows.unshift(['Pack', `${boot.from}, block ${block}`])
  if (boot.state !== undefined) rows.unshift(['State', `${boot.state}, block ${block}`])
  if (boot.fork !== undefined) rows.unshift(['Fork', forkText(boot.fork)])
  if (boot.tip !== '0') rows.push(['Tip', fee(BigInt(boot.tip))])
  if (boot.compat !== undefined) rows.push(['Compat', boot.compat])
  if (boot.networkId !== boot.chainId) rows.push(['Network id', String(boot.networkId)])
  if (boot.clock !== 'wall') rows.push(['Clock', boot.clock])
  const lines = [
    `${palette.bold('devchain')} ${boot.version}`,
    '',
    ...accountLines(boot, palette),
    ...rows.map(([label = '', value]) => `${palette.dim(label.padEnd(10))}  ${value}`),
    '',
    ...warning(boot, palette),
    `Listening on ${palette.bold(boot.url)}`,
  ]
  return `${lines.map((line) => wrapped(line, columns, (word) => word)).join('\n')}\n`
}

function forkText({ source, chainId, blockNumber, blockHash }: ForkFacts): string {
  return `${source}, chain ${chainId}, block ${number(BigInt(blockNumber))} (${blockHash})`
}

function accountLines({ accounts }: BootEvent, palette: Palette): string[] {
  const listed = accounts.slice(0, LISTED)
  const balances = listed.map(({ balance }) => ether(BigInt(balance)))
  const width = Math.max(0, ...balances.map((text) => text.length))
  const indexWidth = String(listed.length - 1).length
  const lines = listed.map(
    ({ address, privateKey }, i) =>
      `${palette.dim(String(i).padStart(indexWidth))}  ${address}  ${balances[i]?.padStart(width)}${privateKey === undefined ? '' : `  ${palette.dim(privateKey)}`}`,
  )
  const more = accounts.length - listed.length
  if (more > 0)
    lines.push(palette.dim(`… and ${plural(more, 'account')} more (--ready-file has all)`))
  return lines.length > 0 ? [...lines, ''] : []
}

function warning({ accounts, mnemonic }: BootEvent, palette: Palette): string[] {
  if (accounts.length === 0 || mnemonic === undefined) return []
  const text =
    'These keys are public: never send anything of value to these accounts on a real network.'
  return [palette.yellow(text), '']
}
