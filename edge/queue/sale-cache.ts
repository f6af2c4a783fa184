/**
 * This isolate's copies of the sales' snapshots, one for each queue. While a copy is young, requests are answered
 * from it without a call to anyone; once in FRESH_MS one of them refreshes it behind its response. When that fails,
 * the copy at hand still answers, with a stopped queue, and the isolate tries at growing intervals: an object in
 * trouble must not meet a crowd.
 */
import { type Policy, queueName } from '../../shared/api/access.ts'
import type { JoinCounts } from '../../shared/api/internal.ts'
import { type Draw, positionsOf } from '../../shared/draw.ts'
import { RecentMap } from '../../shared/lib/recent-map.ts'
import { isFinal, type Place, placeOf, type Schedule, servingExactly } from '../../shared/schedule.ts'
import { isAhead, SharedWork } from '../http/waiting.ts'
import { CountSum } from './counts.ts'
import { ageMs, hear, type Known, momentAt, roomMs } from './room-clock.ts'
import { anyMirrorOf, type QueueContext, type SnapshotRequest, withRetries } from './rpc.ts'
import {
  ANNOUNCE_MS,
  FRESH_MS,
  inEffect,
  latest,
  type SaleFacts,
  type SaleSnapshot,
  UNKNOWN_MS,
  USABLE_MS,
} from './timeline.ts'

/**
 * The limit of queues in memory, and separately of names that are not known to be queues. Beyond it the entry that
 * was used longest ago is dropped.
 */
const MAX_QUEUES = 2_000
/**
 * The limit of requests for new names per second, so that a client that invents names does not wake an object for
 * each.
 */
const LOOKUPS_PER_SECOND = 50
/** A refresh counts as failed after so long: the waiting room may have to wait almost a second for the origin. */
const REFRESH_MS = 1_500
/** How long a request waits for a refresh before the old copy answers it: more than a call around the world takes. */
const WAIT_MS = 500
/** Pause after a failed refresh; doubled each time, up to a limit, less a random part. */
const BACKOFF_MS = 300
const MAX_BACKOFF_MS = 5_000
/** How long one request waits, behind its response, for the end of a final phase; the platform allows 30 s. */
const LISTEN_MS = 10_000
/** The wait counts as lost after so long: its response may take as long as any other. */
const LISTEN_LOST_MS = LISTEN_MS + REFRESH_MS
/** The queue is shown as paused if the latest snapshot is older than this. */
const PAUSED_AFTER_MS = 3_000
/** The counts are sent after this time if no other request takes them along. */
const SEND_COUNTS_MS = 500
/** A failed send is repeated this often, which is as long as the platform lets work continue after a response. */
const MAX_SENDS = 20

/** What this isolate knows of one queue. One request at a time refreshes it, for all. */
interface CachedQueue {
  readonly name: string
  copy: Copy | null
  /** The refresh that the other requests wait for. */
  refreshing: SharedWork | null
  /** Until when nobody else refreshes: a refresh is under way, or has failed. */
  backOffUntilMs: number
  /** Failures in a row. */
  failures: number
  unknownUntilMs: number
  /** Until when another request waits for the end of a final phase. */
  listeningUntilMs: number
  /** The last moment for which a place was computed, on the waiting room's clock. */
  servedMs: number
  /** The position of a number in the queue's one draw. */
  readonly drawn: (draw: Draw, number: number) => number
  /** What happened to those who joined, to be sent with the next refresh. */
  readonly counts: CountSum
}

interface Copy {
  readonly snapshot: SaleSnapshot
  readonly policy: Policy
  /** What is known of the waiting room's clock. */
  readonly known: Known
}

/** The queues that have a copy of the snapshot. */
const queues = new RecentMap<string, CachedQueue>(MAX_QUEUES)
/** The queues without a copy are stored separately, so that invented names cannot push out a sale. */
const withoutCopy = new RecentMap<string, CachedQueue>(MAX_QUEUES)

