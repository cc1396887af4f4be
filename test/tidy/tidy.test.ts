// Style is a test: layers, imports and the form of files. Each rule names the file and line that breaks it.
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { OP } from '../../src/evm/opcodes.ts'
import { filesBelow, places, root, type SourceFile } from './sources.ts'

/** What may stand at the top of the repository besides hidden files, and what commands make there. */
const TOP = /^(bin|src|test|fixtures|(CHANGELOG|README)\.md|package(-lock)?\.json|tsconfig\.json)$/
const MADE = /^(node_modules|dist|.*\.(log|tgz))$/

const sources = filesBelow('src')
const tests = filesBelow('test')

/** Tests and their helpers that set timers, and why. */
const TIMERS: Readonly<Record<string, string>> = {
  'test/support/process/boot.ts': 'a script that runs until it is stopped',
  'test/support/waiting/eventually.ts': 'polls',
  'test/support/waiting/turns.ts': 'the turns of the loop',
  'test/support/fork/upstream.ts': 'the latency of a network',
}

/** Tests and their helpers that read a clock, and why: none bounds what something takes by the time of day. */
const CLOCKS: Readonly<Record<string, string>> = {
  'test/fuzz/endless.ts': 'a program: how often it prints',
  'test/methods/eth/longcall.test.ts': 'processor time of a question',
  'test/methods/tracing/longtrace.test.ts': 'figures that it prints',
  'test/support/waiting/eventually.ts': 'its patience',
  'test/unit/fork/client.test.ts': 'where a faked clock begins',
  'test/unit/fork/store.test.ts': 'times of files',
  'test/unit/node/chain/chain.test.ts': 'a faked clock',
  'test/unit/node/create.test.ts': 'a chain begins now',
}

/** The files with empty lines where comments stand: prose may say what code may not. */
function withoutComments(files: readonly SourceFile[]): SourceFile[] {
  const isComment = (line: string): boolean => /^\s*(\/\/|\/?\*)/.test(line)
  return files.map((file) => ({
    ...file,
    lines: file.lines.map((line) => (isComment(line) ? '' : line)),
  }))
}

