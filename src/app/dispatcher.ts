// The dispatcher of all chains: its methods, and what it needs from the chain that a request addresses.
import { invalidParams } from '../core/errors.ts'
import { hintOf } from '../core/nearest.ts'
import type { MethodContext, RequestWatch } from '../methods/common/context.ts'
import type { Profile } from '../methods/compat/profile.ts'
import { profileOf, reworded } from '../methods/compat/profiles.ts'
import { firstMethods } from '../methods/first.ts'
import { explaining } from '../methods/tracing/explain.ts'
import { headOf } from '../node/ledger/blocktree.ts'
import type { DevchainSettings } from '../options/derived.ts'
import { Dispatcher } from '../rpc/dispatch.ts'
import type { Method } from '../rpc/method.ts'
import { moduleOf } from '../rpc/registry.ts'
import type { Common } from './common.ts'

/** How the methods of chains with some options answer. */
export interface Wire {
  readonly profile: Profile
  readonly dispatcher: Dispatcher<MethodContext>
}

const observeByWatch: NonNullable<RequestWatch['observe']> = (call, context, details) =>
  context.watch.observe?.(call, context, details)

/** @throws {DevchainError} `INVALID_PARAMS` for an unknown module in `disable` or an unknown method in `alias` */
export async function openWire(
  { hooks, onBug, subscriptions }: Pick<Common, 'hooks' | 'onBug' | 'subscriptions'>,
  settings: DevchainSettings,
): Promise<Wire> {
  const profile = profileOf(settings.compat)
  const { disable, alias, plainErrors } = settings
  const namesAll = disable.length + alias.length > 0
  const methods = namesAll ? await loadMethods() : firstMethods
  if (namesAll) checkNames(settings, methods)
  const dispatcher = new Dispatcher<MethodContext>({
    methods,
    loadAll: namesAll ? undefined : loadMethods,
    disabled: disable,
    aliases: alias,
    absent: profile.absent,
    adapt: profile.adaptForms,
    reach: ({ forking }) => forking.reach,
    get observe() {
      const isObserved = hooks.observer?.onCall !== undefined || subscriptions.watchesCalls
      return isObserved ? observeByWatch : undefined
    },
    begin: (method, { caller, chain, watch }) => {
      caller.begin(chain.reading())
      return watch.begin(method, caller)
    },
    reword: (error, { chain }, method, cause) =>
      reworded(profile, error, method, headOf(chain.state.tree).block.header.number, cause),
    explain: plainErrors ? undefined : explaining(onBug),
    onBug,
  })
  return { profile, dispatcher }
}

/**
 * All modules of the specified catalogue (4.2), including those without methods yet, so that `--disable` keeps accepting
 * them.
 */
export const MODULES: readonly string[] =
  'web3 net eth db debug evm mnr personal ext trace txpool sco shh'.split(' ')

/** Most methods are loaded on first use: loading them at the start would make it a tenth longer. */
async function loadMethods(): Promise<readonly Method<MethodContext>[]> {
  return (await import('../methods/index.ts')).methods
}

/** @throws {DevchainError} `INVALID_PARAMS` suggesting the nearest module or method */
function checkNames(
  { disable, alias }: DevchainSettings,
  methods: readonly Method<MethodContext>[],
): void {
  const names = methods.flatMap((method) => [method.name, ...method.aliases])
  const modules = [...new Set(names.map(moduleOf))]
  for (const module of disable) checkName('--disable', 'module', module, [...modules, ...MODULES])
  for (const { to } of alias) {
    if (to.endsWith('_*')) checkName('--alias', 'module', moduleOf(to), modules)
    else checkName('--alias', 'method', to, names)
  }
}

function checkName(flag: string, kind: string, name: string, known: readonly string[]): void {
  if (known.includes(name)) return
  throw invalidParams(`${flag}: there is no ${kind} ${name}${hintOf(name, known)}`)
}
