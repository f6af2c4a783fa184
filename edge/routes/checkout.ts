/**
 * The way to the origin, for those whose turn has come: the calls of the contract are passed on as they are, with the
 * visitor's token and nothing else of theirs; the pages' plain forms become the same calls.
 */

import { decodeJwt } from 'jose'
import * as v from 'valibot'
import { Order, OrderId } from '../../shared/api/public.ts'
import { isLive } from '../../shared/order-status.ts'
import { bodyTooLarge, MAX_BODY_BYTES } from '../../shared/parse.ts'
import { invalidField, type Problem, problem } from '../../shared/problem.ts'
import {
  ADMISSION,
  type AdmissionClaims,
  isEdgeToken,
  ORDER_TOKEN_TTL_SECONDS,
  readToken,
} from '../../shared/tokens.ts'
import { cookie, cookieNames, readCookie } from '../auth/cookies.ts'
import { limitedByAddress } from '../auth/rate-limits.ts'
import { mayUse, presentedToken } from '../auth/visitor.ts'
import { type Call, isBrowser, NO_STORE, problemAnswer, seeOther } from '../http.ts'
import type { Again } from '../pages/view.ts'

/** What goes on to the origin, and what comes back from it. */
const REQUEST_HEADERS = ['idempotency-key', 'content-type', 'accept', 'last-event-id', 'traceparent']
const RESPONSE_HEADERS = ['content-type', 'cache-control', 'retry-after', 'location', 'idempotency-replayed']
/** The origin answers within seconds or says so; a stream of events takes as long as it takes. */
const ORIGIN_TIMEOUT_MS = 15_000
/** With this an order's page says that it is the one they had, and not what they have just asked for. */
export const ALREADY = 'already'
/** Someone without an admission asks again after so long. */
const RETRY_AFTER_SECONDS = 5

/** `POST /sales/{sale}/checkout` */
export async function checkout(sale: string, call: Call): Promise<Response> {
  const admission = await admissionFor(sale, call)
  if ('type' in admission) return problemAnswer(admission)
  return pass(`/sales/${sale}/checkout`, admission.token, call)
}

/** `/orders/{order}` and below */
export async function orders(path: string, order: string, call: Call): Promise<Response> {
  const tooMany = askedTooOften(call)
  if (tooMany) return problemAnswer(tooMany)
  const token = await orderToken(order, call)
  if (token === null) return problemAnswer(notAdmitted(null))
  return pass(path, token, call)
}

/** The admission that a request presents for a sale, verified; or what to answer without one. */
export async function admissionFor(
  sale: string,
  call: Call,
): Promise<{ readonly token: string; readonly claims: AdmissionClaims } | Problem> {
  const token = presentedToken(`admission-${sale}`, call)
  if (token === null) return notAdmitted(sale)
  const verified = await readToken(ADMISSION, call.config.keys.admission, token, call.nowMs)
  if (!verified.ok || !(await mayUse(verified.claims.sub, call))) return notAdmitted(sale)
  if (verified.claims.sale !== sale) return problem('wrong-sale')
  return { token, claims: verified.claims }
}

function notAdmitted(sale: string | null): Problem {
  const queue = sale === null ? {} : { queue: `/sales/${sale}/queue` }
  return problem('not-admitted', { ...queue, retry_after_seconds: RETRY_AFTER_SECONDS })
}

/** Whether an order's token is good only the origin can tell: an address may have it asked only so often. */
const askedTooOften = (call: Call) => limitedByAddress('order', call.config.limits.statusPerAddress, call)

/**
 * What a request presents for an order: the order's own token, or an admission. Only the origin can read an order's
 * token, so what looks like one goes on; an admission is verified here as well, since it may be bound to an account.
 * Where the sale is known it is that sale's.
 */
async function orderToken(order: string, call: Call, sale?: string): Promise<string | null> {
  const { request, secure } = call
  const admission = sale === undefined ? cookieNames(request, 'admission-', secure)[0] : `admission-${sale}`
  const token =
    presentedToken(`order-${order}`, call) ?? (admission ? readCookie(request, admission, secure) : null)
  if (!token) return null
  const verified = await readToken(ADMISSION, call.config.keys.admission, token, call.nowMs)
  const goesOn = verified.ok ? await mayUse(verified.claims.sub, call) : isOrderToken(token)
  return goesOn ? token : null
}

