/**
 * The page's script. It reads the one public schedule now and then, works out place, progress and wait by itself, and
 * comes to the Worker only when its turn has come. The clock is the server's, carried forward by the monotonic one, so
 * that neither sleep nor a changed clock does harm. Tokens are in cookies it cannot see.
 */
import { commitmentHolds } from '../../shared/draw.ts'
import { isDrawn, type Place, placeOf, pollAfterMs, type Schedule } from '../../shared/schedule.ts'
import { clock, count, fill, roughly } from '../../shared/speak.ts'

const main = document.getElementById('main') as HTMLElement
const data = main.dataset as Record<string, string>
const words = JSON.parse(data.words ?? '{}') as Record<string, string>
const lang = document.documentElement.lang
const number = data.number ? Number(data.number) : null
const base = `/sales/${data.sale}`
const byId = (id: string) => document.getElementById(id)
const show = (id: string, shown: boolean) => byId(id)?.toggleAttribute('hidden', !shown)
const text = (id: string, value: string) => {
  const element = byId(id)
  if (element && element.textContent !== value) element.textContent = value
}

// -- The clock ---------------------------------------------------------------------------------------------------------

let serverMs = Number(data.nowMs)
let atMs = performance.now()
const now = () => serverMs + performance.now() - atMs

function setClock(ms: number): void {
  serverMs = ms
  atMs = performance.now()
}

// -- The schedule ------------------------------------------------------------------------------------------------------

/** A tab that hears the news from another need not fetch them. */
const channel = 'BroadcastChannel' in globalThis ? new BroadcastChannel(`flash-sale ${data.sale}`) : null
const FETCH_MIN_MS = 1_000
const FETCH_MAX_MS = 30_000
const GIVE_UP_MS = 8_000
let schedule: Schedule | null = null
let failures = 0
let nextFetch = 0

async function fetchSchedule(): Promise<void> {
  try {
    const response = await fetch(`${base}/schedule`, { signal: AbortSignal.timeout(GIVE_UP_MS) })
    if (!response.ok) throw new Error(String(response.status))
    const news = (await response.json()) as Schedule
    const ageMs = Number(response.headers.get('age') ?? 0) * 1000
    failures = 0
    take(news, news.server_time_ms + ageMs)
    channel?.postMessage({ news, ms: now() })
  } catch {
    failures++
    plan(Math.min(FETCH_MAX_MS, FETCH_MIN_MS * 2 ** failures) * (0.5 + Math.random()))
  }
  text('connection', failures > 0 || !navigator.onLine ? (words.offline ?? '') : (words.online ?? ''))
  show('connection', failures > 0 || !navigator.onLine)
}

function take(news: Schedule, ms: number): void {
  if (schedule && news.version < schedule.version) return
  schedule = news
  setClock(ms)
  const untilOpenMs = Date.parse(news.opens_at) - now()
  const pauseMs =
    number === null
      ? Math.max(FETCH_MIN_MS, untilOpenMs / 3)
      : pollAfterMs(placeOf(news, number, now()), Math.random())
  plan(Math.min(FETCH_MAX_MS, pauseMs))
  draw()
}

function plan(ms: number): void {
  clearTimeout(nextFetch)
  nextFetch = setTimeout(fetchSchedule, ms)
}

channel?.addEventListener('message', ({ data: told }) => take(told.news, told.ms))

// -- The place ---------------------------------------------------------------------------------------------------------

let status: Place['status'] | undefined
let knocking = false
let announcedAtMs = Number.NEGATIVE_INFINITY

function draw(): void {
  for (const time of document.querySelectorAll<HTMLElement>('time[data-until-ms]')) {
    const left = (Number(time.dataset.untilMs) - now()) / 1000
    const value = clock(lang, left)
    if (time.textContent !== value) time.textContent = value
    if (left <= -1 && time.dataset.then === 'reload') {
      delete time.dataset.then
      setTimeout(() => location.reload(), 1_000)
    }
  }
  if (data.lobbyOpensAt && now() >= Date.parse(data.lobbyOpensAt)) show('join', true)
  if (!schedule) return
  verifyDraw(schedule)
  if (number !== null && byId('place')) drawPlace(placeOf(schedule, number, now()))
}

