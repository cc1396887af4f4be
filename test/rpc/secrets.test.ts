// Keys and passphrases: no log has them, however they were sent.
import { expect, test } from 'vitest'
import { methods } from '../../src/methods/index.ts'
import { startLogged } from '../support/chain/loggedchain.ts'

const A = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'
const KEY = `0x${'5ec7e7'.repeat(10)}5ec7`
const PASS = 'correct horse battery staple'
const SENT = { from: A, to: A, gas: '0x5208' }

/** What must be nowhere. */
const SECRETS = /5ec7e7|correct|staple|battery/

type Request = readonly [method: string, params: unknown]

const REQUESTS: readonly Request[] = [
  ['personal_importRawKey', [KEY, PASS]],
  ['personal_importRawKey', [PASS, KEY]],
  ['personal_importRawKey', [KEY.slice(2), PASS]],
  ['personal_importRawKey', [`${KEY}00`, PASS]],
  ['personal_importRawKey', { key: KEY, passphrase: PASS }],
  ['personal_importRawKey', { privateKey: KEY, passphrase: PASS }],
  ['personal_importRawKey', [KEY, PASS, KEY]],
  ['personal_importRawKey', [[KEY], { password: PASS }]],
  ['personal_newAccount', [PASS]],
  ['personal_newAccount', [PASS, PASS]],
  ['personal_newAccountWithSeed', [PASS]],
  ['personal_unlockAccount', [A, PASS, 60]],
  ['personal_unlockAccount', [PASS, A]],
  ['personal_unlockAccount', [A, 60, PASS]],
  ['personal_sendTransaction', [SENT, PASS]],
  ['personal_sendTransaction', [PASS, SENT]],
  ['personal_signAndSendTransaction', [SENT, PASS]],
  ['personal_signTransaction', [SENT, PASS]],
  ['personal_sign', ['0x00', A, PASS]],
  ['personal_sign', [PASS, A, '']],
  ['evm_addAccount', [A, PASS]],
  ['evm_removeAccount', [A, PASS]],
  ['personal_importRawkey', [KEY, PASS]],
  ['personal_importRawKey', KEY],
  ['secret_import', [KEY, PASS]],
  ['wallet_importKey', [KEY]],
  ['eth_importRawKey', { privateKey: KEY }],
  ['hardhat_reset', [{ forking: { jsonRpcUrl: 'ftp://node.example/v3/correct' } }]],
  ['hardhat_reset', [{ forking: { jsonRpcUrl: 'http://node.example/correct', blockNumber: 'x' } }]],
  ['anvil_reset', { options: { forking: { jsonRpcUrl: 'http://correct:horse@node.example@x' } } }],
  ['anvil_setRpcUrl', ['http://node.example/v3/correct@5']],
]

const FORMS = [{ verbose: true }, { json: true, verbose: true }, { json: true }]

test.each(REQUESTS)('the log hides the secret of %s %j', async (method, params) => {
  for (const form of FORMS) {
    const options = { port: 0, alias: ['secret_*=personal_*'], forkRetries: 0 }
    await using chain = await startLogged(options, form)
    const { url } = await chain.devchain.listen()
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    const answers = [body, `[${body}]`, body.slice(0, -1), body.replace(',"', ',x"')].map(
      async (text) => (await fetch(url, { method: 'POST', body: text })).text(),
    )
    await Promise.all(answers)
    const said = chain.lines().join('\n')
    expect(said).toContain(form.json ? '"event":"call"' : '(unreadable)')
    expect(said).not.toMatch(SECRETS)
  }
})

test('the log hides the secrets of a disabled module', async () => {
  await using chain = await startLogged({ disable: ['personal'] }, { verbose: true })
  await chain.ask('personal_importRawKey', KEY, PASS).catch(() => undefined)
  expect(chain.lines()).toEqual([expect.stringContaining('disabled'), '    params  ["•••","•••"]'])
})

test('the caller of a method with secrets gets the whole result', async () => {
  await using chain = await startLogged({}, { verbose: true })
  const key = await chain.ask('personal_dumpRawKey', A)
  expect(key).toMatch(/^0xac0974be/)
  expect(chain.lines().join()).not.toContain('ac0974')
  await expect(chain.ask('personal_unlockAccount', 'hunter2', A)).rejects.toThrow('hunter2')
  expect(chain.lines().join()).not.toContain('hunter2')
})

test.each<Request>([
  ['personal_importRawKey', [`${KEY}00`, PASS]],
  ['personal_importRawKey', [PASS, KEY]],
  ['personal_importRawKey', [[KEY], PASS]],
  ['personal_newAccount', [{ password: PASS }]],
  ['personal_newAccountWithSeed', [[PASS]]],
  ['anvil_setRpcUrl', ['correct horse']],
])('the error of %s %j does not quote the secret', async (method, params) => {
  await using chain = await startLogged({}, {})
  const asked = chain.ask(method, ...(params as unknown[]))
  await expect(asked).rejects.toThrow('expected')
  await expect(asked).rejects.not.toThrow(SECRETS)
})

test('the log shows what is no secret', async () => {
  await using chain = await startLogged({}, { verbose: true })
  await chain.ask('personal_sendTransaction', SENT, '')
  expect(chain.lines()[1]).toBe(`    params  [${JSON.stringify(SENT)},"•••"]`)
})

test('a parameter with a secret’s name is declared secret', () => {
  const open = methods.flatMap(({ name, params }) =>
    params
      .filter((param) => /pass|secret|seed|mnemonic|private.?key/i.test(param.name))
      .filter(({ isSecret }) => !isSecret)
      .map((param) => `${name} ${param.name}`),
  )
  expect(open).toEqual([])
})

test('the log shows a failed call of a method without secrets as it was sent', async () => {
  await using chain = await startLogged({}, { verbose: true })
  await expect(chain.ask('eth_getTransactionByHash', '0x12')).rejects.toThrow('0x12')
  const said = chain.lines().join('\n')
  expect(said).toContain('got "0x12"')
  expect(said).toContain('params  ["0x12"]')
})
