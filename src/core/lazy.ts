// Values that are made when they are first asked for.

export function lazy<T>(make: () => T): () => T {
  let made: { readonly of: T } | undefined
  return () => {
    made ??= { of: make() }
    return made.of
  }
}
