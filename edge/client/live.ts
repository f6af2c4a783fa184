/**
 * The live page. Its script fetches the one public schedule now and then, works out place, progress and wait by itself, and
 * calls the Worker only to join, when its turn has come, and every few hours until then. Tokens are in cookies that it cannot see. The page changes
 * in place, so that nobody who reads, types or listens is interrupted.
 */
import type { PublicSale } from '../../shared/api/public.ts'
import { clock as clockText, count, fill, money, roughly } from '../../shared/format.ts'
import { isFinal, pollAfterMs, preQueueOpensAtMs, type Schedule } from '../../shared/schedule.ts'
import { type Following, followOrder, rememberOrder, showOwnOrder, storageKeyOfOrders } from './order.ts'
import {
  announce,
  byId,
  clock,
  each,
  get,
  keep,
  kept,
  madeAtMs,
  nowMs,
  type Page,
  readPage,
  SLOW_TIMEOUT_MS,
  show,
  showMoments,
  TIMEOUT_MS,
  textsOf,
  write,
} from './page.ts'
import { placeIn, rememberCommitment, showLine } from './queue.ts'

const FETCH_MIN_MS = 1_000
const FETCH_MAX_MS = 30_000
/** For someone who has not joined, once the sale is open: only its end could matter. */
const FETCH_AT_LANDING_MS = 15_000
/** During a turn: what is left, "sold out", or that there is something to choose again. */
const FETCH_AT_TURN_MS = 4_000
/**
 * Without a newer schedule for so long, the line stops where it was last known: it may have stood still since, and would leap
 * back. Far back it rests between two fetches, or half a million would fetch twice as often.
 */
const CERTAIN_MS = 10_000
/** A larger step between the two clocks means that the machine slept, or that somebody set its clock. */
const CLOCK_STEP_MS = 2_000
/** The sale is over, or has stock again: the crowd does not load the other page all at once. */
const SPREAD_MS = 3_000
/** A turn that the server's page did not show is claimed again after so long, on average. */
const CLAIM_AGAIN_MS = 3_000
/** Shortest time between two refreshes of the page by itself. */
const REFRESH_AGAIN_MS = 3_000
/** The end of a sale is fetched so long after it, up to twice that: by then it is known everywhere. */
const AFTER_END_MS = 1_000
/**
 * A place lasts for a day, also after an opening or an end, which may be put off; each status request extends it. Rare enough
 * that few sales see one, and spread: a crowd that joined together must not request together at the sale's opening.
 */
const RENEW_EVERY_MS = 4 * 3_600_000 * (0.75 + Math.random() / 2)

let page: Page
let order: Following | null = null

// -- The schedule ----------------------------------------------------------------------------------------------------

let schedule: Schedule | null = null
let receivedAtServerMs = 0
let fetchAtMs = 0
let isFetching = false
let fetchFailures = 0

/** For those who do not stand in line. */
const pauseOutside = (next: Schedule): number => {
  const { phase } = next
  if (byId('turn')) return FETCH_AT_TURN_MS
  // The order's changes come by its stream; the schedule only sets the clock.
  if (byId('order')) return FETCH_MAX_MS
  if (phase === 'upcoming') return (preQueueOpensAtMs(next) - nowMs()) / 3
  if (phase === 'pre_queue') return (next.anchor_at_ms - nowMs()) / 3
  return isFinal(phase) ? FETCH_MAX_MS : FETCH_AT_LANDING_MS
}

const pauseAfter = (next: Schedule): number => {
  const place = byId('line') ? placeIn(next, page, nowMs()) : null
  const pauseMs = place ? pollAfterMs(place, Math.random()) : pauseOutside(next) * (0.75 + Math.random() / 2)
  const endsInMs = next.ends_at_ms == null ? 0 : next.ends_at_ms - nowMs()
  return endsInMs > 0 ? Math.min(pauseMs, endsInMs + AFTER_END_MS * (1 + Math.random())) : pauseMs
}

