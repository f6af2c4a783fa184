/**
 * The requests of buyers' pages from the turn to the receipt (edge/client/forms.ts, edge/client/order-watch.ts), sent
 * by all buyers one step at a time, or by each buyer independently.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { BY_SCRIPT } from '../crowd/requests.ts'
import { type Answer, FORM_TYPE, HttpClient, requestText } from '../lib/http.ts'
import { cookieIn, orderIn, placeIn, shownOrderIn } from '../lib/responses.ts'
import { join } from './parts/edge.ts'
import { PRODUCT_ID, type Stage } from './stage.ts'

const JSON_TYPE = 'accept: application/json'
const HTML_TYPE = 'accept: text/html'
const CALLED_TRIES = 300
const CALLED_EVERY_MS = 100

/** A visitor in the queue whose turn has come. */
export interface Buyer {
  readonly place: string
  readonly key: string
  admission: string
  order: string
  /** The order's cookie. */
  token: string
}

/** The requests of a page. */
export const STEPS = ['turn', 'checkout', 'pay', 'stream'] as const
/** Further requests: a reload of the order's page, and the poll of a page without a stream. */
type Step = (typeof STEPS)[number] | 'page' | 'poll'

export class Buyers {
  readonly all: readonly Buyer[]
  readonly #sale: string
  readonly #client: HttpClient

  private constructor(sale: string, client: HttpClient, places: readonly string[]) {
    this.#sale = sale
    this.#client = client
    this.all = places.map((place) => ({ place, key: randomUUID(), admission: '', order: '', token: '' }))
  }

  /** Makes this many visitors join and wait until their turn has come. */
  static async join({ system }: Stage, sale: string, buyers: number, connections: number): Promise<Buyers> {
    const client = new HttpClient({ url: system.edgeUrl, connections })
    const places = await join(system.edgeUrl, sale, buyers)
    const last = [JSON_TYPE, `authorization: Bearer ${places.at(-1)}`]
    const status = requestText('GET', `/sales/${sale}/queue/status`, client.host, last)
    for (let tries = 0; placeIn(await client.request(status))?.status !== 'ready'; tries++) {
      if (tries === CALLED_TRIES) throw new Error('The line does not move.')
      await sleep(CALLED_EVERY_MS)
    }
    return new Buyers(sale, client, places)
  }

  /** All buyers take a step, as many at a time as there are connections. */
  async each(step: Step): Promise<void> {
    await Promise.all(this.all.map((buyer) => this.take(step, buyer)))
  }

  async take(step: Step, buyer: Buyer): Promise<void> {
    const answer = await this.#client.request(this.#textOf(step, buyer))
    const done = this.#noteAnswer(step, buyer, answer)
    if (!done) throw new Error(`${step}: ${answer.status || answer.failure} ${answer.body.slice(0, 200)}`)
  }

  close(): void {
    this.#client.close()
  }

  #textOf(step: Step, { place, key, admission, order, token }: Buyer): string {
    const [sale, { host }] = [this.#sale, this.#client]
    const held = `cookie: queue-${sale}=${place}; admission-${sale}=${admission}`
    const own = `${held}; order-${order}=${token}`
    const form = (path: string, cookie: string, fields: Record<string, string>) => {
      const body = new URLSearchParams(fields).toString()
      return requestText('POST', `/sales/${sale}${path}`, host, [...BY_SCRIPT, cookie], body, FORM_TYPE)
    }
    switch (step) {
      case 'turn':
        return requestText('GET', `/sales/${sale}/line`, host, [HTML_TYPE, `cookie: queue-${sale}=${place}`])
      case 'checkout': {
        const email = `${key}@example.com`
        return form('/buy', held, { product_id: PRODUCT_ID, quantity: '1', idempotency_key: key, email })
      }
      case 'pay':
        return form(`/order/${order}/payment`, own, { payment_method: 'pm_ok' })
      case 'page':
        return requestText('GET', `/sales/${sale}/order/${order}`, host, [HTML_TYPE, own])
      case 'poll':
        return requestText('GET', `/orders/${order}`, host, [JSON_TYPE, own])
      case 'stream':
        // The stream of a sold order ends by itself after all its changes.
        return requestText('GET', `/orders/${order}/events`, host, ['accept: text/event-stream', own])
    }
  }

  #noteAnswer(step: Step, buyer: Buyer, answer: Answer): boolean {
    if (step === 'turn') buyer.admission = cookieIn(answer, `admission-${this.#sale}`) ?? ''
    if (step === 'checkout') {
      buyer.order = shownOrderIn(answer)?.order_id ?? ''
      buyer.token = cookieIn(answer, `order-${buyer.order}`) ?? ''
    }
    switch (step) {
      case 'turn':
        return answer.status === 200 && buyer.admission !== ''
      case 'checkout':
        return buyer.order !== '' && buyer.token !== ''
      case 'pay':
      case 'page':
        return shownOrderIn(answer) !== null
      case 'poll':
        return orderIn(answer) !== null
      case 'stream':
        return answer.status === 200 && answer.body.includes('"confirmed"')
    }
  }
}
