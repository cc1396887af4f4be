// Writes RLP (Yellow Paper, appendix B): integers, headers of lists, and trie nodes (appendices C and D).

export const KEY_NIBBLES: u32 = 64

/** Marks a path as a leaf's, and as one with an odd number of nibbles. */
const LEAF_FLAG: u32 = 0x20
const ODD_FLAG: u32 = 0x10

/** Most bytes of a leaf's RLP besides its value: three headers and the path. */
export const LEAF_OVERHEAD: u32 = 48

/** The higher half of a byte comes first. */
@inline
export function nibbleAt(key: usize, index: u32): u32 {
  const byte = <u32>load<u8>(key + (index >> 1))
  return index & 1 ? byte & 15 : byte >> 4
}

/** The first index in [from, to) where the nibbles of the keys differ; `to` when none does. */
export function firstDifference(a: usize, b: usize, from: u32, to: u32): u32 {
  let index = from
  while (index < to && nibbleAt(a, index) == nibbleAt(b, index)) index += 1
  return index
}

/** Writes a leaf: the nibbles of `key` from `depth` on, and an RLP value of at most 55 bytes. Returns its length. */
export function writeLeaf(at: usize, key: usize, depth: u32, value: usize, length: u32): u32 {
  const isBare = length == 1 && load<u8>(value) < 0x80
  const content = isBare ? 1 : 1 + length
  let end = writePath(at, key, depth, KEY_NIBBLES, LEAF_FLAG, content)
  if (!isBare) store<u8>(end++, <u8>(0x80 + length))
  memory.copy(end, value, length)
  return <u32>(end + length - at)
}

/** Writes an extension over the nibbles [from, to) of `key`, without the child's hash at its end. Returns its length. */
export function writeExtension(at: usize, key: usize, from: u32, to: u32): u32 {
  const end = writePath(at, key, from, to, 0, 33)
  store<u8>(end, 0xa0)
  return <u32>(end + 33 - at)
}

/** Bytes of the header of a list. */
export function headerSize(length: u32): u32 {
  return length < 56 ? 1 : length < 256 ? 2 : 3
}

/** Returns where it ends, as `writeInteger`. */
export function writeListHeader(at: usize, length: u32): usize {
  const size = headerSize(length)
  if (size == 1) store<u8>(at, <u8>(0xc0 + length))
  else {
    store<u8>(at, <u8>(0xf6 + size))
    writeDigits(at + size, length)
  }
  return at + size
}

export function writeInteger(at: usize, value: u64): usize {
  const size = integerSize(value)
  if (size == 1) store<u8>(at, value == 0 ? 0x80 : <u8>value)
  else {
    store<u8>(at, <u8>(0x7f + size))
    writeDigits(at + size, value)
  }
  return at + size
}

/** Bytes of the RLP of an integer. */
export function integerSize(value: u64): u32 {
  return value < 0x80 ? 1 : 1 + <u32>((71 - clz(value)) >> 3)
}

/** Writes an integer without leading zeros, up to `end`. */
export function writeDigits(end: usize, value: u64): void {
  for (let left = value; left != 0; left >>= 8) {
    end -= 1
    store<u8>(end, <u8>left)
  }
}

/** Writes the header of a list of a path and `content` bytes, and the compact path. Returns where it ends. */
function writePath(at: usize, key: usize, from: u32, to: u32, flag: u32, content: u32): usize {
  const length = ((to - from) >> 1) + 1
  // a one-byte path is below 0x80, and so its own RLP
  at = writeListHeader(at, (length == 1 ? 1 : 1 + length) + content)
  if (length > 1) store<u8>(at++, <u8>(0x80 + length))
  let index = from
  if ((to - from) & 1) store<u8>(at++, <u8>(flag | ODD_FLAG | nibbleAt(key, index++)))
  else store<u8>(at++, <u8>flag)
  for (; index < to; index += 2) {
    store<u8>(at++, <u8>((nibbleAt(key, index) << 4) | nibbleAt(key, index + 1)))
  }
  return at
}
