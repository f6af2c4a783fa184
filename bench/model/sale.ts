/**
 * Simulates a sale for the whole internet on a virtual clock. The modules that decide are real: leases and their
 * demand, controller, timeline, schedule, places and polling. Only their surroundings are modelled: who comes when
 * and where, how long a call takes, how people buy. A sample of visitors waits for all; joins are counted one by one,
 * because their distribution over isolates matters.
 */
import { setImmediate } from 'node:timers/promises'
import { CACHE_TTL } from '../../edge/http/cache.ts'
import { ANNOUNCE_MS, inEffect, USABLE_MS } from '../../edge/queue/timeline.ts'
import { positionsOf } from '../../shared/draw.ts'
import { QUIET_POLL_MS } from '../../shared/feed.ts'
import { seededRandom } from '../../shared/lib/random.ts'
import { Shop } from '../../shared/model/shop-model.ts'
import { isFinal, placeOf, pollAfterMs, pollMaxMs, serving } from '../../shared/schedule.ts'
import { Wheel } from '../crowd/timer-wheel.ts'
import { arrivalTimes, leadMs } from '../crowd/visitors/arrivals.ts'
import { mostWithin } from '../invariants/queue-checks.ts'
import { Edge, missesOf, PAGE_VARIANTS, runsOf } from './isolates.ts'
import { NOTIFIED_MS, Room, SETTINGS } from './room.ts'
import { LOOKING, PerSecond, type Scenario } from './scenario.ts'

const TICK_MS = 20
/** The other visitors come evenly between this many of the sample; otherwise all would come in bunches. */
const EVENLY = 20
/** The number of visitors who really wait, in place of all the others. */
const SAMPLE = 20_000
const MAX_SECONDS = 3_600
const MOST_MS = pollMaxMs(SETTINGS.claimSeconds)
const FINAL_SPREAD_MS = 10_000
/** The loop pauses at this interval to allow an interruption. */
const LISTEN_EVERY_MS = 1_000
/**
 * The page opens one event stream while an order is paid, because the responses to its forms are the order's page.
 */
const ORDER_LOOKS = 1
const looksAt = (visitor: number) => visitor % 10 < 10 * LOOKING

export type Outcome = Awaited<ReturnType<typeof play>>

