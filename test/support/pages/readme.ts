// The pages for users: their code blocks, how each kind is run as it stands, and their links.
import { execFile } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { COMMAND, plainEnvironment, ROOT } from '../process/boot.ts'

/** Every page, the front page first. */
export const PAGES: readonly string[] = [
  'README.md',
  'CHANGELOG.md',
  ...pagesBelow('src'),
  'test/bench/README.md',
]

function pagesBelow(folder: string): string[] {
  const files = readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' })
  return files
    .filter((file) => file.endsWith('.md'))
    .map((file) => path.join(folder, file))
    .sort()
}

/** Pages that users read, whose code blocks are run. */
export const RUN_PAGES: readonly string[] = [
  'README.md',
  'src/cli/README.md',
  'src/fork/README.md',
  'src/project/README.md',
]

export function textOf(page: string): string {
  return readFileSync(path.join(ROOT, page), 'utf8')
}

/** The links of a page within the repository: the file, from the repository's root, and the heading, if one is named. */
export function linksOf(page: string): { readonly file: string; readonly heading?: string }[] {
  const targets = [...textOf(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target)
  return targets
    .filter((target) => !/^https?:/.test(target))
    .map((target) => {
      const [name = '', heading] = target.split('#', 2)
      const file = name === '' ? page : path.join(path.dirname(page), name)
      return heading === undefined ? { file } : { file, heading }
    })
}

/** A fenced block of a page. */
export interface CodeBlock {
  readonly language: string
  readonly code: string
  /** Of its first line in the file, from 1. */
  readonly line: number
  readonly page: string
  /** The page and the heading that it stands under. */
  readonly heading: string
}

/** What a script came to. */
export interface Ended {
  readonly code: number
  readonly output: string
}

/** All fenced blocks of the pages that users read, in their order. */
export function codeBlocks(): readonly CodeBlock[] {
  return RUN_PAGES.flatMap(blocksOf)
}

function blocksOf(page: string): readonly CodeBlock[] {
  const blocks: CodeBlock[] = []
  let heading = ''
  let open: { readonly language: string; readonly from: number } | undefined
  const lines = textOf(page).split('\n')
  lines.forEach((line, index) => {
    const fence = /^```(\w*)$/.exec(line)
    if (fence === null) {
      if (open === undefined && line.startsWith('#'))
        heading = `${page}: ${line.replace(/^#+ /, '')}`
      return
    }
    if (open === undefined) {
      open = { language: fence[1] ?? '', from: index + 1 }
      return
    }
    const code = lines.slice(open.from, index).join('\n')
    blocks.push({ language: open.language, code, line: open.from + 1, page, heading })
    open = undefined
  })
  return blocks
}

/** What `npm test` runs: it reads the balance of an account. */
const TEST = `
const params = ['0x00000000000000000000000000000000000b0b00', 'latest']
const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_getBalance', params })
const headers = { 'content-type': 'application/json' }
const reply = await fetch(process.env.DEVCHAIN_URL, { method: 'POST', headers, body })
const { result } = await reply.json()
process.exitCode = result === undefined ? 1 : 0
`

/** What npx comes to in such a project. It takes npm itself most of a second to find that out, each time. */
const NPX = `#!/bin/sh
command=$1
shift
exec "$(dirname "$0")/$command" "$@"
`

/** A user's project with devchain installed: a folder in which `npx devchain` is the built command. */
export class Project {
  readonly folder: string

  constructor() {
    this.folder = mkdtempSync(path.join(tmpdir(), 'devchain-readme-'))
    const scripts = { test: 'node test/balance.mjs' }
    const manifest = { private: true, type: 'module', scripts }
    writeFileSync(path.join(this.folder, 'package.json'), JSON.stringify(manifest))
    mkdirSync(path.join(this.folder, 'test'))
    writeFileSync(path.join(this.folder, 'test/balance.mjs'), TEST)
    writeFileSync(path.join(this.folder, 'Legacy.json'), '[]')
    const packages = path.join(this.folder, 'node_modules')
    mkdirSync(path.join(packages, '.bin'), { recursive: true })
    symlinkSync(COMMAND, path.join(packages, '.bin/devchain'))
    writeFileSync(path.join(packages, '.bin/npx'), NPX, { mode: 0o755 })
    symlinkSync(ROOT, path.join(packages, 'devchain'))
    for (const name of ['viem', 'vitest']) {
      symlinkSync(path.join(ROOT, 'node_modules', name), path.join(packages, name))
    }
  }

  /** Runs lines of a shell, which ends at the first that fails. */
  shell(script: string, env: Readonly<Record<string, string>>): Promise<Ended> {
    return this.#run('bash', ['-euo', 'pipefail', '-c', script], env)
  }

  /** Runs a test file by Vitest. */
  tests(code: string): Promise<Ended> {
    writeFileSync(path.join(this.folder, 'example.test.mjs'), code)
    const vitest = path.join(ROOT, 'node_modules/vitest/vitest.mjs')
    return this.#run(process.execPath, [vitest, 'run', '--root', this.folder], {})
  }

  /** Runs a module of JavaScript. */
  module(code: string): Promise<Ended> {
    const file = path.join(this.folder, 'example.mjs')
    writeFileSync(file, code)
    return this.#run(process.execPath, [file], {})
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true })
  }

  #run(
    command: string,
    args: readonly string[],
    env: Readonly<Record<string, string>>,
  ): Promise<Ended> {
    const programs = path.join(this.folder, 'node_modules/.bin')
    const PATH = `${programs}${path.delimiter}${process.env.PATH ?? ''}`
    const options = {
      cwd: this.folder,
      env: plainEnvironment({ PATH, ...env }) as NodeJS.ProcessEnv,
    }
    return new Promise((resolve) => {
      execFile(command, [...args], options, (error, stdout, stderr) => {
        resolve({
          code: error === null ? 0 : Number(error.code ?? 1),
          output: stdout + stderr,
        })
      })
    })
  }
}
