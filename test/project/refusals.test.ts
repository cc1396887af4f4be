// Why a call was refused that did not come far, however the contract was compiled: a reason that is not certain is not stated.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { createDevchain, type RpcError } from '../../src/devchain.ts'
import { type Ask, callData, deploy, initCode, SENDER } from '../support/chain/deploy.ts'
import { ROOT } from '../support/process/boot.ts'
import {
  type Compilation,
  compile,
  type Settings,
  writeProject,
} from '../support/solidity/solidity.ts'

const content = readFileSync(path.join(ROOT, 'fixtures/project/Quiet.sol'), 'utf8')
const folder = mkdtempSync(path.join(tmpdir(), 'devchain-refusals-'))

afterAll(() => rmSync(folder, { recursive: true }))

/** A function with a word that is none of its type in place of its argument. */
function withWord(project: Compilation, name: string, arg: unknown, word: string): string {
  return callData(project, 'Quiet', name, [arg]).slice(0, 10) + word.padStart(64, '0')
}

const FAILS = /^(?:require\(.*\) failed|reverted without a reason)$/
const MISFITS =
  /^the arguments do not fit (?:\w+\(\w+\)|the constructor of Quiet)(?:: got \d+ bytes)?$/
/** What only the compiler knows: the members of an enumeration, how a string is encoded. */
const PERHAPS = /^reverted without a reason; perhaps the arguments do not fit \w+\(\w+\)$/

describe.each<Settings>([
  {},
  { viaIR: true },
  { optimizer: { enabled: true } },
  { optimizer: { enabled: true, runs: 1 } },
  { optimizer: { enabled: true }, viaIR: true },
  { optimizer: { enabled: true, runs: 1_000_000 }, viaIR: true },
])('compiled with %j', (settings) => {
  const project = compile({ 'src/Quiet.sol': { content } }, settings)
  const call = (name: string, ...args: readonly unknown[]): string =>
    callData(project, 'Quiet', name, args)
  const creation = initCode(project, 'Quiet', [false])

  test('a require in a function is not reported as a check of its arguments, nor vice versa', async () => {
    const artifacts = [writeProject(mkdtempSync(path.join(folder, 'way-')), 'foundry', project)]
    await using chain = await createDevchain({ defaultGas: 'estimate', artifacts })
    await chain.artifactsRead()
    const ask: Ask = (method, ...params) => chain.request({ method, params })
    const to = await deploy(ask, initCode(project, 'Quiet', [true]))
    const library = await deploy(ask, initCode(project, 'Checks'))
    const failures: readonly (readonly [request: object, ...expected: readonly RegExp[]])[] = [
      [{ data: creation }, FAILS],
      [{ data: `${creation.slice(0, -1)}2` }, MISFITS],
      [{ data: creation.slice(0, -64) }, MISFITS],
      [{ to, value: '0x1' }, FAILS],
      [{ to, data: call('flag', false) }, FAILS],
      [{ to, data: withWord(project, 'flag', true, '2') }, MISFITS],
      [{ to, data: call('flag', false).slice(0, -2) }, MISFITS],
      [{ to, data: call('flag', true), value: '0x1' }, /^flag is not payable but was sent 1 wei$/],
      [{ to, data: call('whom', '0x0000000000000000000000000000000000000001') }, FAILS],
      [{ to, data: withWord(project, 'whom', SENDER, `ff${'00'.repeat(20)}`) }, MISFITS],
      [{ to, data: call('small', 250) }, FAILS, PERHAPS],
      [{ to, data: withWord(project, 'small', 1, '12c') }, MISFITS],
      [{ to, data: call('kind', 1) }, FAILS, PERHAPS],
      [{ to, data: call('kind', 9) }, MISFITS, PERHAPS],
      [{ to, data: call('text', 'long') }, FAILS, PERHAPS],
      [{ to, data: call('text', 'long').slice(0, -64) }, MISFITS],
      [{ to, data: call('list', [1n, 2n, 3n]) }, FAILS, PERHAPS],
      [{ to, data: call('guarded', false) }, FAILS],
      [{ to, data: '0x12345678' }, /^Quiet has no function 0x12345678, and no fallback function$/],
      [{ to: library, data: callData(project, 'Checks', 'check', [false]) }, FAILS],
    ]
    for (const [request, ...expected] of failures) {
      const error = await ask('eth_call', { from: SENDER, ...request }).catch((each) => each)
      const [reason = '', place = ''] = (error as RpcError).solidityStack ?? []
      expect(
        expected.some((each) => each.test(reason)),
        `${JSON.stringify(request)}: ${reason}`,
      ).toBe(true)
      // a place that only may be it says so
      const isSure = reason !== 'reverted without a reason' && !PERHAPS.test(reason)
      expect(isSure || place.includes('(about '), `${reason} ${place}`).toBe(true)
    }
  })
})
