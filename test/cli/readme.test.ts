// Every code block of the README, run as it stands.
import { rolldown } from 'rolldown'
import { createPublicClient, http } from 'viem'
import { foundry, hardhat, localhost } from 'viem/chains'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createDevchain, type Devchain } from '../../src/devchain.ts'
import { type CodeBlock, codeBlocks, Project, textOf } from '../support/pages/readme.ts'
import { startProcess } from '../support/process/boot.ts'

const MINUTE = 60_000

/** A command line that boots a chain, which then stays: everything but what has a command of its own. */
const BOOTS = /^npx devchain(?! (?:[a-z]|--help|--version))(.*?)(?: +#.*)?$/

const blocks = codeBlocks()
const isBooting = ({ code }: CodeBlock): boolean =>
  code.split('\n').every((line) => BOOTS.test(line))
const shells = blocks.filter(({ language }) => language === 'sh')
const bootLines = shells.filter(isBooting).flatMap(({ code }) => code.split('\n'))
const scripts = shells.filter((block) => !isBooting(block))
const modules = blocks.filter(({ language }) => language === 'ts')

/** TypeScript as JavaScript that this Node runs; packages stay imports. */
async function compiled(code: string): Promise<string> {
  const bundle = await rolldown({
    input: 'example.ts',
    external: /^[a-z]/,
    platform: 'node',
    transform: { target: 'es2022' },
    plugins: [
      {
        name: 'example',
        resolveId: (id) => (id === 'example.ts' ? id : null),
        load: (id) => (id === 'example.ts' ? code : null),
      },
    ],
  })
  const { output } = await bundle.generate({ format: 'esm' })
  await bundle.close()
  return output[0].code
}

/** The chain that an example's first line starts, `// npx devchain …`; without such a line, one of the defaults. */
async function chainFor(code: string): Promise<{ url: string } & AsyncDisposable> {
  const [, flags = ''] = /^\/\/ npx devchain(.*)$/m.exec(code) ?? []
  const args = [...flags.split(' ').filter((word) => word !== ''), '--port', '0']
  const { says, child, ended } = startProcess(args)
  const [, url = ''] = await says(/Listening on (http\S+)/)
  const stop = async (): Promise<void> => {
    child.kill('SIGINT')
    await ended
  }
  return { url, [Symbol.asyncDispose]: stop }
}

describe('the README', () => {
  let project: Project
  let devchain: Devchain
  let url: string
  beforeAll(async () => {
    project = new Project()
    devchain = await createDevchain({ port: 0 })
    url = (await devchain.listen()).url
  })
  afterAll(async () => {
    await devchain.close()
    project.remove()
  })

  test('has only kinds of code blocks that these tests run', () => {
    expect([...new Set(blocks.map(({ language }) => language))].sort()).toEqual([
      'sh',
      'ts',
      'yaml',
    ])
    expect(bootLines.length).toBeGreaterThan(2)
  })

  test.each(bootLines)('prints: %s', { timeout: MINUTE }, async (line) => {
    const args = (BOOTS.exec(line)?.[1] ?? '').split(' ').filter((word) => word !== '')
    // the default port may be taken here
    const env = { DEVCHAIN_PORT: '0' }
    const { says, child, ended } = startProcess(args, { env, cwd: project.folder })
    await says(/Listening on http/)
    child.kill('SIGINT')
    expect(await ended).toBe(0)
  })

  test.each(scripts.map((block) => [block.heading, block.line, block] as const))(
    'has shell lines that work under "%s" (line %i)',
    { timeout: MINUTE },
    async (_heading, _line, { code }) => {
      const env = { DEVCHAIN_URL: url, DEVCHAIN_PORT: '0', HOME: project.folder }
      const { code: exitCode, output } = await project.shell(code, env)
      expect(exitCode, output).toBe(0)
    },
  )

  const named = [
    ...textOf('README.md').matchAll(
      /^\| `(\w+)` of `viem\/chains` \| `npx devchain (.*?)`(?:, or `(.*?)` alone)? \|$/gm,
    ),
  ].flatMap(([, name = '', ...flags]) =>
    flags.filter((each) => each !== undefined).map((each) => [name, each] as const),
  )

  const chains = new Map(Object.entries({ foundry, hardhat, localhost }))

  test('names viem’s local chains', () => {
    expect(new Set(named.map(([name]) => name))).toEqual(new Set(chains.keys()))
  })

  test.each(named)('gives viem’s %s its chain id by %s', async (name, flags) => {
    await using chain = await chainFor(`// npx devchain ${flags}`)
    const client = createPublicClient({ transport: http(chain.url) })
    expect(await client.getChainId()).toBe(chains.get(name)?.id)
  })

  test.each(modules.map((block) => [block.heading, block.line, block] as const))(
    'has TypeScript that works under "%s" (line %i)',
    { timeout: MINUTE },
    async (_heading, _line, { code }) => {
      await using chain = await chainFor(code)
      const source = await compiled(code.replaceAll('http://127.0.0.1:8545', chain.url))
      const runs = code.includes("from 'vitest'") ? project.tests(source) : project.module(source)
      const { code: exitCode, output } = await runs
      expect(exitCode, output).toBe(0)
    },
  )
})
