// Values that may be there at once, or come later.

/** What is known at once, or later: whoever needs it at once asks `isPromise`, whoever can wait awaits it. */
export type MaybePromise<T> = T | Promise<T>

/** True for what has to be awaited. Also for promises of another world, as test runners make. */
export function isPromise<T>(value: MaybePromise<T>): value is Promise<T> {
  return typeof (value as { readonly then?: unknown } | null | undefined)?.then === 'function'
}

/** Hands a value on as soon as it is there: at once where that is now. What `use` throws at once, it throws at once. */
export function whenThere<T, R>(
  value: MaybePromise<T>,
  use: (value: T) => MaybePromise<R>,
): MaybePromise<R> {
  return isPromise(value) ? value.then(use) : use(value)
}
