/**
 * This isolate's copies of the sales' snapshots, one for each line. While a copy is young, requests are answered from it without a call to
 * anyone; once in FRESH_MS one of them refreshes it behind its response. When that fails, the copy at hand still answers,
 * with a stopped line, and the isolate tries at growing intervals: an object in trouble must not meet a crowd.
 */
import { OPEN_TO_ALL, type Policy, PUBLIC_LINE, roomName } from '../../shared/api/access.ts'
import type { JoinCounts } from '../../shared/api/internal.ts'
import { type Draw, positionOf } from '../../shared/draw.ts'
import { RecentMap } from '../../shared/lib/recent-map.ts'
import { isFinal, type Place, placeOf, type Schedule, servingExactly } from '../../shared/schedule.ts'
import { Limiter } from '../admission/limits/limiter.ts'
import { type Call, isAhead, pollWhile, refuse } from '../call.ts'
import { CountSum } from './counts.ts'
import { type SnapshotRequest, shardOf, withRetries } from './rpc.ts'
import {
  ANNOUNCE_MS,
  CLOCK_TOLERANCE_MS,
  FRESH_MS,
  inEffect,
  latest,
  type SaleFacts,
  type SaleSnapshot,
  UNKNOWN_MS,
  USABLE_MS,
} from './timeline.ts'

/** Most sales, and most names looked up, in memory; beyond it those used longest ago are forgotten. */
const MAX_SALES = 1_000
/** Rate of requests for new names: somebody who makes names up must not wake an object for each. */
const LOOKUPS = { calls: 50, seconds: 1 }
/** A refresh counts as failed after so long: the waiting room may have to wait almost a second for the origin. */
const REFRESH_MS = 1_500
/** How long a request waits for a refresh before the old copy answers it: more than a call around the world takes. */
const WAIT_MS = 500
/** Pause after a failed refresh; doubled each time, up to a limit, less a random part. */
const REST_MS = 300
const MAX_REST_MS = 5_000
/** How long one request waits, behind its response, for the end of a final phase; the platform allows 30 s. */
const LISTEN_MS = 10_000
/** The wait counts as lost after so long: its response may take as long as any other. */
const LISTEN_LOST_MS = LISTEN_MS + REFRESH_MS
/** Without a newer snapshot for so long, the line is shown as paused. */
const PAUSED_AFTER_MS = 3_000
/** Most positions in memory per sale; computing one takes a hundred times as long as finding it. */
const MAX_POSITIONS = 100_000

interface CachedSale {
  snapshot: SaleSnapshot
  /** When the waiting room made the snapshot, on this machine's clock. */
  asOfMs: number
  /** What to add to this machine's clock to get the waiting room's. */
  clockMs: number
  /** Until when another request waits for the end of a final phase. */
  listeningUntilMs: number
  readonly positions: RecentMap<number, number>
}

/** The refresh of a sale: by one request at a time, for all. */
interface Refresh {
  /** Until when the others wait for it. */
  waitUntilMs: number
  /** Until when nobody else refreshes: one is running, or has failed. */
  restUntilMs: number
  /** Failures in a row. */
  failures: number
  unknownUntilMs: number
}

const sales = new RecentMap<string, CachedSale>(MAX_SALES)
const refreshes = new RecentMap<string, Refresh>(MAX_SALES)
const lookups = new Limiter(1)

/** A sale at the moment of a request, as one of its lines has it. */
export interface SaleNow {
  readonly line: string
  readonly schedule: Schedule
  readonly facts: SaleFacts
  /** Who may join. */
  readonly policy: Policy
  /** How many ticket shards its numbers come from: fixed when the sale was created, or the setting. */
  readonly ticketShards: number
  /** The moment the line is at: now, or the last moment for which it is certain. */
  readonly atMs: number
  /** The place of a ticket number. */
  place(number: number): Place
}

/**
 * The sale as it is now, for one of its lines: one that its policy lists, or that a token names, since others would wake objects.
 * Throws a ProblemError: `unknown-sale`, or `try-again` when no copy can be had.
 */
export async function saleNow(saleId: string, call: Call, line = PUBLIC_LINE): Promise<SaleNow> {
  const name = roomName(saleId, line)
  // Not when the request came: it may have waited for others since, while the copy was refreshed.
  let nowMs = Date.now()
  if (!hasAnswer(name, nowMs)) {
    keepFresh(name, call, nowMs)
    // At the opening a new isolate meets a crowd before it knows the sale: one request refreshes, and all wait for it.
    const isRefreshing = (atMs: number) => isAhead(refreshes.get(name)?.waitUntilMs ?? 0, atMs, REFRESH_MS)
    await pollWhile((atMs) => !hasAnswer(name, atMs) && isRefreshing(atMs))
    nowMs = Date.now()
  }
  const sale = sales.get(name)
  if (!sale) return isUnknown(name, nowMs) ? refuse('unknown-sale') : refuseForNow()
  keepFresh(name, call, nowMs)
  return viewAt(sale, line, nowMs, call)
}

