/**
 * A script of its own, which says that this page is seen: once when it is first visible, then at every so many seconds
 * of being visible, and when it is hidden. A hidden page says nothing, and neither does one whose visitor asks not to
 * be recorded. The id is the page's own; nothing is stored that would name the visitor.
 */
import type { ViewPage } from '../../../shared/api/views/view-events.ts'
import { sourceOfVisit } from './source.ts'

const HEARTBEAT_MS = 15_000

interface View {
  readonly id: string
  readonly page: ViewPage
  /** The address that takes the beacons. */
  readonly path: string
  /** How long the page has been visible, up to the last beat. */
  seenMs: number
  /** What was said last; null before the first beacon. */
  sentMs: number | null
}

let view: View | null = null
/** The last beat at which the page was visible; null while it is hidden. */
let visibleAtMs: number | null = null

const wantsNoRecord = () =>
  (navigator as { globalPrivacyControl?: boolean }).globalPrivacyControl === true || navigator.doNotTrack === '1'

/** The script looks this often which page is shown, and whether it is visible. */
const BEAT_MS = 500

function follow(): void {
  const page = pageShown()
  if (page !== view?.page) {
    say()
    view = page && { id: randomId(), page, path: pathFor(page), seenMs: 0, sentMs: null }
    visibleAtMs = null
  }
  beat()
}

function beat(): void {
  if (!view) return
  const isVisible = document.visibilityState === 'visible'
  const atMs = performance.now()
  if (visibleAtMs !== null) view.seenMs += atMs - visibleAtMs
  visibleAtMs = isVisible ? atMs : null
  if (isVisible && (view.sentMs === null || view.seenMs - view.sentMs >= HEARTBEAT_MS)) say()
}

/** Sends what is new since the last beacon. */
function say(): void {
  if (!view || (view.sentMs !== null && view.seenMs === view.sentMs)) return
  if (view.sentMs === null && visibleAtMs === null) return
  view.sentMs = view.seenMs
  const language = document.documentElement.lang
  const beacon = {
    view: view.id,
    page: view.page,
    seen_seconds: Math.round(view.seenMs / 1000),
    source: sourceOfVisit(),
    ...(/^[a-z]{2}$/.test(language) && { language }),
  }
  navigator.sendBeacon(view.path, JSON.stringify(beacon))
}

function randomId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .slice(0, 22)
}

/** The kind of a page by its content; null for one that is not counted. Previews have no scripts. */
function pageShown(): ViewPage | null {
  const kinds = [
    ...(['turn', 'final', 'order'] as const).map((kind) => [`#${kind}`, kind] as const),
    ...([
      ['#place', 'line'],
      ['#line', 'line'],
      ['#landing', 'sale'],
      ['.front', 'front'],
    ] as const),
  ]
  return kinds.find(([selector]) => document.querySelector(selector))?.[1] ?? null
}

const pathFor = (page: ViewPage) =>
  page === 'front' ? '/views' : `/sales/${document.getElementById('stage')?.dataset.sale}/views`

if (!wantsNoRecord()) {
  setInterval(follow, BEAT_MS)
  follow()
  // The last moment at which a browser lets a page that is left send anything.
  document.addEventListener('visibilitychange', () => {
    beat()
    if (document.visibilityState === 'hidden') say()
  })
}
