/**
 * The wishes of visitors to a hall, and their choices. Couples and families take the best available seats, side by
 * side. Visitors who want the front row name the best seats that they believe free, so they collide. Others name
 * seats that they click on the map. Some only want to stand, and some want a programme too. A visitor who cannot have
 * their first wish takes what is left: fewer seats, a standing place, and finally a programme, so that a hall sells
 * out.
 */
import { type DemoHall, PROGRAMME, STANDING } from '../../../dev/demo/hall.ts'
import { bitsOf } from '../../../origin/seats/bits.ts'
import { Chart, type Seat } from '../../../origin/seats/chart.ts'
import { choose, Free } from '../../../origin/seats/choice.ts'
import type { CheckoutLine, Order } from '../../../shared/api/public.ts'
import type { Refusal } from '../../lib/responses.ts'
import type { Reaction, Wishes } from './visitors.ts'

const SEEKERS = ['couple', 'family', 'front row', 'map', 'standing', 'with a programme'] as const
export type Seeks = (typeof SEEKERS)[number]

/** The shares of the visitors; the others are couples. */
const SHARES: Readonly<Record<Exclude<Seeks, 'couple'>, number>> = {
  family: 0.15,
  'front row': 0.15,
  map: 0.15,
  standing: 0.12,
  'with a programme': 0.08,
}
export const MOST_PER_VISITOR = 6
const PAIR = [2, 2] as const
const FAMILY = [3, 5] as const
const MAP = [1, 4] as const
const STANDERS = [1, 2] as const
/**
 * The number of refusals of named seats before the choice is left to the system, and of a number of seats before
 * fewer are requested.
 */
const MAX_CHOICES = 4
const MAX_WAITS = 2
const TAKES_OFFER = 0.6
/** The number of attempts to click on a free group; after that the system chooses. */
const MAX_CLICKS = 50
/** The maximum age of a picture of the hall, as behind a cache. */
const PICTURE_MS = 1_000

/** The state of the hall that all visitors see: what some of them were told a moment ago. */
export class HallPicture {
  readonly hall: DemoHall
  readonly chart: Chart
  readonly #taken = new Set<number>()
  #free: Free
  #madeMs = Number.NEGATIVE_INFINITY

  constructor(hall: DemoHall) {
    this.hall = hall
    this.chart = new Chart(hall.seats, hall.focalPoint)
    this.#free = new Free(this.chart, new Uint8Array())
  }

  free(nowMs: number): Free {
    if (nowMs - this.#madeMs > PICTURE_MS) {
      this.#free = new Free(this.chart, bitsOf([...this.#taken]))
      this.#madeMs = nowMs
    }
    return this.#free
  }

  /** Records seats of a section that a response named as taken. */
  learn(section: string | undefined, seats: readonly string[]): void {
    for (const seat of seats) {
      const found = section === undefined ? undefined : this.chart.find(section, seat)
      if (found) this.#taken.add(found.index)
    }
  }
}

/** The wishes of a visitor, one after the other. */
type Stage = 'seats' | 'standing' | 'programme'
const SEATS_FIRST: readonly Stage[] = ['seats', 'standing', 'programme']
const STANDING_FIRST: readonly Stage[] = ['standing', 'seats', 'programme']

export class Seeker implements Wishes {
  readonly seeks: Seeks
  people: number
  hasProgramme: boolean
  version = 0
  askedMs = 0
  answeredMs = 0
  readonly #picture: HallPicture
  readonly #stages: readonly Stage[]
  #stage = 0
  #lines: readonly CheckoutLine[] | null = null
  #refusals = 0
  #waits = 0

  constructor(picture: HallPicture, seeks: Seeks, people: number) {
    this.#picture = picture
    this.seeks = seeks
    this.people = people
    this.hasProgramme = seeks === 'with a programme'
    this.#stages = seeks === 'standing' ? STANDING_FIRST : SEATS_FIRST
  }

  get units(): number {
    return this.people + (this.hasProgramme ? 1 : 0)
  }

  /** The lines of the last request. */
  get asked(): readonly CheckoutLine[] {
    return this.#lines ?? []
  }

