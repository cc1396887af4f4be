// The modules of the specified catalogue (4.2).

/** Those of one whose methods come later can be named too, so that a command line that turns it off goes on to do so. */
export const MODULES: readonly string[] = [
  'web3',
  'net',
  'eth',
  'db',
  'debug',
  'evm',
  'mnr',
  'personal',
  'ext',
  'trace',
  'txpool',
  'sco',
  'shh',
]
