// One chain's side of the user's project: names, traces, failures, gas and coverage, from the shared artifacts.
import type { Address, Hash } from '../core/hex.ts'
import { lazy } from '../core/lrucache.ts'
import type { SourceExplanation } from '../evm/reasons.ts'
import { runOfMined } from '../node/calls/replay.ts'
import type { Chain } from '../node/chain/chain.ts'
import type { Rerun } from '../node/chain/failedrun.ts'
import type { ExecutedTransaction } from '../node/ledger/blockrecord.ts'
import { executedAt } from '../node/ledger/blocktree.ts'
import { knownPlace } from '../node/ledger/leftblocks.ts'
import { pooledByHash } from '../node/pool/pool.ts'
import { codeAt } from '../state/world.ts'
import type { Artifacts } from './artifacts.ts'
import type { Contracts } from './contracts.ts'
import type { Coverage } from './coverage/coverage.ts'
import { GasReport, type GasTotals } from './gas/report.ts'
import { type KeptLabels, Labels } from './naming/labels.ts'
import { Names } from './naming/names.ts'
import { explain } from './solidity/explain.ts'
import { type CodeSources, codeSources } from './solidity/sources.ts'
import type { RpcCaller } from './sourcify/repository.ts'
import type { SourcifySite } from './sourcify/site.ts'
import {
  type CallTrace,
  type TracedTransaction,
  tracedMined,
  tracedRerun,
  traceOf,
} from './trace/tree.ts'

interface ProjectOptions {
  readonly chain: Chain
  readonly artifacts: Artifacts
  /** Of all chains, as the coverage. */
  readonly gas: GasTotals
  readonly coverage: () => Promise<Coverage>
  readonly labels: KeptLabels | undefined
  readonly warn: (warning: string) => void
}

