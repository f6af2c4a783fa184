/** The requests that visitors send, as texts of HTTP. */
import { FORM_TYPE, requestText } from '../lib/http.ts'
import type { ScheduleCopy } from './schedule-copy.ts'
import type { Identity } from './visitors/identities.ts'
import { PLAN, type Visitor } from './visitors/visitors.ts'

/** The headers of a form that a page's script sends, whose response is the page to show. */
export const BY_SCRIPT = ['accept: text/html', 'sec-fetch-site: same-origin', 'sec-fetch-dest: empty']

export interface RequestOptions {
  readonly sale: string
  readonly random: () => number
  /** The identity that a visitor sends with each call. */
  readonly identityOf: (id: number) => Identity
}

export class Requests {
  readonly #host: string
  readonly #options: RequestOptions
  readonly #schedule: Pick<ScheduleCopy, 'copy'>

  constructor(host: string, options: RequestOptions, schedule: Pick<ScheduleCopy, 'copy'>) {
    this.#host = host
    this.#options = options
    this.#schedule = schedule
  }

  /** The idempotency key. A retry for one unit instead of two, or for other seats, is a different request. */
  keyOf(visitor: Visitor): string {
    const { wishes } = visitor
    const request = wishes ? `-${wishes.version}` : visitor.has(PLAN.pair) ? '-pair' : ''
    return `${this.#options.sale}-${visitor.id}${request}`
  }

  /** A request for a page or a document of the shop. */
  shop({ id }: Visitor, path: string, accept: string): string {
    return requestText('GET', path, this.#host, [`accept: ${accept}`, ...this.#options.identityOf(id).headers])
  }

  /** A visitor's request about the sale. */
  ofVisitor({ id }: Visitor, method: string, path: string, headers: readonly string[], body?: string): string {
    return this.ofSale(method, path, [...headers, ...this.#options.identityOf(id).headers], body)
  }

  ofSale(method: string, path: string, headers: readonly string[], body?: string, type?: string): string {
    return requestText(method, `/sales/${this.#options.sale}${path}`, this.#host, headers, body, type)
  }

  /** A form of a visitor's own page. */
  form(visitor: Visitor, path: string, fields: Readonly<Record<string, string>>): string {
    const headers = [...BY_SCRIPT, this.cookiesOf(visitor), ...this.#options.identityOf(visitor.id).headers]
    return this.ofSale('POST', path, headers, new URLSearchParams(fields).toString(), FORM_TYPE)
  }

  buy(visitor: Visitor): string {
    const method = visitor.has(PLAN.payAtOnce) ? visitor.method() : null
    return this.form(visitor, '/buy', {
      product_id: this.#schedule.copy.products[0]?.product_id ?? '',
      quantity: String(visitor.quantity()),
      idempotency_key: this.keyOf(visitor),
      ...(method && { payment_method: method }),
    })
  }

  /** A request for the page of a visitor's order. */
  orderPage(visitor: Visitor): string {
    return this.ofVisitor(visitor, 'GET', `/order/${visitor.order?.order}`, [
      'accept: text/html',
      this.cookiesOf(visitor),
    ])
  }

  cookiesOf({ token, order }: Visitor): string {
    const own = order?.token ? `; order-${order.order}=${order.token}` : ''
    return `cookie: admission-${this.#options.sale}=${token}${own}`
  }

  checkout(visitor: Visitor, key: string): string {
    const method = visitor.has(PLAN.payAtOnce) ? visitor.method() : null
    return this.ofVisitor(
      visitor,
      'POST',
      '/checkout',
      ['accept: application/json', `authorization: Bearer ${visitor.token}`, `idempotency-key: ${key}`],
      JSON.stringify({ ...this.#wishesOf(visitor), payment_method: method ?? undefined }),
    )
  }

  #wishesOf(visitor: Visitor) {
    return visitor.wishes?.body(performance.now(), this.#options.random) ?? { quantity: visitor.quantity() }
  }

  /** A buyer's form on the page of their bank. */
  bank(visitor: Visitor): string {
    const { host, pathname } = new URL(visitor.order?.bank ?? '')
    return requestText('POST', `${pathname}/${visitor.has(PLAN.bankFails) ? 'decline' : 'approve'}`, host, [])
  }

  /** A request about a visitor's order. */
  ofOrder(visitor: Visitor, method: string, path = '', body?: object): string {
    return requestText(
      method,
      `/orders/${visitor.order?.order}${path}`,
      this.#host,
      [
        'accept: application/json',
        `authorization: Bearer ${visitor.token}`,
        ...this.#options.identityOf(visitor.id).headers,
      ],
      body && JSON.stringify(body),
    )
  }
}
