// Reading options: from flags, environment, config file and programs.
import { describe, expect, test, vi } from 'vitest'
import {
  type DevchainOptions,
  environmentSource,
  fileSource,
  type OptionSource,
  readDevchainOptions,
  resolveOptions,
} from '../../src/app/settings.ts'
import { DevchainError } from '../../src/core/errors.ts'
import { createChain } from '../../src/node/create.ts'
import {
  type AllSettings,
  defaultTextOf,
  environmentNameOf,
  flagOf,
  OPTION_KEYS,
  type OptionKey,
  optionOf,
} from '../../src/options/derived.ts'
import { OPTIONS } from '../../src/options/table.ts'
import { testEnvironment } from '../unit/node/chains.ts'

const flags = (values: OptionSource['values']): OptionSource => ({ kind: 'flag', values })
const read = (key: OptionKey, value: unknown): unknown =>
  resolveOptions([flags({ [key]: value })])[key]

function refusal(act: () => unknown): string {
  try {
    act()
  } catch (error) {
    if (error instanceof DevchainError) return error.message
    throw error
  }
  throw new Error('nothing was refused')
}

describe('the option', () => {
  const ether = 10n ** 18n
  test.each<[OptionKey, unknown, unknown]>([
    ['chainId', '1337', 1337n],
    ['chainId', '0x539', 1337n],
    ['chainId', 1337, 1337n],
    ['balance', '10_000', 10_000n * ether],
    ['balance', 10000, 10_000n * ether],
    ['balance', '0.5', ether / 2n],
    ['balance', 0.5, ether / 2n],
    ['balance', '1.5 ether', (3n * ether) / 2n],
    ['balance', '7 wei', 7n],
    ['balance', '0', 0n],
    ['gasLimit', '30_000_000', 30_000_000n],
    ['gasLimit', '30M', 30_000_000n],
    ['gasLimit', '9007199254740991', 9_007_199_254_740_991n],
    ['gasPrice', '2 gwei', 2_000_000_000n],
    ['gasPrice', '1.5gwei', 1_500_000_000n],
    ['baseFee', '0', 0n],
    ['baseFee', 1_000_000_000, 1_000_000_000n],
    ['defaultGas', 'estimate', 'estimate'],
    ['defaultGas', '200k', 200_000n],
    ['blockTime', '2', 2_000],
    ['blockTime', '0.5', 500],
    ['blockTime', 0.25, 250],
    ['blockTime', '500ms', 500],
    ['filterTimeout', '5m', 300_000],
    ['bodyLimit', '5MB', 5_000_000],
    ['bodyLimit', '512kb', 512_000],
    ['memoryLimit', '16M', 16_000_000],
    ['evm', 'interpreter', 'interpreter'],
    ['timestamp', '1700000000', 1_700_000_000n],
    ['timestamp', '2030-01-01T00:00:00Z', 1_893_456_000n],
    ['timestamp', '2030-01-01', 1_893_456_000n],
    ['timestamp', '2030-01-01 12:00', 1_893_499_200n],
    ['timestamp', '2030-01-01T12:00+02:00', 1_893_492_000n],
    ['clock', 'frozen', { kind: 'frozen' }],
    ['clock', 'step:12', { kind: 'step', seconds: 12n }],
    ['hardfork', 'Cancun', 'cancun'],
    ['hardfork', 'merge', 'paris'],
    ['port', '0', 0],
    ['disable', 'mnr,sco', ['mnr', 'sco']],
    ['disable', ['mnr', 'sco'], ['mnr', 'sco']],
    ['allowHost', 'Chain.Test', ['chain.test']],
    ['allowHost', '*', ['*']],
    ['allowOrigin', 'https://App.Test:3000/,other.test', ['https://app.test:3000', 'other.test']],
    ['alias', ['list_methods=rpc.discover'], [{ from: 'list_methods', to: 'rpc.discover' }]],
    [
      'alias',
      ['new_*=ext_*', 'a_b=eth_call'],
      [
        { from: 'new_*', to: 'ext_*' },
        { from: 'a_b', to: 'eth_call' },
      ],
    ],
    ['quiet', 'yes', true],
    ['quiet', '0', false],
    ['log', 'JSON', 'json'],
  ])('%s reads %j', (key, given, expected) => {
    vi.stubEnv('TZ', 'America/New_York')
    expect(read(key, given)).toEqual(expected)
    vi.unstubAllEnvs()
  })

  test.each<[OptionKey, unknown]>([
    ['port', 'abc'],
    ['port', '65536'],
    ['port', '-1'],
    ['port', '1.5'],
    ['port', true],
    ['port', {}],
    ['chainId', '0'],
    ['chainId', '9007199254740992'],
    ['accounts', '10001'],
    ['accounts', '1e3'],
    ['balance', '-1'],
    ['balance', '10 dollars'],
    ['balance', '0.0000000000000000001'],
    ['gasLimit', '20999'],
    ['gasPrice', '0.5'],
    ['timestamp', '18446744073709551616'],
    ['blockTime', '0'],
    ['blockTime', '0.0001'],
    ['blockTime', '25d'],
    ['blockTime', '99999999'],
    ['timestamp', 'yesterday'],
    ['timestamp', '2030-13-45'],
    ['bodyLimit', '5 bananas'],
    ['clock', 'step:0'],
    ['clock', 'sundial'],
    ['mnemonic', 'test test'],
    ['derivationPath', '44/60'],
    ['coinbase', '0x12'],
    ['hardfork', 'cancuun'],
    ['onRevert', 'panic'],
    ['evm', 'jit'],
    ['memoryLimit', '2GB'],
    ['log', 'xml'],
    ['alias', 'eth_call'],
    ['allowHost', 'a*b'],
    ['allowOrigin', 'https://app.test/page'],
    ['allowOrigin', 'https://*.test'],
    ['alias', 'new_*=eth_call'],
    ['disable', 'a b'],
    ['host', 'a b'],
    ['chainName', ''],
    ['quiet', 'perhaps'],
    ['predeploy', 'multicall4'],
    ['genesis', 5],
    ['genesis', []],
  ])(
    '%s refuses %j in one line that names the flag, the value and what was expected',
    (key, given) => {
      const message = refusal(() => read(key, given))
      expect(message).toMatch(new RegExp(`^${flagOf(key)}: .`))
      expect(message).toMatch(/expected|nearest|did you mean/i)
      expect(message).not.toContain('\n')
      // what may hold a key is described
      const shown = optionOf(key).type.show?.(given) ?? given
      if (typeof shown === 'string' && shown !== '') expect(message).toContain(shown)
    },
  )
})

