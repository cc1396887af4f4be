// The global set-ups of test runners, in the process that has them.
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { ROOT, startProcess } from '../support/process/boot.ts'

const DIST = pathToFileURL(path.join(ROOT, 'dist/runners'))

/** Runs a module that imports from `devchain/jest` and `devchain/vitest`. */
async function play(script: string, env: Readonly<Record<string, string>> = {}) {
  const code = script.replaceAll(/devchain\/(jest|vitest)/g, `${DIST}/$1.js`)
  const command = [process.execPath, '--input-type=module', '-e', code] as const
  // this run's own number would be that of the worker
  const numbers = { VITEST_POOL_ID: '', JEST_WORKER_ID: '', NODE_TEST_CONTEXT: '' }
  const { ended, stdout, stderr } = startProcess([], { command, env: { ...numbers, ...env } })
  return { code: await ended, stdout: stdout(), stderr: stderr() }
}

test('devchain/jest starts a chain for each run of a process, and leaves its variables as they were', async () => {
  const { code, stdout, stderr } = await play(`
    import { setup, teardown } from 'devchain/jest'
    const variables = () => {
      const { DEVCHAIN_URL, ETH_RPC_URL, DEVCHAIN_CHAINS, NODE_OPTIONS } = process.env
      return JSON.stringify([DEVCHAIN_URL, ETH_RPC_URL, DEVCHAIN_CHAINS, NODE_OPTIONS])
    }
    const before = variables()
    for (const run of [1, 2]) {
      await setup()
      // as Jest does with --runInBand
      process.env.JEST_WORKER_ID = '1'
      const { DEVCHAIN_URL, ETH_RPC_URL } = process.env
      const body = JSON.stringify({ id: 1, method: 'eth_blockNumber' })
      const { result } = await (await fetch(DEVCHAIN_URL, { method: 'POST', body })).json()
      console.log(new URL(DEVCHAIN_URL).pathname, result, DEVCHAIN_URL === ETH_RPC_URL)
      await teardown()
      console.log(variables() === before)
    }
    process.exit()`)
  expect([code, stdout, stderr]).toEqual([0, '/1 0x0 true\ntrue\n/1 0x0 true\ntrue\n', ''])
})

test.each(['jest', 'vitest'])(
  'a set-up of devchain/%s warns that it does not prepare a chain that runs already',
  async (runner) => {
    const script = `
      import { setupWith } from 'devchain/${runner}'
      await setupWith({ chainId: 5 })()
      await setupWith({}, () => console.log('prepared'))()
      process.exit()`
    const env = { DEVCHAIN_URL: 'http://127.0.0.1:1' }
    const { code, stdout, stderr } = await play(script, env)
    expect([code, stdout]).toEqual([0, ''])
    expect(stderr).toMatch(
      /^devchain: the tests use the chain at http:\/\/127\.0\.0\.1:1 \(DEVCHAIN_URL\): .*--setup.*\n$/,
    )
  },
)
