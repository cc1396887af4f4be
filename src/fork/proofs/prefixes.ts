// Names whose hash begins as wanted. `eth_getProof` takes names, not places in a trie, but what it proves of a name that is
// not there has the nodes on the way to where that would be.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Desk } from '../../core/crypto/keccak.ts'
import { LruCache } from '../../core/lrucache.ts'

/** What is hashed: a number, big-endian, in as many bytes as an address or a slot has. */
type NameLength = 20 | 32

/** The longest prefix that is searched for: seconds of hashing. */
const MOST_NIBBLES = 6

/** A prefix of d nibbles takes 16^d hashes on average; after so many times that, one in 3,000 is not found. */
const PATIENCE = 8

/** Hashes before others have their turn: a few milliseconds. */
const TURN = 8_192

const LONG_MS = 1_000

/** Whoever is told that a search takes long. */
interface SearchWatch {
  /** Called once. @param prefixes what is still searched for */
  readonly onLong: (prefixes: readonly string[]) => void
  readonly longMs?: number | undefined
}

const KEPT = 65_536
const remembered = new LruCache<string, bigint>(KEPT)

/**
 * Numbers whose Keccak-256, as names of so many bytes, begin with these hexadecimal digits: the same in every run.
 * @returns by prefix, without those that are too long, or were not found in time
 */
export async function namesWith(
  prefixes: Iterable<string>,
  length: NameLength,
  watch?: SearchWatch,
): Promise<ReadonlyMap<string, bigint>> {
  const names = new Map<string, bigint>()
  const wanted = new Set<string>()
  for (const prefix of prefixes) {
    const name = remembered.get(`${length} ${prefix}`)
    if (name !== undefined) names.set(prefix, name)
    else if (prefix.length <= MOST_NIBBLES) wanted.add(prefix)
  }
  for await (const [prefix, name] of search(wanted, length, watch)) {
    remembered.set(`${length} ${prefix}`, name)
    names.set(prefix, name)
  }
  return names
}

async function* search(
  prefixes: ReadonlySet<string>,
  length: NameLength,
  watch: SearchWatch | undefined,
): AsyncGenerator<readonly [string, bigint]> {
  const desk = new Desk()
  const open = byLength(prefixes)
  const longest = Math.max(0, ...open.map(({ nibbles }) => nibbles))
  const most = PATIENCE * 16 ** longest
  let left = prefixes.size
  const since = performance.now()
  let isTold = watch === undefined
  for (let number = 0; left > 0 && number < most; number++) {
    if (number % TURN === TURN - 1) {
      await nextTurn()
      if (!isTold && performance.now() - since > (watch?.longMs ?? LONG_MS)) {
        isTold = true
        watch?.onLong(open.flatMap(({ numbers }) => [...numbers.values()]))
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
  /** Prefixes by the number that their digits are. */
  readonly numbers: Map<number, string>
}

function byLength(prefixes: ReadonlySet<string>): readonly OfLength[] {
  const found = new Map<number, OfLength>()
  for (const prefix of prefixes) {
    const nibbles = prefix.length
    const of = found.get(nibbles) ?? { nibbles, numbers: new Map<number, string>() }
    of.numbers.set(nibbles === 0 ? 0 : Number.parseInt(prefix, 16), prefix)
    found.set(nibbles, of)
  }
  return [...found.values()]
}
