/**
 * Checks of a hall: what every client was told about its seats against the ledger's orders, claims, counters and
 * history, and against the gate. Prices are those at the opening of the hall.
 */
import type { DemoHall } from '../../dev/demo/hall.ts'
import { Chart, ORDINARY, type Seat } from '../../origin/seats/chart.ts'
import { n } from '../lib/figures.ts'
import {
  type Check,
  check,
  count,
  type Evidence,
  type HallLine,
  type HallOrder,
  type HallRecords,
  type HallVisit,
  ifAny,
} from './evidence.ts'

/**
 * A gate takes seats before the ledger does, and frees them after it, with at most this delay. With faults it may
 * learn of an end only by a rebuild.
 */
const GATE_WITHIN_MS = 5_000
const GATE_WITHIN_FAULTS_MS = 60_000

interface Buyer extends HallVisit {
  readonly order: string
  readonly heard: NonNullable<HallVisit['heard']>
}

export function seatChecks({ hall: records, visits, faults, ownSystem }: Evidence): Check[] {
  if (!records) return []
  if ('unread' in records) return [check('seats', ownSystem ? false : null, `the hall: ${records.unread}`)]
  const buyers = visits.flatMap(({ hall, order }): Buyer[] =>
    hall?.heard && order !== null ? [{ ...hall, order, heard: hall.heard }] : [],
  )
  return [
    noSeatTwice(records, buyers),
    wholeCarts(records, buyers),
    together(records, buyers, faults ? GATE_WITHIN_FAULTS_MS : GATE_WITHIN_MS),
    countsAgree(records),
    pricesKept(records),
  ]
}

const seatsOf = ({ lines }: HallOrder) => lines.flatMap(({ seat }) => seat ?? [])
const keptSeatsOf = ({ lines }: HallOrder) => lines.flatMap(({ seat, returned }) => (returned ? [] : (seat ?? [])))

/**
 * In the order in which the ledger wrote the history, no order gets a seat that another one has. At the end the
 * claims are exactly the seats of the live orders, and no two clients with live orders were told of the same seat.
 */
function noSeatTwice({ hall, orders, history, claims }: HallRecords, buyers: readonly Buyer[]): Check {
  const owners = new Map<number, string>()
  let [given, twice, wrong, toldTwice] = [0, 0, 0, 0]
  for (const [id, has] of history)
    for (const seat of seatsOf(orders.get(id) ?? NO_ORDER)) {
      const owner = owners.get(seat)
      if (has && owner !== id) {
        given++
        if (owner !== undefined) twice++
        owners.set(seat, id)
      }
      if (!has && owner === id) owners.delete(seat)
    }
  const live = new Map([...orders].flatMap(([id, o]) => (o.isLive ? keptSeatsOf(o).map((seat) => [seat, id]) : [])))
  for (const [seat, id] of claims) if (id !== null && live.get(seat) !== id) wrong++
  for (const [seat, id] of live) if (claims.get(seat as number) !== id) wrong++
  const indexOf = new Map(hall.seats.map((seat) => [`${seat.section} ${seat.seat}`, seat.index]))
  const told = new Map<number, string>()
  for (const { order, heard } of buyers)
    for (const { section_id, seat_id } of orders.get(order)?.isLive ? heard : []) {
      const seat = indexOf.get(`${section_id} ${seat_id}`)
      if (seat === undefined) continue
      if (told.has(seat) && told.get(seat) !== order) toldTwice++
      told.set(seat, order)
    }
  return check(
    'no seat went twice',
    ifAny(given, twice + wrong + toldTwice === 0),
    `${n(hall.seats.length)} seats were given ${n(given)} times, ${n(twice)} while somebody had them; ` +
      `${n(claims.size)} claims, ${n(wrong)} of another order; ${n(toldTwice)} told to two clients`,
  )
}

const NO_ORDER: HallOrder = { isLive: false, isHeld: false, lines: [], createdMs: 0, endedMs: null }

