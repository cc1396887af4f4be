import { afterAll } from 'vitest'
import { testClients } from './chains.mjs'

afterAll(async () => {
  await Promise.all(testClients.map((client) => client.restart()))
})
