// Where everything stands in the instance's memory, and what its exits mean: constants shared by the WebAssembly side
// (assembly/), the host (TypeScript) and the compiler of hot code. Numbers only, so that both languages read this file.

// ---- Exits of `run`: why it came back. Below FIRST_END the frame goes on when `run` is called again. ----

/** The outermost frame has ended: END_REASON, OUTPUT… tell how. */
export const EXIT_DONE: i32 = 0
/** The gas until the yield is used up: others may have their turn. */
export const EXIT_YIELD: i32 = 1
/** A cell's counter has come to HOT: LAST_CELL is its place, the frame's pc the place in the code. */
export const EXIT_HOT: i32 = 2
/** Recording: a jump was made; the frame's pc is its target. */
export const EXIT_RECORD: i32 = 3
/** Recording: the operation at the frame's pc would open or close a frame, so that it was not run. */
export const EXIT_LEAVE: i32 = 4
/** A precompile is to be run: PRECOMPILE_… tell of it; `endPrecompile` goes on. */
export const EXIT_PRECOMPILE: i32 = 5
/** Within the instance: another frame is the current one. */
export const EXIT_FRAME: i32 = 6
/** Of a trace: the frame was changed, the interpreter goes on from its pc. */
export const EXIT_CONTINUE: i32 = 7
/** Within the instance: the operation is done, go on with the next. */
export const EXIT_NEXT: i32 = 8

// ---- How a frame ends ----

/** The smallest of the ends. */
export const FIRST_END: i32 = 16
export const END_STOP: i32 = 16
export const END_RETURN: i32 = 17
export const END_REVERT: i32 = 18
/** The smallest of the halts, which cost a frame all its gas. */
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
/** The value would lift a balance over 2^256 - 1. Gas is kept. */
export const END_VALUE_OVERFLOW: i32 = 30
/** The sender has less than the value. Gas is kept. */
export const END_BALANCE: i32 = 31
/** A precompile failed; the host knows why. */
export const END_PRECOMPILE: i32 = 32
/** Frontier: the code could not be paid for, and the contract is made without. No failure. */
export const END_CODE_UNPAID: i32 = 33
/** Of a call or creation that opens no frame, beside END_BALANCE: nested too deeply; of a creator whose nonce is the last. */
export const END_DEPTH: i32 = 34
export const END_NONCE: i32 = 35

// ---- Hardforks, as their places in HARDFORKS of protocol/forks.ts ----

export const HOMESTEAD: u32 = 1
export const TANGERINE_WHISTLE: u32 = 2
export const SPURIOUS_DRAGON: u32 = 3
export const CONSTANTINOPLE: u32 = 5
export const ISTANBUL: u32 = 7
export const BERLIN: u32 = 8
export const LONDON: u32 = 9
export const SHANGHAI: u32 = 11
export const CANCUN: u32 = 12

// ---- Globals: one value each; 4 bytes unless said otherwise ----

