import { setup } from 'devchain/jest'

export default setup({ chainId: 1337 }, ({ request }) => request({ method: 'evm_mine' }))
