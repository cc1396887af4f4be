// What arguments say: options of a chain, commands with their flags, and what is wrong with them.
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { type CommandLine, readCommandLine } from '../../../src/cli/parse/commandline.ts'
import { SUBCOMMANDS } from '../../../src/cli/parse/subcommands.ts'
import { flagOf, OPTION_KEYS, optionOf } from '../../../src/options/derived.ts'

/** Arguments that ask neither for help nor for the version. */
const read = (...argv: string[]): CommandLine => readCommandLine(argv) as CommandLine

describe('a command line without a command', () => {
  test('has chain options under their keys', () => {
    const args = ['--port', '0', '--quiet', '--alias=a=b', '--alias', 'c=d', '--no-mining']
    expect(read(...args)).toEqual({
      name: undefined,
      words: [],
      flags: {},
      options: { port: '0', quiet: true, alias: ['a=b', 'c=d'], noMining: true },
    })
  })

  test.each(OPTION_KEYS)('gives %s by its flag, with its value or without', (key) => {
    const { type } = optionOf(key)
    const flag = flagOf(key)
    const value = type.repeatable ? ['-1=Ü b'] : '-1=Ü b'
    if (type.placeholder === undefined) {
      expect(read(flag).options).toEqual({ [key]: true })
      return
    }
    if (type.alone === undefined) {
      expect(read(flag, '-1=Ü b').options).toEqual({ [key]: value })
    } else {
      expect(read(flag, 'Ü b').options).toEqual({ [key]: 'Ü b' })
      expect(read(flag).options).toEqual({ [key]: type.alone })
      expect(read(flag, '--quiet').options).toEqual({ [key]: type.alone, quiet: true })
    }
    expect(read(`${flag}=-1=Ü b`).options).toEqual({ [key]: value })
  })

  test('takes the last value of an option that is given twice', () => {
    expect(read('--port', '1', '--port=2').options).toEqual({ port: '2' })
  })

  test('may be empty', () => {
    expect(read().options).toEqual({})
  })

  test.each([
    [['--port'], '--port needs a value: a port number from 0 to 65535 (see devchain --help)'],
    [['--'], undefined],
    [['--', 'rpc', 'eth_chainId'], /^write the command before its options: devchain rpc /],
    [
      ['--port', '1', 'export', 'file'],
      /^write the command before its options: devchain export <file>/,
    ],
    [
      ['--port', '1', '2'],
      /^unknown command "2": options alone, such as --port 8545, start a chain/,
    ],
    [['--', '--port', '1'], /^unknown command "--port": omit the -- before it/],
    [['--port8545'], /^unknown option --port8545 \(see devchain --help\)/],
    [['-z', '1'], 'unknown option -z (see devchain --help)'],
    [['-p', '1'], 'unknown option -p; did you mean --port? (see devchain --help)'],
    [['--http'], /^unknown option --http; omit it: devchain serves HTTP and WebSocket/],
    [['--no-cors'], /did you mean --allow-origin\?/],
    [['-f', 'http://x'], /^unknown option -f; did you mean --fork URL\?/],
    [['--fork-url', 'http://x'], /did you mean --fork URL\?/],
    [['--rpc-url=http://x'], /did you mean --fork URL\?/],
    [['--fork.network', 'mainnet'], /did you mean --fork URL\?/],
    [['--fork-block-number', '1'], /did you mean --fork URL@BLOCK\?/],
    [['--fork-transaction-hash', '0x1'], /did you mean --fork-transaction\?/],
    [['--fork.headers', 'a: b'], /did you mean --fork-header\?/],
    [['--no-storage-caching'], /did you mean --no-fork-cache\?/],
    [['--retries', '3'], /did you mean --fork-retries\?/],
    [['--timeout', '3'], /did you mean --fork-timeout\?/],
    [['--fork.deleteCache'], /did you mean devchain fork-cache --clear\?/],
  ])('%j is refused, or not', (args, message) => {
    if (message === undefined) expect(read(...args).name).toBeUndefined()
    else expect(() => read(...args)).toThrow(message)
  })
})

test.each(SUBCOMMANDS)('the help of $name is within 100 columns', ({ name }) => {
  const lines = String(readCommandLine([name, '--help'])).split('\n')
  expect(lines.length).toBeGreaterThan(3)
  expect(lines.filter((line) => line.length > 100)).toEqual([])
})

/** The rows of "Flags of other nodes": the other nodes' flags, and the cell of devchain's. */
function flagsOfOthers(): (readonly [flag: string, ours: string])[] {
  const page = readFileSync(new URL('../../../src/cli/README.md', import.meta.url), 'utf8')
  const [, section = ''] = page.split('### Flags of other nodes')
  const taken = new Set(OPTION_KEYS.map(flagOf))
  return section.split('\n').flatMap((row) => {
    const cells = row.split('|').slice(1, -1)
    const theirs = cells
      .slice(0, -1)
      .join()
      .matchAll(/`(--?[a-z][\w.-]*)/gi)
    return [...theirs].flatMap(([, flag = '']) =>
      taken.has(flag) ? [] : [[flag, cells.at(-1)?.trim() ?? ''] as const],
    )
  })
}

test.each(flagsOfOthers())(
  'the error for %s of another node names what the page does: %s',
  (flag, ours) => {
    const named = [...ours.matchAll(/`((?:devchain )?[\w-]+)/g)].map(([, name]) => name)
    const suggested = named.map((name) => `did you mean ${name}\\b.*\\?`)
    const answer = ours.startsWith('none') ? 'omit it: ' : `(${suggested.join('|')})`
    expect(() => read(flag, 'x')).toThrow(new RegExp(`^unknown option ${flag}; ${answer}`))
  },
)

