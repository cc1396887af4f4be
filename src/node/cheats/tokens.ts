// Sets balances and allowances of ERC-20 tokens, in the slot found by calling the token.
import { type DevchainError, invalidParams } from '../../core/errors.ts'
import {
  type Address,
  bigintFromBytes,
  bytesFromHex,
  concatBytes,
  paddedBytes,
} from '../../core/hex.ts'
import { withSlot } from '../../state/world.ts'
import { createAccessList } from '../calls/accesslists.ts'
import { call } from '../calls/call.ts'
import type { Chain } from '../chain/chain.ts'
import { latest } from '../ledger/references.ts'
import { editAccount } from './edit.ts'

/** balanceOf(address) */
const BALANCE_OF = bytesFromHex('0x70a08231')

/** allowance(address,address) */
const ALLOWANCE = bytesFromHex('0xdd62ed3e')

interface Wanted {
  readonly token: Address
  readonly question: Uint8Array
  readonly amount: bigint
  readonly what: string
}

/** In the token's smallest unit; the total supply stays. Throws `INVALID_PARAMS` if no slot is found. */
export function setTokenBalance(
  chain: Chain,
  token: Address,
  holder: Address,
  amount: bigint,
): Promise<void> {
  const question = concatBytes(BALANCE_OF, argument(holder))
  return setAnswer(chain, { token, question, amount, what: `the balance of ${holder}` })
}

export function setTokenAllowance(
  chain: Chain,
  token: Address,
  { owner, spender }: { readonly owner: Address; readonly spender: Address },
  amount: bigint,
): Promise<void> {
  const question = concatBytes(ALLOWANCE, argument(owner), argument(spender))
  const what = `the allowance of ${owner} for ${spender}`
  return setAnswer(chain, { token, question, amount, what })
}

async function setAnswer(chain: Chain, wanted: Wanted): Promise<void> {
  const { token, question, amount } = wanted
  const { accessList } = await createAccessList(chain, { to: token, data: question }, latest)
  const slots = accessList.flatMap(({ address, storageKeys }) =>
    storageKeys.map((key) => ({ address, slot: BigInt(key) })),
  )
  // behind a proxy the account is the proxy's own
  for (const { address, slot } of slots) {
    if ((await answerWith(chain, wanted, address, slot)) !== amount) continue
    await chain.update((state) =>
      editAccount(state, address, (account) => withSlot(account, slot, amount)),
    )
    return
  }
  throw notFound(wanted, slots.length)
}

/** The token's result if a slot held the amount; undefined when it fails or returns no number. */
async function answerWith(
  chain: Chain,
  { token, question, amount }: Wanted,
  address: Address,
  slot: bigint,
): Promise<bigint | undefined> {
  const stateOverrides = new Map([[address, { stateDiff: new Map([[slot, amount]]) }]])
  const outcome = await call(chain, { to: token, data: question }, latest, { stateOverrides })
  const isNumber = outcome.failure === undefined && outcome.output.length === 32
  return isNumber ? bigintFromBytes(outcome.output) : undefined
}

function notFound({ token, what, amount }: Wanted, tried: number): DevchainError {
  const problem =
    tried === 0
      ? 'it reads no storage slot: is it an ERC-20 token?'
      : `none of the ${tried} slots that it reads makes it return ${amount}`
  return invalidParams(`token ${token}: cannot set ${what}: ${problem}`)
}

function argument(address: Address): Uint8Array {
  return paddedBytes(BigInt(address), 32)
}
