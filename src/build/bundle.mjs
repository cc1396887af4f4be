// Makes dist/: the types of the programmatic API come from the compiler, the code from here, in a few parts that are loaded
// by src/loader.ts. One file each for what a start needs, and for every library that it does not need.
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { rolldown } from 'rolldown'
import { LATER, prepareLate } from './late.mjs'

const root = path.resolve(import.meta.dirname, '../..')
const dist = path.join(root, 'dist')
const { name, version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'))

/** Where a run of the program begins. */
const ENTRIES = {
  command: path.join(root, 'src/cli/main.ts'),
  devchain: path.join(root, 'src/devchain.ts'),
}

/** Where a run with a command begins: a bundle of its own, which shares nothing, and asks for parts when it needs them. */
const SHELL = path.join(root, 'src/cli/shell.ts')

/** Libraries that are loaded when something of them is first used, though they are imported as any other. */
const LATE_LIBRARIES = ['@noble/curves/secp256k1.js', '@scure/bip32', 'ws']

/** The same for modules of node's own, which take 1 to 3 ms each. */
const LATE_BUILTINS = [
  ...['crypto', 'fs/promises', 'http', 'https', 'module', 'timers/promises', 'tls', 'url'],
  ...['util', 'v8', 'worker_threads', 'zlib'],
]

const LATE = new Set([...LATE_LIBRARIES, ...LATE_BUILTINS.map((each) => `node:${each}`)])

/** Libraries that read files of their own: they stay where they are installed. */
const INSTALLED = ['tiny-secp256k1']

const external = (id) => INSTALLED.includes(id) || (id.startsWith('node:') && !LATE.has(id))

/** Rolldown calls libraries late that the entry points do not name themselves. */
const lateImports = {
  name: 'late-imports',
  resolveId: (source, importer) => {
    if (importer === undefined) return null
    const wanted = LATE_BUILTINS.includes(source) ? `node:${source}` : source
    return LATE.has(wanted) ? { id: `late:${wanted}`, external: true } : null
  },
}

/** Name and version are known once and for all. */
const programInfo = {
  name: 'program-info',
  load: (id) =>
    id === path.join(root, 'src/program.ts')
      ? `export const PROGRAM = ${JSON.stringify({ name, version })}`
      : null,
}

await bundle()

async function bundle() {
  const libraries = Object.fromEntries(LATE_LIBRARIES.map((each) => [partName(each), each]))
  const plugins = [lateImports, programInfo]
  const inputs = Object.values(ENTRIES)
  const { early, later, plugins: latePlugins } = await prepareLate({ inputs, external, plugins })
  const build = await rolldown({
    cwd: root,
    input: { ...ENTRIES, [LATER]: later, ...libraries },
    platform: 'node',
    external,
    plugins: [...latePlugins, ...plugins],
  })
  const { output } = await build.write({
    dir: path.join(dist, 'bundle'),
    format: 'cjs',
    entryFileNames: '[name]-[hash].cjs',
    chunkFileNames: '[name]-[hash].cjs',
    sourcemap: 'hidden',
    sourcemapExcludeSources: true,
    exports: 'named',
    comments: { legal: true, annotation: false, jsdoc: false },
    // one file for what a start reads: each more takes half a millisecond
    codeSplitting: { groups: [{ name: 'core', test: (id) => early.has(id) }] },
  })
  const chunks = output.filter(({ type }) => type === 'chunk')
  for (const { fileName, code } of chunks) {
    if (/__toESM\(require\("late:/.test(code)) {
      throw new Error(`${fileName} copies a late module: import its members by name`)
    }
    writeFileSync(path.join(dist, 'bundle', fileName), asFunction(ascii(code)))
  }
  const files = chunks.filter(({ isEntry }) => isEntry)
  const parts = Object.fromEntries(files.map((chunk) => [moduleOf(chunk.name), chunk.fileName]))
  await writeLoader({ ...parts, shell: await bundleShell(plugins) })
  writeApi(chunks.find((chunk) => chunk.name === 'devchain').exports)
}

/** @returns the file's name */
async function bundleShell(plugins) {
  const parts = {
    name: 'parts',
    resolveId: (source) => (source === './main.ts' ? { id: 'late:command', external: true } : null),
  }
  const build = await rolldown({
    cwd: root,
    input: { shell: SHELL },
    platform: 'node',
    external,
    plugins: [parts, ...plugins],
  })
  const { output } = await build.write({
    dir: path.join(dist, 'bundle'),
    format: 'cjs',
    entryFileNames: '[name]-[hash].cjs',
    codeSplitting: false,
    comments: { legal: true, annotation: false, jsdoc: false },
  })
  const [{ fileName, code }] = output
  writeFileSync(path.join(dist, 'bundle', fileName), asFunction(ascii(code)))
  return fileName
}

/** A name without what file names may not have. */
function partName(library) {
  return library
    .replace(/\.js$/, '')
    .replace(/[^a-z0-9]+/gi, '-')
    .replace(/^-/, '')
}

/** The name that a part is asked for by. */
function moduleOf(part) {
  return LATE_LIBRARIES.find((library) => partName(library) === part) ?? part
}

/** The same code in ASCII, which V8 keeps in one byte a character. A character that is escaped stands for itself. */
function ascii(code) {
  return code.replace(/(\\*)([\u0080-\uffff])/g, (_, slashes, unit) => {
    const before = slashes.length % 2 === 0 ? slashes : slashes.slice(1)
    return `${before}\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
}

/** What the loader compiles: put together here, so that no start has to. */
function asFunction(code) {
  return `(function (exports, require, module, __filename, __dirname) {${code}\n})`
}

/** The one file that node itself loads: the loader, with the list of parts. */
async function writeLoader(parts) {
  const entry = path.join(root, 'src/loader-entry.ts')
  const text = `
    import { compilePlainly, compileWithCache, Loader } from './loader.ts'
    import { tuneV8 } from './tuning.ts'
    const parts = ${JSON.stringify(parts)}
    const isWord = (argument) => argument !== undefined && !argument.startsWith('-')
    export const loadCommand = (first) =>
      new Loader(__dirname, parts, compileWithCache({ onStarted: tuneV8 }), require)
        .load(isWord(first) ? 'shell' : 'command')
    export const loadApi = () => new Loader(__dirname, parts, compilePlainly, require).load('devchain')`
  const build = await rolldown({
    cwd: root,
    input: { loader: entry },
    platform: 'node',
    plugins: [
      {
        name: 'loader-entry',
        resolveId: (source) => (source === entry ? entry : null),
        load: (id) => (id === entry ? text : null),
      },
    ],
  })
  await build.write({ dir: path.join(dist, 'bundle'), format: 'cjs', entryFileNames: '[name].cjs' })
}

/** The module that programs import. */
function writeApi(names) {
  const text = [
    "import { loadApi } from './bundle/loader.cjs'",
    '',
    `export const { ${names.join(', ')} } = loadApi()`,
    '',
  ].join('\n')
  writeFileSync(path.join(dist, 'devchain.js'), text)
}