/** A sale at the moment of a request, as one of its lines has it. */
export interface SaleNow {
  readonly sale: string
  readonly line: string
  /** The name of the line's queue. */
  readonly queue: string
  readonly schedule: Schedule
  readonly facts: SaleFacts
  /** The rules that decide who may join. */
  readonly policy: Policy
  /** How many ticket shards its numbers come from: fixed when the sale was created, or the setting. */
  readonly ticketShards: number
  /** The moment the queue is at: now, or the last moment for which it is certain. */
  readonly atMs: number
  /** When the stock was read that the facts tell, on the same clock. */
  readonly stockAtMs: number
  /** The place of a ticket number. */
  place(number: number): Place
}

/** Why a sale could not be read: there is none of that name, or no copy can be had at this moment. */
export type Unread = 'unknown-sale' | 'unavailable'

/**
 * The sale as it is now, for one of its lines: one that its policy lists, or that a token names, since others would
 * wake objects. `lookingUp` is called before a name is looked up that this isolate does not know, and may throw.
 */
export async function readSale(
  sale: string,
  line: string,
  context: QueueContext,
  lookingUp: () => void = () => {},
): Promise<SaleNow | Unread> {
  const queue = queueOf(queueName(sale, line))
  // The time is read here, because the request may have waited since it came, while the copy was refreshed.
  let nowMs = Date.now()
  if (!hasAnswer(queue, nowMs)) {
    if (!keepFresh(queue, context, nowMs, lookingUp)) return 'unavailable'
    // At the opening a new isolate meets a crowd before it knows the sale: one request refreshes, and all wait for it.
    await queue.refreshing?.wait()
    nowMs = Date.now()
  }
  if (!queue.copy) return queue.unknownUntilMs > nowMs ? 'unknown-sale' : 'unavailable'
  keepFresh(queue, context, nowMs)
  return viewAt(queue, queue.copy, sale, line, nowMs, context)
}

const queueOf = (name: string): CachedQueue => queues.get(name) ?? withoutCopy.getOrAdd(name, () => newQueue(name))

function newQueue(name: string): CachedQueue {
  let positions: ReturnType<typeof positionsOf> | undefined
  return {
    name,
    copy: null,
    refreshing: null,
    backOffUntilMs: 0,
    failures: 0,
    unknownUntilMs: 0,
    listeningUntilMs: 0,
    servedMs: 0,
    drawn: (draw, number) => {
      positions ??= positionsOf(draw)
      return positions(number)
    },
    counts: new CountSum(),
  }
}

/**
 * Refreshes behind the response what is missing or grows old; in a final phase, waits for its end. False for too many
 * new names.
 */
function keepFresh(queue: CachedQueue, context: QueueContext, nowMs: number, lookingUp = () => {}): boolean {
  if (isAhead(queue.backOffUntilMs, nowMs, MAX_BACKOFF_MS)) return true
  if (!queue.copy) {
    lookingUp()
    if (!mayLookUp(nowMs)) return false
  }
  const usable = queue.copy && isUsable(queue, queue.copy, nowMs) ? queue.copy : null
  if (usable && isSettled(usable, nowMs)) {
    if (!isListening(queue, nowMs)) context.ctx.waitUntil(listen(queue, usable, context, nowMs))
  } else if (!usable || ageMs(usable.known, nowMs) > FRESH_MS) context.ctx.waitUntil(refresh(queue, context, nowMs))
  return true
}

/** Requests for new names in one second. */
const lookups = { second: 0, count: 0 }

function mayLookUp(nowMs: number): boolean {
  const second = Math.floor(nowMs / 1000)
  if (lookups.second !== second) Object.assign(lookups, { second, count: 0 })
  return ++lookups.count <= LOOKUPS_PER_SECOND
}