async function fetchSchedule(): Promise<void> {
  if (isFetching || page.path === null) return
  isFetching = true
  const requestedAtMs = performance.now()
  try {
    // A late response may be lost, or all may be late: so each attempt waits longer.
    const timeoutMs = Math.min(SLOW_TIMEOUT_MS, TIMEOUT_MS * 2 ** fetchFailures)
    // Not from the browser's cache, which returns an unchanged schedule with the server time of long ago.
    const response = await get(scheduleOf(page), { cache: 'no-store' }, timeoutMs)
    const receivedAtMs = performance.now()
    const next: Schedule = await response.json()
    // Our own server's fields are not checked one by one; an error, or a proxy's page, does not name the sale.
    if (next.sale !== page.sale || next.line !== page.line) throw new Error(String(response.status))
    fetchFailures = 0
    const ageMs = Number(response.headers.get('age')) * 1000
    clock.read(next.server_time_ms + ageMs, requestedAtMs, receivedAtMs)
    applySchedule(next)
    channel?.postMessage({ news: next, serverMs: nowMs() })
  } catch {
    fetchFailures++
    const pauseMs = Math.min(FETCH_MAX_MS, FETCH_MIN_MS * 2 ** fetchFailures)
    fetchAtMs = performance.now() + pauseMs * (0.5 + Math.random())
  }
  isFetching = false
  showConnection()
  tick()
}

const nextFetchAtMs = (after: Schedule) =>
  performance.now() + Math.min(FETCH_MAX_MS, Math.max(FETCH_MIN_MS, pauseAfter(after)))

const scheduleOf = ({ sale, line }: Page) => `/sales/${sale}/schedule${line === undefined ? '' : `?line=${line}`}`

/** An older schedule (another server's, say) only changes when to fetch again. */
function applySchedule(next: Schedule): void {
  if (!schedule || next.version >= schedule.version) {
    schedule = next
    receivedAtServerMs = nowMs()
  }
  fetchAtMs = nextFetchAtMs(schedule)
  void showStock()
}

const hasFailed = () => fetchFailures + refreshFailures > 0

/** `onLine` alone is not enough: some browsers report offline within a network of their own. */
const isOffline = () => !navigator.onLine && (hasFailed() || page.path === null)

function showConnection(): void {
  const state = isOffline() ? 'offline' : hasFailed() ? 'reconnecting' : 'online'
  const note = byId('offline')
  show(note, state === 'offline')
  const sign = byId('connection')
  // The page of a problem requests nothing, and so does not know.
  show(sign, state === 'offline' || page.path !== null)
  if (!sign || sign.dataset.state === state) return
  if (state === 'offline') announce(note?.textContent)
  if (sign.dataset.state === 'offline') announce(sign.dataset.online)
  sign.dataset.state = state
  write(sign, sign.dataset[state])
}

// -- At every beat -----------------------------------------------------------------------------------------------------

let clockDifferenceMs = Date.now() - performance.now()

function tick(): void {
  const differenceMs = Date.now() - performance.now()
  if (Math.abs(differenceMs - clockDifferenceMs) > CLOCK_STEP_MS) fetchAtMs = 0
  clockDifferenceMs = differenceMs
  if (performance.now() >= fetchAtMs) void fetchSchedule()
  if (isBesideOwn()) refreshWithin(0, linePath())
  each<HTMLTimeElement>('time[role]', showTime)
  if (!schedule || page.path === null) return
  const place = showLine(schedule, page, Math.min(nowMs(), receivedAtServerMs + CERTAIN_MS))
  if (place && byId('line')) {
    if (place.status === 'ready') void claimTurn()
    else if (nowMs() - renewedAtMs >= RENEW_EVERY_MS) void renewPlace()
  }
  const turn = byId('turn')
  const isOver = isFinal(schedule.phase)
  // A turn while all was in carts has nothing to choose from yet.
  const hasStockAgain = schedule.phase === 'open' && turn && !turn.querySelector('[name=product_id]:enabled')
  if (hasStockAgain) refreshWithin(SPREAD_MS)
  // What is the same for all comes from a cache.
  else if (isOver ? turn || byId('landing') : byId('final'))
    refreshWithin(SPREAD_MS, !isOver && hasPlace() ? linePath() : salePath())
}

