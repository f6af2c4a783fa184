/**
 * What this isolate knows of the sales: a copy of what the waiting rooms tell, as plain values. Requests come here and
 * leave again without a call to anyone, as long as the copy is young; once in FRESH_MS one of them brings the next
 * copy behind its response. No promise is ever shared between requests, since what one request began ends with it.
 */

import { positionOf } from '../shared/draw.ts'
import { type Problem, problem } from '../shared/problem.ts'
import { Recent } from '../shared/recent.ts'
import { isFinal, type Place, placeOf, type Schedule, servingExactly } from '../shared/schedule.ts'
import {
  ANNOUNCE_MS,
  type Bulletin,
  FRESH_MS,
  inEffect,
  latest,
  type SaleFacts,
  USABLE_MS,
} from './bulletin.ts'
import type { Call } from './http.ts'
import { Limiter } from './limits.ts'
import { answerOf, type ShardCalls, shardOf } from './rpc.ts'

/** Most sales known at once, and most names known to be unknown; beyond it those asked for longest ago are forgotten. */
const MAX_SALES = 1_000
const MAX_UNKNOWN = 1_000
/** How long a name that nobody knows is answered from memory. */
const UNKNOWN_MS = 400
/** New names asked for: somebody who makes names up must not wake an object for each. */
const LOOKUPS = { calls: 50, seconds: 1 }
/** How long a request waits for the copy that another one is bringing, and how often it looks for it. */
const OTHERS_MS = 300
/** The same for the first copy of a sale: the waiting room may have to ask the origin, and wait for it. */
const FIRST_MS = 1_500
const OTHERS_STEP_MS = 5
/** How long one request listens, behind its response, for news of a final answer; the platform allows 30 s. */
const NEWS_MS = 10_000
/** Without news for so long, visitors are told that the line stands. */
const PAUSED_AFTER_MS = 3_000
/** A clock that differs from the waiting room's by less is left alone; both are set by the same means. */
const CLOCK_TOLERANCE_MS = 1_000
/** Most positions remembered per sale; computing one takes a hundred times as long as finding it. */
const MAX_POSITIONS = 100_000

interface Known {
  bulletin: Bulletin
  /** When the waiting room said so, on this machine's clock. */
  asOfMs: number
  /** What to add to this machine's clock to have the waiting room's. */
  clockMs: number
  /** Until when another request is counted on to bring the next copy, and to hear of news. */
  renewingUntilMs: number
  listeningUntilMs: number
  readonly positions: Recent<number, number>
}

const sales = new Recent<string, Known>(MAX_SALES)
const unknownUntilMs = new Recent<string, number>(MAX_UNKNOWN)
/** Until when another request is counted on to bring the first copy of a sale. */
const lookedUpUntilMs = new Recent<string, number>(MAX_UNKNOWN)
const lookups = new Limiter()

/** A sale at the moment of a request. */
export class SaleNow {
  readonly schedule: Schedule
  readonly facts: SaleFacts
  /** The moment the line is at: now, or the last moment for which it is certain. */
  readonly atMs: number
  readonly #positions: Recent<number, number>

  constructor(schedule: Schedule, facts: SaleFacts, atMs: number, positions: Recent<number, number>) {
    this.schedule = schedule
    this.facts = facts
    this.atMs = atMs
    this.#positions = positions
  }

  /** Where the holder of a ticket number stands. */
  place(number: number): Place {
    const positions = this.#positions
    return placeOf(this.schedule, number, this.atMs, (draw) => {
      if (number > draw.size) return number
      const known = positions.get(number)
      if (known !== undefined) return known
      const position = positionOf(draw, number)
      positions.set(number, position)
      return position
    })
  }
}

/** The sale as it is now, or what to answer instead. */
export async function saleNow(name: string, call: Call): Promise<SaleNow | Problem> {
  // Not when the request came: it may have waited for others since, while the copy was renewed.
  const nowMs = Date.now()
  const known = sales.get(name)
  if (known && isUsable(known, nowMs)) {
    keepFresh(name, known, call, nowMs)
    return nowOf(known, nowMs)
  }
  // At the opening a new isolate meets a crowd before it knows the sale: one of them asks, and the others wait for it.
  if (await othersBring(name, nowMs)) {
    const brought = sales.get(name)
    return brought ? nowOf(brought, Date.now()) : problem('unknown-sale')
  }
  if (!known && lookups.take('', LOOKUPS, Date.now()) > 0) {
    lookedUpUntilMs.delete(name)
    return problem('try-again', { retry_after_seconds: 1 })
  }
  const told = await renew(name, call)
  const after = sales.get(name)
  if (!after) return problem(told === 'unknown-sale' ? told : 'try-again', { retry_after_seconds: 1 })
  const afterMs = Date.now()
  keepFresh(name, after, call, afterMs)
  return nowOf(after, afterMs)
}

/** Sees to it, behind the response, that the copy does not grow old. */
function keepFresh(name: string, known: Known, call: Call, nowMs: number) {
  const { ctx } = call
  if (isSettled(known, nowMs)) {
    if (!isUnderWay(known.listeningUntilMs, nowMs, NEWS_MS)) ctx.waitUntil(listen(name, known, call, nowMs))
  } else if (nowMs - known.asOfMs > FRESH_MS && !isUnderWay(known.renewingUntilMs, nowMs, OTHERS_MS)) {
    countOn(name)
    ctx.waitUntil(renew(name, call))
  }
}

/** True if the copy is good enough to answer from. A final one is for as long as somebody listens for news of it. */
function isUsable(known: Known, nowMs: number): boolean {
  const ageMs = nowMs - known.asOfMs
  if (ageMs >= 0 && ageMs <= USABLE_MS) return true
  return isSettled(known, nowMs) && isUnderWay(known.listeningUntilMs, nowMs, NEWS_MS)
}

