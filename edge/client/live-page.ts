/**
 * The live page. Its script reads the public schedule from time to time and calculates the place, progress and wait
 * itself. It calls the Worker only to join, when its turn has come, and every few hours until then. Tokens are in
 * cookies that it cannot read. The page changes in place, so that it does not interrupt reading, typing or a screen
 * reader.
 */
import { commitmentHolds } from '../../shared/draw.ts'
import { clock as clockText, roughly } from '../../shared/format.ts'
import { isFinal } from '../../shared/schedule.ts'
import { failures, showConnection } from './connection.ts'
import type * as Extras from './extras/extras.ts'
import { fillInvitation, onSubmit } from './forms.ts'
import {
  type Following,
  followOrder,
  forgetOrder,
  ownOrder,
  rememberOrder,
  showOwnOrder,
  storageKeyOfOrders,
} from './order-watch.ts'
import {
  announce,
  byId,
  clock,
  each,
  hasPlace,
  isBesideOwn,
  linePath,
  madeAtMs,
  nowMs,
  page,
  rememberPlace,
  show,
  showMoments,
  takePage,
  write,
} from './page.ts'
import { showLine } from './queue-view.ts'
import { dropRefresh, refresh, refreshWithin, showPrepared, startRefreshing } from './refresh.ts'
import {
  certainMs,
  follow,
  isVisible,
  notifyOtherTabs,
  READ_MAX_MS,
  readAtNextBeat,
  readIfDue,
  readNow,
  schedule,
  startReading,
} from './schedule-reader.ts'
import { claimTurn, countsAsRenewal, renewPlace } from './turn.ts'

/** A larger step between the two clocks means that the machine slept or that its clock was set. */
const CLOCK_STEP_MS = 2_000
/** When the sale ends or has stock again, the requests for the other page are spread over this time. */
const SPREAD_MS = 3_000
const DAY_SECONDS = 86_400

let order: Following | null = null
let extras: typeof Extras | null = null

// -- At every beat --------------------------------------------------------------------------------------------------

let clockDifferenceMs = Date.now() - performance.now()

function tick(): void {
  const differenceMs = Date.now() - performance.now()
  if (Math.abs(differenceMs - clockDifferenceMs) > CLOCK_STEP_MS) readAtNextBeat()
  clockDifferenceMs = differenceMs
  readIfDue()
  if (isBesideOwn()) refreshWithin(0, linePath())
  each<HTMLTimeElement>('time[role]', showTime)
  if (!schedule || page.path === null) return
  const atMs = certainMs()
  const place = showLine(schedule, page, atMs)
  if (place && byId('line')) {
    if (place.status === 'ready') void claimTurn()
    else void renewPlace()
  }
  const turn = byId('turn')
  const isOver = isFinal(schedule.phase)
  // A turn that began while all units were in carts shows nothing to choose yet.
  const hasStockAgain = schedule.phase === 'open' && turn && !turn.querySelector('[name=product_id]:enabled')
  if (hasStockAgain) refreshWithin(SPREAD_MS)
  // These pages are the same for all visitors, so a cache serves them.
  else if (isOver ? turn || byId('landing') : byId('final'))
    refreshWithin(SPREAD_MS, !isOver && hasPlace() ? linePath() : page.home)
  // The second script comes last, so that an error in it does not affect the claim of the turn above.
  extras?.show({ schedule, page, place, atMs }, { announce, commitmentHolds, ownOrder, forgetOrder })
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
  time.toggleAttribute('data-days', left >= DAY_SECONDS)
  const comb = time.parentElement?.querySelector<HTMLProgressElement>('[data-seconds]')
  if (comb) comb.value = Math.ceil(Math.max(0, left)) % 60
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

// -- Start ----------------------------------------------------------------------------------------------------------

/** Sets up the content when it is new or was replaced. */
function begin(): void {
  const { line } = page
  takePage()
  follow(line)
  dropRefresh()
  announce()
  countsAsRenewal()
  order?.stop()
  order = followOrder((status) => void (showPrepared(status) || refresh()))
  rememberOrder(page)
  showOwnOrder(page)
  showMoments()
  fillInvitation()
  rememberPlace()
  if (page.path === null) return
  // Sets the address of the shown content, from whichever request it came.
  if (location.pathname !== page.path.split('?')[0]) history.replaceState(null, '', page.path)
  if (isBesideOwn()) void refresh(linePath())
  else if (!byId('final')) notifyOtherTabs()
  // The server could not render the content, so loading the page counts as a failed refresh.
  if (byId('away')) {
    failures.refreshes = 1
    refreshWithin(0)
  }
  tick()
}

/** A page from the back-forward cache is out of date, so it is refreshed, except while the visitor is offline. */
function onReturn(): void {
  if (page.path !== null) void refresh()
  else if (navigator.onLine) location.reload()
}

/** Loads the second script. If that fails, the page works without it, and tries again. */
async function loadExtras(load: () => Promise<typeof Extras>): Promise<void> {
  try {
    extras = await load()
  } catch {
    setTimeout(loadExtras, READ_MAX_MS, load)
  }
}

/** Sets up the parts that stay when the content changes. `everyBeat` calls a function twice a second. */
export function start(everyBeat: (act: () => void) => void, load: () => Promise<typeof Extras>): void {
  takePage()
  const [navigation] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[]
  clock.read(madeAtMs(), 0, navigation?.responseStart ?? performance.now())
  // A problem's page is the response to a form. A reload, or the Back button, shows the page that contained the form.
  if (page.path === null)
    history.replaceState(
      null,
      '',
      location.pathname.replace(/\/buy$/, '/line').replace(/\/(payment|cancel)$/, '') + location.search,
    )
  startReading(tick)
  startRefreshing(begin)
  begin()
  showConnection()
  addEventListener('online', readNow)
  addEventListener('offline', readNow)
  addEventListener('storage', ({ key }) => key === storageKeyOfOrders(page) && showOwnOrder(page))
  document.addEventListener('visibilitychange', () => {
    order?.fetchNow()
    if (isVisible()) readNow()
  })
  document.addEventListener('submit', onSubmit)
  addEventListener('pageshow', (event) => event.persisted && onReturn())
  everyBeat(tick)
  show(byId('stuck'))
  void loadExtras(load)
}