/** What a file imports, by the names in its import and export statements and `import()` calls. */
function importsOf({ text }: SourceFile): string[] {
  const found = text.matchAll(/(?:\bfrom\s+|\bimport\s*\(\s*|^import\s+|\burlOf\()'([^']+)'/gm)
  return [...found].map((match) => match[1] ?? '')
}

/** The layers from the top; a file imports from its own and from those below it. */
const LAYERS = [
  'cli',
  // modules for test runners
  'runners',
  'app',
  'server',
  'link',
  'fork',
  'methods',
  // names from the user's artifacts, reached by one door
  'project',
  'rpc',
  // chains on disk and as bytes
  'store',
  'node',
  'evm',
  'state',
  'options',
  'protocol',
  // what browsers load: an ordinary client
  'page',
  'core',
  // what node itself loads: it imports nothing of this project
  'loader',
]

/** Files at the root of src, and the layer they count to. */
const ROOT_FILES: Readonly<Record<string, string>> = {
  'src/devchain.ts': 'app',
  // name and version: read by whoever prints them
  'src/program.ts': 'core',
}

function layerOf(name: string): string {
  return ROOT_FILES[name] ?? name.split('/')[1] ?? ''
}

test('the top of the repository has the expected files only', () => {
  const seen = readdirSync(root).filter((name) => !name.startsWith('.') && !MADE.test(name))
  expect(seen.filter((name) => !TOP.test(name))).toEqual([])
})

describe('src', () => {
  test('has a layer for every file', () => {
    const strays = sources.filter(({ name }) => !LAYERS.includes(layerOf(name)))
    expect(strays.map(({ name }) => name)).toEqual([])
  })

  test('imports from the same layer or lower ones', () => {
    const wrong = sources.flatMap((file) =>
      importsOf(file)
        .filter((target) => target.startsWith('.'))
        .map((target) => path.join(path.dirname(file.name), target))
        .filter((target) => LAYERS.indexOf(layerOf(target)) < LAYERS.indexOf(layerOf(file.name)))
        .map((target) => `${file.name} imports ${target}`),
    )
    expect(wrong).toEqual([])
  })

  test('imports of evm only executor, cancellation, opcodes, tracers and failure words from above', () => {
    const above = LAYERS.slice(0, LAYERS.indexOf('evm'))
    const wrong = sources
      .filter((file) => above.includes(layerOf(file.name)))
      .flatMap((file) =>
        importsOf(file)
          .filter((target) => target.startsWith('.'))
          .map((target) => path.join(path.dirname(file.name), target))
          .filter((target) =>
            /^src\/evm\/(?!(executor|cancellation|run\/lazyexecutor|reasons|opcodes)\.ts|tracers\/)/.test(
              target,
            ),
          )
          .map((target) => `${file.name} imports ${target}`),
      )
    expect(wrong).toEqual([])
  })

  test.each([
    ['commander', ['cli']],
    ['chalk', ['cli']],
    ['ora', ['cli']],
    ['ws', ['server', 'link', 'fork']],
    ['@ethereumjs/vm', ['evm']],
    ['@ethereumjs/evm', ['evm']],
    ['@ethereumjs/common', ['evm']],
    ['@ethereumjs/util', ['evm']],
    // the evm layer proves points of KZG commitments with it
    ['@noble/curves', ['core', 'evm']],
    ['tiny-secp256k1', ['core']],
    // where OpenSSL has no RIPEMD-160
    ['@noble/hashes', ['evm']],
    ['mcl-wasm', ['evm']],
    ['ox', ['project']],
    ['@scure/bip32', ['node']],
    ['@scure/bip39', ['node']],
  ])('imports %s in %s only', (library, layers) => {
    const users = sources.filter((file) =>
      importsOf(file).some((target) => target === library || target.startsWith(`${library}/`)),
    )
    expect(
      users.filter((file) => !layers.includes(layerOf(file.name))).map(({ name }) => name),
    ).toEqual([])
  })

  test('imports every declared dependency and no other package', () => {
    const { dependencies } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'))
    const imported = sources
      // the build puts the libraries of the page into its script
      .filter(({ name }) => layerOf(name) !== 'page')
      .flatMap(importsOf)
      .filter((target) => !target.startsWith('.') && !target.startsWith('node:'))
      .map((target) =>
        target
          .split('/')
          .slice(0, target.startsWith('@') ? 2 : 1)
          .join('/'),
      )
    expect([...new Set(imported)].sort()).toEqual(Object.keys(dependencies).sort())
  })

  test('has one door each for the machines, the compiler of hot loops and bulk mining', () => {
    const doors = (folder: string): string[] =>
      sources
        .filter(({ name }) => !name.startsWith(folder))
        .filter((file) =>
          importsOf(file).some((target) =>
            path.join(path.dirname(file.name), target).startsWith(folder),
          ),
        )
        .map(({ name }) => name)
    expect(doors('src/evm/fast/compiler/')).toEqual(['src/evm/run/tiers.ts'])
    expect(doors('src/evm/fast/')).toEqual(['src/evm/run/tiers.ts'])
    expect(doors('src/evm/reference/')).toEqual(['src/evm/run/tiers.ts'])
    expect(doors('src/node/bulk/')).toEqual(['src/node/create.ts', 'src/store/codecs/runs.ts'])
    expect(doors('src/link/')).toEqual(['src/app/backend.ts'])
    expect(doors('src/fork/')).toEqual(['src/app/forking.ts'])
  })

  test('has a door to the user’s project for the program and one for each chain, and runs its reader in a thread', () => {
    const isInside = (name: string): boolean => name.startsWith('src/project/')
    const uses = [...graph]
      .filter(([name]) => !isInside(name))
      .flatMap(([name, targets]) => targets.filter(isInside).map((target) => [name, target]))
    expect(uses.sort()).toEqual([
      ['src/app/backend.ts', 'src/project/door.ts'],
      ['src/app/common.ts', 'src/project/artifactsdoor.ts'],
    ])
    expect([...graph].filter(([, targets]) => targets.includes('src/project/project.ts'))).toEqual(
      [],
    )
    for (const [, door] of uses) {
      const loaded = [...loadedWith(door!).keys()]
      expect(loaded.filter((name) => /^(src\/project|ox)/.test(name))).toEqual([door])
    }
  })

  test('has no import cycles at runtime', () => {
    expect(cycles(graph)).toEqual([])
  })

  test.each(Object.entries(ROOMS))(
    'in %s imports from the same room or lower ones',
    (folder, rooms) => {
      const isInside = (name: string): boolean => name.startsWith(`${folder}/`)
      const wrong = [...typeGraph]
        .filter(([name]) => isInside(name))
        .flatMap(([name, targets]) =>
          targets
            .filter(isInside)
            .filter(
              (target) =>
                rooms.indexOf(roomOf(folder, target)) < rooms.indexOf(roomOf(folder, name)),
            )
            .map((target) => `${name} imports ${target}`),
        )
      expect(wrong).toEqual([])
      const strays = [...typeGraph.keys()]
        .filter(isInside)
        .filter((name) => !rooms.includes(roomOf(folder, name)))
      expect(strays).toEqual([])
    },
  )

  test('has no import cycles of types, and at most 15 files a folder', () => {
    expect(cycles(typeGraph)).toEqual([])
    const folders = [...typeGraph.keys()].map((name) => path.dirname(name))
    const sizes = new Map(folders.map((folder) => [folder, folders.filter((f) => f === folder)]))
    const large = [...sizes].filter(([, files]) => files.length > 15)
    expect(large.map(([folder, { length }]) => `${folder}: ${length}`)).toEqual([])
  })
})

/** The files that a file needs when it runs, from its import and export statements: types are gone by then. */
function importedByRunning(file: SourceFile): string[] {
  const statements = /^(?:import|export) (?!type )[^;']*?from '([^']+)'|^import '([^']+)'/gms
  return [...file.text.matchAll(statements)]
    .map((match) => match[1] ?? match[2] ?? '')
    .map((target) => (target.startsWith('.') ? path.join(path.dirname(file.name), target) : target))
}

const graph = new Map(sources.map((file) => [file.name, importedByRunning(file)]))

/** The files that each file imports, for types too. AssemblyScript leaves the ending out. */
const typeGraph = new Map(
  sources.map((file) => [
    file.name,
    importsOf(file)
      .filter((target) => target.startsWith('.'))
      .map((target) => path.join(path.dirname(file.name), target.replace(/(\.ts)?$/, '.ts'))),
  ]),
)

/** Folders with rooms in them, from the top; '.' is what stands in the folder itself. */
const ROOMS: Readonly<Record<string, readonly string[]>> = {
  'src/evm': ['run', 'tracers', 'fast', 'reference', 'precompiles', '.'],
  'src/node': [
    '.',
    ...['dump', 'cheats', 'sending', 'calls', 'events', 'sealing', 'import', 'commands', 'chain'],
    ...['bulk', 'mining', 'ledger', 'pool', 'accounts'],
  ],
  'src/link': ['.', 'sync', 'peers', 'protocol'],
  'src/fork': [
    '.',
    'start',
    'boundary',
    'replay',
    'arbitrum',
    'network',
    'client',
    'proofs',
    'store',
  ],
  'src/evm/fast': ['compiler', 'assembly', '.'],
  'src/evm/fast/assembly': ['.', 'state', 'arithmetic'],
  'src/evm/fast/compiler': ['.', 'operations', 'trace', 'wasm'],
}

function roomOf(folder: string, name: string): string {
  const [room = '', ...rest] = path.relative(folder, name).split('/')
  return rest.length === 0 ? '.' : room
}

function cycles(graph: ReadonlyMap<string, readonly string[]>): string[] {
  const found: string[] = []
  const done = new Set<string>()
  const visit = (name: string, trail: readonly string[]): void => {
    if (trail.includes(name)) found.push([...trail.slice(trail.indexOf(name)), name].join(' → '))
    if (trail.includes(name) || done.has(name)) return
    for (const target of graph.get(name) ?? []) visit(target, [...trail, name])
    done.add(name)
  }
  for (const name of graph.keys()) visit(name, [])
  return found
}

/** Everything that is loaded with `name`, each with the file that imports it. */
function loadedWith(name: string): Map<string, string> {
  const loaded = new Map<string, string>([[name, '']])
  for (const [file] of loaded) {
    for (const target of graph.get(file) ?? []) if (!loaded.has(target)) loaded.set(target, file)
  }
  return loaded
}

describe('the start', () => {
  test.each(['src/cli/main.ts', 'src/cli/start.ts', 'src/app/front.ts'])(
    'of %s loads no reference executor, links, forks, chalk or ora',
    (name) => {
      expect(graph.get(name)?.length).toBeGreaterThan(3)
      const late =
        /^(@ethereumjs\/(?!rlp)|chalk|ora|src\/evm\/reference\/|src\/link\/(?!door\.ts)|src\/fork\/)/
      const early = [...loadedWith(name)].filter(([target]) => late.test(target))
      expect(early.map(([target, file]) => `${file} imports ${target}`)).toEqual([])
    },
  )
})

describe('files', () => {
  test('begin with a sentence that says what they are for', () => {
    const silent = [...sources, ...tests].filter(({ lines }) => !/^\/\/ \S.*/.test(lines[0] ?? ''))
    expect(silent.map(({ name }) => name)).toEqual([])
  })

  test('have at most 500 lines', () => {
    const long = sources.filter(({ lines }) => lines.length > 500)
    expect(long.map(({ name, lines }) => `${name}: ${lines.length}`)).toEqual([])
  })

  test('have no default exports, barrels, any, or mutable module variables', () => {
    const code = withoutComments(sources)
    expect(places(code, /^export default\b/)).toEqual([])
    expect(places(code, /^export \*/)).toEqual([])
    expect(places(code, /(:|<|\bas|,) any\b(?![\w ]*['`])/)).toEqual([])
    expect(places(code, /^(export )?(let|var)\b/)).toEqual([])
  })

  test('are checked by Biome for functions over 70 lines and other rules', () => {
    const { linter, overrides } = JSON.parse(readFileSync(path.join(root, '.biome.json'), 'utf8'))
    const { complexity, nursery, suspicious } = linter.rules
    expect(complexity.noExcessiveLinesPerFunction).toMatchObject({
      level: 'error',
      options: { maxLines: 70 },
    })
    expect(nursery.noFloatingPromises).toBe('error')
    expect(suspicious).toEqual({ noExplicitAny: 'error', noImportCycles: 'error' })
    const relaxed = overrides.flatMap(({ includes }: { includes: string[] }) => includes)
    expect(relaxed.filter((glob: string) => !glob.startsWith('test/'))).toEqual([])
  })

  test('silence none of these rules', () => {
    const silenced =
      /biome-ignore.*(noExcessiveLinesPerFunction|noFloatingPromises|noExplicitAny|noImportCycles)/
    expect(places(sources, silenced)).toEqual([])
  })

  test('contain no paths of the machine they were written on', () => {
    const absolute = /['"`(\s](\/(home|root|Users|work|tmp|mnt|opt)\/|[A-Z]:\\)/
    expect(places([...sources, ...tests], absolute)).toEqual([])
  })

  test('write no opcode of the EVM as a bare number', () => {
    const evm = withoutComments(sources).filter(({ name }) => name.startsWith('src/evm/'))
    expect(places(evm, /\bcase 0x/)).toEqual([])
    expect(places(evm, /\bopcode\w*(\.code)? (===?|!==?|[<>]=?|[-+]) 0x/i)).toEqual([])
    // SSTORE and the others are defined by the table alone
    const definitions = Object.entries(OP).map(
      ([name, opcode]) => `${name}\\b.*= 0x${opcode.toString(16).padStart(2, '0')}`,
    )
    expect(definitions).toContain('SSTORE\\b.*= 0x55')
    expect(places(evm, new RegExp(`\\bconst (${definitions.join('|')})\\b`))).toEqual([])
  })

  test('have no notes of unfinished work', () => {
    expect(places(sources, /\b(TODO|FIXME|XXX|HACK)\b|'to be written'/)).toEqual([])
  })

  test('of tests neither sleep nor skip nor run alone', () => {
    // the official vectors are not part of the repository: their tests say so and are skipped without them
    const others = tests.filter(({ name }) => !/^test\/(tidy|conformance)\//.test(name))
    expect(places(others, /\b(test|describe|it)\.(only|skip)\(/)).toEqual([])
  })

  test('of test helpers are in folders by subject, beside their only user if there is one', () => {
    const usersOf = (helper: string): readonly string[] =>
      tests
        .filter((file) =>
          importsOf(file).some((target) => path.join(path.dirname(file.name), target) === helper),
        )
        .map(({ name }) => path.dirname(name))
    const isMisplaced = (helper: string): boolean => {
      const [folder, ...more] = usersOf(helper)
      return more.length === 0 && folder !== path.dirname(helper)
    }
    const helpers = tests.map(({ name }) => name).filter((name) => name.startsWith('test/support/'))
    expect(helpers.filter((name) => name.split('/').length !== 4 || isMisplaced(name))).toEqual([])
  })

  test.each([
    // names in quotes are for fakes
    ['timers', /\bset(Timeout|Interval)\b(?!')|'(node:)?timers\b/, TIMERS],
    ['clocks', /\b(performance|Date)\.now\(|\bhrtime\b|\.cpuUsage\(/, CLOCKS],
    ['waits of a second', /\bvi\.wait(For|Until)\(|expect\.poll\(.*timeout:/, {}],
  ])('of tests use %s only where listed', (_, used, known) => {
    const measuring = withoutComments(tests).filter(
      ({ name }) => !/^test\/(bench|tidy)\//.test(name),
    )
    const users = new Set(places(measuring, used).map((place) => place.split(':')[0]))
    expect([...users].sort()).toEqual(Object.keys(known).sort())
  })
})