/** The sale as all see it: in the public line, or in the first where none is public. */
export async function publicNow(sale: string, call: Call): Promise<SaleNow> {
  const now = await saleNow(sale, call)
  const { lines } = now.policy
  const [first] = lines
  return !first || lines.some(({ line }) => line === PUBLIC_LINE) ? now : saleNow(sale, call, first.line)
}

const refuseForNow = () => refuse('try-again', { retry_after_seconds: 1 })

/** Refreshes behind the response what is missing or grows old; in a final phase, waits for its end. */
function keepFresh(name: string, call: Call, nowMs: number) {
  if (isAhead(refreshes.get(name)?.restUntilMs ?? 0, nowMs, MAX_REST_MS)) return
  const sale = sales.get(name)
  if (!sale && lookups.take('', LOOKUPS, nowMs) > 0) return refuseForNow()
  const usable = sale && isUsable(sale, nowMs) ? sale : null
  if (usable && isSettled(usable, nowMs)) {
    if (!isListening(usable, nowMs)) call.ctx.waitUntil(listen(name, usable, call, nowMs))
  } else if (!usable || nowMs - usable.asOfMs > FRESH_MS) call.ctx.waitUntil(refresh(name, call, nowMs))
}

/** True with a usable copy, or when the name is known to be unknown. */
function hasAnswer(name: string, nowMs: number): boolean {
  const sale = sales.get(name)
  return sale ? isUsable(sale, nowMs) : isUnknown(name, nowMs)
}

function isUnknown(name: string, nowMs: number): boolean {
  return (refreshes.get(name)?.unknownUntilMs ?? 0) > nowMs
}

/** A copy in a final phase is usable for as long as somebody waits for the end of that phase. */
function isUsable(sale: CachedSale, nowMs: number): boolean {
  const ageMs = nowMs - sale.asOfMs
  if (ageMs >= 0 && ageMs <= USABLE_MS) return true
  return isSettled(sale, nowMs) && isListening(sale, nowMs)
}

const isListening = (sale: CachedSale, nowMs: number) => isAhead(sale.listeningUntilMs, nowMs, LISTEN_LOST_MS)

/** True in a final phase, with nothing else announced. */
function isSettled({ snapshot: { timeline }, clockMs }: CachedSale, nowMs: number): boolean {
  return isFinal(inEffect(timeline, nowMs + clockMs).phase) && isFinal(latest(timeline).schedule.phase)
}

/**
 * Requests the next snapshot. A late response, for which nobody waits any more, is still stored: where this machine
 * itself is slow, every response is late.
 */
async function refresh(name: string, call: Call, nowMs: number): Promise<void> {
  const state = refreshOf(name)
  state.waitUntilMs = nowMs + (sales.get(name) ? WAIT_MS : REFRESH_MS)
  state.restUntilMs = nowMs + REFRESH_MS
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    rest(state)
  }, REFRESH_MS)
  const response = await look(call, () => ({ sale: name, has_policy: policyOf(name), counts: takeCounts(name) }))
  clearTimeout(timer)
  if (response?.known === false && response.reason === 'unknown-sale' && !sales.get(name)) {
    state.unknownUntilMs = Date.now() + UNKNOWN_MS
  } else if (!response?.known || !storeSnapshot(name, response.bulletin, nowMs)) {
    if (!isLate) rest(state)
    return
  }
  state.waitUntilMs = 0
  state.failures = 0
  state.restUntilMs = 0
}

/** Waits for a restock to end a final phase: the one call that then leaves the isolate, repeated while nothing changes. */
async function listen(name: string, sale: CachedSale, call: Call, fromMs: number) {
  sale.listeningUntilMs = fromMs + LISTEN_LOST_MS
  const newer_than = latest(sale.snapshot.timeline).schedule.version
  // A retry waits for what is left of the time.
  const waitMs = () => Math.max(0, fromMs + LISTEN_MS - Date.now())
  const response = await look(
    call,
    () => ({ sale: name, newer_than, wait_ms: waitMs(), has_policy: policyOf(name), counts: takeCounts(name) }),
    LISTEN_LOST_MS,
  )
  const nowMs = Date.now()
  sale.listeningUntilMs = 0
  // How long the response took is unknown; taken for so old, it is soon refreshed.
  if (response?.known) storeSnapshot(name, response.bulletin, nowMs - FRESH_MS)
  else rest(refreshOf(name))
}

function refreshOf(name: string): Refresh {
  const found = refreshes.get(name)
  if (found) return found
  const state = { waitUntilMs: 0, restUntilMs: 0, failures: 0, unknownUntilMs: 0 }
  refreshes.set(name, state)
  return state
}

/** After a failure: the next refresh comes later, and at another moment than that of the other isolates. */
function rest(state: Refresh) {
  const restMs = Math.min(MAX_REST_MS, REST_MS * 2 ** state.failures++)
  state.waitUntilMs = 0
  state.restUntilMs = Date.now() + restMs * (1 - Math.random() / 2)
}

