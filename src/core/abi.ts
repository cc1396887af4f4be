// Reads the parts of the contract ABI that devchain needs: words, byte strings, and the functions of common standards.
// @see https://docs.soliditylang.org/en/latest/abi-spec.html
import { checksumAddress, keccak256 } from './crypto/crypto.ts'
import { type Address, addressFromBytes, bigintFromBytes, hexFromBytes } from './hex.ts'
import { lazy } from './lrucache.ts'

export type AbiValue = string | bigint | boolean

/** The address that `console.log` calls: "console.log" in ASCII. */
export const CONSOLE_ADDRESS: Address = '0x000000000000000000636f6e736f6c652e6c6f67' as Address

/** The selector of a signature: `transfer(address,uint256)` gives `0xa9059cbb`. */
export function selectorOf(signature: string): string {
  return hexFromBytes(keccak256(new TextEncoder().encode(signature)).subarray(0, 4))
}

export function decodeArguments(
  types: readonly string[],
  data: Uint8Array,
): AbiValue[] | undefined {
  const values: AbiValue[] = []
  for (const [index, type] of types.entries()) {
    const word = wordAt(data, 32 * index)
    const value = word === undefined ? undefined : decodeArgument(type, word, data)
    if (value === undefined) return undefined
    values.push(value)
  }
  return values
}

function decodeArgument(type: string, word: Uint8Array, data: Uint8Array): AbiValue | undefined {
  if (type === 'string' || type === 'bytes') {
    const bytes = bytesAt(data, bigintFromBytes(word))
    if (bytes === undefined) return undefined
    return type === 'bytes' ? hexFromBytes(bytes) : new TextDecoder().decode(bytes)
  }
  if (type.startsWith('bytes')) return hexFromBytes(word.subarray(0, Number(type.slice(5))))
  if (type === 'address') return checksumAddress(addressFromBytes(word))
  if (type === 'bool') return bigintFromBytes(word) !== 0n
  return type === 'int256' ? BigInt.asIntN(256, bigintFromBytes(word)) : bigintFromBytes(word)
}

function wordAt(data: Uint8Array, at: number): Uint8Array | undefined {
  return at + 32 > data.length ? undefined : data.subarray(at, at + 32)
}

function bytesAt(data: Uint8Array, offset: bigint): Uint8Array | undefined {
  if (offset > BigInt(data.length)) return undefined
  const start = Number(offset) + 32
  const header = wordAt(data, start - 32)
  const length = header === undefined ? undefined : bigintFromBytes(header)
  if (length === undefined || length > BigInt(data.length - start)) return undefined
  return data.subarray(start, start + Number(length))
}

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
multicall(bytes[]) multicall(uint256,bytes[]) multicall(bytes32,bytes[]) aggregate((address,bytes)[]) aggregate3((address,bool,bytes)[])
aggregate3Value((address,bool,uint256,bytes)[]) tryAggregate(bool,(address,bytes)[])
blockAndAggregate((address,bytes)[]) tryBlockAndAggregate(bool,(address,bytes)[]) getBlockNumber() getChainId()
getEthBalance(address) getCurrentBlockTimestamp()`

/** Looks up a known function by selector, e.g. `transfer(address,uint256)`. */
export const functionSignature: (selector: string) => string | undefined = bySelector(FUNCTIONS)

/** Looks up signatures by selector. Hashes the list on first use, as many runs need none. */
export function bySelector(list: string): (selector: string) => string | undefined {
  const signatures = list.trim().split(/\s+/)
  const known = lazy(() => new Map(signatures.map((each) => [selectorOf(each), each])))
  return (selector) => known().get(selector)
}
