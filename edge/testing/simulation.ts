/**
 * Simulates a sale on a virtual clock: the real controller between a crowd with no-shows and an origin that may be
 * slow, gone or sold out. All randomness comes from one seed.
 */

import { type Policy, PUBLIC_LINE } from '../../shared/api/access.ts'
import { NO_DELIVERY } from '../../shared/api/goods.ts'
import type { SaleState } from '../../shared/api/internal.ts'
import { seededRandom } from '../../shared/lib/random.ts'
import type { Schedule } from '../../shared/schedule.ts'
import { sampleSchedule } from '../../shared/testing/sample-schedule.ts'
import { ADMISSION_TTL_SECONDS } from '../../shared/tokens.ts'
import type { Settings } from '../queue/pace/memory.ts'
import { Agenda, SimulatedRoom } from './simulated-room.ts'

type Origin = 'ok' | 'slow' | 'gone' | 'uncounted'

export interface Scenario {
  readonly seed: number
  readonly rate: number
  readonly stock: number
  readonly crowd: number
  readonly showShare: number
  /** The first and the last of a range of numbers that nobody holds. */
  readonly gap?: readonly [number, number]
  readonly maxInside: number | null
  readonly seconds: number
  /** The longest time from being called to the first checkout call. */
  readonly slowestArrivalMs: number
  /** The longest time to pay. This share of carts is given back instead. */
  readonly slowestPaymentMs: number
  readonly abandoned: number
  /** The number of a further visitor who gives the cart back. */
  readonly givesBack?: number
  /** The interval at which visitors who find everything in carts ask again; without it they leave at once. */
  readonly asksAgainMs?: number
  /**
   * The number of bots, which are first in the queue. Each reserves a unit, gives it back just before its hold ends,
   * and reserves again at once. It joins again when its turn has passed.
   */
  readonly squatters?: number
  /** The time in milliseconds until the next refresh; alarms can be late. */
  readonly refreshEveryMs?: (random: () => number) => number
  /** The origin's health at a second of the sale. With `uncounted` its counts of people do not change. */
  readonly origin?: (second: number) => Origin
  /** The number of people per second whom the origin serves; the others wait there. */
  readonly capacity?: (second: number) => number
  /** The time that the way in takes everybody who is called at a second, in addition to their own time. */
  readonly delayMs?: (second: number) => number
  /** The jump of the clock at a second of the sale. */
  readonly clockStepMs?: (second: number) => number
}

/** The policy of a sale without requirements. */
export const OPEN_TO_ALL: Policy = {
  version: '',
  lines: [
    {
      line: PUBLIC_LINE,
      opens_early_seconds: 0,
      access: { sign_in: 'optional', invitation: 'off', proof_of_work: 'off', turnstile: false },
    },
  ],
  rules: [],
  blocks: [],
}

export const SETTINGS: Settings = { claimSeconds: 30, admissionsPerUnit: 2, noShowBoost: 2, answerTargetMs: 500 }

export interface Moment {
  readonly atMs: number
  readonly serving: number
  readonly called: number
  readonly arrivals: number
  /** The number of called people who will arrive and have not yet. */
  readonly onTheirWay: number
  /** The number of people inside who found everything in carts and ask again. */
  readonly waiting_for_stock: number
  readonly available: number
  readonly held: number
  /** The held units that belong to bots. */
  readonly squatted: number
  readonly sold: number
  readonly schedule: Schedule
  /** The time that a visitor who arrives now waits for a response. */
  readonly answerMs: number
}

interface Squatter {
  number: number
  admittedUntilMs: number
  unpaid: number
}

const TICK_MS = 50
const HOLD_MS = 90_000
const GIVES_BACK_MS = HOLD_MS - 1_000
const SQUATTER_ASKS_MS = 1_000
const BEGINNING_MS = 1_000_000

