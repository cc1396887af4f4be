// One meaning a name, and the word for what a thing does.
import { expect, test } from 'vitest'
import { filesBelow, places } from './sources.ts'

/** AssemblyScript sees only its own files: these name a thing as its other half is named. */
const ASSEMBLY = /^src\/(evm\/fast|node\/bulk)\/assembly\//

const sources = filesBelow('src').filter(({ name }) => !ASSEMBLY.test(name))

test('exported types, interfaces and classes of src have different names', () => {
  const files = new Map<string, string[]>()
  for (const { name: file, text } of sources) {
    for (const [, name = ''] of text.matchAll(
      /^export (?:abstract )?(?:type|interface|class) (\w+)/gm,
    )) {
      files.set(name, [...(files.get(name) ?? []), file])
    }
  }
  const shared = [...files].filter(([, { length }]) => length > 1)
  expect(shared.map(([name, users]) => `${name}: ${users.join(', ')}`)).toEqual([])
})

test('src and test say log, report, return or notify, and never tell', () => {
  const tell = /(?<![A-Za-z])t(ell(s|er|ing)?|old)(?![a-z])|T(ell(s|er|ing)?|old)(?![a-z])|TOLD/
  const files = ['src', 'test'].flatMap((folder) => filesBelow(folder))
  const others = files.filter(({ name }) => name !== 'test/tidy/names.test.ts')
  expect(places(others, tell)).toEqual([])
})
