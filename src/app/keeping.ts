// The default chain on disk (--state). Loads src/store only when needed.
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { DevchainError, readFailure } from '../core/errors.ts'
import type { ChainState } from '../node/ledger/chainstate.ts'
import { type DevchainSettings, flagOf, type OptionKey, optionOf } from '../options/derived.ts'
import { groupOf } from '../options/table.ts'
import type { ChainFolder, KeptOrigin } from '../store/folder.ts'

/** Groups of options that are a chain's own, but for those that only say how a new one begins. */
const GROUPS: readonly string[] = ['Chain', 'Accounts', 'Transactions', 'Mining and time']
const BEGINNING: readonly OptionKey[] = ['genesis', 'compat', 'import', 'predeploy', 'timestamp']

/**
 * @throws {DevchainError} `INVALID_PARAMS` for a folder that cannot be used, or whose chain began with other options; it stays
 *   as it is
 */
export async function openKept(
  settings: DevchainSettings,
  onNotice: (text: string) => void,
): Promise<ChainFolder | undefined> {
  const { state, durability } = settings
  if (state === undefined) return undefined
  const { openFolder } = await import('../store/folder.ts')
  const folder = openFolder(state, { durability, onNotice })
  try {
    const began = { genesis: await digestOf(settings.genesis), compat: settings.compat }
    const { store, origin } = folder
    if (store.state === undefined) folder.begin(began)
    else requireSame(settings, store.state, { began, origin: origin ?? {} })
    return folder
  } catch (error) {
    await folder.close()
    throw error
  }
}

interface Origins {
  readonly began: KeptOrigin
  readonly origin: KeptOrigin
}

/** Options at their defaults go with any chain: nobody may have given them. */
function requireSame(
  settings: DevchainSettings,
  { config: { source } }: ChainState,
  { began, origin }: Origins,
): void {
  if (began.genesis !== undefined && began.genesis !== origin.genesis) {
    throw other(settings, 'genesis', 'began with another genesis')
  }
  if (began.compat !== origin.compat) {
    throw other(settings, 'compat', `began with ${origin.compat ?? 'none'}`)
  }
  for (const key of Object.keys(settings) as (OptionKey & keyof typeof settings)[]) {
    if (!GROUPS.includes(groupOf(key)) || BEGINNING.includes(key)) continue
    const { type, default: value } = optionOf(key)
    const [given, kept] = [settings[key], (source as Partial<DevchainSettings>)[key]]
    const isLeftOut = given === undefined || isDeepStrictEqual(given, value)
    if (isLeftOut || isDeepStrictEqual(given, kept)) continue
    throw other(settings, key, kept === undefined ? 'began without it' : `has ${type.print(kept)}`)
  }
}

function other({ state }: DevchainSettings, key: OptionKey, why: string): DevchainError {
  const message = `${flagOf(key)}: the chain in ${state} ${why}; leave the option as it was, or use another folder`
  return new DevchainError('INVALID_PARAMS', message)
}

/** SHA-256 in hex. */
async function digestOf(genesis: string | object | undefined): Promise<string | undefined> {
  if (genesis === undefined) return undefined
  const hash = createHash('sha256')
  if (typeof genesis !== 'string') return hash.update(JSON.stringify(genesis)).digest('hex')
  try {
    for await (const part of createReadStream(genesis)) hash.update(part as Uint8Array)
  } catch (error) {
    const message = `cannot read the genesis file ${genesis}: ${readFailure(error)}`
    throw new DevchainError('INVALID_PARAMS', message)
  }
  return hash.digest('hex')
}
