/**
 * The shop's operator: refunds and cancels some of the confirmed orders while the crowd still buys. Each call is made again until
 * it is answered, with the same key, as the operators' console does.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { GivenBack, OperatorRecord } from '../invariants/evidence.ts'
import type { Target } from './records.ts'

/** What is done with one order after the other. Units come back by the last two. */
const ACTS = ['whole', 'part', 'parts', 'restock', 'cancel'] as const
const KEEPING = ACTS.slice(0, 3)
const MAX_ORDERS = 500
const PART_MINOR = 1_900
const CALL_TIMEOUT_MS = 5_000
const AGAIN_MS = 300
/** An origin that is killed is back sooner. */
const ANSWERED_WITHIN_MS = 60_000

interface OperatorOptions {
  readonly to: Pick<Target, 'origin' | 'adminToken'>
  /** Of the orders that visitors see confirmed. */
  readonly share: number
  /** Whether units may come back for sale. */
  readonly restocks: boolean
  readonly random: () => number
}

export class Operator {
  readonly #options: OperatorOptions
  readonly #orders = new Map<string, GivenBack>()
  readonly #failed: string[] = []
  #seen = 0
  /** One call after the other. */
  #work = Promise.resolve()

  constructor(options: OperatorOptions) {
    this.#options = options
  }

  /** A visitor has seen their order confirmed. */
  confirmed(order: string): void {
    const { share, restocks, random } = this.#options
    if (random() >= share || this.#seen >= MAX_ORDERS) return
    const acts = restocks ? ACTS : KEEPING
    const act = acts[this.#seen++ % acts.length] as (typeof ACTS)[number]
    this.#work = this.#work.then(() => this.#act(order, act))
  }

  async done(): Promise<OperatorRecord> {
    await this.#work
    return { orders: this.#orders, failed: this.#failed }
  }

  async #act(order: string, act: (typeof ACTS)[number]): Promise<void> {
    const bodies =
      act === 'part' || act === 'parts'
        ? [{ amount_minor: PART_MINOR }, ...(act === 'parts' ? [{}] : [])]
        : [act === 'restock' ? { restock: true } : {}]
    let calls = 0
    for (const body of bodies) if (await this.#call(order, act === 'cancel' ? 'cancel' : 'refund', body)) calls++
    if (calls === 0) return
    const restocked = act === 'restock' || act === 'cancel'
    this.#orders.set(order, {
      calls,
      restocked,
      cancelled: act === 'cancel',
      minor: act === 'part' ? PART_MINOR : null,
    })
  }

  async #call(order: string, what: 'refund' | 'cancel', body: object): Promise<boolean> {
    const { origin, adminToken } = this.#options.to
    const headers = {
      authorization: `Bearer ${adminToken}`,
      'content-type': 'application/json',
      'idempotency-key': randomUUID(),
    }
    const request = { method: 'POST', headers, body: JSON.stringify({ reason: 'a rehearsal', ...body }) }
    const untilMs = performance.now() + ANSWERED_WITHIN_MS
    for (;;) {
      const signal = AbortSignal.timeout(CALL_TIMEOUT_MS)
      const status = await fetch(`${origin}/admin/orders/${order}/${what}`, { ...request, signal }).then(
        async (response) => {
          await response.body?.cancel()
          return response.status
        },
        () => 0,
      )
      if (status === 200 || status === 202) return true
      if ((status !== 0 && status < 500 && status !== 429) || performance.now() > untilMs) {
        this.#failed.push(`${what} ${status}`)
        return false
      }
      await sleep(AGAIN_MS)
    }
  }
}
