// The layout of the instance's memory, and its exit codes. AssemblyScript (assembly/), the host and the compiler share this
// file, so it contains numbers only.

// ---- Exits of `run`. Below FIRST_END the frame continues with the next `run`. ----

/** The outermost frame has ended; see END_REASON and OUTPUT. */
export const EXIT_DONE: i32 = 0
/** The gas until the yield is used up. */
export const EXIT_YIELD: i32 = 1
/** A counter reached HOT: LAST_CELL is its cell, the frame's pc the place in the code. */
export const EXIT_HOT: i32 = 2
/** Recording: a jump to the frame's pc. */
export const EXIT_RECORD: i32 = 3
/** Recording: the operation at the frame's pc opens or closes a frame and did not run. */
export const EXIT_LEAVE: i32 = 4
/** The host must run a precompile (PRECOMPILE_…) and call `endPrecompile`. */
export const EXIT_PRECOMPILE: i32 = 5
export const EXIT_FRAME: i32 = 6
/** From traces: the interpreter continues at the frame's pc. */
export const EXIT_CONTINUE: i32 = 7
export const EXIT_NEXT: i32 = 8

// ---- How a frame ends ----

export const FIRST_END: i32 = 16
export const END_STOP: i32 = 16
export const END_RETURN: i32 = 17
export const END_REVERT: i32 = 18
/** The first halt; halts consume all gas of a frame. */
export const FIRST_HALT: i32 = 19
export const END_OUT_OF_GAS: i32 = 19
export const END_INVALID_OPCODE: i32 = 20
export const END_STACK_UNDERFLOW: i32 = 21
export const END_STACK_OVERFLOW: i32 = 22
export const END_INVALID_JUMP: i32 = 23
export const END_STATIC: i32 = 24
export const END_INIT_CODE_SIZE: i32 = 25
export const END_MEMORY_LIMIT: i32 = 26
export const END_COLLISION: i32 = 27
export const END_CODE_SIZE: i32 = 28
export const END_INVALID_CODE: i32 = 29
/** A balance would exceed 2^256 - 1. Gas is kept. */
export const END_VALUE_OVERFLOW: i32 = 30
/** The sender's balance is too low. Gas is kept. */
export const END_BALANCE: i32 = 31
/** A precompile failed; the host knows why. */
export const END_PRECOMPILE: i32 = 32
/** Frontier: gas for the code is short; the creation succeeds without code. */
export const END_CODE_UNPAID: i32 = 33
/** A call or creation that opens no frame: the depth limit, or the creator's nonce limit. */
export const END_DEPTH: i32 = 34
export const END_NONCE: i32 = 35

// ---- Hardforks, by index in HARDFORKS of protocol/forks.ts ----

export const HOMESTEAD: u32 = 1
export const TANGERINE_WHISTLE: u32 = 2
export const SPURIOUS_DRAGON: u32 = 3
export const CONSTANTINOPLE: u32 = 5
export const ISTANBUL: u32 = 7
export const BERLIN: u32 = 8
export const LONDON: u32 = 9
export const SHANGHAI: u32 = 11
export const CANCUN: u32 = 12
export const AMSTERDAM: u32 = 17

// ---- Globals of 4 bytes unless noted ----

