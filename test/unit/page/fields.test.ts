// What people type into the fields of the page's acts.
import { expect, test } from 'vitest'
import { valuesOf } from '../../../src/page/acts/fields.ts'

const read = (text: string): unknown =>
  valuesOf([{ name: 'time', label: 'Time', kind: 'moment' }], { time: text }).time

test.each([
  ['1970-01-02', '0x15180'],
  ['1970-01-01 00:01', '0x3c'],
  // as the page prints it
  ['1970-01-01 00:01:01 UTC', '0x3d'],
  ['1970-01-01T00:01:01Z', '0x3d'],
  ['86400', '0x15180'],
])('the time %s is in UTC', (text, expected) => {
  expect(read(text)).toBe(expected)
})

// a browser would take the first in the time zone of its computer
test.each(['1970-1-2', '2030-13-01 12:00', '2030-01-01 25:00', 'Jan 1 2030', ''])(
  'the time "%s" is refused',
  (text) => {
    expect(() => read(text)).toThrow('Time: expected a time such as 2030-01-01 12:00')
  },
)