/** What looks like a token of the origin's: a JWT, and none of ours that is bad or has expired. */
const isOrderToken = (token: string) => /\.[\w-]{43}$/.test(token) && !isEdgeToken(token)

/** The latest of a sale's orders that a browser has a token of, as that says: whether it holds is seen on the order's page. */
export function keptOrder(sale: string, { request, secure }: Call): string | null {
  const orders = cookieNames(request, 'order-', secure).map((name) => name.slice('order-'.length))
  const isOfSale = (order: string) => saleOf(readCookie(request, `order-${order}`, secure) ?? '') === sale
  // Browsers send the latest cookie last.
  return orders.findLast((order) => v.is(OrderId, order) && isOfSale(order)) ?? null
}

function saleOf(orderToken: string): unknown {
  try {
    return decodeJwt(orderToken).sale
  } catch {
    return null
  }
}

async function pass(path: string, token: string, call: Call): Promise<Response> {
  const { request } = call
  if (Number(request.headers.get('content-length') ?? 0) > MAX_BODY_BYTES)
    return problemAnswer(bodyTooLarge())
  const headers = new Headers({ authorization: `Bearer ${token}` })
  for (const name of REQUEST_HEADERS) {
    const value = request.headers.get(name)
    if (value !== null) headers.set(name, value)
  }
  const response = await askOrigin(path, { method: request.method, headers, body: request.body }, call)
  if (!response) return originAway()
  const answer = new Response(response.body, {
    status: response.status,
    headers: RESPONSE_HEADERS.flatMap((name): [string, string][] => {
      const value = response.headers.get(name)
      return value === null ? [] : [[name, value]]
    }),
  })
  // Said by us where the origin says nothing: it is one visitor's.
  if (!answer.headers.has('cache-control')) answer.headers.set('cache-control', NO_STORE)
  return isBrowser(request) && path.endsWith('/checkout') ? withTokenInCookie(answer, call) : answer
}

/** Null if the origin does not answer. */
async function askOrigin(
  path: string,
  init: RequestInit,
  { config, request }: Call,
): Promise<Response | null> {
  const endless = request.headers.get('accept')?.includes('text/event-stream')
  try {
    return await fetch(`${config.originUrl}${path}`, {
      ...init,
      redirect: 'manual',
      ...(endless ? {} : { signal: AbortSignal.timeout(ORIGIN_TIMEOUT_MS) }),
    })
  } catch (error) {
    console.warn(JSON.stringify({ msg: 'the origin did not answer', path, why: String(error) }))
    return null
  }
}

function originAway(): Response {
  return problemAnswer(
    problem('try-again', {
      detail: 'The shop cannot be reached. You keep your place.',
      retry_after_seconds: 2,
    }),
  )
}

/** A browser's order token goes into a cookie, out of reach of page script. */
async function withTokenInCookie(answer: Response, call: Call): Promise<Response> {
  if (answer.status >= 300) return answer
  const parsed = v.safeParse(
    Order,
    await answer
      .clone()
      .json()
      .catch(() => null),
  )
  if (!parsed.success) return answer
  const { order_token, ...order } = parsed.output
  const response = new Response(JSON.stringify(order), answer)
  if (order_token) response.headers.append('set-cookie', orderCookie(order.order_id, order_token, call))
  return response
}

function orderCookie(order: string, token: string, { secure }: Call): string {
  return cookie(`order-${order}`, token, secure, ORDER_TOKEN_TTL_SECONDS)
}

// -- The pages' forms --------------------------------------------------------------------------------------------------

/** What a page's form led to: an order to show, or a problem to explain. */
export type FormResult =
  | { readonly go: Response }
  | { readonly problem: Problem; readonly again?: Again | undefined }

