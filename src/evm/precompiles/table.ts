// The precompiles by fork and address for the fast machines. The reference uses the library's.
import type { Address } from '../../core/hex.ts'
import { memoize } from '../../core/lrucache.ts'
import { HARDFORKS, type Hardfork } from '../../protocol/forks.ts'
import { ECRECOVER, type ExtraPrecompiles, precompilesOf } from '../../protocol/precompiles.ts'
import type { MovedPrecompiles, Signers } from '../executor.ts'
import { blake2f } from './blake2f.ts'
import {
  blsPairing,
  g1Add,
  g1MultiplySum,
  g2Add,
  g2MultiplySum,
  mapToG1,
  mapToG2,
} from './bls12381.ts'
import { bn254Add, bn254Multiply, bn254Pairing } from './bn254.ts'
import { ecrecover, ecrecoverWith, identity, ripemd160, sha256 } from './hashes.ts'
import { modexp } from './modexp.ts'
import type { PrecompileCode } from './precompile.ts'
import { p256verify, pointEvaluation } from './signatures.ts'

/** Names of EIP-7910. */
const CODES: Readonly<Record<string, (hardfork: Hardfork) => PrecompileCode>> = {
  ECREC: () => ecrecover,
  SHA256: () => sha256,
  RIPEMD160: () => ripemd160,
  ID: () => identity,
  MODEXP: modexp,
  BN254_ADD: bn254Add,
  BN254_MUL: bn254Multiply,
  BN254_PAIRING: bn254Pairing,
  BLAKE2F: () => blake2f,
  KZG_POINT_EVALUATION: () => pointEvaluation,
  BLS12_G1ADD: () => g1Add,
  BLS12_G1MSM: () => g1MultiplySum,
  BLS12_G2ADD: () => g2Add,
  BLS12_G2MSM: () => g2MultiplySum,
  BLS12_PAIRING_CHECK: () => blsPairing,
  BLS12_MAP_FP_TO_G1: () => mapToG1,
  BLS12_MAP_FP2_TO_G2: () => mapToG2,
  P256VERIFY: p256verify,
}

export type PrecompileTable = ReadonlyMap<Address, PrecompileCode>

export function precompileTable(hardfork: Hardfork, extra?: ExtraPrecompiles): PrecompileTable {
  return extra?.rip7212 ? tableWithRip7212(hardfork) : usualTable(hardfork)
}

const usualTable = memoize(HARDFORKS.length, (hardfork: Hardfork) => tableOf(hardfork, {}))
const tableWithRip7212 = memoize(HARDFORKS.length, (hardfork: Hardfork) =>
  tableOf(hardfork, { rip7212: true }),
)

function tableOf(hardfork: Hardfork, extra: ExtraPrecompiles): PrecompileTable {
  return new Map(
    precompilesOf(hardfork, extra).map(({ name, address }) => {
      const code = CODES[name]
      if (code === undefined) throw new Error(`no code for the precompile ${name}`)
      return [address, code(hardfork)]
    }),
  )
}

/** As a job overrides it. */
export function precompilesFor(
  usual: PrecompileTable,
  moved: MovedPrecompiles | undefined,
  signers: Signers | undefined,
): PrecompileTable {
  const table =
    signers === undefined ? usual : new Map(usual).set(ECRECOVER.address, ecrecoverWith(signers))
  return moved === undefined ? table : withMoved(table, moved)
}

/** Moves precompiles all at once; null removes one. */
export function withMoved<Key, Code>(
  usual: ReadonlyMap<Key, Code>,
  moved: ReadonlyMap<Key, Key | null>,
): Map<Key, Code> {
  const table = new Map(usual)
  for (const from of moved.keys()) table.delete(from)
  for (const [from, to] of moved) {
    const code = usual.get(from)
    if (code !== undefined && to !== null) table.set(to, code)
  }
  return table
}
