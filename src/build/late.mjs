// What of the program is loaded late, and how the bundle does that: modules whose members are loaded at first use, and
// methods that are known by their names until they are called.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { rolldown } from 'rolldown'

const src = path.resolve(import.meta.dirname, '..')

const METHODS = path.join(src, 'methods/index.ts')

/** Modules of methods that are there from the start: what clients ask first. */
const EARLY_METHODS = ['web3.ts', 'net.ts', 'eth/chain.ts', 'eth/state.ts']

/** Modules that a start and the first calls do without, and that nothing early uses before its functions run. */
const LATE_MODULES = [
  'core/typeddata.ts',
  'node/bulk/emptyblocks.ts',
  'node/calls/gassearch.ts',
  'node/import/importblocks.ts',
  'node/accounts/keystore.ts',
  'node/calls/overrides.ts',
  'node/mining/reorganize.ts',
  'node/calls/call.ts',
  'node/import/validate.ts',
  'protocol/parentchain.ts',
  'protocol/validation.ts',
  'server/httplane.ts',
].map((each) => path.join(src, each))

/** The part that they are all in. */
export const LATER = 'later'

/**
 * Finds out what has to be known before the bundle is made: the modules that are there from the start, the entry point
 * of the part with all others, and the plugins that part them.
 * @param options.inputs where a run of the program begins
 * @param options.external tells what stays outside
 * @param options.plugins that the program is bundled with besides
 */
export async function prepareLate({ inputs, external, plugins }) {
  const imports = methodImports()
  const names = await methodNames(imports, external)
  const late = new Set([
    ...LATE_MODULES,
    ...imports.filter(({ isEarly }) => !isEarly).map(({ file }) => file),
  ])
  const early = await modulesOf(inputs, external, [
    lateModules(late, () => true),
    lateMethods(imports, names),
    ...plugins,
  ])
  return {
    early,
    later: `virtual:${LATER}`,
    plugins: [
      laterPart(late),
      lateModules(late, (importer) => early.has(importer)),
      lateMethods(imports, names),
    ],
  }
}

/** What methods/index.ts imports: the name of each list of methods, and the file that it comes from. */
function methodImports() {
  const text = readFileSync(METHODS, 'utf8')
  return [...text.matchAll(/^import \{ (\w+) \} from '\.\/([^']+)'$/gm)].map(([, name, file]) => ({
    name,
    file: path.join(path.dirname(METHODS), file),
    isEarly: EARLY_METHODS.includes(file),
  }))
}

/** The names of the methods of each list, each with its aliases, as the program itself tells them: `a=alias b c`. */
async function methodNames(imports, external) {
  const lines = imports.map(({ name, file }) => `export { ${name} } from ${JSON.stringify(file)}`)
  const input = 'virtual:names'
  const build = await rolldown({
    cwd: src,
    input,
    platform: 'node',
    external,
    plugins: [virtual(input, lines.join('\n'))],
  })
  // beside the sources, where imports of installed packages are found
  const folder = mkdtempSync(path.join(src, '../dist/names-'))
  try {
    const { output } = await build.write({ dir: folder, format: 'esm' })
    const lists = await import(pathToFileURL(path.join(folder, output[0].fileName)).href)
    const namesOf = (list) =>
      list.map(({ name, aliases }) => [name, ...aliases].join('=')).join(' ')
    return new Map(Object.entries(lists).map(([name, list]) => [name, namesOf(list)]))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The modules that are there from the start. */
async function modulesOf(inputs, external, plugins) {
  const build = await rolldown({
    cwd: src,
    input: inputs,
    platform: 'node',
    external,
    plugins: [...plugins, noDynamicImports],
  })
  const { output } = await build.generate({ format: 'cjs', dir: 'unwritten' })
  return new Set(output.flatMap((chunk) => Object.keys(chunk.modules ?? {})))
}

const noDynamicImports = {
  name: 'no-dynamic-imports',
  resolveDynamicImport: (source) => ({ id: `dynamic:${source}`, external: true }),
}

/** The part with all modules that are loaded late, each as one member. */
function laterPart(late) {
  const lines = [...late].map(
    (file) => `export * as ${memberOf(file)} from ${JSON.stringify(file)}`,
  )
  return virtual(`virtual:${LATER}`, lines.join('\n'))
}

/** Has the importers that `isEarly` says get late modules from that part. */
function lateModules(late, isEarly) {
  return {
    name: 'late-modules',
    resolveId: (source, importer) => {
      if (importer === undefined || !source.startsWith('.') || !isEarly(importer)) return null
      const file = path.resolve(path.dirname(importer), source)
      return late.has(file) ? { id: `late:${LATER}#${memberOf(file)}`, external: true } : null
    },
  }
}

function memberOf(file) {
  return path.relative(src, file).replace(/\.ts$/, '').replace(/\W/g, '_')
}

/** Puts stand-ins with names in the place of the methods that are loaded late. */
function lateMethods(imports, names) {
  const lists = imports.map(({ name, isEarly }) => {
    if (isEarly) return `...${name}`
    return `...lateMethods(${JSON.stringify(names.get(name))}, () => ${name})`
  })
  const text = [
    `import { lateMethods } from '../rpc/latemethod.ts'`,
    ...imports.map(
      ({ name, file }) =>
        `import { ${name} } from './${path.relative(path.dirname(METHODS), file)}'`,
    ),
    `export const methods = [${lists.join(', ')}]`,
  ]
  return { name: 'late-methods', load: (id) => (id === METHODS ? text.join('\n') : null) }
}

function virtual(id, text) {
  return {
    name: `virtual ${id}`,
    resolveId: (source) => (source === id ? id : null),
    load: (each) => (each === id ? text : null),
  }
}
