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

  test('has blocks that are invalid here, with a likely reason', async () => {
    const { devchain, url } = await bob()
    await using chain = await startLogged({ peer: [url] })
    await devchain.request({
      method: 'hardhat_setBalance',
      params: [`0x${'11'.repeat(20)}`, '0x5'],
    })
    chain.lines()
    await devchain.request({ method: 'evm_mine' })
    const lines = await eventually(chain.lines, ({ length }) => length > 0)
    expect(masked(lines)).toMatch(
      /^peers {2}rejected blocks from bob: block 1: state root: expected 0x\w+, the header says 0x\w+ \(no block contains state set by methods such as hardhat_setBalance/,
    )
    expect(blockNumber(chain.devchain)).toBe(0)
  })

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
