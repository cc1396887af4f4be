// devchain save, and starts --from a pack, as processes.
import { once } from 'node:events'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { get, type IncomingMessage } from 'node:http'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { createDevchain } from '../../src/devchain.ts'
import { textOf } from '../support/pages/readme.ts'
import { boot, request, startProcess, temporaryFolder } from '../support/process/boot.ts'

const SECOND = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8'

async function run(...args: readonly string[]): Promise<readonly [unknown, string, string]> {
  const started = startProcess(args)
  return [await started.ended, started.stdout(), started.stderr()]
}

test('a chain is deployed once, saved, and begun with again by exec', async () => {
  const folder = temporaryFolder(onTestFinished)
  const file = path.join(folder, 'deployed.pack')
  const running = await boot(['--chain-id', '5', '--clock', 'frozen'])
  await request(running.url, 'hardhat_setBalance', SECOND, '0x7')
  await request(running.url, 'evm_mine')
  await request(running.url, 'devchain_snapshot', 'deployed')
  const save = async (to: string): Promise<readonly [unknown, string, string]> =>
    run('save', to, '--url', running.url)
  const [code, text] = await save(file)
  const bytes = readFileSync(file)
  expect([code, text]).toEqual([0, `wrote ${file}: ${bytes.length.toLocaleString('en')} bytes\n`])
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(bytes.toString('latin1').split('\n', 2)).toEqual([
    expect.stringMatching(/^devchain pack \d+ [0-9a-f]{8}$/),
    expect.stringMatching(/^\{"chainId":5,"block":1,"hash":"0x[0-9a-f]{64}","size":\d+\}$/),
  ])
  await save(file)
  expect(readFileSync(file)).toEqual(bytes)
  expect(await save(path.join(folder, 'none', 'a.pack'))).toEqual([
    1,
    '',
    expect.stringMatching(/^devchain: save: cannot write .*a\.pack: ENOENT/),
  ])
  await running.stop()
  const script = `fetch(process.env.DEVCHAIN_URL, { method: 'POST', headers: { 'content-type': 'application/json' }, body:
    JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_getBalance', params: ['${SECOND}', 'latest'] }) })
    .then((reply) => reply.text()).then(console.log)`
  const [ended, balance, error] = await run(
    'exec',
    '--from',
    file,
    '--',
    process.execPath,
    '-e',
    script,
  )
  expect([ended, balance.trim(), error]).toEqual([0, '{"jsonrpc":"2.0","id":1,"result":"0x7"}', ''])
  const again = await boot(['--from', file])
  expect(again.stdout()).toContain(`Pack        ${file}, block 1\n`)
  expect(again.stdout()).toMatch(/Chain id\s+5\n/)
  expect(again.stdout()).toMatch(/Clock\s+frozen\n/)
  await request(again.url, 'evm_mine')
  expect(await run('reset', '--url', again.url)).toEqual([
    0,
    'reset to block 1, where the chain starts\n',
    '',
  ])
  const seventh = new URL('/7', again.url).href
  expect(await request(seventh, 'devchain_snapshots')).toMatchObject([{ name: 'deployed' }])
  expect(
    (await run('save', path.join(folder, '7.pack'), '--url', again.url, '--chain', '7'))[0],
  ).toBe(0)
  expect(readFileSync(path.join(folder, '7.pack'))).toEqual(bytes)
  await again.stop()
})

