// Who asks: requests are counted, and a client that asks alone is noticed.
import { expect, test, vi } from 'vitest'
import { Caller } from '../../src/rpc/session.ts'
import { Demand } from '../../src/server/demand.ts'

function ask(demand: Demand, caller: Caller, times: number): void {
  for (let i = 0; i < times; i++) demand.note(caller)
}

test('counts requests, whoever asks', () => {
  const demand = new Demand()
  ask(demand, new Caller(), 100)
  ask(demand, new Caller(), 1)
  expect(demand.count).toBe(101)
})

test('tells once of a connection that asks more than 64 times with no other between', () => {
  const told = vi.fn()
  const demand = new Demand(told)
  const caller = new Caller()
  ask(demand, caller, 64)
  expect(told).not.toHaveBeenCalled()
  ask(demand, caller, 1)
  expect(told).toHaveBeenCalledOnce()
  ask(demand, new Caller(), 1000)
  expect(told).toHaveBeenCalledOnce()
})

test('a request of another connection begins the count anew', () => {
  const told = vi.fn()
  const demand = new Demand(told)
  const [one, other] = [new Caller(), new Caller()]
  for (let i = 0; i < 10; i++) {
    ask(demand, one, 64)
    ask(demand, other, 1)
  }
  expect(told).not.toHaveBeenCalled()
})
