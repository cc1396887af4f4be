// What users do with a built project: deploy it with real clients, use it, and run into its failures.
import { Contract, JsonRpcProvider, Network } from 'ethers'
import {
  type Abi,
  type Address,
  createPublicClient,
  createWalletClient,
  encodeFunctionData,
  getContractAddress,
  type Hash,
  type Hex,
  http,
  parseEther,
} from 'viem'
import { type BuiltProject, linked } from './toolprojects.ts'

export const OWNER: Address = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
export const OTHER: Address = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'

const GAS = 3_000_000n

/** What came of a scenario. */
export interface Played {
  /** Transactions by what they do, in their order. */
  readonly hashes: Readonly<Record<string, Hash>>
  readonly addresses: Readonly<Record<string, Address>>
}

/** Requests in a fixed order, so that the log has them in it: nothing polls, nothing is tried again. */
class Player {
  readonly #project: BuiltProject
  readonly #transport: ReturnType<typeof http>
  readonly hashes: Record<string, Hash> = {}
  readonly addresses: Record<string, Address> = {}
  #nonce = 0n

  constructor(project: BuiltProject, url: string) {
    this.#project = project
    this.#transport = http(url, { retryCount: 0 })
  }

  /** Sends with viem what a wallet sends; a failure is no reason to stop. */
  async send(name: string, to: Address | null, data: Hex, value = 0n): Promise<Hash> {
    const wallet = createWalletClient({ account: OWNER, transport: this.#transport })
    const hash = await wallet.sendTransaction({ chain: null, to, data, value, gas: GAS })
    this.#nonce += 1n
    this.hashes[name] = hash
    return hash
  }

  /** Deploys with viem. */
  async deploy(name: string, args: readonly unknown[] = [], as = name): Promise<Address> {
    const { abi } = this.#project.contract(name)
    const library = this.addresses.Fees ?? OTHER
    const bytecode = linked(this.#project.contract(name), library)
    const wallet = createWalletClient({ account: OWNER, transport: this.#transport })
    const address = getContractAddress({ from: OWNER, nonce: this.#nonce })
    this.hashes[as] = await wallet.deployContract({
      abi,
      bytecode,
      args: [...args],
      chain: null,
      gas: GAS,
    })
    this.#nonce += 1n
    this.addresses[as] = address
    return address
  }

  /** Sends a call of a function with viem. */
  async write(
    [name, address]: readonly [contract: string, address: Address],
    functionName: string,
    args: readonly unknown[],
    value = 0n,
    as = functionName,
  ): Promise<Hash> {
    return await this.send(as, address, this.data(name, functionName, args), value)
  }

  /** Reads with viem. */
  async read(name: string, address: Address, functionName: string, args: readonly unknown[] = []) {
    const client = createPublicClient({ transport: this.#transport })
    const { abi } = this.#project.contract(name)
    return await client.readContract({ abi, address, functionName, args: [...args] })
  }

  /** Asks viem what a call would use; undefined where it would fail. */
  async estimate(to: Address, data: Hex, value = 0n): Promise<bigint | undefined> {
    const client = createPublicClient({ transport: this.#transport })
    const asked = client.request({
      method: 'eth_estimateGas',
      params: [{ from: OWNER, to, data, value: `0x${value.toString(16)}` }],
    })
    return await asked.then(BigInt, () => undefined)
  }

  data(name: string, functionName: string, args: readonly unknown[] = []): Hex {
    const abi: Abi = this.#project.contract(name).abi
    return encodeFunctionData({ abi, functionName, args: [...args] })
  }
}

/** Plays the whole scenario on a fresh chain with its usual accounts. */
export async function playScenario(project: BuiltProject, url: string): Promise<Played> {
  const player = new Player(project, url)
  const { hashes, addresses } = player
  await deployAll(player)
  await useBanks(player)
  await useCoin(player)
  await failInside(player)
  await askWithEthers(project, url, addresses)
  return { hashes, addresses }
}

async function deployAll(player: Player): Promise<void> {
  await player.deploy('Fees')
  const bank = await player.deploy('Bank', [OWNER, 25n])
  const opening = player.data('Bank', 'open', ['savings'])
  await player.deploy('ERC1967Proxy', [bank, opening])
  const beacon = await player.deploy('UpgradeableBeacon', [bank, OWNER])
  await player.deploy('BeaconProxy', [beacon, opening])
  const factory = await player.deploy('Factory')
  await player.write(['Factory', factory], 'cloneOf', [bank])
  player.addresses.Clone = (await player.read('Factory', factory, 'clones', [0n])) as Address
  await player.deploy('Coin', [5_000_000n])
  await player.deploy('Curve')
  await player.deploy('Picky', [2n])
}

/** The same bank behind each kind of proxy, and itself. */
async function useBanks(player: Player): Promise<void> {
  for (const kind of ['Bank', 'ERC1967Proxy', 'BeaconProxy', 'Clone']) {
    const bank = ['Bank', player.addresses[kind]!] as const
    await player.write(bank, 'deposit', [], parseEther('1'), `deposit in ${kind}`)
    await player.write(bank, 'withdraw', [parseEther('0.25')], 0n, `withdraw from ${kind}`)
    await player.write(bank, 'withdraw', [parseEther('5')], 0n, `withdraw too much from ${kind}`)
    await player.estimate(bank[1], player.data('Bank', 'withdraw', [parseEther('2')]))
    await player.read('Bank', bank[1], 'balanceOf', [OWNER])
  }
  const bank = player.addresses.ERC1967Proxy!
  await player.write(['Bank', bank], 'open', ['twice'])
  await player.send('not payable', bank, player.data('Bank', 'close'), 1n)
  await player.send('unknown function', player.addresses.Bank!, '0x12345678')
}

async function useCoin(player: Player): Promise<void> {
  const coin = ['Coin', player.addresses.Coin!] as const
  await player.write(coin, 'approve', [OTHER, 1_000_000n])
  await player.write(coin, 'transfer', [OTHER, 1_500_000n])
  await player.write(coin, 'transfer', [OTHER, 9_000_000n], 0n, 'transfer too much')
}

async function failInside(player: Player): Promise<void> {
  const { Factory: factory, Curve: curve } = player.addresses
  await player.deploy('Picky', [3n], 'odd Picky')
  await player.write(['Factory', factory!], 'makePicky', [4n])
  await player.write(['Factory', factory!], 'makePicky', [5n], 0n, 'makePicky of an odd number')
  await player.write(['Curve', curve!], 'buy', [3n], 9_000_000_000n)
  await player.write(['Curve', curve!], 'buy', [3n], 1n, 'buy for too little')
  await player.estimate(curve!, player.data('Curve', 'stepAt', [7n]))
}

/** The failures that calls of ethers run into. */
async function askWithEthers(
  project: BuiltProject,
  url: string,
  addresses: Readonly<Record<string, Address>>,
): Promise<void> {
  const network = Network.from(33)
  const provider = new JsonRpcProvider(url, network, { staticNetwork: network, batchMaxCount: 1 })
  try {
    const bank = contractOf(project, 'Bank', addresses.BeaconProxy!, provider)
    const overrides = { from: OTHER }
    await bank.getFunction('name').staticCall(overrides)
    await bank.getFunction('close').staticCall(overrides).catch(expected)
    await bank.getFunction('withdraw').staticCall(1n, overrides).catch(expected)
    await bank.getFunction('feeAt').staticCall(1n, 10_001n, overrides).catch(expected)
  } finally {
    provider.destroy()
  }
}

function contractOf(
  project: BuiltProject,
  name: string,
  address: Address,
  provider: JsonRpcProvider,
): Contract {
  return new Contract(address, JSON.stringify(project.contract(name).abi), provider)
}

/** Only what the chain refuses is expected. */
function expected(error: unknown): void {
  if ((error as { readonly code?: unknown }).code !== 'CALL_EXCEPTION') throw error
}