export const CURRENT_FRAME: u32 = 0x1000
export const FORK: u32 = 0x1004
/** The job's tag in the hash tables: incrementing it clears them. */
export const GENERATION: u32 = 0x1008
/** The newest checkpoint; values saved under it need no second save. */
export const CHECKPOINT_ID: u32 = 0x100c
/** 8 bytes: refund so far. */
export const REFUND: u32 = 0x1010
/** 8 bytes: gas until EXIT_YIELD. */
export const GAS_UNTIL_YIELD: u32 = 0x1018
/** The count that makes a cell hot; 0 for never. */
export const HOT: u32 = 0x1020
export const LAST_CELL: u32 = 0x1024
export const RETURN_DATA: u32 = 0x1028
export const RETURN_LENGTH: u32 = 0x102c
export const RETURN_CAPACITY: u32 = 0x1030
/** MEMORY plus the memory limit: the end of all frames' memory. */
export const MEMORY_END: u32 = 0x1034
export const HEAP_TOP: u32 = 0x1038
/** Growing lists, each: address, bytes used, capacity. */
export const JOURNAL: u32 = 0x1040
export const JOURNAL_USED: u32 = 0x1044
export const LOGS: u32 = 0x1050
export const LOGS_USED: u32 = 0x1054
export const ACCESSES: u32 = 0x1060
export const ACCESSES_USED: u32 = 0x1064
/** Hash tables, each: address, slots less one, entries. A slot is the generation and the entry's address. */
export const ACCOUNTS: u32 = 0x1070
export const ACCOUNTS_MASK: u32 = 0x1074
export const SLOTS: u32 = 0x1080
export const SLOTS_MASK: u32 = 0x1084
/** The last loaded account; each links to the previous one. */
export const LAST_ACCOUNT: u32 = 0x1090
/** Versioned hashes, as words. */
export const BLOBS: u32 = 0x1094
export const BLOBS_COUNT: u32 = 0x1098
/** Limits on deployed code (EIP-170) and init code (EIP-3860); 0 for none. */
export const CODE_LIMIT: u32 = 0x109c
export const INIT_CODE_LIMIT: u32 = 0x10a0
/** The result of the outermost frame, and its output. */
export const END_REASON: u32 = 0x10a4
export const OUTPUT: u32 = 0x10a8
export const OUTPUT_LENGTH: u32 = 0x10ac
/** 8 bytes: of the outermost frame. */
export const GAS_LEFT: u32 = 0x10b0
export const LAST_OPCODE: u32 = 0x10b8
/** The account of an outermost creation, even if it failed. */
export const CREATED_ACCOUNT: u32 = 0x10bc
/** Of EXIT_PRECOMPILE: account, input, gas (8 bytes). */
export const PRECOMPILE_ACCOUNT: u32 = 0x10c0
export const PRECOMPILE_INPUT: u32 = 0x10c4
export const PRECOMPILE_LENGTH: u32 = 0x10c8
export const PRECOMPILE_GAS: u32 = 0x10d0
/** 1: warmed accounts and slots are listed. */
export const REPORTS_ACCESS: u32 = 0x10d8
/** The highest checkpoint number so far; CHECKPOINT_ID decreases when a frame ends. */
export const LAST_CHECKPOINT_ID: u32 = 0x10e0
/** 8 bytes: the running frame yields below this gas. */
export const YIELD_BELOW: u32 = 0x10e8
/** 1: other gas might lead to another successful run, as it read GAS or opened a frame. */
export const DEPENDS_ON_GAS: u32 = 0x10f0
/** 1: another time of the block might lead to another run. */
export const DEPENDS_ON_TIME: u32 = 0x10f4
/** 8 bytes: FRAME_GAS_NEED of the outermost frame. */
export const GAS_NEED: u32 = 0x10f8
/** The end of the room for memories; only the heap is beyond. */
export const ROOM_END: u32 = 0x10dc
/** A combination of WATCH_…. */
export const WATCHED: u32 = 0x1100
export const EVENTS_TOP: u32 = 0x1104
/** 8 bytes: operations run, if counted. */
export const STEPS: u32 = 0x1108

/** The traced step whose cost is not known yet; 0 for none. */
export const OPEN_STEP: u32 = 0x1110

/** The last record of reached code, each linking to the previous one; and free records of creations. */
export const REACHED: u32 = 0x1114
export const REACHED_FREE: u32 = 0x1118
/** 1: there was a second frame, a precompile call or a SELFDESTRUCT. */
export const HAS_MORE_FRAMES: u32 = 0x111c

