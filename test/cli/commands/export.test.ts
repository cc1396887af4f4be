// `devchain export` and `--import`: a chain goes into a file, and another begins with it.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { boot, request, startProcess, temporaryFolder } from '../../support/process/boot.ts'

const A = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'
const B = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8'

/** A chain that is gone when the test is over. */
async function chainWith(...args: string[]): Promise<string> {
  const { url, stop } = await boot(['--clock', 'frozen', ...args])
  onTestFinished(async () => {
    await stop()
  })
  return url
}

interface Ended {
  readonly code: number | string
  readonly stdout: string
  readonly stderr: string
}

async function run(...args: string[]): Promise<Ended> {
  const { ended, stdout, stderr } = startProcess(args)
  return { code: await ended, stdout: stdout(), stderr: stderr() }
}

async function headOf(url: string): Promise<unknown> {
  const head = (await request(url, 'eth_getBlockByNumber', 'latest', false)) as {
    number: string
    hash: string
    uncles: string[]
  }
  return [head.number, head.hash, head.uncles.length]
}

describe('devchain export', () => {
  test('writes a file that starts an equal chain: transactions, uncles, block settings', async () => {
    const file = path.join(temporaryFolder(onTestFinished), 'chain.rlp')
    const url = await chainWith('--base-fee', '1gwei')
    for (let i = 0; i < 3; i++) {
      await request(url, 'eth_sendTransaction', { from: A, to: B, value: '0x1', gas: '0x5208' })
    }
    await request(url, 'devchain_reorg', { depth: 1 })
    await request(url, 'evm_setBlockGasLimit', '0x5f5e100')
    await request(url, 'evm_mine', { blocks: 60 })
    const exported = await run('export', file, '--url', url)
    expect(exported).toMatchObject({ code: 0, stderr: '' })
    expect(exported.stdout).toContain(file)
    const again = await chainWith('--base-fee', '1gwei', '--import', file)
    expect(await headOf(again)).toEqual(await headOf(url))
    expect(await request(again, 'eth_getBlockByNumber', '0x4', true)).toEqual(
      await request(url, 'eth_getBlockByNumber', '0x4', true),
    )
    await request(again, 'eth_sendTransaction', { from: A, to: B, value: '0x1', gas: '0x5208' })
    expect(await request(again, 'eth_getTransactionCount', A, 'latest')).toBe('0x4')
  })

  test('writes a file that, if damaged, stops the start with the block and the rule', async () => {
    const folder = temporaryFolder(onTestFinished)
    const file = path.join(folder, 'chain.rlp')
    const url = await chainWith()
    await request(url, 'evm_mine', { blocks: 2 })
    await run('export', file, '--url', url)
    const bytes = readFileSync(file)
    writeFileSync(file, bytes.subarray(0, -1))
    const start = (): Promise<Ended> => run('--port', '0', '--clock', 'frozen', '--import', file)
    expect(await start()).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^devchain: .*chain\.rlp: block 2: encoding: [^\n]+\n$/),
    })
    // a byte of the last block's state root
    const at = bytes.lastIndexOf(Buffer.from('devchain')) - 300
    bytes[at] = bytes[at]! ^ 1
    writeFileSync(file, bytes)
    expect((await start()).stderr).toMatch(/chain\.rlp: block 2: [a-z ]+: [^\n]+\n$/)
    const other = await run('--port', '0', '--accounts', '3', '--clock', 'frozen', '--import', file)
    expect(other.stderr).toMatch(/block 0: genesis: the file begins with 0x[^\n]+\n$/)
  })

  test('writes the whole file or nothing', async () => {
    const folder = temporaryFolder(onTestFinished)
    const file = path.join(folder, 'chain.rlp')
    const nobody = await run('export', file, '--url', 'http://127.0.0.1:9')
    expect(nobody).toMatchObject({ code: 3, stdout: '' })
    expect(nobody.stderr).toMatch(/^devchain: [^\n]*http:\/\/127\.0\.0\.1:9[^\n]*\n$/)
    const url = await chainWith()
    // blocks of a run of more than a million have no headers that their hashes are taken of
    await request(url, 'evm_mine', { blocks: 2_000_000 })
    const derived = await run('export', file, '--url', url)
    expect(derived).toMatchObject({ code: 1, stdout: '' })
    expect(derived.stderr).toMatch(/block \d+ [^\n]*run of more than 1,000,000 empty blocks/)
    const lost = await run('export', path.join(folder, 'nowhere/chain.rlp'), '--url', url)
    expect([lost.code, lost.stderr]).toEqual([
      1,
      `devchain: export: cannot write ${folder}/nowhere/chain.rlp: ENOENT: no such file or directory\n`,
    ])
    expect(existsSync(file)).toBe(false)
    expect(readdirSync(folder)).toEqual([])
  })
})
