// Verified sources for explorers and forge: a Sourcify repository and server below /sourcify, over real HTTP.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { keccak256 } from 'viem'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  createDevchain,
  type Devchain,
  type DevchainOptions,
  type ObservedCall,
} from '../../src/devchain.ts'
import type { Names } from '../../src/project/naming/names.ts'
import type { Project } from '../../src/project/project.ts'
import { deploy, initCode, SENDER } from '../support/chain/deploy.ts'
import {
  type Compilation,
  compile,
  contractNamed,
  type Layout,
  projectSources,
  writeProject,
} from '../support/solidity/solidity.ts'

const project = compile(projectSources(), { optimizer: { enabled: true } })

/** JSON as it was read: what is expected of it says the rest. */
type Read = ReturnType<typeof JSON.parse>

let folder: string
let devchain: Devchain
let base: string
let names: Names | undefined
let calls: ObservedCall[]

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'devchain-sourcify-'))
  names = undefined
  calls = []
})

afterEach(async () => {
  await devchain.close()
  rmSync(folder, { recursive: true })
})

async function started(options: DevchainOptions = {}): Promise<void> {
  const observer = {
    onProject: (known: Project) => (names = known.names),
    onCall: (call: ObservedCall) => calls.push(call),
  }
  devchain = await createDevchain(
    { port: 0, defaultGas: 'estimate', ...options },
    { observer, folder },
  )
  await devchain.artifactsRead()
  base = `${(await devchain.listen()).url}/sourcify`
}

const ask = (method: string, ...params: unknown[]): Promise<unknown> =>
  devchain.request({ method, params })

async function get(place: string): Promise<{ status: number; text: string; json: () => Read }> {
  const response = await fetch(`${base}/${place}`)
  const text = await response.text()
  return { status: response.status, text, json: () => JSON.parse(text) }
}

