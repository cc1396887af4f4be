// As wagmi's own tests have them: two forks of one network under other chain ids, each worker with its pool id in the path.
import { createConfig, createStorage, mock } from '@wagmi/core'
import { createTestClient, http } from 'viem'

/** What these tests use of viem/chains, which takes each worker half a second to load. */
const mainnet = {
  name: 'Ethereum',
  nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
  contracts: { multicall3: { address: '0xca11bde05977b3631167028862be2a173976ca11' } },
}

const pool = Number(process.env.VITEST_POOL_ID ?? 1)

function chainAt(id, url) {
  const rpcUrls = {
    default: { http: [`${url}/${pool}`], webSocket: [`${url.replace('http', 'ws')}/${pool}`] },
  }
  return { ...mainnet, id, rpcUrls }
}

export const chains = [chainAt(123, process.env.FIRST_URL), chainAt(456, process.env.SECOND_URL)]

export const testClients = chains.map((chain) =>
  createTestClient({ mode: 'anvil', cacheTime: 0, chain, transport: http() }).extend(() => ({
    restart: () => fetch(`${chain.rpcUrls.default.http[0]}/restart`),
  })),
)

export const accounts = [
  '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
  '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
]

export const config = createConfig({
  chains,
  connectors: [mock({ accounts })],
  pollingInterval: 100,
  storage: createStorage({
    storage: { getItem: () => null, setItem: () => {}, removeItem: () => {} },
  }),
  transports: { 123: http(), 456: http() },
})
