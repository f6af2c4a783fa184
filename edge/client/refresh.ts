/** Replaces the page's content by what the server shows now, so that nobody who reads, types or listens is interrupted. */
import { failures, showConnection } from './connection.ts'
import { byId, clock, each, get, madeAtMs, page, readPage, retitle, SLOW_TIMEOUT_MS } from './page.ts'

/** Shortest time between two refreshes of the page by itself. */
const REFRESH_AGAIN_MS = 3_000
/** After a failure, doubled each time. */
const RETRY_MS = 2_000

let isRefreshing = false
/** Loading the page was a refresh. */
let refreshedAtMs = 0
let refreshTimer = 0
let afterReplaced = () => {}

/** Sets up what follows when the content was replaced. */
export function startRefreshing(act: () => void): void {
  afterReplaced = act
}

/** True between `refreshWithin` and its refresh. */
export const isRefreshDue = () => refreshTimer !== 0

export function dropRefresh(): void {
  clearTimeout(refreshTimer)
  refreshTimer = 0
}

/** The content was requested by other means. */
export const countsAsRefresh = () => {
  refreshedAtMs = performance.now()
}

/** Loads this page, or another of the sale's. */
export async function refresh(path = page.path): Promise<void> {
  if (isRefreshing || page.path === null || path === null) return
  isRefreshing = true
  refreshedAtMs = performance.now()
  const before = page
  try {
    const headers = { accept: 'text/html' }
    const response = await get(path, { headers, cache: 'no-cache', redirect: 'manual' }, SLOW_TIMEOUT_MS)
    if (!response.ok && response.status !== 0) throw new Error(String(response.status))
    // The answer to a form, shown meanwhile, is later.
    if (page === before) await showResponse(response, path)
    failures.refreshes = 0
  } catch {
    failures.refreshes++
  }
  isRefreshing = false
  if (failures.refreshes > 0) refreshWithin(RETRY_MS * 2 ** Math.min(4, failures.refreshes), path)
  showConnection()
}

/** Shows the page in a response, whose address is `path` unless it says another one. */
export async function showResponse(response: Response, otherwise: string): Promise<void> {
  const receivedAtMs = performance.now()
  const path = response.headers.get('content-location') ?? (response.redirected ? response.url : otherwise)
  // A redirect to a page that the sale protects: that may be anyone's.
  if (response.status === 0) return loadAnew(path)
  const next = new DOMParser().parseFromString(await response.text(), 'text/html')
  const stage = next.getElementById('stage')
  // A problem's page without a sale.
  if (!stage && response.status >= 400) return showMain(next)
  // Another version of the page, or another page altogether.
  if (!stage || scriptOf(next) !== scriptOf(document)) return loadAnew(path)
  // The same place in line, from a server that is a moment behind: the page shows no less.
  if (byId('line') && next.getElementById('line') && stage.dataset.number === String(page.number)) return
  byId('stage')?.replaceWith(stage)
  document.title = next.title
  showHead(next)
  // Others are from a cache, and may be older than the clock forgives.
  if (readPage().isOwn) clock.read(madeAtMs(), refreshedAtMs, receivedAtMs)
  afterReplaced()
  focusStart()
}

/** Shows what the page has brought along for this status of its order; false if it has nothing for it. */
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
  if (!main) throw new Error('not a page of ours')
  byId('main')?.replaceWith(main)
  document.title = next.title
  focusStart()
}

/** The heading, or what the visitor has to mend. */
function focusStart(): void {
  scrollTo(0, 0)
  each('h1, [autofocus]', (start) => start.focus())
}

/** What surrounds the content: the header, and the widget of a proof. */
function showHead(next: Document): void {
  const top = next.getElementById('top')
  if (top) byId('top')?.replaceWith(top)
  const proof = next.getElementById('proof')
  if (!proof || byId('proof')) return
  // A script that was parsed does not run; its copy does.
  const script = document.createElement('script')
  for (const { name, value } of proof.attributes) script.setAttribute(name, value)
  const style = next.getElementById('proof-style')
  document.head.append(...(style ? [style] : []), script)
}

/** Loads the page as a browser does. The promise never resolves: what would follow must not run on a page that is replaced. */
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

const scriptOf = (of: Document) => of.querySelector<HTMLScriptElement>('script[src]')?.getAttribute('src')
