// Accelerator: loads the parts of the built program faster than node's `require`, its plain twin.
// It saves about two fifths of the start (row bootMs): it gives V8 the bytecode cached by an earlier start (bytecode.ts), and loads
// node's modules on first use. After the start it makes V8 optimize sooner (tuning.ts): rows callPerS, estimatePerS and valuePerS. Its
// door is one line in bin/devchain.js. Without both, `require` loads the same files; test/loader/bundle.test.ts compares the two.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { type BytecodeOptions, compileWithBytecode } from './bytecode.ts'
import { cacheFolder } from './cachefolder.ts'
import { tuneThread, tuneV8 } from './tuning.ts'

export type Require = (name: string) => unknown

type PartFunction = (
  exports: object,
  require: Require,
  module: { exports: object },
  filename: string,
  dirname: string,
) => void

/** Node modules that take a millisecond or more to load, with and without `node:`. */
const LATE_BUILTINS: ReadonlySet<string> = new Set(
  [
    ...['crypto', 'fs/promises', 'http', 'https', 'module', 'timers/promises', 'tls', 'url'],
    ...['util', 'v8', 'worker_threads', 'zlib'],
  ].flatMap((name) => [name, `node:${name}`]),
)

/** Of the program of a thread. */
export const IN_THREAD: BytecodeOptions = { folder: cacheFolder(), onStarted: tuneThread }

/**
 * Returns a function that loads each part in a folder once, by its file name.
 * @param require loads everything else: node's modules and installed libraries
 */
export function openLoader(
  folder: string,
  require: Require,
  options: BytecodeOptions = { folder: cacheFolder(), onStarted: tuneV8 },
): Require {
  const compile = compileWithBytecode(options)
  const loaded = new Map<string, { exports: object }>()
  const load = (name: string): object => {
    const known = loaded.get(name)
    if (known !== undefined) return known.exports
    const file = path.join(folder, name)
    // the part's text wrapped in a function; parts are ASCII
    const text = `(function (exports, require, module, __filename, __dirname) {${readFileSync(file, 'latin1')}\n})`
    const run = compile(file, text) as PartFunction
    const module = { exports: {} }
    loaded.set(name, module)
    run(module.exports, resolve, module, file, folder)
    return module.exports
  }
  const resolve = (target: string): unknown => {
    if (target.startsWith('./')) return load(target.slice(2))
    return LATE_BUILTINS.has(target) ? late(() => require(target) as object) : require(target)
  }
  return load
}

/** A proxy that loads the module on first use. */
function late(load: () => object): object {
  let module: object | undefined
  const loaded = (): object => {
    module ??= load()
    return module
  }
  return new Proxy(
    {},
    {
      get: (_target, name) => Reflect.get(loaded(), name),
      has: (_target, name) => Reflect.has(loaded(), name),
      ownKeys: () => Reflect.ownKeys(loaded()),
      getOwnPropertyDescriptor: (_target, name) => {
        const descriptor = Reflect.getOwnPropertyDescriptor(loaded(), name)
        return descriptor && { ...descriptor, configurable: true }
      },
    },
  )
}
