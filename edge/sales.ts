/**
 * What this isolate knows of the sales: a copy of what the waiting rooms tell, as plain values. Requests come here and
 * leave again without a call to anyone, as long as the copy is young; once in FRESH_MS one of them brings the next
 * copy behind its response. No promise is ever shared between requests, since what one request began ends with it.
 */

import { positionOf } from '../shared/draw.ts'
import { type Problem, problem } from '../shared/problem.ts'
import { type Place, placeOf, type Schedule } from '../shared/schedule.ts'
import {
  ANNOUNCE_MS,
  type Bulletin,
  FRESH_MS,
  inEffect,
  isFinal,
  latest,
  type SaleFacts,
  USABLE_MS,
} from './bulletin.ts'
import type { Config, Env } from './config.ts'
import { Limiter } from './limits.ts'
import { answerOf, shardOf } from './rpc.ts'

/** Most sales known at once, and most names known to be unknown; beyond it the oldest is forgotten. */
const MAX_SALES = 1_000
const MAX_UNKNOWN = 1_000
/** How long a name that nobody knows is answered from memory. */
const UNKNOWN_MS = 400
/** New names asked for: somebody who makes names up must not wake an object for each. */
const LOOKUPS = { calls: 50, seconds: 1 }
/** How long a request waits for the copy that another one is bringing, and how often it looks. */
const WAIT_FOR_OTHERS_MS = 300
const WAIT_STEP_MS = 5
/** How long news of a final answer are waited for behind a response: less than the platform's 30 s. */
const NEWS_MS = 25_000
const NEWS_RETRY_MS = 1_000
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
  /** Until when another request is counted on to bring the next copy. */
  askingUntilMs: number
  positions: Map<number, number>
}

const sales = new Map<string, Known>()
const unknownUntilMs = new Map<string, number>()
const lookups = new Limiter()

/** A sale at the moment of a request. */
export interface SaleNow {
  readonly schedule: Schedule
  readonly facts: SaleFacts
  /** The moment the line is at: now, or the last moment for which it is certain. */
  readonly atMs: number
  readonly place: (number: number) => Place
}

export interface Asking {
  readonly env: Env
  readonly ctx: ExecutionContext
  readonly config: Config
  readonly nowMs: number
}

/** The sale as it is now, or what to answer instead. */
export async function saleNow(name: string, asking: Asking): Promise<SaleNow | Problem> {
  const known = sales.get(name)
  if (known && answersNow(name, known, asking)) return viewOf(known, asking.nowMs)
  if (!known) {
    if ((unknownUntilMs.get(name) ?? 0) > asking.nowMs) return problem('unknown-sale')
    if (lookups.take('', LOOKUPS, asking.nowMs) > 0) return problem('try-again', { retry_after_seconds: 1 })
  } else if (known.askingUntilMs > asking.nowMs) {
    await othersAsk(known, asking.nowMs)
    if (isUsable(known, Date.now())) return viewOf(known, Date.now())
  }
  const told = await ask(name, known, asking, {})
  const after = sales.get(name)
  if (after) return viewOf(after, Date.now())
  return told === 'unknown-sale' ? problem('unknown-sale') : problem('try-again', { retry_after_seconds: 1 })
}

/** True if the copy at hand is good enough to answer from; renews it behind the response where that is due. */
function answersNow(name: string, known: Known, asking: Asking): boolean {
  const { nowMs } = asking
  if (isSettled(known, nowMs)) {
    if (known.askingUntilMs <= nowMs) {
      const version = latest(known.bulletin.timeline).schedule.version
      asking.ctx.waitUntil(ask(name, known, asking, { newer_than: version, wait_ms: NEWS_MS }))
    }
    return true
  }
  if (!isUsable(known, nowMs)) return false
  if (nowMs - known.asOfMs > FRESH_MS && known.askingUntilMs <= nowMs) {
    asking.ctx.waitUntil(ask(name, known, asking, {}))
  }
  return true
}

