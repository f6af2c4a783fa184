/**
 * Answers what would come of a sale's settings: how long its stock lasts, and until when the last visitor knows. It
 * plays the sale second by second with the shop of the model (shop-model.ts) and the rules of the line: as many come to
 * the checkout as the rate says, and never more than may find a unit. Pure.
 */
import { pollMaxMs } from '../schedule.ts'
import { Shop } from './shop-model.ts'

export interface WhatIf {
  /** The people in line. */
  readonly visitors: number
  /** The units that may still be sold, those in carts included. */
  readonly units: number
  /** The units in carts now. */
  readonly held?: number
  /** The people a second who should come to the checkout. */
  readonly ratePerSecond: number
  readonly maxInside: number | null
  readonly holdSeconds: number
  /** The share of the called people who come. */
  readonly comes: number
  /** The share of those with a unit who pay for it. */
  readonly pays: number
  /** The time until the sale ends in any case; null if it has no end. */
  readonly endsInSeconds: number | null
}

export interface WhatComes {
  /** The times in seconds from now, or from the opening; null if it does not come to that. */
  readonly allInCartsSeconds: number | null
  readonly soldOutSeconds: number | null
  /** The time at which the last visitor is called; null if the stock or the time ends before. */
  readonly allCalledSeconds: number | null
  /** The time at which the last visitor has been called, or reads that nothing is left. */
  readonly allToldSeconds: number | null
  readonly sold: number
  /** The units that nobody took. */
  readonly left: number
  /** The people who come to no unit. */
  readonly without: number
  /** The units sold by time, in equal steps. */
  readonly curve: readonly number[]
  readonly secondsPerPoint: number
}

const STEP_MS = 1_000
/** A sale that lasts longer than a day is not played to its end. */
const MOST_SECONDS = 86_400
/**
 * The line calls at most this many people for each unit, and raises its rate at most so far for
 * those who do not come.
 */
const ADMISSIONS_PER_UNIT = 1.2
const NO_SHOW_BOOST = 2
/** The edge's setting CLAIM_SECONDS decides how often a page looks whether its turn has come. */
const CLAIM_SECONDS = 180
const POINTS = 120

/** Null if the settings are no numbers yet. */
export function whatComes(asked: WhatIf): WhatComes | null {
  const { visitors, units, held = 0, ratePerSecond, maxInside, holdSeconds, comes, pays, endsInSeconds } = asked
  const areNumbers = [visitors, units, ratePerSecond, holdSeconds, comes, pays].every((value) => value > 0)
  if (!areNumbers || comes > 1 || pays > 1) return null
  const shop = new Shop({ stock: units, holdSeconds, abandon: 1 - pays, declines: 0 })
  // The people whose units are in carts have come before.
  if (held > 0) shop.turn(-STEP_MS, held)
  const arrivals = Math.min(ratePerSecond, ratePerSecond * NO_SHOW_BOOST * comes)
  const untilMs = 1_000 * Math.min(endsInSeconds ?? MOST_SECONDS, MOST_SECONDS)
  const curve: number[] = []
  let [called, allInCartsMs, allCalledMs]: [number, number | null, number | null] = [0, null, null]
  let nowMs = 0
  for (; nowMs < untilMs; nowMs += STEP_MS) {
    const room = ADMISSIONS_PER_UNIT * shop.available - shop.onTheirWay
    const inside = maxInside === null ? Number.POSITIVE_INFINITY : maxInside - shop.held - shop.onTheirWay
    const people = Math.max(0, Math.min(arrivals, room, inside, (visitors - called) * comes))
    called += people / comes
    if (allCalledMs === null && called >= visitors - 1e-6) allCalledMs = nowMs
    shop.turn(nowMs, people)
    curve.push(shop.sold)
    // Units that return from carts are taken within a second, so the stock is rarely at 0 exactly.
    if (allInCartsMs === null && shop.available < Math.max(1, arrivals)) allInCartsMs = nowMs
    if (shop.soldOutAtMs !== null) break
    if (allCalledMs !== null && shop.held === 0 && shop.onTheirWay === 0) break
  }
  const isOver = endsInSeconds !== null && nowMs >= untilMs
  const overMs = shop.soldOutAtMs ?? (isOver ? nowMs : null)
  const readMs = pollMaxMs(CLAIM_SECONDS)
  const toldMs = allCalledMs ?? (overMs === null ? null : overMs + readMs)
  const every = Math.max(1, Math.ceil(curve.length / POINTS))
  return {
    allInCartsSeconds: secondsOf(allInCartsMs),
    soldOutSeconds: secondsOf(shop.soldOutAtMs),
    allCalledSeconds: secondsOf(allCalledMs),
    allToldSeconds: secondsOf(toldMs),
    sold: shop.sold,
    left: units - shop.sold,
    without: Math.max(0, Math.round(visitors + held - shop.sold)),
    curve: curve.filter((_, i) => i % every === 0 || i === curve.length - 1),
    secondsPerPoint: every,
  }
}

const secondsOf = (ms: number | null) => (ms === null ? null : ms / 1000)
