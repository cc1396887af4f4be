import { defineTests } from './actions.mjs'

defineTests()
