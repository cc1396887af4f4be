// Values in the examples of declarations.

/** A hash of nothing. */
export const UNKNOWN: string = `0x${'ab'.repeat(32)}`

/** The first account of the default mnemonic. */
export const ACCOUNT: string = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'

export const OTHER_ACCOUNT: string = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8'

/** An account without a key here. */
export const STRANGER: string = '0x00000000000000000000000000000000000a11ce'

export const TRANSFER: Readonly<Record<'from' | 'to' | 'value', string>> = {
  from: ACCOUNT,
  to: OTHER_ACCOUNT,
  value: '0x1',
}

export const MESSAGE: string = '0xdeadbeef'
