// Functions of the host that the instance calls during an operation.

@external('host', 'loadAccount')
export declare function loadAccount(account: usize): void

/** Writes an account's code, padded, and its jump map if cached. */
@external('host', 'loadCode')
export declare function loadCode(account: usize): void

@external('host', 'loadCodeHash')
export declare function loadCodeHash(account: usize): void

/** Writes a slot's value at the start of the transaction. The account has storage. */
@external('host', 'loadSlot')
export declare function loadSlot(account: usize, key: usize, value: usize): void

@external('host', 'loadBlockHash')
export declare function loadBlockHash(number: u64, target: usize): void

@external('host', 'reportConsole')
export declare function reportConsole(caller: usize, input: usize, length: usize): void

@external('host', 'flushEvents')
export declare function flushEvents(): void

/** Before an operation: the memory of the frame at this depth. All earlier events are flushed. */
@external('host', 'reportMemory')
export declare function reportMemory(depth: u32, memory: u32, size: u32): void

/** Reports the record of init code, whose frame ends. */
@external('host', 'reportReached')
export declare function reportReached(record: usize): void

@external('host', 'refuseRoom')
export declare function refuseRoom(): void
