// Client versions, returned by methods of several prefixes.
import type { MethodContext } from './context.ts'

/** The wire protocol version for blocks of this form: eth/68. */
export const PROTOCOL_VERSION = '0x44'

/** The client name for peers. */
export function programVersion({ name, version }: MethodContext['info']): string {
  return `${name}/${version}`
}

/** Clients search for a node's name at the beginning. */
export function clientVersionOf({ info, profile }: MethodContext): string {
  const system = `${process.platform}-${process.arch}/node${process.versions.node}`
  const own = `${info.name}/v${info.version}/${system}`
  return profile.clientVersion(info, own)
}