/** The frame that runs. */
export const CURRENT_FRAME: u32 = 0x1000
/** Place of the ruling fork in HARDFORKS. */
export const FORK: u32 = 0x1004
/** Tag of this job in the hash tables: raising it clears them. */
export const GENERATION: u32 = 0x1008
/** Number of the newest checkpoint; what was saved under the same number needs no saving again. */
export const CHECKPOINT_ID: u32 = 0x100c
/** 8 bytes: gas to give back, so far. */
export const REFUND: u32 = 0x1010
/** 8 bytes: gas that may still be used until EXIT_YIELD. */
export const GAS_UNTIL_YIELD: u32 = 0x1018
/** Counts of a cell that make it hot; 0: nothing becomes hot. */
export const HOT: u32 = 0x1020
/** The cell that became hot. */
export const LAST_CELL: u32 = 0x1024
/** Return data of the current frame's last call. */
export const RETURN_DATA: u32 = 0x1028
export const RETURN_LENGTH: u32 = 0x102c
export const RETURN_CAPACITY: u32 = 0x1030
/** Where the memories of all frames must end: MEMORY and the limit. */
export const MEMORY_END: u32 = 0x1034
/** The first free byte of the heap. */
export const HEAP_TOP: u32 = 0x1038
/** Growing lists of three numbers each: where it stands, bytes used, bytes there are. */
export const JOURNAL: u32 = 0x1040
export const JOURNAL_USED: u32 = 0x1044
export const LOGS: u32 = 0x1050
export const LOGS_USED: u32 = 0x1054
export const ACCESSES: u32 = 0x1060
export const ACCESSES_USED: u32 = 0x1064
/** Hash tables of three numbers each: where it stands, its slots less one, entries. A slot is the generation and the entry's place. */
export const ACCOUNTS: u32 = 0x1070
export const ACCOUNTS_MASK: u32 = 0x1074
export const SLOTS: u32 = 0x1080
export const SLOTS_MASK: u32 = 0x1084
/** The account loaded last; each names the one before. */
export const LAST_ACCOUNT: u32 = 0x1090
/** Versioned hashes of the transaction's blobs, as words. */
export const BLOBS: u32 = 0x1094
export const BLOBS_COUNT: u32 = 0x1098
/** Longest code that may be deployed (EIP-170), 0 for no limit, and longest init code (EIP-3860), 0 for no limit. */
export const CODE_LIMIT: u32 = 0x109c
export const INIT_CODE_LIMIT: u32 = 0x10a0
/** How the outermost frame ended, and where its output stands. */
export const END_REASON: u32 = 0x10a4
export const OUTPUT: u32 = 0x10a8
export const OUTPUT_LENGTH: u32 = 0x10ac
/** 8 bytes: gas left of the outermost frame. */
export const GAS_LEFT: u32 = 0x10b0
/** The operation at which the outermost frame halted. */
export const LAST_OPCODE: u32 = 0x10b8
/** The account that a creation by the outermost frame made, or would have made. */
export const CREATED_ACCOUNT: u32 = 0x10bc
/** Of EXIT_PRECOMPILE: account, input, gas (8 bytes). */
export const PRECOMPILE_ACCOUNT: u32 = 0x10c0
export const PRECOMPILE_INPUT: u32 = 0x10c4
export const PRECOMPILE_LENGTH: u32 = 0x10c8
export const PRECOMPILE_GAS: u32 = 0x10d0
/** 1: accounts and slots that turn warm are listed. */
export const REPORTS_ACCESS: u32 = 0x10d8
/** Number of the checkpoint made last; CHECKPOINT_ID goes back when a frame ends. */
export const LAST_CHECKPOINT_ID: u32 = 0x10e0
/** 8 bytes: below so much gas the running frame yields. */
export const YIELD_BELOW: u32 = 0x10e8
/** 1: with other gas the run might go another way to an end as good: it asked for its gas, or opened another frame. */
export const DEPENDS_ON_GAS: u32 = 0x10f0
/** 8 bytes: FRAME_GAS_NEED of the outermost frame. */
export const GAS_NEED: u32 = 0x10f8
/** First byte behind the reserved room for memories: beyond there is only the heap. */
export const ROOM_END: u32 = 0x10dc
/** What a tracer wants to be told, WATCH_… */
export const WATCHED: u32 = 0x1100
/** The first free byte for what it is told. */
export const EVENTS_TOP: u32 = 0x1104
/** 8 bytes: operations that ran, where they are counted. */
export const STEPS: u32 = 0x1108

/** The step that is written down already, while it is not known what it costs; 0: none. */
export const OPEN_STEP: u32 = 0x1110

/** The record of what was reached that was made last, each names the one before; and those that creations have left. */
export const REACHED: u32 = 0x1114
export const REACHED_FREE: u32 = 0x1118
/** 1: the run opened another frame than its outermost, or tried to, or called a precompile, or a contract was destroyed. */
export const HAS_MORE_FRAMES: u32 = 0x111c

/** WATCHED: frames, logs, destructions; also operations; also what memory holds; which operations were reached, and how often. */
export const WATCH_FRAMES: u32 = 1
export const WATCH_STEPS: u32 = 2
export const WATCH_MEMORY: u32 = 4
export const WATCH_REACHED: u32 = 8

// ---- The environment: words (little-endian limbs) that opcodes push as they are ----

export const ENV_ORIGIN: u32 = 0x1200
export const ENV_GAS_PRICE: u32 = 0x1220
export const ENV_COINBASE: u32 = 0x1240
export const ENV_TIMESTAMP: u32 = 0x1260
export const ENV_NUMBER: u32 = 0x1280
/** PREVRANDAO, before paris the difficulty. */
export const ENV_RANDOM: u32 = 0x12a0
export const ENV_GAS_LIMIT: u32 = 0x12c0
export const ENV_CHAIN_ID: u32 = 0x12e0
export const ENV_BASE_FEE: u32 = 0x1300
export const ENV_BLOB_BASE_FEE: u32 = 0x1320