/** 8 bytes each: the reservoir of state gas; execution gas that the outermost frame paid for state (EIP-8037). */
export const STATE_GAS: u32 = 0x1120
export const STATE_SPILLED: u32 = 0x1128
/** 8 bytes: the price of a cold account. */
export const COLD_ACCOUNT: u32 = 0x1130
/** 1: the gas was too little for the accesses before the first operation. */
export const IS_UNPREPARED: u32 = 0x1138
/** 8 bytes: what the open step's frame had spilled before. */
export const OPEN_SPILLED: u32 = 0x1140
/** The source of transfer logs (EIP-7708), 20 bytes, and their first topic, 32 bytes. */
export const SYSTEM_BYTES: u32 = 0x1150
export const TRANSFER_TOPIC: u32 = 0x1170

/** Flags of WATCHED: frames, logs, destructions; operations; memory; counts of reached operations. */
export const WATCH_FRAMES: u32 = 1
export const WATCH_STEPS: u32 = 2
export const WATCH_MEMORY: u32 = 4
export const WATCH_REACHED: u32 = 8
/** Steps include the STOP behind the code. */
export const WATCH_END: u32 = 16

// ---- Environment: words (little-endian limbs) that opcodes push ----

export const ENV_ORIGIN: u32 = 0x1200
export const ENV_GAS_PRICE: u32 = 0x1220
export const ENV_COINBASE: u32 = 0x1240
export const ENV_TIMESTAMP: u32 = 0x1260
export const ENV_NUMBER: u32 = 0x1280
/** PREVRANDAO; before paris the difficulty. */
export const ENV_RANDOM: u32 = 0x12a0
export const ENV_GAS_LIMIT: u32 = 0x12c0
export const ENV_CHAIN_ID: u32 = 0x12e0
export const ENV_BASE_FEE: u32 = 0x1300
export const ENV_BLOB_BASE_FEE: u32 = 0x1320
export const ENV_SLOT_NUMBER: u32 = 0x1340

// ---- Tables and scratch ----

/** 256 entries of 8 bytes: minimum gas (2 bytes), stack words needed (2 bytes), growth limit (4 bytes). */
export const OPERATIONS: u32 = 0x2400
/** In place of the words needed: an invalid opcode. */
export const INVALID: u32 = 0xffff
/** The real OPERATIONS while these refuse all, so that each takes the invalid path, is counted, and looked up here. */
export const RULES: u32 = 0x2c00
/** Four long moduli, each: itself, state, position of the quotient's limbs, its limbs, the reciprocal's limbs. */
export const MODULI: u32 = 0x1400
export const MODULUS: u32 = 208
export const MODULUS_STATE: u32 = 32
export const MODULUS_SHIFT: u32 = 40
export const MODULUS_LIMBS: u32 = 48
export const MODULUS_RECIPROCAL: u32 = 120
/** For long arithmetic, 512 bytes. */
export const SCRATCH: u32 = 0x1800
/** Operands of helpers for compiled code, 1,024 bytes. */
export const OPERANDS: u32 = 0x1c00
/** The hash input of a created address, and its hash. */
export const ADDRESS_SCRATCH: u32 = 0x2000
/** A cache of 4,096 hashes of 64-byte inputs (mapping slots): 64 bytes of input, 32 of hash. */
export const MEMO: u32 = 0x4000
export const MEMO_ENTRY: u32 = 96
export const EXIT_CELLS: u32 = 0x64000
export const EXIT_CELLS_END: u32 = 0x84000

// ---- Frames: from FRAMES on, each directly behind its caller ----

