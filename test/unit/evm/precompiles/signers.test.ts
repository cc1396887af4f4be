// Signatures that count as somebody's: every engine answers ecrecover alike, and only for them.
import { describe, expect, test } from 'vitest'
import {
  addressOfKey,
  keccak256,
  signatureBytes,
  signDigest,
} from '../../../../src/core/crypto/crypto.ts'
import {
  type Address,
  concatBytes,
  EMPTY_BYTES,
  type Hex,
  hexFromBytes,
  paddedBytes,
} from '../../../../src/core/hex.ts'
import { emptyMap } from '../../../../src/core/persistent.ts'
import type { CallJob, Jobs, Outcome, Signers } from '../../../../src/evm/executor.ts'
import { HARDFORKS } from '../../../../src/protocol/forks.ts'
import { allEngines } from '../../../support/evm/engines.ts'
import { ALICE, BOB, callOf, messageWith, OTHER } from '../stage.ts'

const KEY = keccak256(Uint8Array.of(1))
const DIGEST = keccak256(Uint8Array.of(2))
const ANOTHER_DIGEST = keccak256(Uint8Array.of(3))
const SIGNATURE = signDigest(DIGEST, KEY)
const ECRECOVER = `0x${'1'.padStart(40, '0')}` as Address

const word = (value: bigint): Uint8Array => paddedBytes(value, 32)

function signersWith(...entries: readonly (readonly [Uint8Array, Address])[]): Signers {
  let signers: Signers = emptyMap<Hex, Address>()
  for (const [signature, signer] of entries) {
    signers = signers.set(hexFromBytes(signature), signer)
  }
  return signers
}

/** The signature is Alice's, whoever made it. */
const ALICES = signersWith([signatureBytes(SIGNATURE), ALICE])

interface Asked {
  readonly digest?: Uint8Array
  readonly v?: bigint
  readonly r?: bigint
  readonly s?: bigint
}

/** The input of ecrecover. */
function asking({
  digest = DIGEST,
  v = 27n + BigInt(SIGNATURE.yParity),
  r = SIGNATURE.r,
  s = SIGNATURE.s,
}: Asked = {}): Uint8Array {
  return concatBytes(digest, word(v), word(r), word(s))
}

/** A contract that asks ecrecover what it is asked, and returns what that returned. */
const RELAY =
  'CALLDATASIZE 0 0 CALLDATACOPY 32 512 CALLDATASIZE 0 1 GAS STATICCALL POP RETURNDATASIZE 512 RETURN'

function relayed(data: Uint8Array, signers: Signers | undefined): CallJob {
  return callOf(RELAY, { data }, { signers })
}

const asWord = (address: Address): string => hexFromBytes(word(BigInt(address)))

const output = (outcome: Outcome): string => hexFromBytes(outcome.output)

const MAKER = addressOfKey(KEY)

describe.each(allEngines())('ecrecover on the $name', (engine) => {
  const jobs: Jobs = engine.jobsWithin(128_000_000)
  const ask = async (data: Uint8Array, signers: Signers | undefined): Promise<string> =>
    output(await jobs.call(relayed(data, signers)))

  test('returns the address that a signature counts as made by, for any digest', async () => {
    expect(await ask(asking(), ALICES)).toBe(asWord(ALICE))
    expect(await ask(asking({ digest: ANOTHER_DIGEST }), ALICES)).toBe(asWord(ALICE))
  })

  test.each<{ what: string; asked: Asked }>([
    { what: 'another r', asked: { r: SIGNATURE.r - 1n } },
    { what: 'another s', asked: { s: SIGNATURE.s - 1n } },
    { what: 'the other v', asked: { v: 28n - BigInt(SIGNATURE.yParity) } },
    { what: 'a v that is none', asked: { v: BigInt(SIGNATURE.yParity) } },
    { what: 'a v whose last byte alone is right', asked: { v: 2n ** 255n + 27n } },
  ])('returns its normal result for $what', async ({ asked }) => {
    const data = asking(asked)
    const usual = await ask(data, undefined)
    expect(await ask(data, ALICES)).toBe(usual)
    expect(usual).not.toBe(asWord(ALICE))
  })

  test('forgets the signers of a run after the run', async () => {
    expect(await ask(asking(), ALICES)).toBe(asWord(ALICE))
    expect(await ask(asking(), undefined)).toBe(asWord(MAKER))
    expect(await ask(asking(), signersWith([signatureBytes(SIGNATURE), BOB]))).toBe(asWord(BOB))
  })

  test('accepts r and s that no key can make, and truncated input', async () => {
    const nobody = signersWith([concatBytes(new Uint8Array(64), Uint8Array.of(27)), BOB])
    expect(await ask(asking({ v: 27n, r: 0n, s: 0n }), nobody)).toBe(asWord(BOB))
    expect(await ask(asking({ v: 27n, r: 0n, s: 0n }).subarray(0, 64), nobody)).toBe(asWord(BOB))
    expect(await ask(EMPTY_BYTES, nobody)).toBe('0x')
  })

  test('has its normal price and its normal need of gas', async () => {
    const usual = await jobs.call(relayed(asking(), undefined))
    const outcome = await jobs.call(relayed(asking(), ALICES))
    expect(outcome.gasUsed).toBe(usual.gasUsed)
    const direct = (signers: Signers | undefined, gasLimit: bigint): CallJob => ({
      ...relayed(asking(), signers),
      message: messageWith({ to: ECRECOVER, data: asking(), gasLimit }),
    })
    const enough = (await jobs.call(direct(ALICES, 100_000n))).gasUsed
    expect(output(await jobs.call(direct(ALICES, enough)))).toBe(asWord(ALICE))
    for (const signers of [ALICES, undefined]) {
      const outcome = await jobs.call(direct(signers, enough - 1n))
      expect(outcome.failure).toEqual({ kind: 'halt', reason: 'out of gas' })
      expect(outcome.gasUsed).toBe(enough - 1n)
    }
  })

  test('returns that address where it was moved to, and nowhere else', async () => {
    const moved = new Map([[ECRECOVER, OTHER]])
    const at = async (to: Address): Promise<string> =>
      output(
        await jobs.call({
          ...relayed(asking(), ALICES),
          movedPrecompiles: moved,
          message: messageWith({ to, data: asking() }),
        }),
      )
    expect(await at(OTHER)).toBe(asWord(ALICE))
    expect(await at(ECRECOVER)).toBe('0x')
    expect(await ask(asking(), undefined)).toBe(asWord(MAKER))
  })

  test('returns that address under every fork', async () => {
    // what RETURNDATASIZE and STATICCALL do on newer forks
    const program =
      'CALLDATASIZE 0 0 CALLDATACOPY 32 512 CALLDATASIZE 0 0 1 10000 CALL POP 32 512 RETURN'
    for (const hardfork of HARDFORKS) {
      const job = callOf(program, { data: asking() }, { signers: ALICES, hardfork })
      expect(output(await jobs.call(job)), hardfork).toBe(asWord(ALICE))
    }
  })
})