function showTime(time: HTMLTimeElement): void {
  const left = (Date.parse(time.dateTime) - nowMs()) / 1000
  const before = time.textContent
  const label = time.parentElement?.querySelector<HTMLElement>('.label')
  write(time, clockText(page.lang, left))
  if (label) {
    label.dataset.before ??= label.textContent
    write(label, left > 0 ? label.dataset.before : label.dataset.over)
  }
  const box = time.closest<HTMLElement>('.time-left')
  if (!box) return
  const bar = box.querySelector('progress')
  if (bar) bar.value = Math.max(0, left)
  const seconds = Math.ceil(left)
  if (seconds <= 20) box.dataset.short = ''
  if ([60, 30, 10].includes(seconds) && before !== time.textContent && !box.closest('[hidden]'))
    announce(`${label?.textContent}: ${roughly(page.lang, seconds)}`)
  if (left > 0 || time.dataset.over !== 'look') return
  time.dataset.over = ''
  if (order) order.fetchNow()
  else refreshWithin(0)
}

// -- The turn ------------------------------------------------------------------------------------------------------------

let claimAtMs = 0
/** On the server's clock, which goes on while the machine sleeps. */
let renewedAtMs = 0

/** The turn has come: the server's page shows it, and brings the admission as a cookie. */
async function claimTurn(): Promise<void> {
  if (performance.now() < claimAtMs || refreshTimer !== 0) return
  claimAtMs = Number.POSITIVE_INFINITY
  await refresh()
  claimAtMs = performance.now() + CLAIM_AGAIN_MS * (0.5 + Math.random())
}

/** Extends the place. */
async function renewPlace(): Promise<void> {
  renewedAtMs = nowMs()
  try {
    const headers = { accept: 'application/json' }
    const response = await get(`/sales/${page.sale}/queue/status`, { headers }, SLOW_TIMEOUT_MS)
    // Another tab gave the place up, or it has expired.
    if (response.status === 401) await refresh()
  } catch {
    // It lasts for several of these.
  }
}

/** What is left, and at what price, for those who choose: few at any time, so this may bypass the caches. */
async function showStock(): Promise<void> {
  const { left, noneLeft } = textsOf('choices')
  if (!left) return
  try {
    const response = await get(`/sales/${page.sale}`, { headers: { accept: 'application/json' } })
    const { products }: PublicSale = await response.json()
    for (const { product_id, available, unit_price_minor, currency } of products)
      each<HTMLInputElement>(`[name=product_id][value="${product_id}"]`, (choice) => {
        // What is chosen stays chosen: it may come back, and if not the form's response says so.
        if (available > 0) choice.disabled = false
        const text = available > 0 ? fill(left, { n: count(page.lang, available) }) : noneLeft
        const label = choice.parentElement
        write(label?.querySelector('small') ?? null, text)
        write(label?.querySelector('b') ?? null, money(page.lang, unit_price_minor, currency))
      })
  } catch {
    // Again, with the next schedule.
  }
}

// -- The page as the server shows it now -----------------------------------------------------------------------------------

let isRefreshing = false
/** Loading the page was a refresh. */
let refreshedAtMs = 0
let refreshFailures = 0
let refreshTimer = 0
const scriptOf = (of: Document) => of.querySelector<HTMLScriptElement>('script[src]')?.getAttribute('src')

/** Replaces the page's content by what the server shows now, there or at another of the sale's pages. */
async function refresh(path = page.path): Promise<void> {
  if (isRefreshing || page.path === null || path === null) return
  isRefreshing = true
  refreshedAtMs = performance.now()
  try {
    const headers = { accept: 'text/html' }
    await showResponse(await get(path, { headers, cache: 'no-cache', redirect: 'manual' }, SLOW_TIMEOUT_MS), path)
    refreshFailures = 0
  } catch {
    refreshFailures++
  }
  isRefreshing = false
  if (refreshFailures > 0) refreshWithin(2 * FETCH_MIN_MS * 2 ** Math.min(4, refreshFailures), path)
  showConnection()
}