async function post(place: string, body: unknown): Promise<{ status: number; body: Read }> {
  const response = await fetch(`${base}/${place}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  return { status: response.status, body: await response.json() }
}

/** A vault with its library. */
async function vault(): Promise<string> {
  const rates = await deploy(ask, initCode(project, 'Rates'))
  return await deploy(ask, initCode(project, 'Vault', [SENDER, 7n], { Rates: rates }))
}

const sourceOf = (name: string): string => project.input.sources[name]!.content

const metadataOf = (name: string): Read => JSON.parse(contractNamed(project, name).metadata)

describe('the Sourcify server', () => {
  test.each<Layout>(['foundry', 'hardhat2', 'hardhat3', 'truffle'])(
    'has metadata and sources of contracts that a %s project deployed',
    async (layout) => {
      writeProject(folder, layout, project)
      await started()
      const address = await vault()
      const place = `contracts/full_match/33/${address}`
      const metadata = await get(`${place}/metadata.json`)
      expect([metadata.status, metadata.json()]).toEqual([200, metadataOf('Vault')])
      const paths = Object.keys(metadataOf('Vault').sources)
      expect(paths.sort()).toEqual(['src/Ledger.sol', 'src/Rates.sol', 'src/Vault.sol'])
      for (const each of paths) {
        const { status, text } = await get(`${place}/sources/${each}`)
        expect([status, text]).toEqual([200, sourceOf(each)])
      }
      expect((await get(`contracts/partial_match/33/${address}/metadata.json`)).status).toBe(404)
      expect(await get(`repository/${place}/creator-tx-hash.txt`)).toMatchObject({ status: 200 })
      const given = (await get(`${place}/constructor-args.txt`)).text
      expect(given).toBe(`0x${SENDER.slice(2).padStart(64, '0')}${'7'.padStart(64, '0')}`)
      // what the program asks itself is no line of the log
      expect(calls.filter(({ method }) => method === 'eth_getCode')).toEqual([])
    },
  )

  test('has sources under the paths that explorers use', async () => {
    const sources = {
      'src/Box.sol': { content: 'import "@scope/lib/Part.sol";\ncontract Box is Part {}\n' },
      '@scope/lib/Part.sol': { content: 'contract Part { uint256 public value; }\n' },
    }
    const small = compile(sources)
    writeProject(folder, 'hardhat2', small)
    await started()
    const address = await deploy(ask, initCode(small, 'Box'))
    const place = `contracts/full_match/33/${address}/sources`
    const part = '@scope/lib/Part.sol'
    const hash = keccak256(new TextEncoder().encode(part))
    for (const name of [part, encodeURIComponent(part), '_scope/lib/Part.sol', hash]) {
      const expected = [200, sources['@scope/lib/Part.sol'].content]
      const { status, text } = await get(`${place}/${name}`)
      expect([status, text]).toEqual(expected)
    }
    expect((await get(`${place}/../../../../../package.json`)).status).toBe(404)
    expect((await get(`${place}/..%2f..%2fpackage.json`)).status).toBe(404)
  })

  test('makes metadata if the compiler was not asked for any, as by Hardhat 3', async () => {
    const without = structuredClone(project) as Read
    for (const unit of Object.values<Read>(without.output.contracts)) {
      for (const contract of Object.values<Read>(unit)) delete contract.metadata
    }
    writeProject(folder, 'hardhat3', without)
    await started()
    const address = await vault()
    const { json } = await get(`contracts/full_match/33/${address}/metadata.json`)
    const { compiler, language, output, settings, sources } = metadataOf('Vault')
    const { evmVersion, metadata, ...kept } = settings
    const hashes = Object.entries<Read>(sources).map(([name, { keccak256: hash }]) => [
      name,
      { keccak256: hash },
    ])
    expect(json()).toMatchObject({
      compiler,
      language,
      output: { abi: output.abi },
      settings: { ...kept, optimizer: { enabled: true } },
    })
    expect(json().sources).toEqual(Object.fromEntries(hashes))
  })

  test('reports a partial match if only the comments differ', async () => {
    writeProject(folder, 'foundry', project)
    await started()
    const text = `${sourceOf('src/Coin.sol')}\n// a comment\n`
    const commented = compile(
      { 'src/Coin.sol': { content: text } },
      { optimizer: { enabled: true } },
    )
    const address = await deploy(ask, initCode(commented, 'Coin', [1n]))
    expect((await get(`contracts/full_match/33/${address}/metadata.json`)).status).toBe(404)
    const metadata = await get(`contracts/partial_match/33/${address}/metadata.json`)
    expect(metadata.json()).toEqual(metadataOf('Coin'))
    const { json } = await get(`v2/contract/33/${address}`)
    expect(json()).toMatchObject({ match: 'match', runtimeMatch: 'match' })
  })

  test('reports that sources changed on disk since the compilation', async () => {
    writeProject(folder, 'foundry', project)
    await started()
    const address = await deploy(ask, initCode(project, 'Coin', [1n]))
    writeFileSync(path.join(folder, 'src/Coin.sol'), '// nothing')
    const { status, json } = await get(`contracts/full_match/33/${address}/metadata.json`)
    const error = 'src/Coin.sol of Coin is missing or differs from the compiled source'
    expect([status, json()]).toEqual([404, { error }])
    writeFileSync(path.join(folder, 'src/Coin.sol'), sourceOf('src/Coin.sol'))
    expect((await get(`contracts/full_match/33/${address}/metadata.json`)).status).toBe(200)
  })

  test.each([
    ['an account without code', async () => SENDER, 'there is no code at'],
    [
      'code of no artifact',
      async () => await deploy(ask, '0x600160005360016000f3'),
      ': compile the project, or pass its artifacts with --artifacts',
    ],
  ])('has nothing for %s', async (_, addressOf, why) => {
    writeProject(folder, 'foundry', project)
    await started()
    const address = await addressOf()
    const { status, json } = await get(`contracts/full_match/33/${address}/metadata.json`)
    expect([status, json()]).toEqual([404, { error: expect.stringContaining(why) }])
    const second = await get(`v2/contract/33/${address}`)
    const none = { match: null, creationMatch: null, runtimeMatch: null, chainId: '33' }
    expect([second.status, second.json()]).toMatchObject([404, none])
  })

  test('without a project responds, and has no contracts', async () => {
    await started()
    expect(names).toBeUndefined()
    expect((await get(`contracts/full_match/33/${SENDER}/metadata.json`)).status).toBe(404)
  })
})