/** A final answer is good until there is news, and news come by themselves. */
function isSettled({ bulletin }: Known, nowMs: number): boolean {
  return (
    isFinal(inEffect(bulletin.timeline, nowMs).phase) && isFinal(latest(bulletin.timeline).schedule.phase)
  )
}

function isUsable({ asOfMs }: Known, nowMs: number): boolean {
  return nowMs - asOfMs <= USABLE_MS && nowMs >= asOfMs
}

async function othersAsk(known: Known, sinceMs: number) {
  let nowMs = sinceMs
  while (!isUsable(known, nowMs) && nowMs - sinceMs < WAIT_FOR_OTHERS_MS && known.askingUntilMs > nowMs) {
    await scheduler.wait(WAIT_STEP_MS)
    nowMs = Date.now()
  }
}

/** Asks a ticket shard, which hands on what the waiting room tells; any of them will do. */
async function ask(
  name: string,
  known: Known | undefined,
  { env, config, nowMs }: Asking,
  wait: { newer_than?: number; wait_ms?: number },
): Promise<'told' | 'unknown-sale' | 'unavailable'> {
  const waitMs = wait.wait_ms ?? 0
  if (known) known.askingUntilMs = nowMs + (waitMs || WAIT_FOR_OTHERS_MS)
  const shard = shardOf(name, Math.floor(Math.random() * config.ticketShards), env)
  const told = await answerOf(() => shard.look({ sale: name, ...wait }))
  const answeredAtMs = Date.now()
  if (known) known.askingUntilMs = told || waitMs === 0 ? 0 : answeredAtMs + NEWS_RETRY_MS
  if (!told) return 'unavailable'
  if (told.known) {
    takeNews(name, told.bulletin, waitMs > 0 ? answeredAtMs : nowMs)
    return 'told'
  }
  if (told.reason === 'unknown-sale' && !known)
    remember(unknownUntilMs, name, answeredAtMs + UNKNOWN_MS, MAX_UNKNOWN)
  return told.reason
}

/** Takes a bulletin that was asked for at `askedAtMs`, unless a newer one is at hand: answers can overtake each other. */
export function takeNews(name: string, bulletin: Bulletin, askedAtMs: number) {
  const asOfMs = askedAtMs - bulletin.age_ms
  const differenceMs = bulletin.at_ms - asOfMs
  const clockMs = Math.abs(differenceMs) > CLOCK_TOLERANCE_MS ? differenceMs : 0
  const known = sales.get(name)
  if (!known) {
    unknownUntilMs.delete(name)
    remember(sales, name, { bulletin, asOfMs, clockMs, askingUntilMs: 0, positions: new Map() }, MAX_SALES)
    return
  }
  if (latest(bulletin.timeline).schedule.version < latest(known.bulletin.timeline).schedule.version) return
  known.bulletin = bulletin
  known.asOfMs = Math.max(known.asOfMs, asOfMs)
  known.clockMs = clockMs
}

function viewOf(known: Known, nowMs: number): SaleNow {
  const certainUntilMs = isSettled(known, nowMs) ? nowMs : known.asOfMs + ANNOUNCE_MS
  const atMs = Math.min(nowMs, certainUntilMs) + known.clockMs
  const holds = inEffect(known.bulletin.timeline, atMs)
  const silent = nowMs - certainUntilMs > PAUSED_AFTER_MS && holds.phase === 'open'
  const schedule = silent ? { ...holds, phase: 'paused' as const } : holds
  const position = (draw: Parameters<typeof positionOf>[0], number: number) => {
    const remembered = known.positions.get(number)
    if (remembered !== undefined || number > draw.size) return remembered ?? number
    const computed = positionOf(draw, number)
    remember(known.positions, number, computed, MAX_POSITIONS)
    return computed
  }
  return {
    schedule,
    facts: known.bulletin.facts,
    atMs,
    place: (number) => placeOf(schedule, number, atMs, position),
  }
}

/** Sets a key of a map that forgets its oldest key when it is full. */
function remember<K, V>(map: Map<K, V>, key: K, value: V, max: number) {
  map.set(key, value)
  if (map.size <= max) return
  for (const oldest of map.keys()) {
    map.delete(oldest)
    break
  }
}
