import { setup } from 'devchain/vitest'

export default setup({ chainId: 1337 }, ({ request }) => request({ method: 'evm_mine' }))
