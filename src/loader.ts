// Loads the parts of the bundle: each with the bytecode that V8 made of it at an earlier start, late ones at first use.
import { readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { Script } from 'node:vm'

/** So begins, in the parts, what is loaded when it is first used: `late:node:crypto`, or a member: `late:later#x`. */
const LATE = 'late:'

/**
 * A part's bytecode is kept so long after it was loaded. Of what is loaded at the start, that is as soon as the start is
 * over: what runs later would make it twice as large, and a start 5 ms longer.
 */
const KEEP_START_AFTER_MS = 40
const KEEP_LATE_AFTER_MS = 1_500

/** Files of bytecode that are kept in all: those of other versions of node go first. */
const MAX_KEPT = 100

/** Files of bytecode end so. That of late parts is made with the flags that are set after the start, if any. */
const KEPT = '.cache'
const KEPT_LATE = '.late.cache'

/** The last byte of a file of bytecode. What a short run leaves has less in it, and is made again by a longer one. */
const WHOLE = 1
const EARLY = 0

type Exports = Readonly<Record<string, unknown>>

export type Require = (name: string) => unknown

type PartFunction = (
  exports: object,
  require: Require,
  module: { exports: object },
  filename: string,
  dirname: string,
) => void

/** How the text of a part, which is a function in brackets, becomes that function. */
export type Compile = (file: string, code: string) => PartFunction

/** When bytecode is kept. */
export interface CacheOptions {
  /** Milliseconds, for all parts. */
  readonly keepAfterMs?: number
  /** Called once the start is over and its bytecode is kept: flags of V8 may be set that bytecode depends on. */
  readonly onStarted?: () => void
  /** Tells of its end. */
  readonly program?: { readonly once: (event: 'exit', listener: () => void) => unknown }
}

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
   * @param require gives node's own modules, and libraries that are installed
   */
  constructor(
    folder: string,
    entries: Readonly<Record<string, string>>,
    compile: Compile,
    require: Require,
  ) {
    this.#folder = folder
    this.#entries = entries
    this.#compile = compile
    this.#require = require
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
    const run = this.#compile(file, readFileSync(file, 'latin1'))
    const module = { exports: {} }
    this.#loaded.set(name, module)
    run(module.exports, (target) => this.#resolve(target), module, file, this.#folder)
    return module.exports
  }

  #resolve(target: string): unknown {
    if (target.startsWith('./')) return this.#loadFile(target.slice(2))
    if (target.startsWith(LATE)) {
      const [name = '', member] = target.slice(LATE.length).split('#')
      return late(() => {
        const part = this.load(name)
        return member === undefined ? part : (part[member] as Exports)
      })
    }
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
export const compilePlainly: Compile = (file, code) =>
  new Function(`return ${code}\n//# sourceURL=${file}`)() as PartFunction

/**
 * Compiles with the bytecode of an earlier start: 3 ms instead of 15 for the parts of a start. It is kept beside the
 * part, whose name has a hash of its text, so that it cannot belong to another; V8 itself refuses bytecode of another
 * version or with other flags. Where it cannot be kept (a folder that is not ours to write), nothing is lost but time.
 */
export function compileWithCache(options: CacheOptions = {}): Compile {
  const { keepAfterMs, onStarted, program = process } = options
  let isStarting = true
  /** Parts of the start whose bytecode is still to be kept. */
  const unkept = new Set<string>()
  const tellIfStarted = (): void => {
    if (!isStarting && unkept.size === 0) onStarted?.()
  }
  setImmediate(() => {
    isStarting = false
    tellIfStarted()
  })
  const runtime = runtimeKey()
  /** Those that there is no bytecode of: a process that ends early leaves what it has. */
  const missing = new Map<string, Script>()
  program.once('exit', () => {
    for (const [file, script] of missing) keep(file, script, EARLY)
  })
  return (file, code) => {
    const kept = `${file}.${runtime}${isStarting ? KEPT : KEPT_LATE}`
    const found = readIfThere(kept)
    const script = new Script(code, {
      filename: file,
      ...(found === undefined ? {} : { cachedData: found.subarray(0, -1) }),
    })
    const isUsable = found !== undefined && !script.cachedDataRejected
    if (!isUsable) missing.set(kept, script)
    if (!isUsable || found.at(-1) === EARLY) {
      if (isStarting) unkept.add(kept)
      const keepWhole = (): void => {
        missing.delete(kept)
        keep(kept, script, WHOLE)
        if (unkept.delete(kept)) tellIfStarted()
      }
      const usually = isStarting ? KEEP_START_AFTER_MS : KEEP_LATE_AFTER_MS
      setTimeout(keepWhole, keepAfterMs ?? usually).unref()
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
function keep(file: string, script: Script, state: number): void {
  const beside = `${file}.${process.pid}`
  try {
    writeFileSync(beside, Buffer.concat([script.createCachedData(), Uint8Array.of(state)]))
    renameSync(beside, file)
    removeOldest(path.dirname(file))
  } catch {
    // the folder is not ours to write, or the disk is full: the next start takes longer, and that is all
    removeIfThere(beside)
  }
}

function removeIfThere(file: string): void {
  try {
    rmSync(file, { force: true })
  } catch {
    // its folder is gone as well
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
