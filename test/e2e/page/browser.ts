// A real Chromium, from an npm package that ships the binary, and chains of the built program for it.
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { type Browser, chromium, type Locator, type Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest'
import type { createDevchain, Devchain, DevchainOptions } from '../../../src/devchain.ts'
import { ROOT } from '../../support/process/boot.ts'
import { violationsOn } from './axe.ts'

/** Where the binary, its libraries and its font are unpacked, once for each version. */
const { devDependencies } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8'))
const FOLDER: string = path.join(
  ROOT,
  `node_modules/.cache/chromium-${devDependencies['@sparticuz/chromium']}`,
)

/** Unpacks beside the place and moves: files of tests run at the same time. */
async function unpack(): Promise<void> {
  if (existsSync(FOLDER)) return
  const mine = `${FOLDER}.${process.pid}`
  mkdirSync(mine, { recursive: true })
  await inFolder(mine, async (binary) => void (await binary.executablePath()))
  // the package's own names folders of AWS Lambda
  const [fonts, cache] = [path.join(FOLDER, 'fonts'), path.join(FOLDER, 'fonts-cache')]
  const config = `<fontconfig><dir>${fonts}</dir><cachedir>${cache}</cachedir></fontconfig>`
  writeFileSync(path.join(mine, 'fonts/fonts.conf'), config)
  try {
    renameSync(mine, FOLDER)
  } catch {
    rmSync(mine, { recursive: true })
  }
}

interface Binary {
  readonly executablePath: () => Promise<string>
  readonly args: readonly string[]
}

/** The package unpacks into the folder for temporary files, with its libraries where it takes this for AWS Lambda. */
async function inFolder<T>(folder: string, use: (binary: Binary) => Promise<T>): Promise<T> {
  const { TMPDIR, AWS_LAMBDA_JS_RUNTIME } = process.env
  Object.assign(process.env, { TMPDIR: folder, AWS_LAMBDA_JS_RUNTIME: 'nodejs20.x' })
  try {
    const { default: binary } = await import('@sparticuz/chromium')
    return await use(binary)
  } finally {
    for (const [name, value] of Object.entries({ TMPDIR, AWS_LAMBDA_JS_RUNTIME })) {
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    }
  }
}

/** What the package sets for servers without isolation between pages; here pages are as isolated as users have them. */
const UNLIKE_USERS =
  /--(single-process|disable-web-security|allow-running-insecure-content|disable-site-isolation-trials|disable-features)/

/** An emulated graphics card took most of the processor time of these tests. */
const EMULATED = /--(.*gpu|use-gl|use-angle|.*swiftshader)/

export async function startBrowser(): Promise<Browser> {
  await unpack()
  return await inFolder(FOLDER, async (binary) =>
    chromium.launch({
      executablePath: await binary.executablePath(),
      args: [
        ...binary.args.filter((arg) => !UNLIKE_USERS.test(arg) && !EMULATED.test(arg)),
        '--disable-gpu',
      ],
      env: {
        ...process.env,
        TMPDIR: process.env.TMPDIR ?? '',
        LD_LIBRARY_PATH: path.join(FOLDER, 'al2023/lib'),
        FONTCONFIG_PATH: path.join(FOLDER, 'fonts'),
      } as Record<string, string>,
    }),
  )
}

/** The built program: the page is part of the build. */
export async function startChain(options: Partial<DevchainOptions> = {}): Promise<Devchain> {
  const built: string = path.join(ROOT, 'dist/devchain.js')
  const program = (await import(built)) as { createDevchain: typeof createDevchain }
  return await program.createDevchain({ port: 0, noArtifacts: true, ...options } as DevchainOptions)
}

/** Errors and refused resources of a page, which no test expects. */
export function problemsOf(page: Page): readonly string[] {
  const problems: string[] = []
  page.on('pageerror', (error) => problems.push(String(error)))
  page.on('console', (message) => {
    // a lost connection is reported by the browser itself
    const isLost = /WebSocket connection/.test(message.text())
    if (message.type() === 'error' && !isLost) problems.push(message.text())
  })
  return problems
}

/** A browser for a file of tests, and for each test a page and a chain. */
export class Stage {
  browser!: Browser
  devchain!: Devchain
  page!: Page
  url!: string
  /** Chains of a test beside its own, which are closed after it. */
  readonly others: Devchain[] = []
  #problems: readonly string[] = []

  constructor(options: () => Partial<DevchainOptions> = () => ({})) {
    beforeAll(async () => {
      this.browser = await startBrowser()
    })
    afterAll(async () => {
      await this.browser.close()
    })
    beforeEach(async () => {
      this.devchain = await startChain(options())
      await this.devchain.artifactsRead()
      this.url = (await this.devchain.listen()).url
      this.page = await this.browser.newPage({ viewport: { width: 1280, height: 800 } })
      this.#problems = problemsOf(this.page)
    })
    afterEach(async () => {
      await this.page.close()
      for (const each of [this.devchain, ...this.others.splice(0)]) await each.close()
      expect(this.#problems).toEqual([])
    })
  }

  rpc(method: string, ...params: readonly unknown[]): Promise<unknown> {
    return this.devchain.request({ method, params })
  }

  /** Opens a place of the page, such as `#/block/1`, and waits until it has read it. */
  async open(place = ''): Promise<void> {
    await this.page.goto(`${this.url}/${place}`)
    await this.page.getByRole('status').getByText('Live').waitFor({ state: 'attached' })
    await this.page.getByText('Reading…').first().waitFor({ state: 'detached' })
    await this.page.locator('main.arriving').waitFor({ state: 'detached' })
  }

  rows(table: string): Locator {
    return this.page.getByRole('table', { name: table, exact: true }).getByRole('row')
  }

  /** Violations of accessibility, and whether anything is wider than the window, at the widths and colours that are promised. */
  async inspect(...places: readonly string[]): Promise<readonly string[]> {
    const found: string[] = []
    for (const place of places) {
      await this.open(place)
      found.push(...(await this.inspectOpen(place)))
    }
    return found
  }

  /** The same of what is open. */
  async inspectOpen(name = ''): Promise<readonly string[]> {
    const found: string[] = []
    for (const [width, colorScheme, rules] of SIGHTS) {
      await this.page.setViewportSize({ width, height: 800 })
      await this.page.emulateMedia({ colorScheme })
      const wide = await this.page.evaluate('document.documentElement.scrollWidth')
      if (wide !== width) found.push(`${name} at ${width}: is ${wide} wide`)
      const violations = await violationsOn(this.page, rules)
      found.push(...violations.map((each) => `${name} at ${width} ${colorScheme}: ${each}`))
    }
    return found
  }
}

/** Width, colours, and the rules of axe-core that the others do not decide; empty for all. */
const SIGHTS = [
  [360, 'light', []],
  [1280, 'dark', []],
  [2560, 'light', ['color-contrast']],
] as const
