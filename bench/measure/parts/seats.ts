/**
 * Measures carts and seats: checkouts of one line, of three lines, of seats by name with and without competition for
 * the same ones, and of the best available pair. They are compared with the usual approach in the field: rows of
 * seats with FOR UPDATE, or SKIP LOCKED.
 */
import postgres from 'postgres'
import { type DemoHall, hallOf, STANDING } from '../../../dev/demo/hall.ts'
import type { Seat } from '../../../origin/seats/chart.ts'
import { seededRandom } from '../../../shared/lib/random.ts'
import { HttpClient } from '../../lib/http.ts'
import { openHall } from '../../lib/open-hall.ts'
import { admin } from '../../lib/operator.ts'
import { closedLoop, contest, type Measured } from '../load.ts'
import { type Aim, ahead, row, type Table } from '../rows.ts'
import { Shops } from '../shops.ts'
import {
  atOrigin,
  checkoutsOf,
  checkoutText,
  createSale,
  durableCheckouts,
  endSale,
  PLENTY,
  PRODUCT_ID,
  type Stage,
  tokensFor,
} from '../stage.ts'
import type { Bench } from '../table.ts'

/** The number exceeds what any run sells per second; a run of one second has at least this many. */
const SEATS_PER_SECOND = 24_000
/** The number exceeds what a run can use up. */
const REFUSALS_PER_SECOND = 36_000
const MANY_BUYERS = 256
const LIMIT = 3
const PAIR = '{"lines":[{"quantity":2,"together":true}]}'
/** One in this many checkouts has a cart, in a sale where the others buy units. */
const CARTS_EVERY = 10
const CART = JSON.stringify({
  lines: [
    { product_id: PRODUCT_ID, quantity: 1 },
    { product_id: `${PRODUCT_ID}-1`, quantity: 1 },
    { section_id: STANDING, quantity: 1 },
  ],
})

export async function* seats(stage: Stage, { rounds, seconds, sellers }: Bench): AsyncGenerator<Table> {
  const sql = postgres(stage.system.databaseUrl, { max: 1, onnotice: () => {} })
  const shops = new Shops(stage)
  const plain = hallOf(Math.ceil(seconds * SEATS_PER_SECOND))
  // There are enough standing places that nobody is refused one.
  const sections = plain.sections.map((one) => (one.type === 'reserved' ? one : { ...one, total: PLENTY }))
  const hall = { ...plain, sections }
  const pairs = shuffledPairs(hall)
  const bodies = pairs.map(namedBody)
  const names = pairs.map(([a, b]) => JSON.stringify({ lines: [{ section_id: 'hall', seats: [a, b].map(indexOf) }] }))
  const over = await createSale(stage, { stock: 0 })
  try {
    await shops.open(['seats-for-update', 'seats-skip-locked'])
    for (const buyers of sellers) {
      const inHall = (bodyOf: (turn: number) => string | null) => () =>
        checkoutsInHall(stage, sql, hall, seconds, buyers, bodyOf)
      const results = await contest(rounds, {
        units: () => durableCheckouts(stage, seconds, buyers),
        'units in a hall': inHall(() => '{"quantity":1}'),
        'units beside carts': inHall((turn) => (turn % CARTS_EVERY === 0 ? PAIR : '{"quantity":1}')),
        carts: inHall(() => CART),
        pairs: inHall(() => PAIR),
        named: inHall((turn) => bodies[turn] ?? null),
        taken: () => takenSeats(stage, sql, hall, seconds, buyers, bodies[0] ?? ''),
        'sold out': () => {
          const tokens = tokensFor(stage, over, seconds, { perSecond: REFUSALS_PER_SECOND })
          return closedLoop(atOrigin(stage, seconds, checkoutsOf(stage, over, tokens), 410), buyers)
        },
        'for update': () => shops.checkouts('seats-for-update', seconds, buyers, (turn) => names[turn] ?? null),
        'skip locked': () => shops.checkouts('seats-skip-locked', seconds, buyers),
      })
      const aim = (of: Aim) => (buyers === MANY_BUYERS ? of : null)
      const { units, pairs, named } = results
      yield {
        title: `Carts and seats, ${buyers} buyers`,
        against: 'ratio',
        rows: [
          row('one line of units', units, null),
          row('one line, in the sale of a hall', results['units in a hall'], units, aim({ ratio: 0.95 })),
          row('one line, one in ten a pair of seats', results['units beside carts'], units),
          row('carts of three lines', results.carts, units),
          row('best available pairs', pairs, units, aim({ ratio: 0.6 })),
          row('two named seats each, nobody else wants', named, units),
          row('sold out', results['sold out'], null),
          row('two named seats that are taken, of sold out', results.taken, results['sold out'], aim({ ratio: 0.8 })),
          ahead('named seats: ahead of SELECT FOR UPDATE', results['for update'], named, aim({ ratio: 4 })),
          ahead('pairs: ahead of SKIP LOCKED, neighbours or not', results['skip locked'], pairs, aim({ ratio: 2 })),
        ],
      }
    }
  } finally {
    await endSale(stage, over).catch(() => {})
    await shops.close()
    await sql.end({ timeout: 2 })
  }
}