describe('version 1 of the Sourcify API', () => {
  test('reports which addresses are verified, and serves their files', async () => {
    writeProject(folder, 'hardhat3', project)
    await started()
    const address = await deploy(ask, initCode(project, 'Coin', [1n]))
    const query = `addresses=${address},${SENDER}&chainIds=1,33`
    expect((await get(`check-by-addresses?${query}`)).json()).toEqual([
      { address, status: 'perfect', chainIds: ['33'] },
      { address: SENDER, status: 'false' },
    ])
    expect((await get(`server/check-all-by-addresses?${query}`)).json()).toEqual([
      { address, chainIds: [{ chainId: '33', status: 'perfect' }] },
      { address: SENDER, status: 'false' },
    ])
    const { status, files } = (await get(`files/any/33/${address}`)).json()
    expect(status).toBe('full')
    const checksummed = files[0].path.split('/')[4]
    expect(checksummed.toLowerCase()).toBe(address)
    const source = files.find((file: { name: string }) => file.name === 'Coin.sol')
    expect(source).toEqual({
      name: 'Coin.sol',
      path: `/contracts/full_match/33/${checksummed}/sources/src/Coin.sol`,
      content: sourceOf('src/Coin.sol'),
    })
    expect((await get(`files/33/${address}`)).json()).toEqual(files)
    expect((await get(`files/any/33/${SENDER}`)).status).toBe(404)
    expect((await get('chains')).json()).toMatchObject([{ chainId: 33, supported: true }])
  })

  test('verifies files that match an artifact', async () => {
    writeProject(folder, 'hardhat2', project)
    await started()
    const address = await deploy(ask, initCode(project, 'Coin', [1n]))
    const { metadata } = contractNamed(project, 'Coin')
    const files = { 'metadata.json': metadata, 'Coin.sol': sourceOf('src/Coin.sol') }
    const { status, body } = await post('verify', { address, chain: '33', files })
    expect([status, body.result]).toMatchObject([200, [{ chainId: '33', status: 'perfect' }]])
    const changed = { ...files, 'Coin.sol': '// nothing' }
    expect(await post('verify', { address, chain: '33', files: changed })).toEqual({
      status: 500,
      body: { error: 'src/Coin.sol is missing among the sources' },
    })
  })

  /** What a page posts with the files that somebody chose. */
  async function postForm(members: Readonly<Record<string, string>>, files: readonly File[]) {
    const form = new FormData()
    for (const [name, value] of Object.entries(members)) form.append(name, value)
    for (const file of files) form.append('files', file)
    const response = await fetch(`${base}/verify`, { method: 'POST', body: form })
    return { status: response.status, body: (await response.json()) as Read }
  }

  test('verifies files posted as a form', async () => {
    writeProject(folder, 'hardhat2', project)
    await started()
    const address = await vault()
    const members = { address, chain: '33' }
    const { sources } = metadataOf('Vault')
    // the paths that a page knows are names alone
    const files = Object.keys(sources).map(
      (name) => new File([sourceOf(name)], name.split('/').at(-1)!),
    )
    const metadata = new File([JSON.stringify(metadataOf('Vault'))], 'metadata.json')
    const coin = new File([JSON.stringify(metadataOf('Coin'))], 'metadata.json')
    const verified = { result: [{ chainId: '33', status: 'perfect' }] }
    expect(await postForm(members, [...files, metadata])).toMatchObject({
      status: 200,
      body: verified,
    })
    const chosen = { ...members, chosenContract: '1' }
    const both = [coin, ...files, metadata]
    expect(await postForm(chosen, both)).toMatchObject({ status: 200, body: verified })
    expect(await postForm(members, both)).toMatchObject({ status: 500 })
    expect((await postForm({ ...members, chosenContract: '2' }, both)).body.message).toBe(
      'chosenContract: expected 0 to 1, got "2"',
    )
    expect(await postForm(members, files)).toMatchObject({
      status: 400,
      body: { message: 'files: expected metadata.json among them' },
    })
    const broken = await fetch(`${base}/verify`, {
      method: 'POST',
      headers: { 'content-type': 'multipart/form-data; boundary=x' },
      body: '--y',
    })
    expect([broken.status, ((await broken.json()) as Read).message]).toEqual([
      400,
      'expected a multipart/form-data body with the boundary of its content type',
    ])
  })

  test('returns where the files of a contract are', async () => {
    writeProject(folder, 'foundry', project)
    await started()
    const address = await vault()
    const files = (await get(`files/tree/33/${address}`)).json() as string[]
    expect(files.length).toBeGreaterThan(3)
    expect((await get(`files/tree/any/33/${address}`)).json()).toEqual({ status: 'full', files })
    for (const file of files) {
      expect((await fetch(new URL(file, base))).status).toBe(200)
    }
    expect((await get(`files/tree/33/${SENDER}`)).status).toBe(404)
    const old = await get(`checkByAddresses?addresses=${address}&chainIds=33`)
    expect(old.json()).toEqual([{ address, status: 'perfect', chainIds: ['33'] }])
  })
})

