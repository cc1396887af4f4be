// The table: what the nodes whose ways `--compat` takes are asked. A case is one entry in one of these lists; what the
// nodes answer to it is then recorded by `npm run compat -- --write --only 'words of its name'`.
import type { Scenario } from './scenario.ts'
import { ANVIL } from './scenarios/anvil.ts'
import { DEFAULTS } from './scenarios/defaults.ts'
import { FAILURES } from './scenarios/failures.ts'
import { GANACHE } from './scenarios/ganache.ts'
import { HARDHAT } from './scenarios/hardhat.ts'
import { HARDHAT_FORKS } from './scenarios/hardhatforks.ts'
import { HARDHAT_FORMS } from './scenarios/hardhatforms.ts'
import { HARDHAT_LENIENT } from './scenarios/hardhatlenient.ts'
import { REFUSALS } from './scenarios/refusals.ts'

export const SCENARIOS: readonly Scenario[] = [
  ...DEFAULTS,
  ...FAILURES,
  ...REFUSALS,
  ...HARDHAT,
  ...HARDHAT_FORKS,
  ...HARDHAT_FORMS,
  ...HARDHAT_LENIENT,
  ...ANVIL,
  ...GANACHE,
]
