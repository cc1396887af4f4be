// Reads artifacts one by one and summarizes each.
import { readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { readFailure } from '../../core/errors.ts'
import { shapeOf } from '../code/shape.ts'
import { contractsIn, type FoundContract, isObject, type JsonObject } from './formats.ts'
import { hashOfText, stampIn } from './stamps.ts'
import {
  type AbiItem,
  type ContractSummary,
  isAbiKind,
  type ReaderNews,
  type ReadFile,
  type ReadOrder,
  type SkippedFile,
} from './summary.ts'

/** Bytes of the largest artifact; longer build information is not read here. */
const LARGEST_FILE = 64_000_000

const FILES_A_PIECE = 10

/** Different ABI members that one reader keeps; contracts lack those beyond. */
const MOST_ITEMS = 200_000

/** Reads files in order and yields news in batches; never throws for a file's content. */
export function* read({ files, known }: ReadOrder): IterableIterator<ReaderNews> {
  const summarizer = new Summarizer()
  for (let at = 0; at < files.length; at += FILES_A_PIECE) {
    const results = files
      .slice(at, at + FILES_A_PIECE)
      .map((file) => readOne(file, known[file], summarizer))
    yield {
      files: results.filter((each) => each !== undefined && 'contracts' in each),
      skipped: results.filter((each) => each !== undefined && 'why' in each),
    }
  }
}

function readOne(
  file: string,
  known: string | undefined,
  summarizer: Summarizer,
): ReadFile | SkippedFile | undefined {
  try {
    // synchronous: waiting for the thread pool takes longer than most files do
    const stats = statSync(file)
    const stamp = stampIn(stats)
    if (stamp === known) return undefined
    const { size } = stats
    if (size > LARGEST_FILE) {
      const why = `${Math.round(size / 1e6)} MB exceed the limit of ${LARGEST_FILE / 1e6} MB`
      return { path: file, why }
    }
    const found = contractsIn(JSON.parse(readFileSync(file, 'utf8')), path.basename(file, '.json'))
    if (found === undefined) return { path: file, why: 'not an artifact' }
    return { path: file, stamp, contracts: found.map((each) => summarizer.summaryOf(each)) }
  } catch (error) {
    return { path: file, why: error instanceof SyntaxError ? 'invalid JSON' : readFailure(error) }
  }
}

/** Members of ABI items that decoding needs, at any depth. */
const DECODED = [
  ...['type', 'name', 'inputs', 'outputs', 'components', 'indexed'],
  ...['stateMutability', 'anonymous'],
]

/** Contracts share ABI members that are equal. */
export class Summarizer {
  readonly #items = new Map<string, AbiItem>()

  summaryOf(found: FoundContract): ContractSummary {
    return {
      ...found,
      name: found.name.slice(0, 200),
      abi: found.abi.flatMap((item) => this.#itemOf(item)),
      creation: shapeOf(found.creation),
      runtime: shapeOf(found.runtime),
    }
  }

  #itemOf(given: unknown): readonly AbiItem[] {
    if (!isObject(given)) return []
    const item = { ...given, stateMutability: given.stateMutability ?? oldMutability(given) }
    const json = JSON.stringify(item, DECODED)
    const known = this.#items.get(json)
    if (known !== undefined) return [known]
    const made = abiItem(item, json)
    if (made === undefined || this.#items.size >= MOST_ITEMS) return []
    this.#items.set(json, made)
    return [made]
  }
}

/** As compilers before Solidity 0.4.16 and Vyper 0.2 have it. */
function oldMutability({ payable, constant }: JsonObject): string | undefined {
  return payable === true ? 'payable' : constant === true ? 'view' : undefined
}

function abiItem(item: JsonObject, json: string): AbiItem | undefined {
  const { type: kind, name = '' } = item
  if (!isAbiKind(kind) || typeof name !== 'string') return undefined
  const isPayable = item.stateMutability === 'payable'
  if (kind === 'constructor' || kind === 'fallback' || kind === 'receive') {
    return { kind, name: '', signature: '', key: '', isPayable, json }
  }
  const signature = `${name}(${typesOf(item.inputs)})`
  const hash = hashOfText(signature)
  const isBare = kind === 'event' && item.anonymous === true
  const key = kind === 'event' ? hash : hash.slice(0, 10)
  return { kind, name, signature, key: isBare ? '' : key, isPayable, json }
}

/** Parameter types as in a signature, with tuples expanded. */
function typesOf(parameters: unknown): string {
  if (!Array.isArray(parameters)) return ''
  return (parameters as readonly unknown[]).map(typeOf).join(',')
}

function typeOf(parameter: unknown): string {
  if (!isObject(parameter)) return ''
  const type = String(parameter.type)
  return type.startsWith('tuple') ? `(${typesOf(parameter.components)})${type.slice(5)}` : type
}
