// The log of a chain that is linked to others: who comes and goes, and whose blocks came.
import { afterEach, describe, expect, test } from 'vitest'
import { createDevchain, type Devchain } from '../../../src/devchain.ts'
import { startLogged } from '../../support/chain/loggedchain.ts'
import { eventually } from '../../support/waiting/eventually.ts'

const opened: Devchain[] = []

afterEach(async () => {
  await Promise.all(opened.splice(0).map((each) => each.close()))
})

/** A chain named bob, and its URL. */
async function bob(options: object = {}): Promise<{ devchain: Devchain; url: string }> {
  const devchain = await createDevchain({
    clock: 'frozen',
    timestamp: 1_600_000_000,
    nodeName: 'bob',
    port: 0,
    ...options,
  })
  opened.push(devchain)
  return { devchain, url: (await devchain.listen()).wsUrl }
}

/** An account that is set on one of the chains. */
const SET = `0x${'11'.repeat(20)}`

function blockNumber({ node }: Devchain): number {
  return node.chain.state.tree.canonical.length - 1
}

function masked(lines: readonly string[]): string {
  return lines
    .join('\n')
    .replaceAll(/0x[0-9a-f]{4}…[0-9a-f]{4}/g, '0x…')
    .replaceAll(/:\d{4,5}\b/g, ':PORT')
}

describe('the log of peers', () => {
  test('has a link, its imported blocks as one line, and its end', async () => {
    const { devchain, url } = await bob()
    await devchain.request({ method: 'hardhat_mine', params: ['0x3'] })
    await using chain = await startLogged({ peer: [url] })
    await eventually(() => blockNumber(chain.devchain) === 3)
    await devchain.request({ method: 'evm_mine' })
    await eventually(() => blockNumber(chain.devchain) === 4)
    await devchain.close()
    await eventually(() => chain.devchain.peers.list().length === 0)
    expect(masked(chain.lines())).toBe(
      [
        `peers  linked to bob (ws://127.0.0.1:PORT)`,
        'imported blocks 1 to 4 from bob, empty: 0x…, 2020-09-13 12:26:44',
        'peers  disconnected from bob: the node is stopping',
      ].join('\n'),
    )
  })

  test('has a reorg with its depth and whose branch it was', async () => {
    const { devchain, url } = await bob()
    await devchain.request({ method: 'hardhat_mine', params: ['0x3'] })
    await using chain = await startLogged()
    const [from, to] = (await chain.ask('eth_accounts')) as string[]
    await chain.ask('eth_sendTransaction', { from, to, value: '0x1' })
    await chain.ask('evm_mine')
    chain.lines()
    await chain.devchain.peers.add(url)
    await eventually(() => blockNumber(chain.devchain) === 3)
    expect(masked(chain.lines())).toBe(
      [
        'peers  linked to bob (ws://127.0.0.1:PORT)',
        'reorganization to the branch of bob: 2 blocks deep, block 2 → 3, 1 transaction back in the pool',
        'imported blocks 1 to 3 from bob, empty: 0x…, 2020-09-13 12:26:43',
      ].join('\n'),
    )
  })

  test('has a refusal with its reason, and a peer that does not respond', async () => {
    const { url } = await bob({ chainId: 7 })
    await using chain = await startLogged({ peer: [url, 'ws://127.0.0.1:1'] })
    expect(masked(chain.lines()).split('\n').sort()).toEqual([
      'peers  cannot reach ws://127.0.0.1:1: nobody listens there; retrying',
      'peers  refused the link with ws://127.0.0.1:PORT: network id: 33 and 7 differ',
    ])
  })

  test.each([
    ['hardhat_setBalance', '0x5', undefined, /state root: expected 0x\w+, the header says 0x\w+/],
    // PUSH0 PUSH0 LOG0
    ['hardhat_setCode', '0x5f5fa0', { to: SET }, /gas used: expected \d+, the header says \d+/],
    ['hardhat_setBalance', '0x5', { from: SET, value: '0x5' }, /insufficient funds .* want 5/],
    ['hardhat_setNonce', '0x5', { from: SET }, /nonce .*5/],
  ] as const)(
    'has blocks that are invalid here after %s of %s, with a likely reason: %j',
    async (method, value, sent, reason) => {
      const { devchain, url } = await bob()
      await using chain = await startLogged({ peer: [url] })
      await devchain.request({ method, params: [SET, value] })
      await devchain.request({ method: 'hardhat_impersonateAccount', params: [SET] })
      chain.lines()
      const [from] = (await chain.ask('eth_accounts')) as string[]
      const params = [{ from, to: from, ...sent }]
      await (sent === undefined
        ? devchain.request({ method: 'evm_mine' })
        : devchain.request({ method: 'eth_sendTransaction', params }))
      const rejected = (lines: readonly string[]): string | undefined =>
        lines.find((line) => line.startsWith('peers  rejected blocks from bob: block 1: '))
      const line = rejected(await eventually(chain.lines, (lines) => rejected(lines) !== undefined))
      expect(line).toMatch(reason)
      expect(line).toMatch(/ \(no block contains state set by methods such as hardhat_setBalance/)
      expect(blockNumber(chain.devchain)).toBe(0)
    },
  )

  test('has all that in JSON', async () => {
    const { devchain, url } = await bob()
    await devchain.request({ method: 'evm_mine' })
    await using chain = await startLogged({ peer: [url] }, { json: true })
    await eventually(() => blockNumber(chain.devchain) === 1)
    const events = chain.lines().map((line) => JSON.parse(line) as object)
    expect(events).toMatchObject([
      { event: 'peer', kind: 'linked', peer: 'bob' },
      { event: 'imported', first: 1, number: 1, transactions: 0, peer: 'bob' },
    ])
  })
})
