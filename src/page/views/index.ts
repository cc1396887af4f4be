// All views: the path of each, its title and its key.
import type { ComponentType } from 'preact'
import { number as count, short } from '../../core/format.ts'
import type { Route, ViewProps } from '../data/route.ts'
import { AccountView } from './account.ts'
import { AccountsView } from './accounts.ts'
import { ActView } from './act.ts'
import { BlockView } from './block.ts'
import { DebuggerView } from './debugger.ts'
import { LiveView } from './live.ts'
import { LogView } from './log.ts'
import { NetworkView } from './network.ts'
import { TimeView } from './time.ts'
import { TransactionView } from './transaction.ts'

export interface ViewEntry {
  readonly path: string
  readonly title: string
  /** Goes there after `g`. A view without one is of one thing, which the second part of the route names. */
  readonly key?: string
  /** Fills the window, and its parts scroll. */
  readonly isFull?: boolean
  readonly view: ComponentType<ViewProps>
}

export const LISTED: readonly ViewEntry[] = [
  { path: '', title: 'Live', key: 'l', isFull: true, view: LiveView },
  { path: 'log', title: 'Log', key: 'o', isFull: true, view: LogView },
  { path: 'accounts', title: 'Accounts', key: 'c', isFull: true, view: AccountsView },
  { path: 'network', title: 'Network', key: 'n', view: NetworkView },
  { path: 'act', title: 'Act', key: 'a', view: ActView },
  { path: 'time', title: 'Time', key: 't', view: TimeView },
]

const SINGLE: readonly ViewEntry[] = [
  { path: 'block', title: 'Block', view: BlockView },
  { path: 'tx', title: 'Transaction', view: TransactionView },
  { path: 'debug', title: 'Debugger', isFull: true, view: DebuggerView },
  { path: 'address', title: 'Account', view: AccountView },
]

export function viewAt({ parts: [path = '', id, ...more] }: Route): ViewEntry | undefined {
  if (more.length > 0) return undefined
  return (id === undefined ? LISTED : SINGLE).find((each) => each.path === path)
}

export function titleOfView({ title }: ViewEntry, { parts: [, id] }: Route): string {
  if (id === undefined) return title
  return `${title} ${/^\d+$/.test(id) ? count(Number(id)) : short(id)}`
}