describe('version 2 of the Sourcify API', () => {
  test('returns the requested fields', async () => {
    writeProject(folder, 'hardhat2', project)
    await started()
    const address = await vault()
    const all = (await get(`server/v2/contract/33/${address}?fields=all`)).json()
    const { evm, abi, storageLayout } = contractNamed(project, 'Vault')
    expect(all).toMatchObject({
      match: 'exact_match',
      creationMatch: 'exact_match',
      runtimeMatch: 'exact_match',
      chainId: '33',
      abi,
      metadata: metadataOf('Vault'),
      storageLayout,
      compilation: {
        compiler: 'solc',
        compilerVersion: metadataOf('Vault').compiler.version,
        name: 'Vault',
        fullyQualifiedName: 'src/Vault.sol:Vault',
      },
      creationBytecode: {
        recompiledBytecode: `0x${evm.bytecode.object}`,
        sourceMap: evm.bytecode.sourceMap,
      },
      runtimeBytecode: {
        onchainBytecode: await ask('eth_getCode', address, 'latest'),
        immutableReferences: evm.deployedBytecode.immutableReferences,
      },
      deployment: { blockNumber: '2', transactionIndex: '0', deployer: SENDER },
      sources: { 'src/Vault.sol': { content: sourceOf('src/Vault.sol') } },
      stdJsonInput: { language: 'Solidity', settings: { optimizer: { enabled: true } } },
    })
    expect(all.signatures.function).toContainEqual({
      signature: 'withdraw(uint256)',
      signatureHash32: expect.stringMatching(/^0x2e1a7d4d/),
      signatureHash4: '0x2e1a7d4d',
    })
    const some = await get(`v2/contract/33/${address}?fields=abi,compilation.name,deployment`)
    const { abi: given, compilation, ...rest } = some.json()
    expect([given, compilation]).toEqual([abi, { name: 'Vault' }])
    expect(rest).not.toHaveProperty('metadata')
    const omitted = (await get(`v2/contract/33/${address}?omit=abi,sources`)).json()
    expect(Object.keys(all).filter((name) => !(name in omitted))).toEqual(['abi', 'sources'])
    const { results } = (await get(`v2/contract/all-chains/${address}`)).json()
    expect(results).toMatchObject([{ chainId: '33', match: 'exact_match' }])
  })

  /** Standard JSON as forge posts it. */
  const standardJson = (compilation: Compilation, identifier: string): Read => ({
    stdJsonInput: compilation.input,
    compilerVersion: metadataOf('Coin').compiler.version,
    contractIdentifier: identifier,
  })

  /** What a verification came to, by its id. */
  async function outcome(place: string, body: unknown): Promise<Read> {
    const { status, body: answer } = await post(place, body)
    expect([status, answer]).toEqual([202, { verificationId: expect.any(String) }])
    // forge puts what it asks right behind a URL without its last slash
    const response = await fetch(`${base}v2/verify/${answer.verificationId}`)
    expect(response.status).toBe(200)
    return await response.json()
  }

  test('verifies sources that match an artifact, and says why others do not', async () => {
    writeProject(folder, 'foundry', project)
    await started()
    const address = await deploy(ask, initCode(project, 'Coin', [1n]))
    const place = `v2/verify/33/${address}`
    const right = standardJson(project, 'src/Coin.sol:Coin')
    expect(await outcome(place, right)).toMatchObject({
      isJobCompleted: true,
      contract: { match: 'exact_match', creationMatch: 'exact_match', chainId: '33' },
    })
    const changed = structuredClone(right)
    changed.stdJsonInput.sources['src/Coin.sol'].content += '\n'
    const lacking = structuredClone(right)
    delete lacking.stdJsonInput.sources['src/Coin.sol']
    const settings = { ...right.stdJsonInput.settings, viaIR: true }
    const otherwise = { ...right, stdJsonInput: { ...right.stdJsonInput, settings } }
    const cases = [
      [changed, 'no_match', 'src/Coin.sol differs from the compiled source'],
      [lacking, 'missing_source', 'src/Coin.sol is missing among the sources'],
      [otherwise, 'no_match', 'the code was compiled with viaIR false, not true'],
      [
        { ...right, compilerVersion: '0.8.1' },
        'no_match',
        /^the code was compiled by 0\.8\.37\S*, not by 0\.8\.1$/,
      ],
      [
        { ...right, contractIdentifier: 'src/Vault.sol:Vault' },
        'no_match',
        `the code at ${address} matches src/Coin.sol:Coin, not src/Vault.sol:Vault`,
      ],
    ] as const
    for (const [body, customCode, message] of cases) {
      const { contract, error } = await outcome(place, body)
      expect(contract.match).toBeNull()
      expect(error).toMatchObject({ customCode, message: expect.stringMatching(message) })
    }
  })

  test('says that it has no compiler for code without an artifact', async () => {
    await started()
    const address = await deploy(ask, initCode(project, 'Coin', [1n]))
    const right = standardJson(project, 'src/Coin.sol:Coin')
    const { error } = await outcome(`v2/verify/33/${address}`, right)
    expect(error).toMatchObject({
      customCode: 'no_match',
      message: expect.stringContaining(
        ': compile the project, or pass its artifacts with --artifacts',
      ),
    })
    const empty = await outcome(`v2/verify/33/${SENDER}`, right)
    expect(empty.error.customCode).toBe('contract_not_deployed')
    const similar = await outcome(`v2/verify/similarity/33/${address}`, {})
    expect(similar.error.customCode).toBe('no_match')
  })

  test('accepts metadata with the hash at the end of the code, and then knows the contract', async () => {
    await started()
    const address = await deploy(ask, initCode(project, 'Coin', [5_000_000n]))
    const sources = { 'Coin.sol': sourceOf('src/Coin.sol') }
    const place = `v2/verify/metadata/33/${address}`
    const metadata = metadataOf('Coin')
    const other = { ...metadata, language: 'Yul' }
    expect((await outcome(place, { metadata: other, sources })).error).toMatchObject({
      customCode: 'no_match',
      message: expect.stringContaining('does not end with the hash of this metadata'),
    })
    expect((await outcome(place, { metadata, sources: {} })).error).toMatchObject({
      customCode: 'missing_source',
      message: expect.stringContaining('src/Coin.sol is missing'),
    })
    expect(names?.nameOf(names.world, address as never)).not.toMatch(/Coin/)
    const { contract } = await outcome(place, { metadata, sources })
    expect(contract).toMatchObject({ match: 'exact_match', creationMatch: null })
    expect(names?.nameOf(names.world, address as never)).toBe('Coin')
    const served = await get(`contracts/full_match/33/${address}/sources/src/Coin.sol`)
    expect(served.text).toBe(sourceOf('src/Coin.sol'))
  })

  test.each([
    ['no JSON', '{', 'expected a body of valid JSON'],
    ['no object', '[]', 'expected a JSON object, got []'],
    ['no sources', { ...{ stdJsonInput: {} }, contractIdentifier: 'a:b' }, 'expected sources'],
    ['no input', { contractIdentifier: 'a:b' }, 'stdJsonInput: expected an object'],
    [
      'no name',
      { contractIdentifier: 'b', stdJsonInput: {} },
      'contractIdentifier: expected a path',
    ],
    [
      'a source to be fetched',
      { contractIdentifier: 'a:b', stdJsonInput: { sources: { a: { urls: ['x'] } } } },
      'expected the content of a: none is fetched',
    ],
    [
      'no compiler',
      { contractIdentifier: 'a:b', stdJsonInput: { sources: { a: { content: '' } } } },
      'compilerVersion: expected text',
    ],
  ])('refuses a body with %s', async (_, body, message) => {
    await started()
    const { status, body: answer } = await post(`v2/verify/33/${SENDER}`, body)
    expect([status, answer]).toMatchObject([400, { customCode: 'invalid_parameter' }])
    expect(answer.message).toContain(message)
  })

  test.each([
    ['v2/contract/1/0x70997970c51812dc3a010c7d01b50e0d17dc79c8', 404, 'the chain here is 33'],
    ['v2/contract/33/0x70', 400, 'expected a 20-byte address, got "0x70"'],
    [`v2/contract/33/${SENDER}?fields=abis`, 400, 'there is no field "abis"'],
    [`v2/contract/33/${SENDER}?fields=abi&omit=abi`, 400, 'expected fields or omit, not both'],
    ['v2/verify/00000000-0000-4000-8000-000000000009', 404, 'No verification job found'],
    ['check-by-addresses?chainIds=33', 400, 'addresses: expected one at least'],
    [
      `check-by-addresses?chainIds=33&addresses=${Array(101).fill(SENDER).join()}`,
      400,
      'addresses: expected at most 100, got 101',
    ],
    ['nowhere', 404, 'GET /sourcify/nowhere is not supported'],
    ['files/%ff', 400, 'expected a path'],
  ])('responds to GET %s with %i', async (place, status, message) => {
    await started()
    const answer = await get(place)
    expect(answer.status).toBe(status)
    expect(answer.json().message).toContain(message)
  })
})