/** An order has every requested line completely and nothing else, and its client was told what the ledger has. */
function wholeCarts({ hall, orders }: HallRecords, buyers: readonly Buyer[]): Check {
  const nameOf = new Map(hall.seats.map(({ index, section, seat }) => [index, `${section} ${seat}`]))
  const halves = count(buyers, (buyer) => !isWhole(buyer))
  const otherwise = count(buyers, ({ order, heard }) => {
    const lines = orders.get(order)?.lines ?? []
    const told = heard.map(({ product_id, section_id, seat_id, quantity }) =>
      seat_id === undefined ? `${section_id ?? product_id} x ${quantity}` : `${section_id} ${seat_id}`,
    )
    const stored = lines.map(({ product, seat, quantity }) =>
      seat === null ? `${product} x ${quantity}` : nameOf.get(seat),
    )
    return told.sort().join() !== stored.sort().join()
  })
  return check(
    'nobody got half a cart',
    ifAny(buyers.length, halves + otherwise === 0),
    `${n(buyers.length)} orders, ${n(halves)} with other lines than were asked for, ${n(otherwise)} told ` +
      'otherwise than recorded',
  )
}

function isWhole({ asked, heard }: Buyer): boolean {
  const left = new Set(
    heard.flatMap(({ section_id, seat_id }) => (seat_id === undefined ? [] : `${section_id} ${seat_id}`)),
  )
  const units = new Map<string, number>()
  for (const { product_id, section_id, seat_id, quantity } of heard)
    if (seat_id === undefined) add(units, product_id ?? section_id ?? '', quantity)
  let best = 0
  for (const { product_id, section_id, seats, quantity = 1, together } of asked) {
    if (seats) {
      for (const seat of seats) if (!left.delete(`${section_id} ${seat}`)) return false
    } else if (together) best += quantity
    else add(units, product_id ?? section_id ?? '', -quantity)
  }
  return left.size === best && [...units.values()].every((difference) => difference === 0)
}

const add = (units: Map<string, number>, of: string, quantity: number) => units.set(of, (units.get(of) ?? 0) + quantity)

/**
 * Visitors who left the choice to the system sit in one row without a gap, unless the hall did not have enough
 * ordinary neighbouring seats. It had some if nobody had any of them between the request and the response, within the
 * gate's delay. If a visitor got separate seats although there were such neighbours, the check fails.
 */
function together({ hall, orders }: HallRecords, buyers: readonly Buyer[], withinMs: number): Check {
  const chart = new Chart(hall.seats, hall.focalPoint)
  const taken = new Map<number, [fromMs: number, toMs: number][]>()
  for (const order of orders.values())
    for (const seat of seatsOf(order)) {
      const times = taken.get(seat) ?? []
      times.push([order.createdMs - withinMs, (order.endedMs ?? Number.POSITIVE_INFINITY) + withinMs])
      taken.set(seat, times)
    }
  const parties = buyers.flatMap((buyer) => {
    const line = buyer.asked.find((one) => one.together && (one.quantity ?? 1) > 1)
    return line ? [{ ...buyer, people: line.quantity ?? 1 }] : []
  })
  const apart = parties.filter(({ order }) => !areNeighbours(chart, seatsOf(orders.get(order) ?? NO_ORDER)))
  const avoidable = count(apart, ({ people, askedMs, answeredMs }) => {
    const isFree = ({ index }: Seat) => !taken.get(index)?.some(([from, to]) => from <= answeredMs && to >= askedMs)
    return hasNeighbours(chart, people, isFree)
  })
  return check(
    'who wants to sit together does, while there are such seats',
    ifAny(parties.length, avoidable === 0),
    `${n(parties.length)} parties of ${n(parties.reduce((sum, { people }) => sum + people, 0))} left the choice ` +
      `to the system, ${n(apart.length)} sit apart, ${n(avoidable)} of them while others sat free`,
  )
}

function areNeighbours(chart: Chart, seats: readonly number[]): boolean {
  const positions = seats.map((seat) => chart.position(seat)).sort((a, b) => a - b)
  const [first = -1] = positions
  return positions.every((at, i) => at === first + i && chart.stretchOf[at] === chart.stretchOf[first])
}

