// One meaning a name: no two exported types of src share one.
import { expect, test } from 'vitest'
import { filesBelow } from './sources.ts'

/** AssemblyScript sees only its own files: these name a thing as its other half is named. */
const ASSEMBLY = /^src\/(evm\/fast|node\/bulk)\/assembly\//

const sources = filesBelow('src').filter(({ name }) => !ASSEMBLY.test(name))

/** Names that still have two meanings. */
const ALLOWED = [
  'BlockPoint',
  'Branch',
  'ForkRequest',
  'Found',
  'Header',
  'Question',
  'Reply',
  'Sent',
]

test('exported types, interfaces and classes of src have different names', () => {
  const files = new Map<string, string[]>()
  for (const { name: file, text } of sources) {
    for (const [, name = ''] of text.matchAll(
      /^export (?:abstract )?(?:type|interface|class) (\w+)/gm,
    )) {
      files.set(name, [...(files.get(name) ?? []), file])
    }
  }
  const shared = [...files].filter(([name, { length }]) => length > 1 && !ALLOWED.includes(name))
  expect(shared.map(([name, users]) => `${name}: ${users.join(', ')}`)).toEqual([])
})