/** Two neighbouring seats for each buyer in random order, so that nobody wants a seat of another pair. */
function shuffledPairs({ seats }: DemoHall): (readonly [Seat, Seat])[] {
  const pairs: (readonly [Seat, Seat])[] = []
  for (let i = 0; i + 1 < seats.length; i++) {
    const [a, b] = [seats[i] as Seat, seats[i + 1] as Seat]
    if (a.section !== b.section || a.row !== b.row || b.place !== a.place + 1) continue
    pairs.push([a, b])
    i++
  }
  const random = seededRandom(1)
  return pairs
    .map((pair) => ({ pair, at: random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ pair }) => pair)
}

const namedBody = ([a, b]: readonly [Seat, Seat]) =>
  JSON.stringify({ lines: [{ section_id: a.section, seats: [a.seat, b.seat] }] })

const indexOf = ({ index }: Seat) => String(index)

/** Creates an open sale of units and of the hall, and waits until the origin has it in memory. */
async function openSale(stage: Stage, sql: postgres.Sql, hall: DemoHall, first: string): Promise<string> {
  const { system } = stage
  const sale = await createSale(stage, { products: 2, limit: LIMIT })
  await openHall(sql, sale, hall, () => admin(system, 'POST', `/sales/${sale}/reconcile`))
  const client = new HttpClient({ url: system.originUrl, connections: 1 })
  const [token = ''] = stage.mint(sale, 1)
  const answer = await client.request(checkoutText(stage, client.host, sale, token, -1, first))
  client.close()
  if (answer.status !== 201) throw new Error(`the first checkout was answered ${answer.status}: ${answer.body}`)
  return sale
}

async function checkoutsInHall(
  stage: Stage,
  sql: postgres.Sql,
  hall: DemoHall,
  seconds: number,
  buyers: number,
  bodyOf: (turn: number) => string | null,
): Promise<Measured> {
  const sale = await openSale(stage, sql, hall, bodyOf(0) ?? '')
  const tokens = tokensFor(stage, sale, seconds, { buyers })
  const next = checkoutsOf(stage, sale, tokens, (turn) => bodyOf(turn + 1))
  const measured = await closedLoop(atOrigin(stage, seconds, next, 201), buyers)
  await endSale(stage, sale)
  return measured
}

/** All buyers name the same two seats, which are taken. */
async function takenSeats(
  stage: Stage,
  sql: postgres.Sql,
  hall: DemoHall,
  seconds: number,
  buyers: number,
  body: string,
): Promise<Measured> {
  const sale = await openSale(stage, sql, hall, body)
  const tokens = tokensFor(stage, sale, seconds, { perSecond: REFUSALS_PER_SECOND })
  const next = checkoutsOf(stage, sale, tokens, () => body)
  const measured = await closedLoop(atOrigin(stage, seconds, next, 409), buyers)
  await endSale(stage, sale)
  return measured
}
