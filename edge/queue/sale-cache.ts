/**
 * What this isolate knows of the sales: a copy of what the waiting rooms tell, as plain values. Requests come here and
 * leave again without a call to anyone, as long as the copy is young; once in FRESH_MS one of them brings the next
 * copy behind its response. No promise is ever shared between requests, since what one request began ends with it.
 *
 * When the next copy does not come, those who ask are answered from the one at hand, whose line stands still by itself;
 * and the isolate asks for it more and more seldom, however many ask: an object in trouble is not the place for a crowd.
 */

import { positionOf } from '../../shared/draw.ts'
import { type Problem, problem } from '../../shared/problem.ts'
import { Recent } from '../../shared/recent-map.ts'
import { isFinal, type Place, placeOf, type Schedule, servingExactly } from '../../shared/schedule.ts'
import { Limiter } from '../auth/rate-limits.ts'
import type { Call } from '../http.ts'
import { answerOf, type ShardCalls, shardOf } from './rpc.ts'
import {
  ANNOUNCE_MS,
  type Bulletin,
  CLOCK_TOLERANCE_MS,
  FRESH_MS,
  inEffect,
  latest,
  type SaleFacts,
  UNKNOWN_MS,
  USABLE_MS,
} from './timeline.ts'

/** Most sales known at once, and most names known to be unknown; beyond it those asked for longest ago are forgotten. */
const MAX_SALES = 1_000
const MAX_UNKNOWN = 1_000
/** New names asked for: somebody who makes names up must not wake an object for each. */
const LOOKUPS = { calls: 50, seconds: 1 }
/** When asking is taken to be in vain: the waiting room may have to ask the origin, which it waits almost a second for. */
const ASK_MS = 1_500
/** How long a request waits for the next copy before it is answered from the old one: more than a call around the world. */
const WAIT_MS = 500
/** How often it looks whether that has come. */
const STEP_MS = 5
/** Nobody asks for so long after it was in vain; doubled each time, up to a limit, of which a random part is taken off. */
const REST_MS = 300
const MAX_REST_MS = 5_000
/** How long one request listens, behind its response, for news of a final answer; the platform allows 30 s. */
const NEWS_MS = 10_000
/** When it is taken for lost: the last it may hear is on its way as long as any answer. */
const LISTEN_MS = NEWS_MS + ASK_MS
/** Without news for so long, visitors are told that the line stands. */
const PAUSED_AFTER_MS = 3_000
/** Most positions remembered per sale; computing one takes a hundred times as long as finding it. */
const MAX_POSITIONS = 100_000

interface Known {
  bulletin: Bulletin
  /** When the waiting room said so, on this machine's clock. */
  asOfMs: number
  /** What to add to this machine's clock to have the waiting room's. */
  clockMs: number
  /** Until when another request is counted on to hear of news. */
  listeningUntilMs: number
  readonly positions: Recent<number, number>
}

/** How a sale is asked for: by one request at a time, for all. */
interface Asking {
  /** Until when the others wait for what it brings. */
  waitUntilMs: number
  /** Until when nobody else asks: it is under way, or was in vain. */
  restUntilMs: number
  /** How often in a row it was in vain. */
  failures: number
}

const sales = new Recent<string, Known>(MAX_SALES)
const unknownUntilMs = new Recent<string, number>(MAX_UNKNOWN)
const askings = new Recent<string, Asking>(MAX_SALES)
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
  let nowMs = Date.now()
  if (!isAnswered(name, nowMs)) {
    if (mayAsk(name, nowMs)) {
      if (!sales.get(name) && lookups.take('', LOOKUPS, nowMs) > 0) return tryAgain()
      call.ctx.waitUntil(renew(name, call, nowMs))
    }
    // At the opening a new isolate meets a crowd before it knows the sale: one of them asks, and all wait for it.
    await brought(name)
    nowMs = Date.now()
  }
  const known = sales.get(name)
  if (!known) return isUnknown(name, nowMs) ? problem('unknown-sale') : tryAgain()
  keepFresh(name, known, call, nowMs)
  return nowOf(known, nowMs)
}

const tryAgain = () => problem('try-again', { retry_after_seconds: 1 })

/** Sees to it, behind the response, that the copy does not grow old. */
function keepFresh(name: string, known: Known, call: Call, nowMs: number) {
  if (!mayAsk(name, nowMs)) return
  if (isSettled(known, nowMs)) {
    if (!isUnderWay(known.listeningUntilMs, nowMs, LISTEN_MS))
      call.ctx.waitUntil(listen(name, known, call, nowMs))
  } else if (nowMs - known.asOfMs > FRESH_MS) call.ctx.waitUntil(renew(name, call, nowMs))
}

/** True if nobody need be asked: there is a usable copy, or there is known to be no such sale. */
function isAnswered(name: string, nowMs: number): boolean {
  const known = sales.get(name)
  return known ? isUsable(known, nowMs) : isUnknown(name, nowMs)
}

function isUnknown(name: string, nowMs: number): boolean {
  return (unknownUntilMs.get(name) ?? 0) > nowMs
}