export async function play(s: Scenario) {
  const random = seededRandom(s.seed)
  const spreadMs = s.spreadSeconds * 1000
  // The time is a multiple of the tick.
  const beginMs = -Math.ceil(leadMs(s.arrivals, spreadMs) / 1000) * 1000
  // The operator publishes an announcement in the lobby. Pages then read more often for a while, which is not
  // counted.
  const announcedAtMs = beginMs / 2
  const arrivals = rush(arrivalTimes(s.arrivals, SAMPLE, spreadMs, random), s, random)
  const each = s.visitors / SAMPLE
  const shop = new Shop(s)
  const room = new Room(s, shop, beginMs)
  const edge = new Edge(s, room, mostWithin(arrivals, 1_000) * each, random)
  const requests = { page: 0, feed: 0, join: 0, admission: 0, checkout: 0, order: 0, final: 0 }
  const workers = new PerSecond()
  const origin = new PerSecond()
  const reads = new PerSecond()
  const landings = new PerSecond()
  const finals = new PerSecond()
  const feeds = new PerSecond()
  const numbers = new Float64Array(SAMPLE)
  /** The time after the end at which visitors who look at the page learn of it. */
  const seenMs: number[] = []
  /** The same for an announcement, and the visitors who have seen it. */
  const announcedMs: number[] = []
  const hasSeen = new Set<number>()
  /** The last time at which visitors who look at the page read the feed. There are no posts. */
  const feedReadMs = new Float64Array(SAMPLE).fill(Number.NEGATIVE_INFINITY)
  let positionOf: ReturnType<typeof positionsOf> | undefined
  let over = 0
  let nowMs = beginMs
  const count = (kind: keyof typeof requests, many: number) => {
    requests[kind] += many
    workers.add(nowMs, many)
  }
  const read = (visitor: number) => {
    reads.add(nowMs, each)
    if (looksAt(visitor) && nowMs >= (feedReadMs[visitor] ?? 0) + QUIET_POLL_MS) {
      feedReadMs[visitor] = nowMs
      count('feed', each)
      feeds.add(nowMs, each)
    }
    // A copy in a cache is up to a second old, and an isolate learns of the end up to USABLE_MS late.
    const copiedMs = nowMs - random() * 1_000
    if (looksAt(visitor) && copiedMs >= announcedAtMs + NOTIFIED_MS + ANNOUNCE_MS && !hasSeen.has(visitor)) {
      hasSeen.add(visitor)
      if ((arrivals[visitor] ?? 0) < announcedAtMs) announcedMs.push(nowMs - announcedAtMs)
    }
    const known = inEffect(room.timeline, copiedMs)
    const schedule = isFinal(known.phase) ? inEffect(room.timeline, copiedMs - random() * USABLE_MS) : known
    const place = placeOf(schedule, numbers[visitor] ?? 1, nowMs, (draw, number) => {
      positionOf ??= positionsOf(draw)
      return positionOf(number)
    })
    if (place.status === 'sold_out' || place.status === 'ended') {
      over++
      if (looksAt(visitor) && shop.soldOutAtMs !== null) seenMs.push(nowMs - shop.soldOutAtMs)
      requests.final += each
      const atMs = nowMs + random() * FINAL_SPREAD_MS
      workers.add(atMs, each)
      finals.add(atMs, each)
    } else if (place.status === 'ready' || place.status === 'missed_turn') {
      over++
      if (place.status === 'ready') shop.lately.push(numbers[visitor] ?? 1)
    } else {
      // The calculation is the same as in edge/client/schedule-reader.ts.
      const mostMs = looksAt(visitor) ? schedule.next_read_ms * (1 - random() / 50) : MOST_MS
      wheel.at(visitor, clock(nowMs + Math.min(mostMs, Math.max(1_000, pollAfterMs(place, random())))))
    }
  }
  // The wheel's clock starts at 1.
  const clock = (ms: number) => ms - beginMs + 1
  const wheel = new Wheel(SAMPLE, 0, read)
  let next = 0
  let called = 0
  for (; nowMs < MAX_SECONDS * 1000; nowMs += TICK_MS) {
    if (nowMs % LISTEN_EVERY_MS === 0) await setImmediate()
    const from = next
    while (next < SAMPLE && (arrivals[next] ?? 0) < nowMs + TICK_MS) next++
    const coming = (arrivedBy(arrivals, nowMs + TICK_MS) - arrivedBy(arrivals, nowMs)) * each
    count('page', coming)
    landings.add(nowMs, coming)
    count('join', coming)
    if (room.isOver(nowMs)) over += next - from
    else {
      if (coming > 0) edge.join(coming, nowMs)
      for (let visitor = from; visitor < next; visitor++) {
        numbers[visitor] = Math.max(1, Math.floor(room.highest - random() * Math.max(0, coming - 1)))
        wheel.at(visitor, clock(nowMs + 1_000 + random() * 500))
      }
    }
    edge.listen(nowMs, workers, room.calls)
    room.turn(nowMs)
    const reached = Math.min(room.highest, serving(inEffect(room.timeline, nowMs), nowMs))
    const people = Math.max(0, (reached - called) / (1 + edge.gaps))
    called = Math.max(called, reached)
    count('admission', people)
    const { checkouts, payments } = shop.turn(nowMs, people)
    count('checkout', checkouts)
    count('order', payments * (1 + ORDER_LOOKS))
    origin.add(nowMs, checkouts + payments * (1 + ORDER_LOOKS))
    wheel.run(clock(nowMs))
    if (next === SAMPLE && over === SAMPLE) break
  }
  return {
    /** The time until everyone knew that the sale was over. */
    seconds: (nowMs - beginMs) / 1000,
    /** The time from the opening. */
    soldOutAfterSeconds: shop.soldOutAtMs === null ? null : shop.soldOutAtMs / 1000,
    /** The time in seconds within which 95 % of the visitors who look at the page learn of the end. */
    endSeenSeconds: secondsOf95(seenMs),
    announcementSeenSeconds: secondsOf95(announcedMs),
    requests,
    scheduleReads: reads.total,
    scheduleMisses: missesOf(reads, s),
    /** The number of Worker runs behind Workers Cache for cacheable responses. */
    keptRuns: {
      schedule: runsOf(reads, CACHE_TTL.schedule.inCache, 1),
      feed: runsOf(feeds, CACHE_TTL.feed.inCache, 1),
      page: runsOf(landings, CACHE_TTL.landing.inCache, PAGE_VARIANTS),
      final: runsOf(finals, CACHE_TTL.final.inCache, PAGE_VARIANTS),
    },
    isolates: edge.isolates,
    objects: edge.objects,
    objectCalls: edge.calls + room.calls.total,
    /** The figures of the busiest second, and in it of the busiest object of its kind. */
    peaks: {
      workerRequests: workers.peak,
      coordinatorCalls: room.calls.peak,
      hubCalls: edge.hubCalls.peak,
      mirrorCalls: edge.mirrorCalls.peak,
      shardCalls: edge.shardCalls.peak,
      shardWrites: edge.writes.peak,
      originCalls: origin.peak,
    },
    rowsWritten: edge.writes.total + room.writes.total,
    /** The numbers that were leased and never issued, per issued number. */
    gaps: edge.gaps,
    sold: shop.sold,
  }
}

/** The time in seconds within which 95 % of the values lie. */
const secondsOf95 = (ms: number[]) => (ms.sort((a, b) => a - b)[Math.floor(ms.length * 0.95)] ?? 0) / 1000

/**
 * The number of the sample that have come by a moment, with fractions: visitors between two of the sample come
 * evenly.
 */
function arrivedBy(arrivals: Float64Array, ms: number): number {
  const last = Math.ceil(arrivals.length / EVENLY)
  const knot = (n: number) => arrivals[Math.min(n * EVENLY, arrivals.length - 1)] ?? 0
  let [low, high] = [0, last]
  while (high - low > 1) {
    const middle = (low + high) >> 1
    if (knot(middle) <= ms) low = middle
    else high = middle
  }
  const share = (ms - knot(low)) / Math.max(1e-9, knot(high) - knot(low))
  return Math.min(arrivals.length, EVENLY * (low + Math.max(0, Math.min(1, share))))
}

/**
 * Makes the second after the opening as busy as the stampede requires, with the visitors who would have come last.
 */
function rush(times: Float64Array, { stampede, spreadSeconds }: Scenario, random: () => number): Float64Array {
  const wanted = Math.min(times.length, Math.floor((times.length / spreadSeconds) * stampede))
  let there = times.filter((ms) => ms >= 0 && ms < 1_000).length
  for (let i = times.length - 1; i >= 0 && there < wanted; i--) {
    if ((times[i] ?? 0) < 1_000) break
    times[i] = random() * 1_000
    there++
  }
  return times.sort()
}
