// Schemas of trace results for descriptions: the results are written as text, without an encoder.
import { address, data, hash } from '../../../rpc/primitives.ts'
import type { Encoder, JsonSchema } from '../../../rpc/schema.ts'
import { quantityResult } from '../encodeobject.ts'

/** A result that its handler writes itself, except for null. */
function written(name: string, json: JsonSchema): Encoder<null> {
  return { name, json: { title: name, ...json }, encode: () => null }
}

function object(
  properties: Readonly<Record<string, JsonSchema>>,
  required: readonly string[] = Object.keys(properties),
): JsonSchema {
  return { type: 'object', properties, required, additionalProperties: false }
}

const integer: JsonSchema = { type: 'integer', minimum: 0 }
const word: JsonSchema = { type: 'string', pattern: '^0x[0-9a-f]{64}$' }
const words = (json: JsonSchema): JsonSchema => ({ type: 'array', items: json })
const orNull = (json: JsonSchema): JsonSchema => ({ anyOf: [json, { type: 'null' }] })

const structLog = object(
  {
    pc: integer,
    op: { type: 'string' },
    gas: integer,
    gasCost: integer,
    // since amsterdam; below 0 where state gas comes back
    stateGasCost: { type: 'integer' },
    stateGasReservoir: integer,
    depth: integer,
    refund: integer,
    stack: words(quantityResult.json),
    memory: words(word),
    storage: { type: 'object', additionalProperties: word },
    returnData: data.json,
    error: { type: 'string' },
  },
  ['pc', 'op', 'gas', 'gasCost', 'depth'],
)

const structLogs = object(
  {
    structLogs: words(structLog),
    gas: integer,
    failed: { type: 'boolean' },
    returnValue: data.json,
    // since amsterdam
    executionGasUsed: integer,
    stateGasUsed: integer,
    gasRefund: integer,
  },
  ['structLogs', 'gas', 'failed', 'returnValue'],
)

const flatMembers = {
  action: { type: 'object' },
  error: { type: 'string' },
  result: { type: ['object', 'null'] },
  subtraces: integer,
  traceAddress: words(integer),
  type: { type: 'string', enum: ['call', 'create', 'suicide'] },
} as const

const flatRequired = ['action', 'result', 'subtraces', 'traceAddress', 'type']

const placedFrame = object(
  {
    ...flatMembers,
    blockHash: hash.json,
    blockNumber: integer,
    transactionHash: hash.json,
    transactionPosition: integer,
  },
  [...flatRequired, 'blockHash', 'blockNumber', 'transactionHash', 'transactionPosition'],
)

const reward = object(
  {
    ...flatMembers,
    type: { type: 'string', enum: ['reward'] },
    blockHash: hash.json,
    blockNumber: integer,
  },
  [...flatRequired, 'blockHash', 'blockNumber'],
)

const replayMembers = {
  output: data.json,
  trace: words(object(flatMembers, flatRequired)),
  stateDiff: orNull({
    type: 'object',
    propertyNames: address.json,
    additionalProperties: { type: 'object' },
  }),
  vmTrace: orNull({ type: 'object' }),
} as const

/** The result of `debug_trace…`: struct logs, or the tracer's form. */
export const transactionTrace: Encoder<null> = written('trace', {
  anyOf: [
    structLogs,
    { type: 'object', not: { required: ['structLogs'] } },
    { type: 'array', items: { type: 'object' } },
  ],
})

export const blockTraces: Encoder<null> = written(
  'traces',
  words(object({ txHash: hash.json, result: transactionTrace.json })),
)

/** Traces by block, as geth's debug_traceChain notifies them. */
export const chainTraces: Encoder<null> = written(
  'traces',
  words(object({ block: quantityResult.json, hash: hash.json, traces: blockTraces.json })),
)

/** Gas by opcode, in alloy's form (rpc-types-trace, opcode.rs). */
const opcodeGas = object({
  transactionHash: hash.json,
  opcodeGas: words(object({ opcode: { type: 'string' }, count: integer, gasUsed: integer })),
})

export const transactionOpcodeGas: Encoder<null> = written('opcode gas', orNull(opcodeGas))

export const blockOpcodeGas: Encoder<null> = written(
  'opcode gas',
  orNull(object({ blockHash: hash.json, blockNumber: integer, transactions: words(opcodeGas) })),
)

export const placedFrameForm: Encoder<null> = written('trace', orNull(placedFrame))

/** Frames with their positions, and block rewards. */
export const placedFrames: Encoder<null> = written(
  'traces',
  orNull(words({ anyOf: [placedFrame, reward] })),
)

export const replayForm: Encoder<null> = written('replay', object(replayMembers))

export const repliesForm: Encoder<null> = written('replays', words(replayForm.json))

export const replaysForm: Encoder<null> = written(
  'replays',
  words(object({ ...replayMembers, transactionHash: hash.json })),
)
