// Hooks by which views read the chain.
import { useEffect, useReducer, useRef } from 'preact/hooks'
import { type ChainView, client, type Kept, type Lifetime } from './chain.ts'

/** Draws again with every event of a kind. @returns draws again too */
export function useEvents(target: EventTarget, kind: string): () => void {
  const [, draw] = useReducer((times: number) => times + 1, 0)
  useEffect(() => {
    const onEvent = (): void => draw(undefined)
    target.addEventListener(kind, onEvent)
    return () => target.removeEventListener(kind, onEvent)
  }, [target, kind])
  return () => draw(undefined)
}

/** Draws again with every change of the chain. */
export function useView(): ChainView {
  const draw = useEvents(client, 'change')
  const { view } = client
  useEffect(() => {
    // it may have changed between drawing and now
    if (client.view !== view) draw()
  }, [])
  return view
}

export interface Reading<T> {
  /** The last value, also while a newer one is read. */
  readonly value: T | undefined
  readonly error: Error | undefined
}

export const NOTHING: Reading<never> = { value: undefined, error: undefined }

/** The last value that was there, while the next is read. */
export function useSteady<T>(value: T | undefined): T | undefined {
  const last = useRef(value)
  if (value !== undefined) last.current = value
  return last.current
}

/**
 * Reads by JSON-RPC, again when the result may have changed.
 * @param method empty: reads nothing
 */
export function useRead<T>(method: string, params: readonly unknown[], span: Lifetime): Reading<T> {
  const [read = NOTHING] = useReads<T>(method === '' ? [] : [[method, params]], span)
  return read
}

type Call = readonly [method: string, params: readonly unknown[]]

/** Reads many at once. */
export function useReads<T>(calls: readonly Call[], span: Lifetime): readonly Reading<T>[] {
  const { status } = useView()
  const [, draw] = useReducer((count: number) => count + 1, 0)
  const keys = calls.map((call) => JSON.stringify(call))
  const stamp = client.stampOf(span)
  // what was read last stays in sight, also when it is kept no longer
  const last = useRef<ReadonlyMap<string, Kept>>(NONE)
  const read = new Map<string, Kept>()
  for (const key of keys) {
    const kept = client.kept(key) ?? last.current.get(key)
    if (kept !== undefined) read.set(key, kept)
  }
  last.current = read
  useEffect(() => {
    if (status !== 'open') return
    let isGone = false
    const drawn = keys.map((key) => read.get(key))
    const reads = keys.map((key, i) =>
      client.kept(key)?.stamp === stamp ? client.kept(key) : client.read(key, ...calls[i]!, span),
    )
    // another view may have read it between drawing and now
    if (reads.some((each, i) => each !== drawn[i]))
      void Promise.all(reads).then(() => isGone || draw(undefined))
    return () => {
      isGone = true
    }
  }, [stamp, status, ...keys, ...read.values()])
  return keys.map((key) => (read.get(key) ?? NOTHING) as Reading<T>)
}

const NONE: ReadonlyMap<string, Kept> = new Map()

/** The accounts of the node. */
export function useOwned(): Reading<readonly string[]> {
  return useRead<readonly string[]>('eth_accounts', [], 'now')
}

/** Names by address, in lower case; accounts without a name are missing. */
export function useNames(addresses: readonly string[]): ReadonlyMap<string, string> {
  const method = addresses.length === 0 ? '' : 'devchain_names'
  const { value } = useRead<Readonly<Record<string, string>>>(method, [addresses], 'now')
  return new Map(Object.entries(value ?? {}).map(([key, name]) => [key.toLowerCase(), name]))
}
