/**
 * The page, live. Its script reads the one public schedule now and then, works out place, progress and wait by itself, and
 * comes to the Worker only when its turn has come, or is hours away. Tokens are in cookies that it cannot see. What changes
 * on the page is changed in place, so that nobody who reads, types or listens loses the thread.
 */
import type { PublicSale } from '../../shared/api/public.ts'
import { clock as clockText, count, fill, money, roughly } from '../../shared/format.ts'
import { isFinal, pollAfterMs, preQueueOpensAtMs, type Schedule } from '../../shared/schedule.ts'
import { beat } from './beat.ts'
import { type Following, followOrder, keyOfOrder, rememberOrder, showOwnOrder } from './order.ts'
import {
  announce,
  byId,
  clock,
  each,
  GIVE_UP_MS,
  get,
  madeAtMs,
  nowMs,
  PATIENCE_MS,
  type Page,
  readPage,
  show,
  showMoments,
  textsOf,
  write,
} from './page.ts'
import { placeIn, rememberCommitment, showLine } from './queue.ts'

const ASK_MIN_MS = 1_000
const ASK_MAX_MS = 30_000
/** For someone who has not joined, once it is open: only "sold out" could be news. */
const ASK_AT_DOOR_MS = 15_000
/** For someone whose turn it is: what is left, "sold out", or that there is something to choose again. */
const ASK_AT_TURN_MS = 4_000
/**
 * Without news for so long, the line is shown where it was last known to be: it may have stood since, and would leap back.
 * Those far back see it rest between two readings: half a million would else have to read more than twice as often.
 */
const CERTAIN_MS = 10_000
/** A step between two clocks that is more than theirs to make: the machine slept, or somebody set its clock. */
const STEP_MS = 2_000
/** The sale is over, or there is stock again: those who see the other page do not all come at once. */
const TURN_OVER_WITHIN_MS = 3_000
/** Of its own accord the page does not look at itself more often. */
const LOOK_AGAIN_MS = 3_000
/** The end of a sale is asked for so long after it, up to twice that: by then it is known everywhere. */
const AFTER_END_MS = 1_000
/**
 * A place is good for a day, also after an opening or an end, which may be put off; asked for so often, it lasts for as long
 * as the page waits. Seldom enough that few sales see any of it, and for each page another time: a crowd that joined
 * together, at the lobby's opening, must not ask together at the sale's.
 */
const RENEW_EVERY_MS = 4 * 3_600_000 * (0.75 + Math.random() / 2)

let page: Page
let order: Following | null = null

// -- The schedule ----------------------------------------------------------------------------------------------------

let schedule: Schedule | null = null
let heardAtMs = 0
let askAtMs = 0
let asking = false
let askFailures = 0

/** For those who do not stand in line. */
const pauseOutside = (news: Schedule): number => {
  const { phase } = news
  if (byId('turn')) return ASK_AT_TURN_MS
  // Its changes come by themselves; the schedule tells the time.
  if (byId('order')) return ASK_MAX_MS
  if (phase === 'upcoming') return (preQueueOpensAtMs(news) - nowMs()) / 3
  if (phase === 'pre_queue') return (news.anchor_at_ms - nowMs()) / 3
  return isFinal(phase) ? ASK_MAX_MS : ASK_AT_DOOR_MS
}

const pauseOf = (news: Schedule): number => {
  const place = byId('line') ? placeIn(news, page, nowMs()) : null
  const pauseMs = place ? pollAfterMs(place, Math.random()) : pauseOutside(news) * (0.75 + Math.random() / 2)
  const endsInMs = news.ends_at_ms == null ? 0 : news.ends_at_ms - nowMs()
  return endsInMs > 0 ? Math.min(pauseMs, endsInMs + AFTER_END_MS * (1 + Math.random())) : pauseMs
}

async function askSchedule(): Promise<void> {
  if (asking || page.path === null) return
  asking = true
  const askedAtMs = performance.now()
  try {
    // Not the browser's own copy: found unchanged, it would be handed out with the time of long ago.
    // One that is late may be lost on the way, or all are: so each time it is waited for longer.
    const giveUpMs = Math.min(PATIENCE_MS, GIVE_UP_MS * 2 ** askFailures)
    const response = await get(`/sales/${page.sale}/schedule`, { cache: 'no-store' }, giveUpMs)
    const receivedAtMs = performance.now()
    const news: Schedule = await response.json()
    // Our own server's word is not checked field by field; an error, or what is between us, does not name the sale.
    if (news.sale !== page.sale) throw new Error(String(response.status))
    askFailures = 0
    const ageMs = Number(response.headers.get('age')) * 1000
    clock.read(news.server_time_ms + ageMs, askedAtMs, receivedAtMs)
    take(news)
    channel?.postMessage({ news, serverMs: nowMs() })
  } catch {
    askFailures++
    askAtMs = performance.now() + Math.min(ASK_MAX_MS, ASK_MIN_MS * 2 ** askFailures) * (0.5 + Math.random())
  }
  asking = false
  showConnection()
  tick()
}

