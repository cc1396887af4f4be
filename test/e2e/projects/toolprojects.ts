// Projects of four tools over the same sources, each built by its own tool in a folder of its own.
import { execFile } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import type { Abi, Hex } from 'viem'
import { ROOT } from '../../support/process/boot.ts'
import { installProject, newerNode, projectFolder } from '../../support/tools/projects.ts'

const run = promisify(execFile)

/** Sources, and the expected log of each tool's project. The tools' config files are in test/e2e/projects. */
export const PROJECTS: string = path.join(ROOT, 'fixtures/project/tools')

export type Tool = 'foundry' | 'hardhat2' | 'hardhat3' | 'truffle'

interface Program {
  /** The Node that installs and runs it. */
  readonly node: () => Promise<string>
  /** A script for that Node, or a program, below node_modules; and its arguments. */
  readonly build: readonly [program: string, ...string[]]
  readonly isScript: boolean
  readonly artifacts: string
}

const thisNode = (): Promise<string> => Promise.resolve(process.execPath)

const FORGE = '@foundry-rs/forge-linux-amd64/bin/forge'

const PROGRAMS: Readonly<Record<Tool, Program>> = {
  foundry: { node: thisNode, build: [FORGE, 'build'], isScript: false, artifacts: 'out' },
  hardhat2: {
    node: thisNode,
    build: [
      'hardhat/internal/cli/bootstrap.js',
      ...['--config', 'hardhat.config.cjs', 'compile', '--force'],
    ],
    isScript: true,
    artifacts: 'artifacts',
  },
  hardhat3: {
    node: newerNode,
    build: ['hardhat/dist/src/cli.js', 'build', '--force'],
    isScript: true,
    artifacts: 'artifacts',
  },
  truffle: {
    node: thisNode,
    build: ['truffle/build/cli.bundled.js', 'compile', '--all'],
    isScript: true,
    artifacts: 'build/contracts',
  },
}

/** A contract of a built project, as the clients of all tools take it. */
export interface BuiltContract {
  readonly abi: Abi
  /** With placeholders of the form `__$…$__` or `__Name___…` for libraries. */
  readonly bytecode: string
}

export interface BuiltProject {
  readonly folder: string
  readonly contract: (name: string) => BuiltContract
}

/** Foundry's own program, installed when it is first wanted; undefined where npm has no build of it or is not reached. */
export async function forgeProgram(): Promise<string | undefined> {
  try {
    await installProject('foundry')
  } catch {
    return undefined
  }
  const file = path.join(projectFolder('foundry'), 'node_modules', FORGE)
  return existsSync(file) ? file : undefined
}

/** Copies the sources with a tool's config into an empty folder, and has the tool build them. */
export async function buildProject(tool: Tool): Promise<BuiltProject> {
  const { node, build, isScript, artifacts } = PROGRAMS[tool]
  const program = await node()
  await installProject(tool, program)
  const folder = mkdtempSync(path.join(tmpdir(), `devchain-${tool}-`))
  cpSync(path.join(PROJECTS, 'contracts'), path.join(folder, 'contracts'), { recursive: true })
  cpSync(path.join(projectFolder('projects'), tool), folder, { recursive: true })
  const packages = path.join(projectFolder(tool), 'node_modules')
  symlinkSync(packages, path.join(folder, 'node_modules'))
  const [file, ...args] = build
  const command = path.join(packages, file)
  const [first, rest] = isScript ? [program, [command, ...args]] : [command, args]
  await run(first, rest, { cwd: folder, env: environment(program) })
  return { folder, contract: (name) => contractIn(path.join(folder, artifacts), name) }
}

/** No tool asks about telemetry; what it starts itself is run by the same Node. */
function environment(node: string): NodeJS.ProcessEnv {
  return {
    ...process.env,
    PATH: `${path.dirname(node)}${path.delimiter}${process.env.PATH ?? ''}`,
    HARDHAT_DISABLE_TELEMETRY_PROMPT: 'true',
    NO_COLOR: '1',
    FORCE_COLOR: '0',
  }
}

function contractIn(folder: string, name: string): BuiltContract {
  const file = readdirSync(folder, { recursive: true, encoding: 'utf8' }).find(
    (each) => path.basename(each) === `${name}.json`,
  )
  if (file === undefined) throw new Error(`no contract ${name} was built`)
  const { abi, bytecode } = JSON.parse(readFileSync(path.join(folder, file), 'utf8')) as {
    readonly abi: Abi
    readonly bytecode: string | { readonly object: string }
  }
  return { abi, bytecode: typeof bytecode === 'string' ? bytecode : bytecode.object }
}

/** Init code with the only library of a project in all places that wait for one. */
export function linked({ bytecode }: BuiltContract, library: string): Hex {
  return bytecode.replace(/__.{38}/g, library.slice(2).toLowerCase()) as Hex
}
