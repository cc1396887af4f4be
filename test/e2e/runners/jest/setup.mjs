import { setupWith } from 'devchain/jest'

export default setupWith({ chainId: 1337 }, ({ request }) => request({ method: 'evm_mine' }))
