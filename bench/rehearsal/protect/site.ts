/** A site that the waiting room protects: it answers after a set time, and knows who is on it. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { decodeJwt } from 'jose'

export class Site {
  readonly #server = createServer((request, response) => {
    const token = String(request.headers['x-admission-token'] ?? '')
    const visitor = token === '' ? undefined : decodeJwt(token).sub
    if (visitor !== undefined) this.#seen(visitor)
    setTimeout(() => {
      const isOver = visitor !== undefined && request.url === '/checkout/done'
      if (isOver) this.#inside.delete(visitor)
      response
        .writeHead(200, { 'content-type': 'text/plain', ...(isOver && { 'x-admission-session': 'end' }) })
        .end('ok')
    }, this.answerMs)
  })
  readonly #inside = new Set<string>()
  /** How long the site takes for each answer. */
  answerMs = 10
  /** When each visitor came, in ms since the site began; one who comes back comes again. */
  readonly cameMs: number[] = []
  readonly #beganMs = performance.now()
  mostInside = 0

  static async start(): Promise<Site> {
    const site = new Site()
    await new Promise<void>((resolve) => site.#server.listen(0, '127.0.0.1', resolve))
    return site
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  get inside(): number {
    return this.#inside.size
  }

  /** How many came in a second, between two times since the site began. */
  cameASecond(fromMs: number, toMs: number): number {
    return this.cameMs.filter((ms) => ms >= fromMs && ms < toMs).length / ((toMs - fromMs) / 1000)
  }

  get nowMs(): number {
    return performance.now() - this.#beganMs
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #seen(visitor: string): void {
    if (this.#inside.has(visitor)) return
    this.#inside.add(visitor)
    this.cameMs.push(this.nowMs)
    this.mostInside = Math.max(this.mostInside, this.#inside.size)
  }
}
