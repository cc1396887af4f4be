// Changing the settings of a chain: the body of hardhat_set… and miner_set….
import type { Chain } from '../../node/chain/chain.ts'
import { changeSettings } from '../../node/commands/settings.ts'
import type { Settings } from '../../node/ledger/chainstate.ts'
import type { Profile } from '../compat/profile.ts'

export async function change(chain: Chain, settings: Partial<Settings>): Promise<void> {
  await chain.update((state) => changeSettings(state, settings))
}

export async function changed(
  chain: Chain,
  settings: Partial<Settings>,
  profile: Profile,
): Promise<true | null> {
  await change(chain, settings)
  return profile.ack
}
