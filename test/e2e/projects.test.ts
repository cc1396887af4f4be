// Projects of four tools, built by the tools themselves, deployed and used by real clients against the command in
// their folder: what it logs is held against fixtures/project/tools/expected, word for word.
import { execFile } from 'node:child_process'
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { encodeDeployData, type Hex, keccak256 } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Booted, boot, COMMAND, plainEnvironment, request } from '../support/process/boot.ts'
import {
  type BuiltProject,
  buildProject,
  forgeProgram,
  PROJECTS,
  type Tool,
} from './projects/toolprojects.ts'
import { OWNER, type Played, playScenario } from './projects/toolscenario.ts'

const run = promisify(execFile)

/** Equal blocks and hashes each run. */
const FIXED = ['--clock', 'frozen', '--timestamp', '1600000000', '--no-hints']

/** What is reported at the end, and when it is asked for. */
const REPORTS = ['--gas-report', '--coverage', 'lcov.info']

const hasForge = (await forgeProgram()) !== undefined

/** Projects by their tools, each built once. */
const built = new Map<Tool, Promise<BuiltProject>>()

function builtBy(tool: Tool): Promise<BuiltProject> {
  const project = built.get(tool) ?? buildProject(tool)
  built.set(tool, project)
  return project
}

afterAll(async () => {
  for (const project of built.values()) rmSync((await project).folder, { recursive: true })
})

describe.each<Tool>(['foundry', 'hardhat2', 'hardhat3', 'truffle'])(
  'a project of %s (of Foundry skipped where npm has no build of forge)',
  (tool) => {
    let project: BuiltProject
    let chain: Booted
    let played: Played

    beforeAll(async () => {
      if (tool === 'foundry' && !hasForge) return
      project = await builtBy(tool)
      chain = await boot([...FIXED, ...REPORTS], { cwd: project.folder })
      await chain.says(/artifacts {2}\d+ contracts from/)
      played = await playScenario(project, chain.url)
      // the log is written when the processor is free: this is its last line
      await chain.says(/Bank\.feeAt\(1, 10,001\) ✗/)
    })

    afterAll(async () => {
      await chain?.stop()
    })

    const expected = (file: string): string => path.join(PROJECTS, 'expected', tool, file)

    /** What a command prints that asks the chain. */
    async function said(...args: readonly string[]): Promise<string> {
      const env = { ...plainEnvironment(), NO_COLOR: '1' } as NodeJS.ProcessEnv
      const all = [COMMAND, ...args, '--url', chain.url]
      return (await run(process.execPath, all, { env })).stdout
    }

    test.skipIf(tool === 'foundry' && !hasForge)('has a log with names', async () => {
      await expect(plain(chain.stdout())).toMatchFileSnapshot(expected('log.txt'))
    })

    test.skipIf(tool === 'foundry' && !hasForge)('has traces with names', async () => {
      const traces: string[] = []
      for (const [name, hash] of Object.entries(played.hashes)) {
        const { lines } = (await request(chain.url, 'devchain_traceTransaction', hash)) as Traced
        traces.push([`# ${name}`, ...lines, ''].join('\n'))
      }
      await expect(traces.join('\n')).toMatchFileSnapshot(expected('traces.txt'))
      const printed = await said('trace', played.hashes['withdraw from BeaconProxy']!)
      expect(traces).toContain(`# withdraw from BeaconProxy\n${printed}`)
    })

    test.skipIf(tool === 'foundry' && !hasForge)('has a gas report', async () => {
      await expect(await said('gas-report')).toMatchFileSnapshot(expected('gas.txt'))
    })

    test.skipIf(tool === 'foundry' && !hasForge)('has its sources served', async () => {
      for (const [name, address] of Object.entries(played.addresses)) {
        // minimal proxies are compiled by nobody, and the other was not made
        if (name === 'Clone' || name === 'odd Picky') continue
        const place = `${chain.url}/sourcify/contracts/full_match/33/${address}`
        const metadata = (await (await fetch(`${place}/metadata.json`)).json()) as Metadata
        const { settings, sources } = metadata
        expect(Object.values(settings.compilationTarget)).toEqual([name])
        for (const [source, { keccak256: hash }] of Object.entries(sources)) {
          const served = await fetch(`${place}/sources/${source}`)
          expect([source, keccak256(new Uint8Array(await served.arrayBuffer()))]).toEqual([
            source,
            hash,
          ])
        }
      }
    })

    test.skipIf(tool === 'foundry' && !hasForge)('has a coverage report', async () => {
      const lcov = path.join(project.folder, 'early.info')
      const printed = await said('coverage', lcov)
      const [table] = printed.split('\n\n')
      await expect(`${table}\n`).toMatchFileSnapshot(expected('coverage.txt'))
      await expect(readFileSync(lcov, 'utf8')).toMatchFileSnapshot(expected('lcov.info'))
    })
  },
)

