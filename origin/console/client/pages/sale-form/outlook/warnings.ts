/** Warns of settings of a sale that are likely a mistake. Pure. Nothing here forbids a value. */
import type { Body } from '../draft.ts'

/** A sale that lasts a time between these two is plausible, and gets no warning. */
const SHORTEST_SECONDS = 10
const LONGEST_SECONDS = 2 * 3600

/** The units that a sale has, without those withheld. */
export function unitsFor({ products }: Body): number {
  const list = (products as readonly Body[] | undefined) ?? []
  return list
    .flatMap((product) => [product, ...((product.variants as readonly Body[] | undefined) ?? [])])
    .reduce((sum, { total, buffer }) => sum + (Number(total) || 0) - (Number(buffer) || 0), 0)
}

/** The time until all units are sold if each visitor takes one; null if the input is not numeric. */
function secondsFor(body: Body): number | null {
  const [units, rate] = [unitsFor(body), Number((body.admission as Body | undefined)?.rate_per_second)]
  return rate > 0 && units > 0 ? units / rate : null
}

/**
 * The warnings by the path of the field to change. `isOpen` is true if the opening is over and can no longer change.
 */
export function warningsIn(body: Body, nowMs: number, isOpen: boolean): ReadonlyMap<string, string> {
  const [units, seconds] = [unitsFor(body), secondsFor(body)]
  const warnings = new Map<string, string>()
  const [opens, ends, lobby] = [timeOf(body.opens_at), timeOf(body.ends_at), timeOf(body.pre_queue_opens_at)]
  if (!isOpen && opens !== null && opens < nowMs)
    warnings.set('opens_at', 'This is in the past: the sale opens at once.')
  if (!isOpen && opens !== null && lobby !== null && lobby > opens)
    warnings.set('pre_queue_opens_at', 'This is after the opening.')
  if (ends !== null && ends < nowMs) warnings.set('ends_at', 'This is in the past: the sale ends at once.')
  else if (!isOpen && opens !== null && ends !== null && seconds !== null && ends < opens + seconds * 1000)
    warnings.set('ends_at', `At this rate the stock lasts about ${span(seconds)}: some will be left over.`)
  if (!isOpen && seconds !== null && seconds < SHORTEST_SECONDS)
    warnings.set('admission.rate_per_second', `All is sold in ${span(seconds)}. Can the checkout take so many at once?`)
  if (!isOpen && seconds !== null && seconds > LONGEST_SECONDS)
    warnings.set('admission.rate_per_second', `The stock lasts ${span(seconds)}: the last in line wait that long.`)
  if (!isOpen && (body.expected_visitors ?? '') === '')
    warnings.set(
      'expected_visitors',
      'Read when the sale is created: without it the line is for 10,000 visitors for each of the edge’s TICKET_SHARDS.',
    )
  const limit = Number(body.limit_per_visitor)
  if (units > 0 && limit > units) warnings.set('limit_per_visitor', 'This is more than there is.')
  return warnings
}

const timeOf = (at: unknown) => {
  const ms = typeof at === 'string' ? Date.parse(at) : Number.NaN
  return Number.isNaN(ms) ? null : ms
}

/** Formats a time as "8 seconds", "3:20 minutes" or "2:46 hours". */
export function span(seconds: number): string {
  if (seconds < 1) return 'less than a second'
  if (seconds < 60) return `${Math.round(seconds)} second${Math.round(seconds) === 1 ? '' : 's'}`
  const [large, unit] = seconds < 3600 ? [60, 'minutes'] : [3600, 'hours']
  const whole = Math.round(seconds / (large / 60))
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')} ${unit}`
}
