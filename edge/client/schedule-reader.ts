/**
 * Reads the sale's public schedule: while the page is visible, as often as the schedule says (next_read_ms), and
 * otherwise less often the further away the turn is. Tabs of one browser share what they read.
 */
import { isFinal, pollAfterMs, type Schedule } from '../../shared/schedule.ts'
import { failures, showConnection } from './connection.ts'
import {
  byId,
  clock,
  FETCH_AT_TURN_MS,
  get,
  linePath,
  nowMs,
  type Page,
  page,
  SLOW_TIMEOUT_MS,
  TIMEOUT_MS,
  textsOf,
} from './page.ts'
import { placeIn } from './queue-view.ts'
import { refresh } from './refresh.ts'

const READ_MIN_MS = 1_000
export const READ_MAX_MS = 60_000
/** A visitor who has not joined reads this often once the sale is open, because only its end could matter. */
const READ_AT_LANDING_MS = 15_000
/**
 * If there is no newer schedule for this long, the queue is shown as it was last known. It may have stopped since,
 * and would jump back. For visitors far back the shown queue stops between two reads, because otherwise half a million
 * visitors would have to read twice as often.
 */
const CERTAIN_MS = 10_000
/** The end of a sale is read this long after it, up to twice that, when it is known everywhere. */
const AFTER_END_MS = 1_000
/**
 * A CDN that serves the schedule (the stage's `host`) counts as failed if it takes longer than this, or if its copy
 * is older. The edge then serves the schedule for a while.
 */
const HOST_LATE_MS = 3_000

export let schedule: Schedule | null = null
let receivedAtServerMs = 0
let readAtMs = 0
let timer = 0
let isReading = false
let hostAgainAtMs = 0
let afterRead = () => {}

/** The moment to show: now, or the last one for which the schedule is valid. */
export const certainMs = () => Math.min(nowMs(), receivedAtServerMs + CERTAIN_MS)

/** Sets the function that is called after every read, and starts the exchange with other tabs. */
export function startReading(act: () => void): void {
  afterRead = act
  openChannel()
}

export function readIfDue(): void {
  if (performance.now() >= readAtMs) void read()
}

export function readNow(): void {
  readAtMs = 0
  showConnection()
  afterRead()
}

/** The machine slept, or its clock was set. */
export const readAtNextBeat = () => {
  readAtMs = 0
}

/**
 * A visitor who joins or is called needs a schedule more often than before. The landing page may also belong to
 * another line than the one joined.
 */
export function follow(lineBefore: string | undefined): void {
  if (page.line !== lineBefore) [schedule, readAtMs] = [null, 0]
  else if (schedule) readAt(Math.min(readAtMs, nextReadAtMs(schedule)))
}

/** The read also has its own timer, because beats are half a second apart. */
function readAt(atMs: number): void {
  readAtMs = atMs
  clearTimeout(timer)
  if (isVisible()) timer = setTimeout(read, atMs - performance.now())
}

export const isVisible = () => !document.hidden

const nextReadAtMs = (after: Schedule) => {
  // A hidden page reads as rarely as it can without missing a turn.
  const mostMs = isVisible() ? after.next_read_ms * (1 - Math.random() / 50) : Number(textsOf('stage').poll)
  return performance.now() + Math.min(mostMs, Math.max(READ_MIN_MS, pauseAfter(after)))
}

const pauseAfter = (next: Schedule): number => {
  const place = byId('line') ? placeIn(next, page, nowMs()) : null
  const pauseMs = place ? pollAfterMs(place, Math.random()) : pauseOutside(next) * (0.75 + Math.random() / 2)
  const endsInMs = next.ends_at_ms === null ? 0 : next.ends_at_ms - nowMs()
  return endsInMs > 0 ? Math.min(pauseMs, endsInMs + AFTER_END_MS * (1 + Math.random())) : pauseMs
}

/** The pause of visitors who are not in the queue. */
const pauseOutside = (next: Schedule): number => {
  const { phase } = next
  if (byId('turn')) return FETCH_AT_TURN_MS
  // The order's changes come by its stream, so the schedule only sets the clock.
  if (byId('order')) return READ_MAX_MS
  if (phase === 'upcoming') return (next.pre_queue_opens_at_ms - nowMs()) / 3
  if (phase === 'pre_queue') return (next.anchor_at_ms - nowMs()) / 3
  return isFinal(phase) ? READ_MAX_MS : READ_AT_LANDING_MS
}

async function read(): Promise<void> {
  if (isReading || page.path === null) return
  isReading = true
  const requestedAtMs = performance.now()
  const { host = '' } = requestedAtMs < hostAgainAtMs ? {} : textsOf('stage')
  try {
    // A late response may be lost, or all may be late, so each attempt waits longer than the one before.
    const timeoutMs = host ? HOST_LATE_MS : Math.min(SLOW_TIMEOUT_MS, TIMEOUT_MS * 2 ** failures.reads)
    // The browser's cache is not used, because it would return an unchanged schedule with an old server time.
    const response = await get(host + scheduleOf(page), { cache: 'no-store' }, timeoutMs)
    const receivedAtMs = performance.now()
    const next: Schedule = await response.json()
    // The fields from our own server are not checked one by one. An error, or a page of a proxy, does not name the
    // sale.
    const isStale = host && nowMs() - next.server_time_ms > HOST_LATE_MS
    if (isStale || next.sale !== page.sale || next.line !== page.line) throw 0
    failures.reads = 0
    const ageMs = Number(response.headers.get('age')) * 1000
    clock.read(next.server_time_ms + ageMs, requestedAtMs, receivedAtMs)
    applySchedule(next)
    channel?.postMessage({ news: next, serverMs: nowMs() })
  } catch {
    // The edge is read in a moment instead, but not by all visitors at once.
    if (host) hostAgainAtMs = requestedAtMs + READ_MAX_MS
    else failures.reads++
    const pauseMs = Math.min(READ_MAX_MS, READ_MIN_MS * 2 ** failures.reads)
    readAt(performance.now() + pauseMs * (0.5 + Math.random()))
  }
  isReading = false
  showConnection()
  afterRead()
}

const scheduleOf = ({ sale, line }: Page) => `/sales/${sale}/schedule${line === undefined ? '' : `?line=${line}`}`

/** An older schedule, for example from another server, only changes the time of the next read. */
function applySchedule(next: Schedule): void {
  if (!schedule || next.version >= schedule.version) {
    schedule = next
    receivedAtServerMs = nowMs()
  }
  readAt(nextReadAtMs(schedule))
}

/** Tabs share each schedule (`news`), and the place that one of them gets or gives up (`number`). */
let channel: BroadcastChannel | null = null

function openChannel(): void {
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

/** Tells the other tabs that the visitor has joined or left. */
export const notifyOtherTabs = () => channel?.postMessage({ number: page.number })
