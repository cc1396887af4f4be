// Values that are available at once or later.

export type MaybePromise<T> = T | Promise<T>

/** Also recognizes promises of another realm, as test runners create. */
export function isPromise<T>(value: MaybePromise<T>): value is Promise<T> {
  return typeof (value as { readonly then?: unknown } | null | undefined)?.then === 'function'
}

/** Applies `use` synchronously if the value is there; then it throws synchronously, too. */
export function whenThere<T, R>(
  value: MaybePromise<T>,
  use: (value: T) => MaybePromise<R>,
): MaybePromise<R> {
  return isPromise(value) ? value.then(use) : use(value)
}