/** True if the copy is good enough to answer from. A final one is for as long as somebody listens for news of it. */
function isUsable(known: Known, nowMs: number): boolean {
  const ageMs = nowMs - known.asOfMs
  if (ageMs >= 0 && ageMs <= USABLE_MS) return true
  return isSettled(known, nowMs) && isUnderWay(known.listeningUntilMs, nowMs, LISTEN_MS)
}

function isSettled({ bulletin, clockMs }: Known, nowMs: number): boolean {
  const { timeline } = bulletin
  return isFinal(inEffect(timeline, nowMs + clockMs).phase) && isFinal(latest(timeline).schedule.phase)
}

/** What another request does until a moment; a moment further away than can be was set by a clock put back since. */
function isUnderWay(untilMs: number, nowMs: number, atMostMs: number): boolean {
  return untilMs > nowMs && untilMs <= nowMs + atMostMs
}

/** Waits for what a request is bringing: a usable copy, or that there is no such sale; no longer than it is worth. */
async function brought(name: string): Promise<void> {
  for (let nowMs = Date.now(); !isAnswered(name, nowMs); nowMs = Date.now()) {
    if (!isUnderWay(askings.get(name)?.waitUntilMs ?? 0, nowMs, ASK_MS)) return
    await scheduler.wait(STEP_MS)
  }
}

function mayAsk(name: string, nowMs: number): boolean {
  return !isUnderWay(askings.get(name)?.restUntilMs ?? 0, nowMs, MAX_REST_MS)
}

/**
 * Brings the next copy, as the others count on, from any ticket shard: they hand on what the waiting room tells. An answer
 * that nobody waits for any more is news all the same: where the machine itself is what is slow, there are no others.
 */
async function renew(name: string, call: Call, nowMs: number): Promise<void> {
  const asking = askingOf(name)
  asking.waitUntilMs = nowMs + (sales.get(name) ? WAIT_MS : ASK_MS)
  asking.restUntilMs = nowMs + ASK_MS
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    rest(asking)
  }, ASK_MS)
  const told = await answerOf(() => anyShard(name, call).look({ sale: name }))
  clearTimeout(timer)
  const isUnknownNow = told?.known === false && told.reason === 'unknown-sale' && !sales.get(name)
  if (isUnknownNow) unknownUntilMs.set(name, Date.now() + UNKNOWN_MS)
  else if (!told?.known || !takeNews(name, told.bulletin, nowMs)) {
    if (!isLate) rest(asking)
    return
  }
  asking.waitUntilMs = 0
  asking.failures = 0
  asking.restUntilMs = 0
}

/**
 * Waits for news of a final answer: it may be live again, after a restock. While final answers are given, this is the
 * one call that leaves the isolate, and it leaves again as often as it comes back without news.
 */
async function listen(name: string, known: Known, call: Call, fromMs: number) {
  known.listeningUntilMs = fromMs + LISTEN_MS
  const newer_than = latest(known.bulletin.timeline).schedule.version
  // Asked again, it listens for what is left of the time.
  const told = await answerOf(() => {
    const wait_ms = Math.max(0, fromMs + NEWS_MS - Date.now())
    return anyShard(name, call).look({ sale: name, newer_than, wait_ms })
  }, LISTEN_MS)
  const nowMs = Date.now()
  known.listeningUntilMs = 0
  // How long the answer was on its way is not known; what is taken for so old is soon asked for again.
  if (told?.known) takeNews(name, told.bulletin, nowMs - FRESH_MS)
  else rest(askingOf(name))
}

function askingOf(name: string): Asking {
  const found = askings.get(name)
  if (found) return found
  const asking = { waitUntilMs: 0, restUntilMs: 0, failures: 0 }
  askings.set(name, asking)
  return asking
}

/** It was in vain: the next time is later, and at another moment than that of the other isolates. */
function rest(asking: Asking) {
  const restMs = Math.min(MAX_REST_MS, REST_MS * 2 ** asking.failures++)
  asking.waitUntilMs = 0
  asking.restUntilMs = Date.now() + restMs * (1 - Math.random() / 2)
}

function anyShard(name: string, { env, config }: Call): ShardCalls {
  return shardOf(name, Math.floor(Math.random() * config.ticketShards), env)
}

/** Takes a bulletin that was asked for at `askedAtMs`; false if a newer one is at hand: answers can overtake each other. */
export function takeNews(name: string, bulletin: Bulletin, askedAtMs: number): boolean {
  const asOfMs = askedAtMs - bulletin.age_ms
  const differenceMs = bulletin.at_ms - asOfMs
  const clockMs = Math.abs(differenceMs) > CLOCK_TOLERANCE_MS ? differenceMs : 0
  const before = sales.get(name)
  if (!before) {
    unknownUntilMs.delete(name)
    const positions = new Recent<number, number>(MAX_POSITIONS)
    const known = { bulletin, asOfMs, clockMs, listeningUntilMs: 0, positions }
    sales.set(name, known)
    return true
  }
  if (latest(bulletin.timeline).schedule.version < latest(before.bulletin.timeline).schedule.version)
    return false
  before.bulletin = bulletin
  // An answer that was long on its way must not make the copy older; a clock put back may.
  if (asOfMs > before.asOfMs || before.asOfMs > Date.now()) before.asOfMs = asOfMs
  before.clockMs = clockMs
  return true
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
