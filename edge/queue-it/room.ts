/**
 * The room as connectors call it: they send visitors here who must wait, who give up their place, or whose token was
 * refused. The visitor waits on the sale's own pages.
 */
import { problemIn } from '../../shared/problem.ts'
import { type Call, refuse, seeOther, wantsHtml } from '../http/call.ts'
import { limitAddress } from '../http/limits/rate-limits.ts'
import type { QueueItCustomer } from '../http/queue-it-setting.ts'
import { LANGUAGES } from '../pages/words/words.ts'
import { endSession } from '../protect/protect.ts'
import { inLine, publicNow } from '../queue/sale-now.ts'
import { deletePlaceCookie, findAdmission, lineOf, type Place } from '../visitor/credentials.ts'
import { authenticate } from '../visitor/visitor.ts'
import { FROM_SHOP, isCause } from './error-page.ts'
import { tokenAfterEvent } from './onwards.ts'
import { withToken } from './target.ts'
import {
  customerOf,
  findSale,
  mayEnter,
  queueIdOf,
  rememberVisit,
  requestedTarget,
  saleOf,
  type Visit,
} from './visit.ts'

/** A connector cancels the rooms of one action together. */
const MAX_CANCELLED = 20

/** The route `GET /q/{customer}/?c=&e=&t=&cid=&enqueuetoken=`. */
export function showRoom(name: string, call: Call): Promise<Response> | null {
  const customer = customerOf(name, call)
  return customer && enter(customer, call)
}

async function enter(customer: QueueItCustomer, call: Call): Promise<Response> {
  limitAddress('status', call.config.STATUS_PER_ADDRESS, call)
  const query = new URL(call.request.url).searchParams
  const visit = visitIn(query, customer, call)
  const { sale, target } = visit
  const publicly = await publicNow(sale, call)
  if (publicly.schedule.phase === 'ended') return seeOther(withToken(target, tokenAfterEvent(visit, call)))
  if (!(await mayEnter(query.get('enqueuetoken'), visit, call))) return refuseEntry(sale, call)
  rememberVisit(visit, call)
  return seeOther(`${await pageFor(visit, call)}${languageOf(query.get('cid'))}`)
}

function visitIn(query: URLSearchParams, customer: QueueItCustomer, call: Call): Visit {
  if ((query.get('c') ?? customer.customer) !== customer.customer) refuse('not-found')
  const event = query.get('e') ?? ''
  return { customer, event, sale: saleOf(event, customer), target: requestedTarget(query.get('t'), customer, call) }
}

/** A browser is led to the shop, which makes such tokens. */
function refuseEntry(sale: string, { request }: Call): Response {
  if (wantsHtml(request)) return seeOther(`/sales/${sale}/shop-error/${FROM_SHOP}`)
  return refuse('refused', { detail: 'A valid enqueue token of the shop is required.' })
}

/** The page of the visitor's own place, or of the sale. A visitor whose turn has passed begins anew. */
async function pageFor({ sale }: Visit, call: Call): Promise<string> {
  const { place, refusal } = await authenticate(sale, call)
  if (refusal === 'signed-out') return `/sales/${sale}/line`
  if (!place) return `/sales/${sale}`
  const now = await inLine(await publicNow(sale, call), lineOf(place.claims), call)
  if (now.place(place.claims.num).status !== 'missed_turn' || (await findAdmission(sale, call)))
    return `/sales/${sale}/line`
  deletePlaceCookie(sale, call)
  return `/sales/${sale}`
}

/** The page's language for a culture such as `de-CH`, if there are pages in it. */
function languageOf(culture: string | null): string {
  const lang = LANGUAGES.find((one) => one === culture?.toLowerCase().split('-', 1)[0])
  return lang === undefined ? '' : `?lang=${lang}`
}

// -- Cancel ---------------------------------------------------------------------------------------------------------

/** The route `GET /q/{customer}/cancel/multiple/{customer}?wrl=event~place_event~place&r=`. */
export function cancelAll(name: string, named: string, call: Call): Promise<Response> | null {
  const places = (new URL(call.request.url).searchParams.get('wrl') ?? '').split('_')
  return cancel(
    name,
    named,
    places.slice(0, MAX_CANCELLED).map((pair) => pair.split('~')),
    call,
  )
}

/** The route `GET /q/{customer}/cancel/{customer}/{event}/{place}?r=`, of older connectors. */
export const cancelOne = (of: Readonly<Record<'customer' | 'named' | 'event' | 'place', string>>, call: Call) =>
  cancel(of.customer, of.named, [[of.event, of.place]], call)

function cancel(name: string, named: string, places: readonly string[][], call: Call): Promise<Response> | null {
  const customer = customerOf(name, call)
  if (customer && named !== name) refuse('not-found')
  return customer && endAll(customer, places, call)
}

/**
 * Gives up the caller's own places among these. Only the shop and the visitor know their ids. A buyer is on the way to
 * the page of their order, so neither a room of elsewhere nor a queue that cannot be reached holds them up.
 */
async function endAll(customer: QueueItCustomer, places: readonly string[][], call: Call): Promise<Response> {
  limitAddress('status', call.config.STATUS_PER_ADDRESS, call)
  const target = requestedTarget(new URL(call.request.url).searchParams.get('r'), customer, call)
  for (const [event = '', queueId] of places) {
    const sale = findSale(event, customer)
    const held = sale === undefined ? null : await heldPlace(sale, call)
    if (held && queueIdOf(held.claims, call) === queueId)
      await endSession(held.claims.sale, held, call).catch((error) => void problemIn(error))
  }
  return seeOther(target)
}

const heldPlace = async (sale: string, call: Call): Promise<Pick<Place, 'claims'> | null> =>
  (await authenticate(sale, call)).place ?? (await findAdmission(sale, call))

// -- Errors ---------------------------------------------------------------------------------------------------------

/** The route `GET /q/{customer}/error/{cause}/?c=&e=&t=`: the connector refused a token. */
export function showError(name: string, cause: string, call: Call): Promise<Response> | null {
  const customer = customerOf(name, call)
  return customer && explain(customer, cause, call)
}

async function explain(customer: QueueItCustomer, cause: string, call: Call): Promise<Response> {
  limitAddress('status', call.config.STATUS_PER_ADDRESS, call)
  const visit = visitIn(new URL(call.request.url).searchParams, customer, call)
  if (!isCause(cause)) refuse('not-found')
  if (await mayEnter(null, visit, call)) rememberVisit(visit, call)
  return seeOther(`/sales/${visit.sale}/shop-error/${cause}`)
}
