// The job's memory: a growing heap, lists that move when they grow, and hash tables. The next job starts empty.
import { FIRST_HEAP_END, GENERATION, HEAP_TOP, ROOM_END } from '../../layout'
import { refuseRoom } from './host'

const PAGE: usize = 65_536

/** Aligned to 16; may contain old bytes. */
export function take(size: usize): usize {
  let place = load<u32>(HEAP_TOP) as usize
  size = (size + 15) & ~15
  if (place < FIRST_HEAP_END && place + size > FIRST_HEAP_END) place = load<u32>(ROOM_END)
  const end = place + size
  const missing = (end as i64) - ((memory.size() as i64) << 16)
  if (missing > 0) growBy((((missing as usize) + PAGE - 1) >> 16) as i32)
  store<u32>(HEAP_TOP, end as u32)
  return place
}

/** Grows by half of the heap: each growth triggers V8's garbage collection (a million slots took 2 s in steps of 4 pages). */
function growBy(pages: i32): void {
  const heap = memory.size() - ((load<u32>(ROOM_END) >> 16) as i32)
  const step = max(pages, max(4, heap >> 1))
  if (memory.grow(step) < 0 && memory.grow(pages) < 0) refuseRoom()
}

/** Ensures room in a list whose globals are at `list`: address, bytes used, capacity. */
export function reserve(list: usize, size: usize): usize {
  const used = load<u32>(list, 4) as usize
  const end = used + size
  const room = load<u32>(list, 8) as usize
  if (end > room) {
    const larger = max(2 * room, end)
    const place = take(larger)
    memory.copy(place, load<u32>(list), used)
    store<u32>(list, place as u32)
    store<u32>(list, larger as u32, 8)
  }
  return (load<u32>(list) as usize) + used
}

/** `table` points to the globals: address, mask, count. The entry's hash is `at` bytes in. */
export function enter(table: usize, entry: usize, at: usize): void {
  const count = load<u32>(table, 8) + 1
  store<u32>(table, count, 8)
  if (count > load<u32>(table, 4) >> 1) spread(table, at)
  put(load<u32>(table), load<u32>(table, 4), load<u32>(entry + at), entry)
}

function put(place: usize, mask: u32, hash: u32, entry: usize): void {
  const generation = load<u32>(GENERATION)
  let i = hash & mask
  while (load<u32>(place + ((i as usize) << 3)) == generation) i = (i + 1) & mask
  store<u32>(place + ((i as usize) << 3), generation)
  store<u32>(place + ((i as usize) << 3), entry as u32, 4)
}

function spread(table: usize, at: usize): void {
  const before = load<u32>(table) as usize
  const size = (load<u32>(table, 4) as usize) + 1
  const place = take(size << 4)
  memory.fill(place, 0, size << 4)
  const mask = ((size << 1) - 1) as u32
  const generation = load<u32>(GENERATION)
  for (let i: usize = 0; i < size; i++) {
    const slot = before + (i << 3)
    if (load<u32>(slot) != generation) continue
    const entry = load<u32>(slot, 4) as usize
    put(place, mask, load<u32>(entry + at), entry)
  }
  store<u32>(table, place as u32)
  store<u32>(table, mask, 4)
}
