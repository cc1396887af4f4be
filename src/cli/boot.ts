// What is said of a chain once it listens: on the terminal, in the JSON log and in the ready file.
import { rename, rm, writeFile } from 'node:fs/promises'
import { checksumAddress } from '../core/crypto.ts'
import { ether, fee, number, plural } from '../core/words.ts'
import type { Devchain, Endpoints } from '../devchain.ts'
import { headOf } from '../node/ledger/blocktree.ts'
import { describeMining } from '../node/ledger/miningmode.ts'
import type { DevchainSettings } from '../options/table.ts'
import { PROGRAM } from '../program.ts'
import { balanceAt } from '../state/world.ts'
import type { Palette } from './palette.ts'
import { wrapped } from './wrap.ts'

/** Accounts that the terminal lists; the ready file has all. */
const LISTED = 20

/** A started chain, in the words of `--log json` and of `--ready-file`. Amounts in wei, as decimal strings. */
export interface BootFacts {
  readonly version: string
  readonly pid: number
  readonly url: string
  readonly wsUrl: string
  readonly chainId: number
  readonly networkId: number
  readonly hardfork: string
  readonly gasLimit: string
  readonly gasPrice: string
  /** Per gas, of transactions that name none. */
  readonly tip: string
  /** The node whose defaults and answers are taken. */
  readonly compat: string | undefined
  /** Of the newest block; undefined before london. */
  readonly baseFee: string | undefined
  readonly isBaseFeePinned: boolean
  readonly mining: string
  readonly clock: string
  /** Of the newest block. */
  readonly blockNumber: number
  readonly mnemonic: string
  readonly derivationPath: string
  readonly accounts: readonly {
    readonly address: string
    readonly privateKey: string
    readonly balance: string
  }[]
}

/** Gathers the facts of a chain that listens. */
export function bootFacts(
  devchain: Devchain,
  endpoints: Endpoints,
  options: DevchainSettings,
): BootFacts {
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
    baseFee: block.header.baseFeePerGas?.toString(),
    isBaseFeePinned: settings.pinnedBaseFee,
    mining: describeMining(state.mining),
    clock: clock.kind === 'step' ? `${clock.seconds} s a block` : clock.kind,
    blockNumber: Number(block.header.number),
    mnemonic: options.mnemonic,
    derivationPath: options.derivationPath,
    accounts: devchain.accounts.map(({ address, privateKey }) => ({
      address: checksumAddress(address),
      privateKey,
      balance: balanceAt(world, address).toString(),
    })),
  }
}

/**
 * The first screen: accounts, keys and settings; the URL comes last, where it is looked for. Keys and addresses stand in
 * full, whatever the room: they are there to be copied.
 * @param columns of the terminal; undefined: as wide as may be
 */
export function bootText(facts: BootFacts, palette: Palette, columns?: number): string {
  const base = facts.baseFee === undefined ? 'none' : fee(BigInt(facts.baseFee))
  const rows = [
    ['Mnemonic', facts.mnemonic],
    ['Path', `${facts.derivationPath}/i`],
    ['Chain id', String(facts.chainId)],
    ['Hardfork', facts.hardfork],
    ['Gas limit', `${number(BigInt(facts.gasLimit))} a block`],
    ['Gas price', fee(BigInt(facts.gasPrice))],
    ['Base fee', `${base}${facts.isBaseFeePinned ? ', pinned' : ', moves with demand'}`],
    ['Mining', facts.mining === 'instant' ? 'instant, a block a transaction' : facts.mining],
  ]
  if (facts.tip !== '0') rows.push(['Tip', fee(BigInt(facts.tip))])
  if (facts.compat !== undefined) rows.push(['Compat', facts.compat])
  if (facts.networkId !== facts.chainId) rows.push(['Network id', String(facts.networkId)])
  if (facts.clock !== 'wall') rows.push(['Clock', facts.clock])
  const lines = [
    `${palette.bold('devchain')} ${facts.version}`,
    '',
    ...accountLines(facts, palette),
    ...rows.map(([label = '', value]) => `${palette.dim(label.padEnd(10))}  ${value}`),
    '',
    ...warning(facts, palette),
    `Listening on ${palette.bold(facts.url)}`,
  ]
  const fit = (line: string): string =>
    columns === undefined ? line : wrapped(line, columns, (word) => word)
  return `${lines.map(fit).join('\n')}\n`
}

function accountLines({ accounts }: BootFacts, palette: Palette): string[] {
  const listed = accounts.slice(0, LISTED)
  const balances = listed.map(({ balance }) => ether(BigInt(balance)))
  const width = Math.max(0, ...balances.map((text) => text.length))
  const indexWidth = String(listed.length - 1).length
  const lines = listed.map(
    ({ address, privateKey }, i) =>
      `${palette.dim(String(i).padStart(indexWidth))}  ${address}  ${balances[i]?.padStart(width)}  ${palette.dim(privateKey)}`,
  )
  const more = accounts.length - listed.length
  if (more > 0)
    lines.push(palette.dim(`… and ${plural(more, 'account')} more (--ready-file has all)`))
  return lines.length > 0 ? [...lines, ''] : []
}

function warning({ accounts }: BootFacts, palette: Palette): string[] {
  if (accounts.length === 0) return []
  const text =
    'These keys are public: never send anything of value to these accounts on a real network.'
  return [palette.yellow(text), '']
}

/**
 * Writes the facts for scripts that wait for them: first beside the path, then moved there, so that whoever finds
 * the file finds all of it. Only the user may read it, since it has keys.
 */
export async function writeReadyFile(path: string, facts: BootFacts): Promise<void> {
  const beside = `${path}.${process.pid}.tmp`
  try {
    await writeFile(beside, `${JSON.stringify(facts, null, 2)}\n`, { mode: 0o600 })
    await rename(beside, path)
  } catch (error) {
    // Keys must not lie about. Where even this fails, the first error says why.
    await rm(beside, { force: true }).catch(() => undefined)
    throw error
  }
}
