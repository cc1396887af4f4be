// Objects from JSON or a program, whose members are unknown.

export type UnknownMembers = Readonly<Record<string, unknown>>

/** Undefined for text that is no JSON. */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** False for null and lists. */
export function isObject(value: unknown): value is UnknownMembers {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
