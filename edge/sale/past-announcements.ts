/**
 * What was announced before, in pages from the oldest on: a full page never changes, and is cached for long. Nothing here
 * reads a cookie.
 */
import { ANNOUNCEMENTS_A_PAGE, PastAnnouncements } from '../../shared/api/public.ts'
import { tryParse } from '../../shared/parse.ts'
import { problem } from '../../shared/problem.ts'
import { limitAddress } from '../admission/limits/rate-limits.ts'
import { CACHE_TTL, cacheHeaders } from '../cache.ts'
import { type Call, etagOf, isCached, publicNow, refuse, sendProblem } from '../call.ts'
import { Copies } from '../copies.ts'
import { callOrigin } from '../origin.ts'
import { PAGE_HEADERS } from '../pages/respond.ts'

/** The number of a page, below 1,000: more than any sale has. */
const PAGE = /^[1-9]\d{0,2}$/
interface Page {
  readonly number: number
  readonly body: string
  readonly etag: string
  readonly isFull: boolean
}

const pages = new Copies<Page>({ max: 1_000, freshMs: 5_000, waitMs: 2_000 })

/** `GET /sales/{sale}/announcements`: the newest page, which names the one before as `older`; `?page=2` that one. */
export async function announcements(sale: string, call: Call): Promise<Response> {
  limitAddress('announcements', call.config.STATUS_PER_ADDRESS, call)
  const wanted = new URL(call.request.url).searchParams.get('page')
  if (wanted !== null && !PAGE.test(wanted)) refuse('not-found')
  const { schedule } = await publicNow(sale, call)
  // Another announcement ends the one before.
  const ask = (page: string | null) =>
    pages.of(`${sale} ${page} ${schedule.announcement?.id}`, () => load(sale, page, call))
  const newest = await ask(null)
  const number = Number(wanted ?? newest.number)
  if (number > newest.number) return absent(sale)
  const { body, etag, isFull } = number === newest.number ? newest : await ask(wanted)
  const caching = cacheHeaders(sale, isFull ? CACHE_TTL.past : CACHE_TTL.landing)
  const headers = { 'content-type': 'application/json', etag, ...caching }
  return isCached(call.request, etag) ? new Response(null, { status: 304, headers }) : new Response(body, { headers })
}

/** Beyond the newest page: the ledger is not asked. */
function absent(sale: string): Response {
  const response = sendProblem(problem('not-found'))
  const caching = { ...cacheHeaders(sale, CACHE_TTL.landing), vary: PAGE_HEADERS.vary }
  for (const [name, value] of Object.entries(caching)) response.headers.set(name, value)
  return response
}

async function load(sale: string, wanted: string | null, call: Call): Promise<Page> {
  const headers = { authorization: `Bearer ${call.config.EDGE_TOKEN}` }
  const query = wanted === null ? '' : `?page=${wanted}`
  const response = await callOrigin(`/internal/sales/${sale}/announcements${query}`, { headers }, call)
  if (response.status === 404) refuse('not-found')
  const found = response.ok ? tryParse(PastAnnouncements, await response.json()) : null
  if (!found) return refuse('try-again', { retry_after_seconds: 2 })
  const body = JSON.stringify(found)
  const etag = await etagOf(new TextEncoder().encode(body))
  return { number: found.page, body, etag, isFull: found.announcements.length === ANNOUNCEMENTS_A_PAGE }
}
