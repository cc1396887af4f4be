// The heads of HTTP replies.
import { CORS_HEADERS } from '../replies.ts'

export class ReplyHeads {
  readonly #idleMs: number
  #second = 0
  #date = ''
  #ok = ''

  constructor(idleMs: number) {
    this.#idleMs = idleMs
  }

  /** The head of a reply with a body, up to its length. */
  ok(): string {
    this.#refresh()
    return this.#ok
  }

  /** Any head up to its length; without a body, the whole head. */
  of(status: string, options: { readonly closes: boolean; readonly hasBody: boolean }): string {
    this.#refresh()
    const lines = [`HTTP/1.1 ${status}`]
    for (const [name, value] of Object.entries(CORS_HEADERS)) lines.push(`${name}: ${value}`)
    lines.push(`Date: ${this.#date}`)
    if (options.closes) lines.push('Connection: close')
    else
      lines.push('Connection: keep-alive', `Keep-Alive: timeout=${Math.floor(this.#idleMs / 1000)}`)
    if (options.hasBody) lines.push('content-type: application/json', 'content-length: ')
    return options.hasBody ? lines.join('\r\n') : `${lines.join('\r\n')}\r\n\r\n`
  }

  #refresh(): void {
    const second = Math.floor(Date.now() / 1000)
    if (second === this.#second) return
    this.#second = second
    this.#date = new Date(second * 1000).toUTCString()
    this.#ok = this.of('200 OK', { closes: false, hasBody: true })
  }
}
