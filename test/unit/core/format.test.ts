// Text of others in a terminal.
import { expect, test } from 'vitest'
import { oneLine, printable } from '../../../src/core/format.ts'

test.each([
  ['plain: 5 ether', 'plain: 5 ether'],
  ['café → 日本 −1', 'café → 日本 −1'],
  ['one\ntwo', 'one\ntwo'],
  ['red\u001b[31m\u009b0m', 'red [31m 0m'],
  ['pay \u202eresu\u202c', 'pay \\u202eresu\\u202c'],
  ['us\u200ber\ufeff', 'us\\u200ber\\ufeff'],
  ['two\u2028lines', 'two\\u2028lines'],
])('printable shows no control, and each character that hides or turns text: %j', (text, shown) => {
  expect(printable(text)).toBe(shown)
  expect(oneLine(text, 100)).toBe(shown.replace('\n', ' '))
})
