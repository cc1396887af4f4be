// Hints after the first failure of a kind; each is logged once per run.
import type { ObservedCall } from '../../app/observer.ts'
import { number, oneLine } from '../../core/format.ts'
import { isObject } from '../../core/objects.ts'
import type { Chain } from '../../node/chain/chain.ts'
import { headOf } from '../../node/ledger/blocktree.ts'
import { usualGas } from '../../node/mining/limits.ts'
import type { AllSettings } from '../../options/derived.ts'
import type { ProjectHint } from '../../project/events.ts'
import type { ChainEvent, HintEvent, TransactionEvent } from './events.ts'
import { askedBy } from './request.ts'

/** The specified error code of failed executions; `--compat` may change it. */
const EXECUTION_CODE = -32015

export class Hints {
  readonly #isOn: boolean
  readonly #given: Set<string>
  #chain: Pick<Chain, 'state'> | undefined

  /** @param given hints that were given already */
  constructor({ noHints }: Pick<AllSettings, 'noHints'>, given: Set<string>) {
    this.#given = given
    this.#isOn = !noHints
  }

  watch(chain: Pick<Chain, 'state'>): void {
    this.#chain = chain
  }

  afterCall(call: ObservedCall, events: readonly ChainEvent[]): HintEvent[] {
    if (!this.#isOn) return []
    return [...this.#onCode(call), ...this.#onGas(call, events), ...this.#onChainId(call)]
  }

  /** For a refused `Host` header. */
  afterForeignHost(header: string): HintEvent[] {
    const name = oneLine(header.replace(/:\d+$/, ''), 100)
    const flag = `--allow-host ${name}`
    return this.#once('host', flag, `a request for the host ${name} was refused; ${flag} allows it`)
  }

  onProject({ hint, flag }: ProjectHint): HintEvent[] {
    return this.#once('project', flag, hint)
  }

  #onCode({ error, failure }: ObservedCall): HintEvent[] {
    if (failure === undefined || error?.code !== EXECUTION_CODE) return []
    const flag = '--compat geth'
    const text = `viem and ethers 5 cannot decode errors with code ${EXECUTION_CODE}; ${flag} returns errors as geth does`
    return this.#once('code', flag, text)
  }

  #onChainId(call: ObservedCall): HintEvent[] {
    const { chainId, upstream } = this.#chain?.state.config ?? {}
    const sent = call.refusal?.word === 'WRONG_CHAIN_ID' ? call.refusal.facts.given : undefined
    const signedFor = sent ?? chainIdOfAnswer(call)
    if (chainId === undefined || signedFor === undefined || signedFor === chainId) return []
    const isOfNetwork = signedFor === upstream?.chainId
    // made here before the chain id was changed
    if (sent === undefined && !isOfNetwork) return []
    const flag = `--chain-id ${isOfNetwork ? 'remote' : signedFor}`
    const consequence =
      sent === undefined ? 'so clients such as cast run refuse to replay it' : 'so it was refused'
    const text = `the transaction is signed for chain id ${signedFor}, but this chain has ${chainId}, ${consequence}; ${flag} sets that id`
    return this.#once('chainId', flag, text)
  }

  #onGas(call: ObservedCall, events: readonly ChainEvent[]): HintEvent[] {
    if (call.effects !== 'transaction' || askedBy(call)?.hasGas !== false) return []
    if (this.#estimatesGas()) return []
    const starved = events.find(isStarved)
    if (starved === undefined) return []
    const flag = '--default-gas estimate'
    const text = `the transaction set no gas limit and used up the default of ${number(starved.gasLimit)}; ${flag} estimates it`
    return this.#once('gas', flag, text)
  }

  #estimatesGas(): boolean {
    if (this.#chain === undefined) return false
    const { settings, config, tree } = this.#chain.state
    const { number, timestamp } = headOf(tree).block.header
    return usualGas(settings, config.hardforkAt(number, timestamp)) === 'estimate'
  }

  #once(key: string, flag: string, hint: string): HintEvent[] {
    if (!this.#isOn || this.#given.has(key)) return []
    this.#given.add(key)
    return [{ event: 'hint', hint, flag }]
  }
}

function chainIdOfAnswer({ method, result }: ObservedCall): bigint | undefined {
  if (!/_getTransactionByHash$/.test(method) || !isObject(result)) return undefined
  return typeof result.chainId === 'string' ? BigInt(result.chainId) : undefined
}

function isStarved(event: ChainEvent): event is TransactionEvent {
  return event.event === 'transaction' && /out of gas/.test(event.failure?.reason ?? '')
}