describe('/sourcify', () => {
  test('allows pages of any origin, like JSON-RPC', async () => {
    writeProject(folder, 'foundry', project)
    await started()
    const address = await deploy(ask, initCode(project, 'Coin', [1n]))
    const url = `${base}/contracts/full_match/33/${address}/metadata.json`
    const preflight = await fetch(url, {
      method: 'OPTIONS',
      headers: { 'access-control-request-headers': 'x-special' },
    })
    expect(preflight.status).toBe(204)
    expect(preflight.headers.get('access-control-allow-headers')).toBe('x-special')
    for (const method of ['GET', 'HEAD']) {
      const response = await fetch(url, { method, headers: { origin: 'http://localhost:5100' } })
      expect(response.status).toBe(200)
      expect(response.headers.get('access-control-allow-origin')).toBe('*')
      expect((await response.text()).length > 0).toBe(method === 'GET')
    }
  })

  test('limits bodies like JSON-RPC', async () => {
    await started({ bodyLimit: '2KB' })
    const { status } = await post(`v2/verify/33/${SENDER}`, { filling: 'x'.repeat(3_000) })
    expect(status).toBe(413)
  })

  test('leaves every other path to JSON-RPC', async () => {
    await started()
    const url = base.replace(/\/sourcify$/, '')
    const post = async (place: string): Promise<unknown> => {
      const response = await fetch(`${url}${place}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}',
      })
      return await response.json()
    }
    expect(await post('/')).toMatchObject({ result: '0x21' })
    for (const place of ['/sourcify', '/sourcifier/x']) {
      const error = { code: -32600, message: expect.stringContaining(`no chain at ${place}`) }
      expect(await post(place)).toMatchObject({ error })
    }
  })
})
