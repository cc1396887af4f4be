// Every code block of the pages that users read, run as it stands. A devchain stands in for mainnet.
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { rolldown } from 'rolldown'
import { createPublicClient, http } from 'viem'
import { foundry, hardhat, localhost } from 'viem/chains'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createDevchain, type Devchain } from '../../src/devchain.ts'
import { type CodeBlock, codeBlocks, Project, textOf } from '../support/pages/readme.ts'
import { startProcess } from '../support/process/boot.ts'
import { freePort } from '../support/process/freeport.ts'

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

/** Errors on the page of the command line; … stands for what differs. */
const QUOTES = [
  'the host "chain:8545" is not allowed',
  'pages of https://app.example are not allowed',
  'unknown account 0x…: the node holds no key for it',
  'unknown option --fork-url; did you mean --fork URL?',
]

/** The message of the error that a request gets. */
async function posted(
  url: string,
  method: string,
  params: readonly unknown[],
  headers: Readonly<Record<string, string>> = {},
): Promise<string> {
  const sent = request(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
  })
  sent.end(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }))
  const [reply] = (await once(sent, 'response')) as [IncomingMessage]
  return (JSON.parse(await text(reply)) as { error: { message: string } }).error.message
}

/** Its code stops at once. */
const ARTIFACT = {
  contractName: 'Counter',
  sourceName: 'Counter.sol',
  abi: [{ type: 'function', name: 'add', inputs: [], outputs: [], stateMutability: 'nonpayable' }],
  bytecode: '0x5f5f5360015ff3',
  deployedBytecode: '0x00',
}

/** A chain with the blocks and the transaction that examples name, and a call for the gas report. */
async function networkWithBlocks(): Promise<{ network: Devchain; hash: string }> {
  const network = await createDevchain({ port: 0, chainId: 1n })
  const [from] = network.accounts
  const to = '0x00000000000000000000000000000000000b0b00'
  const params = [{ from: from?.address, to, value: '0x1' }]
  const hash = (await network.request({ method: 'eth_sendTransaction', params })) as string
  await network.request({ method: 'hardhat_mine', params: ['0x4'] })
  await network.request({ method: 'devchain_addArtifacts', params: [ARTIFACT] })
  const deploying = [{ from: from?.address, data: ARTIFACT.bytecode }]
  const deployed = await network.request({ method: 'eth_sendTransaction', params: deploying })
  const receipt = await network.request({ method: 'eth_getTransactionReceipt', params: [deployed] })
  const { contractAddress } = receipt as { contractAddress: string }
  const calling = [{ from: from?.address, to: contractAddress, data: '0x4f2be91f' }]
  await network.request({ method: 'eth_sendTransaction', params: calling })
  return { network, hash }
}

describe('a page', () => {
  let project: Project
  let devchain: Devchain
  let network: Devchain
  let fork: Devchain
  /** Puts a real URL, block and transaction in place of those of an example. */
  let fill: (code: string) => string
  let urls: Readonly<Record<string, string>>
  beforeAll(async () => {
    project = new Project()
    devchain = await createDevchain({ port: 0 })
    const { url } = await devchain.listen()
    const { hash, ...made } = await networkWithBlocks()
    network = made.network
    const upstream = (await network.listen()).url
    fork = await createDevchain({ port: 0, fork: { url: upstream, block: 3 }, noForkCache: true })
    fill = (code) =>
      code
        .replaceAll(/https:\/\/mainnet\.example\.io\/v3\/KEY|\bURL\d?\b/g, upstream)
        .replaceAll(/\b23_?000_?000\b/g, '3')
        .replaceAll('23100000', '4')
        .replaceAll(/\bHASH\b/g, hash)
    urls = {
      'README.md': url,
      'src/cli/README.md': url,
      'src/fork/README.md': (await fork.listen()).url,
      'src/project/README.md': upstream,
    }
  })
  afterAll(async () => {
    await Promise.all([devchain, fork, network].map((chain) => chain.close()))
    project.remove()
  })

  test('has only kinds of code blocks that these tests run', () => {
    expect([...new Set(blocks.map(({ language }) => language))].sort()).toEqual([
      'json',
      'sh',
      'ts',
      'yaml',
    ])
    expect(bootLines.length).toBeGreaterThan(2)
  })

  test.each(bootLines)('prints: %s', { timeout: MINUTE }, async (line) => {
    const args = (BOOTS.exec(fill(line))?.[1] ?? '').split(' ').filter((word) => word !== '')
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
    async (_heading, _line, { code, page }) => {
      // lines that start a chain and wait for it mean that one
      const port = code.includes('--ready-file chain.json &') ? await freePort() : 0
      const url = port === 0 ? (urls[page] ?? '') : `http://127.0.0.1:${port}`
      const env = { DEVCHAIN_URL: url, DEVCHAIN_PORT: String(port), HOME: project.folder }
      const { code: exitCode, output } = await project.shell(fill(code), env)
      expect(exitCode, output).toBe(0)
    },
  )

  test('quotes errors as devchain prints them', { timeout: MINUTE }, async () => {
    await using strict = await createDevchain({ port: 0, allowOrigin: ['localhost'] })
    const { url } = await strict.listen()
    const unknown = [
      { from: '0x00000000000000000000000000000000000b0b00', to: strict.accounts[0]?.address },
    ]
    const option = startProcess(['--fork-url', url])
    await option.ended
    const printed = [
      await posted(url, 'eth_chainId', [], { host: 'chain:8545' }),
      await posted(url, 'eth_chainId', [], { origin: 'https://app.example' }),
      await posted(url, 'eth_sendTransaction', unknown),
      option.stderr(),
    ]
    const page = textOf('src/cli/README.md')
    for (const [index, quote] of QUOTES.entries()) {
      expect(page).toContain(`\`${quote}\``)
      for (const part of quote.split('…')) expect(printed[index]).toContain(part)
    }
  })

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
      const source = await compiled(fill(code).replaceAll('http://127.0.0.1:8545', chain.url))
      const runs = code.includes("from 'vitest'") ? project.tests(source) : project.module(source)
      const { code: exitCode, output } = await runs
      expect(exitCode, output).toBe(0)
    },
  )
})
