// Writes OpenEthereum's vmTrace as text while the run proceeds: operations with their effects, nested by frame.
import { hexFromBytes, quantityFromBigint, wordFromBigint } from '../../../core/hex.ts'
import type { Effect, OperationSink } from '../../../evm/tracers/operations.ts'
import type { JsonWriter } from '../../../rpc/jsontext.ts'

interface OpenFrame {
  operations: number
  /** Whether the open operation has opened a frame. */
  hasSub: boolean
}

/**
 * Writes a run's outermost frame: `{code, ops: [{pc, cost, sub, ex}]}`; `sub` is the frame that the operation opened or
 * null,
 * `ex` is `{used, push, mem, store}` with the gas left after it, or null after a failure.
 */
export function writeOperations(writer: JsonWriter): OperationSink {
  const open: OpenFrame[] = []
  return {
    openFrame: (code) => {
      const outer = open.at(-1)
      if (outer !== undefined) outer.hasSub = true
      open.push({ operations: 0, hasSub: false })
      writer.write(`{"code":"${hexFromBytes(code)}","ops":[`)
    },
    closeFrame: () => {
      open.pop()
      writer.write(']}')
    },
    openOperation: (pc, cost) => {
      const frame = open.at(-1)
      if (frame === undefined) return
      writer.write(`${frame.operations === 0 ? '' : ','}{"pc":${pc},"cost":${cost},"sub":`)
      frame.operations += 1
      frame.hasSub = false
    },
    closeOperation: (effect) => {
      const sub = open.at(-1)?.hasSub === true ? '' : 'null'
      writer.write(`${sub},"ex":${effect === undefined ? 'null' : effectText(effect)}}`)
    },
  }
}

function effectText({ gas, push, memory, store }: Effect): string {
  const words = push.map((word) => `"${quantityFromBigint(word)}"`).join(',')
  const mem =
    memory === undefined ? 'null' : `{"off":${memory.offset},"data":"${hexFromBytes(memory.data)}"}`
  const stored =
    store === undefined
      ? 'null'
      : `{"key":"${wordFromBigint(store.slot)}","val":"${wordFromBigint(store.value)}"}`
  return `{"used":${gas},"push":[${words}],"mem":${mem},"store":${stored}}`
}
