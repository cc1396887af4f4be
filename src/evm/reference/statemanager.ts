// Serves the library's EVM from the overlay of one run.
import type { AccountFields, StateManagerInterface } from '@ethereumjs/common'
import { Account, type Address as LibraryAddress } from '@ethereumjs/util'
import { hashBytes } from '../../core/crypto/crypto.ts'
import {
  type Address,
  addressFromBytes,
  bigintFromBytes,
  bytesFromBigint,
  EMPTY_BYTES,
} from '../../core/hex.ts'
import { Overlay } from '../../state/overlay.ts'
import { emptyStorage } from '../../state/world.ts'

const NO_STORAGE = hashBytes(emptyStorage.rootHash)

/**
 * Stands for any non-empty storage root. The EVM only compares it with the empty root (EIP-7610); hashing the true root would
 * be slow.
 */
const SOME_STORAGE = new Uint8Array(32).fill(1)

/** The overlay changes with each run. Other uses of the library (state roots, dumps, copies) throw. */
export class OverlayStateManager implements StateManagerInterface {
  /** The run's, and one for each open checkpoint. */
  #overlays: Overlay[] = []

  readonly originalStorageCache: StateManagerInterface['originalStorageCache'] = {
    get: async (address, key) =>
      bytesFromBigint(this.#at(0).originalStorage(textOf(address), bigintFromBytes(key))),
    // the next run's overlay has its own original values
    clear: () => {},
  }

  /** Undefined releases the last overlay. */
  use(overlay: Overlay | undefined): void {
    this.#overlays = overlay === undefined ? [] : [overlay]
  }

  /** The innermost, with what the run has changed so far. */
  get overlay(): Overlay {
    return this.#at(-1)
  }

  #at(index: number): Overlay {
    const overlay = this.#overlays.at(index)
    if (overlay === undefined) throw new Error('no run is active')
    return overlay
  }

  async getAccount(address: LibraryAddress): Promise<Account | undefined> {
    const text = textOf(address)
    const account = this.overlay.account(text)
    if (account === undefined) return undefined
    const storageRoot = this.overlay.hasStorage(text) ? SOME_STORAGE : NO_STORAGE
    // a new object each time, as the EVM modifies it
    return new Account(account.nonce, account.balance, storageRoot, hashBytes(account.codeHash))
  }

  /** Takes only nonce and balance: code and storage have setters. */
  async putAccount(address: LibraryAddress, account?: Account): Promise<void> {
    if (account === undefined) return this.overlay.deleteAccount(textOf(address))
    const { nonce, balance } = account
    // the library does not bound it
    this.overlay.set(textOf(address), { nonce, balance: BigInt.asUintN(256, balance) })
  }

  async deleteAccount(address: LibraryAddress): Promise<void> {
    this.overlay.deleteAccount(textOf(address))
  }

  async modifyAccountFields(address: LibraryAddress, fields: AccountFields): Promise<void> {
    this.overlay.set(textOf(address), fields)
  }

  async putCode(address: LibraryAddress, code: Uint8Array): Promise<void> {
    this.overlay.setCode(textOf(address), code)
  }

  async getCode(address: LibraryAddress): Promise<Uint8Array> {
    return this.overlay.code(textOf(address))
  }

  async getCodeSize(address: LibraryAddress): Promise<number> {
    return this.overlay.code(textOf(address)).length
  }

  async getStorage(address: LibraryAddress, key: Uint8Array): Promise<Uint8Array> {
    const value = this.overlay.storage(textOf(address), bigintFromBytes(key))
    return value === 0n ? EMPTY_BYTES : bytesFromBigint(value)
  }

  async putStorage(address: LibraryAddress, key: Uint8Array, value: Uint8Array): Promise<void> {
    this.overlay.setStorage(textOf(address), bigintFromBytes(key), bigintFromBytes(value))
  }

  async clearStorage(address: LibraryAddress): Promise<void> {
    this.overlay.clearStorage(textOf(address))
  }

  async checkpoint(): Promise<void> {
    this.#overlays.push(new Overlay(this.overlay))
  }

  async commit(): Promise<void> {
    // those of the overlay that is popped
    const { changes } = this.overlay
    this.#overlays.pop()
    this.overlay.absorb(changes)
  }

  async revert(): Promise<void> {
    this.#overlays.pop()
  }

  async getStateRoot(): Promise<Uint8Array> {
    throw new Error('an overlay has no state root before it is applied')
  }

  async setStateRoot(): Promise<void> {
    throw new Error('an overlay cannot change its state root')
  }

  async hasStateRoot(): Promise<boolean> {
    return false
  }

  clearCaches(): void {}

  shallowCopy(): StateManagerInterface {
    throw new Error('an overlay belongs to one run')
  }
}

function textOf(address: LibraryAddress): Address {
  return addressFromBytes(address.bytes)
}