// ---- Tables and scratch ----

/**
 * 256 entries of 8 bytes: gas that the operation costs at least (2 bytes), words that it needs on the stack (2 bytes),
 * how many more there may be (4 bytes).
 */
export const OPERATIONS: u32 = 0x2400
/** In the place of the words that are needed: there is no such operation. */
export const INVALID: u32 = 0xffff
/**
 * What OPERATIONS holds when operations are not counted. When they are, OPERATIONS refuses them all, so that each takes the way of
 * one that cannot run, where it is counted and looked up here.
 */
export const RULES: u32 = 0x2c00
/** Four moduli of long products: itself, its state, where the quotient's limbs begin within others, its limbs, the reciprocal's. */
export const MODULI: u32 = 0x1400
export const MODULUS: u32 = 208
export const MODULUS_STATE: u32 = 32
export const MODULUS_SHIFT: u32 = 40
export const MODULUS_LIMBS: u32 = 48
export const MODULUS_RECIPROCAL: u32 = 120
/** Room for the arithmetic of long words, 512 bytes. */
export const SCRATCH: u32 = 0x1800
/** Operands that compiled code hands to helpers, 1,024 bytes. */
export const OPERANDS: u32 = 0x1c00
/** Room for what is hashed for the address of a created contract, and its hash. */
export const ADDRESS_SCRATCH: u32 = 0x2000
/** 4,096 hashes of 64-byte inputs (slots of mappings) by a hash of the input: 64 bytes of input, 32 of hash. */
export const MEMO: u32 = 0x4000
export const MEMO_ENTRY: u32 = 96
/** Cells that exits of traces count in: at the compiler's disposal. */
export const EXIT_CELLS: u32 = 0x64000
export const EXIT_CELLS_END: u32 = 0x84000

// ---- Frames: the outermost is at FRAMES, each within another right behind it ----

export const FRAMES: u32 = 0x84000
export const FRAME: u32 = 256
/** Frames within frames, at most. */
export const MAX_DEPTH: u32 = 1024
/** 8 bytes. */
export const FRAME_GAS: u32 = 0
/** Offset in the code. */
export const FRAME_PC: u32 = 8
/** First byte above the stack's top; a stack grows upwards, 32 bytes a word, its limbs little-endian. */
export const FRAME_STACK_TOP: u32 = 12
export const FRAME_STACK: u32 = 16
/** The frame's memory, whose words are big-endian; MEMORY_SIZE is a multiple of 32. */
export const FRAME_MEMORY: u32 = 20
export const FRAME_MEMORY_SIZE: u32 = 24
export const FRAME_CODE: u32 = 28
export const FRAME_CODE_LENGTH: u32 = 32
/** One byte for each of the code: 1 for a JUMPDEST, 2 for one that a loop comes back to. */
export const FRAME_JUMPS: u32 = 36
export const FRAME_INPUT: u32 = 40
export const FRAME_INPUT_LENGTH: u32 = 44
/** Four bytes for each of the code: a count, or TRACE and a table index. 0: code that is not compiled. */
export const FRAME_CELLS: u32 = 48
export const FRAME_FLAGS: u32 = 52
/** What RETURN or REVERT give back. */
export const FRAME_OUTPUT: u32 = 56
export const FRAME_OUTPUT_LENGTH: u32 = 60
/** The account whose storage it works on. */
export const FRAME_ACCOUNT: u32 = 64
/** The opcode that opened it: CREATE, CALL… */
export const FRAME_KIND: u32 = 68
/** Where in the opener's memory the output goes, and how much of it. */
export const FRAME_TARGET: u32 = 72
export const FRAME_TARGET_LENGTH: u32 = 76
/** What to go back to when it fails. */
export const FRAME_JOURNAL: u32 = 80
export const FRAME_LOGS: u32 = 84
/** 8 bytes. */
export const FRAME_REFUND: u32 = 88
/** Words of 32 bytes. */
export const FRAME_ADDRESS: u32 = 96
export const FRAME_CALLER: u32 = 128
export const FRAME_VALUE: u32 = 160
/** 8 bytes: gas that it was given. */
export const FRAME_GAS_LIMIT: u32 = 192
/** The account whose code runs. */
export const FRAME_CODE_ACCOUNT: u32 = 200
export const FRAME_CHECKPOINT_ID: u32 = 204
/** Bytes that its init code takes between the opener's memory and its own. */
export const FRAME_ROOM: u32 = 208
/**
 * 8 bytes: least gas to begin with that would have brought the frame as far as it is; counted where more has to be there
 * than is paid, and at the end.
 */
