// Rebuilds metadata from compiler input and output where it was not requested, as by Hardhat 3.
import { entriesOf, isObject, type Loose, member, text } from '../reading/formats.ts'
import { hashOfSource } from '../reading/stamps.ts'

export interface Compilation {
  readonly input: unknown
  readonly output: unknown
  /** `0.8.30+commit.73712a01` */
  readonly compilerVersion: string
}

/**
 * Lacks what only the compiler knows: documentation and licenses.
 * @returns undefined if the contract's ABI or a source's content is missing
 */
export function rebuiltMetadata(
  { input, output, compilerVersion }: Compilation,
  [source, name]: readonly [source: string, name: string],
): Loose | undefined {
  const abi = member(output, 'contracts', source, name, 'abi')
  const contents = sourcesOf(input, output, source).map(
    (each) => [each, member(input, 'sources', each, 'content')] as const,
  )
  if (!Array.isArray(abi) || contents.some(([, content]) => typeof content !== 'string')) {
    return undefined
  }
  const hashes = contents.map(([each, content]) => [
    each,
    { keccak256: hashOfSource(text(content)) },
  ])
  return {
    compiler: { version: compilerVersion },
    language: member(input, 'language') ?? 'Solidity',
    output: { abi, devdoc: NO_DOCUMENTATION, userdoc: NO_DOCUMENTATION },
    settings: settingsOf(member(input, 'settings'), { [source]: name }),
    sources: Object.fromEntries(hashes),
    version: 1,
  }
}

const NO_DOCUMENTATION = { methods: {}, version: 1 }

function settingsOf(settings: unknown, compilationTarget: Loose): Loose {
  const { outputSelection, libraries, ...rest } = isObject(settings) ? settings : {}
  const linked = entriesOf(libraries).flatMap(([file, each]) =>
    entriesOf(each).map(([name, address]) => [`${file}:${name}`, address]),
  )
  return {
    optimizer: { enabled: false, runs: 200 },
    remappings: [],
    ...rest,
    compilationTarget,
    libraries: Object.fromEntries(linked),
  }
}

/** A source and its imports, by the syntax trees; all sources without trees. */
function sourcesOf(input: unknown, output: unknown, source: string): readonly string[] {
  const found = new Set([source])
  for (const each of found) {
    const nodes = member(output, 'sources', each, 'ast', 'nodes')
    if (!Array.isArray(nodes)) return entriesOf(member(input, 'sources')).map(([name]) => name)
    for (const node of nodes as readonly unknown[]) {
      if (member(node, 'nodeType') === 'ImportDirective') {
        found.add(text(member(node, 'absolutePath')))
      }
    }
  }
  return [...found].sort()
}
