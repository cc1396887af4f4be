import { test } from 'vitest'
import { ownChain } from './ownchain.mjs'

test('has a chain of its own', ownChain)