export const FRAME_GAS_NEED: u32 = 216
/** Where in memory the operation that runs writes, and how much: for who watches memory. */
export const FRAME_WRITTEN: u32 = 224
export const FRAME_WRITTEN_LENGTH: u32 = 228
/** The record of what is reached of its code; 0: none. Set only where that is watched. */
export const FRAME_REACHED: u32 = 232

/** FRAME_FLAGS: may not change the state; records its jumps. */
export const FLAG_STATIC: u32 = 1
export const FLAG_RECORD: u32 = 2

/** In a cell, and in the exit of a trace that leads on to another: the rest is the table index of a trace. */
export const TRACE: u32 = 0x80000000

// ---- Accounts ----

export const ACCOUNT: u32 = 192
/** The address as a word. */
export const ACCOUNT_ADDRESS: u32 = 0
export const ACCOUNT_BALANCE: u32 = 32
/** 8 bytes. */
export const ACCOUNT_NONCE: u32 = 64
/** Code as it stands in the account; JUMPS and CELLS as in a frame. Without ACCOUNT_CODE_READY only the length is known. */
export const ACCOUNT_CODE: u32 = 72
export const ACCOUNT_CODE_LENGTH: u32 = 76
export const ACCOUNT_JUMPS: u32 = 80
export const ACCOUNT_CELLS: u32 = 84
export const ACCOUNT_FLAGS: u32 = 88
/** Hash of the address, for the table. */
export const ACCOUNT_KEY: u32 = 92
/** A word. */
export const ACCOUNT_CODE_HASH: u32 = 96
/** The account whose code runs in its place (EIP-7702), once asked for. */
export const ACCOUNT_DELEGATE: u32 = 128
/** Its slot looked up last for the first time; each names the one before. */
export const ACCOUNT_SLOTS: u32 = 132
export const ACCOUNT_BEFORE: u32 = 136
/** Checkpoint under which the balance was saved last. */
export const ACCOUNT_SAVED: u32 = 140
/** The address as 20 bytes. */
export const ACCOUNT_BYTES: u32 = 144
/** Where the host keeps what it knows of it. */
export const ACCOUNT_HOST: u32 = 164
/** The record of what was reached of its code. */
export const ACCOUNT_REACHED: u32 = 168

export const ACCOUNT_EXISTS: u32 = 1
export const ACCOUNT_PRECOMPILE: u32 = 2
export const ACCOUNT_WARM: u32 = 4
/** Made by this transaction. */
export const ACCOUNT_CREATED: u32 = 8
export const ACCOUNT_DESTROYED: u32 = 16
/** Is there, is empty, and goes in the end (EIP-161). */
export const ACCOUNT_TOUCHED: u32 = 32
export const ACCOUNT_CODE_READY: u32 = 64
export const ACCOUNT_HAS_STORAGE: u32 = 128
/** Its code names another account's (EIP-7702). */
export const ACCOUNT_DELEGATED: u32 = 256
/** Its calls print. */
export const ACCOUNT_CONSOLE: u32 = 512
/** These and those behind stay when a frame fails: changed at some time; listed as accessed; touched though it failed (0x03). */
export const ACCOUNT_WRITTEN: u32 = 1024
export const ACCOUNT_LISTED: u32 = 2048
export const ACCOUNT_TOUCHED_EVER: u32 = 4096
export const ACCOUNT_CODE_WRITTEN: u32 = 8192
/** Looked at, called, or created. */
export const ACCOUNT_MET: u32 = 16384

// ---- Slots of storage, and of transient storage, whose account is marked by 1 ----

export const SLOT: u32 = 128
/** Words. */
export const SLOT_KEY: u32 = 0
export const SLOT_VALUE: u32 = 32
/** Value at the start of the transaction. */
export const SLOT_ORIGINAL: u32 = 64
export const SLOT_ACCOUNT: u32 = 96
export const SLOT_FLAGS: u32 = 100
/** Checkpoint under which the value was saved last. */
export const SLOT_SAVED: u32 = 104
export const SLOT_BEFORE: u32 = 108
export const SLOT_HASH: u32 = 112

export const SLOT_WARM: u32 = 1
export const SLOT_LISTED: u32 = 2
export const SLOT_WRITTEN: u32 = 4
/** On the transaction's access list: it is warm when it is first met. */
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