export const FRAMES: u32 = 0x84000
export const FRAME: u32 = 256
export const MAX_DEPTH: u32 = 1024
/** 8 bytes. */
export const FRAME_GAS: u32 = 0
export const FRAME_PC: u32 = 8
/** The end of the stack, which grows upwards in words of little-endian limbs. */
export const FRAME_STACK_TOP: u32 = 12
export const FRAME_STACK: u32 = 16
/** Words are big-endian; MEMORY_SIZE is a multiple of 32. */
export const FRAME_MEMORY: u32 = 20
export const FRAME_MEMORY_SIZE: u32 = 24
export const FRAME_CODE: u32 = 28
export const FRAME_CODE_LENGTH: u32 = 32
/** The jump map: one byte per byte of code, 0 or one of these. */
export const FRAME_JUMPS: u32 = 36
export const JUMP_TARGET: u32 = 1
export const LOOP_HEAD: u32 = 2
export const FRAME_INPUT: u32 = 40
export const FRAME_INPUT_LENGTH: u32 = 44
/** Four bytes per byte of code: a count, or TRACE and a table index. 0: not compiled. */
export const FRAME_CELLS: u32 = 48
export const FRAME_FLAGS: u32 = 52
export const FRAME_OUTPUT: u32 = 56
export const FRAME_OUTPUT_LENGTH: u32 = 60
/** The account whose storage it uses. */
export const FRAME_ACCOUNT: u32 = 64
export const FRAME_KIND: u32 = 68
/** Where the output goes in the caller's memory, and its maximum size. */
export const FRAME_TARGET: u32 = 72
export const FRAME_TARGET_LENGTH: u32 = 76
export const FRAME_JOURNAL: u32 = 80
export const FRAME_LOGS: u32 = 84
/** 8 bytes. */
export const FRAME_REFUND: u32 = 88
/** Words. */
export const FRAME_ADDRESS: u32 = 96
export const FRAME_CALLER: u32 = 128
export const FRAME_VALUE: u32 = 160
/** 8 bytes. */
export const FRAME_GAS_LIMIT: u32 = 192
export const FRAME_CODE_ACCOUNT: u32 = 200
export const FRAME_CHECKPOINT_ID: u32 = 204
/** Bytes of its init code, between the caller's memory and its own. */
export const FRAME_ROOM: u32 = 208
/** 8 bytes: the least starting gas for getting this far; updated where more must be there than is paid, and at the end. */
export const FRAME_GAS_NEED: u32 = 216
/** The record of reached code; 0 if not watched. */
export const FRAME_REACHED: u32 = 232
/** 8 bytes each: the reservoir when it opened; execution gas that paid for state. */
export const FRAME_STATE_BASELINE: u32 = 240
export const FRAME_STATE_SPILLED: u32 = 248

/** FRAME_FLAGS: static; recording jumps; its opener paid state gas for a new account. */
export const FLAG_STATIC: u32 = 1
export const FLAG_RECORD: u32 = 2
export const FLAG_NEW_ACCOUNT: u32 = 4

/** Marks a cell or exit as linked; the other bits are the trace's table index. */
export const TRACE: u32 = 0x80000000

// ---- Accounts ----

export const ACCOUNT: u32 = 192
/** A word. */
export const ACCOUNT_ADDRESS: u32 = 0
export const ACCOUNT_BALANCE: u32 = 32
/** 8 bytes. */
export const ACCOUNT_NONCE: u32 = 64
/** JUMPS and CELLS as in a frame. Without ACCOUNT_CODE_READY only the length is valid. */
export const ACCOUNT_CODE: u32 = 72
export const ACCOUNT_CODE_LENGTH: u32 = 76
export const ACCOUNT_JUMPS: u32 = 80
export const ACCOUNT_CELLS: u32 = 84
export const ACCOUNT_FLAGS: u32 = 88
/** The address's hash, for the table. */
export const ACCOUNT_KEY: u32 = 92
/** A word. */
export const ACCOUNT_CODE_HASH: u32 = 96
/** The EIP-7702 delegate, once resolved. */
export const ACCOUNT_DELEGATE: u32 = 128
/** The last loaded slot; each links to the previous one. */
export const ACCOUNT_SLOTS: u32 = 132
export const ACCOUNT_BEFORE: u32 = 136
/** The checkpoint of the last saved balance. */
export const ACCOUNT_SAVED: u32 = 140
/** 20 bytes. */
export const ACCOUNT_BYTES: u32 = 144
export const ACCOUNT_HOST: u32 = 164
export const ACCOUNT_REACHED: u32 = 168