/** Shows the page in a response, which stands at `path`. */
async function showResponse(response: Response, path: string): Promise<void> {
  const receivedAtMs = performance.now()
  // A redirect to a page that the sale protects: that may be anyone's.
  if (response.status === 0) return loadAnew(path)
  if (!response.ok) throw new Error(String(response.status))
  const next = new DOMParser().parseFromString(await response.text(), 'text/html')
  const stage = next.getElementById('stage')
  // Another version of the page, or another page altogether.
  if (!stage || scriptOf(next) !== scriptOf(document)) return loadAnew(path)
  // The same place in line, by a server that is a moment behind: what stands here is as good.
  if (byId('line') && next.getElementById('line') && stage.dataset.number === String(page.number)) return
  byId('stage')?.replaceWith(stage)
  document.title = next.title
  // Others are from a cache, and may be older than the clock forgives.
  if (readPage().isOwn) clock.read(madeAtMs(), refreshedAtMs, receivedAtMs)
  begin()
  scrollTo(0, 0)
  each('h1', (heading) => heading.focus())
}

/** Nothing follows on a page that goes. */
function loadAnew(path: string): Promise<never> {
  if (path === page.path) location.reload()
  else location.replace(path)
  return new Promise(() => {})
}

function refreshWithin(ms: number, path = page.path): void {
  if (refreshTimer !== 0 || isRefreshing) return
  const soonestMs = refreshedAtMs + REFRESH_AGAIN_MS - performance.now()
  refreshTimer = setTimeout(
    () => {
      refreshTimer = 0
      void refresh(path)
    },
    Math.max(ms * Math.random(), soonestMs),
  )
}

// -- The visitor's own page ----------------------------------------------------------------------------------------------

const salePath = () => `/sales/${page.sale}`
const linePath = () => `/sales/${page.sale}/line`

/** The landing page is the same for all and knows no visitor; so this browser remembers that it has a place, and whose page to show. */
const storageKeyOfPlace = () => `place ${page.sale}`
const hasPlace = () => kept(storageKeyOfPlace()) !== null

function rememberPlace(): void {
  if (page.number !== null) keep(storageKeyOfPlace(), String(page.number))
  else if (page.isOwn && byId('landing')) keep(storageKeyOfPlace(), null)
}

/** True on the landing page that all see, for a visitor who has a page of their own. */
const isBesideOwn = () => !page.isOwn && byId('landing') !== null && hasPlace()

// -- Other tabs ----------------------------------------------------------------------------------------------------------

/** Tabs share each schedule (`news`), and a place that one of them joins or leaves (`number`). */
let channel: BroadcastChannel | null = null

function openChannel(): void {
  if (!('BroadcastChannel' in globalThis)) return
  channel = new BroadcastChannel(`flash-sale ${page.sale}`)
  channel.onmessage = ({ data }) => {
    const atMs = performance.now()
    // A tab that has not joined may show another line.
    if (data.news && data.news.line !== page.line) return
    if (data.news) {
      clock.read(data.serverMs, atMs, atMs)
      applySchedule(data.news)
    } else if (data.number !== page.number && !byId('final')) void refresh(byId('landing') ? linePath() : page.path)
  }
}

// -- Start ---------------------------------------------------------------------------------------------------------------

/** Sets up the content, new or replaced. */
function begin(): void {
  const { line } = page
  page = readPage()
  // The landing page is of another line than the one that was joined.
  if (page.line !== line) [schedule, fetchAtMs] = [null, 0]
  // Whoever joins, or is called, follows more closely than the page before did.
  else if (schedule) fetchAtMs = Math.min(fetchAtMs, nextFetchAtMs(schedule))
  clearTimeout(refreshTimer)
  refreshTimer = 0
  announce()
  // Loading the page extended the place.
  renewedAtMs = nowMs()
  order?.stop()
  order = followOrder(() => void refresh())
  rememberOrder(page)
  showOwnOrder(page)
  showMoments()
  fillInvitation()
  rememberPlace()
  if (page.path === null) return
  rememberCommitment(page)
  // The address of what is shown, wherever it came from.
  if (location.pathname !== page.path) history.replaceState(null, '', page.path)
  if (isBesideOwn()) void refresh(linePath())
  else if (!byId('final')) channel?.postMessage({ number: page.number })
  // The content could not be had: loading the page was a refresh that failed.
  if (byId('away')) {
    refreshFailures = 1
    refreshWithin(0)
  }
  tick()
}

