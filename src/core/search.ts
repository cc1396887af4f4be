// Binary search.

/** The first index below `length` from which on `isPast` is true; `length` where there is none. */
export function firstIndex(length: number, isPast: (index: number) => boolean): number {
  let [low, high] = [0, length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (isPast(middle)) high = middle
    else low = middle + 1
  }
  return low
}
