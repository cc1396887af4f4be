// The statements of inline assembly.
import type { Range } from '../solidity/tokens.ts'
import { BlockReader } from './blocks.ts'

export class YulReader extends BlockReader {
  protected override statement(): void {
    if (this.word === '{') {
      this.block()
      return
    }
    const first = this.at
    const { start } = this.from(first)
    const { word } = this
    this.at += 1
    switch (word) {
      case 'if':
        this.#if(start)
        return
      case 'switch':
        this.#switch(start)
        return
      case 'for':
        this.block()
        this.add(this.#expression())
        this.block()
        this.block()
        return
      case 'function':
        this.until('{')
        this.block()
        return
      case 'let':
        this.at += 1
        this.#assigned()
        break
      default:
        // unknown syntax is skipped
        if (!/^[\w$.]/.test(word)) return
        if (this.word === '(') this.skip()
        else this.#assigned()
    }
    this.add(this.from(first))
  }

  #if(start: number): void {
    const condition = this.add({ ...this.#expression(), head: start })
    const truth = this.block()
    const range = { start, end: truth.end }
    this.branch({ kind: 'if', range, at: condition, ways: [truth, undefined] })
  }

  #switch(start: number): void {
    const value = this.add({ ...this.#expression(), head: start })
    const ways: Range[] = []
    for (;;) {
      if (this.take('case')) this.#expression()
      else if (!this.take('default')) break
      ways.push(this.block())
    }
    const range = { start, end: ways.at(-1)?.end ?? value.end }
    this.branch({ kind: 'clauses', range, at: value, ways })
  }

  /** The rest of `a, b := f()`, or of a declaration without a value, after the first name. */
  #assigned(): void {
    while (this.take(',')) this.at += 1
    if (this.take(':=')) this.#expression()
  }

  #expression(): Range {
    const first = this.at
    this.at += 1
    if (this.word === '(') this.skip()
    return this.from(first)
  }
}
