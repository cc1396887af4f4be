// The published types, as programs that use viem and ethers compile against them.
import { execFile } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { ROOT } from '../support/process/boot.ts'

const run = promisify(execFile)
const EXAMPLES = path.join(import.meta.dirname, 'examples.ts')

test('programs with viem and ethers compile against the published types and run', async () => {
  const options = [
    ...['--ignoreConfig', '--noEmit', '--strict', '--skipLibCheck', '--allowImportingTsExtensions'],
    ...['--module', 'nodenext', '--target', 'es2023', '--lib', 'es2023,dom,esnext.disposable'],
  ]
  const tsc = path.join(ROOT, 'node_modules/.bin/tsc')
  const compiled = await run(tsc, [...options, '--types', 'node', EXAMPLES], { cwd: ROOT }).catch(
    (error: { stdout: string }) => error,
  )
  expect(compiled.stdout).toBe('')

  const { transfers } = await import('./examples.ts')
  expect(await transfers()).toEqual([10n ** 18n, 2n * 10n ** 18n])
})