export const ACCOUNT_EXISTS: u32 = 1
export const ACCOUNT_PRECOMPILE: u32 = 2
export const ACCOUNT_WARM: u32 = 4
/** Created by this transaction. */
export const ACCOUNT_CREATED: u32 = 8
export const ACCOUNT_DESTROYED: u32 = 16
/** Touched and empty: deleted at the end (EIP-161). */
export const ACCOUNT_TOUCHED: u32 = 32
export const ACCOUNT_CODE_READY: u32 = 64
export const ACCOUNT_HAS_STORAGE: u32 = 128
export const ACCOUNT_DELEGATED: u32 = 256
export const ACCOUNT_CONSOLE: u32 = 512
/** This and later flags survive a revert: ever changed; listed as accessed; touched in spite of the failure (0x03). */
export const ACCOUNT_WRITTEN: u32 = 1024
export const ACCOUNT_LISTED: u32 = 2048
export const ACCOUNT_TOUCHED_EVER: u32 = 4096
export const ACCOUNT_CODE_WRITTEN: u32 = 8192
/** Read, called or created. */
export const ACCOUNT_MET: u32 = 16384

// ---- Slots of storage and, with 1 added to the account, transient storage ----

export const SLOT: u32 = 128
/** Words. */
export const SLOT_KEY: u32 = 0
export const SLOT_VALUE: u32 = 32
/** At the start of the transaction. */
export const SLOT_ORIGINAL: u32 = 64
export const SLOT_ACCOUNT: u32 = 96
export const SLOT_FLAGS: u32 = 100
/** The checkpoint of the last saved value. */
export const SLOT_SAVED: u32 = 104
export const SLOT_BEFORE: u32 = 108
export const SLOT_HASH: u32 = 112

export const SLOT_WARM: u32 = 1
export const SLOT_LISTED: u32 = 2
export const SLOT_WRITTEN: u32 = 4
/** On the transaction's access list. */
export const SLOT_PREWARMED: u32 = 8

// ---- The journal ----

export const ENTRY: u32 = 48
export const ENTRY_PLACE: u32 = 0
export const ENTRY_KIND: u32 = 4
export const ENTRY_SAVED: u32 = 8
export const ENTRY_VALUE: u32 = 16

export const ENTRY_SLOT: u32 = 0
export const ENTRY_SLOT_COLD: u32 = 1
export const ENTRY_FLAGS_OF: u32 = 2
export const ENTRY_BALANCE: u32 = 3
export const ENTRY_NONCE: u32 = 4
export const ENTRY_CODE: u32 = 5

// ---- Logs: account, topic count, data length, total length; then topics (big-endian) and data ----

export const LOG_ACCOUNT: u32 = 0
export const LOG_TOPICS: u32 = 4
export const LOG_LENGTH: u32 = 8
export const LOG_SIZE: u32 = 12
export const LOG_BODY: u32 = 16

// ---- Trace events, each with kind, size and fields ----

export const EVENTS: u32 = 0xc4200
export const EVENTS_END: u32 = 0xd0000
/** Most bytes copied into an event; longer data is read in place before the run continues. */
export const EVENT_BYTES: u32 = 0x3000

export const EVENT_KIND: u32 = 0
export const EVENT_SIZE: u32 = 4

/** A call or creation, even if no frame opens. ACCOUNT is the caller, TARGET the callee or 0. */
export const EVENT_ENTER: u32 = 1
/** ACCOUNT is the created contract or 0; OPCODE the last operation. */
export const EVENT_EXIT: u32 = 2
/** ACCOUNT is 0; DATA is the log in LOGS. */
export const EVENT_LOG: u32 = 3
/** ACCOUNT is the contract, TARGET the beneficiary, VALUE the balance. */
export const EVENT_DESTROY: u32 = 4

export const EVENT_STEP: u32 = 5