/** True with a usable copy, or when the name is known to be unknown. */
function hasAnswer(queue: CachedQueue, nowMs: number): boolean {
  return queue.copy ? isUsable(queue, queue.copy, nowMs) : queue.unknownUntilMs > nowMs
}

/** A copy in a final phase is usable for as long as somebody waits for the end of that phase. */
function isUsable(queue: CachedQueue, copy: Copy, nowMs: number): boolean {
  const age = ageMs(copy.known, nowMs)
  if (age >= 0 && age <= USABLE_MS) return true
  return isSettled(copy, nowMs) && isListening(queue, nowMs)
}

const isListening = ({ listeningUntilMs }: CachedQueue, nowMs: number) =>
  isAhead(listeningUntilMs, nowMs, LISTEN_LOST_MS)

/** True in a final phase, with nothing else announced. */
function isSettled({ snapshot: { timeline }, known }: Copy, nowMs: number): boolean {
  return isFinal(inEffect(timeline, roomMs(known, nowMs)).phase) && isFinal(latest(timeline).schedule.phase)
}

/**
 * Requests the next snapshot. A late response, for which nobody waits any more, is still stored: where this machine
 * itself is slow, every response is late.
 */
async function refresh(queue: CachedQueue, context: QueueContext, nowMs: number): Promise<void> {
  const refreshing = new SharedWork(queue.copy ? WAIT_MS : REFRESH_MS)
  queue.refreshing = refreshing
  queue.backOffUntilMs = nowMs + REFRESH_MS
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    backOff(queue)
    refreshing.end()
  }, REFRESH_MS)
  const response = await poll(queue, context)
  clearTimeout(timer)
  if (response?.known === false && response.reason === 'unknown-sale' && !queue.copy) {
    queue.unknownUntilMs = Date.now() + UNKNOWN_MS
  } else if (!response?.known || !store(queue, response.snapshot, nowMs)) {
    if (!isLate) backOff(queue)
    return refreshing.end()
  }
  queue.failures = 0
  queue.backOffUntilMs = 0
  refreshing.end()
}

/**
 * Waits for a restock to end a final phase: the one call that then leaves the isolate, repeated while nothing
 * changes.
 */
async function listen(queue: CachedQueue, { snapshot }: Copy, context: QueueContext, fromMs: number) {
  queue.listeningUntilMs = fromMs + LISTEN_LOST_MS
  const newer_than = latest(snapshot.timeline).schedule.version
  // A retry waits for what is left of the time.
  const waiting = () => ({ newer_than, wait_ms: Math.max(0, fromMs + LISTEN_MS - Date.now()) })
  const response = await poll(queue, context, waiting, LISTEN_LOST_MS)
  queue.listeningUntilMs = 0
  if (response?.known) store(queue, response.snapshot, fromMs)
  else backOff(queue)
}

/** After a failure: the next refresh comes later, and at another moment than that of the other isolates. */
function backOff(queue: CachedQueue) {
  const pauseMs = Math.min(MAX_BACKOFF_MS, BACKOFF_MS * 2 ** queue.failures++)
  queue.backOffUntilMs = Date.now() + pauseMs * (1 - Math.random() / 2)
}

const shardsOf = ({ copy }: CachedQueue, { config }: QueueContext) =>
  copy?.snapshot.ticket_shards ?? config.TICKET_SHARDS

/** A snapshot from any mirror: they hand on the waiting room's. Each try makes its own request. */
function poll(
  queue: CachedQueue,
  context: QueueContext,
  waiting: () => Partial<SnapshotRequest> = () => ({}),
  withinMs?: number,
) {
  const { name, counts } = queue
  const tryOnce = (counts: JoinCounts | undefined) =>
    anyMirrorOf(name, shardsOf(queue, context), context.env).poll({
      queue: name,
      has_policy: queue.copy?.policy.version,
      counts,
      ...waiting(),
    })
  return withRetries(() => counts.send(tryOnce), withinMs)
}

