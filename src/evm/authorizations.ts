// Applies a transaction's authorizations: sets the code of accounts that delegate to another one (EIP-7702).
import { type Address, EMPTY_BYTES, ZERO_ADDRESS } from '../core/hex.ts'
import {
  ACCOUNT_WRITE_GAS,
  DELEGATION_STATE_GAS,
  type GasMeter,
  NEW_ACCOUNT_STATE_GAS,
} from '../protocol/stategas.ts'
import { delegationTo, isDelegation } from '../protocol/transactions/delegation.ts'
import {
  type Authorization,
  authorityOf,
  HALF_ORDER,
} from '../protocol/transactions/transaction.ts'
import { MAX_NONCE } from '../protocol/transactions/transactionrules.ts'
import type { Overlay } from '../state/overlay.ts'
import type { Message } from './executor.ts'

/** Refunded for an authorization whose account existed, before amsterdam. */
const EXISTING_REFUND = 12_500n

export interface Authorized {
  /** Before amsterdam. */
  readonly refund: bigint
  /** Of valid signatures, even if the authorization was skipped. */
  readonly authorities: readonly Address[]
  /** False: the gas is too little, and the caller has to undo the changes. */
  readonly isPaid: boolean
}

const NOTHING: Authorized = { refund: 0n, authorities: [], isPaid: true }

/**
 * Skips invalid authorizations. The others stay even if execution fails.
 * @param meter since amsterdam: pays state gas for a new account or delegation, and the first write to an account (EIP-8037,
 * EIP-2780)
 */
export function authorize(
  overlay: Overlay,
  message: Pick<Message, 'from' | 'to' | 'value' | 'authorizationList'>,
  chainId: bigint,
  meter?: GasMeter,
): Authorized {
  const { from, to, value, authorizationList } = message
  if (authorizationList.length === 0) return NOTHING
  let refund = 0n
  const authorities: Address[] = []
  const written = new Set<Address>([from])
  if (to !== null && value > 0n) written.add(to)
  const delegated = new Set<Address>()
  for (const authorization of authorizationList) {
    const authority = validAuthority(overlay, authorization, chainId, authorities)
    if (authority === undefined) continue
    const isNew = overlay.account(authority) === undefined
    const isFirst = authorization.address !== ZERO_ADDRESS && !delegated.has(authority)
    const wasDelegated = isDelegation(overlay.originalAccount(authority)?.code ?? EMPTY_BYTES)
    if (authorization.address !== ZERO_ADDRESS) delegated.add(authority)
    const isPaid =
      meter === undefined ||
      (meter.payState(isNew ? NEW_ACCOUNT_STATE_GAS : 0n) &&
        meter.pay(written.has(authority) ? 0n : ACCOUNT_WRITE_GAS) &&
        meter.payState(isFirst && !wasDelegated ? DELEGATION_STATE_GAS : 0n))
    if (!isPaid) return { refund, authorities, isPaid }
    if (!isNew) refund += EXISTING_REFUND
    written.add(authority)
    const { address, nonce } = authorization
    overlay.setCode(authority, address === ZERO_ADDRESS ? EMPTY_BYTES : delegationTo(address))
    overlay.set(authority, { nonce: nonce + 1n })
  }
  return { refund, authorities, isPaid: true }
}

/** Adds the signer to `authorities`. Undefined: the authorization is invalid. */
function validAuthority(
  overlay: Overlay,
  authorization: Authorization,
  chainId: bigint,
  authorities: Address[],
): Address | undefined {
  const { nonce, s } = authorization
  if (authorization.chainId !== 0n && authorization.chainId !== chainId) return undefined
  if (nonce > MAX_NONCE || s > HALF_ORDER) return undefined
  const authority = authorityOf(authorization)
  if (authority === undefined) return undefined
  authorities.push(authority)
  const account = overlay.account(authority)
  const code = account?.code ?? EMPTY_BYTES
  if (code.length > 0 && !isDelegation(code)) return undefined
  return (account?.nonce ?? 0n) === nonce ? authority : undefined
}