function drawPlace(place: Place): void {
  if (place.status !== status) {
    status = place.status
    for (const section of document.querySelectorAll<HTMLElement>('[data-status]')) {
      section.hidden = section.dataset.status !== status
      if (!section.hidden)
        document.title = `${section.querySelector('h1')?.textContent} · ${document.title.split(' · ').pop()}`
    }
    announcedAtMs = Number.NEGATIVE_INFINITY
  }
  const inLine = status === 'waiting' || status === 'paused' || status === 'all_in_carts'
  show('place', inLine)
  show('leave', inLine || status === 'pre_queue')
  if (status === 'ready') void knock()
  if (place.position === null) return
  const ahead = count(lang, Math.max(0, (place.position_in_queue ?? 1) - 1))
  const wait = waitText(place.estimated_wait_time)
  text('ahead', ahead)
  text('wait', wait)
  text('position', count(lang, place.position))
  text('serving', count(lang, place.now_serving))
  const bar = byId('progress') as HTMLProgressElement | null
  if (bar) bar.value = Math.min(100, (place.now_serving / place.position) * 100)
  announce(fill(words.announceAhead ?? '', { n: ahead, t: wait }), inLine)
}

function waitText(seconds: number | null): string {
  if (seconds === null) return words.waitUnknown ?? ''
  return seconds < 5 ? (words.waitSoon ?? '') : fill(words.waitAbout ?? '', { t: roughly(lang, seconds) })
}

/** Told to a screen reader once a minute, and when something has changed: not at every step. */
function announce(message: string, inLine: boolean): void {
  if (!inLine || performance.now() - announcedAtMs < 60_000) return
  announcedAtMs = performance.now()
  text('announcement', message)
}

/** The turn has come: fetch the admission, which comes as a cookie, then show the shop. */
async function knock(): Promise<void> {
  if (knocking) return
  knocking = true
  let pauseMs = 1_000
  try {
    const response = await fetch(`${base}/queue/status`, {
      headers: { accept: 'application/json' },
      signal: AbortSignal.timeout(GIVE_UP_MS),
    })
    const answer = await response.json()
    if (response.ok && answer.status === 'ready') return location.reload()
    pauseMs = answer.poll_after_ms ?? Number(response.headers.get('retry-after') ?? 2) * 1000
  } catch {
    pauseMs = 3_000 * (0.5 + Math.random())
  }
  setTimeout(() => {
    knocking = false
  }, pauseMs)
}

// -- The draw, checked by the page itself --------------------------------------------------------------------------------

function verifyDraw(news: Schedule): void {
  if (!isDrawn(news)) return
  // The first fingerprint this browser saw is the one that counts.
  const key = `commitment ${news.sale}`
  let first = data.commitment ?? ''
  try {
    first = localStorage.getItem(key) ?? first
  } catch {
    // Without storage the page's own will do.
  }
  const holds = commitmentHolds(first, news.draw_seed)
  show('draw-before', false)
  show('draw-holds', holds)
  show('draw-broken', !holds)
  show('tick', holds)
  show('seed-row', true)
  text('seed', news.draw_seed)
}

function rememberCommitment(): void {
  const key = `commitment ${data.sale}`
  try {
    if (data.commitment && !localStorage.getItem(key)) localStorage.setItem(key, data.commitment)
  } catch {
    // A browser that keeps nothing checks against what the page says.
  }
}

// -- An order ------------------------------------------------------------------------------------------------------------

/** Changes of an order come by themselves; should they not, the page looks again now and then. */
function followOrder(order: string, seen: string): void {
  const over = seen === 'fulfilled' || seen === 'expired' || seen === 'cancelled' || seen === 'confirmed'
  if (over) return
  const events = new EventSource(`/orders/${order}/events`)
  events.addEventListener('order', (event) => {
    const { status: told } = JSON.parse((event as MessageEvent<string>).data)
    if (told !== seen && !(seen === 'processing' && told === 'processing')) latest = told
    clearTimeout(settled)
    // Several come at once after a break: the last one counts.
    settled = setTimeout(() => latest !== seen && location.reload(), 50)
  })
  let latest = seen
  let settled = 0
  if (seen === 'processing' || seen === 'paying')
    setTimeout(() => location.reload(), 15_000 + Math.random() * 5_000)
}

// -- Begin ---------------------------------------------------------------------------------------------------------------

/** A form that must not be sent twice by an impatient finger. */
for (const form of document.querySelectorAll<HTMLFormElement>('form.once')) {
  form.addEventListener('submit', () => {
    for (const button of form.querySelectorAll('button'))
      setTimeout(() => button.setAttribute('disabled', ''))
  })
}
// A page that comes back from the browser's memory is old news.
addEventListener('pageshow', (event) => event.persisted && location.reload())

const order = byId('order')
if (order) followOrder(order.dataset.order ?? '', order.dataset.orderStatus ?? '')
else if (byId('turn')) byId('turn')?.focus()
else {
  rememberCommitment()
  void fetchSchedule()
  addEventListener('online', () => void fetchSchedule())
  addEventListener('offline', () => {
    text('connection', words.offline ?? '')
    show('connection', true)
  })
  document.addEventListener(
    'visibilitychange',
    () => document.visibilityState === 'visible' && void fetchSchedule(),
  )
}
setInterval(draw, 500)
draw()
