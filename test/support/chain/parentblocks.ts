// Blocks of a parent chain, made as a merged miner makes them; nothing in it is shared with the product.
import { createHash } from 'node:crypto'

/** What a parent block is like, where it matters. */
export interface ParentSketch {
  /** Hash of the work, 32 bytes in hex, with or without 0x. */
  readonly work: string
  /** Number of transactions: 1 when left out. */
  readonly transactions?: number
  /** What marks the hash. */
  readonly tag?: string
  /** Replaces the data that holds tag and hash in the coinbase. */
  readonly data?: Buffer
  /** 700,000 when left out. */
  readonly height?: number
  /** The header's hash shall be at most this; undefined: the first header, whatever it is. */
  readonly target?: bigint
  /** The header's hash shall be above `target` instead. */
  readonly isAbove?: boolean
  readonly hasWitness?: boolean
}

/** A parent block in all the forms in which it can be submitted. All hex is without 0x. */
export interface MadeParentBlock {
  readonly block: string
  readonly header: string
  readonly coinbase: string
  /** Ids in order, as people write them. */
  readonly ids: string[]
  /** The coinbase's id and what it hashes with, bottom up, as hashed. */
  readonly branch: string[]
  /** The block's hash as people write it. */
  readonly hash: string
  readonly nonce: number
}

export function makeParentBlock(sketch: ParentSketch): MadeParentBlock {
  const { work, transactions = 1, tag = 'DEVBLOCK:', height = 700_000, hasWitness = false } = sketch
  const marked = Buffer.concat([Buffer.from(tag), Buffer.from(work.replace(/^0x/, ''), 'hex')])
  const coinbase = coinbaseOf(height, sketch.data ?? marked)
  const others = Array.from({ length: transactions - 1 }, (_, i) => transfer(i))
  const all = [coinbase, ...others]
  const ids = all.map(doubleSha)
  const { root, branch } = merkle(ids)
  const header = mined(root, sketch)
  const whole = hasWitness ? all.map(withWitness) : all
  return {
    block: Buffer.concat([header, compactSize(all.length), ...whole]).toString('hex'),
    header: header.toString('hex'),
    coinbase: (whole[0] ?? coinbase).toString('hex'),
    ids: ids.map(displayed),
    branch: [ids[0]!, ...branch].map((each) => each.toString('hex')),
    hash: displayed(doubleSha(header)),
    nonce: header.readUInt32LE(76),
  }
}

function mined(root: Buffer, { target, isAbove = false }: ParentSketch): Buffer {
  const header = Buffer.alloc(80)
  header.writeUInt32LE(0x20000000, 0)
  root.copy(header, 36)
  header.writeUInt32LE(1_700_000_000, 68)
  for (let nonce = 0; ; nonce += 1) {
    header.writeUInt32LE(nonce, 76)
    const hash = BigInt(`0x${displayed(doubleSha(header))}`)
    if (target === undefined || hash > target === isAbove) return header
  }
}

function merkle(ids: readonly Buffer[]): { readonly root: Buffer; readonly branch: Buffer[] } {
  const branch: Buffer[] = []
  let level = [...ids]
  while (level.length > 1) {
    if (level.length % 2 === 1) level.push(level.at(-1)!)
    branch.push(level[1]!)
    const above: Buffer[] = []
    for (let i = 0; i < level.length; i += 2) {
      above.push(doubleSha(Buffer.concat([level[i]!, level[i + 1]!])))
    }
    level = above
  }
  return { root: level[0]!, branch }
}

function coinbaseOf(height: number, data: Buffer): Buffer {
  const number = Buffer.alloc(4)
  number.writeUInt32LE(height)
  const script = Buffer.concat([Buffer.of(4), number, Buffer.from('/test/')])
  const payout = Buffer.concat([amount(625_000_000n), sized(Buffer.alloc(25, 0x76))])
  const mark = Buffer.concat([amount(0n), sized(Buffer.concat([Buffer.of(0x6a), sized(data)]))])
  return transaction(
    [Buffer.concat([Buffer.alloc(32), Buffer.alloc(4, 0xff), sized(script), sequence])],
    [payout, mark],
  )
}

function transfer(i: number): Buffer {
  const spent = doubleSha(Buffer.from(`spent ${i}`))
  const input = Buffer.concat([spent, Buffer.alloc(4), sized(Buffer.alloc(i % 300, i)), sequence])
  return transaction([input], [Buffer.concat([amount(BigInt(i)), sized(Buffer.alloc(22, i))])])
}

const sequence = Buffer.alloc(4, 0xff)

function transaction(inputs: readonly Buffer[], outputs: readonly Buffer[]): Buffer {
  return Buffer.concat([
    Buffer.of(2, 0, 0, 0),
    compactSize(inputs.length),
    ...inputs,
    compactSize(outputs.length),
    ...outputs,
    Buffer.alloc(4),
  ])
}

/** A transaction of one input with a witness of two items, which its id does not depend on. */
function withWitness(bytes: Buffer): Buffer {
  const witness = Buffer.concat([
    compactSize(2),
    sized(Buffer.alloc(71, 1)),
    sized(Buffer.alloc(0)),
  ])
  return Buffer.concat([
    bytes.subarray(0, 4),
    Buffer.of(0, 1),
    bytes.subarray(4, -4),
    witness,
    bytes.subarray(-4),
  ])
}

function amount(value: bigint): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(value)
  return bytes
}

function sized(bytes: Buffer): Buffer {
  return Buffer.concat([compactSize(bytes.length), bytes])
}

function compactSize(value: number): Buffer {
  if (value < 0xfd) return Buffer.of(value)
  return Buffer.of(0xfd, value & 0xff, value >> 8)
}

function doubleSha(bytes: Uint8Array): Buffer {
  const once = createHash('sha256').update(bytes).digest()
  return createHash('sha256').update(once).digest()
}

function displayed(hash: Buffer): string {
  return Buffer.from(hash).reverse().toString('hex')
}
