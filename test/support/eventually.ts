// Waits for what other processes and sockets do, without guessing how long it takes.

/** Asks again and again until `holds`, giving others a turn in between; throws after `tries`. */
export async function eventually(
  holds: () => boolean | Promise<boolean>,
  tries = 2_000,
): Promise<void> {
  for (let i = 0; i < tries; i++) {
    if (await holds()) return
    await new Promise((resolve) => setImmediate(resolve))
  }
  throw new Error(`still not so after ${tries} tries: ${holds}`)
}