function hasNeighbours({ stretches, seats, kindOf }: Chart, people: number, isFree: (seat: Seat) => boolean): boolean {
  return stretches.some(({ start, end }) => {
    let run = 0
    for (let at = start; at < end && run < people; at++)
      run = ((kindOf[at] ?? 0) & ORDINARY) !== 0 && isFree(seats[at] as Seat) ? run + 1 : 0
    return run === people
  })
}

/**
 * Each section's counters are the sums of its orders; its claims are its held, sold or blocked seats; and the gate
 * agrees.
 */
function countsAgree({ hall, orders, claims, counters, gate }: HallRecords): Check {
  const [held, sold] = [new Map<string, number>(), new Map<string, number>()]
  for (const { isLive, isHeld, lines } of orders.values())
    for (const { product, quantity, returned } of isLive ? lines : [])
      if (!returned) add(isHeld ? held : sold, product, quantity)
  const sectionOf = new Map(hall.seats.map(({ index, section }) => [index, section]))
  const claimed = Map.groupBy([...claims.keys()], (seat) => sectionOf.get(seat) ?? '')
  const reserved = new Set(hall.sections.flatMap(({ type, section_id }) => (type === 'reserved' ? section_id : [])))
  const wrong = [...counters].flatMap(([product, c]) => {
    const left = c.total - c.buffer - c.held - c.sold
    const inGate = gate?.stock.get(product)
    const isRight =
      c.held === (held.get(product) ?? 0) &&
      c.sold === (sold.get(product) ?? 0) &&
      (!reserved.has(product) || (claimed.get(product)?.length ?? 0) === c.buffer + c.held + c.sold) &&
      left >= 0 &&
      inGate?.available === left &&
      inGate.held === c.held
    return isRight ? [] : [product]
  })
  const bits = new Set(gate?.seats)
  const differing = count([...bits], (seat) => !claims.has(seat)) + count([...claims.keys()], (seat) => !bits.has(seat))
  return check(
    'sections, claims, orders and gate count the same',
    counters.size > 0 && wrong.length + differing === 0,
    `${n(counters.size)} sections and products, ${n(wrong.length)} counted ` +
      `otherwise${wrong.length > 0 ? ` (${wrong.slice(0, 3).join(', ')})` : ''}; ${n(claims.size)} seats taken, ` +
      `${n(differing)} not in ledger and gate alike`,
  )
}

/** Every line has the price that its seat, section or product had at the opening of the hall. */
function pricesKept({ hall, orders }: HallRecords): Check {
  const priceOf = pricesOf(hall)
  const all = [...orders.values()].flatMap(({ lines }) => lines)
  const wrong = count(all, (line) => line.unit_price_minor !== priceOf(line))
  const sold = [...orders.values()].filter(({ isLive }) => isLive)
  const sum = sold.reduce((minor, { lines }) => minor + totalOf(priceOf, lines), 0)
  return check(
    'every line costs what its seat costs',
    ifAny(all.length, wrong === 0),
    `${n(all.length)} lines, ${n(wrong)} with another price; ${n(sold.length)} live orders of ${n(sum)} minor units`,
  )
}

type PriceOf = (line: Pick<HallLine, 'product' | 'seat'>) => number

export function pricesOf({ seats, sections, product }: DemoHall): PriceOf {
  const ofSeat = new Map(seats.map(({ index, priceMinor }) => [index, priceMinor]))
  const of = new Map(sections.map(({ section_id, price_minor }) => [section_id, price_minor]))
  of.set(product.product_id, product.unit_price_minor)
  return (line) => (line.seat === null ? of.get(line.product) : ofSeat.get(line.seat)) ?? Number.NaN
}

/** The total of an order by the hall's prices. */
export const totalOf = (priceOf: PriceOf, lines: readonly HallLine[]) =>
  lines.reduce((minor, line) => minor + priceOf(line) * line.quantity, 0)