test('a deployment answers its probes once its chain has begun with the pack', async () => {
  const page = textOf('src/runners/README.md')
  const [, args = ''] = /args: \[(.*)\]/.exec(page)!
  const paths = [...page.matchAll(/httpGet: \{ path: (\S+), port: 8545 \}/g)].map(
    ([, each]) => each!,
  )
  expect(paths).toHaveLength(2)
  const file = path.join(temporaryFolder(onTestFinished), 'deployed.pack')
  const devchain = await createDevchain({ noArtifacts: true })
  await devchain.request({ method: 'evm_mine' })
  writeFileSync(file, await devchain.save())
  await devchain.close()
  const pod = await boot(args.replace('/deployed.pack', file).split(', '))
  const { port } = new URL(pod.url)
  for (const host of ['10.244.0.7:8545', 'devchain:8545', 'devchain']) {
    const statuses = paths.map(async (each) => {
      const sent = get({ port, path: each, headers: { host } })
      const [reply] = (await once(sent, 'response')) as [IncomingMessage]
      return [reply.statusCode, JSON.parse(await text(reply)).blockNumber]
    })
    expect(await Promise.all(statuses)).toEqual([
      [200, 1],
      [200, 1],
    ])
  }
  expect(await pod.stop()).toBe(0)
})

test('devchain state export writes a pack, or blocks for --import', async () => {
  const folder = temporaryFolder(onTestFinished)
  const [state, pack, blocks] = ['chain', 'a.pack', 'a.rlp'].map((each) => path.join(folder, each))
  const running = await boot(['--state', state!, '--clock', 'frozen', '--compat', 'geth'])
  await request(running.url, 'evm_mine')
  await request(running.url, 'devchain_snapshot', 'deployed')
  const saved = path.join(folder, 'saved.pack')
  await run('save', saved, '--url', running.url)
  const seventh = await request(new URL('/7', running.url).href, 'eth_blockNumber')
  expect(seventh).toBe('0x0')
  await running.stop()
  expect(await run('state', 'export', state!, pack!)).toEqual([
    0,
    `wrote ${pack}: ${statSync(pack!).size.toLocaleString('en')} bytes\n`,
    '',
  ])
  expect(readFileSync(pack!)).toEqual(readFileSync(saved))
  expect((await run('state', 'export', state!, blocks!, '--blocks'))[0]).toBe(0)
  const again = await boot(['--import', blocks!, '--compat', 'geth'])
  expect(await request(again.url, 'eth_blockNumber')).toBe('0x1')
  await again.stop()
  expect((await run('state', 'export', state!, pack!, '--chain', '7'))[0]).toBe(0)
  const other = await boot(['--from', pack!])
  expect(await request(other.url, 'eth_blockNumber')).toBe('0x0')
  await other.stop()
  expect((await run('state', 'export', state!, pack!, '--chain', '8'))[2]).toMatch(
    /^devchain: state: .*chain has no chain \/8, only \/, \/7\n$/,
  )
  expect((await run('state', 'export', state!))[2]).toContain('export needs a file to write')
})

test('the first screen of a chain from a pack shows no keys of its mnemonic', async () => {
  const folder = temporaryFolder(onTestFinished)
  const file = path.join(folder, 'own.pack')
  const mnemonic = 'myth like bonus scare over problem client lizard pioneer submit female collect'
  const state = path.join(folder, 'chain')
  const own = await boot(['--mnemonic', mnemonic, '--state', state])
  expect(await run('save', file, '--url', own.url)).toEqual([
    1,
    '',
    expect.stringContaining('a pack has the keys, and the mnemonic is not the public one'),
  ])
  await own.stop()
  const again = await boot(['--state', state])
  expect(again.stdout()).toContain('not shown; --ready-file writes it and the keys')
  expect(again.stdout()).not.toMatch(/0x[0-9a-f]{64}/)
  await again.stop()
})

test('a start from what is no pack is refused with the name of the file', async () => {
  const file = path.join(temporaryFolder(onTestFinished), 'state.json')
  writeFileSync(file, '{"accounts":{}}')
  expect(await run('--from', file)).toEqual([
    2,
    '',
    `devchain: ${file}: expected a pack that devchain save wrote, got JSON; --load-state reads dumps of anvil\n`,
  ])
  expect(await run('--from', `${file}.none`)).toEqual([
    2,
    '',
    expect.stringMatching(/^devchain: cannot read the pack .*state\.json\.none: /),
  ])
  expect(await run('--from', file, '--genesis', file)).toEqual([
    2,
    '',
    'devchain: --from contradicts --genesis: a pack has its own genesis and blocks\n',
  ])
})
