// The options for dumps in files, with the names and the meaning of anvil's: a part of the table.
import { type Option, type Optional, off } from './option.ts'
import { duration, file, text } from './values.ts'

const dump = text('FILE', 'the path of a file or folder', /\S/)

export class DumpTable {
  readonly loadState: Optional<string> = {
    type: dump,
    sentence: 'Begin with a dump of anvil or devchain',
  }
  readonly dumpState: Optional<string> = {
    type: dump,
    sentence: 'Write a dump, which anvil loads too, at the end and at intervals',
  }
  /** Milliseconds. */
  readonly stateInterval: Option<number> = {
    type: duration,
    sentence: 'With --dump-state, write it at this interval if the chain changed',
    default: 60_000,
  }
  readonly preserveHistoricalStates: Option<boolean> = off(
    'With --dump-state, dump the state of each block too',
  )
  readonly init: Optional<string> = {
    type: file,
    sentence: "Another name for --genesis, as in anvil's scripts",
  }
}