/** `POST /sales/{sale}/buy`: a checkout by form. */
export async function buy(sale: string, call: Call): Promise<FormResult> {
  const admission = await admissionFor(sale, call)
  if ('type' in admission) return { problem: admission }
  const form = await formOf(call.request)
  if (!form) return { problem: problem('invalid-request') }
  const { product_id, quantity, payment_method } = form
  // The origin would take the sale's first product: nobody is to have what they did not choose.
  if (!product_id) return { problem: invalidField('product_id', 'is required') }
  const idempotency_key = form.idempotency_key || crypto.randomUUID()
  const headers = {
    authorization: `Bearer ${admission.token}`,
    'content-type': 'application/json',
    'idempotency-key': idempotency_key,
  }
  const body = JSON.stringify({
    product_id,
    ...(quantity ? { quantity: Number(quantity) } : {}),
    ...(payment_method ? { payment_method } : {}),
  })
  const response = await askOrigin(`/sales/${sale}/checkout`, { method: 'POST', headers, body }, call)
  const order = await orderIn(response)
  if ('type' in order)
    return { problem: order, again: again(order, `/sales/${sale}/buy`, { ...form, idempotency_key }) }
  const cookies = order.order_token ? [orderCookie(order.order_id, order.order_token, call)] : []
  // Answered with another order than the one that was asked for: the visitor has what one may have.
  const already = response?.status === 200 && isLive(order.status)
  return { go: seeOther(`/sales/${sale}/order/${order.order_id}${already ? `?${ALREADY}` : ''}`, cookies) }
}

/** `POST /sales/{sale}/order/{order}/payment` and `.../cancel`: the same by form. */
export async function changeOrder(
  sale: string,
  order: string,
  what: 'payment' | 'cancel',
  call: Call,
): Promise<FormResult> {
  const tooMany = askedTooOften(call)
  if (tooMany) return { problem: tooMany }
  const token = await orderToken(order, call, sale)
  if (token === null) return { problem: notAdmitted(sale) }
  const form = await formOf(call.request)
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const response =
    what === 'payment'
      ? await askOrigin(
          `/orders/${order}/payment`,
          { method: 'POST', headers, body: JSON.stringify({ payment_method: form?.payment_method }) },
          call,
        )
      : await askOrigin(`/orders/${order}`, { method: 'DELETE', headers }, call)
  // In conflict with what the order has become meanwhile: its page says what that is.
  if (response?.ok || response?.status === 409) {
    await response.body?.cancel()
    return { go: seeOther(`/sales/${sale}/order/${order}`) }
  }
  const result = await orderIn(response)
  const met = 'type' in result ? result : problem('internal-error')
  return { problem: met, again: again(met, `/sales/${sale}/order/${order}/${what}`, form ?? {}) }
}

/**
 * The form to send again where that may help. It is sent as it was, with its idempotency key: should the first one have
 * come through after all, the second finds what it did.
 */
function again({ status, type }: Problem, action: string, fields: Record<string, string>): Again | undefined {
  return status === 503 || type === '/problems/all-in-carts' ? { action, fields } : undefined
}

/** The order to show on a page. */
export async function orderFor(sale: string, order: string, call: Call): Promise<Order | Problem> {
  const tooMany = askedTooOften(call)
  if (tooMany) return tooMany
  const token = await orderToken(order, call, sale)
  if (token === null) return problem('unknown-order')
  return orderIn(await askOrigin(`/orders/${order}`, { headers: { authorization: `Bearer ${token}` } }, call))
}

async function orderIn(response: Response | null): Promise<Order | Problem> {
  const away = problem('try-again', { retry_after_seconds: 2 })
  if (!response) return away
  const body: unknown = await response.json().catch(() => null)
  if (!response.ok) {
    const told = body as Problem | null
    return told && typeof told.type === 'string' && typeof told.title === 'string' ? told : away
  }
  const order = v.safeParse(Order, body)
  return order.success ? order.output : away
}

/** The fields of a form; null if the body is none, or too large. */
async function formOf(request: Request): Promise<Record<string, string> | null> {
  if (!(Number(request.headers.get('content-length') ?? Number.NaN) <= MAX_BODY_BYTES)) return null
  try {
    const fields = [...(await request.formData())].filter(
      (field): field is [string, string] => typeof field[1] === 'string',
    )
    return Object.fromEntries(fields)
  } catch {
    return null
  }
}
