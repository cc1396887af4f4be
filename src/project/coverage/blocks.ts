// What readers of statements gather, and how they go through blocks.
import { type Range, type Token, TokenReader } from '../solidity/tokens.ts'

export interface Branch {
  readonly kind: 'if' | 'require' | 'ternary' | 'clauses'
  /** What is parted: the statement or, of a ternary, what it stands in. The compiler gives the jump of `if` and `require` this range. */
  readonly range: Range
  /** The statement whose line it is told at. */
  readonly at: Range
  /** What runs on each way, the good one first; undefined where there is no text for it. */
  readonly ways: readonly (Range | undefined)[]
}

interface Found {
  readonly statements: Range[]
  readonly branches: Branch[]
}

/** Reads the statements of blocks in braces, in whatever language they are. */
export abstract class BlockReader extends TokenReader {
  readonly found: Found

  constructor(
    tokens: readonly Token[],
    at: number,
    found: Found = { statements: [], branches: [] },
  ) {
    super(tokens, at)
    this.found = found
  }

  protected abstract statement(): unknown

  block(): Range {
    const first = this.at
    this.at += 1
    while (!this.isEnd && this.word !== '}') this.statement()
    this.at += 1
    return this.from(first)
  }

  protected add(range: Range): Range {
    if (range.end > range.start) this.found.statements.push(range)
    return range
  }

  protected branch(branch: Branch): void {
    this.found.branches.push(branch)
  }
}