export class Project {
  readonly names: Names
  readonly gas: GasReport
  readonly artifacts: Artifacts
  readonly labels: Labels
  readonly #options: ProjectOptions
  /** Counts what this chain runs, in the coverage of all chains. */
  readonly coverage: () => Promise<Coverage> = lazy(async () => {
    const { chain } = this.#options
    const coverage = await this.#options.coverage()
    chain.execution.watchCommands(() => coverage.watch())
    chain.execution.callTracer = { onReached: coverage.take }
    return coverage
  })
  readonly #contracts = lazy(async () => {
    const { Contracts } = await import('./contracts.ts')
    return new Contracts(this.names, this.artifacts)
  })
  #site: SourcifySite | undefined

  constructor(options: ProjectOptions) {
    const { chain, artifacts, warn } = options
    this.#options = options
    this.artifacts = artifacts
    this.labels = new Labels(options.labels)
    this.names = new Names(chain, artifacts.catalogue, this.labels)
    this.gas = new GasReport(chain, this.names, artifacts.catalogue, warn)
    options.gas.join(this.gas)
  }

  /** Below /sourcify. @param rpc sends RPC requests to the chain */
  async site(rpc: RpcCaller): Promise<SourcifySite> {
    const { SourcifySite } = await import('./sourcify/site.ts')
    this.#site ??= new SourcifySite(this.#options.chain, this.artifacts, rpc)
    return this.#site
  }

  /** Undefined if the cause is unknown. */
  async explain(rerun: Rerun, usual: string): Promise<SourceExplanation | undefined> {
    await this.artifacts.catchUp()
    if (this.artifacts.catalogue.isEmpty) return undefined
    const { catalogue, details } = this.artifacts
    const explainer = { names: this.names, catalogue, details, now: () => performance.now() }
    return await explain(explainer, rerun, usual)
  }

  /** Of all artifacts as they are now. */
  async contracts(): Promise<Contracts> {
    await this.artifacts.catchUp()
    return await this.#contracts()
  }

  close(): void {
    this.gas.close()
    this.#options.gas.leave(this.gas)
  }

  /** With the names of the newest state; undefined for an unknown transaction. */
  async describe(hash: Hash): Promise<DescribedTransaction | undefined> {
    await this.artifacts.catchUp()
    const { state } = this.#options.chain
    const place = knownPlace(state, hash)
    if (place !== undefined) return described(this.names, executedAt(place))
    const pooled = pooledByHash(state.pool, hash)
    return pooled && described(this.names, { transaction: pooled.transaction })
  }

  /** The reason, then the Solidity stack, innermost first; undefined if it succeeded or no source is known. */
  async explainMined(hash: Hash): Promise<readonly string[] | undefined> {
    const rerun = runOfMined(this.#options.chain, hash)
    return rerun && (await this.explain(rerun, 'it failed'))?.lines
  }

  /** Of an account in the newest state, or of creation code; undefined without an artifact of just this code. */
  async sourcesOf(code: Address | Uint8Array): Promise<CodeSources | undefined> {
    const { artifacts, names } = this
    await artifacts.catchUp()
    const isCreation = typeof code !== 'string'
    const bytes = isCreation ? code : codeAt(names.world, code)
    const match = isCreation
      ? artifacts.catalogue.creation(code)
      : names.identities.matchOf(code, bytes)
    if (match === undefined || match.isGuess) return undefined
    const details = await artifacts.details.of(match.contract)
    const map = isCreation ? details?.creationMap(bytes) : details?.runtimeMap(bytes)
    if (details === undefined || map === undefined) return undefined
    return codeSources(artifacts.catalogue.nameOf(match.contract), bytes, map, details)
  }

  /** Of those accounts that have one, in the newest state. @param accounts by default those with a label */
  async namesOf(
    accounts: readonly Address[] = [...this.labels.all.keys()],
  ): Promise<ReadonlyMap<Address, string>> {
    await this.artifacts.catchUp()
    return new Map(
      accounts.flatMap((account) => {
        const name = this.names.nameOf(this.names.world, account)
        return name === undefined ? [] : [[account, name] as const]
      }),
    )
  }

  /**
   * A mined transaction's call trace with names and storage changes.
   * @throws {DevchainError} `NOT_FOUND` if no block of the chain has it
   */
  async trace(hash: Hash): Promise<CallTrace> {
    return await this.#traceOf(await tracedMined(this.#options.chain, hash))
  }

  /** The trace of a run that is no mined transaction. */
  async traceRun(rerun: Rerun): Promise<CallTrace> {
    return await this.#traceOf(await tracedRerun(rerun))
  }

  async #traceOf(traced: TracedTransaction): Promise<CallTrace> {
    const { names } = this
    const { details } = this.artifacts
    const layouts = new Map<Address, unknown>()
    for (const address of traced.touched.keys()) {
      const contract = names.identities.exact(traced.after, address)
      if (contract !== undefined) layouts.set(address, (await details.of(contract))?.layout)
    }
    return traceOf({ ...traced, names, layouts })
  }
}

export interface DescribedTransaction {
  /** `Vault.withdraw(5 ether)`; undefined if no name is known. */
  readonly call: string | undefined
  readonly from: string | undefined
  /** Of the contract that it creates, for a creation. */
  readonly to: string | undefined
  /** Why it failed. */
  readonly error: string | undefined
  /** What contracts printed, oldest first. */
  readonly console: readonly string[]
  /** In the order of the receipt's logs. */
  readonly events: readonly { readonly address: Address; readonly text: string | undefined }[]
}

function described(
  names: Names,
  { transaction, receipt, failure, output, consoleLines = [] }: Mined,
): DescribedTransaction {
  const { world } = names
  const { from, to, data } = transaction
  const created = receipt?.contractAddress ?? null
  const call =
    to === null
      ? names.creation(world, data, created)
      : names.call(world, { from, to, input: data })
  const target = to ?? created
  return {
    call: call?.text,
    from: names.nameOf(world, from),
    to: target === null ? undefined : names.nameOf(world, target),
    error: failure && (names.error(world, to, output ?? new Uint8Array())?.text ?? failure.reason),
    console: consoleLines.map((line) => line.text),
    events: (receipt?.logs ?? []).map((log) => ({
      address: log.address,
      text: names.event(world, log, null)?.text,
    })),
  }
}

type Mined = Pick<ExecutedTransaction, 'transaction'> & Partial<ExecutedTransaction>