/** What is older than what is known (another server's, say) changes nothing, but when to ask again. */
function take(news: Schedule): void {
  if (!schedule || news.version >= schedule.version) {
    schedule = news
    heardAtMs = nowMs()
  }
  askAtMs = performance.now() + Math.min(ASK_MAX_MS, Math.max(ASK_MIN_MS, pauseOf(schedule)))
  void showStock()
}

/** The browser's word for it alone is not enough: some say so behind a network of their own. */
const isOffline = () => !navigator.onLine && (askFailures + lookFailures > 0 || page.path === null)

function showConnection(): void {
  const state = isOffline() ? 'offline' : askFailures + lookFailures > 0 ? 'reconnecting' : 'online'
  const note = byId('offline')
  show(note, state === 'offline')
  const sign = byId('connection')
  // The page of a problem asks for nothing, and so does not know.
  show(sign, state === 'offline' || page.path !== null)
  if (!sign || sign.dataset.state === state) return
  if (state === 'offline') announce(note?.textContent)
  if (sign.dataset.state === 'offline') announce(sign.dataset.online)
  sign.dataset.state = state
  write(sign, sign.dataset[state])
}

// -- At every beat -----------------------------------------------------------------------------------------------------

let step = Date.now() - performance.now()

function tick(): void {
  const difference = Date.now() - performance.now()
  if (Math.abs(difference - step) > STEP_MS) askAtMs = 0
  step = difference
  if (performance.now() >= askAtMs) void askSchedule()
  showTimes()
  if (!schedule || page.path === null) return
  const place = showLine(schedule, page, Math.min(nowMs(), heardAtMs + CERTAIN_MS))
  if (place && byId('line') && (place.status === 'ready' || nowMs() - renewedAtMs >= RENEW_EVERY_MS))
    void knock()
  const turn = byId('turn')
  if (isFinal(schedule.phase) ? turn || byId('door') : byId('final')) lookWithin(TURN_OVER_WITHIN_MS)
  // While all was in carts there was nothing to choose.
  if (schedule.phase === 'open' && turn && !turn.querySelector('[name=product_id]:enabled'))
    lookWithin(TURN_OVER_WITHIN_MS)
}

function showTimes(): void {
  each<HTMLTimeElement>('time[role]', (time) => {
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
    if (order) order.ask()
    else lookWithin(0)
  })
}

// -- The turn ------------------------------------------------------------------------------------------------------------

let knockAtMs = 0
/** On the server's clock, which goes on while the machine sleeps. */
let renewedAtMs = 0

/**
 * The turn has come: fetch the admission, which comes as a cookie, then show the shop. Before it, asking alone makes the
 * place last longer.
 */
async function knock(): Promise<void> {
  if (performance.now() < knockAtMs || lookTimer !== 0) return
  knockAtMs = Number.POSITIVE_INFINITY
  renewedAtMs = nowMs()
  let pauseMs = 3_000 * (0.5 + Math.random())
  try {
    const headers = { accept: 'application/json' }
    const response = await get(`/sales/${page.sale}/queue/status`, { headers }, PATIENCE_MS)
    const answer = await response.json()
    // Unknown here: it was left in another tab, or has run out.
    if (answer.status === 'ready' || response.status === 401) await look()
    pauseMs = answer.poll_after_ms ?? Number(response.headers.get('retry-after') ?? 3) * 1000
  } catch {
    // Again, after the pause.
  }
  knockAtMs = performance.now() + pauseMs
}

/**
 * What is left, and at what price, for those who choose. They are few at any time, and so may ask for what is not kept in
 * caches.
 */
