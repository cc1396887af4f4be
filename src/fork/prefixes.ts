// Finds names whose hash has a prefix: `eth_getProof` of such a name returns the trie nodes on that path.
import { Desk } from '../core/crypto/keccak.ts'
import { getOrMake, LruCache } from '../core/lrucache.ts'
import { nextTurn } from '../core/yield.ts'

/** Bytes of an address or of a slot; the name is a big-endian number. */
type NameLength = 20 | 32

/** Longer prefixes take more than seconds of hashing. */
const MOST_NIBBLES = 6

/** A prefix of d nibbles takes 16^d hashes on average; after 8 times as many, one in 3,000 is not found. */
const PATIENCE = 8

/** Hashes before other work gets a turn: a few milliseconds. */
const TURN = 8_192

const LONG_MS = 1_000

type OnLong = (prefixes: readonly string[]) => void

const KEPT = 65_536
const remembered = new LruCache<string, bigint>(KEPT)

/**
 * Deterministic: each run finds the same names.
 * @param onLong called once if it takes long, with the prefixes not found yet
 * @returns by prefix, without those too long or not found in time
 */
export async function namesWith(
  prefixes: Iterable<string>,
  length: NameLength,
  onLong: OnLong = () => undefined,
  longMs: number = LONG_MS,
): Promise<ReadonlyMap<string, bigint>> {
  const names = new Map<string, bigint>()
  const wanted = new Set<string>()
  for (const prefix of prefixes) {
    const name = remembered.get(`${length} ${prefix}`)
    if (name !== undefined) names.set(prefix, name)
    else if (prefix.length <= MOST_NIBBLES) wanted.add(prefix)
  }
  for await (const [prefix, name] of search(wanted, length, onLong, longMs)) {
    remembered.set(`${length} ${prefix}`, name)
    names.set(prefix, name)
  }
  return names
}

async function* search(
  prefixes: ReadonlySet<string>,
  length: NameLength,
  onLong: OnLong,
  longMs: number,
): AsyncGenerator<readonly [string, bigint]> {
  const desk = new Desk()
  const open = byLength(prefixes)
  const longest = Math.max(0, ...open.map(({ nibbles }) => nibbles))
  const most = PATIENCE * 16 ** longest
  let left = prefixes.size
  const since = performance.now()
  let isWarned = false
  for (let number = 0; left > 0 && number < most; number++) {
    if (number % TURN === TURN - 1) {
      await nextTurn()
      if (!isWarned && performance.now() - since > longMs) {
        isWarned = true
        onLong(open.flatMap(({ numbers }) => [...numbers.values()]))
      }
    }
    desk.bytes.fill(0, 0, length)
    desk.view.setUint32(length - 4, number)
    desk.hash(length)
    const first = desk.view.getUint32(0)
    for (const { nibbles, numbers } of open) {
      const digits = nibbles === 0 ? 0 : first >>> (32 - 4 * nibbles)
      const prefix = numbers.get(digits)
      if (prefix === undefined) continue
      numbers.delete(digits)
      left -= 1
      yield [prefix, BigInt(number)]
    }
  }
}

interface OfLength {
  readonly nibbles: number
  readonly numbers: Map<number, string>
}

function byLength(prefixes: ReadonlySet<string>): readonly OfLength[] {
  const found = new Map<number, OfLength>()
  for (const prefix of prefixes) {
    const nibbles = prefix.length
    const { numbers } = getOrMake(found, nibbles, () => ({ nibbles, numbers: new Map() }))
    numbers.set(nibbles === 0 ? 0 : Number.parseInt(prefix, 16), prefix)
  }
  return [...found.values()]
}
