// Keys and phrases that are not the public ones: they are in the ready file, and nowhere else.
import { chmodSync, lstatSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createDevchain } from '../../src/devchain.ts'
import { boot, startProcess, temporaryFolder } from '../support/process/boot.ts'

const WORDS = 'ozone drill grab fiber curtain grace pudding thank cruise elder eight picnic'
const PUBLIC = /These keys are public/

/** The keys of the phrase, without 0x. */
async function keys(): Promise<readonly string[]> {
  await using chain = await createDevchain({ mnemonic: WORDS, accounts: 2 })
  return chain.accounts.map(({ privateKey }) => privateKey.slice(2))
}

/** No word of the phrase stands in the text, and no key. */
async function expectNoSecret(text: string): Promise<void> {
  expect(text).not.toMatch(new RegExp(`\\b(${WORDS.replaceAll(' ', '|')})\\b`))
  for (const key of await keys()) expect(text).not.toContain(key)
  expect(text).not.toMatch(PUBLIC)
}

describe('a user’s mnemonic', () => {
  const forms: readonly (readonly string[])[] = [
    [],
    ['--log', 'json'],
    ['--verbose'],
    ['--derivation-path', "m/44'/1'/0'/0"],
  ]
  test.each(forms)('is hidden on the first screen with %j %s', async (...form) => {
    const folder = temporaryFolder(onTestFinished)
    const [file, log] = [path.join(folder, 'ready.json'), path.join(folder, 'chain.log')]
    const config = path.join(folder, 'config.json')
    writeFileSync(config, JSON.stringify({ mnemonic: WORDS, accounts: 2 }))
    const args = ['--config', config, '--ready-file', file, '--log-file', log, ...form]
    const { stdout, stderr, stop } = await boot(args)
    await stop()
    const said = stdout() + stderr() + readFileSync(log, 'utf8')
    const ready = JSON.parse(readFileSync(file, 'utf8'))
    expect(ready.mnemonic).toBe(WORDS)
    for (const { privateKey, address } of ready.accounts) {
      expect(privateKey).toMatch(/^0x[0-9a-f]{64}$/)
      expect(said).not.toContain(privateKey.slice(2))
      expect(said).toContain(address)
    }
    await expectNoSecret(said)
  })

  const flags = ['--accounts', '2', '--mnemonic', WORDS]
  test.each<readonly [name: string, args: readonly string[], env: Record<string, string>]>([
    ['a variable', ['--accounts', '2'], { DEVCHAIN_MNEMONIC: WORDS }],
    ['a flag', flags, {}],
    ['a flag and JSON', [...flags, '--log=always', '--', 'true'], { DEVCHAIN_LOG: 'json' }],
  ])('is hidden in the output of exec with %s', async (_, args, env) => {
    const command = args.includes('--') ? [] : ['--', 'false']
    const { stderr, stdout, ended } = startProcess(['exec', ...args, ...command], { env })
    await ended
    expect(stderr()).toMatch(/[Ll]istening on|"event":"boot"/)
    await expectNoSecret(stdout() + stderr())
  })

  test('that is the public one in other letters has its keys shown', async () => {
    const { stdout, stop } = await boot(['--mnemonic', `${'TEST '.repeat(11)} junk`])
    await stop()
    expect(stdout()).toContain('ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80')
    expect(stdout()).toMatch(PUBLIC)
  })
})

describe('a mnemonic with a typo', () => {
  const config = (json: string): ((folder: string) => readonly string[]) => {
    return (folder) => {
      const file = path.join(folder, 'config.json')
      writeFileSync(file, json)
      return ['--config', file]
    }
  }
  const flag = (text: string) => (): readonly string[] => ['--mnemonic', text]
  const short = WORDS.slice(0, WORDS.lastIndexOf(' '))
  test.each<readonly [name: string, args: (folder: string) => readonly string[], message: RegExp]>([
    [
      'a misspelled word',
      flag(WORDS.replace('fiber', 'fibber')),
      /word 4 of 12 is not on its list/,
    ],
    ['a word less', flag(short), /--mnemonic: expected a mnemonic phrase .*, got 11 words$/m],
    [
      'another order',
      flag(WORDS.replace('ozone drill', 'drill ozone')),
      /checksum of its 12 words/,
    ],
    [
      'no quotes',
      () => ['--mnemonic', ...WORDS.split(' ')],
      /--mnemonic needs its phrase in quotes/,
    ],
    ['one word in a file', config(`{"mnemonic": "${short}"}`), /"mnemonic" in .*, got 11 words/],
    [
      'no quotes in a file',
      config(`{"mnemonic": ${WORDS}}`),
      /is not valid JSON: Unexpected token/,
    ],
    ['words alone in a file', config(WORDS), /is not valid JSON: Unexpected token/],
    ['a text in a file', config(`"${WORDS}"`), /expected a JSON object with options$/m],
    [
      'no comma in a file',
      config(`{"mnemonic":"${WORDS}" "x":1}`),
      /is not valid JSON: Expected ','/,
    ],
  ])('is refused without quoting it: %s', async (_, args, message) => {
    const { stderr, stdout, ended } = startProcess(args(temporaryFolder(onTestFinished)))
    expect(await ended).toBe(2)
    expect(stderr()).toMatch(message)
    await expectNoSecret((stderr() + stdout()).replace('fibber', 'fiber'))
  })

  test('in the environment is refused without quoting it', async () => {
    const { stderr, ended } = startProcess([], { env: { DEVCHAIN_MNEMONIC: short } })
    expect(await ended).toBe(2)
    expect(stderr()).toMatch(/^devchain: DEVCHAIN_MNEMONIC: expected .*, got 11 words\n$/)
  })
})

describe('the ready file', () => {
  test('is readable for its user only, even if it replaces a readable one', async () => {
    const folder = temporaryFolder(onTestFinished)
    const file = path.join(folder, 'ready.json')
    writeFileSync(file, '{}')
    chmodSync(file, 0o666)
    const { stop } = await boot(['--ready-file', file])
    await stop()
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(JSON.parse(readFileSync(file, 'utf8')).accounts).toHaveLength(10)
  })

  test('at a link is the file that the link names, for its user only', async () => {
    const folder = temporaryFolder(onTestFinished)
    const [link, file] = [path.join(folder, 'ready.json'), path.join(folder, 'other')]
    writeFileSync(file, '{}')
    chmodSync(file, 0o666)
    symlinkSync(file, link)
    const { stop } = await boot(['--ready-file', link])
    await stop()
    expect(lstatSync(link).isSymbolicLink()).toBe(true)
    expect(lstatSync(file).mode & 0o777).toBe(0o600)
    expect(JSON.parse(readFileSync(file, 'utf8')).accounts).toHaveLength(10)
  })
})

test('a program gets the keys of its own mnemonic', async () => {
  await using chain = await createDevchain({ mnemonic: WORDS, accounts: 1 })
  expect(chain.accounts[0]).toEqual({
    address: expect.any(String),
    privateKey: `0x${(await keys())[0]}`,
  })
})
