// Keccak-256 of bytes that were hashed before and changed from some place on: what a trie that gets a new root after each
// change does all day. Compiled by src/build/wasm.mjs.
import { absorb, finish, permute, RATE, STATE, STATE_LENGTH } from '../../core/assembly/keccak'

/**
 * Hashes `length` bytes at `source`, of which only those from `from` on may have changed since the last call.
 * @param states where the state of the sponge is kept after each whole block; 0: nowhere, and `from` is 0
 * @param target where the 32 bytes of the hash go
 */
export function rehash(source: usize, length: usize, from: usize, states: usize, target: usize): void {
  const known = from / RATE
  let at = known * RATE
  if (known == 0) memory.fill(STATE, 0, STATE_LENGTH)
  else memory.copy(STATE, states + (known - 1) * STATE_LENGTH, STATE_LENGTH)
  let next = states + known * STATE_LENGTH
  while (length - at >= RATE) {
    absorb(source + at, RATE)
    permute()
    at += RATE
    if (states != 0) {
      memory.copy(next, STATE, STATE_LENGTH)
      next += STATE_LENGTH
    }
  }
  finish(source + at, length - at, target)
}
