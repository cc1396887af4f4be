// Compiles parts with cached bytecode of an earlier start, and caches it for later starts.
import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readdirSync,
  readSync,
  rmSync,
  statSync,
} from 'node:fs'
import path from 'node:path'
import { Script } from 'node:vm'
import { makeFolder, replaceFile } from './cachefolder.ts'

/**
 * Delay before a part's bytecode is cached. For parts of the start it is short: functions compiled later
 * would double the bytecode's size and make the start longer.
 */
const KEEP_START_AFTER_MS = 40
const KEEP_LATE_AFTER_MS = 1_500

/** Cached files in all. A version has about 150, each under a megabyte. */
const MAX_KEPT = 400

/** Files left where there are more, the newest: removing one for each that comes would look at all of them each time. */
const LEFT = 300

/** File suffixes. V8 refuses bytecode of other flags, and some are set while late parts load. */
const KEPT = '.cache'
const KEPT_LATE = '.late.cache'

/** Marks in the cached file. A short run caches less bytecode; a longer one replaces it. */
const WHOLE = 1
const EARLY = 0

/** Part names contain a hash of the content: V8 itself compares only lengths. */
const HAS_HASH = /-[\w-]{8}\.cjs$/

export interface BytecodeOptions {
  readonly folder: string | undefined
  /** Milliseconds, for all parts. */
  readonly keepAfterMs?: number
  /**
   * Called once the start is over and its bytecode is cached; it may set V8 flags that bytecode depends on.
   * @param keepMissing caches what has been loaded since, under the flags that are set
   */
  readonly onStarted?: (keepMissing: () => void) => void
  readonly program?: { readonly once: (event: 'exit', listener: () => void) => unknown }
}

export type ScriptCompiler = (file: string, text: string) => unknown

/**
 * Compiles with bytecode cached by an earlier start. The cache key is the hash in the part's name and node's version. V8 refuses
 * bytecode of another version or other flags, but crashes on damaged bytecode; sealed.ts detects that. If caching fails, only
 * time is lost.
 */
export function compileWithBytecode(options: BytecodeOptions): ScriptCompiler {
  const { folder, keepAfterMs, onStarted, program = process } = options
  let isStarting = true
  /** Start parts whose bytecode is not cached yet. */
  const unkept = new Set<string>()
  /** Parts without cached bytecode: a process that ends early caches what it has. */
  const missing = new Map<string, () => void>()
  const keepMissing = (): void => {
    for (const keepEarly of missing.values()) keepEarly()
  }
  const notifyIfStarted = (): void => {
    if (!isStarting && unkept.size === 0) onStarted?.(keepMissing)
  }
  setImmediate(() => {
    isStarting = false
    notifyIfStarted()
  })
  const runtime = runtimeKey()
  program.once('exit', keepMissing)
  return (filename, text) => {
    if (folder === undefined || !HAS_HASH.test(filename)) {
      return new Script(text, { filename }).runInThisContext()
    }
    const flags = isStarting ? undefined : flagsKey()
    const suffix = flags === undefined ? KEPT : `-${flags}${KEPT_LATE}`
    const kept = path.join(folder, `${path.basename(filename)}.${runtime}${suffix}`)
    const found = readSealed(kept)
    const script = new Script(text, { filename, cachedData: found?.bytes })
    const isUsable = found !== undefined && !script.cachedDataRejected
    const keepAs = (mark: number): void => {
      // bytecode has the flags of when it is written: with others than at the load, the next load would refuse it
      if (flags === undefined || flags === flagsKey()) keep(kept, script, mark)
    }
    if (!isUsable) missing.set(kept, () => keepAs(EARLY))
    if (!isUsable || found.mark === EARLY) {
      if (isStarting) unkept.add(kept)
      const keepWhole = (): void => {
        missing.delete(kept)
        keepAs(WHOLE)
        if (unkept.delete(kept)) notifyIfStarted()
      }
      const usually = isStarting ? KEEP_START_AFTER_MS : KEEP_LATE_AFTER_MS
      setTimeout(keepWhole, keepAfterMs ?? usually).unref()
    }
    return script.runInThisContext()
  }
}

/** Differs between the flags that are set now. At the start it would load another module. */
function flagsKey(): string {
  return process.getBuiltinModule('node:v8').cachedDataVersionTag().toString(36)
}

/** Differs between runtimes that make different bytecode. */
function runtimeKey(): string {
  const { version, arch, execArgv, env } = process
  const flags = [...execArgv, env.NODE_OPTIONS ?? ''].join(' ').trim()
  let hash = 0
  for (let i = 0; i < flags.length; i++) hash = (hash * 31 + flags.charCodeAt(i)) | 0
  return `${version}-${arch}-${(hash >>> 0).toString(36)}`
}

function keep(file: string, script: Script, mark: number): void {
  const folder = path.dirname(file)
  try {
    makeFolder(folder, 0o700)
    // a pipe would wait for a reader
    if (statSync(file, { throwIfNoEntry: false })?.isFile() === false) return
    replaceFile(file, seal(file, { bytes: script.createCachedData(), mark }))
    removeOldest(folder)
  } catch {
    // the folder is not writable or the disk is full: only the next start takes longer
  }
}

/** Includes temporary files of killed processes. */
function removeOldest(folder: string): void {
  const files = readdirSync(folder)
    .filter((name) => name.includes(KEPT))
    .map((name) => path.join(folder, name))
  if (files.length <= MAX_KEPT) return
  const aged = files.map((file) => ({ file, madeMs: statSync(file).mtimeMs }))
  aged.sort((a, b) => b.madeMs - a.madeMs)
  for (const { file } of aged.slice(LEFT)) rmSync(file, { force: true })
}

/** Bytes. */
const MAX_SIZE = 64_000_000

export interface Content {
  readonly bytes: Buffer
  readonly mark: number
}

/** Undefined if the file is missing or not as it was written. */
export function readSealed(file: string): Content | undefined {
  let opened: number | undefined
  try {
    // without O_NONBLOCK, opening a pipe of this name would wait
    opened = openSync(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
    const stats = fstatSync(opened)
    if (!stats.isFile() || stats.size > MAX_SIZE) return undefined
    const both = Buffer.allocUnsafeSlow(stats.size)
    const read = readSync(opened, both, 0, stats.size, 0)
    return read === stats.size ? contentOf(both, file) : undefined
  } catch {
    return undefined
  } finally {
    if (opened !== undefined) closeSync(opened)
  }
}

function contentOf(both: Buffer, file: string): Content | undefined {
  const half = Math.floor(both.length / 2)
  const name = Buffer.from(path.basename(file))
  const end = half - name.length - 1
  if (end < 0 || !both.subarray(0, half).equals(both.subarray(half))) return undefined
  if (!both.subarray(end, half - 1).equals(name)) return undefined
  return { bytes: both.subarray(0, end), mark: both[half - 1]! }
}

/** The bytes of the file: content, name and mark, twice. */
export function seal(file: string, { bytes, mark }: Content): Buffer {
  const one = [bytes, Buffer.from(path.basename(file)), Buffer.of(mark)]
  return Buffer.concat([...one, ...one])
}
