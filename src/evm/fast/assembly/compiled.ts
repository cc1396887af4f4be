// Account reads for compiled code, since berlin. If gas runs short, nothing changes and the interpreter takes over.
import { ACCOUNT_BALANCE, ACCOUNT_CODE_LENGTH } from '../layout'
import { accessGas, accountAt, meet, warm } from './state/accounts'
import { codeHash } from './operations'
import { copyWord, setShort } from './arithmetic/words'

/** The gas left; if below 0, the account is unchanged. */
@inline
function payOrLeave(account: usize, gas: i64): i64 {
  if (gas < accessGas(account)) return -1
  meet(account)
  return gas - warm(account)
}

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
