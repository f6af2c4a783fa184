/**
 * Asks the edge to refresh a sale after an operator's change, so that the change does not wait for the edge's next
 * poll.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { shouldLog } from '../lib/loop.ts'

const ATTEMPTS = 4
const TIMEOUT_MS = 2_000

interface EdgeAddress {
  /** The edge's address. If absent, the edge learns of changes by its own polling. */
  readonly EDGE_URL?: string | undefined
  readonly EDGE_TOKEN: string
}

export class EdgeNotifier {
  readonly #edge: EdgeAddress
  readonly #log: Logger
  #rejected = 0

  constructor(edge: EdgeAddress, log: Logger) {
    this.#edge = edge
    this.#log = log
  }

  /** Asks the edge to refresh a queue: the sale's own, or that of another line. Best effort, behind the response. */
  notify(queue: string): void {
    if (this.#edge.EDGE_URL) void this.#send(queue, this.#edge.EDGE_URL)
  }

  async #send(saleId: string, url: string): Promise<void> {
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
      try {
        const response = await fetch(new URL(`/internal/sales/${saleId}/refresh`, url), {
          method: 'POST',
          headers: { authorization: `Bearer ${this.#edge.EDGE_TOKEN}` },
          signal: AbortSignal.timeout(TIMEOUT_MS),
        })
        await response.body?.cancel()
        if (response.ok) this.#rejected = 0
        // A busy edge may accept a later attempt; only the last failure counts.
        else if (response.status < 500 || attempt === ATTEMPTS) this.#logRejection(saleId, response.status)
        if (response.status < 500) return
      } catch (error) {
        this.#log.debug({ sale: saleId, attempt, error: String(error) }, 'edge not reachable')
      }
      await sleep(100 * 2 ** attempt * (0.5 + Math.random()))
    }
  }

  /** With the wrong EDGE_TOKEN, for example, nobody can be served: an operator must learn of it. */
  #logRejection(sale: string, status: number): void {
    this.#rejected++
    if (!shouldLog(this.#rejected)) return
    const hint = status < 500 ? 'check EDGE_URL and EDGE_TOKEN' : "see the edge's log"
    this.#log.warn({ sale, status, rejected: this.#rejected }, `edge refresh rejected: ${hint}`)
  }
}
