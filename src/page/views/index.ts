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
  readonly path: readonly string[]
  readonly title: string
  readonly titleOf: (route: Route) => string
  /** Goes there after `g`. */
  readonly key: string
  readonly isListed: boolean
  /** Fills the window, and its parts scroll. */
  readonly isFull: boolean
  readonly view: ComponentType<ViewProps>
}

function listed(
  path: string,
  title: string,
  key: string,
  view: ViewEntry['view'],
  isFull = true,
): ViewEntry {
  const parts = path === '' ? [] : [path]
  return { path: parts, title, titleOf: () => title, key, isListed: true, isFull, view }
}

/** A view of one thing, which its second part names. */
function single(path: string, title: string, view: ViewEntry['view']): ViewEntry {
  const titleOf = ({ parts: [, id = ''] }: Route): string =>
    `${title} ${/^\d+$/.test(id) ? count(Number(id)) : short(id)}`
  return { path: [path], title, titleOf, key: '', isListed: false, isFull: false, view }
}

export const VIEWS: readonly ViewEntry[] = [
  listed('', 'Live', 'l', LiveView),
  listed('log', 'Log', 'o', LogView),
  listed('accounts', 'Accounts', 'c', AccountsView),
  listed('network', 'Network', 'n', NetworkView, false),
  listed('act', 'Act', 'a', ActView, false),
  listed('time', 'Time', 't', TimeView, false),
  single('block', 'Block', BlockView),
  single('tx', 'Transaction', TransactionView),
  { ...single('debug', 'Debugger', DebuggerView), isFull: true },
  single('address', 'Account', AccountView),
]

export function viewAt({ parts }: Route): ViewEntry | undefined {
  return VIEWS.find(
    ({ path, isListed }) =>
      path[0] === parts[0] && (isListed ? parts.length === path.length : parts.length === 2),
  )
}
