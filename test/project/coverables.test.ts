// What can be covered is read from the text alone: held against the compiler's syntax trees, for all of OpenZeppelin's sources.
import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { coverablesOf } from '../../src/project/coverage/coverables.ts'
import { outlineOf } from '../../src/project/solidity/outline.ts'
import { ROOT } from '../support/process/boot.ts'
import { projectSources } from '../support/solidity/solidity.ts'

type Node = Readonly<Record<string, unknown>> & { readonly nodeType: string; readonly src: string }
type Sources = Readonly<Record<string, { readonly content: string }>>

/** The package's own sources. */
function libraryOf(name: string): Sources {
  const folder = path.join(ROOT, 'node_modules/@openzeppelin', name)
  const names = readdirSync(folder, { recursive: true }) as string[]
  const own = names.filter((each) => each.endsWith('.sol') && !each.includes('node_modules'))
  return Object.fromEntries(
    own.map((each) => [
      `@openzeppelin/${name}/${each}`,
      { content: readFileSync(path.join(folder, each), 'utf8') },
    ]),
  )
}

/** Syntax trees, of sources that need not make sense together. */
function parse(sources: Sources): Readonly<Record<string, Node>> {
  const solc = createRequire(import.meta.url)('solc') as { compile(input: string): string }
  const settings = { stopAfter: 'parsing', outputSelection: { '*': { '': ['ast'] } } }
  const output = JSON.parse(
    solc.compile(JSON.stringify({ language: 'Solidity', sources, settings })),
  ) as { readonly sources: Readonly<Record<string, { readonly ast: Node }>> }
  return Object.fromEntries(Object.entries(output.sources).map(([name, { ast }]) => [name, ast]))
}

/** Statements and branches of the syntax trees, in the reader's form. */
class TreeReader {
  readonly statements: string[] = []
  readonly branches: string[] = []
  readonly functions: string[] = []

  visit(value: unknown): void {
    if (Array.isArray(value)) for (const each of value) this.visit(each)
    else if (typeof value === 'object' && value !== null) this.#node(value as Node)
  }

  #node(node: Node): void {
    const { nodeType } = node
    if (DEFINITIONS.has(nodeType) && node.body) this.functions.push(rangeOf(node))
    if (LEAVES.has(nodeType)) this.statements.push(rangeOf(node))
    for (const name of PARTS[nodeType] ?? []) {
      const part = node[name] as Node | null | undefined
      if (part) this.statements.push(rangeOf(part))
    }
    if (BRANCHES.has(nodeType)) this.branches.push(`${BRANCHES.get(nodeType)} ${rangeOf(node)}`)
    const callee = node.expression as Node | undefined
    const called = (callee?.expression as Node | undefined)?.name
    const isCheck = nodeType === 'ExpressionStatement' && /^(?:require|assert)$/.test(`${called}`)
    if (isCheck) this.branches.push(`require ${rangeOf(node)}`)
    for (const [name, child] of Object.entries(node)) {
      // reported by itself already
      const isPart = nodeType === 'ForStatement' && HEADS.has(name)
      if (isPart) this.#ternaries(child)
      else this.visit(child)
    }
  }

  /** What stands in the head of a loop is no statement of its own. */
  #ternaries(part: unknown): void {
    const inner = new TreeReader()
    inner.visit(part)
    this.branches.push(...inner.branches)
  }
}

const HEADS = new Set(['initializationExpression', 'loopExpression'])

const DEFINITIONS = new Set(['FunctionDefinition', 'ModifierDefinition'])

const LEAVES = new Set([
  ...['Break', 'Continue', 'EmitStatement', 'ExpressionStatement', 'Return', 'RevertStatement'],
  ...['VariableDeclarationStatement', 'Throw'],
  ...['YulAssignment', 'YulBreak', 'YulContinue', 'YulExpressionStatement', 'YulLeave'],
  ...['YulVariableDeclaration'],
])