describe.skipIf(!hasForge)(
  'forge verify-contract (skipped where npm has no build of forge)',
  () => {
    let project: BuiltProject
    let chain: Booted
    let home: string
    const coin = '0x5FbDB2315678afecb367f032d93F642f64180aa3'

    beforeAll(async () => {
      project = await builtBy('foundry')
      home = compilerHome(project)
      chain = await boot(FIXED, { cwd: project.folder })
      await chain.says(/artifacts {2}\d+ contracts from/)
      const { abi, bytecode } = project.contract('Coin')
      const data = encodeDeployData({ abi, bytecode: bytecode as Hex, args: [1n] })
      await request(chain.url, 'eth_sendTransaction', { from: OWNER, gas: '0x2dc6c0', data })
    })

    afterAll(async () => {
      await chain.stop()
      rmSync(home, { recursive: true })
    })

    /** What forge says of a contract; the URL is given as users write it. */
    const verified = (contract: string, url: string, ...flags: string[]): Promise<string> =>
      forgeVerify({ project, home, url: chain.url }, [coin, contract, ...flags], url)

    test.each(['sourcify', 'sourcify/'])('finds verified contracts at /%s', async (url) => {
      expect(await verified('contracts/Coin.sol:Coin', url)).toContain('is already verified')
    })

    test('verifies what it posts', async () => {
      const said = await verified('contracts/Coin.sol:Coin', 'sourcify', '--skip-is-verified-check')
      expect(said).toMatch(/Contract successfully verified:\s+Status: `exact_match`/)
    })

    test('gets the reason if a verification fails', async () => {
      const said = await verified(
        'contracts/Picky.sol:Picky',
        'sourcify',
        '--skip-is-verified-check',
      )
      expect(said).toContain('matches contracts/Coin.sol:Coin, not contracts/Picky.sol:Picky')
      const file = path.join(project.folder, 'contracts/Coin.sol')
      appendFileSync(file, '// changed since')
      const changed = await verified(
        'contracts/Coin.sol:Coin',
        'sourcify',
        '--skip-is-verified-check',
      )
      expect(changed).toContain('contracts/Coin.sol differs from the compiled source')
    })
  },
)

interface Metadata {
  readonly settings: { readonly compilationTarget: Readonly<Record<string, string>> }
  readonly sources: Readonly<Record<string, { readonly keccak256: string }>>
}

/** A home folder with the project's compiler where forge looks for compilers, which it would else fetch. */
function compilerHome({ folder }: BuiltProject): string {
  const home = mkdtempSync(path.join(tmpdir(), 'devchain-forge-home-'))
  const program = path.join(home, '.svm/0.8.37/solc-0.8.37')
  mkdirSync(path.dirname(program), { recursive: true })
  writeFileSync(program, `#!/bin/sh\nexec ${path.join(folder, 'solc.mjs')} "$@"\n`, { mode: 0o755 })
  return home
}

/** Runs forge to its end, whatever it comes to. */
async function forgeVerify(
  { project, home, url }: { project: BuiltProject; home: string; url: string },
  args: readonly string[],
  place: string,
): Promise<string> {
  const env = {
    ...process.env,
    HOME: home,
    FOUNDRY_OFFLINE: 'true',
    // a version with its commit is looked up nowhere, unless the cache has it without
    FOUNDRY_CACHE_PATH: path.join(home, 'no-cache'),
  }
  const where = ['--verifier', 'sourcify', '--verifier-url', `${url}/${place}`, '--rpc-url', url]
  const compiler = ['--compiler-version', '0.8.37+commit.f401782d']
  const all = ['verify-contract', ...where, '--chain', '33', ...compiler, '--watch', ...args]
  const flags = [...all, '--compilation-profile', 'default']
  const said = run((await forgeProgram())!, flags, { cwd: project.folder, env })
  return await said.then(
    ({ stdout }) => stdout,
    ({ stdout, stderr }: { stdout: string; stderr: string }) => stdout + stderr,
  )
}

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
