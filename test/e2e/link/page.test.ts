// The page on links: its commands, run one after another as they stand, but for the ports.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { afterAll, expect, test } from 'vitest'
import { Project, textOf } from '../../support/pages/readme.ts'
import { plainEnvironment } from '../../support/process/boot.ts'
import { freePort } from '../../support/process/freeport.ts'

const project = new Project()

afterAll(() => project.remove())

test('the commands of the README part and rejoin two nodes', async () => {
  const [alice, bob] = [await freePort(), await freePort()]
  const blocks = [...textOf('src/link/README.md').matchAll(/^```sh\n(.*?)^```/gms)]
  expect(blocks.length).toBe(3)
  const script = blocks
    .map(([, code = '']) => code)
    .join('\n')
    .replaceAll('8545', `${alice}`)
    .replaceAll('8546', `${bob}`)
  const child = spawn('bash', ['-euo', 'pipefail', '-c', `{ ${script}\n} 2>&1`], {
    cwd: project.folder,
    env: plainEnvironment() as NodeJS.ProcessEnv,
    stdio: ['ignore', 'pipe', 'inherit'],
    // a group of its own: its nodes run on until it is ended
    detached: true,
  })
  const said = text(child.stdout)
  const [code] = await once(child, 'exit')
  process.kill(-child.pid!, 'SIGTERM')
  const output = await said
  expect(code, output).toBe(0)
  expect(output).toContain(`alice at 127.0.0.1:${alice}, block 0 0x`)
  expect(output).toContain('disconnected from bob')
  expect(output).toContain('reconnected to bob')
  expect(output).toMatch(
    /reorganization to the branch of alice: 1 block deep, block 3 → 5, 1 transaction back in the pool/,
  )
  expect(output).toMatch(/mined 1 block: the newest is 6/)
})
