// Names of functions and custom errors, for those that nearly every project meets. Selectors follow from signatures.
import { CONSOLE_ADDRESS, decodeArguments, selectorOf as selectorFor } from '../../core/abi.ts'
import { short } from '../../core/format.ts'
import { bytesFromHex } from '../../core/hex.ts'

/**
 * Says what a call calls, as a signature: `transfer(address,uint256)`, or with the contract's name before it,
 * `Token.transfer(address,uint256)`; undefined when it does not know. A source that knows the user's own contracts goes
 * before the one that is built in.
 * @param to the callee; null for a creation
 * @param input hex, from the selector on
 */
export type NameSource = (to: string | null, input: string) => string | undefined

/** ERC-20, 721, 1155, 4626, 2612, 5267, 165, 173, 1271, 2981, 1967; AccessControl, Pausable, WETH, Multicall3. */
const FUNCTIONS = `
name() symbol() decimals() totalSupply() balanceOf(address) allowance(address,address) transfer(address,uint256)
approve(address,uint256) transferFrom(address,address,uint256) increaseAllowance(address,uint256)
decreaseAllowance(address,uint256) mint(address,uint256) mint(address) mint(uint256) burn(uint256) burn(address,uint256)
burnFrom(address,uint256)
permit(address,address,uint256,uint256,uint8,bytes32,bytes32) nonces(address) DOMAIN_SEPARATOR() eip712Domain()
ownerOf(uint256) safeTransferFrom(address,address,uint256) safeTransferFrom(address,address,uint256,bytes)
setApprovalForAll(address,bool) getApproved(uint256) isApprovedForAll(address,address) tokenURI(uint256)
tokenByIndex(uint256) tokenOfOwnerByIndex(address,uint256) safeMint(address,uint256) safeMint(address)
onERC721Received(address,address,uint256,bytes) royaltyInfo(uint256,uint256)
balanceOf(address,uint256) balanceOfBatch(address[],uint256[]) uri(uint256)
safeTransferFrom(address,address,uint256,uint256,bytes)
safeBatchTransferFrom(address,address,uint256[],uint256[],bytes)
onERC1155Received(address,address,uint256,uint256,bytes)
onERC1155BatchReceived(address,address,uint256[],uint256[],bytes)
asset() totalAssets() convertToShares(uint256) convertToAssets(uint256) deposit(uint256,address) mint(uint256,address)
withdraw(uint256,address,address) redeem(uint256,address,address) maxDeposit(address) maxMint(address)
maxWithdraw(address) maxRedeem(address) previewDeposit(uint256) previewMint(uint256) previewWithdraw(uint256)
previewRedeem(uint256)
deposit() withdraw(uint256) supportsInterface(bytes4) isValidSignature(bytes32,bytes)
owner() pendingOwner() transferOwnership(address) acceptOwnership() renounceOwnership()
hasRole(bytes32,address) getRoleAdmin(bytes32) grantRole(bytes32,address) revokeRole(bytes32,address)
renounceRole(bytes32,address) DEFAULT_ADMIN_ROLE() paused() pause() unpause()
implementation() admin() upgradeTo(address) upgradeToAndCall(address,bytes) changeAdmin(address) proxiableUUID()
UPGRADE_INTERFACE_VERSION() upgrade(address,address) upgradeAndCall(address,address,bytes) initialize()
multicall(bytes[]) aggregate((address,bytes)[]) aggregate3((address,bool,bytes)[])
aggregate3Value((address,bool,uint256,bytes)[]) tryAggregate(bool,(address,bytes)[])
blockAndAggregate((address,bytes)[]) tryBlockAndAggregate(bool,(address,bytes)[]) getBlockNumber() getChainId()
getEthBalance(address) getCurrentBlockTimestamp()`

/** OpenZeppelin Contracts 5, ERC-6093 among them. Only types of one word: their arguments are shown. */
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

const functions = signatures(FUNCTIONS)
const errors = signatures(ERRORS)

/** The names that are built in. */
export const builtInName: NameSource = (to, input) => {
  if (to?.toLowerCase() === CONSOLE_ADDRESS) return 'console.log'
  return functions(selectorOf(input))
}

/** The first four bytes of an input; empty when it has fewer. */
export function selectorOf(input: string): string {
  return /^0x[0-9a-f]{8}/i.test(input) ? input.slice(0, 10).toLowerCase() : ''
}

/** The name of a signature: what stands before its arguments. */
export function nameIn(signature: string): string {
  return signature.split('(', 1)[0] ?? signature
}

/**
 * A custom error with its arguments, `ERC20InsufficientBalance(0xf39F…2266, 0, 5)`; undefined when it is not known.
 * @param data hex, what was reverted with
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

/** Looks signatures up by selector. They are hashed when the first is asked for, as many runs need none. */
function signatures(list: string): (selector: string) => string | undefined {
  let known: ReadonlyMap<string, string> | undefined
  return (selector) => {
    known ??= new Map(
      list
        .trim()
        .split(/\s+/)
        .map((signature) => [selectorFor(signature), signature]),
    )
    return known.get(selector)
  }
}
