// One meaning a name, and the word for what a thing does.
import { expect, test } from 'vitest'
import { filesBelow, places } from './sources.ts'

/** AssemblyScript sees only its own files: these name a thing as its other half is named. */
const ASSEMBLY = /^src\/(evm\/fast|node\/bulk)\/assembly\//

const sources = filesBelow('src').filter(({ name }) => !ASSEMBLY.test(name))

/** Names that still have two meanings. */
const ALLOWED = ['Header', 'Question', 'Reply']

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

/** Files that still use the word. */
const TELLING = [
  'src/node/calls/transfers.ts',
  'src/node/chain/chain.ts',
  'src/node/chain/execution.ts',
  'src/node/dump/readblocks.ts',
  'src/node/sealing/getwork.ts',
  'src/node/sealing/intervalminer.ts',
  'src/project/coverage/reached.ts',
  'src/project/gas/inner.ts',
]

test('src says log, report, return or notify, and never tell', () => {
  const files = filesBelow('src').filter(({ name }) => !TELLING.includes(name))
  const tell = /(?<![A-Za-z])t(ell(s|er|ing)?|old)(?![a-z])|T(ell(s|er|ing)?|old)(?![a-z])|TOLD/
  expect(places(files, tell)).toEqual([])
})
