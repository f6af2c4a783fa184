/**
 * Replaces the page's content by the server's current version, so that it does not interrupt reading, typing or a
 * screen reader.
 */
import { failures, showConnection } from './connection.ts'
import { byId, clock, each, get, madeAtMs, page, readPage, retitle, SLOW_TIMEOUT_MS } from './page.ts'

/** The page refreshes itself no more often than this. */
const REFRESH_AGAIN_MS = 3_000
/** The pause after a failure, doubled each time. */
const RETRY_MS = 2_000

let isRefreshing = false
/** Loading the page counts as a refresh. */
let refreshedAtMs = 0
let refreshTimer = 0
let afterReplaced = () => {}

/** Sets the function that is called after the content was replaced. */
export function startRefreshing(act: () => void): void {
  afterReplaced = act
}

/** True between a call of `refreshWithin` and its refresh. */
export const isRefreshDue = () => refreshTimer !== 0

export function dropRefresh(): void {
  clearTimeout(refreshTimer)
  refreshTimer = 0
}

/** The content was requested by other means, so that request counts as a refresh. */
export const countsAsRefresh = () => {
  refreshedAtMs = performance.now()
}

/** Loads this page, or another page of the sale. */
export async function refresh(path = page.path): Promise<void> {
  if (isRefreshing || page.path === null || path === null) return
  isRefreshing = true
  refreshedAtMs = performance.now()
  const before = page
  try {
    const headers = { accept: 'text/html' }
    const response = await get(path, { headers, cache: 'no-cache', redirect: 'manual' }, SLOW_TIMEOUT_MS)
    if (!response.ok && response.status !== 0) throw 0
    // If the response to a form was shown meanwhile, it is newer.
    if (page === before) await showResponse(response, path)
    failures.refreshes = 0
  } catch {
    failures.refreshes++
  }
  isRefreshing = false
  if (failures.refreshes > 0) refreshWithin(RETRY_MS * 2 ** Math.min(4, failures.refreshes), path)
  showConnection()
}

/** Shows the page of a response. Its address is `path`, unless the page names another one. */
export async function showResponse(response: Response, otherwise: string): Promise<void> {
  const receivedAtMs = performance.now()
  const path = response.headers.get('content-location') ?? (response.redirected ? response.url : otherwise)
  // The response redirects to a page of the protected site, which this script cannot show.
  if (response.status === 0) return loadAnew(path)
  const next = new DOMParser().parseFromString(await response.text(), 'text/html')
  const stage = next.getElementById('stage')
  // A problem's page without a sale has no stage.
  if (!stage && response.status >= 400) return showMain(next)
  // The page has another version of the script or another language, or is not a page of the sale.
  if (!stage || scriptOf(next) !== scriptOf(document)) return loadAnew(path)
  // The response has the same place in line, but from a server that is a moment behind, so the shown figures stay.
  if (byId('line') && next.getElementById('line') && stage.dataset.number === String(page.number)) return
  byId('stage')?.replaceWith(stage)
  document.title = next.title
  showHead(next)
  // A page that is the same for all visitors comes from a cache, and may be too old for the clock.
  if (readPage().isOwn) clock.read(madeAtMs(), refreshedAtMs, receivedAtMs)
  afterReplaced()
  focusStart()
}

/** Shows the content that the page contains for this status of its order; false if there is none. */
export function showPrepared(status: string): boolean {
  const prepared = byId(`order-${status}`) as HTMLTemplateElement | null
  if (!prepared) return false
  const steps = prepared.content.querySelector('.steps')
  if (steps) document.querySelector('.top .steps')?.replaceWith(steps)
  byId('order')?.replaceWith(prepared.content)
  retitle(prepared.dataset.title ?? '')
  afterReplaced()
  focusStart()
  return true
}

function showMain(next: Document): void {
  const main = next.getElementById('main')
  // It is no page of ours. Each caller catches this.
  if (!main) throw 0
  byId('main')?.replaceWith(main)
  document.title = next.title
  focusStart()
}

/** Focuses the heading, or the field that the visitor has to correct. */
function focusStart(): void {
  scrollTo(0, 0)
  each('h1, [autofocus]', (start) => start.focus())
}

/** Replaces the parts around the content: the header, the footer with its links, and the widget of a proof. */
function showHead(next: Document): void {
  // Each page has both.
  for (const id of ['top', 'foot']) byId(id)?.replaceWith(next.getElementById(id) ?? '')
  const proof = next.getElementById('proof')
  if (!proof || byId('proof')) return
  // A parsed script does not run, but a copy of it does.
  const script = document.createElement('script')
  for (const { name, value } of proof.attributes) script.setAttribute(name, value)
  const style = next.getElementById('proof-style')
  document.head.append(...(style ? [style] : []), script)
}

/**
 * Loads the page as a browser does. The promise never resolves, because no further code may run on a page that is
 * being replaced.
 */
export function loadAnew(path: string): Promise<never> {
  if (path === page.path) location.reload()
  else location.replace(path)
  return new Promise(() => {})
}

export function refreshWithin(ms: number, path = page.path): void {
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

/** The element names the language too, so a page in another language is loaded as a whole. */
const scriptOf = (of: Document) => of.querySelector('script[src]')?.outerHTML
