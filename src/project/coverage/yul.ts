// The statements of inline assembly.
import { BlockReader, type Range } from './cursor.ts'

/** Reads statements of Yul, which no semicolons part. */
export class YulReader extends BlockReader {
  protected override statement(): void {
    if (this.peek() === '{') {
      this.block()
      return
    }
    const start = this.at
    const word = this.word()
    this.at += word.length
    switch (word) {
      case 'if':
        this.#if(start)
        return
      case 'switch':
        this.#switch(start)
        return
      case 'for':
        this.#for()
        return
      case 'function':
        this.until('{')
        this.block()
        return
      case 'break':
      case 'continue':
      case 'leave':
        this.#add({ start, end: this.at })
        return
      case 'let':
        this.skipWord()
        this.#assigned()
        this.#add({ start, end: this.at })
        return
      case '':
        // nothing that is known: it is passed over
        this.at += 1
        return
      default:
        if (this.peek() === '(') this.parenthesized()
        else this.#assigned()
        this.#add({ start, end: this.at })
    }
  }

  #if(start: number): void {
    const condition = this.#add({ ...this.#expression(), head: start })
    const truth = this.block()
    const range = { start, end: this.at }
    const ways = [truth, undefined]
    this.found.branches.push({ kind: 'if', range, at: condition, ways })
  }

  #switch(start: number): void {
    const value = this.#add({ ...this.#expression(), head: start })
    const ways: Range[] = []
    for (;;) {
      if (this.takeWord('case')) this.#expression()
      else if (!this.takeWord('default')) break
      ways.push(this.block())
    }
    const range = { start, end: ways.at(-1)?.end ?? value.end }
    this.found.branches.push({ kind: 'clauses', range, at: value, ways })
  }

  #for(): void {
    this.block()
    this.#add(this.#expression())
    this.block()
    this.block()
  }

  /** The rest of `a, b := f()`, or of a declaration without a value, behind the first name. */
  #assigned(): void {
    let end = this.at
    while (this.peek() === ',') {
      this.at += 1
      this.skipWord()
      end = this.at
    }
    if (this.code.startsWith(':=', this.at)) {
      this.at += 2
      this.#expression()
    } else this.at = end
  }

  /** A literal, a name, a call. */
  #expression(): Range {
    this.peek()
    const start = this.at
    this.skipWord()
    const end = this.at
    if (this.peek() === '(') {
      this.parenthesized()
      return { start, end: this.at }
    }
    this.at = end
    return { start, end }
  }

  #add(range: Range): Range {
    if (range.end > range.start) this.found.statements.push(range)
    return range
  }
}
