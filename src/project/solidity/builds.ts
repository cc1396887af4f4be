// A cache of build information, read beside the chain where the caller can wait.
import { statSync } from 'node:fs'
import { LruCache } from '../../core/lrucache.ts'
import { type Build, type BuildFiles, readBuild } from '../reading/builds.ts'
import { readBuildBeside } from '../reading/readers.ts'

const KEPT = 4

export class Builds {
  readonly #known = new LruCache<string, Build>(KEPT)
  readonly #loading = new Map<string, Promise<Build>>()

  /** Synchronous: reads in this thread if not cached. */
  of(files: BuildFiles): Build {
    const key = keyOf(files)
    return this.#known.get(key) ?? this.#keep(key, readBuild(files))
  }

  /** Reads beside the chain, once for concurrent callers. */
  async load(files: BuildFiles): Promise<Build> {
    const key = keyOf(files)
    const known = this.#known.get(key)
    if (known !== undefined) return known
    const loading = this.#loading.get(key) ?? readBuildBeside(files)
    this.#loading.set(key, loading)
    try {
      return this.#keep(key, await loading)
    } finally {
      this.#loading.delete(key)
    }
  }

  #keep(key: string, build: Build): Build {
    this.#known.set(key, build)
    return build
  }
}

function keyOf(files: BuildFiles): string {
  return files.map((file) => `${file} ${statSync(file).mtimeMs}`).join()
}
