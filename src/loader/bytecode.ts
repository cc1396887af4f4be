// Compiles parts with the bytecode that an earlier start left, and leaves it for later ones.
import { readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { Script } from 'node:vm'
import { makeFolder } from './cachefolder.ts'
import { readSealed, seal } from './sealed.ts'

/**
 * A part's bytecode is kept so long after it was loaded. Of what is loaded at the start, that is as soon as the start is
 * over: what runs later would make it twice as large, and a start longer.
 */
const KEEP_START_AFTER_MS = 40
const KEEP_LATE_AFTER_MS = 1_500

/** Files of bytecode that are kept in all: the oldest go first. A version has about 150 of them, none over a megabyte. */
const MAX_KEPT = 400

/** Files of bytecode end so. That of late parts is made with the flags that are set after the start, if any. */
const KEPT = '.cache'
const KEPT_LATE = '.late.cache'

/** The mark of a file of bytecode. What a short run leaves has less in it, and is made again by a longer one. */
const WHOLE = 1
const EARLY = 0

/** Names of parts that tell their content: V8 itself compares no more than lengths. */
const HAS_HASH = /-[\w-]{8}\.cjs$/

export interface BytecodeOptions {
  readonly folder: string | undefined
  /** Milliseconds, for all parts. */
  readonly keepAfterMs?: number
  /** Called once the start is over and its bytecode is kept: flags of V8 may be set that bytecode depends on. */
  readonly onStarted?: () => void
  readonly program?: { readonly once: (event: 'exit', listener: () => void) => unknown }
}

export type Compile = (file: string, text: string) => unknown

/**
 * Compiles with the bytecode of an earlier start. It belongs to the hash of a part's text in its name and to a version of
 * node; V8 itself refuses bytecode of another version or with other flags, and crashes over what is damaged: that is not
 * the same twice (sealed.ts), and is made anew. Where it cannot be kept, nothing is lost but time.
 */
export function compileWithBytecode(options: BytecodeOptions): Compile {
  const { folder, keepAfterMs, onStarted, program = process } = options
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
  return (filename, text) => {
    if (folder === undefined || !HAS_HASH.test(filename)) {
      return new Script(text, { filename }).runInThisContext()
    }
    const name = `${path.basename(filename)}.${runtime}${isStarting ? KEPT : KEPT_LATE}`
    const kept = path.join(folder, name)
    const found = readSealed(kept)
    const script = new Script(text, { filename, cachedData: found?.bytes })
    const isUsable = found !== undefined && !script.cachedDataRejected
    if (!isUsable) missing.set(kept, script)
    if (!isUsable || found.mark === EARLY) {
      if (isStarting) unkept.add(kept)
      const keepWhole = (): void => {
        missing.delete(kept)
        keep(kept, script, WHOLE)
        if (unkept.delete(kept)) tellIfStarted()
      }
      const usually = isStarting ? KEEP_START_AFTER_MS : KEEP_LATE_AFTER_MS
      setTimeout(keepWhole, keepAfterMs ?? usually).unref()
    }
    return script.runInThisContext()
  }
}

/** Differs between runtimes that make different bytecode. (`v8.cachedDataVersionTag` would load another module.) */
function runtimeKey(): string {
  const { version, arch, execArgv, env } = process
  const flags = [...execArgv, env.NODE_OPTIONS ?? ''].join(' ').trim()
  let hash = 0
  for (let i = 0; i < flags.length; i++) hash = (hash * 31 + flags.charCodeAt(i)) | 0
  return `${version}-${arch}-${(hash >>> 0).toString(36)}`
}

/**
 * Writes bytecode beside its place, where no other process writes, and moves it there: whoever reads at the same time sees
 * all of it or none.
 */
function keep(file: string, script: Script, mark: number): void {
  const folder = path.dirname(file)
  const beside = `${file}.${process.pid}-${Math.random().toString(36).slice(2)}`
  try {
    makeFolder(folder, 0o700)
    const sealed = seal(file, { bytes: script.createCachedData(), mark })
    writeFileSync(beside, sealed, { flag: 'wx', mode: 0o600 })
    renameSync(beside, file)
    removeOldest(folder)
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

/** What a process that was killed left beside counts as well. */
function removeOldest(folder: string): void {
  const files = readdirSync(folder)
    .filter((name) => name.includes(KEPT))
    .map((name) => path.join(folder, name))
  if (files.length <= MAX_KEPT) return
  const aged = files.map((file) => ({ file, madeMs: statSync(file).mtimeMs }))
  aged.sort((a, b) => b.madeMs - a.madeMs)
  for (const { file } of aged.slice(MAX_KEPT)) rmSync(file, { force: true })
}
