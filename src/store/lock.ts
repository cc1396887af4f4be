// The lock of a folder: a file that says which process has it, also to processes of other containers and machines.
import { readFileSync, readlinkSync, statSync, unlinkSync, utimes, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import path from 'node:path'
import { attempt, invalidParams } from '../core/errors.ts'

const LOCK = 'lock'

/** A lock's time is set this often, as other containers and machines cannot see if its process lives. */
const BEAT_MS = 2_000

/** After this long without a beat, the process of another place has ended. */
const SILENT_MS = 10_000

/**
 * @returns gives the folder up
 * @throws {DevchainError} `INVALID_PARAMS` if another process has it
 */
export function lockFolder(folder: string): () => void {
  const file = path.join(folder, LOCK)
  const holder = holderOf(file)
  if (holder !== undefined) {
    requireEnded(holder, folder, file)
    unlinkSync(file)
  }
  const own = `${process.pid}\n${startOf(process.pid) ?? ''}\n${placeOf()}\n`
  // fails if another process was faster
  writeFileSync(file, own, { flag: 'wx' })
  const beat = setInterval(() => {
    const now = new Date()
    utimes(file, now, now, () => undefined)
  }, BEAT_MS).unref()
  return () => {
    clearInterval(beat)
    if (attempt(() => readFileSync(file, 'utf8')) === own) unlinkSync(file)
  }
}

interface Holder {
  /** NaN stands for a lock that is being written. */
  readonly pid: number
  readonly start: string | undefined
  /** Undefined in a lock of an older version. */
  readonly place: string | undefined
}

/** Undefined if nobody has it. */
function holderOf(file: string): Holder | undefined {
  try {
    const [pid = '', start, place] = readFileSync(file, 'utf8').split('\n')
    return {
      pid: Number.parseInt(pid, 10),
      start: start || undefined,
      place: place || undefined,
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

function requireEnded(holder: Holder, folder: string, file: string): void {
  const { pid, place = placeOf() } = holder
  if (place === placeOf()) {
    if (!isAlive(holder)) return
    const message = `${folder} is in use by process ${pid}; if that is no devchain, delete ${file}`
    throw invalidParams(message)
  }
  const silence = Date.now() - (statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0)
  if (silence > SILENT_MS) return
  const seconds = Math.ceil((SILENT_MS - silence) / 1_000)
  const message = `${folder} is in use by process ${pid} of another container or machine; if that has ended, try again in ${seconds} s, or delete ${file}`
  throw invalidParams(message)
}

/** What process ids are of: a machine since its start, and its container. */
function placeOf(): string {
  const boot = attempt(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim())
  const container = attempt(() => readlinkSync('/proc/self/ns/pid'))
  return `${boot ?? hostname()} ${container ?? ''}`
}

function isAlive({ pid, start }: Holder): boolean {
  if (!Number.isSafeInteger(pid)) return false
  try {
    process.kill(pid, 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false
  }
  const now = startOf(pid)
  return now !== ENDED && (now === undefined || start === undefined || now === start)
}

const ENDED = 'ended'

/** When a process began: an earlier one with its id began at another time. Undefined if the system does not say. */
function startOf(pid: number): string | undefined {
  const stat = attempt(() => readFileSync(`/proc/${pid}/stat`, 'utf8'))
  // the name before the other fields may have spaces
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ')
  return fields?.[0] === 'Z' ? ENDED : fields?.[19]
}
