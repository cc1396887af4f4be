// Hooks by which views read the chain.
import { createContext } from 'preact'
import { useContext, useEffect, useReducer, useRef } from 'preact/hooks'
import type { ChainClient, ChainView, Lifetime } from './chain.ts'

export const ChainContext: ReturnType<typeof createContext<ChainClient | undefined>> =
  createContext<ChainClient | undefined>(undefined)

export function useChain(): ChainClient {
  return useContext(ChainContext)!
}

/** Draws again with every change of the chain. */
export function useView(): ChainView {
  const chain = useChain()
  const [, draw] = useReducer((count: number) => count + 1, 0)
  const { view } = chain
  useEffect(() => {
    // it may have changed between drawing and now
    if (chain.view !== view) draw(undefined)
    return chain.onChange(() => draw(undefined))
  }, [chain])
  return view
}

export interface Reading<T> {
  /** The last value, also while a newer one is read. */
  readonly value: T | undefined
  readonly error: Error | undefined
}

type Call = readonly [method: string, params: readonly unknown[]]

/** As `useRead`, many at once. */
export function useReads<T>(calls: readonly Call[], span: Lifetime): readonly Reading<T>[] {
  const chain = useChain()
  const { status } = useView()
  const [, draw] = useReducer((count: number) => count + 1, 0)
  const keys = calls.map((call) => JSON.stringify(call))
  const stamp = chain.stampOf(span)
  useEffect(() => {
    const isMissing = (key: string): boolean => chain.kept(key)?.stamp !== stamp
    if (status !== 'open' || !keys.some(isMissing)) return
    let isGone = false
    const reads = keys.map((key, i) => isMissing(key) && chain.read(key, ...calls[i]!, span))
    void Promise.all(reads).then(() => isGone || draw(undefined))
    return () => {
      isGone = true
    }
  }, [chain, keys.join(), stamp, status])
  return keys.map((key) => (chain.kept(key) ?? NOTHING) as Reading<T>)
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
  const chain = useChain()
  const { status } = useView()
  const [, draw] = useReducer((count: number) => count + 1, 0)
  const key = method && JSON.stringify([method, params])
  const stamp = chain.stampOf(span)
  const last = useRef<{ readonly key: string; readonly read: Reading<T> }>(undefined)
  const kept = method === '' ? undefined : chain.kept(key)
  useEffect(() => {
    if (method === '' || status !== 'open') return
    const newest = chain.kept(key)
    // another view may have read it between drawing and now
    if (newest?.stamp === stamp) return newest === kept ? undefined : draw(undefined)
    let isGone = false
    void chain.read(key, method, params, span).then(() => isGone || draw(undefined))
    return () => {
      isGone = true
    }
  }, [chain, key, stamp, status, kept])
  if (kept !== undefined) last.current = { key, read: kept as unknown as Reading<T> }
  return last.current?.key === key ? last.current.read : NOTHING
}
