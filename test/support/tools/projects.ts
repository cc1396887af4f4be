// Projects of other tools, with packages of their own: installed from their lock files when a test first needs them. The
// peers that a project names are this repository's: thousands of files that are there already.
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { COMMAND, ROOT } from '../process/boot.ts'
import { eventually } from '../waiting/eventually.ts'

const run = promisify(execFile)

/** How long one that waits has another install. */
const INSTALL_MS = 600_000

/** Where a project lives. */
export function projectFolder(name: string): string {
  return path.join(ROOT, 'test/e2e', name)
}

/** Installs a project's packages, without their scripts; at once when they are there already. */
export async function installProject(name: string, node: string = process.execPath): Promise<void> {
  const folder = projectFolder(name)
  const [manifest, lock] = ['package.json', 'package-lock.json'].map((file) =>
    readFileSync(path.join(folder, file), 'utf8'),
  )
  const stamp = createHash('sha256').update(`${manifest}${lock}`).digest('hex')
  const stampFile = path.join(folder, 'node_modules/.installed')
  const isInstalled = (): boolean =>
    existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp
  if (isInstalled()) return
  await alone(folder, async () => {
    if (isInstalled()) return
    const flags = ['--ignore-scripts', '--legacy-peer-deps', '--no-audit', '--no-fund']
    await run(node, [npmScript(), 'ci', ...flags], { cwd: folder })
    const { peerDependencies = {} } = JSON.parse(manifest ?? '') as Manifest
    for (const peer of Object.entries(peerDependencies)) linkPeer(folder, peer)
    writeFileSync(stampFile, stamp)
  })
}

interface Manifest {
  readonly version?: string
  readonly peerDependencies?: Readonly<Record<string, string>>
}

function linkPeer(folder: string, [name, version]: readonly [string, string]): void {
  const target = path.join(ROOT, 'node_modules', name)
  const there = JSON.parse(readFileSync(path.join(target, 'package.json'), 'utf8')) as Manifest
  if (there.version !== version) {
    throw new Error(`${folder} expects ${name} ${version}; this repository has ${there.version}`)
  }
  const link = path.join(folder, 'node_modules', name)
  mkdirSync(path.dirname(link), { recursive: true })
  symlinkSync(target, link)
}

/** Test files run side by side, and some want the same packages: one installs them, the others wait. */
async function alone(folder: string, work: () => Promise<void>): Promise<void> {
  const key = createHash('sha256').update(folder).digest('hex').slice(0, 16)
  const file = path.join(tmpdir(), `devchain-install-${key}`)
  await eventually(() => isTaken(file), Boolean, INSTALL_MS)
  try {
    await work()
  } finally {
    rmSync(file, { force: true })
  }
}

/** Takes a lock that nobody has, or that a process had that is gone. */
function isTaken(file: string): boolean {
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx' })
    return true
  } catch {
    const owner = Number(readIfThere(file))
    if (owner > 0 && !isRunning(owner)) rmSync(file, { force: true })
    return false
  }
}

function readIfThere(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** Makes the built command what `npx devchain` runs in a project. */
export function installDevchain(name: string): void {
  const link = path.join(projectFolder(name), 'node_modules/.bin/devchain')
  rmSync(link, { force: true })
  symlinkSync(COMMAND, link)
}

/**
 * A Node of version 22 or later, which Hardhat 3 asks for: this one when it is, else one from the registry. It runs npm
 * too, as npm leaves out native packages that are not for the Node it runs on.
 */
export async function newerNode(): Promise<string> {
  if (Number.parseInt(process.versions.node, 10) >= 22) return process.execPath
  await installProject('node24')
  const folder = path.join(projectFolder('node24'), 'node_modules')
  const name = readdirSync(folder).find((entry) => entry.startsWith('node-'))
  if (name === undefined) {
    throw new Error(
      `no Node 24 for ${process.platform}-${process.arch}: run the tests with Node 22`,
    )
  }
  return path.join(folder, name, 'bin/node')
}

/** npm as a script: the one that runs the tests, or the first on the path. */
export function npmScript(): string {
  const running = process.env.npm_execpath
  if (running !== undefined) return running
  const folders = (process.env.PATH ?? '').split(path.delimiter)
  const found = folders.map((folder) => path.join(folder, 'npm')).find((file) => existsSync(file))
  if (found === undefined) throw new Error('npm is not on the path')
  return realpathSync(found)
}