/** Stores a snapshot of a queue, which the waiting room has sent without being asked. */
export function storeSnapshot(queue: string, snapshot: SaleSnapshot, sentMs: number): void {
  const cached = queueOf(queue)
  if (store(cached, snapshot, sentMs)) cached.refreshing?.end()
}

/** Stores a snapshot requested at `sentMs`; false if a newer one is at hand: responses can overtake each other. */
function store(queue: CachedQueue, snapshot: SaleSnapshot, sentMs: number): boolean {
  const { copy } = queue
  const { version } = latest(snapshot.timeline).schedule
  const known = hear(copy?.known ?? null, { version, ...snapshot }, { sentMs, heardMs: Date.now() })
  // Left out where this isolate has it.
  const policy = snapshot.policy ?? copy?.policy
  if (known === copy?.known || !policy) return false
  queue.copy = { snapshot, policy, known }
  queues.set(queue.name, queue)
  return true
}

/** Counts what happened to somebody who joins a sale, whatever its line. */
export function count({ sale }: Pick<SaleNow, 'sale'>, counted: Partial<JoinCounts>, context: QueueContext): void {
  const queue = queues.get(sale)
  if (!queue?.copy || Object.keys(counted).length === 0) return
  if (queue.counts.isEmpty()) context.ctx.waitUntil(sendCounts(queue, context))
  queue.counts.add(counted)
}

/** After the sale they wait for a request that is made anyway. */
async function sendCounts(queue: CachedQueue, context: QueueContext): Promise<void> {
  for (let sends = 0; sends < MAX_SENDS; sends++) {
    await scheduler.wait(SEND_COUNTS_MS)
    const nowMs = Date.now()
    if (queue.counts.isEmpty() || !queue.copy) return
    // In a final phase nobody joins any more, and refusals wait for a request.
    if (isSettled(queue.copy, nowMs) && !queue.counts.hasJoins()) return
    if (!isAhead(queue.backOffUntilMs, nowMs, MAX_BACKOFF_MS)) await refresh(queue, context, nowMs)
  }
}

function viewAt(
  queue: CachedQueue,
  copy: Copy,
  sale: string,
  line: string,
  nowMs: number,
  context: QueueContext,
): SaleNow {
  const { snapshot, policy, known } = copy
  const roomNowMs = roomMs(known, nowMs)
  const settled = isSettled(copy, nowMs)
  const certainMs = settled ? roomNowMs : momentAt(known, nowMs, queue.servedMs)
  if (!settled) queue.servedMs = certainMs
  const current = inEffect(snapshot.timeline, certainMs)
  const isPaused = !settled && ageMs(known, nowMs) - ANNOUNCE_MS > PAUSED_AFTER_MS
  const schedule = isPaused ? pausedAt(current, certainMs) : current
  const atMs = isPaused ? roomNowMs : certainMs
  return {
    sale,
    line,
    queue: queue.name,
    schedule,
    facts: snapshot.facts,
    policy,
    ticketShards: shardsOf(queue, context),
    atMs,
    stockAtMs: settled ? atMs : Math.min(atMs, snapshot.read_at_ms ?? snapshot.at_ms),
    place: (number) => placeOf(schedule, number, atMs, queue.drawn),
  }
}

/** The schedule of a queue, paused where it was last certain; the clock goes on meanwhile. */
function pausedAt(schedule: Schedule, atMs: number): Schedule {
  if (schedule.phase !== 'open') return schedule
  const known = pausedSchedules.get(schedule)
  if (known?.anchor_at_ms === atMs) return known
  const anchor_position = servingExactly(schedule, atMs)
  const made: Schedule = {
    ...schedule,
    phase: 'paused',
    anchor_at_ms: atMs,
    anchor_position,
    rate_per_second: 0,
  }
  pausedSchedules.set(schedule, made)
  return made
}

/** Paused schedules by those they come from: responses are cached by schedule. */
const pausedSchedules = new WeakMap<Schedule, Schedule>()
