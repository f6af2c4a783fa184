/**
 * Measures the recovery of a sale that loses Redis: how soon the fast gate is rebuilt from a ledger with a hundred
 * thousand live orders or sold seats, after a flush and after Redis restarted empty. Each has its own system, because
 * an origin rebuilds every sale that it knows.
 */
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import postgres from 'postgres'
import { hallOf } from '../../../dev/demo/hall.ts'
import type { System } from '../../../dev/system.ts'
import { Gate } from '../../../origin/stock/gate/gate.ts'
import { defineScripts, type Store } from '../../../origin/stock/scripts.ts'
import { median, n } from '../../lib/figures.ts'
import { Histogram } from '../../lib/histogram.ts'
import { openHall } from '../../lib/open-hall.ts'
import { admin } from '../../lib/operator.ts'
import { flat, type Measured } from '../load.ts'
import { row, type Table } from '../rows.ts'
import { createSale, PLENTY, type Stage, startStage } from '../stage.ts'
import type { Bench } from '../table.ts'

const LIVE = 100_000
const HELD = LIVE / 2
/** After this time the pauses of the origin's loops have reached their maximum. */
const AWAY_MS = 5_000
const POLL_EVERY_MS = 5
const OPEN_WITHIN_MS = 60_000

export async function* recovery(bench: Bench): AsyncGenerator<Table> {
  for (const measure of [rebuilds, rebuildsOfSeats]) {
    // At this level the origin logs the duration of a rebuild.
    const stage = await startStage({ LOG_LEVEL: 'info' })
    const redis = defineScripts(
      new Redis(stage.system.redisUrl, { retryStrategy: () => POLL_EVERY_MS, maxRetriesPerRequest: null }),
    )
    redis.on('error', () => {})
    try {
      yield await measure(stage, bench, redis)
    } finally {
      redis.disconnect()
      await stage.system.stop()
    }
  }
}

async function rebuilds(stage: Stage, { rounds }: Bench, redis: Store): Promise<Table> {
  const { system } = stage
  const sale = await createSale(stage)
  const gate = new Gate(redis, sale)
  const read = timed(await fill(system, sale, rounds))
  const flushed: Reopening[] = []
  const returned: Reopening[] = []
  for (let round = 0; round <= rounds; round++) {
    await redis.flushall()
    flushed.push(await reopening(gate))
    await system.redis?.kill()
    await sleep(AWAY_MS)
    await backEmpty(system)
    returned.push(await reopening(gate))
  }
  const aim = { slowestMs: 2_000 }
  return {
    title: `Recovery: the gate rebuilt from ${n(LIVE)} live orders`,
    against: 'of reading',
    rows: [
      row('the orders read, one statement', read, null),
      row('the rebuild itself, as logged', timed(rebuildsLogged(system, sale).slice(-2 * rounds)), read, aim),
      row('FLUSHALL until it is open', reopened(flushed), read, aim),
      row(`back empty after ${AWAY_MS / 1000} s until open`, reopened(returned), read, aim),
    ],
  }
}

/** Every seat of a hall is in an order of two seats. */
async function rebuildsOfSeats(stage: Stage, { rounds }: Bench, redis: Store): Promise<Table> {
  const { system } = stage
  const sale = await createSale(stage)
  const gate = new Gate(redis, sale)
  const sql = postgres(system.databaseUrl, { max: 1, onnotice: () => {} })
  const reconcile = () => admin(system, 'POST', `/sales/${sale}/reconcile`)
  await openHall(sql, sale, hallOf(LIVE), reconcile)
  await fillSeats(sql, sale)
  await reconcile()
  await sql.end({ timeout: 2 })
  const flushed: Reopening[] = []
  for (let round = 0; round <= rounds; round++) {
    await redis.flushall()
    const ms = await untilOpen(gate)
    const taken = await redis.bitcount(`{${sale}}:seats`)
    flushed.push({ ms, why: taken === LIVE ? '' : `opened with ${taken} seats taken` })
  }
  const logged = timed(rebuildsLogged(system, sale).slice(-rounds))
  return {
    title: `Recovery: the gate rebuilt from ${n(LIVE)} sold seats`,
    against: '',
    rows: [
      row('the rebuild itself, as logged', logged, null, { slowestMs: 3_000 }),
      row('FLUSHALL until it is open', reopened(flushed), null, { slowestMs: 3_000 }),
    ],
  }
}