export const EVENT_ACCOUNT: u32 = 8
export const EVENT_TARGET: u32 = 12
/** 0 for the outermost frame. */
export const EVENT_DEPTH: u32 = 16
/** The opcode that opened or ended the frame. */
export const EVENT_OPCODE: u32 = 20
/** Address and length. */
export const EVENT_DATA: u32 = 24
export const EVENT_LENGTH: u32 = 28
/** 8 bytes: gas given to or used by the frame. */
export const EVENT_GAS: u32 = 32
export const EVENT_END: u32 = 40
/** A word. */
export const EVENT_VALUE: u32 = 48
/** 8 bytes each, of EXIT: state gas that the frame used, and how much of it execution gas paid. */
export const EVENT_STATE: u32 = 48
export const EVENT_SPILLED: u32 = 56
export const EVENT: u32 = 80

/** Fields of a step besides ACCOUNT, DEPTH, OPCODE and GAS; the last ones are stack height and top word. */
export const STEP_PC: u32 = 12
export const STEP_HEIGHT: u32 = 24
/** The byte behind the opcode. */
export const STEP_IMMEDIATE: u32 = 40
export const STEP_TOP: u32 = 48
/** 8 bytes each. */
export const STEP_COST: u32 = 80
export const STEP_REFUND: u32 = 88
/** The result of SLOAD. */
export const STEP_LOADED: u32 = 96
/** 8 bytes each: the reservoir before, and what it costs in state gas. */
export const STEP_RESERVOIR: u32 = 128
export const STEP_STATE_COST: u32 = 136
export const STEP: u32 = 144

// ---- Records of reached code: entries, and marks of operations ----

export const REACHED_BEFORE: u32 = 0
export const REACHED_CODE: u32 = 4
export const REACHED_LENGTH: u32 = 8
export const REACHED_STARTS: u32 = 12
/** The last mark; each links to the previous one. */
export const REACHED_MARKS: u32 = 16
/** The longest code that fits. */
export const REACHED_ROOM: u32 = 20
/** Four bytes per byte of code: its mark, or 0. */
export const REACHED_PLACES: u32 = 32

export const MARK: u32 = 16
export const MARK_BEFORE: u32 = 0
export const MARK_PC: u32 = 4
export const MARK_COUNT: u32 = 8
export const MARK_ENDS: u32 = 12

// ---- The large regions ----

export const FIRST_SLOTS: u32 = 0xd0000
export const FIRST_SLOTS_MASK: u32 = 4095
export const FIRST_ACCOUNTS: u32 = 0xd8000
export const FIRST_ACCOUNTS_MASK: u32 = 1023
export const FIRST_ACCESSES: u32 = 0xda000
export const FIRST_ACCESSES_SIZE: u32 = 0x6000
export const FIRST_JOURNAL: u32 = 0xe0000
export const FIRST_JOURNAL_SIZE: u32 = 0x10000
export const FIRST_LOGS: u32 = 0xf0000
export const FIRST_LOGS_SIZE: u32 = 0x8000
export const FIRST_RETURN: u32 = 0xf8000
export const FIRST_RETURN_CAPACITY: u32 = 0x8000
/** Accounts, slots, and moved lists: the first part of the heap; the rest is behind ROOM_END. */
export const FIRST_HEAP: u32 = 0x100000
export const FIRST_HEAP_END: u32 = 0x200000
/** Two halves: when one is full, the other is cleared. */
export const CODES: u32 = 0x200000
export const CODES_HALF: u32 = 0x800000
/** Each starts where the caller's ends. */
export const STACKS: u32 = 0x1200000
/** Each starts where the caller's ends, or behind the init code of a creation. */
export const MEMORY: u32 = 0x3210000
/** Behind the memory limit. */
export const INIT_CODE_ROOM: u32 = 0x4000000
/** Zeros behind code, so that PUSH may read past the end, and code ends with STOP. */
export const CODE_PADDING: u32 = 64
