// Operations on accounts for compiled code, from berlin on: when the gas does not cover one, nothing has happened, and the
// interpreter decides.
import { ACCOUNT_BALANCE, ACCOUNT_CODE_LENGTH, ACCOUNT_WARM } from '../layout'
import { accountAt, COLD_ACCOUNT_GAS, has, meet, warm, WARM_GAS } from './state/accounts'
import { codeHash } from './operations'
import { copyWord, setShort } from './arithmetic/words'

/** Gas left after reading an account; below 0 it was not enough, and the account is as it was. */
@inline
function payOrLeave(account: usize, gas: i64): i64 {
  if (gas < (has(account, ACCOUNT_WARM) ? WARM_GAS : COLD_ACCOUNT_GAS)) return -1
  meet(account)
  return gas - warm(account)
}

/** BALANCE: replaces the address at `word`. */
export function balanceOrLeave(word: usize, gas: i64): i64 {
  const account = accountAt(word)
  gas = payOrLeave(account, gas)
  if (gas >= 0) copyWord(word, account + ACCOUNT_BALANCE)
  return gas
}

export function codeSizeOrLeave(word: usize, gas: i64): i64 {
  const account = accountAt(word)
  gas = payOrLeave(account, gas)
  if (gas >= 0) setShort(word, load<u32>(account, ACCOUNT_CODE_LENGTH))
  return gas
}

export function codeHashOrLeave(word: usize, gas: i64): i64 {
  const account = accountAt(word)
  gas = payOrLeave(account, gas)
  if (gas >= 0) codeHash(account, word)
  return gas
}
