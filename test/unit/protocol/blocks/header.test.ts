// What derives from the table of header fields agrees: RLP, JSON, and what a fork reads of a network's JSON.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { hashFromBytes, hexFromBytes, paddedBytes, parseAddress } from '../../../../src/core/hex.ts'
import { readBlock } from '../../../../src/fork/network/header.ts'
import { headerShape } from '../../../../src/methods/wire/encodeblock.ts'
import {
  decodeHeader,
  encodeHeader,
  FIELDS,
  type Header,
  type HeaderField,
  type HeaderName,
  hashHeader,
  headerFrom,
} from '../../../../src/protocol/blocks/header.ts'
import { HARDFORKS, isAtLeast } from '../../../../src/protocol/forks.ts'

const seeded = { seed: 20261123, numRuns: 100 }

/** Values of a field that differ from field to field. */
function valueFor({ kind, size = 32 }: HeaderField, number: bigint): Header[HeaderName] {
  if (kind === 'integer') return number % 256n ** BigInt(size)
  if (kind === 'address') return parseAddress(hexFromBytes(paddedBytes(number % 2n ** 160n, 20)))
  return kind === 'hash' ? hashFromBytes(paddedBytes(number, 32)) : paddedBytes(number, size)
}

const header = fc
  .tuple(
    fc.constantFrom(...HARDFORKS),
    fc.array(fc.bigInt(0n, 2n ** 64n - 1n), { minLength: FIELDS.length, maxLength: FIELDS.length }),
  )
  .map(([fork, numbers]) => {
    const left = [...numbers]
    return headerFrom((_, field) => {
      const number = left.pop()!
      return isAtLeast(fork, field.since ?? 'frontier') ? valueFor(field, number) : undefined
    })
  })

test('a header decodes from its RLP', () => {
  fc.assert(
    fc.property(header, (given) => {
      expect(decodeHeader(encodeHeader(given))).toEqual(given)
    }),
    seeded,
  )
})

test('a header decodes from its JSON, as a fork reads it from a network', () => {
  fc.assert(
    fc.property(header, (given) => {
      const hash = hashHeader(given)
      const view = { header: given, hash, nulls: [], size: 0, transactions: [], uncles: [] }
      const rest = { totalDifficulty: 0n, cumulativeDifficulty: 0n, withdrawals: undefined }
      const read = readBlock(headerShape.encode({ ...view, ...rest }))
      expect(read.header).toEqual(given)
      expect(read.hash).toBe(hash)
    }),
    seeded,
  )
})