async function showStock(): Promise<void> {
  const { left, noneLeft } = textsOf('choices')
  if (!left) return
  try {
    const response = await get(`/sales/${page.sale}`, { headers: { accept: 'application/json' } })
    const { products }: PublicSale = await response.json()
    for (const { product_id, available, unit_price_minor, currency } of products)
      each<HTMLInputElement>(`[name=product_id][value="${product_id}"]`, (choice) => {
        // What is chosen already stays chosen: it may come back, and if not the answer to the form says so.
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

// -- The page as it is now -----------------------------------------------------------------------------------------------

let looking = false
/** Loading the page was a look. */
let lookedAtMs = 0
let lookFailures = 0
const scriptOf = (of: Document) => of.querySelector<HTMLScriptElement>('script[src]')?.getAttribute('src')

/** Takes the place of the page by what the server shows now, and begins there anew. */
async function look(): Promise<void> {
  if (looking || page.path === null) return
  looking = true
  lookedAtMs = performance.now()
  try {
    const headers = { accept: 'text/html' }
    const response = await get(page.path, { headers, cache: 'no-cache', redirect: 'manual' }, PATIENCE_MS)
    const receivedAtMs = performance.now()
    // A redirect, to a page that the sale protects: that may be anyone's.
    if (response.status === 0) return location.reload()
    if (!response.ok) throw new Error(String(response.status))
    const next = new DOMParser().parseFromString(await response.text(), 'text/html')
    const stage = next.getElementById('stage')
    // Another version of the page, or another page altogether: then from the beginning.
    if (!stage || scriptOf(next) !== scriptOf(document)) return location.reload()
    byId('stage')?.replaceWith(stage)
    document.title = next.title
    clock.read(madeAtMs(), lookedAtMs, receivedAtMs)
    lookFailures = 0
    begin()
    scrollTo(0, 0)
    each('h1', (heading) => heading.focus())
  } catch {
    lookFailures++
  }
  looking = false
  if (lookFailures > 0) lookWithin(2 * ASK_MIN_MS * 2 ** Math.min(4, lookFailures))
  showConnection()
}

let lookTimer = 0

function lookWithin(ms: number): void {
  if (lookTimer !== 0 || looking) return
  lookTimer = setTimeout(
    () => {
      lookTimer = 0
      void look()
    },
    Math.max(ms * Math.random(), lookedAtMs + LOOK_AGAIN_MS - performance.now()),
  )
}

// -- Other tabs ----------------------------------------------------------------------------------------------------------

/** What one tab hears the others need not fetch; and a place that one joins or leaves is everyone's. */
let channel: BroadcastChannel | null = null

function hearOtherTabs(): void {
  if (!('BroadcastChannel' in globalThis)) return
  channel = new BroadcastChannel(`flash-sale ${page.sale}`)
  channel.onmessage = ({ data: told }) => {
    const atMs = performance.now()
    if (told.news) {
      clock.read(told.serverMs, atMs, atMs)
      take(told.news)
    } else if (told.number !== page.number && !byId('final')) void look()
  }
}

// -- Begin ---------------------------------------------------------------------------------------------------------------

function begin(): void {
  page = readPage()
  clearTimeout(lookTimer)
  lookTimer = 0
  announce()
  // Loading the page made the place last.
  renewedAtMs = nowMs()
  order?.stop()
  order = followOrder(() => void look())
  rememberOrder(page)
  showOwnOrder(page)
  showMoments()
  if (page.path === null) return
  rememberCommitment(page)
  if (!byId('final')) channel?.postMessage({ number: page.number })
  // What was to be shown could not be had: loading the page was a look, which failed.
  if (byId('away')) {
    lookFailures = 1
    lookWithin(0)
  }
  tick()
}

/**
 * A form is not sent where nothing can be sent, which would leave the browser's error in place of this page; and `.once`
 * not twice by an impatient finger. After a while it may: an order's forms soon, since that does no harm; but who joins
 * anew before the answer has come, and their place with it, is given a later place and loses the first.
 */
function send(event: SubmitEvent): void {
  const form = event.target as HTMLFormElement
  if (event.defaultPrevented) return
  const offline = isOffline()
  if (offline) byId('offline')?.focus()
  if (offline || form.dataset.sent) event.preventDefault()
  if (event.defaultPrevented || !form.matches('.once')) return
  form.dataset.sent = 'yes'
  const button = form.querySelector('button')
  button?.setAttribute('aria-disabled', 'true')
  setTimeout(
    () => {
      delete form.dataset.sent
      button?.removeAttribute('aria-disabled')
    },
    form.action.endsWith('/queue') ? PATIENCE_MS : GIVE_UP_MS,
  )
}

/** A page that comes back from the browser's memory is old news, but better than the browser's word for no connection. */
function comeBack(): void {
  if (page.path !== null) void look()
  else if (navigator.onLine) location.reload()
}

function again(): void {
  askAtMs = 0
  showConnection()
  tick()
}

/** The first beginning; what is set up here stays when the page changes in place. */
export function start(): void {
  page = readPage()
  const [navigation] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[]
  clock.read(madeAtMs(), 0, navigation?.responseStart ?? performance.now())
  // A problem is the answer to a form: loading it again, or coming back to it, shows what the form was on.
  if (page.path === null)
    history.replaceState(null, '', location.pathname.replace(/\/(buy|payment|cancel)$/, ''))
  hearOtherTabs()
  begin()
  showConnection()
  addEventListener('online', again)
  addEventListener('offline', again)
  addEventListener('storage', ({ key }) => key === keyOfOrder(page) && showOwnOrder(page))
  document.addEventListener('visibilitychange', () => document.visibilityState === 'visible' && again())
  document.addEventListener('submit', send)
  addEventListener('pageshow', (event) => event.persisted && comeBack())
  beat(tick)
  show(byId('stuck'))
}
