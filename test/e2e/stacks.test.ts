// What users of ethers 5 and of alloy's cast see where an error has a stack beside it: what they see without one.
import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseEther } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createDevchain, type Devchain, type DevchainOptions } from '../../src/devchain.ts'
import { type Ask, deploy, initCode, SENDER } from '../support/chain/deploy.ts'
import {
  type Compilation,
  compile,
  contractNamed,
  projectSources,
  writeProject,
} from '../support/solidity/solidity.ts'
import { installProject, projectFolder } from '../support/tools/projects.ts'

const TWO_MINUTES = 120_000

/** The first account's, of the usual mnemonic. */
const KEY = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80'
const CAST = path.join(
  projectFolder('clients'),
  'node_modules/@foundry-rs/cast-linux-amd64/bin/cast',
)
const COMPATS = [undefined, 'anvil', 'hardhat', 'geth', 'ganache'] as const
const AMOUNT = parseEther('5')

/** What --compat hardhat says of a custom error without names, and with them: as Hardhat's node, it names it in the message. */
const UNNAMED = /reverted with an unrecognized custom error \(return data: 0x[0-9a-f]+\)/g
const NAMED = "reverted with custom error 'InsufficientBalance(0, 5000000000000000000)'"

interface Stage {
  readonly chain: Devchain
  readonly url: string
  readonly vault: string
  /** Stacks that errors were answered with. */
  readonly stacks: (readonly string[])[]
}

let project: Compilation
let folder: string
let artifacts: string

beforeAll(async () => {
  await installProject('clients')
  project = compile(projectSources())
  folder = mkdtempSync(path.join(tmpdir(), 'devchain-stacks-'))
  artifacts = writeProject(folder, 'foundry', project)
}, TWO_MINUTES)

afterAll(() => rmSync(folder, { recursive: true }))

async function staged(options: DevchainOptions): Promise<Stage> {
  const stacks: (readonly string[])[] = []
  const common = { artifacts: [artifacts], defaultGas: 'estimate', port: 0, chainId: 31_337n }
  const chain = await createDevchain({ ...common, ...options } as DevchainOptions, {
    observer: {
      onCall: ({ error }) => {
        if (error?.solidityStack !== undefined) stacks.push(error.solidityStack)
      },
    },
  })
  await chain.artifactsRead()
  const ask: Ask = (method, ...params) => chain.request({ method, params })
  await ask('hardhat_setBalance', SENDER, '0x56bc75e2d63100000')
  await ask('hardhat_impersonateAccount', SENDER)
  const rates = await deploy(ask, initCode(project, 'Rates'))
  const vault = await deploy(ask, initCode(project, 'Vault', [SENDER, 7n], { Rates: rates }))
  return { chain, url: (await chain.listen()).url, vault, stacks }
}

/** The answers of two chains, of which one has no stacks; each without what differs from one run to the next. */
async function bothSay(
  compat: DevchainOptions['compat'],
  say: (stage: Stage) => Promise<string>,
): Promise<readonly [string, string]> {
  const shared: DevchainOptions = compat === undefined ? {} : { compat }
  const plain = await staged({ ...shared, plainErrors: true })
  const reported = await staged(shared)
  try {
    const said = [await say(plain), await say(reported)] as const
    expect(plain.stacks).toEqual([])
    expect(reported.stacks[0]).toContain('at Vault.withdraw (src/Vault.sol:45:9)')
    const unnamed = said[0].replaceAll(plain.url, 'URL')
    const without = compat === 'hardhat' ? unnamed.replaceAll(UNNAMED, NAMED) : unnamed
    return [without, said[1].replaceAll(reported.url, 'URL')]
  } finally {
    await plain.chain.close()
    await reported.chain.close()
  }
}

function cast(...args: readonly string[]): Promise<string> {
  const env = { ...process.env, NO_COLOR: '1' }
  return new Promise((resolve) => {
    execFile(CAST, [...args], { env }, (_, stdout, stderr) => resolve(stdout + stderr))
  })
}

const isCastThere = (): boolean => existsSync(CAST)

describe('cast (skipped where npm has no build of it)', () => {
  test.each(COMPATS)(
    'prints the same for a failed call, estimate and send with a stack, with --compat %s',
    async (compat) => {
      if (!isCastThere()) return
      const asked = ['withdraw(uint256)', `${AMOUNT}`]
      const [plain, reported] = await bothSay(compat, async ({ url, vault }) => {
        const at = [vault, ...asked, '--rpc-url', url]
        return [
          await cast('call', ...at, '--from', SENDER),
          await cast('estimate', ...at, '--from', SENDER),
          await cast('send', ...at, '--private-key', KEY),
        ].join('\n')
      })
      expect(reported).toBe(plain)
      expect(reported).toMatch(/revert/)
    },
    TWO_MINUTES,
  )
})

describe('ethers 5', () => {
  test.each(COMPATS)(
    'throws the same errors with the same members with a stack, with --compat %s',
    async (compat) => {
      const [plain, reported] = await bothSay(compat, async (stage) =>
        JSON.stringify(await thrown(stage)),
      )
      expect(reported).toBe(plain)
    },
    TWO_MINUTES,
  )

  test('decodes custom errors with a stack', async () => {
    const [, reported] = await bothSay('geth', async (stage) => JSON.stringify(await thrown(stage)))
    expect(reported).toContain('InsufficientBalance')
  })
})

interface EthersFive {
  readonly providers: { readonly JsonRpcProvider: new (url: string) => object }
  readonly Contract: new (
    address: string,
    abi: unknown,
    provider: object,
  ) => Record<
    'callStatic' | 'estimateGas',
    Record<'withdraw', (amount: bigint, options: object) => Promise<unknown>>
  >
}

/** What a call and an estimate throw. Messages quote the whole reply, and so the stack: they are left out. */
async function thrown({ url, vault }: Stage): Promise<readonly unknown[]> {
  const require = createRequire(path.join(projectFolder('clients'), 'package.json'))
  const { ethers } = require('ethers') as { readonly ethers: EthersFive }
  const provider = new ethers.providers.JsonRpcProvider(url)
  const contract = new ethers.Contract(vault, contractNamed(project, 'Vault').abi, provider)
  const errors: unknown[] = []
  for (const way of ['callStatic', 'estimateGas'] as const) {
    const error = await contract[way]
      .withdraw(AMOUNT, { from: SENDER })
      .catch((each: unknown) => each)
    const { code, reason, errorName, errorArgs, data } = error as Record<string, unknown>
    errors.push({ code, reason, errorName, args: String(errorArgs), data })
  }
  return errors
}