describe('the default', () => {
  /** Words for values that cannot be written. */
  const UNREADABLE = ['none', 'the zero address']

  test.each(OPTION_KEYS)('of %s reads back as printed, or is words for none', (key) => {
    const { type, default: preset, unset } = optionOf(key)
    expect(preset === undefined || unset === undefined).toBe(true)
    const text = defaultTextOf(key)
    expect(text).toMatch(/\S/)
    if (unset === undefined && !UNREADABLE.includes(text)) expect(type.read(text)).toEqual(preset)
  })

  test.each([
    ['chainId', '31337', 31_337n],
    ['chainId', '5M', 5_000_000n],
    ['balance', '1.5', 15n * 10n ** 17n],
    ['gasPrice', '7', 7n],
    ['gasPrice', '1.5gwei', 1_500_000_000n],
    ['defaultGas', 'estimate', 'estimate'],
    ['codeSizeLimit', '24576', 24_576],
    ['codeSizeLimit', 'off', Number.MAX_SAFE_INTEGER],
    ['memoryLimit', '65536', 65_536],
    ['blockTime', '500ms', 500],
    ['blockTime', '12', 12_000],
    ['blockTime', '2m', 120_000],
    ['timestamp', '1700000000', 1_700_000_000n],
    ['clock', 'step:12', { kind: 'step', seconds: 12n }],
    ['noMining', 'on', true],
    [
      'alias',
      'a_b=eth_call,new_*=ext_*',
      [
        { from: 'a_b', to: 'eth_call' },
        { from: 'new_*', to: 'ext_*' },
      ],
    ],
    ['disable', 'mnr,sco', ['mnr', 'sco']],
  ] as const)('value of %s prints as it may be given: %s', (key, text, value) => {
    const { type } = optionOf(key)
    expect(type.print(value)).toBe(text)
    expect(type.read(text)).toEqual(value)
  })

  test('options of createDevchain are those of the command line', async () => {
    const { config, settings } = (await createChain({ environment: testEnvironment() })).state
    expect(config.options).toMatchObject({ accounts: 10, mnemonic: OPTIONS.mnemonic.default })
    expect(resolveOptions([])).toMatchObject(config.options)
    expect(settings).toMatchObject({
      coinbase: OPTIONS.coinbase.default,
      blockGasLimit: OPTIONS.gasLimit.default,
      difficulty: OPTIONS.difficulty.default,
    })
    expect(config.chainId).toBe(OPTIONS.chainId.default)
    expect(config.hardforkAt(1n, 0n)).toBe(OPTIONS.hardfork.default)
  })

  test('options make the agreed chain', () => {
    const settings: AllSettings = resolveOptions([])
    expect(settings).toMatchObject({
      accounts: 10,
      balance: 10_000n * 10n ** 18n,
      host: '127.0.0.1',
      port: 8545,
      gasPrice: 0n,
      baseFee: undefined,
      defaultGas: undefined,
      onRevert: 'hash',
      filterTimeout: 300_000,
      bodyLimit: 5_000_000,
    })
  })
})

