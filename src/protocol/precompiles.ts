// Precompiles: their addresses and first forks.
import type { Address } from '../core/hex.ts'
import { type Hardfork, isAtLeast } from './forks.ts'

export interface Precompile {
  /** As EIP-7910 names it. */
  readonly name: string
  readonly address: Address
  readonly since: Hardfork
}

export const ECRECOVER: Precompile = precompile(0x01, 'ECREC', 'frontier')

/** Rollups had it before Ethereum, at half the price (RIP-7212). */
export const P256VERIFY: Precompile = precompile(0x100, 'P256VERIFY', 'osaka')

export interface ExtraPrecompiles {
  /** True: P256VERIFY at forks before osaka. */
  readonly rip7212?: boolean | undefined
}

const PRECOMPILES: readonly Precompile[] = [
  ECRECOVER,
  precompile(0x02, 'SHA256', 'frontier'),
  precompile(0x03, 'RIPEMD160', 'frontier'),
  precompile(0x04, 'ID', 'frontier'),
  precompile(0x05, 'MODEXP', 'byzantium'),
  precompile(0x06, 'BN254_ADD', 'byzantium'),
  precompile(0x07, 'BN254_MUL', 'byzantium'),
  precompile(0x08, 'BN254_PAIRING', 'byzantium'),
  precompile(0x09, 'BLAKE2F', 'istanbul'),
  precompile(0x0a, 'KZG_POINT_EVALUATION', 'cancun'),
  precompile(0x0b, 'BLS12_G1ADD', 'prague'),
  precompile(0x0c, 'BLS12_G1MSM', 'prague'),
  precompile(0x0d, 'BLS12_G2ADD', 'prague'),
  precompile(0x0e, 'BLS12_G2MSM', 'prague'),
  precompile(0x0f, 'BLS12_PAIRING_CHECK', 'prague'),
  precompile(0x10, 'BLS12_MAP_FP_TO_G1', 'prague'),
  precompile(0x11, 'BLS12_MAP_FP2_TO_G2', 'prague'),
  P256VERIFY,
]

export function precompilesOf(hardfork: Hardfork, extra?: ExtraPrecompiles): readonly Precompile[] {
  return PRECOMPILES.filter((each) => isThere(each, hardfork, extra))
}

export function isPrecompile(
  address: Address,
  hardfork: Hardfork,
  extra?: ExtraPrecompiles,
): boolean {
  const found = BY_ADDRESS.get(address)
  return found !== undefined && isThere(found, hardfork, extra)
}

const BY_ADDRESS = new Map(PRECOMPILES.map((each) => [each.address, each]))

function isThere(
  each: Precompile,
  hardfork: Hardfork,
  { rip7212 = false }: ExtraPrecompiles = {},
): boolean {
  return isAtLeast(hardfork, each.since) || (rip7212 && each === P256VERIFY)
}

function precompile(number: number, name: string, since: Hardfork): Precompile {
  return { name, address: `0x${number.toString(16).padStart(40, '0')}` as Address, since }
}
