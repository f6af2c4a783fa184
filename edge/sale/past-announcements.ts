/**
 * What was announced before, in pages from the oldest on: a full page never changes, and is cached for long. Nothing here
 * reads a cookie.
 */
import { ANNOUNCEMENTS_A_PAGE, PastAnnouncements } from '../../shared/api/public.ts'
import { RecentMap } from '../../shared/lib/recent-map.ts'
import { tryParse } from '../../shared/parse.ts'
import { problem } from '../../shared/problem.ts'
import { limitAddress } from '../admission/limits/rate-limits.ts'
import { CACHE_TTL, cacheHeaders } from '../cache.ts'
import { type Call, etagOf, isCached, publicNow, refuse, sendProblem } from '../call.ts'
import { callOrigin } from '../origin.ts'
import { PAGE_HEADERS } from '../pages/respond.ts'
import { isAhead, pollWhile } from '../poll.ts'

/** The number of a page, below 1,000: more than any sale has. */
const PAGE = /^[1-9]\d{0,2}$/
const MAX_PAGES_KNOWN = 1_000
/** How long an isolate sends the same page. */
const PAGE_MS = 5_000
/** How long a request waits for another that loads the page. */
const WAIT_MS = 2_000

interface Page {
  readonly number: number
  readonly body: string
  readonly etag: string
  readonly isFull: boolean
  readonly atMs: number
}

const pages = new RecentMap<string, Page>(MAX_PAGES_KNOWN)
/** Until when others wait for the request that loads a page. */
const loading = new RecentMap<string, number>(MAX_PAGES_KNOWN)

/** `GET /sales/{sale}/announcements`: the newest page, which names the one before as `older`; `?page=2` that one. */
export async function announcements(sale: string, call: Call): Promise<Response> {
  limitAddress('announcements', call.config.STATUS_PER_ADDRESS, call)
  const wanted = new URL(call.request.url).searchParams.get('page')
  if (wanted !== null && !PAGE.test(wanted)) refuse('not-found')
  const { schedule } = await publicNow(sale, call)
  // Another announcement ends the one before.
  const ask = (page: string | null) => pageOf(`${sale} ${page} ${schedule.announcement?.id}`, sale, page, call)
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

async function pageOf(key: string, sale: string, wanted: string | null, call: Call): Promise<Page> {
  const isLoading = (atMs: number) => isAhead(loading.get(key) ?? 0, atMs, WAIT_MS)
  if (isLoading(Date.now())) await pollWhile((atMs) => !fresh(key, atMs) && isLoading(atMs))
  return fresh(key, Date.now()) ?? load(key, sale, wanted, call)
}

function fresh(key: string, atMs: number): Page | undefined {
  const page = pages.get(key)
  return page && isAhead(page.atMs + PAGE_MS, atMs, PAGE_MS) ? page : undefined
}

async function load(key: string, sale: string, wanted: string | null, call: Call): Promise<Page> {
  loading.set(key, Date.now() + WAIT_MS)
  try {
    const headers = { authorization: `Bearer ${call.config.EDGE_TOKEN}` }
    const query = wanted === null ? '' : `?page=${wanted}`
    const response = await callOrigin(`/internal/sales/${sale}/announcements${query}`, { headers }, call)
    if (response.status === 404) refuse('not-found')
    const found = response.ok ? tryParse(PastAnnouncements, await response.json()) : null
    if (!found) return refuse('try-again', { retry_after_seconds: 2 })
    const body = JSON.stringify(found)
    const etag = await etagOf(new TextEncoder().encode(body))
    const page = {
      number: found.page,
      body,
      etag,
      isFull: found.announcements.length === ANNOUNCEMENTS_A_PAGE,
      atMs: Date.now(),
    }
    pages.set(key, page)
    return page
  } finally {
    loading.delete(key)
  }
}
