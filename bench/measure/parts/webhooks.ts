/**
 * Measures checkouts during 500 webhooks a second, compared with checkouts alone. Each message goes through the log,
 * the fan-out and the deliverer. The aim applies to a sale that leaves the machine some capacity; if buyers use all
 * of it, any other work costs checkouts.
 */
import { randomUUIDv7 } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import postgres from 'postgres'
import { admin } from '../../lib/operator.ts'
import { contest, flat, type Measured, median, nowMeasuring, openLoop } from '../load.ts'
import { row, type Table } from '../rows.ts'
import { atOrigin, checkoutsOf, createSale, endSale, type Stage, startServer } from '../stage.ts'
import type { Bench } from '../table.ts'

const PER_SECOND = 500
const TICK_MS = 100
const ORDERS = 2_000
const WARM_MS = 1_000
const DRAIN_TRIES = 100
/** The running sale uses the first of these rates that the machine serves in time with no other work. */
const CHECKOUT_RATES = [2_000, 1_400, 1_000, 700, 500] as const
const IN_TIME_MS = 100

export async function* besideWebhooks(stage: Stage, { rounds, seconds }: Bench): AsyncGenerator<Table> {
  const sql = postgres(stage.system.databaseUrl, { max: 2, onnotice: () => {} })
  const receiver = await startServer('receiver')
  const sale = await createSale(stage)
  try {
    const rate = await rateInTime(stage, seconds)
    const orders = await makeOrders(sql, sale)
    await admin(stage.system, 'POST', '/webhooks', { url: receiver.url, events: ['order.fulfilled'] })
    const webhooks = webhooksBeside(sql, receiver.url, orders)
    const posted = async () => {
      const poster = await startServer('poster', { TO: receiver.url, PER_SECOND: String(PER_SECOND) })
      await sleep(WARM_MS)
      const measured = await checkoutsAt(stage, seconds, rate)
      await poster.stop()
      return measured
    }
    const open = await contest(rounds, {
      alone: () => checkoutsAt(stage, seconds, rate),
      beside: () => webhooks.beside(() => checkoutsAt(stage, seconds, rate)),
      posted,
    })
    const delivered = flat(median(webhooks.rates.slice(1)))
    const floor = { what: `beside a loop that posts ${PER_SECOND} signed messages a second`, measured: open.posted }
    yield {
      title: `${rate} checkouts a second beside ${PER_SECOND} webhooks a second`,
      against: 'of alone',
      rows: [
        row('durable checkout, alone', open.alone, null),
        row('durable checkout, beside webhooks', open.beside, open.alone, { ratio: 0.95 }, floor),
        row('webhooks delivered meanwhile', delivered, null, { perSecond: 0.95 * PER_SECOND }),
      ],
    }
  } finally {
    await endSale(stage, sale)
    await sql`delete from webhook_endpoints`
    await sql`delete from jobs where queue = 'webhook'`
    await sql.end({ timeout: 2 })
    await receiver.stop()
  }
}

async function checkoutsAt(stage: Stage, seconds: number, perSecond: number): Promise<Measured> {
  const sale = await createSale(stage)
  const tokens = stage.mint(sale, Math.ceil(seconds * perSecond))
  const measured = await openLoop(atOrigin(stage, seconds, checkoutsOf(stage, sale, tokens), 201), perSecond)
  await endSale(stage, sale)
  return measured
}

async function rateInTime(stage: Stage, seconds: number): Promise<number> {
  for (const rate of CHECKOUT_RATES) {
    nowMeasuring(`  which rate is served in time: ${rate}`)
    await checkoutsAt(stage, seconds, rate)
    if ((await checkoutsAt(stage, seconds, rate)).ms.p99 < IN_TIME_MS) return rate
  }
  return CHECKOUT_RATES[CHECKOUT_RATES.length - 1] ?? 0
}

/**
 * Sends messages of other orders at the rate while something else is measured, and reports how many per second were
 * sent.
 */
function webhooksBeside(sql: postgres.Sql, receiver: string, orders: readonly string[]) {
  const rates: number[] = []
  const count = async () => Number(await (await fetch(`${receiver}/count`)).text())
  const beside = async (measure: () => Promise<Measured>): Promise<Measured> => {
    const first = await count()
    const events = writeEvents(sql, orders)
    await sleep(WARM_MS)
    const [before, beganMs] = [await count(), performance.now()]
    const measured = await measure()
    rates.push(((await count()) - before) / ((performance.now() - beganMs) / 1000))
    const all = first + (await events.stop())
    // Waiting messages must not be sent during the next measurement.
    for (let tries = 0; tries < DRAIN_TRIES && (await count()) < all; tries++) await sleep(TICK_MS)
    return measured
  }
  return { beside, rates }
}

async function makeOrders(sql: postgres.Sql, sale: string): Promise<string[]> {
  const ids = Array.from({ length: ORDERS }, () => randomUUIDv7())
  await sql`
    insert into orders (order_id, number, sale_id, product_id, visitor, ticket_number, quantity, unit_price_minor,
      currency, status,
                        idempotency_key, request_hash, reserved_until)
    select id, (next_order_numbers(1))[1],
      ${sale}, 'unit', id::text, 1, 1, 4900, 'EUR', 'expired', 'k', 'h', now() from unnest(${ids}::uuid[]) id`
  return ids
}

/** Writes events evenly at the rate, each of another order. */
function writeEvents(sql: postgres.Sql, orders: readonly string[]) {
  let stopped = false
  let written = 0
  const beganMs = performance.now()
  const writing = (async () => {
    for (; !stopped; await sleep(TICK_MS)) {
      const due = Math.floor(((performance.now() - beganMs) / 1000) * PER_SECOND)
      const ids = Array.from({ length: due - written }, (_, i) => orders[(written + i) % ORDERS] ?? '')
      await sql`insert into events (type, order_id, status) select 'order.fulfilled',
        unnest(${ids}::uuid[]), 'fulfilled'`
      written = due
    }
  })()
  // The error is thrown at `stop`.
  writing.catch(() => {})
  return {
    async stop() {
      stopped = true
      await writing
      return written
    },
  }
}
