// Commands: methods that change something and return no result, and their shared code.
import type { Address } from '../../core/hex.ts'
import { type MaybePromise, whenThere } from '../../core/promises.ts'
import type { AccountBook } from '../../node/accounts/accounts.ts'
import type { Chain } from '../../node/chain/chain.ts'
import { editAccounts } from '../../node/cheats/edit.ts'
import { changeAccounts, changeSettings } from '../../node/commands/settings.ts'
import { increaseTime } from '../../node/commands/time.ts'
import type { Settings } from '../../node/ledger/chainstate.ts'
import type { Change } from '../../node/ledger/change.ts'
import type { Method, Param, Values } from '../../rpc/method.ts'
import { boolean, nothing } from '../../rpc/primitives.ts'
import type { Encoder } from '../../rpc/schema.ts'
import type { Account } from '../../state/world.ts'
import { ack } from '../compat/profile.ts'
import { type Declared, type MethodContext, type Methods, method } from './context.ts'

/** As a declaration; `effects` defaults to `chain`, the result to null or true, and the handler's result is discarded. */
type Command<P extends readonly Param<unknown>[]> = Omit<
  Declared<P, unknown>,
  'result' | 'handle'
> & { readonly handle: (context: MethodContext, ...values: Values<P>) => MaybePromise<unknown> }

type MakeCommand = <const P extends readonly Param<unknown>[] = readonly []>(
  name: string,
  command: Command<P>,
) => Method<MethodContext>

function returning<R extends true | null>(
  result: Encoder<R>,
  usual: R,
  resultIn: (context: MethodContext) => R = () => usual,
): MakeCommand {
  return (name, command) =>
    method(name, {
      effects: 'chain',
      example: { result: usual },
      ...command,
      result,
      handle: async (context, ...values) => {
        await command.handle(context, ...values)
        return resultIn(context)
      },
    })
}

/** Returns null, or true where the node named by `--compat` does. */
export const command: MakeCommand = returning<true | null>(ack, null, ({ profile }) => profile.ack)

export const trueCommand: MakeCommand = returning<true>(boolean, true)

export const nullCommand: MakeCommand = returning(nothing, null)

/** Known methods that are refused with a reason. @param names separated by spaces */
export function unsupported(reason: string, names: string): Methods {
  const declared = { result: nothing, handle: () => null }
  return names.split(' ').map((name) => ({
    ...method(name, { ...declared, summary: `Not supported: ${reason}.` }),
    unsupported: reason,
  }))
}

/** Changes accounts without a transaction, in one step, so that no request sees half of it. */
export function edit(
  chain: Chain,
  accounts: readonly Address[],
  change: (before: Account) => Account,
): Promise<void> {
  return chain.update((state) => editAccounts(state, accounts, change))
}

export function increasedTime(chain: Chain, seconds: bigint): Promise<bigint> {
  return chain.update((state) => increaseTime(state, seconds, chain.environment.now()))
}

export function change(chain: Chain, settings: Partial<Settings>): Promise<void> {
  return chain.update((state) => changeSettings(state, settings))
}

/** Exchanges the account book; false if `change` has no other. */
export function exchange(
  chain: Chain,
  change: (book: AccountBook) => MaybePromise<AccountBook | undefined>,
): Promise<boolean> {
  return chain.update((state) =>
    whenThere(change(state.accounts), (book): Change<boolean> => {
      if (book === undefined) return { state, value: false }
      return { ...changeAccounts(state, book), value: true }
    }),
  )
}
