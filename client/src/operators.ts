/** The client of operators: every call of their interface, typed. */
import { type Answer, type Connection, call, repeated } from './http.ts'
import { type OperatorsCalls, ROUTES } from './types/operators.ts'

export { ProblemError } from './problems.ts'
export type * from './types/operators.ts'

/**
 * The name of a call of operators, as in the API reference.
 *
 * @example
 * ```ts
 * import type { OperatorsCall } from '@flash-sale/client/operators'
 *
 * const steering: readonly OperatorsCall[] = ['openSale', 'pauseSale', 'resumeSale', 'setRate']
 * console.log(steering)
 * ```
 */
export type OperatorsCall = keyof OperatorsCalls

/**
 * What a call takes: the parts of its path, its query, its headers, and its body.
 *
 * @example
 * ```ts
 * import type { Asked } from '@flash-sale/client/operators'
 *
 * const more: Asked<'restock'> = { path: { sale: 'drop', product: 'red' }, body: { quantity: 50 } }
 * console.log(more.body.quantity)
 * ```
 */
export type Asked<Name extends OperatorsCall> = Omit<OperatorsCalls[Name], 'answer'> & {
  /** Ends the call. */
  readonly signal?: AbortSignal
}

/** Calls without anything that must be sent may leave their argument out. */
type Arguments<Name extends OperatorsCall> =
  Record<string, never> extends Omit<OperatorsCalls[Name], 'answer'> ? [asked?: Asked<Name>] : [asked: Asked<Name>]

/**
 * The operators' interface of an origin, with an operator's key. Reads are repeated when they fail for a moment; calls
 * that change something are not, unless they have an `idempotency-key`.
 *
 * @example
 * ```ts
 * import { Operators } from '@flash-sale/client/operators'
 *
 * const operators = new Operators('https://origin.internal', { key: 'the-key-of-an-operator' })
 * const { phase, queue } = await operators.call('getSale', { path: { sale: 'drop' } })
 * console.log(phase, queue.waiting)
 * ```
 */
export class Operators {
  readonly #connection: Connection
  readonly #key: string

  constructor(
    url: string | URL,
    { key, fetch: ownFetch = fetch }: { readonly key: string; readonly fetch?: typeof fetch },
  ) {
    this.#key = key
    this.#connection = { url: String(url).replace(/\/$/, ''), fetch: (...request) => ownFetch(...request), headers: {} }
  }

  /**
   * Makes a call by its name, and returns its answer.
   *
   * @throws ProblemError `unauthorized`, `forbidden` (another role), `invalid-fields`, and more by the reference
   *
   * @example
   * ```ts
   * import { Operators } from '@flash-sale/client/operators'
   *
   * const operators = new Operators('https://origin.internal', { key: 'the-key-of-an-operator' })
   * await operators.call('restock', {
   *   path: { sale: 'drop', product: 'red' },
   *   headers: { 'idempotency-key': 'delivery-4711' },
   *   body: { quantity: 50 },
   * })
   * ```
   */
  async call<Name extends OperatorsCall>(
    name: Name,
    ...[asked]: Arguments<Name>
  ): Promise<OperatorsCalls[Name]['answer']> {
    return (await this.callWithHeaders(name, ...([asked] as Arguments<Name>))).body
  }

  /**
   * The same with the headers of the answer, such as the `etag` of a sale, for `if-match` of a change.
   *
   * @example
   * ```ts
   * import { Operators } from '@flash-sale/client/operators'
   *
   * const operators = new Operators('https://origin.internal', { key: 'the-key-of-an-operator' })
   * const path = { sale: 'drop' }
   * const { body, headers } = await operators.callWithHeaders('listPromoCodes', { path })
   * await operators.call('putPromoCodes', {
   *   path,
   *   headers: { 'if-match': headers.get('etag') ?? '' },
   *   body: [...body.codes, { code: 'SUMMER', percent: 10 }],
   * })
   * ```
   */
  callWithHeaders<Name extends OperatorsCall>(
    name: Name,
    ...[asked]: Arguments<Name>
  ): Promise<Answer<OperatorsCalls[Name]['answer']>> {
    const { path = {}, query = {}, headers = {}, body, signal } = (asked ?? {}) as Sent
    const [method, template] = ROUTES[name]
    const filled = template.replaceAll(/\{(\w+)\}/g, (_, part: string) => encodeURIComponent(path[part] ?? ''))
    const search = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== undefined))
    const address = search.size > 0 ? `${filled}?${search}` : filled
    const make = () =>
      call<OperatorsCalls[Name]['answer']>(this.#connection, method, address, {
        token: this.#key,
        headers,
        ...(body !== undefined && { body }),
        signal,
      })
    return method === 'GET' || headers['idempotency-key'] !== undefined ? repeated(make, signal) : make()
  }
}

interface Sent {
  readonly path?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
  readonly signal?: AbortSignal
}
