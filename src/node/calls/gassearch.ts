// Finds the smallest gas limit with which a run succeeds, in few runs.

interface GasBounds {
  readonly minimum: bigint
  readonly cap: bigint
  readonly guess: bigint
}

const CALL_STIPEND = 2300n

/** Finds a limit that succeeds while one less fails. A right guess costs two runs; bisection starts near the bottom. */
export async function smallestGas(
  succeeds: (gas: bigint) => Promise<boolean>,
  { minimum, cap, guess }: GasBounds,
): Promise<bigint> {
  let low = minimum - 1n
  let high = cap
  const probe = async (gas: bigint): Promise<boolean> => {
    if (gas >= high) return true
    if (gas <= low) return false
    const isEnough = await succeeds(gas)
    if (isEnough) high = gas
    else low = gas
    return isEnough
  }
  if ((await probe(guess)) && !(await probe(guess - 1n))) return guess
  while (high - low > 1n) {
    const middle = (low + high) / 2n
    await probe(low > 0n && middle > low * 2n ? low * 2n : middle)
  }
  return high
}

/** geth's estimates may be too large by this ratio. */
const ERROR_RATIO = 0.015

interface WidestRun {
  readonly cap: bigint
  readonly gasUsed: bigint
  readonly gasRefund: bigint
}

/** @see https://github.com/ethereum/go-ethereum/blob/master/eth/gasestimator/gasestimator.go */
export function coarseGas(exact: bigint, { cap, gasUsed, gasRefund }: WidestRun): bigint {
  let low = gasUsed - 1n
  let high = cap
  const probe = (gas: bigint): void => {
    if (gas >= exact) high = gas
    else low = gas
  }
  const hopeful = ((gasUsed + gasRefund + CALL_STIPEND) * 64n) / 63n
  if (hopeful < high) probe(hopeful)
  while (low + 1n < high && Number(high - low) / Number(high) >= ERROR_RATIO) {
    const middle = (low + high) / 2n
    probe(middle > low * 2n ? low * 2n : middle)
  }
  return high
}