// ---- Logs: account, count of topics, length of data, total length; then topics (big-endian) and data ----

export const LOG_ACCOUNT: u32 = 0
export const LOG_TOPICS: u32 = 4
export const LOG_LENGTH: u32 = 8
export const LOG_SIZE: u32 = 12
export const LOG_BODY: u32 = 16

// ---- What a tracer is told: events one after another, each with its kind, its size, and fields ----

export const EVENTS: u32 = 0xc4200
export const EVENTS_END: u32 = 0xd0000
/** Bytes of calldata, return data, or a log that are copied; more are read where they stand, before the run goes on. */
export const EVENT_BYTES: u32 = 0x3000

export const EVENT_KIND: u32 = 0
export const EVENT_SIZE: u32 = 4

/** A frame opens, or a call or creation opens none. ACCOUNT is who calls or creates, TARGET the one called or 0. */
export const EVENT_ENTER: u32 = 1
/** A frame ends. ACCOUNT is what a creation made, or 0; OPCODE the operation at its end. */
export const EVENT_EXIT: u32 = 2
/** ACCOUNT is 0; DATA is the log, as it stands in LOGS. */
export const EVENT_LOG: u32 = 3
/** ACCOUNT is the contract, TARGET who gets what it has, VALUE. */
export const EVENT_DESTROY: u32 = 4

/** An operation, with fields of its own. */
export const EVENT_STEP: u32 = 5
/** Memory of the frame at DEPTH holds DATA at the offset TARGET. */
export const EVENT_MEMORY: u32 = 6

export const EVENT_ACCOUNT: u32 = 8
export const EVENT_TARGET: u32 = 12
/** Of a frame; 0 for the outermost. */
export const EVENT_DEPTH: u32 = 16
/** What opens the frame, or ended it. */
export const EVENT_OPCODE: u32 = 20
/** Where bytes stand, and how many there are. */
export const EVENT_DATA: u32 = 24
export const EVENT_LENGTH: u32 = 28
/** 8 bytes: given to the frame, or used by it. */
export const EVENT_GAS: u32 = 32
/** How the frame ended, END_… */
export const EVENT_END: u32 = 40
/** A word. */
export const EVENT_VALUE: u32 = 48
export const EVENT: u32 = 80

/** Of a step, whose ACCOUNT, DEPTH, OPCODE and GAS stand as above: words on the stack, and the topmost. */
export const STEP_PC: u32 = 12
export const STEP_HEIGHT: u32 = 24
export const STEP_MEMORY_SIZE: u32 = 28
export const STEP_TOP: u32 = 48
/** 8 bytes each. */
export const STEP_COST: u32 = 80
export const STEP_REFUND: u32 = 88
/** What SLOAD finds. */
export const STEP_LOADED: u32 = 96
export const STEP: u32 = 128

// ---- What was reached of a code: how often it began, and marks of its operations ----

export const REACHED_BEFORE: u32 = 0
/** Where the code stands. */
export const REACHED_CODE: u32 = 4
export const REACHED_LENGTH: u32 = 8
export const REACHED_STARTS: u32 = 12
/** The mark made last. */
export const REACHED_MARKS: u32 = 16
/** The longest code that the record has room for. */
export const REACHED_ROOM: u32 = 20
/** Four bytes for each of the code: its mark, or 0. */
export const REACHED_PLACES: u32 = 32

export const MARK: u32 = 16
export const MARK_BEFORE: u32 = 0
export const MARK_PC: u32 = 4
/** Of a JUMPDEST how often it was come to, of a JUMPI how often it jumped. */
export const MARK_COUNT: u32 = 8
/** How often a frame ended there. */
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
/** The heap of a job: accounts, slots, whatever grew out of its first place. Its first part; the rest is behind ROOM_END. */
export const FIRST_HEAP: u32 = 0x100000
export const FIRST_HEAP_END: u32 = 0x200000
/** Code with its maps, in two halves: when one is full the other is cleared. */
export const CODES: u32 = 0x200000
export const CODES_HALF: u32 = 0x800000
/** Stacks: each begins where the opener's ends. */
export const STACKS: u32 = 0x1200000
/** Memories: each begins where the opener's ends (behind its init code, for a creation). */
export const MEMORY: u32 = 0x3210000
/** Room for init code behind the memory limit. */
export const INIT_CODE_ROOM: u32 = 0x4000000
/** Zeros behind code, so that PUSH may read over its end, and that it ends with STOP. */
export const CODE_PADDING: u32 = 64
