import { setupWith } from 'devchain/vitest'

export const setup = setupWith({ chainId: 1337 }, ({ request }) => request({ method: 'evm_mine' }))
