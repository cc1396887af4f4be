// Matches Foundry artifacts with build information, which they do not name. The compiler writes artifacts, build information,
// and its cache, which names both, in this order; files in another order are of different compilations, or incomplete.
import { existsSync, readdirSync, statSync } from 'node:fs'
import path from 'node:path'
import { attempt } from '../../core/errors.ts'
import { getOrMake, LruCache } from '../../core/lrucache.ts'
import type { Contract } from '../code/catalogue.ts'
import {
  type Build,
  type BuildFiles,
  jsonIn,
  type Maps,
  type SourceHashes,
} from '../reading/builds.ts'
import { entriesOf, member, text } from '../reading/formats.ts'
import { stampOf } from '../reading/stamps.ts'
import { nearest } from './files.ts'
import { sourcesIn } from './sourcemap.ts'

/** Candidates if no cache names the build information: the first written after the artifact. */
const MOST_CANDIDATES = 3

const MOST_CACHES = 4

const CACHE = path.join('cache', 'solidity-files-cache.json')

export class FoundryBuilds {
  readonly #caches = new LruCache<string, ReturnType<typeof readCache>>(MOST_CACHES)

  /** Files that may belong to the artifact's compilation. */
  of(file: string): readonly BuildFiles[] {
    const folder = nearest(file, 'build-info')
    if (folder === undefined) return []
    const writtenMs = statSync(file).mtimeMs
    const cache = this.#cacheOf(file, writtenMs)
    if (cache !== undefined) {
      const build = path.join(folder, `${cache.ids.get(file)}.json`)
      return existsSync(build) ? [[build, build]] : []
    }
    return readdirSync(folder)
      .filter((name) => name.endsWith('.json'))
      .map((name) => path.join(folder, name))
      .map((build) => ({ build, ms: statSync(build).mtimeMs }))
      .filter(({ ms }) => ms >= writtenMs)
      .sort((a, b) => a.ms - b.ms)
      .slice(0, MOST_CANDIDATES)
      .map(({ build }) => [build, build])
  }

  #cacheOf(file: string, writtenMs: number) {
    const place = nearest(file, CACHE)
    if (place === undefined || statSync(place).mtimeMs < writtenMs) return undefined
    return attempt(() => {
      const cache = getOrMake(this.#caches, `${place} ${stampOf(place)}`, () => readCache(place))
      return file.startsWith(cache.folder + path.sep) ? cache : undefined
    })
  }
}

function readCache(file: string) {
  const { paths, files } = jsonIn(file)
  const folder = path.resolve(path.dirname(file), '..', text(member(paths, 'artifacts')))
  const values = (each: unknown): unknown[] => entriesOf(each).map(([, value]) => value)
  const artifacts = values(files)
    // by contract, by compiler version, by profile
    .flatMap((source) => values(member(source, 'artifacts')))
    .flatMap(values)
    .flatMap(values)
  const ids = artifacts.map(
    (each) =>
      [path.join(folder, text(member(each, 'path'))), text(member(each, 'build_id'))] as const,
  )
  return { folder, ids: new Map(ids) }
}

/**
 * Source paths by source map index.
 * @param builds candidates for its compilation
 * @returns undefined if none fits, or several differ
 */
export function pathsFor(
  contract: Contract,
  maps: Maps,
  hashes: SourceHashes,
  builds: readonly Build[],
): Build['paths'] | undefined {
  const ids = [...new Set([...sourcesIn(maps.creationMap), ...sourcesIn(maps.runtimeMap)])]
  const [first, ...others] = builds.filter(({ paths }) => {
    const isOwn =
      contract.sourceId !== undefined && paths.get(contract.sourceId) === contract.source
    return isOwn && ids.every((id) => isMeant(id, paths, hashes))
  })
  const isOne = others.every(({ paths }) =>
    ids.every((id) => paths.get(id) === first?.paths.get(id)),
  )
  return isOne ? first?.paths : undefined
}

/** The index after all others is generated code. */
function isMeant(id: number, paths: Build['paths'], hashes: SourceHashes): boolean {
  const name = paths.get(id)
  return name === undefined ? id === paths.size : hashes?.has(name) !== false
}