  body(nowMs: number, random: () => number) {
    this.#lines ??= [...this.#choose(nowMs, random), ...this.#programme()]
    return { lines: this.#lines }
  }

  /** The seats of an order are visible to other visitors a moment later. */
  has({ lines = [] }: Partial<Pick<Order, 'lines'>>): void {
    for (const { section_id, seat_id } of lines) if (seat_id !== undefined) this.#picture.learn(section_id, [seat_id])
  }

  #programme(): CheckoutLine[] {
    return this.hasProgramme ? [{ product_id: PROGRAMME, quantity: 1 }] : []
  }

  #choose(nowMs: number, random: () => number): CheckoutLine[] {
    const { people, seeks } = this
    const stage = this.#stages[this.#stage]
    if (stage === 'programme') return [{ product_id: PROGRAMME, quantity: people }]
    if (stage === 'standing') return [{ section_id: STANDING, quantity: people }]
    const isNamed = (seeks === 'front row' || seeks === 'map') && this.#refusals < MAX_CHOICES
    const { chart } = this.#picture
    const free = this.#picture.free(nowMs)
    const best = () => choose(chart, free, { quantity: people, together: true, accessible: false })
    const seats = isNamed ? (seeks === 'map' ? click(chart, free, people, random) : best()) : null
    return seats ? linesOf(seats) : [{ quantity: people, together: true }]
  }

  refused({ type, seats: taken = [], offer = [] }: Refusal, random: () => number): Reaction {
    if (type === '/problems/seat-taken') {
      for (const { section_id, seats = [] } of this.#lines ?? [])
        this.#picture.learn(
          section_id,
          seats.filter((seat) => taken.includes(seat)),
        )
      this.#refusals++
      const takesOffer = offer.length > 0 && this.#refusals < MAX_CHOICES && random() < TAKES_OFFER
      return this.#ask(takesOffer ? offer.map(({ section_id, seats }) => ({ section_id, seats: [...seats] })) : null)
    }
    if (type === '/problems/all-in-carts') {
      // The visitor waits, because some seats may become available again.
      if (this.units === 1 || this.#waits++ < MAX_WAITS) return 'wait'
    } else if (type !== '/problems/sold-out' && type !== '/problems/invalid-fields') return 'wait'
    this.#waits = 0
    if (this.hasProgramme) this.hasProgramme = false
    else if (this.people > 1 && type !== '/problems/sold-out') this.people--
    else if (this.#stage + 1 < this.#stages.length) {
      this.#stage++
      this.people = 1
    } else return 'leave'
    return this.#ask(null)
  }

  #ask(lines: readonly CheckoutLine[] | null): 'ask' {
    this.#lines = lines && [...lines, ...this.#programme()]
    this.version++
    this.askedMs = 0
    return 'ask'
  }
}

/** Clicks on free neighbouring seats somewhere in the hall; null if no click finds any. */
function click({ seats, stretchOf }: Chart, free: Free, people: number, random: () => number): readonly Seat[] | null {
  for (let clicks = 0; clicks < MAX_CLICKS; clicks++) {
    const first = Math.floor(random() * seats.length)
    const group = seats.slice(first, first + people)
    const isGroup = group.every((seat, i) => free.isFree(seat) && stretchOf[first + i] === stretchOf[first])
    if (isGroup && group.length === people) return group
  }
  return null
}

const linesOf = (seats: readonly Seat[]): CheckoutLine[] =>
  [...Map.groupBy(seats, ({ section }) => section)].map(([section_id, of]) => ({
    section_id,
    seats: of.map(({ seat }) => seat),
  }))

/** The wishes of a visitor, chosen by the seed, so that they can be repeated. */
export function seekerOf(picture: HallPicture, random: () => number): Seeker {
  let left = random()
  const between = ([least, most]: readonly [number, number]) => least + Math.floor(random() * (most - least + 1))
  const people = {
    couple: PAIR,
    family: FAMILY,
    'front row': PAIR,
    map: MAP,
    standing: STANDERS,
    'with a programme': PAIR,
  }
  for (const [seeks, share] of Object.entries(SHARES) as [keyof typeof SHARES, number][]) {
    if (left < share) return new Seeker(picture, seeks, between(people[seeks]))
    left -= share
  }
  return new Seeker(picture, 'couple', between(PAIR))
}
