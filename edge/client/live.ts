/**
 * The page, live. Its script reads the one public schedule now and then, works out place, progress and wait by itself, and
 * comes to the Worker only when its turn has come. Tokens are in cookies that it cannot see. What changes on the page is
 * changed in place, so that nobody who reads, types or listens loses the thread.
 */
import * as v from 'valibot'
import { pollAfterMs, Schedule } from '../../shared/schedule.ts'
import { clock as clockText, moment, roughly } from '../../shared/speak.ts'
import { beat } from './beat.ts'
import { placeIn, rememberCommitment, showLine } from './line.ts'
import { type Following, followOrder, ownOrder } from './order.ts'
import { announce, byId, clock, each, madeAtMs, nowMs, type Page, readPage, show, write } from './page.ts'

const ASK_MIN_MS = 1_000
const ASK_MAX_MS = 30_000
/** For someone who has not joined, once it is open: only "sold out" could be news. */
const ASK_AT_DOOR_MS = 15_000
const GIVE_UP_MS = 8_000
/** Without news for so long, the line is shown where it was last known to be. */
const CERTAIN_MS = 60_000
/** A step between two clocks that is more than theirs to make: the machine slept, or somebody set its clock. */
const STEP_MS = 2_000
/** After a restock, those who see "sold out" do not all come at once. */
const RETURN_WITHIN_MS = 2_000

let page: Page
let order: Following | null = null

// -- The schedule ----------------------------------------------------------------------------------------------------

let schedule: Schedule | null = null
let heardAtMs = 0
let askAtMs = 0
let asking = false
let failures = 0

const pauseOf = (news: Schedule): number => {
  const place = placeIn(news, page, nowMs())
  if (place) return pollAfterMs(place, Math.random())
  const { phase } = news
  const next = phase === 'upcoming' ? news.pre_queue_opens_at : phase === 'pre_queue' ? news.opens_at : null
  const untilMs = next === null ? 0 : (Date.parse(next) - nowMs()) / 3
  const final = phase === 'sold_out' || phase === 'ended'
  return (next === null ? (final ? ASK_MAX_MS : ASK_AT_DOOR_MS) : untilMs) * (0.75 + Math.random() / 2)
}

async function askSchedule(): Promise<void> {
  if (asking || page.path === '') return
  asking = true
  const askedAtMs = performance.now()
  try {
    // Not the browser's own copy: found unchanged, it would be handed out with the time of long ago.
    const response = await fetch(`/sales/${page.sale}/schedule`, {
      cache: 'no-store',
      signal: AbortSignal.timeout(GIVE_UP_MS),
    })
    const receivedAtMs = performance.now()
    if (!response.ok) throw new Error(String(response.status))
    const news = v.parse(Schedule, await response.json())
    failures = 0
    const ageMs = Number(response.headers.get('age') ?? 0) * 1000
    clock.read(news.server_time_ms + ageMs, askedAtMs, receivedAtMs)
    take(news)
    channel?.postMessage({ news, serverMs: nowMs() })
  } catch {
    failures++
    askAtMs = performance.now() + Math.min(ASK_MAX_MS, ASK_MIN_MS * 2 ** failures) * (0.5 + Math.random())
  }
  asking = false
  showConnection()
  tick()
}

function take(news: Schedule): void {
  if (news.sale !== page.sale || (schedule && news.version < schedule.version)) return
  schedule = news
  heardAtMs = nowMs()
  askAtMs = performance.now() + Math.min(ASK_MAX_MS, Math.max(ASK_MIN_MS, pauseOf(news)))
}

function showConnection(): void {
  const state = !navigator.onLine ? 'offline' : failures > 0 ? 'reconnecting' : 'online'
  const sign = byId('connection')
  if (!sign || sign.dataset.state === state) return
  const { words } = page
  if (state === 'offline') announce(words.offlineText)
  else if (sign.dataset.state === 'offline') announce(words.online)
  sign.dataset.state = state
  write(sign, words[state])
  sign.title = state === 'online' ? '' : words.offlineText
  show(sign, true)
}

// -- At every beat -----------------------------------------------------------------------------------------------------

let step = Date.now() - performance.now()

function tick(): void {
  const difference = Date.now() - performance.now()
  if (Math.abs(difference - step) > STEP_MS) askAtMs = 0
  step = difference
  if (performance.now() >= askAtMs) void askSchedule()
  showTimes()
  if (!schedule || page.path === '') return
  const place = showLine(schedule, page, Math.min(nowMs(), heardAtMs + CERTAIN_MS))
  if (place?.status === 'ready' && byId('line')) void knock()
  const live = schedule.phase !== 'sold_out' && schedule.phase !== 'ended'
  if (live && byId('final')) lookWithin(RETURN_WITHIN_MS)
}

