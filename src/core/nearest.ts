// Suggests the word that a typo probably meant.

/**
 * The word with the fewest edits (Levenshtein with swaps), ignoring case; undefined if none is near. Reads only the first 64
 * letters of `text`, which may be long.
 * @param limit most edits that count as near
 */
export function nearest<W extends string>(
  text: string,
  words: readonly W[],
  limit: number = Math.max(text.length < 4 ? 1 : 2, Math.floor(Math.min(text.length, 64) / 3)),
): W | undefined {
  const wanted = text.slice(0, 64).toLowerCase()
  let best: W | undefined
  let fewest = limit + 1
  for (const word of words) {
    // a difference in length costs as many edits: this skips most words
    if (Math.abs(word.length - wanted.length) >= fewest) continue
    const edits = distance(wanted, word.toLowerCase())
    if (edits < fewest) [best, fewest] = [word, edits]
  }
  return best
}

/** `; did you mean port?`; empty if no word is near. */
export function hintOf(text: string, words: readonly string[]): string {
  const word = nearest(text, words)
  return word === undefined ? '' : `; did you mean ${word}?`
}

/** Optimal string alignment: insertions, deletions, replacements and swaps of neighbours. */
function distance(from: string, to: string): number {
  let before: readonly number[] = []
  let row: readonly number[] = Array.from({ length: to.length + 1 }, (_, i) => i)
  for (let i = 1; i <= from.length; i++) {
    const next = [i]
    for (let j = 1; j <= to.length; j++) {
      const replaced = at(row, j - 1) + (from[i - 1] === to[j - 1] ? 0 : 1)
      const isSwap = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1]
      const swapped = isSwap ? at(before, j - 2) + 1 : Infinity
      next.push(Math.min(replaced, swapped, at(row, j) + 1, at(next, j - 1) + 1))
    }
    ;[before, row] = [row, next]
  }
  return at(row, to.length)
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? 0
}