const PARTS: Readonly<Record<string, readonly string[]>> = {
  IfStatement: ['condition'],
  WhileStatement: ['condition'],
  DoWhileStatement: ['condition'],
  ForStatement: ['initializationExpression', 'condition', 'loopExpression'],
  TryStatement: ['externalCall'],
  YulIf: ['condition'],
  YulForLoop: ['condition'],
  YulSwitch: ['expression'],
}

const BRANCHES: ReadonlyMap<string, string> = new Map([
  ['IfStatement', 'if'],
  ['YulIf', 'if'],
  ['TryStatement', 'try'],
  ['YulSwitch', 'switch'],
  ['Conditional', 'ternary'],
])

function rangeOf({ src }: Node): string {
  const [start = 0, length = 0] = src.split(':').map(Number)
  return `${start} ${start + length}`
}

const sources = {
  ...libraryOf('contracts'),
  ...projectSources(),
}
const trees = parse(sources)

/** Byte ranges as text, with what stands there, so that a difference can be read. */
function shown(text: string, ranges: readonly string[]): string[] {
  const sorted = [...ranges].sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10))
  return sorted.map((range) => {
    const [start, end] = range.match(/\d+/g)!.map(Number)
    return `${range} ${text.slice(start, Math.min(end!, start! + 60))}`
  })
}

describe('coverablesOf', () => {
  test('is fast for hundreds of sources', () => {
    expect(Object.keys(trees).length).toBeGreaterThan(250)
  })

  test('has the statements and branches of the compiler’s syntax tree', () => {
    let statements = 0
    for (const [name, tree] of Object.entries(trees)) {
      const text = Buffer.from(sources[name]!.content, 'utf8').toString('latin1')
      const found = coverablesOf(text, outlineOf(text))
      const right = new TreeReader()
      right.visit(tree)
      const read = found.flatMap((each) =>
        each.statements.map(({ start, end }) => `${start} ${end}`),
      )
      expect(shown(text, read), name).toEqual(shown(text, right.statements))
      const functions = found.map(({ function: { start, end } }) => `${start} ${end}`)
      expect(shown(text, functions), name).toEqual(shown(text, right.functions))
      const branches = found.flatMap((each) =>
        each.branches.map(({ kind, range }) =>
          // of a ternary only its statement is known
          kind === 'ternary' ? kind : `${kind} ${range.start} ${range.end}`,
        ),
      )
      const rightBranches = right.branches.map((each) => each.replace(/^ternary .*/, 'ternary'))
      expect(branches.sort(), name).toEqual(rightBranches.sort())
      statements += read.length
    }
    expect(statements).toBeGreaterThan(3_000)
  })

  test('has the unnamed fallback function of Solidity before 0.6, and no types of functions', () => {
    const text = `contract Old {
      function (uint) external returns (uint) kept = this.f;
      function () public payable { f(1); }
      function f(uint a) public { function (uint) internal g = f; g(a); }
    }`
    const names = coverablesOf(text, outlineOf(text)).map(({ function: { name, kind } }) => [
      name,
      kind,
    ])
    expect(names).toEqual([
      ['fallback', 'fallback'],
      ['f', 'function'],
    ])
  })

  test('gives the statements of a function in Yul to that function alone', () => {
    const text = `contract Yul {
      function f(uint a) public {
        assembly {
          function g(x) -> y { if iszero(x) { leave } y := x }
          function h(x) -> y { y := x }
          a := g(h(a))
        }
      }
    }`
    const found = coverablesOf(text, outlineOf(text)).map((each) => [
      each.function.name,
      each.statements.map(({ start, end }) => text.slice(start, end)),
      each.branches.map(({ kind }) => kind),
    ])
    expect(found).toEqual([
      ['f', ['a := g(h(a))'], []],
      ['g', ['iszero(x)', 'leave', 'y := x'], ['if']],
      ['h', ['y := x'], []],
    ])
  })
})