function isSettled({ bulletin, clockMs }: Known, nowMs: number): boolean {
  const { timeline } = bulletin
  return isFinal(inEffect(timeline, nowMs + clockMs).phase) && isFinal(latest(timeline).schedule.phase)
}

/** What another request does until a moment; a moment further away than can be was set by a clock put back since. */
function isUnderWay(untilMs: number, nowMs: number, atMostMs: number): boolean {
  return untilMs > nowMs && untilMs <= nowMs + atMostMs
}

/**
 * Waits for what another request is bringing; true if it has come: a usable copy, or that there is no such sale. False
 * if it is for the caller to bring, whom the others count on from now on.
 */
async function othersBring(name: string, sinceMs: number): Promise<boolean> {
  const withinMs = sales.get(name) ? OTHERS_MS : FIRST_MS
  for (let nowMs = sinceMs; nowMs - sinceMs < withinMs; nowMs = Date.now()) {
    const known = sales.get(name)
    if (known ? isUsable(known, nowMs) : (unknownUntilMs.get(name) ?? 0) > nowMs) return true
    const untilMs = known ? known.renewingUntilMs : (lookedUpUntilMs.get(name) ?? 0)
    if (!isUnderWay(untilMs, nowMs, withinMs)) break
    await scheduler.wait(OTHERS_STEP_MS)
  }
  countOn(name)
  return false
}

/** Tells the other requests that this one brings the next copy. */
function countOn(name: string) {
  const known = sales.get(name)
  if (known) known.renewingUntilMs = Date.now() + OTHERS_MS
  else lookedUpUntilMs.set(name, Date.now() + FIRST_MS)
}

/** Brings the next copy, as the others count on, from any ticket shard: they hand on what the waiting room tells. */
async function renew(name: string, call: Call): Promise<'told' | 'unknown-sale' | 'unavailable'> {
  const nowMs = Date.now()
  const known = sales.get(name)
  const told = await answerOf(() => anyShard(name, call).look({ sale: name }))
  if (known) known.renewingUntilMs = 0
  lookedUpUntilMs.delete(name)
  if (!told) return 'unavailable'
  if (told.known) {
    takeNews(name, told.bulletin, nowMs)
    return 'told'
  }
  if (told.reason === 'unknown-sale' && !known) unknownUntilMs.set(name, Date.now() + UNKNOWN_MS)
  return told.reason
}

/** Waits for news of a final answer: it may be live again, after a restock. */
async function listen(name: string, known: Known, call: Call, fromMs: number) {
  known.listeningUntilMs = fromMs + NEWS_MS
  const newer_than = latest(known.bulletin.timeline).schedule.version
  const told = await answerOf(() => anyShard(name, call).look({ sale: name, newer_than, wait_ms: NEWS_MS }))
  const nowMs = Date.now()
  known.listeningUntilMs = 0
  // How long the answer was on its way is not known; what is taken for so old is soon asked for again.
  if (told?.known) takeNews(name, told.bulletin, nowMs - FRESH_MS)
}

function anyShard(name: string, { env, config }: Call): ShardCalls {
  return shardOf(name, Math.floor(Math.random() * config.ticketShards), env)
}

/** Takes a bulletin that was asked for at `askedAtMs`, unless a newer one is at hand: answers can overtake each other. */
export function takeNews(name: string, bulletin: Bulletin, askedAtMs: number) {
  const asOfMs = askedAtMs - bulletin.age_ms
  const differenceMs = bulletin.at_ms - asOfMs
  const clockMs = Math.abs(differenceMs) > CLOCK_TOLERANCE_MS ? differenceMs : 0
  const before = sales.get(name)
  if (!before) {
    unknownUntilMs.delete(name)
    const positions = new Recent<number, number>(MAX_POSITIONS)
    const known = { bulletin, asOfMs, clockMs, renewingUntilMs: 0, listeningUntilMs: 0, positions }
    sales.set(name, known)
    return
  }
  if (latest(bulletin.timeline).schedule.version < latest(before.bulletin.timeline).schedule.version) return
  before.bulletin = bulletin
  // An answer that was long on its way must not make the copy older; a clock put back may.
  if (asOfMs > before.asOfMs || before.asOfMs > Date.now()) before.asOfMs = asOfMs
  before.clockMs = clockMs
}

function nowOf(known: Known, nowMs: number): SaleNow {
  const { bulletin, asOfMs, clockMs, positions } = known
  const certainUntilMs = isSettled(known, nowMs) ? nowMs : asOfMs + ANNOUNCE_MS
  const atMs = Math.min(nowMs, certainUntilMs) + clockMs
  const holds = inEffect(bulletin.timeline, atMs)
  const silent = nowMs - certainUntilMs > PAUSED_AFTER_MS
  if (!silent) return new SaleNow(holds, bulletin.facts, atMs, positions)
  return new SaleNow(standing(holds, atMs), bulletin.facts, nowMs + clockMs, positions)
}

/** The line as it stands where it was last certain, for as long as nothing is heard; the clock goes on meanwhile. */
function standing(schedule: Schedule, atMs: number): Schedule {
  if (schedule.phase !== 'open') return schedule
  const known = stopped.get(schedule)
  if (known?.anchor_at_ms === atMs) return known
  const stood: Schedule = {
    ...schedule,
    phase: 'paused',
    anchor_at_ms: atMs,
    anchor_position: servingExactly(schedule, atMs),
    rate_per_second: 0,
  }
  stopped.set(schedule, stood)
  return stood
}

/** Lines that stand, by the schedule that they had: kept, since what is made of a schedule is kept with it. */
const stopped = new WeakMap<Schedule, Schedule>()
