/**
 * Forecasts the load of a sale ten minutes ahead, for whoever adds machines: they take minutes to start, and an opening
 * takes seconds. It steps through the minutes to come with what is known of them: when the sale opens and ends, how
 * many visitors are expected, which actions are scheduled, and how the last minutes went. Pure.
 */
import type { Minute } from '../../../shared/api/operators/report.ts'
import type { ScheduledEffect } from '../../../shared/api/operators/requests.ts'

export const AHEAD_MINUTES = 10
const MINUTE_MS = 60_000

/** The trend is taken from the last three minutes and the three before them, since single minutes differ by chance. */
const COMPARED_MINUTES = 3
/** Each minute ahead follows the trend by this share of the one before: no trend of minutes lasts. */
const DAMPING = 0.6
/** The first minute of an opening brings this share of the visitors who are still expected. */
const OPENING_SHARE = 0.5

/** What is known of a sale that is not over. */
export interface SaleAhead {
  readonly nowMs: number
  /** When visitors can join: the opening of the lobby. */
  readonly joinsFromMs: number
  readonly opensAtMs: number
  readonly endsAtMs: number | null
  readonly paused: boolean
  readonly ratePerSecond: number
  readonly expectedVisitors: number | null
  /** The minutes of the sale so far, the oldest first. */
  readonly minutes: readonly Minute[]
  /** What is scheduled, in the order of time. */
  readonly actions: readonly { readonly atMs: number; readonly effect: ScheduledEffect }[]
}

export interface Forecast {
  /** Joins a second in the busiest of the next ten minutes. */
  readonly joins_per_second: number
  /** Visitors a second who are called to the checkout in the busiest of these minutes. */
  readonly checkouts_per_second: number
  /** The visitors who still wait at the end of these minutes. */
  readonly waiting: number
}

export function forecast(sale: SaleAhead): Forecast {
  const { nowMs, joinsFromMs, opensAtMs, endsAtMs, expectedVisitors } = sale
  const { level, trend } = curveOf(sale.minutes, nowMs)
  const last = sale.minutes.at(-1)?.gauges
  let expected = Math.max(0, (expectedVisitors ?? 0) - (last?.joined ?? 0))
  let waiting = last?.waiting ?? 0
  let [joinsPeak, checkoutsPeak, growth] = [0, 0, 0]
  for (let ahead = 1; ahead <= AHEAD_MINUTES; ahead++) {
    const [fromMs, toMs] = [nowMs + (ahead - 1) * MINUTE_MS, nowMs + ahead * MINUTE_MS]
    const { rate, paused, ended } = settingsAt(sale, toMs)
    if (ended || (endsAtMs !== null && fromMs >= endsAtMs)) break
    growth = (growth + trend) * (ahead === 1 ? 1 : DAMPING)
    const usual = toMs > joinsFromMs ? Math.max(0, level + growth) : 0
    // Both openings bring people: that of the lobby, and that of the sale.
    const isOpening = [joinsFromMs, opensAtMs].some((atMs) => atMs >= nowMs && atMs < toMs)
    const surge = isOpening ? expected * OPENING_SHARE : 0
    expected -= surge
    const joins = Math.max(usual, surge)
    waiting += joins
    const called = toMs > opensAtMs && !paused ? Math.min(waiting, rate * (MINUTE_MS / 1000)) : 0
    waiting -= called
    joinsPeak = Math.max(joinsPeak, joins)
    checkoutsPeak = Math.max(checkoutsPeak, called)
  }
  const perSecond = (count: number) => (count * 1000) / MINUTE_MS
  return {
    joins_per_second: perSecond(joinsPeak),
    checkouts_per_second: perSecond(checkoutsPeak),
    waiting,
  }
}

/** The settings of a sale at a time to come, as the scheduled actions leave them. */
function settingsAt({ ratePerSecond, paused, actions }: SaleAhead, atMs: number) {
  const settings = { rate: ratePerSecond, paused, ended: false }
  for (const { atMs: dueMs, effect } of actions) {
    if (dueMs > atMs) break
    if (effect.action === 'rate') settings.rate = effect.rate_per_second
    if (effect.action === 'pause') settings.paused = true
    if (effect.action === 'resume') settings.paused = false
    if (effect.action === 'end') settings.ended = true
  }
  return settings
}

/** The joins of a minute now, and by how many each minute has more than the one before. */
function curveOf(minutes: readonly Minute[], nowMs: number): { level: number; trend: number } {
  const thisMinuteMs = Math.floor(nowMs / MINUTE_MS) * MINUTE_MS
  const joined = new Map(minutes.map(({ minute, counts }) => [Date.parse(minute), counts.joined ?? 0]))
  // A minute in which nothing happened has no figures. The current one is not over yet.
  const mean = (from: number) => {
    const all = Array.from(
      { length: COMPARED_MINUTES },
      (_, i) => joined.get(thisMinuteMs - (from + i) * MINUTE_MS) ?? 0,
    )
    return all.reduce((sum, one) => sum + one, 0) / COMPARED_MINUTES
  }
  const [level, before] = [mean(1), mean(1 + COMPARED_MINUTES)]
  return { level, trend: (level - before) / COMPARED_MINUTES }
}

/** Smaller loads are no errors: nobody adds a machine for less than one visitor a second. */
const NEGLIGIBLE_PER_SECOND = 1

/**
 * Compares the forecasts of joins that were written into minutes with what came. An error is the share by which the
 * smaller of both misses the larger one. Pure.
 */
export function forecastAccuracy(minutes: readonly Minute[]) {
  const joined = new Map(minutes.map(({ minute, counts }) => [Date.parse(minute), (counts.joined ?? 0) / 60]))
  const lastMs = Math.max(...joined.keys())
  const errors = minutes
    .flatMap(({ minute, gauges: { forecast_joins } }) => {
      const atMs = Date.parse(minute)
      if (forecast_joins === undefined || atMs + AHEAD_MINUTES * MINUTE_MS > lastMs) return []
      const came = Math.max(
        ...Array.from({ length: AHEAD_MINUTES }, (_, i) => joined.get(atMs + (i + 1) * MINUTE_MS) ?? 0),
      )
      const larger = Math.max(came, forecast_joins)
      return larger < NEGLIGIBLE_PER_SECOND ? [] : [Math.abs(came - forecast_joins) / larger]
    })
    .sort((a, b) => a - b)
  return {
    compared: errors.length,
    median_error: errors[Math.floor((errors.length - 1) / 2)] ?? null,
    worst_error: errors.at(-1) ?? null,
  }
}
