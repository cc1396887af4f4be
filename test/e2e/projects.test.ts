// Projects of four tools, built by the tools themselves, deployed and used by real clients against the command in
// their folder: what it tells is held against fixtures/projects/expected, word for word.
import { execFile } from 'node:child_process'
import { rmSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Booted, boot, COMMAND, plainEnvironment, request } from '../support/boot.ts'
import {
  type BuiltProject,
  buildProject,
  forgeProgram,
  PROJECTS,
  type Tool,
} from '../support/toolprojects.ts'
import { type Played, playScenario } from '../support/toolscenario.ts'

const run = promisify(execFile)

const TWO_MINUTES = 120_000

/** Equal blocks and hashes each run. */
const FIXED = ['--clock', 'frozen', '--timestamp', '1600000000', '--no-hints']

const hasForge = (await forgeProgram()) !== undefined

describe.each<Tool>(['foundry', 'hardhat2', 'hardhat3', 'truffle'])(
  'a project of %s (of Foundry skipped where npm has no build of forge)',
  (tool) => {
    let project: BuiltProject
    let chain: Booted
    let played: Played

    beforeAll(async () => {
      if (tool === 'foundry' && !hasForge) return
      project = await buildProject(tool)
      chain = await boot(FIXED, { cwd: project.folder })
      await chain.says(/artifacts {2}\d+ contracts of/)
      played = await playScenario(project, chain.url)
      // the log is written when the processor is free: this is its last line
      await chain.says(/Bank\.feeAt\(1, 10,001\) ✗/)
    }, TWO_MINUTES)

    afterAll(async () => {
      await chain?.stop()
      if (project !== undefined) rmSync(project.folder, { recursive: true })
    })

    const expected = (file: string): string => path.join(PROJECTS, 'expected', tool, file)

    /** What a command prints that asks the chain. */
    async function said(...args: readonly string[]): Promise<string> {
      const env = { ...plainEnvironment(), NO_COLOR: '1' } as NodeJS.ProcessEnv
      const all = [COMMAND, ...args, '--url', chain.url]
      return (await run(process.execPath, all, { env })).stdout
    }

    test.skipIf(tool === 'foundry' && !hasForge)('has its log told', async () => {
      await expect(plain(chain.stdout())).toMatchFileSnapshot(expected('log.txt'))
    })

    test.skipIf(tool === 'foundry' && !hasForge)('has its traces told', async () => {
      const traces: string[] = []
      for (const [name, hash] of Object.entries(played.hashes)) {
        const { lines } = (await request(chain.url, 'devchain_traceTransaction', hash)) as Traced
        traces.push([`# ${name}`, ...lines, ''].join('\n'))
      }
      await expect(traces.join('\n')).toMatchFileSnapshot(expected('traces.txt'))
      const printed = await said('trace', played.hashes['withdraw from BeaconProxy']!)
      expect(traces).toContain(`# withdraw from BeaconProxy\n${printed}`)
    })

    test.skipIf(tool === 'foundry' && !hasForge)('has its gas told', async () => {
      await expect(await said('gas-report')).toMatchFileSnapshot(expected('gas.txt'))
    })
  },
)

interface Traced {
  readonly lines: readonly string[]
}

/** The log from the artifacts on, without what differs from run to run. */
function plain(log: string): string {
  return log
    .slice(log.indexOf('artifacts '))
    .replaceAll(/ +[\d.,]+ (µs|ms|s) {2}/g, '  … ms  ')
    .replaceAll(/0x[0-9a-f]{64}/g, '0x…')
}
