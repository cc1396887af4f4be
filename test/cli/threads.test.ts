// Which threads of the command come first: the one that answers a client that waits for each reply.
import { readdirSync, readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { json } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { boot } from '../support/boot.ts'

/** Asks as often as told, by turns over so many connections, each time when the last reply is there. */
async function ask(url: string, times: number, connections: number): Promise<void> {
  const agents = Array.from({ length: connections }, () => new Agent({ keepAlive: true }))
  onTestFinished(() => {
    for (const agent of agents) agent.destroy()
  })
  for (let i = 0; i < times; i++) {
    const agent = agents[i % connections]!
    const reply = await new Promise<unknown>((resolve, reject) => {
      const asking = request(url, { method: 'POST', agent }, (response) => resolve(json(response)))
      asking.once('error', reject)
      asking.end(JSON.stringify({ jsonrpc: '2.0', id: i, method: 'eth_chainId', params: [] }))
    })
    expect(reply).toMatchObject({ id: i, result: expect.any(String) })
  }
}

/** Steps of `nice` of the thread that answers, and of all others. */
function priorities(pid: number): { readonly main: number; readonly others: readonly number[] } {
  const niceOf = (id: string): number => {
    const stat = readFileSync(`/proc/${pid}/task/${id}/stat`, 'latin1')
    // after the name in brackets, which may have spaces in it: state is the third field, nice the nineteenth
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16])
  }
  const ids = readdirSync(`/proc/${pid}/task`)
  const others = ids.filter((id) => id !== `${pid}`).map(niceOf)
  return { main: niceOf(`${pid}`), others }
}

const isLinux = process.platform === 'linux'

test.skipIf(!isLinux)(
  'the threads that optimize stand back for a client that asks alone, not for clients side by side',
  async () => {
    const { child, url } = await boot()
    onTestFinished(() => void child.kill('SIGKILL'))
    const before = priorities(child.pid!)
    expect(before.others.length).toBeGreaterThan(2)
    expect(new Set(before.others)).toEqual(new Set([before.main]))
    await ask(url, 150, 2)
    expect(priorities(child.pid!)).toEqual(before)
    await ask(url, 70, 1)
    const { main, others } = priorities(child.pid!)
    expect(main).toBe(before.main)
    expect(new Set(others)).toEqual(new Set([Math.min(main + 5, 19)]))
  },
)
