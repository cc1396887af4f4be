// What the instance asks of its host while an operation runs.

/** Fills in an account of which the address is set: balance, nonce, hash and length of code, flags. */
@external('host', 'loadAccount')
export declare function loadAccount(account: usize): void

/** Puts the code of an account into memory, padded, and its map if there is one. */
@external('host', 'loadCode')
export declare function loadCode(account: usize): void

@external('host', 'loadCodeHash')
export declare function loadCodeHash(account: usize): void

/** Writes the word of a slot at the start of the transaction to `value`. The account has storage. */
@external('host', 'loadSlot')
export declare function loadSlot(account: usize, key: usize, value: usize): void

/** Writes the hash of a block, one of the 256 before this one, as a word. */
@external('host', 'loadBlockHash')
export declare function loadBlockHash(number: u64, target: usize): void

/** Tells of a call of the console, before it happens. */
@external('host', 'tellConsole')
export declare function tellConsole(caller: usize, input: usize, length: usize): void

/** Hands over all events, and empties their room. */
@external('host', 'tellEvents')
export declare function tellEvents(): void

/** Hands over what was reached of the code of a creation, which goes with its frame. */
@external('host', 'tellReached')
export declare function tellReached(record: usize): void

/** The heap may not grow any more: throws. */
@external('host', 'refuseRoom')
export declare function refuseRoom(): void
