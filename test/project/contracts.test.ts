// What the project knows of a contract, as methods: name, ABI and sources, and storage by the names of the layout.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { createDevchain, type Devchain } from '../../src/devchain.ts'
import { type Ask, callData, deploy, initCode, SENDER, send } from '../support/chain/deploy.ts'
import {
  type Compilation,
  compile,
  projectSources,
  writeProject,
} from '../support/solidity/solidity.ts'

const BOB = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8'

let folder: string
let artifacts: string
let project: Compilation
let devchain: Devchain

beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'devchain-contracts-'))
  project = compile({
    ...projectSources(),
    'src/Shelf.sol': {
      content: `contract Shelf {
        struct Book { uint128 pages; bool isOpen; string title; }
        mapping(uint256 => mapping(address => Book[])) stock;
        Book book = Book(300, true, "A title that is longer than the thirty-one bytes of a slot");
        int8 level = -3;
        address keeper = msg.sender;
        uint64[] marks;
        mapping(address => mapping(uint256 => bool)) lent;
        function lend(address to, uint256 copy) external { lent[to][copy] = true; marks.push(7); }
      }`,
    },
  })
  artifacts = writeProject(folder, 'foundry', project)
})
afterAll(() => rmSync(folder, { recursive: true }))
beforeEach(async () => {
  devchain = await createDevchain({ port: 0, artifacts: [artifacts] }, { folder })
  await devchain.artifactsRead()
})
afterEach(() => devchain.close())

const ask: Ask = (method, ...params) => devchain.request({ method, params })

interface Slot {
  readonly name: string | null
  readonly value: string
}

async function storageOf(address: string, block = 'latest'): Promise<Record<string, string>> {
  const slots = (await ask('devchain_storage', address, block)) as readonly Slot[]
  return Object.fromEntries(slots.map(({ name, value }) => [name ?? '', value]))
}

test('devchain_contract returns the ABI and the sources, its own first', async () => {
  const coin = await deploy(ask, initCode(project, 'Coin', [5n]))
  const found = (await ask('devchain_contract', coin)) as Record<string, unknown>
  expect(found).toMatchObject({ name: 'Coin', source: 'src/Coin.sol', guess: false, via: null })
  expect(found.compiler).toBe('0.8.37+commit.f401782d')
  expect(found.abi).toContainEqual(
    expect.objectContaining({ name: 'transfer', stateMutability: 'nonpayable' }),
  )
  const rates = await deploy(ask, initCode(project, 'Rates'))
  const vault = await deploy(ask, initCode(project, 'Vault', [SENDER, 7n], { Rates: rates }))
  const { sources } = (await ask('devchain_contract', vault)) as { sources: object }
  expect(Object.keys(sources)).toEqual(['src/Vault.sol', 'src/Ledger.sol', 'src/Rates.sol'])
  expect(sources).toMatchObject({ 'src/Ledger.sol': projectSources()['src/Ledger.sol']?.content })
})

test('devchain_contract returns ABIs of old compilers with the words of new ones', async () => {
  const old = (name: string, rest: object): object => ({
    type: 'function',
    name,
    inputs: [],
    ...rest,
  })
  const abi = [
    old('get', { constant: true, payable: false }),
    old('set', { constant: false, payable: false }),
    old('pay', { constant: false, payable: true }),
  ]
  const code = '60015f5260205ff3'
  const to = await deploy(ask, `0x67${code}5f5260086018f3`)
  const deployedBytecode = { object: `0x${code}` }
  await ask('devchain_addArtifacts', { contractName: 'Old', abi, bytecode: {}, deployedBytecode })
  const found = (await ask('devchain_contract', to)) as { abi: { stateMutability?: string }[] }
  expect(found.abi.map((each) => each.stateMutability)).toEqual(['view', undefined, 'payable'])
})

test('devchain_contract returns the contract behind a proxy, and the name of the proxy', async () => {
  const coin = await deploy(ask, initCode(project, 'Coin', [5n]))
  const proxy = await deploy(ask, initCode(project, 'Proxy', [coin]))
  expect(await ask('devchain_contract', proxy)).toMatchObject({
    name: 'Coin',
    via: 'proxy',
    proxy: 'Proxy',
  })
})

test('devchain_storage names members, elements and keys, and decodes their values', async () => {
  await ask('devchain_label', { [BOB]: 'bob' })
  const shelf = await deploy(ask, initCode(project, 'Shelf'))
  const before = await storageOf(shelf)
  expect(before).toEqual({
    'book.pages': '300',
    'book.isOpen': 'true',
    'book.title': '"A title that is longer than the thirty-one bytes of a slot"',
    level: '-3',
    keeper: expect.stringMatching(/^0xf39F/),
    'marks.length': '0',
  })
  await send(ask, { to: shelf, data: callData(project, 'Shelf', 'lend', [BOB, 4n]) })
  expect(await storageOf(shelf)).toEqual({
    ...before,
    'marks.length': '1',
    'marks[0]': '7',
    'lent[bob][4]': 'true',
  })
  expect(await storageOf(shelf, '0x1')).toEqual(before)
})

test('devchain_storageChanges has all that differs, of accounts of any size', async () => {
  const slot = (number: number): string => `0x${number.toString(16).padStart(64, '0')}`
  for (let i = 1; i <= 1_100; i++) await ask('hardhat_setStorageAt', BOB, slot(i), slot(7))
  await ask('evm_mine')
  for (let i = 1_101; i <= 1_105; i++) await ask('hardhat_setStorageAt', BOB, slot(i), slot(i))
  const changes = (await ask('devchain_storageChanges', BOB, '0x0', 'latest')) as string[]
  const expected = [1_101, 1_102, 1_103, 1_104, 1_105].map(
    (i) => `slot 0x${i.toString(16)} 0 → ${i}`,
  )
  expect(changes.toSorted()).toEqual(expected)
})

test('devchain_storage reads the storage of a proxy by the layout of what it runs', async () => {
  const coin = await deploy(ask, initCode(project, 'Coin', [5n]))
  const proxy = await deploy(ask, initCode(project, 'Proxy', [coin]))
  await send(ask, { to: proxy, data: callData(project, 'Coin', 'approve', [BOB, 9n]) })
  const { implementation, ...rest } = await storageOf(proxy)
  expect(implementation).toBe('Coin@0x5FbD…0aa3')
  expect(Object.values(rest)).toContain('9')
})
