/**
 * What the visitors of a hall want, and how they choose: couples and families take the best seats that are available, side by side;
 * lovers of the front row name the best seats they believe free, so that they collide; others name seats they click on in the map.
 * Some only want to stand, some a programme too. Who cannot have what they came for takes what is left: fewer seats, a place to
 * stand, at last a programme, so that a hall sells out.
 */
import { type DemoHall, PROGRAMME, STANDING } from '../../../dev/demo/hall.ts'
import { bitsOf } from '../../../origin/seats/bits.ts'
import { Chart, type Seat } from '../../../origin/seats/chart.ts'
import { choose, Free } from '../../../origin/seats/choice.ts'
import type { CheckoutLine } from '../../../shared/api/public.ts'
import type { Refusal } from '../../lib/responses.ts'

export const SEEKERS = ['couple', 'family', 'front row', 'map', 'standing', 'with a programme'] as const
export type Seeks = (typeof SEEKERS)[number]

/** Shares of the visitors; the rest are couples. */
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
/** Refusals of named seats before the choice is left to the system, and of a number of seats before fewer are asked for. */
const MAX_CHOICES = 4
const MAX_WAITS = 2
const TAKES_OFFER = 0.6
/** Tries to click on a free group; then the system chooses. */
const MAX_CLICKS = 50
/** How old a picture of the hall may be, as behind a cache. */
const PICTURE_MS = 1_000

/** What all visitors see of the hall: what some of them have been told, a moment ago. */
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

  /** Seats of a section that an answer said are somebody's. */
  learn(section: string | undefined, seats: readonly string[]): void {
    for (const seat of seats) {
      const found = section === undefined ? undefined : this.chart.find(section, seat)
      if (found) this.#taken.add(found.index)
    }
  }
}

/** What a seeker does about a refusal: asks for something else, asks the same again later, or goes. */
export type Reaction = 'ask' | 'wait' | 'leave'

/** What seekers still want, one after the other. */
type Stage = 'seats' | 'standing' | 'programme'
const SEATS_FIRST: readonly Stage[] = ['seats', 'standing', 'programme']
const STANDING_FIRST: readonly Stage[] = ['standing', 'seats', 'programme']

export class Seeker {
  readonly seeks: Seeks
  people: number
  hasProgramme: boolean
  /** Grows with each request that differs from the one before: each has a key of its own. */
  version = 0
  /** When the current request was sent first; 0: not yet. */
  askedMs = 0
  /** When the order's seats were shown; 0: not yet. */
  answeredMs = 0
  readonly #stages: readonly Stage[]
  #stage = 0
  #lines: readonly CheckoutLine[] | null = null
  #refusals = 0
  #waits = 0

  constructor(seeks: Seeks, people: number) {
    this.seeks = seeks
    this.people = people
    this.hasProgramme = seeks === 'with a programme'
    this.#stages = seeks === 'standing' ? STANDING_FIRST : SEATS_FIRST
  }

  /** Of all lines of the current request. */
  get units(): number {
    return this.people + (this.hasProgramme ? 1 : 0)
  }

  /** The lines of the request that was sent last. */
  get asked(): readonly CheckoutLine[] {
    return this.#lines ?? []
  }

  /** The lines of the current request, which stay the same however often it is sent. */
  lines(picture: HallPicture, nowMs: number, random: () => number): readonly CheckoutLine[] {
    this.#lines ??= [...this.#choose(picture, nowMs, random), ...this.#programme()]
    return this.#lines
  }

  #programme(): CheckoutLine[] {
    return this.hasProgramme ? [{ product_id: PROGRAMME, quantity: 1 }] : []
  }

  #choose(picture: HallPicture, nowMs: number, random: () => number): CheckoutLine[] {
    const { people, seeks } = this
    const stage = this.#stages[this.#stage]
    if (stage === 'programme') return [{ product_id: PROGRAMME, quantity: people }]
    if (stage === 'standing') return [{ section_id: STANDING, quantity: people }]
    const isNamed = (seeks === 'front row' || seeks === 'map') && this.#refusals < MAX_CHOICES
    const free = picture.free(nowMs)
    const { chart } = picture
    const best = () => choose(chart, free, { quantity: people, together: true, accessible: false })
    const seats = isNamed ? (seeks === 'map' ? click(chart, free, people, random) : best()) : null
    return seats ? linesOf(seats) : [{ quantity: people, together: true }]
  }

  /** Reads a refusal. After `ask` the next request is another one. */
  refused({ type, seats: taken = [], offer = [] }: Refusal, picture: HallPicture, random: () => number): Reaction {
    if (type === '/problems/seat-taken') {
      for (const { section_id, seats = [] } of this.#lines ?? [])
        picture.learn(
          section_id,
          seats.filter((seat) => taken.includes(seat)),
        )
      this.#refusals++
      const takesOffer = offer.length > 0 && this.#refusals < MAX_CHOICES && random() < TAKES_OFFER
      return this.#ask(takesOffer ? offer.map(({ section_id, seats }) => ({ section_id, seats: [...seats] })) : null)
    }
    if (type === '/problems/all-in-carts') {
      // In the hope that some come back.
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

/** Clicks on free neighbours somewhere in the hall; null where the clicks hit none. */
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

/** Of each visitor what they want, so that a seed repeats it. */
export function seekerOf(random: () => number): Seeker {
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
    if (left < share) return new Seeker(seeks, between(people[seeks]))
    left -= share
  }
  return new Seeker('couple', between(PAIR))
}