function showTimes(): void {
  each('time[data-until-ms]', (time) => {
    const left = (Number(time.dataset.untilMs) - nowMs()) / 1000
    const before = time.textContent
    const label = time.parentElement?.querySelector('.label') ?? null
    write(time, clockText(page.lang, left))
    const box = time.closest<HTMLElement>('.time-left')
    if (!box) {
      if (left <= 0) write(label, page.words.opening)
      return
    }
    const bar = box.querySelector('progress')
    if (bar) bar.value = Math.max(0, left)
    const seconds = Math.ceil(left)
    if (seconds <= 20) box.dataset.short = ''
    if ([60, 30, 10].includes(seconds) && before !== time.textContent)
      announce(`${label?.textContent}: ${roughly(page.lang, seconds)}`)
    if (left > 0 || time.dataset.over !== 'look') return
    time.dataset.over = ''
    if (order) {
      write(label, page.words.holdOver)
      order.ask()
    } else void look()
  })
}

// -- The turn ------------------------------------------------------------------------------------------------------------

let knockAtMs = 0

/** The turn has come: fetch the admission, which comes as a cookie, then show the shop. */
async function knock(): Promise<void> {
  if (performance.now() < knockAtMs) return
  knockAtMs = Number.POSITIVE_INFINITY
  let pauseMs = 3_000 * (0.5 + Math.random())
  try {
    const response = await fetch(`/sales/${page.sale}/queue/status`, {
      headers: { accept: 'application/json' },
      signal: AbortSignal.timeout(GIVE_UP_MS),
    })
    const answer = await response.json()
    // Unknown here: it was left in another tab, or has run out.
    if (answer.status === 'ready' || response.status === 401) await look()
    pauseMs = answer.poll_after_ms ?? Number(response.headers.get('retry-after') ?? 3) * 1000
  } catch {
    // Again, after the pause.
  }
  knockAtMs = performance.now() + pauseMs
}

// -- The page as it is now -----------------------------------------------------------------------------------------------

let looking = false
const scriptOf = (of: Document) => of.querySelector<HTMLScriptElement>('script[src]')?.getAttribute('src')

/** Takes the place of the page by what the server shows now, and begins there anew. */
async function look(): Promise<void> {
  if (looking || page.path === '') return
  looking = true
  const askedAtMs = performance.now()
  try {
    const response = await fetch(page.path, {
      headers: { accept: 'text/html' },
      cache: 'no-cache',
      signal: AbortSignal.timeout(GIVE_UP_MS),
    })
    const receivedAtMs = performance.now()
    if (!response.ok) throw new Error(String(response.status))
    const next = new DOMParser().parseFromString(await response.text(), 'text/html')
    const stage = next.getElementById('stage')
    // Another version of the page, or another page altogether: then from the beginning.
    if (!stage || response.redirected || scriptOf(next) !== scriptOf(document)) return location.reload()
    byId('stage')?.replaceWith(stage)
    document.title = next.title
    clock.read(madeAtMs(), askedAtMs, receivedAtMs)
    begin()
    scrollTo(0, 0)
    each('h1', (heading) => heading.focus())
  } catch {
    lookWithin(2 * ASK_MIN_MS * 2 ** Math.min(4, ++failures))
    showConnection()
  } finally {
    looking = false
  }
}

let lookTimer = 0

function lookWithin(ms: number): void {
  if (lookTimer !== 0) return
  lookTimer = setTimeout(() => {
    lookTimer = 0
    void look()
  }, ms * Math.random())
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
  order?.stop()
  order = followOrder(() => void look())
  ownOrder(page)
  each('time[data-moment]', (time) =>
    write(time, moment(page.lang, Date.parse(time.getAttribute('datetime') ?? ''))),
  )
  if (page.path === '') return
  rememberCommitment(page)
  if (!byId('final')) channel?.postMessage({ number: page.number })
  tick()
}

/** A form that must not be sent twice by an impatient finger; after a while it may, since that does no harm. */
function sendOnce(event: SubmitEvent): void {
  const form = event.target as HTMLFormElement
  if (event.defaultPrevented || !form.matches('.once')) return
  if (form.dataset.sent) {
    event.preventDefault()
    return
  }
  form.dataset.sent = 'yes'
  const button = form.querySelector('button')
  button?.setAttribute('aria-disabled', 'true')
  setTimeout(() => {
    delete form.dataset.sent
    button?.removeAttribute('aria-disabled')
  }, GIVE_UP_MS)
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
  hearOtherTabs()
  begin()
  showConnection()
  addEventListener('online', again)
  addEventListener('offline', showConnection)
  addEventListener('storage', () => ownOrder(page))
  document.addEventListener('visibilitychange', () => document.visibilityState === 'visible' && again())
  document.addEventListener('submit', sendOnce)
  // A page that comes back from the browser's memory is old news.
  addEventListener('pageshow', (event) => event.persisted && location.reload())
  beat(tick)
}