/** Sells each seat together with the next one. */
async function fillSeats(sql: postgres.Sql, sale: string): Promise<void> {
  const line = (seat: 'a' | 'b') =>
    `jsonb_build_object('product', ${seat}.section_id, 'section', true, 'seat', ${seat}.seat_index,
      'seat_id', ${seat}.seat_id,
      'row', ${seat}.row, 'number', ${seat}.number, 'name', ${seat}.section_id, 'quantity', 1,
      'unit_price_minor', ${seat}.price_minor)`
  await sql.begin(async (tx) => {
    await tx`
      insert into orders (order_id, number, sale_id, product_id, visitor, ticket_number, quantity, unit_price_minor,
        currency, cart,
                          status, idempotency_key, request_hash, reserved_until)
      select (lpad(to_hex(1700000000000 + a.seat_index), 12, '0') || left(md5(a.seat_index::text), 20))::uuid,
        (next_order_numbers(1))[1], a.sale_id,
        a.section_id, gen_random_uuid(), a.seat_index, 2, a.price_minor, 'EUR',
        jsonb_build_array(${tx.unsafe(line('a'))}, ${tx.unsafe(line('b'))}), 'confirmed',
        gen_random_uuid(), encode(sha256(a.seat_index::text::bytea), 'hex'), now() + interval '1 hour'
      from seats a join seats b on b.sale_id = a.sale_id and b.seat_index = a.seat_index + 1
      where a.sale_id = ${sale} and a.seat_index % 2 = 0`
    await tx`
      insert into seat_claims (sale_id, seat_index, order_id)
      select sale_id, (l ->> 'seat')::int, order_id from orders, jsonb_array_elements(cart) l where sale_id = ${sale}`
    await tx`
      update products set sold = total where sale_id = ${sale} and section_type = 'reserved'`
  })
  await sql`analyze orders, seat_claims`
}

/** Adds live orders to the ledger, half of them sold, with ascending ids. Returns how long reading them takes. */
async function fill(system: System, sale: string, rounds: number): Promise<number[]> {
  const sql = postgres(system.databaseUrl, { max: 1, onnotice: () => {} })
  try {
    await sql`
      with placed as (
        insert into orders (order_id, number, sale_id, product_id, visitor, ticket_number, quantity, unit_price_minor,
          currency, status, idempotency_key, request_hash, reserved_until)
        select (lpad(to_hex(1700000000000 + n), 12, '0') || left(md5(n::text), 20))::uuid, (next_order_numbers(1))[1],
          sale_id, product_id,
          gen_random_uuid(), n, 1, unit_price_minor, currency,
            case when n <= ${HELD} then 'reserved' else 'confirmed' end,
          gen_random_uuid(), encode(sha256(n::text::bytea), 'hex'), now() + interval '1 hour'
        from products, generate_series(1, ${LIVE}::int) n where sale_id = ${sale}
        returning status
      )
      update products set held = (select count(*) from placed where status = 'reserved'),
        sold = (select count(*) from placed where status = 'confirmed')
      where sale_id = ${sale}`
    await sql`analyze orders`
    await admin(system, 'POST', `/sales/${sale}/reconcile`)
    const readMs: number[] = []
    for (let round = 0; round <= rounds; round++) {
      const beganMs = performance.now()
      await sql`
        select order_id, visitor, idempotency_key, request_hash, quantity, reserved_until
        from orders where sale_id = ${sale}`
      readMs.push(performance.now() - beganMs)
    }
    return readMs.slice(1)
  } finally {
    await sql.end({ timeout: 2 })
  }
}

/** Restarts Redis without its data. */
async function backEmpty({ dataDir, redis }: System): Promise<void> {
  rmSync(join(dataDir, 'redis'), { recursive: true, force: true })
  await redis?.restart()
}

interface Reopening {
  readonly ms: number
  /** What was wrong with the counters after the rebuild. */
  readonly why: string
}

async function reopening(gate: Gate): Promise<Reopening> {
  const ms = await untilOpen(gate)
  const stock = (await gate.stock())?.get('unit')
  const right = stock?.available === PLENTY - LIVE && stock.held === HELD
  return { ms, why: right ? '' : `opened with ${JSON.stringify(stock)}` }
}

async function untilOpen(gate: Gate): Promise<number> {
  const beganMs = performance.now()
  while (!(await gate.isOpen(['unit']))) {
    if (performance.now() - beganMs > OPEN_WITHIN_MS) throw new Error('The gate stayed closed.')
    await sleep(POLL_EVERY_MS)
  }
  return performance.now() - beganMs
}

function rebuildsLogged({ dataDir }: System, sale: string): number[] {
  return readFileSync(join(dataDir, 'logs/origin.log'), 'utf8')
    .split('\n')
    .filter((line) => line.includes('"gate rebuilt"') && line.includes(sale))
    .map((line) => (JSON.parse(line) as { ms: number }).ms)
}

/** Converts times to a measurement, with all the live orders in each. */
function timed(times: readonly number[]): Measured {
  const histogram = new Histogram()
  for (const ms of times) histogram.add(ms)
  return { ...flat((LIVE * 1000) / median(times)), ms: histogram.summary() }
}

/** The first rebuild warms up, but its result must be right. */
function reopened(reopenings: readonly Reopening[]): Measured {
  const wrong = reopenings.filter(({ why }) => why !== '')
  return { ...timed(reopenings.slice(1).map(({ ms }) => ms)), wrong: wrong.length, why: wrong[0]?.why ?? '' }
}
