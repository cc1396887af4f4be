// Commands: methods that change something, and have nothing to say.
import type { MaybePromise } from '../../core/promises.ts'
import type { Declaration, Method, Param, Values } from '../../rpc/method.ts'
import { boolean, nothing } from '../../rpc/primitives.ts'
import type { Encoder } from '../../rpc/schema.ts'
import { ack } from '../compat/profile.ts'
import { type MethodContext, method } from './context.ts'

/** As a declaration; it changes the chain unless it says something else, and what its handler gives is told to nobody. */
type Command<P extends readonly Param<unknown>[]> = Omit<
  Declaration<MethodContext, P, unknown>,
  'result' | 'handle'
> & { readonly handle: (context: MethodContext, ...values: Values<P>) => MaybePromise<unknown> }

type MakeCommand = <const P extends readonly Param<unknown>[]>(
  command: Command<P>,
) => Method<MethodContext>

function answering<R>(result: Encoder<R>, answer: (context: MethodContext) => R): MakeCommand {
  return (command) =>
    method({
      effects: 'chain',
      ...command,
      result,
      handle: async (context, ...values) => {
        await command.handle(context, ...values)
        return answer(context)
      },
    })
}

/** Answers null, or true where a node's users expect it. */
export const command: MakeCommand = answering(ack, ({ profile }) => profile.ack)

export const trueCommand: MakeCommand = answering(boolean, () => true)

export const nullCommand: MakeCommand = answering(nothing, () => null)
