// Makes dist/: the types of the programmatic API come from the compiler, the code from here. Plain CommonJS parts, that
// node's own `require` can load: what a start needs in one file, and what it imports dynamically in others.
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { rolldown } from 'rolldown'

const root = path.resolve(import.meta.dirname, '../..')
const dist = path.join(root, 'dist')
const { name, version } = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8'))

/** Libraries that read files of their own: they stay where they are installed. */
const INSTALLED = ['tiny-secp256k1']

/** Name and version are known once and for all. */
const programInfo = {
  name: 'program-info',
  load: (id) =>
    id === path.join(root, 'src/program.ts')
      ? `export const PROGRAM = ${JSON.stringify({ name, version })}`
      : null,
}

/** Asks for the command without a word by its file, so that one with a word shares no code with it. */
const commandApart = {
  name: 'command-apart',
  resolveId: (source) => (source === './main.ts' ? { id: './command.cjs', external: true } : null),
}

/** The same code in ASCII, which V8 keeps in one byte a character. A character that is escaped stands for itself. */
const ascii = {
  name: 'ascii',
  generateBundle: (_, output) => {
    for (const part of Object.values(output)) {
      part.code = part.code?.replace(/(\\*)([\u0080-\uffff])/g, (_, slashes, unit) => {
        const before = slashes.length % 2 === 0 ? slashes : slashes.slice(1)
        return `${before}\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
      })
    }
  },
}

/** Exports final values once a part has run, instead of hundreds of getters. No part may import itself through others. */
const plainExports = {
  name: 'plain-exports',
  generateBundle: (_, output) => {
    for (const part of Object.values(output)) if (part.type === 'chunk') exportPlainly(part)
  },
}

function exportPlainly(part) {
  const changing = new Set([...part.code.matchAll(/^let ([\w$]+)/gm)].map(([, name]) => name))
  const members = []
  const rest = part.code.replace(EXPORTED, (_, getter, returned, name, given) => {
    const value = returned ?? given
    if (changing.has(value)) throw new Error(`${part.fileName} exports ${value}, which may change`)
    members.push(`\t${getter ?? name}: ${value},\n`)
    return ''
  })
  // a library in CommonJS is run when its export is read
  const hasOthers = /^Object\.defineProperty\(exports, "/m.test(rest)
  if (members.length > 0 && !hasOthers)
    part.code = `${rest}module.exports = {\n${members.join('')}};\n`
}

/** Of a part with exports for other parts, as rolldown writes it. */
const EXPORTED =
  /^(?:Object\.defineProperty\(exports, "([^"]+)", \{\n\tenumerable: true,\n\tget: function\(\) \{\n\t\treturn ([\w$.]+);\n\t\}\n\}\)|exports\.([\w$]+) = ([\w$.]+));\n?/gm

const [{ exports: names }] = await bundle({
  devchain: path.join(root, 'src/devchain.ts'),
  command: path.join(root, 'src/cli/main.ts'),
  thread: path.join(root, 'src/cli/thread.ts'),
})
await bundle({ shell: path.join(root, 'src/cli/shell.ts') }, [commandApart])
await bundle({ reader: path.join(root, 'src/project/reading/reader.ts') }, [], 'reader', false)
await bundle({ loader: path.join(root, 'src/loader/loader.ts') }, [], 'loader', false)
await bundle({ preload: path.join(root, 'src/runners/preload.ts') }, [], 'runners', false)
await bundleModules(['vitest', 'jest', 'worker'])
await bundlePage()
writeJestModules()
writeThread()
writeApi(names)
writeUnbranded()

/** Bundles entry points together. @returns their parts, in their order */
async function bundle(input, plugins = [], folder = 'bundle', codeSplitting = partsOf(input)) {
  const build = await rolldown({
    cwd: root,
    input,
    platform: 'node',
    external: (id) => INSTALLED.includes(id) || id.startsWith('node:'),
    plugins: [...plugins, programInfo, plainExports, ascii],
  })
  const { output } = await build.write({
    dir: path.join(dist, folder),
    format: 'cjs',
    entryFileNames: '[name].cjs',
    // the loader keeps bytecode by these hashes
    chunkFileNames: '[name]-[hash].cjs',
    sourcemap: 'hidden',
    sourcemapExcludeSources: true,
    exports: 'named',
    comments: { legal: true, annotation: false, jsdoc: false },
    dynamicImportInCjs: false,
    codeSplitting,
  })
  return Object.keys(input).map((each) => output.find((part) => part.isEntry && part.name === each))
}

/** Bundles modules that test runners import: they ask for the chain by the module that programs import. */
async function bundleModules(names) {
  const build = await rolldown({
    cwd: root,
    input: Object.fromEntries(
      names.map((each) => [each, path.join(root, `src/runners/${each}.ts`)]),
    ),
    platform: 'node',
    external: (id) => id.startsWith('node:'),
    plugins: [
      {
        name: 'api-apart',
        resolveId: (source) =>
          source === '../devchain.ts' ? { id: '../devchain.js', external: 'relative' } : null,
      },
    ],
  })
  await build.write({ dir: path.join(dist, 'runners'), format: 'esm', entryFileNames: '[name].js' })
}

/** Bundles the page for browsers: one script with its libraries, and one style sheet. */
async function bundlePage() {
  const [from, to] = [path.join(root, 'src/page'), path.join(dist, 'page')]
  const build = await rolldown({
    cwd: root,
    input: { page: path.join(from, 'main.ts') },
    platform: 'browser',
    plugins: [ascii],
  })
  await build.write({
    dir: to,
    format: 'esm',
    entryFileNames: '[name].js',
    minify: true,
    banner:
      '/* devchain (MIT) with preact, viem, abitype, @noble/hashes (MIT) and htm (Apache-2.0) */',
  })
  mkdirSync(to, { recursive: true })
  const sheets = readdirSync(path.join(from, 'style')).sort()
  const css = sheets.map((each) => readFileSync(path.join(from, 'style', each), 'utf8')).join('')
  writeFileSync(
    path.join(to, 'page.css'),
    css.replace(/\/\*.*?\*\//gs, '').replace(/\s*\n\s*/g, '\n'),
  )
  for (const each of ['index.html', 'page.svg']) {
    copyFileSync(path.join(from, each), path.join(to, each))
  }
}

/** One file for what the entry points import: each more would take time at a start. */
function partsOf(input) {
  return { groups: [{ name: Object.keys(input)[0], tags: ['$initial'] }] }
}

/** The program of a thread. */
function writeThread() {
  const text = [
    "const path = require('node:path')",
    "const { IN_THREAD, openLoader } = require('./loader/loader.cjs')",
    "void openLoader(path.join(__dirname, 'bundle'), require, IN_THREAD)('thread.cjs').runThread()",
    '',
  ].join('\n')
  writeFileSync(path.join(dist, 'thread.cjs'), text)
}

/** Jest calls the default export of a module. */
function writeJestModules() {
  for (const each of ['setup', 'teardown']) {
    for (const ending of ['js', 'd.ts']) {
      const text = `export * from './jest.js'\nexport { ${each} as default } from './jest.js'\n`
      writeFileSync(path.join(dist, `runners/jest-${each}.${ending}`), text)
    }
  }
}

/** The module that programs import. */
function writeApi(names) {
  const text = `export const { ${names.join(', ')} } = bundle\n`
  writeFileSync(
    path.join(dist, 'devchain.js'),
    `import bundle from './bundle/devchain.cjs'\n\n${text}`,
  )
}

/** The published types of addresses and hashes are those of viem and ethers. */
function writeUnbranded() {
  const file = path.join(dist, 'core/hex.d.ts')
  const text = readFileSync(file, 'utf8')
  writeFileSync(file, text.replace(/T & \{\s*readonly __brand: Name;\s*\}/, 'T'))
}
