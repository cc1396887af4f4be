// Keeps old values for reverts. Each value is saved once per checkpoint, so that loops of stores do not fill the journal.
import * as layout from '../../layout'
import { reserve } from './heap'
import { copyWord, setEmptyHash } from '../arithmetic/words'

const LASTING: u32 =
  layout.ACCOUNT_WRITTEN | layout.ACCOUNT_LISTED | layout.ACCOUNT_TOUCHED_EVER |
  layout.ACCOUNT_CODE_WRITTEN | layout.ACCOUNT_CODE_READY | layout.ACCOUNT_MET

function note(place: usize, kind: u32): usize {
  const entry = reserve(layout.JOURNAL, layout.ENTRY)
  store<u32>(layout.JOURNAL_USED, load<u32>(layout.JOURNAL_USED) + layout.ENTRY)
  store<u32>(entry, place as u32, layout.ENTRY_PLACE)
  store<u32>(entry, kind, layout.ENTRY_KIND)
  return entry
}

/** Saves a word, unless the checkpoint that is noted beside it is the newest. */
@inline
function saveWord(place: usize, kind: u32, word: usize, checkpoint: usize): void {
  const id = load<u32>(layout.CHECKPOINT_ID)
  const saved = load<u32>(place + checkpoint)
  if (saved == id) return
  const entry = note(place, kind)
  store<u32>(entry, saved, layout.ENTRY_SAVED)
  copyWord(entry + layout.ENTRY_VALUE, place + word)
  store<u32>(place + checkpoint, id)
}

@inline
export function saveSlot(slot: usize): void {
  saveWord(slot, layout.ENTRY_SLOT, layout.SLOT_VALUE, layout.SLOT_SAVED)
}

@inline
export function saveCold(slot: usize): void {
  note(slot, layout.ENTRY_SLOT_COLD)
}

export function saveBalance(account: usize): void {
  saveWord(account, layout.ENTRY_BALANCE, layout.ACCOUNT_BALANCE, layout.ACCOUNT_SAVED)
}

export function saveNonce(account: usize): void {
  store<u64>(note(account, layout.ENTRY_NONCE), load<u64>(account, layout.ACCOUNT_NONCE), layout.ENTRY_VALUE)
}

/** Call it before setting the code of an account without code. */
export function saveNoCode(account: usize): void {
  note(account, layout.ENTRY_CODE)
}

export function raise(account: usize, flags: u32): void {
  const before = load<u32>(account, layout.ACCOUNT_FLAGS)
  if ((before & flags) == flags) return
  store<u32>(note(account, layout.ENTRY_FLAGS_OF), before, layout.ENTRY_VALUE)
  store<u32>(account, before | flags, layout.ACCOUNT_FLAGS)
}

@inline
export function checkpoint(): u32 {
  const id = load<u32>(layout.LAST_CHECKPOINT_ID) + 1
  store<u32>(layout.LAST_CHECKPOINT_ID, id)
  store<u32>(layout.CHECKPOINT_ID, id)
  return id
}

export function revertJournal(used: u32): void {
  const base = load<u32>(layout.JOURNAL) as usize
  let top = load<u32>(layout.JOURNAL_USED)
  while (top > used) {
    top -= layout.ENTRY
    undo(base + (top as usize))
  }
  store<u32>(layout.JOURNAL_USED, used)
}

function undo(entry: usize): void {
  const place = load<u32>(entry, layout.ENTRY_PLACE) as usize
  const kind = load<u32>(entry, layout.ENTRY_KIND)
  if (kind == layout.ENTRY_SLOT) {
    copyWord(place + layout.SLOT_VALUE, entry + layout.ENTRY_VALUE)
    store<u32>(place, load<u32>(entry, layout.ENTRY_SAVED), layout.SLOT_SAVED)
  } else if (kind == layout.ENTRY_SLOT_COLD) {
    store<u32>(place, load<u32>(place, layout.SLOT_FLAGS) & ~layout.SLOT_WARM, layout.SLOT_FLAGS)
  } else if (kind == layout.ENTRY_FLAGS_OF) {
    const kept = load<u32>(place, layout.ACCOUNT_FLAGS) & LASTING
    store<u32>(place, (load<u32>(entry, layout.ENTRY_VALUE) & ~LASTING) | kept, layout.ACCOUNT_FLAGS)
  } else if (kind == layout.ENTRY_BALANCE) {
    copyWord(place + layout.ACCOUNT_BALANCE, entry + layout.ENTRY_VALUE)
    store<u32>(place, load<u32>(entry, layout.ENTRY_SAVED), layout.ACCOUNT_SAVED)
  } else if (kind == layout.ENTRY_NONCE) {
    store<u64>(place, load<u64>(entry, layout.ENTRY_VALUE), layout.ACCOUNT_NONCE)
  } else if (kind == layout.ENTRY_CODE) {
    setNoCode(place)
  }
}

function setNoCode(account: usize): void {
  store<u32>(account, 0, layout.ACCOUNT_CODE)
  store<u32>(account, 0, layout.ACCOUNT_CODE_LENGTH)
  store<u32>(account, 0, layout.ACCOUNT_JUMPS)
  store<u32>(account, 0, layout.ACCOUNT_CELLS)
  store<u32>(account, load<u32>(account, layout.ACCOUNT_FLAGS) & ~layout.ACCOUNT_CODE_READY, layout.ACCOUNT_FLAGS)
  setEmptyHash(account + layout.ACCOUNT_CODE_HASH)
}
