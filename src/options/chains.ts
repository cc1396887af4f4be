// The options for chains beside the default one: a part of the table.
import type { Option, Optional } from './option.ts'
import { choice, count, duration, orWord, packFile, text } from './values.ts'

export class ChainsTable {
  readonly maxChains: Option<number> = {
    type: count('NUMBER', 0, 100_000),
    sentence: 'Maximum number of chains at paths such as /1, besides the default chain',
    default: 1_000,
  }
  /** Milliseconds. */
  readonly chainIdle: Optional<number> = {
    type: duration,
    sentence: 'Drop a chain at a path that gets no request for this long',
    unset: 'never',
  }
  readonly threads: Option<number | 'auto'> = {
    type: orWord(count('NUMBER', 0, 64), 'auto'),
    sentence: 'Threads for chains at paths; auto: one for each processor',
    default: 0,
  }
  readonly state: Optional<string> = {
    type: text('DIR', 'the path of a folder', /\S/),
    sentence: 'Keep all chains in a folder: the next start with it goes on where this one ends',
  }
  /** Path of the file, or (in-process only) its content. */
  readonly from: Optional<string | Uint8Array> = {
    type: packFile,
    sentence: 'Begin with the chain in a pack (devchain save), with its snapshots',
  }
  readonly durability: Option<'block' | 'interval'> = {
    type: choice('block', 'interval'),
    sentence: 'With --state, write each change to disk before its response, or every 100 ms',
    default: 'interval',
  }
}