const shardsOf = (snapshot: SaleSnapshot | undefined, { config }: Call) =>
  snapshot?.ticket_shards ?? config.TICKET_SHARDS

const policyOf = (name: string) => sales.get(name)?.snapshot.policy?.version

// -- Counts --------------------------------------------------------------------------------------------------------------

/** Without any other request, counts are sent after so long. */
const SEND_COUNTS_MS = 500

const counts = new RecentMap<string, CountSum>(MAX_SALES)

const takeCounts = (name: string) => counts.get(name)?.take()

/** Counts what happened to those who join a sale, if this isolate knows it. It is sent with the next refresh. */
export function count(name: string, counted: Partial<JoinCounts>, call: Call): void {
  if (!sales.get(name)) return
  const sum = counts.get(name) ?? new CountSum()
  counts.set(name, sum)
  if (sum.isEmpty()) call.ctx.waitUntil(sendCounts(name, sum, call))
  sum.add(counted)
}

/** After the sale they wait for a request that is made anyway. */
async function sendCounts(name: string, sum: CountSum, call: Call): Promise<void> {
  await scheduler.wait(SEND_COUNTS_MS)
  const sale = sales.get(name)
  const nowMs = Date.now()
  if (sum.isEmpty() || !sale || isSettled(sale, nowMs)) return
  if (!isAhead(refreshes.get(name)?.restUntilMs ?? 0, nowMs, MAX_REST_MS)) await refresh(name, call, nowMs)
}

/** A snapshot from any ticket shard: they hand on the waiting room's. Each try makes its own request. */
function look(call: Call, request: () => SnapshotRequest, withinMs?: number) {
  return withRetries(() => {
    const asked = request()
    const shards = shardsOf(sales.get(asked.sale)?.snapshot, call)
    return shardOf(asked.sale, Math.floor(Math.random() * shards), call.env).look(asked)
  }, withinMs)
}

/** Stores a snapshot requested at `requestedAtMs`; false if a newer one is at hand: responses can overtake each other. */
export function storeSnapshot(name: string, snapshot: SaleSnapshot, requestedAtMs: number): boolean {
  const asOfMs = requestedAtMs - snapshot.age_ms
  const differenceMs = snapshot.at_ms - asOfMs
  const clockMs = Math.abs(differenceMs) > CLOCK_TOLERANCE_MS ? differenceMs : 0
  const sale = sales.get(name)
  if (!sale) {
    const positions = new RecentMap<number, number>(MAX_POSITIONS)
    sales.set(name, { snapshot, asOfMs, clockMs, listeningUntilMs: 0, positions })
    return true
  }
  const isOlder = latest(snapshot.timeline).schedule.version < latest(sale.snapshot.timeline).schedule.version
  if (isOlder) return false
  sale.snapshot = { ...snapshot, policy: snapshot.policy ?? sale.snapshot.policy }
  // A slow response must not make the copy older; a clock put back may.
  if (asOfMs > sale.asOfMs || sale.asOfMs > Date.now()) sale.asOfMs = asOfMs
  sale.clockMs = clockMs
  return true
}

function viewAt(sale: CachedSale, line: string, nowMs: number, call: Call): SaleNow {
  const { snapshot, asOfMs, clockMs, positions } = sale
  const certainUntilMs = isSettled(sale, nowMs) ? nowMs : asOfMs + ANNOUNCE_MS
  const certainMs = Math.min(nowMs, certainUntilMs) + clockMs
  const current = inEffect(snapshot.timeline, certainMs)
  const isPaused = nowMs - certainUntilMs > PAUSED_AFTER_MS
  const schedule = isPaused ? pausedAt(current, certainMs) : current
  const atMs = isPaused ? nowMs + clockMs : certainMs
  const drawn = (draw: Draw, number: number) => {
    if (number > draw.size) return number
    const known = positions.get(number)
    if (known !== undefined) return known
    const position = positionOf(draw, number)
    positions.set(number, position)
    return position
  }
  return {
    line,
    schedule,
    facts: snapshot.facts,
    policy: snapshot.policy ?? OPEN_TO_ALL,
    ticketShards: shardsOf(snapshot, call),
    atMs,
    place: (number) => placeOf(schedule, number, atMs, drawn),
  }
}

/** The line paused where it was last certain; the clock goes on meanwhile. */
function pausedAt(schedule: Schedule, atMs: number): Schedule {
  if (schedule.phase !== 'open') return schedule
  const known = paused.get(schedule)
  if (known?.anchor_at_ms === atMs) return known
  const anchor_position = servingExactly(schedule, atMs)
  const made: Schedule = {
    ...schedule,
    phase: 'paused',
    anchor_at_ms: atMs,
    anchor_position,
    rate_per_second: 0,
  }
  paused.set(schedule, made)
  return made
}

/** By the schedule they come from: kept, since responses are cached by schedule. */
const paused = new WeakMap<Schedule, Schedule>()
