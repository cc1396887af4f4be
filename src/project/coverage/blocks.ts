// Base of the statement readers: collects statements and walks blocks.
import { type Range, type SourceToken, TokenReader } from '../solidity/tokens.ts'

export interface SourceBranch {
  readonly kind: 'if' | 'require' | 'ternary' | 'clauses'
  /**
   * The range the compiler gives to the jump of `if` and `require`: the statement or, for a ternary, the expression around
   * it.
   */
  readonly range: Range
  /** The statement whose line reports the branch. */
  readonly at: Range
  /** The ranges of the ways, success first; undefined for a way without text. */
  readonly ways: readonly (Range | undefined)[]
}

interface Found {
  readonly statements: Range[]
  readonly branches: SourceBranch[]
}

/** Reads statements of blocks in braces, in Solidity or Yul. */
export abstract class BlockReader extends TokenReader {
  readonly found: Found

  constructor(
    tokens: readonly SourceToken[],
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

  protected branch(branch: SourceBranch): void {
    this.found.branches.push(branch)
  }
}
