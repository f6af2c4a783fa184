/**
 * The script of the shop front. It counts down by the server's clock, and reloads the content now and then and when a
 * sale opens. The search loads its own script when the visitor focuses the field.
 */
import { clock as clockText, fill, shortly } from '../../../shared/format.ts'
import { byId, clock, each, get, loadStored, nowMs, showMoments, store, write } from '../page.ts'
import type * as Search from './search-box.ts'

const BEAT_MS = 500
/** The content is reloaded this often while the page is visible. */
const REFRESH_MS = 30_000
/** When a sale opens, reloads are spread over this time, so that they do not come all at once. */
const SPREAD_MS = 3_000
const DAY_SECONDS = 86_400
/** This long after its time a sale has opened, and caches show it. */
const OPENS_WITHIN_SECONDS = 30
const LANGUAGE_KEY = 'language'

const lang = document.documentElement.lang
let refreshedAtMs = performance.now()
let refreshTimer = 0

function tick(): void {
  each<HTMLTimeElement>('time[role], time[data-in]', showTime)
  const isDue = performance.now() - refreshedAtMs > REFRESH_MS && document.visibilityState === 'visible'
  if (isDue) refreshWithin(SPREAD_MS)
}

function showTime(time: HTMLTimeElement): void {
  const left = (Date.parse(time.dateTime) - nowMs()) / 1000
  const text = clockText(lang, left)
  write(time, time.dataset.in === undefined ? text : fill(time.dataset.in, { t: text }))
  time.toggleAttribute('data-days', left >= DAY_SECONDS)
  const comb = time.parentElement?.querySelector<HTMLProgressElement>('[data-seconds]')
  if (comb) comb.value = Math.ceil(Math.max(0, left)) % 60
  // If the shop never shows the sale as open, the page is reloaded no more often than usual.
  if (left > 0 || left < -OPENS_WITHIN_SECONDS) return
  const label = time.parentElement?.querySelector<HTMLElement>('.label')
  if (label) write(label, label.dataset.over)
  refreshWithin(SPREAD_MS)
}

function refreshWithin(ms: number): void {
  if (refreshTimer !== 0) return
  // A page in caches may be some seconds older than the opening.
  const soonestMs = refreshedAtMs + SPREAD_MS - performance.now()
  refreshTimer = setTimeout(refresh, Math.max(0, soonestMs) + ms * Math.random())
}

async function refresh(): Promise<void> {
  refreshTimer = 0
  refreshedAtMs = performance.now()
  try {
    const response = await get(location.href, { headers: { accept: 'text/html' } })
    const next = new DOMParser().parseFromString(await response.text(), 'text/html')
    const main = next.getElementById('main')
    if (!response.ok || !main) return
    keepingFocus(() => byId('main')?.replaceWith(main))
    begin()
  } catch {
    // The next reload comes soon.
  }
}

/** A visitor who uses the keyboard stays on the same link. */
function keepingFocus(replace: () => void): void {
  const focused = document.activeElement?.closest('main') ? document.activeElement.getAttribute('href') : null
  replace()
  if (focused !== null) each(`main a[href="${CSS.escape(focused)}"]`, (link) => link.focus())
}

function begin(): void {
  showMoments()
  each<HTMLTimeElement>('time[data-short]', (time) => {
    write(time, shortly(lang, Date.parse(time.dateTime), nowMs()))
  })
  tick()
}

/** The page may come from a cache and be old. The schedule of the next sale has the exact time. */
async function readClock(): Promise<void> {
  const path = byId('main')?.dataset.clock
  clock.read(Number(byId('main')?.dataset.nowMs), 0, performance.now())
  if (!path) return
  const requestedAtMs = performance.now()
  try {
    const response = await get(path, { cache: 'no-store' })
    const { server_time_ms } = (await response.json()) as { server_time_ms: number }
    const ageMs = Number(response.headers.get('age')) * 1000
    if (response.ok) clock.read(server_time_ms + ageMs, requestedAtMs, performance.now())
  } catch {
    // The page's own time is late by a few seconds at most.
  }
}

/** The page that is the same for all visitors depends on no cookie, so it does not know the chosen language. */
function keepLanguage(): void {
  const chosen = new URLSearchParams(location.search).get('lang')
  const before = loadStored(LANGUAGE_KEY)
  if (chosen !== null) store(LANGUAGE_KEY, chosen)
  else if (before !== null && before !== lang) {
    const address = new URL(location.href)
    address.searchParams.set('lang', before)
    location.replace(address)
  }
}

function prepareSearch(): void {
  const form = byId('search')
  let isLoading = false
  form?.addEventListener('focusin', async () => {
    if (isLoading) return
    isLoading = true
    try {
      const { start }: typeof Search = await import(form.dataset.script ?? '')
      start(form as HTMLFormElement)
    } catch {
      // The form also works without the script.
      isLoading = false
    }
  })
}

keepLanguage()
prepareSearch()
const clockRead = readClock()
begin()
if (document.querySelector('.front')) {
  void clockRead.then(tick)
  setInterval(tick, BEAT_MS)
  addEventListener('pageshow', (event) => event.persisted && void refresh())
}
