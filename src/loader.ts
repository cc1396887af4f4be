// Loads the parts of the bundle: each with the bytecode that V8 made of it at an earlier start, late ones at first use.
import { readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { Script } from 'node:vm'

/** Before these words stands, in the parts, what is loaded when it is first used: `late:node:crypto`. */
const LATE = 'late:'

/** A part's bytecode is kept so long after it was loaded: the start and the first calls are over by then. */
const KEEP_AFTER_MS = 1_500

/** Files of bytecode that are kept in all: those of other versions of node go first. */
const MAX_KEPT = 40

const KEPT = '.cache'

type Exports = Readonly<Record<string, unknown>>

type Require = (name: string) => unknown

type PartFunction = (
  exports: object,
  require: Require,
  module: { exports: object },
  filename: string,
  dirname: string,
) => void

/** How the text of a part becomes a function. */
export type Compile = (file: string, parameters: readonly string[], code: string) => PartFunction

const PARAMETERS = ['exports', 'require', 'module', '__filename', '__dirname'] as const

/** Loads parts, each once. */
export class Loader {
  readonly #folder: string
  readonly #entries: Readonly<Record<string, string>>
  readonly #compile: Compile
  readonly #require: Require
  readonly #loaded = new Map<string, { exports: object }>()

  /**
   * @param folder where the parts are
   * @param entries the files of the parts that have names: entry points, and libraries that are loaded late
   */
  constructor(folder: string, entries: Readonly<Record<string, string>>, compile: Compile) {
    this.#folder = folder
    this.#entries = entries
    this.#compile = compile
    this.#require = createRequire(path.join(folder, 'require.cjs'))
  }

  /** The exports of the part of this name. */
  load(name: string): Exports {
    const file = this.#entries[name]
    return file === undefined ? (this.#require(name) as Exports) : this.#loadFile(file)
  }

  #loadFile(name: string): Exports {
    const known = this.#loaded.get(name)
    if (known !== undefined) return known.exports as Exports
    const file = path.join(this.#folder, name)
    // parts are ASCII: as Latin-1 they are read without looking at each byte, and take one byte a character
    const run = this.#compile(file, PARAMETERS, readFileSync(file, 'latin1'))
    const module = { exports: {} }
    this.#loaded.set(name, module)
    run(module.exports, (target) => this.#resolve(target), module, file, this.#folder)
    return module.exports
  }

  #resolve(target: string): unknown {
    if (target.startsWith('./')) return this.#loadFile(target.slice(2))
    if (target.startsWith(LATE)) return late(() => this.load(target.slice(LATE.length)))
    return this.#require(target)
  }
}

/** Stands for a module until something of it is used. */
function late(load: () => Exports): object {
  let module: Exports | undefined
  return new Proxy(
    {},
    {
      get: (_target, name) => {
        module ??= load()
        return Reflect.get(module, name)
      },
    },
  )
}

/** Compiles in whatever world this file runs in: test runners make worlds of their own, whose errors are theirs. */
export const compilePlainly: Compile = (file, parameters, code) =>
  new Function(...parameters, `${code}\n//# sourceURL=${file}`) as PartFunction

/**
 * Compiles with the bytecode of an earlier start: 3 ms instead of 15 for the parts of a start. It is kept beside the
 * part, whose name has a hash of its text, so that it cannot belong to another; V8 itself refuses bytecode of another
 * version or with other flags. Where it cannot be kept (a folder that is not ours to write), nothing is lost but time.
 */
export function compileWithCache(keepAfterMs: number = KEEP_AFTER_MS): Compile {
  const suffix = `.${runtimeKey()}${KEPT}`
  return (file, parameters, code) => {
    const kept = `${file}${suffix}`
    const cachedData = readIfThere(kept)
    const script = new Script(`(function(${parameters.join()}){${code}\n})`, {
      filename: file,
      ...(cachedData === undefined ? {} : { cachedData }),
    })
    if (cachedData === undefined || script.cachedDataRejected) {
      setTimeout(() => keep(kept, script), keepAfterMs).unref()
    }
    return script.runInThisContext() as PartFunction
  }
}

/** Differs between runtimes that make different bytecode. (`v8.cachedDataVersionTag` would take 1 ms to load.) */
function runtimeKey(): string {
  const { version, arch, execArgv, env } = process
  const flags = [...execArgv, env.NODE_OPTIONS ?? ''].join(' ').trim()
  let hash = 0
  for (let i = 0; i < flags.length; i++) hash = (hash * 31 + flags.charCodeAt(i)) | 0
  return `${version}-${arch}-${(hash >>> 0).toString(36)}`
}

function readIfThere(file: string): Buffer | undefined {
  try {
    return readFileSync(file)
  } catch {
    // not made yet, or not readable: then it is compiled
    return undefined
  }
}

/** Writes the bytecode beside its place and moves it there: whoever reads at the same time sees all of it or none. */
function keep(file: string, script: Script): void {
  const beside = `${file}.${process.pid}`
  try {
    writeFileSync(beside, script.createCachedData())
    renameSync(beside, file)
    removeOldest(path.dirname(file))
  } catch {
    // the folder is not ours to write, or the disk is full: the next start takes longer, and that is all
    rmSync(beside, { force: true })
  }
}

function removeOldest(folder: string): void {
  const files = readdirSync(folder)
    .filter((name) => name.endsWith(KEPT))
    .map((name) => path.join(folder, name))
  if (files.length <= MAX_KEPT) return
  const aged = files.map((file) => ({ file, madeMs: statSync(file).mtimeMs }))
  aged.sort((a, b) => b.madeMs - a.madeMs)
  for (const { file } of aged.slice(MAX_KEPT)) rmSync(file, { force: true })
}
