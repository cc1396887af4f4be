// Functions of the host that the instance calls during an operation.

/** Fills in balance, nonce, code hash and length, and flags of an account by its address. */
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

/** One of the 256 before this one. */
@external('host', 'loadBlockHash')
export declare function loadBlockHash(number: u64, target: usize): void

/** Called before the console call runs. */
@external('host', 'tellConsole')
export declare function tellConsole(caller: usize, input: usize, length: usize): void

/** Reports all events and empties their buffer. */
@external('host', 'tellEvents')
export declare function tellEvents(): void

/** Reports the record of init code, whose frame ends. */
@external('host', 'tellReached')
export declare function tellReached(record: usize): void

/** Throws as the heap is full. */
@external('host', 'refuseRoom')
export declare function refuseRoom(): void
