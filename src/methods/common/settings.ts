// Changing the settings of a chain: the body of hardhat_set… and miner_set….
import type { Chain } from '../../node/chain/chain.ts'
import { changeSettings } from '../../node/commands/settings.ts'
import type { Settings } from '../../node/ledger/chainstate.ts'

export function change(chain: Chain, settings: Partial<Settings>): Promise<void> {
  return chain.update((state) => changeSettings(state, settings))
}
