// What each test file does on its chain: it begins with the one block of the set-up, mines, and returns to it.
const { setTimeout } = require('node:timers/promises')

exports.rpc = rpc
async function rpc(url, method, ...params) {
  const response = await fetch(url, {
    method: 'POST',
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  const { result, error } = await response.json()
  if (error) throw new Error(error.message)
  return result
}

exports.check = check
async function check(url) {
  const height = () => rpc(url, 'eth_blockNumber')
  if ((await height()) !== '0x1') throw new Error(`${url} begins at ${await height()}`)
  for (let i = 0; i < 5; i++) {
    await rpc(url, 'evm_mine')
    await setTimeout(20)
  }
  if ((await height()) !== '0x6') throw new Error(`${url} has ${await height()}`)
  await rpc(url, 'evm_reset')
}