test('a command does not suggest a flag that only starting a chain takes', () => {
  expect(() => read('rpc', '-p', '1')).toThrow('unknown option -p (see devchain rpc --help)')
  expect(() => read('exec', '-p', '1')).toThrow(/^unknown option -p; did you mean --port\?/)
})

describe('a command’s arguments', () => {
  test('are words except for flags, which may stand anywhere', () => {
    expect(read('rpc', '--json', 'm', '-5', '--url', 'u', '-')).toEqual({
      name: 'rpc',
      words: ['m', '-5', '-'],
      flags: { json: true, url: 'u' },
      options: {},
    })
  })

  test('are words after --', () => {
    expect(read('rpc', 'm', '--', '--json')).toMatchObject({ words: ['m', '--json'], flags: {} })
  })

  test('may have a value after an equals sign, which may contain more of them', () => {
    expect(read('mine', '--url=http://x/?a=b')).toMatchObject({
      words: [],
      flags: { url: 'http://x/?a=b' },
    })
  })

  test.each(SUBCOMMANDS)(
    '$name takes each of its flags',
    ({ name, arguments: declared, flags }) => {
      const words = declared.filter(({ kind }) => kind !== 'optional').map(() => 'x')
      for (const { name: flag, placeholder } of flags) {
        const value = placeholder?.split('|')[0]
        const args = value === undefined ? [flag] : [flag, value]
        expect(read(name, ...args, ...words)).toMatchObject({
          name,
          words,
          flags: { [flag.slice(2)]: value ?? true },
        })
      }
    },
  )
})

describe('devchain exec', () => {
  test('takes the first word that is no option as the command', () => {
    expect(read('exec', '--port', '0', '--quiet', 'npm', 'test', '--', '-v', '--port=1')).toEqual({
      name: 'exec',
      words: ['npm', 'test', '--', '-v', '--port=1'],
      flags: {},
      options: { port: '0', quiet: true },
    })
  })

  test.each<readonly [args: readonly string[], trace: string, words: readonly string[]]>([
    [['--trace', 'npm', 'test'], 'all', ['npm', 'test']],
    [['--trace', 'failed', 'npm', 'test'], 'failed', ['npm', 'test']],
    [['--trace=failed', 'all'], 'failed', ['all']],
    [['--trace', '--port', '0', 'npm'], 'all', ['npm']],
    [
      ['--port', '0', '--log', 'never', '--trace', 'npm', '--trace', 'x'],
      'all',
      ['npm', '--trace', 'x'],
    ],
    [['--trace', '--', 'npm', '--trace', 'x'], 'all', ['npm', '--trace', 'x']],
    [['--trace', 'all', '--', 'failed'], 'all', ['failed']],
  ])('%j takes no word of the command as the value of a flag without one', (args, trace, words) => {
    const line = read('exec', ...args)
    expect([line.options.trace, line.words]).toEqual([trace, words])
  })

  test('takes everything after -- as the command, even if it looks like an option', () => {
    const { words, options } = read('exec', '--no-mining', '--', '--help', '--', 'x')
    expect([words, options]).toEqual([['--help', '--', 'x'], { noMining: true }])
  })

  test('has its own --log, which is no chain option', () => {
    const { flags, options } = read('exec', '--log=never', '--log-file', 'f', 'true')
    expect([flags.log, options]).toEqual(['never', { logFile: 'f' }])
  })

  test.each([
    [['exec'], /^<command> is missing: devchain exec \[options\] -- <command…>/],
    [
      ['exec', '--log', 'loud', 'true'],
      /^--log: expected one of always, failure, never, pretty, json, got "loud" \(see/,
    ],
    [['exec', '--prot', '1', 'true'], /^unknown option --prot; did you mean --port\?/],
    [['exec', '--port'], /^--port needs a value: a port number from 0/],
    [['exec', '--log'], /^--log needs a value: always\|failure\|never/],
    [['exec', '--quiet=1', 'true'], /^--quiet takes no value, got "1"/],
  ])('refuses %j', (args, message) => {
    expect(() => read(...args)).toThrow(message)
  })
})

test.each([
  ['save', 'or the file cannot be written'],
  ['export', 'or the file cannot be written'],
  ['coverage', 'or the file cannot be written'],
  ['gas-report', '--compare found a higher average'],
])('the help of %s lists every reason for exit code 1', (name, reason) => {
  expect(String(readCommandLine([name, '--help'])).replace(/\s+/g, ' ')).toContain(reason)
})
