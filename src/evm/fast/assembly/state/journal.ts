// What a failed frame takes back: values as they were when the frame began. A value is saved once a checkpoint, so that
// a loop of stores does not fill the journal.
import {
  ACCOUNT_BALANCE, ACCOUNT_CELLS, ACCOUNT_CODE, ACCOUNT_CODE_HASH, ACCOUNT_CODE_LENGTH, ACCOUNT_CODE_READY,
  ACCOUNT_CODE_WRITTEN, ACCOUNT_FLAGS, ACCOUNT_JUMPS,
  ACCOUNT_LISTED, ACCOUNT_NONCE, ACCOUNT_SAVED, ACCOUNT_TOUCHED_EVER, ACCOUNT_WRITTEN, ENTRY, ENTRY_BALANCE, ENTRY_CODE,
  ENTRY_FLAGS_OF, ENTRY_KIND, ENTRY_NONCE, ENTRY_PLACE, ENTRY_SAVED, ENTRY_SLOT, ENTRY_SLOT_COLD, ENTRY_VALUE, JOURNAL,
  JOURNAL_USED, LAST_SERIAL, SERIAL, SLOT_FLAGS, SLOT_SAVED, SLOT_VALUE, SLOT_WARM,
} from '../../layout'
import { reserve } from './heap'
import { copyWord, setEmptyHash } from '../arithmetic/words'

/** Flags of an account that a failure leaves as they are: they tell what was done at some time. */
const LASTING: u32 =
  ACCOUNT_WRITTEN | ACCOUNT_LISTED | ACCOUNT_TOUCHED_EVER | ACCOUNT_CODE_WRITTEN | ACCOUNT_CODE_READY

function note(place: usize, kind: u32): usize {
  const entry = reserve(JOURNAL, ENTRY)
  store<u32>(JOURNAL_USED, load<u32>(JOURNAL_USED) + ENTRY)
  store<u32>(entry, place as u32, ENTRY_PLACE)
  store<u32>(entry, kind, ENTRY_KIND)
  return entry
}

@inline
export function saveSlot(slot: usize): void {
  const serial = load<u32>(SERIAL)
  const saved = load<u32>(slot, SLOT_SAVED)
  if (saved == serial) return
  const entry = note(slot, ENTRY_SLOT)
  store<u32>(entry, saved, ENTRY_SAVED)
  copyWord(entry + ENTRY_VALUE, slot + SLOT_VALUE)
  store<u32>(slot, serial, SLOT_SAVED)
}

@inline
export function saveCold(slot: usize): void {
  note(slot, ENTRY_SLOT_COLD)
}

export function saveBalance(account: usize): void {
  const serial = load<u32>(SERIAL)
  const saved = load<u32>(account, ACCOUNT_SAVED)
  if (saved == serial) return
  const entry = note(account, ENTRY_BALANCE)
  store<u32>(entry, saved, ENTRY_SAVED)
  copyWord(entry + ENTRY_VALUE, account + ACCOUNT_BALANCE)
  store<u32>(account, serial, ACCOUNT_SAVED)
}

export function saveNonce(account: usize): void {
  store<u64>(note(account, ENTRY_NONCE), load<u64>(account, ACCOUNT_NONCE), ENTRY_VALUE)
}

/** Before code is given to an account, which had none. */
export function saveNoCode(account: usize): void {
  note(account, ENTRY_CODE)
}

/** Sets flags of an account, until the frame fails. */
export function raise(account: usize, flags: u32): void {
  const before = load<u32>(account, ACCOUNT_FLAGS)
  if ((before & flags) == flags) return
  store<u32>(note(account, ENTRY_FLAGS_OF), before, ENTRY_VALUE)
  store<u32>(account, before | flags, ACCOUNT_FLAGS)
}

/** Opens a checkpoint: what changes from now on is saved anew. */
@inline
export function checkpoint(): u32 {
  const serial = load<u32>(LAST_SERIAL) + 1
  store<u32>(LAST_SERIAL, serial)
  store<u32>(SERIAL, serial)
  return serial
}

/** Takes everything back that was noted since the journal was `used` bytes long. */
export function takeBack(used: u32): void {
  const base = load<u32>(JOURNAL) as usize
  let top = load<u32>(JOURNAL_USED)
  while (top > used) {
    top -= ENTRY
    undo(base + (top as usize))
  }
  store<u32>(JOURNAL_USED, used)
}

function undo(entry: usize): void {
  const place = load<u32>(entry, ENTRY_PLACE) as usize
  const kind = load<u32>(entry, ENTRY_KIND)
  if (kind == ENTRY_SLOT) {
    copyWord(place + SLOT_VALUE, entry + ENTRY_VALUE)
    store<u32>(place, load<u32>(entry, ENTRY_SAVED), SLOT_SAVED)
  } else if (kind == ENTRY_SLOT_COLD) {
    store<u32>(place, load<u32>(place, SLOT_FLAGS) & ~SLOT_WARM, SLOT_FLAGS)
  } else if (kind == ENTRY_FLAGS_OF) {
    const kept = load<u32>(place, ACCOUNT_FLAGS) & LASTING
    store<u32>(place, (load<u32>(entry, ENTRY_VALUE) & ~LASTING) | kept, ACCOUNT_FLAGS)
  } else if (kind == ENTRY_BALANCE) {
    copyWord(place + ACCOUNT_BALANCE, entry + ENTRY_VALUE)
    store<u32>(place, load<u32>(entry, ENTRY_SAVED), ACCOUNT_SAVED)
  } else if (kind == ENTRY_NONCE) {
    store<u64>(place, load<u64>(entry, ENTRY_VALUE), ACCOUNT_NONCE)
  } else if (kind == ENTRY_CODE) {
    setNoCode(place)
  }
}

/** An account as it is without code. */
function setNoCode(account: usize): void {
  store<u32>(account, 0, ACCOUNT_CODE)
  store<u32>(account, 0, ACCOUNT_CODE_LENGTH)
  store<u32>(account, 0, ACCOUNT_JUMPS)
  store<u32>(account, 0, ACCOUNT_CELLS)
  store<u32>(account, load<u32>(account, ACCOUNT_FLAGS) & ~ACCOUNT_CODE_READY, ACCOUNT_FLAGS)
  setEmptyHash(account + ACCOUNT_CODE_HASH)
}
