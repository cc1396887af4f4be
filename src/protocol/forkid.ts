// Fork ids: checksums of a chain's genesis and fork points.
import { crc32 } from 'node:zlib'
import { hashBytes } from '../core/crypto/crypto.ts'
import { type Hash, paddedBytes } from '../core/hex.ts'
import { readStart } from './forks.ts'

/** Block numbers and times in seconds, ascending and unique. */
export type ForkPoints = Readonly<Record<'blocks' | 'times', readonly bigint[]>>

/** @throws {DevchainError} `INVALID_PARAMS` for a value that is no number */
export function forkPointsOf(
  config: Readonly<Record<string, unknown>>,
  genesisTime: bigint,
): ForkPoints {
  return {
    blocks: pointsOf(config, 'Block').filter((number) => number > 0n),
    times: pointsOf(config, 'Time').filter((time) => time > genesisTime),
  }
}

/**
 * 4 bytes.
 * @see https://eips.ethereum.org/EIPS/eip-6122
 */
export function forkIdAt(
  genesis: Hash,
  { blocks, times }: ForkPoints,
  timestamp: bigint,
): Uint8Array {
  const passed = [...blocks, ...times.filter((time) => time <= timestamp)]
  const checksum = passed.reduce(
    (sum, point) => crc32(paddedBytes(point, 8), sum),
    crc32(hashBytes(genesis)),
  )
  return paddedBytes(BigInt(checksum), 4)
}

function pointsOf(config: Readonly<Record<string, unknown>>, ending: string): bigint[] {
  const points = Object.keys(config)
    .filter((key) => key.endsWith(ending) && typeof config[key] !== 'object')
    .map((key) => readStart(config, key))
    .filter((point) => point !== undefined)
  return [...new Set(points)].sort((a, b) => (a < b ? -1 : 1))
}
