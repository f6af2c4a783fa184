/**
 * A visit from a shop: which customer and event sent the visitor, and where they return to. A signed cookie remembers
 * it while they wait, so nobody gets a token for an event whose enqueue token they did not have.
 */
import { bytesToHex } from '@noble/hashes/utils.js'
import { timingSafeEqual } from 'hono/utils/buffer'
import { base64url } from 'jose'
import * as v from 'valibot'
import { hmacOf } from '../../shared/lib/hash.ts'
import { tryParseJson } from '../../shared/parse.ts'
import type { AdmissionClaims, QueueClaims } from '../../shared/tokens.ts'
import { addressOf, type Call, refuse } from '../http/call.ts'
import type { QueueItCustomer } from '../http/queue-it-setting.ts'
import { derivedKey } from '../http/visitor-secret.ts'
import { publicNow } from '../queue/sale-now.ts'
import { readCookie, setCookie } from '../visitor/cookies.ts'
import { lineOf } from '../visitor/credentials.ts'
import { isEnqueueToken } from './enqueue-token.ts'
import { startOf, targetAt } from './target.ts'

export interface Visit {
  readonly customer: QueueItCustomer
  readonly event: string
  readonly sale: string
  readonly target: string
}

/** The customer of a path; null if this Worker serves no connectors. Throws `not-found` for an unknown customer. */
export function customerOf(name: string, { config: { queueIt } }: Call): QueueItCustomer | null {
  if (!queueIt) return null
  return queueIt.find(({ customer }) => customer === name) ?? refuse('not-found')
}

/** The customers whose events have this sale. */
export const customersOf = (sale: string, { config: { queueIt } }: Call): readonly QueueItCustomer[] =>
  (queueIt ?? []).filter(({ events }) => Object.values(events).includes(sale))

export const findSale = (event: string, { events }: QueueItCustomer): string | undefined =>
  Object.hasOwn(events, event) ? events[event] : undefined

/** The sale of an event. Throws `unknown-sale`. */
export function saleOf(event: string, customer: QueueItCustomer): string {
  return findSale(event, customer) ?? refuse('unknown-sale', { detail: 'The customer has no such event.' })
}

/** The address that a connector names, or else the shop's start. Throws `invalid-request` for one at another host. */
export function requestedTarget(text: string | null, customer: QueueItCustomer, call: Call): string {
  if (!text) return startOf(customer)
  const target = targetAt(text, customer, !call.config.production)
  return target ?? refuse('invalid-request', { detail: 'The target is not an address of the shop.' })
}

/** True for a visitor who has a valid enqueue token, or none where none is required. */
export async function mayEnter(
  token: string | null,
  { customer, event }: Omit<Visit, 'target'>,
  call: Call,
): Promise<boolean> {
  if (!token) return customer.enqueue_token === 'optional'
  const { customer: name, secret } = customer
  const expected = { customer: name, event, secret, nowMs: call.nowMs, ...boundAddress(customer, call) }
  return isEnqueueToken(token, expected)
}

/** The caller's address, for a customer whose tokens are bound to it. */
export function boundAddress({ bind_address }: QueueItCustomer, call: Call): { readonly address?: string } {
  const address = bind_address ? addressOf(call) : null
  return address === null ? {} : { address }
}

// -- The cookie -----------------------------------------------------------------------------------------------------

/** A lobby may open days before the sale. */
const TTL_SECONDS = 30 * 24 * 3600
/** No name of a sale contains a dot. */
const cookieOf = (sale: string) => `return-shop.${sale}`
const Remembered = v.object({ c: v.string(), e: v.string(), t: v.string() })

export function rememberVisit({ customer, event, sale, target }: Visit, call: Call): void {
  const text = base64url.encode(JSON.stringify({ c: customer.customer, e: event, t: target }))
  setCookie(cookieOf(sale), `${text}.${signatureOf(text, sale, call)}`, TTL_SECONDS, call)
}

/**
 * The visit that the cookie remembers, as the setting still allows it. Whoever joined at the sale's own page returns
 * to the start of the first shop that requires no enqueue token. Null if there is neither.
 */
export async function visitTo(sale: string, call: Call): Promise<Visit | null> {
  const customers = customersOf(sale, call)
  if (customers.length === 0) return null
  const { c, e, t } = (await remembered(sale, call)) ?? {}
  for (const customer of customers) {
    const target = customer.customer === c && targetAt(t ?? '', customer, !call.config.production)
    if (target && e !== undefined && customer.events[e] === sale) return { customer, event: e, sale, target }
  }
  const customer = customers.find(({ enqueue_token }) => enqueue_token === 'optional')
  const [event] = Object.entries(customer?.events ?? {}).find(([, of]) => of === sale) ?? []
  return customer && event !== undefined ? { customer, event, sale, target: startOf(customer) } : null
}

const signatureOf = (text: string, sale: string, call: Call) => base64url.encode(macOf(`visit ${sale} ${text}`, call))

async function remembered(sale: string, call: Call): Promise<v.InferOutput<typeof Remembered> | undefined> {
  const [text = '', mac = ''] = readCookie(cookieOf(sale), call)?.split('.') ?? []
  if (!(await timingSafeEqual(mac, signatureOf(text, sale, call)))) return undefined
  return tryParseJson(Remembered, new TextDecoder().decode(base64url.decode(text)))
}

/**
 * The id of a place for the shop, which connectors send back to cancel it. It is the same for each token of the place,
 * nobody else can guess it, and it has the form of a UUID, as shops store it.
 */
export function queueIdOf(claims: QueueClaims | AdmissionClaims, call: Call): string {
  const hex = bytesToHex(macOf(`place ${claims.sale} ${lineOf(claims)} ${claims.num} ${claims.sub}`, call))
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(12, 15)}-8${hex.slice(15, 18)}-${hex.slice(18, 30)}`
}

const macOf = (text: string, { config }: Call) => hmacOf(derivedKey(config.QUEUE_KEYS, 'Queue-it'), text)

/** True once the event is over, when everybody passes. */
export async function isOver(sale: string, call: Call): Promise<boolean> {
  return (await publicNow(sale, call)).schedule.phase === 'ended'
}
