// Values that are computed on first use.

export function lazy<T>(make: () => T): () => T {
  let made: { readonly of: T } | undefined
  return () => {
    made ??= { of: make() }
    return made.of
  }
}
