// Runs once before the e2e tests: compiles the contracts they deploy.
import type { TestProject } from 'vitest/node'
import { type Contract, compileContracts } from '../support/solidity/contracts.ts'

declare module 'vitest' {
  interface ProvidedContext {
    contracts: Record<string, Contract>
  }
}

export function setup(project: TestProject): void {
  project.provide('contracts', compileContracts())
}
