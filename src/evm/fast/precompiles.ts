// Finds precompiles by address; a job may move or override them.
import type { Address } from '../../core/hex.ts'
import type { Hardfork } from '../../protocol/forks.ts'
import { ECRECOVER, type ExtraPrecompiles } from '../../protocol/precompiles.ts'
import type { MovedPrecompiles, Signers } from '../executor.ts'
import { ecrecoverWith } from '../precompiles/hashes.ts'
import type { PrecompileCode } from '../precompiles/precompile.ts'
import { precompileTable, withMoved } from '../precompiles/table.ts'

type Table = ReadonlyMap<Address, PrecompileCode>

export class PrecompileTables {
  readonly #tables = new Map<Hardfork, Table>()
  /** With RIP-7212. */
  readonly #extended = new Map<Hardfork, Table>()

  /** Before a job moves any: these addresses start warm. */
  usual(hardfork: Hardfork, extra: ExtraPrecompiles | undefined): Table {
    const tables = extra?.rip7212 ? this.#extended : this.#tables
    let table = tables.get(hardfork)
    if (table === undefined) {
      table = precompileTable(hardfork, extra)
      tables.set(hardfork, table)
    }
    return table
  }

  of(given: Table, moved: MovedPrecompiles | undefined, signers: Signers | undefined): Table {
    const usual =
      signers === undefined ? given : new Map(given).set(ECRECOVER.address, ecrecoverWith(signers))
    return moved === undefined ? usual : withMoved(usual, moved)
  }
}