/** Plays a sale, and yields every tick. */
export function* play(scenario: Scenario, settings = SETTINGS): Generator<Moment> {
  const random = seededRandom(scenario.seed)
  const { crowd, stock, squatters = 0 } = scenario
  let clockMs = BEGINNING_MS
  // A pre-queue of one leaves every number its position.
  const room = new SimulatedRoom(stateOf(scenario, { available: stock }), clockMs, settings, 1)
  let nextRefreshMs = 0
  let called = 0
  let highestNumber = crowd
  let [arrivals, onTheirWay, available, held, squatted, sold, waiting_for_stock] = [0, 0, stock, 0, 0, 0, 0]
  let counts = { arrivals, waiting_for_stock }
  /** The numbers that arrived since the last request to the origin. */
  let lately: number[] = []
  const agenda = new Agenda(TICK_MS)
  const later = (ms: number, act: () => void) => agenda.at(ms, act)
  let nowMs = 0
  let [freeAtMs, slowestMs] = [0, 0]
  /** An arrival takes some of the origin's time. */
  const serve = () => {
    if (!scenario.capacity) return
    freeAtMs = Math.max(freeAtMs, nowMs) + 1_000 / scenario.capacity(Math.floor(nowMs / 1000))
    slowestMs = Math.max(slowestMs, freeAtMs - nowMs)
  }
  const waitForStock = (buy: () => boolean, everyMs: number) => {
    waiting_for_stock++
    const again = () => {
      if (buy() || available + held === 0) waiting_for_stock--
      else later(nowMs + everyMs * (0.5 + random()), again)
    }
    later(nowMs + everyMs, again)
  }
  const bots = new Map<number, Squatter>()
  for (let number = 1; number <= squatters; number++) bots.set(number, { number, admittedUntilMs: 0, unpaid: 0 })
  /** The rule is that of the origin (reserve.lua and record_reservations), except between squatters. */
  const comesLast = ({ unpaid }: Squatter) =>
    unpaid > 0 && available <= waiting_for_stock + highestNumber - called + onTheirWay
  const squat = (bot: Squatter) => {
    const hasPlace = bot.number > room.schedule(clockMs).missed_through
    if (hasPlace) bot.admittedUntilMs = nowMs + ADMISSION_TTL_SECONDS * 1000
    if (nowMs >= bot.admittedUntilMs) {
      bot.number = ++highestNumber
      bots.set(bot.number, bot)
    } else if (available > 0 && !comesLast(bot)) {
      available--
      held++
      squatted++
      later(nowMs + GIVES_BACK_MS, () => {
        available++
        held--
        squatted--
        bot.unpaid++
        squat(bot)
      })
    } else later(nowMs + SQUATTER_ASKS_MS, () => squat(bot))
  }
  for (let ms = 0; ms < scenario.seconds * 1000; ms += TICK_MS) {
    nowMs = ms
    const second = Math.floor(ms / 1000)
    clockMs += TICK_MS + (ms % 1000 === 0 ? (scenario.clockStepMs?.(second) ?? 0) : 0)
    agenda.run(ms)
    if (ms >= nextRefreshMs || clockMs < room.memory.polled_at_ms) {
      nextRefreshMs = ms + (scenario.refreshEveryMs?.(random) ?? 1_000)
      const origin = scenario.origin?.(second) ?? 'ok'
      if (origin !== 'uncounted') counts = { arrivals, waiting_for_stock }
      const stock = { available, held, sold, ...counts }
      const state = { ...stateOf(scenario, stock, origin), arrived_lately: lately.slice(-20), answers_ms: slowestMs }
      if (origin !== 'gone') [lately, slowestMs] = [[], 0]
      room.refresh(origin === 'gone' ? null : state, clockMs, highestNumber)
    }
    const schedule = room.schedule(clockMs)
    const serving = room.serving(clockMs)
    for (; called < Math.min(serving, highestNumber) - 1e-6 && called + 1 <= serving; called++) {
      const number = called + 1
      const bot = bots.get(number)
      if (bot) {
        later(ms + TICK_MS, () => {
          arrivals++
          lately.push(number)
          squat(bot)
        })
        continue
      }
      const [first, last] = scenario.gap ?? [0, 0]
      if (random() >= scenario.showShare || (number >= first && number <= last)) continue
      onTheirWay++
      later(ms + TICK_MS + (scenario.delayMs?.(second) ?? 0) + random() * scenario.slowestArrivalMs, () => {
        onTheirWay--
        arrivals++
        lately.push(number)
        serve()
        const buy = () => {
          if (available === 0) return false
          available--
          held++
          const givenBack = random() < scenario.abandoned || number === scenario.givesBack
          later(nowMs + scenario.slowestArrivalMs + TICK_MS + random() * scenario.slowestPaymentMs, () => {
            held--
            if (givenBack) available++
            else sold++
          })
          return true
        }
        if (!buy() && scenario.asksAgainMs) waitForStock(buy, scenario.asksAgainMs)
      })
    }
    const units = { available, held, squatted, sold }
    yield {
      atMs: ms,
      serving,
      called,
      arrivals,
      onTheirWay,
      waiting_for_stock,
      ...units,
      schedule,
      answerMs: Math.max(0, freeAtMs - ms),
    }
  }
}

/** Throws unless it holds. Of each moment: `expect` takes ten times as long as to play it. */
export function must(holds: boolean, otherwise: () => string): void {
  if (!holds) throw new Error(otherwise())
}

export function stateOf(
  { rate, maxInside }: Pick<Scenario, 'rate' | 'maxInside'>,
  stock: Partial<Record<'available' | 'held' | 'sold' | 'arrivals' | 'waiting_for_stock', number>>,
  origin: Origin = 'ok',
): SaleState {
  const { available = 0, held = 0, sold = 0, arrivals = 0, waiting_for_stock = 0 } = stock
  return {
    sale: 'simulated',
    line: 'public',
    contact: 'off',
    fees: [],
    delivery: NO_DELIVERY,
    goods_version: null,
    chart_version: null,
    announcement: null,
    feed_version: 0,
    pause_reason: null,
    indexed: true,
    mails: [],
    push: null,
    payment: 'provider',
    test: false,
    share: 1,
    name: 'A sale',
    phase: available > 0 ? 'open' : held > 0 ? 'all_in_carts' : 'sold_out',
    read_ago_ms: 0,
    pre_queue_opens_at: null,
    pre_queue_opens_in_ms: -1_000,
    opens_at: new Date(BEGINNING_MS).toISOString(),
    opens_in_ms: -1_000,
    ends_at: null,
    ends_in_ms: null,
    hold_seconds: 90,
    limit_per_visitor: 1,
    products: [product(available, held, sold)],
    admission: { rate_per_second: rate, max_inside: maxInside },
    arrivals,
    arrived_lately: [],
    waiting_for_stock,
    on_site: 0,
    counted: origin !== 'uncounted',
    ticket_shards: null,
    policy: OPEN_TO_ALL,
    health: origin === 'slow' ? 'slow' : 'ok',
  }
}

export function product(available: number, held = 0, sold = 0): SaleState['products'][number] {
  const total = available + held + sold
  const price = { unit_price_minor: 100, currency: 'EUR' }
  return { product_id: 'lamp', name: 'Lamp', ...price, total, available, held, sold }
}

/** The schedule of a sale whose queue has not begun to move. */
export const beforeOpening = (rate: number): Schedule =>
  sampleSchedule({
    phase: 'pre_queue',
    anchor_at_ms: BEGINNING_MS,
    rate_per_second: rate,
    draw_seed: null,
    pre_queue_opens_at_ms: BEGINNING_MS,
    server_time_ms: BEGINNING_MS,
  })
