// What the node says of itself: versions that methods of several prefixes answer.
import type { MethodContext } from './context.ts'

/** The wire protocol that blocks of this form would be exchanged by: eth/68. */
export const PROTOCOL_VERSION = '0x44'

/** The program as peers know it. */
export function programVersion({ name, version }: MethodContext['info']): string {
  return `${name}/${version}`
}

/** Clients that look for a node's name look at the beginning. */
export function clientVersionOf({ info, profile }: MethodContext): string {
  const system = `${process.platform}-${process.arch}/node${process.versions.node}`
  const own = `${info.name}/v${info.version}/${system}`
  return profile.clientVersion(info, own)
}
