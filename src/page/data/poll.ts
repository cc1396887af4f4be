// Reads what changes without a change of this chain: other chains, peers, a fork's requests.
import { useEffect, useState } from 'preact/hooks'
import { type Reading, useChain, useView } from './use.ts'

const EVERY_MS = 2_000

/** Reads now, with each change of the chain, and every two seconds while the page is seen. */
export function usePoll<T>(method: string, params: readonly unknown[] = []): Reading<T> {
  const chain = useChain()
  const { status, version } = useView()
  const [read, setRead] = useState<Reading<T>>({ value: undefined, error: undefined })
  const key = JSON.stringify([method, params])
  useEffect(() => {
    if (status !== 'open') return
    let isGone = false
    const look = async (): Promise<void> => {
      if (document.hidden) return
      const next = await chain.request<T>(method, ...params).then(
        (value) => ({ value, error: undefined }),
        (error: Error) => ({ value: undefined, error }),
      )
      if (!isGone) setRead(next)
    }
    void look()
    const timer = setInterval(look, EVERY_MS)
    return () => {
      isGone = true
      clearInterval(timer)
    }
  }, [chain, key, status, version])
  return read
}
