// Accounts and slots of another network with their proofs: what it says is checked against the state root of its block.
import { DevchainError } from '../core/errors.ts'
import {
  type Address,
  bigintFromBytes,
  bytesFromHex,
  type Hash,
  hashFromBytes,
  isBytes,
} from '../core/hex.ts'
import type { MaybePromise } from '../core/promises.ts'
import { decodeRlp, type RlpItem } from '../core/rlp.ts'
import type { Json } from '../rpc/schema.ts'
import { addressKey, slotKey } from '../state/keys.ts'
import { BrokenProof } from '../state/sparse.ts'
import { unexpected } from './network/answers.ts'
import type { BlockPoint, Network } from './network/network.ts'
import { type ProvenNodes, provenValue } from './proofs/proof.ts'

/** An account as the state trie has it. */
export interface ProvenAccount {
  readonly nonce: bigint
  readonly balance: bigint
  readonly storageRoot: Uint8Array
  readonly codeHash: Hash
}

/**
 * An account; undefined where there is none.
 * @param known gets the nodes of the proof
 * @throws {DevchainError} `UPSTREAM_FAILED` naming the account whose proof does not hold
 */
export async function proveAccount(
  network: Network,
  point: BlockPoint,
  address: Address,
  known: ProvenNodes,
): Promise<ProvenAccount | undefined> {
  const root = bytesFromHex(point.stateRoot)
  return network.askAt('eth_getProof', [address, []], point, (answer) => {
    const { accountProof } = (answer ?? {}) as { accountProof?: unknown }
    const nodes = nodesOf(accountProof)
    return checked(`account ${address}`, () => {
      const value = provenValue(root, addressKey(address), nodes, known)
      return value === undefined ? undefined : accountIn(value)
    })
  })
}

function accountIn(leaf: Uint8Array): ProvenAccount {
  const [nonce, balance, storageRoot, codeHash] = bytesIn(decodeRlp(leaf), 4)
  return {
    nonce: bigintFromBytes(nonce!),
    balance: bigintFromBytes(balance!),
    storageRoot: storageRoot!,
    codeHash: hashFromBytes(codeHash!),
  }
}

/**
 * The words in slots of a proven account, whose proof may be on its way.
 * @throws {DevchainError} as `proveAccount`
 */
export async function proveSlots(
  network: Network,
  point: BlockPoint,
  { address, root }: { readonly address: Address; readonly root: MaybePromise<Uint8Array> },
  slots: readonly bigint[],
  known: ProvenNodes,
): Promise<readonly bigint[]> {
  const reader = async (): Promise<(answer: Json, slot: bigint) => bigint> => {
    const proven = await root
    return (answer, slot) => {
      const nodes = nodesOf((answer as { proof?: unknown } | null)?.proof)
      return checked(`slot 0x${slot.toString(16)} of ${address}`, () => {
        const value = provenValue(proven, slotKey(slot), nodes, known)
        return value === undefined ? 0n : bigintFromBytes(bytesOf(decodeRlp(value)))
      })
    }
  }
  return network.slotProofs(address, slots, point, reader())
}

/** The error of something that is not as the block's state root has it. */
export function unproven(what: string, why: string): DevchainError {
  const message = `the forked network lies, or serves another block: the proof of ${what} does not hold: ${why} (--fork-proofs)`
  return new DevchainError('UPSTREAM_FAILED', message)
}

function checked<T>(what: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    // nodes that cannot be decoded prove nothing either
    if (error instanceof BrokenProof || error instanceof DevchainError) {
      throw unproven(what, error.message)
    }
    throw error
  }
}

function nodesOf(value: unknown): readonly Uint8Array[] {
  const isList = Array.isArray(value) && value.every((node) => isBytes(String(node)))
  if (!isList) throw unexpected('a proof', value)
  return value.map((node) => bytesFromHex(String(node)))
}

function bytesIn(item: RlpItem, length: number): readonly Uint8Array[] {
  if (item instanceof Uint8Array || item.length !== length) throw new BrokenProof('a leaf is none')
  return item.map(bytesOf)
}

function bytesOf(item: RlpItem): Uint8Array {
  if (item instanceof Uint8Array) return item
  throw new BrokenProof('a leaf is none')
}
