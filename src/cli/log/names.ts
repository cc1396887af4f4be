// Names of well-known functions and custom errors.
import { bySelector, CONSOLE_ADDRESS, decodeArguments, functionSignature } from '../../core/abi.ts'
import { short } from '../../core/format.ts'
import { bytesFromHex } from '../../core/hex.ts'

/** OpenZeppelin Contracts 5 with ERC-6093. Only one-word types, as their arguments are shown. */
const ERRORS = `
ERC20InsufficientBalance(address,uint256,uint256) ERC20InvalidSender(address) ERC20InvalidReceiver(address)
ERC20InsufficientAllowance(address,uint256,uint256) ERC20InvalidApprover(address) ERC20InvalidSpender(address)
ERC721InvalidOwner(address) ERC721NonexistentToken(uint256) ERC721IncorrectOwner(address,uint256,address)
ERC721InvalidSender(address) ERC721InvalidReceiver(address) ERC721InsufficientApproval(address,uint256)
ERC721InvalidApprover(address) ERC721InvalidOperator(address)
ERC1155InsufficientBalance(address,uint256,uint256,uint256) ERC1155InvalidSender(address)
ERC1155InvalidReceiver(address) ERC1155MissingApprovalForAll(address,address) ERC1155InvalidApprover(address)
ERC1155InvalidOperator(address) ERC1155InvalidArrayLength(uint256,uint256)
ERC4626ExceededMaxDeposit(address,uint256,uint256) ERC4626ExceededMaxMint(address,uint256,uint256)
ERC4626ExceededMaxWithdraw(address,uint256,uint256) ERC4626ExceededMaxRedeem(address,uint256,uint256)
ERC2612ExpiredSignature(uint256) ERC2612InvalidSigner(address,address) InvalidAccountNonce(address,uint256)
OwnableUnauthorizedAccount(address) OwnableInvalidOwner(address)
AccessControlUnauthorizedAccount(address,bytes32) AccessControlBadConfirmation() EnforcedPause() ExpectedPause()
ReentrancyGuardReentrantCall() InvalidInitialization() NotInitializing()
ERC1967InvalidImplementation(address) ERC1967InvalidAdmin(address) ERC1967NonPayable()
UUPSUnauthorizedCallContext() UUPSUnsupportedProxiableUUID(bytes32)
AddressEmptyCode(address) FailedCall() FailedInnerCall() InsufficientBalance(uint256,uint256)
SafeERC20FailedOperation(address) SafeCastOverflowedUintDowncast(uint8,uint256)
ECDSAInvalidSignature() ECDSAInvalidSignatureLength(uint256) ECDSAInvalidSignatureS(bytes32)`

const errors = bySelector(ERRORS)

/**
 * The signature of a called function: `transfer(address,uint256)`; undefined if unknown.
 * @param to the callee; null for a creation
 * @param input hex, from the selector on
 */
export function builtInName(to: string | null, input: string): string | undefined {
  if (to?.toLowerCase() === CONSOLE_ADDRESS) return 'console.log'
  return functionSignature(selectorOf(input))
}

/** The first four bytes of an input; empty if it is shorter. */
export function selectorOf(input: string): string {
  return /^0x[0-9a-f]{8}/i.test(input) ? input.slice(0, 10).toLowerCase() : ''
}

export function nameIn(signature: string): string {
  return signature.split('(', 1)[0] ?? signature
}

/**
 * A custom error with its arguments, `ERC20InsufficientBalance(0xf39F…2266, 0, 5)`; undefined if unknown.
 * @param data revert data as hex
 */
export function errorText(data: string): string | undefined {
  const signature = errors(selectorOf(data))
  if (signature === undefined) return undefined
  const name = nameIn(signature)
  const types = signature.slice(name.length + 1, -1).split(',')
  const known = types.filter((type) => type !== '')
  const values = decodeArguments(known, bytesFromHex(`0x${data.slice(10)}`))
  return values && `${name}(${values.map((value) => short(String(value))).join(', ')})`
}
