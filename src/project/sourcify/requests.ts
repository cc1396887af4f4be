// Parses Sourcify requests into one form: standard JSON, metadata with sources, files.
import { attempt, invalid, invalidParams, printValue } from '../../core/errors.ts'
import { jsonIn, objectAt } from '../../core/objects.ts'
import type { SiteRequest } from '../../rpc/site.ts'
import { metadataIn } from '../reading/builds.ts'
import { entriesOf, isObject, type JsonObject, member, text } from '../reading/formats.ts'
import { targetOf } from './compiled.ts'
import type { Submission } from './submission.ts'

export type Posted = Pick<SiteRequest, 'contentType' | 'body'>

/** Verifies against the project's own compilations. */
export const EMPTY_SUBMISSION: Submission = {
  sources: new Map(),
  target: undefined,
  compilerVersion: undefined,
  settings: undefined,
  metadata: undefined,
}

/** @throws {DevchainError} unless it is a JSON object */
function readJson({ contentType, body }: Posted): JsonObject {
  if (!/json/i.test(contentType)) {
    throw invalidParams(`expected a body of application/json, got ${contentType || 'no type'}`)
  }
  const value = jsonIn(Buffer.from(body).toString('utf8'))
  if (value === undefined) throw invalidParams('expected a body of valid JSON')
  if (!isObject(value)) throw invalidParams(`expected a JSON object, got ${printValue(value)}`)
  return value
}

/** `POST /v2/verify/{chain}/{address}`. @throws {DevchainError} naming what is missing */
export function readStandardJson(posted: Posted): Submission {
  const { stdJsonInput, compilerVersion, contractIdentifier } = readJson(posted)
  const identifier = textMember('contractIdentifier', contractIdentifier)
  const at = identifier.lastIndexOf(':')
  if (at < 0) {
    throw invalid('contractIdentifier', 'a path and a name such as src/Vault.sol:Vault', identifier)
  }
  const sources = entriesOf(objectAt('stdJsonInput', stdJsonInput).sources)
  if (sources.length === 0) throw invalidParams('stdJsonInput.sources: expected sources')
  return {
    sources: new Map(sources.map(([name, each]) => [name, contentOf(name, each)])),
    target: [identifier.slice(0, at), identifier.slice(at + 1)],
    compilerVersion: textMember('compilerVersion', compilerVersion),
    settings: member(stdJsonInput, 'settings') ?? {},
    metadata: undefined,
  }
}

/** `POST /v2/verify/metadata/{chain}/{address}`. @throws {DevchainError} naming what is missing */
export function readMetadata(posted: Posted): Submission {
  const { metadata, sources } = readJson(posted)
  return withMetadata(textsOf('sources', sources), metadata)
}

/**
 * `POST /verify` of version 1: files by name, among them `metadata.json`; if it has several contracts,
 * `chosenContract` selects one.
 * @throws {DevchainError} naming what is missing
 */
export function readFiles({ files, chosenContract = 0 }: JsonObject): Submission {
  const texts = textsOf('files', files)
  const metadata = [...texts].filter(
    ([name, content]) => /\.json$/.test(name) && attempt(() => metadataIn(content)) !== undefined,
  )
  if (metadata.length === 0) throw invalidParams('files: expected metadata.json among them')
  const chosen = metadata[Number(chosenContract)]
  if (chosen === undefined) {
    throw invalid('chosenContract', `0 to ${metadata.length - 1}`, chosenContract)
  }
  for (const [name] of metadata) texts.delete(name)
  return withMetadata(texts, chosen[1])
}

/** The fields of a form or JSON object; `files` by name. @throws {DevchainError} for anything else */
export async function readFormOrJson(posted: Posted): Promise<JsonObject> {
  const { contentType, body } = posted
  if (!/^multipart\/form-data/i.test(contentType)) return readJson(posted)
  let form: FormData
  try {
    const headers = { 'content-type': contentType }
    form = await new Response(Uint8Array.from(body), { headers }).formData()
  } catch {
    throw invalidParams('expected a multipart/form-data body with the boundary of its content type')
  }
  const members: Record<string, unknown> = {}
  const files: Record<string, string> = {}
  for (const [name, value] of form) {
    if (name !== 'files' && typeof value === 'string') members[name] = value
    // text fields have no file name; several files may share one
    else if (typeof value === 'string') files[`${Object.keys(files).length}.json`] = value
    else files[unusedName(files, value.name)] = await value.text()
  }
  return { ...members, files }
}

function unusedName(files: JsonObject, name: string): string {
  return Object.hasOwn(files, name) ? unusedName(files, `_/${name}`) : name
}

function withMetadata(sources: ReadonlyMap<string, string>, metadata: unknown): Submission {
  const value = attempt(() => metadataIn(metadata))
  if (value === undefined) throw invalid('metadata', 'that of the compiler', metadata)
  const settings = isObject(value.settings) ? value.settings : {}
  return {
    sources,
    target: targetOf(value),
    compilerVersion: text(member(value.compiler, 'version')),
    settings,
    metadata: { text: typeof metadata === 'string' ? metadata : JSON.stringify(value), value },
  }
}

function contentOf(name: string, source: unknown): string {
  const content = member(source, 'content')
  if (typeof content === 'string') return content
  throw invalidParams(`stdJsonInput.sources: expected the content of ${name}: none is fetched`)
}

function textsOf(name: string, files: unknown): Map<string, string> {
  const texts = entriesOf(objectAt(name, files)).map(([each, content]) => {
    if (typeof content === 'string') return [each, content] as const
    throw invalid(name, `text for ${each}`, content)
  })
  return new Map(texts)
}

function textMember(name: string, value: unknown): string {
  if (typeof value === 'string' && value !== '') return value
  throw invalid(name, 'text', value)
}
