// What programs write that use a chain in their own process with viem or ethers. A test compiles this file against the
// published types and runs it.
import {
  createDevchain,
  type DevAccount,
  type Devchain,
  type DevchainOptions,
  type Observer,
} from 'devchain'
import { BrowserProvider, formatEther, Wallet } from 'ethers'
import {
  type Address,
  createPublicClient,
  createTestClient,
  createWalletClient,
  custom,
  type Hex,
  parseEther,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { foundry } from 'viem/chains'

/** Balances that viem and ethers read after a transfer of 1 ether each, in wei. */
export async function transfers(): Promise<readonly bigint[]> {
  const coinbase: Address = '0x00000000000000000000000000000000000c0135'
  const options: DevchainOptions = { chainId: foundry.id, coinbase }
  const miners: Address[] = []
  const observer: Observer = { onChange: ({ after }) => miners.push(after.settings.coinbase) }
  await using devchain = await createDevchain(options, { observer })
  const [from, to] = devchain.accounts
  if (from === undefined || to === undefined) throw new Error('expected two accounts')
  const balances = [await withViem(devchain, from, to), await withEthers(devchain, from, to)]
  if (isImpersonated(devchain, from.address)) throw new Error('expected an account with a key')
  if (miners.some((miner) => miner !== coinbase)) throw new Error(`expected ${coinbase}`)
  return balances
}

async function withViem(devchain: Devchain, from: DevAccount, to: DevAccount): Promise<bigint> {
  const transport = custom(devchain)
  const client = createPublicClient({ chain: foundry, transport, cacheTime: 0 })
  const unlocked = createWalletClient({ account: from.address, chain: foundry, transport })
  const local = createWalletClient({
    account: privateKeyToAccount(from.privateKey),
    chain: foundry,
    transport: custom(devchain),
  })
  const tester = createTestClient({ chain: foundry, mode: 'anvil', transport })
  await tester.setBalance({ address: to.address, value: 0n })
  const half = { to: to.address, value: parseEther('0.5') }
  const hashes: Hex[] = [await unlocked.sendTransaction(half), await local.sendTransaction(half)]
  for (const hash of hashes) await client.getTransactionReceipt({ hash })
  return await client.getBalance({ address: to.address })
}

async function withEthers(devchain: Devchain, from: DevAccount, to: DevAccount): Promise<bigint> {
  const provider = new BrowserProvider(devchain)
  const signer = await provider.getSigner(from.address)
  const wallet = new Wallet(from.privateKey, provider)
  const half = { to: to.address, value: parseEther('0.5') }
  await (await signer.sendTransaction(half)).wait()
  await (await wallet.sendTransaction(half)).wait()
  const balance = await provider.getBalance(to.address)
  provider.destroy()
  return parseEther(formatEther(balance))
}

/** What lies below the methods takes and gives the types of viem as well. */
function isImpersonated(devchain: Devchain, account: Address): boolean {
  return devchain.node.chain.state.accounts.impersonated.get(account) ?? false
}