/** By the link that led here: content that is the same for all does not have it. */
function fillInvitation(): void {
  const invitation = new URLSearchParams(location.search).get('invitation')
  if (!invitation) return
  each<HTMLInputElement>('[name=invitation]', (input) => {
    if (input.value === '') input.value = invitation
  })
}

/**
 * Keeps a form back while offline, since the browser's error page would replace this one; and a `.once` form that was just
 * sent. An order's form may be sent again soon, since its key makes that harmless; a second join before the response, and
 * the place with it, has arrived would get a later place and lose the first.
 */
function onSubmit(event: SubmitEvent): void {
  const form = event.target as HTMLFormElement
  if (event.defaultPrevented) return
  const offline = isOffline()
  if (offline) byId('offline')?.focus()
  if (offline || form.dataset.sent) {
    event.preventDefault()
    return
  }
  const release = form.matches('.once') ? holdBack(form) : () => {}
  // Without cookies the place would be lost at once: the page that the form leads to says so.
  if (!isJoin(form) || !navigator.cookieEnabled) return
  event.preventDefault()
  void join(form, release)
}

const isJoin = (form: HTMLFormElement) => form.action.endsWith('/queue')

/** Joins by a request whose response is the visitor's own page: the form alone would load that by a second request. */
async function join(form: HTMLFormElement, release: () => void): Promise<void> {
  // The form has text fields only.
  const body = new URLSearchParams(new FormData(form) as unknown as URLSearchParams)
  refreshedAtMs = performance.now()
  let response: Response
  try {
    response = await get(
      form.action,
      { method: 'POST', headers: { accept: 'text/html' }, body, redirect: 'manual' },
      SLOW_TIMEOUT_MS,
    )
  } catch {
    // No response, or a late one: the visitor may try again, as after a form's.
    release()
    return fetchNow()
  }
  // A problem gave no place: the form, sent as a form, shows it.
  if (response.status >= 400) form.submit()
  else await showResponse(response, linePath()).catch(() => loadAnew(linePath()))
}

/** Returns what ends it. */
function holdBack(form: HTMLFormElement): () => void {
  form.dataset.sent = 'yes'
  const button = form.querySelector('button')
  button?.setAttribute('aria-disabled', 'true')
  const release = () => {
    delete form.dataset.sent
    button?.removeAttribute('aria-disabled')
  }
  setTimeout(release, isJoin(form) ? SLOW_TIMEOUT_MS : TIMEOUT_MS)
  return release
}

/** A page from the browser's back-forward cache is out of date, but better than the browser's offline page. */
function onReturn(): void {
  if (page.path !== null) void refresh()
  else if (navigator.onLine) location.reload()
}

function fetchNow(): void {
  fetchAtMs = 0
  showConnection()
  tick()
}

/** Sets up what stays when the content changes; `everyBeat` calls a function twice a second. */
export function start(everyBeat: (act: () => void) => void): void {
  page = readPage()
  const [navigation] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[]
  clock.read(madeAtMs(), 0, navigation?.responseStart ?? performance.now())
  // A problem is the response to a form: a reload, or coming back, shows the page that the form was on.
  if (page.path === null)
    history.replaceState(null, '', location.pathname.replace(/\/buy$/, '/line').replace(/\/(payment|cancel)$/, ''))
  openChannel()
  begin()
  showConnection()
  addEventListener('online', fetchNow)
  addEventListener('offline', fetchNow)
  addEventListener('storage', ({ key }) => key === storageKeyOfOrders(page) && showOwnOrder(page))
  document.addEventListener('visibilitychange', () => document.visibilityState === 'visible' && fetchNow())
  document.addEventListener('submit', onSubmit)
  addEventListener('pageshow', (event) => event.persisted && onReturn())
  everyBeat(tick)
  show(byId('stuck'))
}
