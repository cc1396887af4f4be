// Makes a failing case small: leaves out whatever it fails without.
import type { Case, CaseAccount, CaseMessage, Code } from './cases.ts'

/** Runs that shrinking one case may take. */
const MOST_RUNS = 3_000

/** The smallest case found that still fails. */
export async function shrink(
  failing: Case,
  fails: (candidate: Case) => Promise<boolean>,
): Promise<Case> {
  let smallest = failing
  let runs = 0
  const tryAll = async (candidates: Iterable<Case>): Promise<boolean> => {
    for (const candidate of candidates) {
      runs += 1
      if (runs > MOST_RUNS) return false
      if (!(await fails(candidate))) continue
      smallest = candidate
      return true
    }
    return false
  }
  while (runs < MOST_RUNS && (await tryAll(smaller(smallest)))) {
    // again, from the smaller one
  }
  return smallest
}

/** Cases that are a little smaller, those that leave out most first. */
function* smaller(subject: Case): Generator<Case> {
  const { accounts, messages } = subject
  for (const left of without(messages)) yield { ...subject, messages: left }
  for (const left of without(accounts)) yield { ...subject, accounts: left }
  for (const [index, account] of accounts.entries()) {
    for (const changed of smallerAccounts(account)) {
      yield { ...subject, accounts: accounts.with(index, changed) }
    }
  }
  for (const [index, message] of messages.entries()) {
    for (const changed of smallerMessages(message)) {
      yield { ...subject, messages: messages.with(index, changed) }
    }
  }
  if (subject.baseFee !== 0) yield { ...subject, baseFee: 0 }
}

function* smallerAccounts(account: CaseAccount): Generator<CaseAccount> {
  for (const code of smallerCodes(account.code)) yield { ...account, code }
  for (const slot of Object.keys(account.storage)) {
    const { [slot]: _, ...storage } = account.storage
    yield { ...account, storage }
  }
  if (account.balance !== '0') yield { ...account, balance: '0' }
}

function* smallerMessages(message: CaseMessage): Generator<CaseMessage> {
  for (const code of smallerCodes(message.code)) yield { ...message, code }
  if (message.data !== '0x') yield { ...message, data: '0x' }
  if (message.value !== '0') yield { ...message, value: '0' }
  if (message.accessList.length > 0) yield { ...message, accessList: [] }
  if (message.delegations.length > 0) yield { ...message, delegations: [] }
  if (message.kind === 'transaction') yield { ...message, kind: 'call' }
}

/** Without whole pieces first; then, of what is left, without single words. */
function* smallerCodes(code: Code): Generator<Code> {
  for (const left of without(code)) if (hasItsPlaces(left)) yield left
  for (const [index, piece] of code.entries()) {
    const words = piece.split(' ').filter((word) => word !== '')
    for (const left of without(words)) {
      const changed = code.with(index, left.join(' '))
      if (hasItsPlaces(changed)) yield changed
    }
  }
}

/** True when all places that are jumped to are there. */
function hasItsPlaces(code: Code): boolean {
  const words = code.join(' ').split(' ')
  const places = new Set(
    words.filter((word) => word.endsWith(':')).map((word) => `@${word.slice(0, -1)}`),
  )
  return words.every((word) => !word.startsWith('@') || places.has(word))
}

/** The list without some neighbours: half of them, a quarter, …, one. */
function* without<T>(list: readonly T[]): Generator<T[]> {
  for (
    let size = Math.ceil(list.length / 2);
    size > 0;
    size = size === 1 ? 0 : Math.ceil(size / 2)
  ) {
    for (let at = 0; at < list.length; at += size) {
      yield [...list.slice(0, at), ...list.slice(at + size)]
    }
  }
}
