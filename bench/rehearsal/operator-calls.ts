/**
 * The shop's operator, who refunds and cancels some of the confirmed orders while the crowd still buys, and writes
 * posts. Each call about an order is repeated with the same key until it has a response, as the operators' console
 * does.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { GivenBack, OperatorRecord } from '../invariants/evidence.ts'
import { admin } from '../lib/operator.ts'
import type { Target } from './records/records.ts'

const MAX_ORDERS = 500
const PART_MINOR = 1_900
const PART = { amount_minor: PART_MINOR }

/** The action for one order after the other. */
const ACTS: readonly (Omit<GivenBack, 'calls'> & { readonly what: 'refund' | 'cancel'; readonly bodies: object[] })[] =
  [
    { what: 'refund', bodies: [{}], restocked: false, cancelled: false, minor: null },
    { what: 'refund', bodies: [PART], restocked: false, cancelled: false, minor: PART_MINOR },
    { what: 'refund', bodies: [PART, {}], restocked: false, cancelled: false, minor: null },
    { what: 'refund', bodies: [{ restock: true }], restocked: true, cancelled: false, minor: null },
    { what: 'cancel', bodies: [{}], restocked: true, cancelled: true, minor: null },
  ]
const KEEPING = ACTS.filter(({ restocked }) => !restocked)
const CALL_TIMEOUT_MS = 5_000
const AGAIN_MS = 300
/** The number exceeds a page of the feed. */
const FIRST_POSTS = 12
const POST_EVERY_MS = 2_000
/** An origin that was killed has restarted within this time. */
const ANSWERED_WITHIN_MS = 60_000

interface OperatorOptions {
  readonly to: Pick<Target, 'originUrl' | 'adminToken'>
  /** The share of the orders that visitors see confirmed. */
  readonly share: number
  /** True if units may become available again. */
  readonly restocks: boolean
  readonly random: () => number
}

export class Operator {
  readonly #options: OperatorOptions
  readonly #orders = new Map<string, GivenBack>()
  readonly #failed: string[] = []
  #seen = 0
  /** The calls are made one after the other. */
  #work = Promise.resolve()

  constructor(options: OperatorOptions) {
    this.#options = options
  }

  /** Called when a visitor has seen their order confirmed. */
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

  async #act(order: string, { what, bodies, ...given }: (typeof ACTS)[number]): Promise<void> {
    let calls = 0
    for (const body of bodies) if (await this.#call(order, what, body)) calls++
    if (calls > 0) this.#orders.set(order, { ...given, calls })
  }

  async #call(order: string, what: 'refund' | 'cancel', body: object): Promise<boolean> {
    const { originUrl, adminToken } = this.#options.to
    const headers = {
      authorization: `Bearer ${adminToken}`,
      'content-type': 'application/json',
      'idempotency-key': randomUUID(),
    }
    const request = { method: 'POST', headers, body: JSON.stringify({ reason: 'a rehearsal', ...body }) }
    const untilMs = performance.now() + ANSWERED_WITHIN_MS
    for (;;) {
      const signal = AbortSignal.timeout(CALL_TIMEOUT_MS)
      const status = await fetch(`${originUrl}/admin/orders/${order}/${what}`, { ...request, signal }).then(
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

/**
 * Writes more than a page of posts to the sale's feed, followed by another post every two seconds, until the returned
 * function is called.
 */
export async function postMeanwhile(to: OperatorOptions['to'], sale: string): Promise<() => Promise<void>> {
  const post = (n: number) => admin(to, 'POST', `/sales/${sale}/feed`, { text: { en: `Post ${n} of the shop.` } })
  for (let n = 1; n <= FIRST_POSTS; n++) await post(n)
  const stopping = new AbortController()
  const posting = (async () => {
    for (let n = FIRST_POSTS + 1; !stopping.signal.aborted; n++) {
      await sleep(POST_EVERY_MS, undefined, { signal: stopping.signal }).catch(() => {})
      // A post that fails because the origin was killed is left out.
      if (!stopping.signal.aborted) await post(n).catch(() => {})
    }
  })()
  return async () => {
    stopping.abort()
    await posting
  }
}
