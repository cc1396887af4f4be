// A cache of build information, which is read beside the chain.
import { statSync } from 'node:fs'
import { LruCache } from '../../core/lrucache.ts'
import type { Build, BuildFiles } from '../reading/builds.ts'
import { readBuildBeside } from '../reading/readers.ts'

const KEPT = 4

export class Builds {
  readonly #known = new LruCache<string, Build>(KEPT)
  readonly #loading = new Map<string, Promise<Build>>()

  /** Read once for concurrent callers. */
  async of(files: BuildFiles): Promise<Build> {
    const key = files.map((file) => `${file} ${statSync(file).mtimeMs}`).join()
    const known = this.#known.get(key)
    if (known !== undefined) return known
    const loading = this.#loading.get(key) ?? readBuildBeside(files)
    this.#loading.set(key, loading)
    try {
      const build = await loading
      this.#known.set(key, build)
      return build
    } finally {
      this.#loading.delete(key)
    }
  }
}