describe('an option source', () => {
  test('of flags precedes the environment, which precedes the config file', () => {
    const environment = environmentSource({ DEVCHAIN_PORT: '2', DEVCHAIN_ACCOUNTS: '2' })
    const file = fileSource('c.json', '{"port": 3, "accounts": 3, "chainId": 3}')
    const settings = resolveOptions([flags({ port: '1' }), environment, file])
    expect([settings.port, settings.accounts, settings.chainId]).toEqual([1, 2, 3n])
  })

  test('in the environment has a name for every option', () => {
    expect(OPTION_KEYS.map(environmentNameOf)).toContain('DEVCHAIN_DERIVATION_PATH')
    const source = environmentSource({ DEVCHAIN_NO_MINING: '1', DEVCHAIN_CLOCK: 'frozen' })
    expect(resolveOptions([source])).toMatchObject({ noMining: true, clock: { kind: 'frozen' } })
  })

  test('in the environment ignores an empty variable', () => {
    expect(resolveOptions([environmentSource({ DEVCHAIN_PORT: '' })]).port).toBe(8545)
  })

  test('is named in the error about its value', () => {
    expect(refusal(() => resolveOptions([environmentSource({ DEVCHAIN_PORT: 'x' })]))).toMatch(
      /^DEVCHAIN_PORT: expected a port number from 0 to 65535, got "x"$/,
    )
    expect(refusal(() => resolveOptions([fileSource('c.json', '{"port":"x"}')]))).toMatch(
      /^"port" in c\.json: expected/,
    )
  })

  test.each([
    ['no JSON', '{', /c\.json is not valid JSON/],
    ['a list', '[]', /c\.json: expected a JSON object with options$/],
    ['null', 'null', /expected a JSON object/],
    [
      'an unknown option',
      '{"chainID": 5}',
      /unknown option "chainID" in c\.json; did you mean "chainId"\?/,
    ],
    ['an option like no other', '{"foo": 3}', /unknown option "foo" in c\.json$/],
    ['another config file', '{"config": "d.json"}', /a config file cannot name another$/],
  ])('in a config file with %s is refused', (_what, content, message) => {
    expect(refusal(() => fileSource('c.json', content))).toMatch(message)
  })

  test('createDevchain refuses an unknown option and suggests the nearest', () => {
    const options = { hardFork: 'cancun' } as DevchainOptions
    expect(refusal(() => readDevchainOptions(options))).toBe(
      'unknown option "hardFork"; did you mean "hardfork"?',
    )
  })
})

test.each<[OptionSource['values'], string]>([
  [{ predeploy: ['  '] }, 'got "  "'],
  [{ alias: ['a=b', 'foo'] }, 'got "foo"'],
  [{ allowHost: ['http://x/y'] }, 'got "http://x/y"'],
  [{ disable: 'a b' }, 'got "a b"'],
])('%j is refused by the item that is wrong', (values, end) => {
  const message = refusal(() => resolveOptions([flags(values)]))
  expect(message.slice(-end.length)).toBe(end)
})

test('an option that does nothing without another is refused, a default is not', () => {
  const refused: readonly (readonly [OptionSource['values'], string])[] = [
    [{ durability: 'block' }, '--durability needs --state DIR'],
    [{ stateInterval: '5' }, '--state-interval needs --dump-state FILE'],
    [{ preserveHistoricalStates: true }, '--preserve-historical-states needs --dump-state FILE'],
    [{ stateInterval: '5', state: 'dir' }, '--state-interval needs --dump-state FILE'],
    [{ durability: 'block', state: 'd.json' }, '--durability needs --state DIR'],
    [{ coverageMin: '80' }, '--coverage-min needs --coverage FILE'],
  ]
  for (const [values, message] of refused) {
    expect(refusal(() => resolveOptions([flags(values)]))).toBe(message)
  }
  const file = fileSource('c.json', '{"stateInterval": 5}')
  expect(refusal(() => resolveOptions([file]))).toBe(
    '"stateInterval" in c.json needs --dump-state FILE',
  )
  expect(resolveOptions([flags({ dumpState: 'd.json' }), file]).stateInterval).toBe(5_000)
  expect(resolveOptions([flags({ state: 'd.json' }), file]).stateInterval).toBe(5_000)
  expect(resolveOptions([flags({ durability: 'interval' })]).durability).toBe('interval')
})

describe('contradicting options', () => {
  test.each<[OptionSource['values'], string, string]>([
    [{ blockTime: '1', noMining: true }, '--block-time', '--no-mining'],
    [{ quiet: true, verbose: true }, '--quiet', '--verbose'],
  ])('%j are refused, and both are named', (values, one, other) => {
    const message = refusal(() => resolveOptions([flags(values)]))
    expect(message).toContain(one)
    expect(message).toContain(`contradicts ${other}`)
  })

  test('are allowed if one is set to false', () => {
    expect(resolveOptions([flags({ blockTime: '1', noMining: 'false' })]).blockTime).toBe(1_000)
  })

  test('from two sources are resolved by precedence', () => {
    const file = fileSource('c.json', '{"blockTime": 5}')
    expect(resolveOptions([flags({ noMining: true }), file])).toMatchObject({
      noMining: true,
      blockTime: undefined,
    })
    const quiet = fileSource('c.json', '{"quiet": true}')
    expect(resolveOptions([flags({ verbose: true }), quiet]).quiet).toBe(false)
  })
})
