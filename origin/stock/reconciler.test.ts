import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eventually, reservationOf, saleOf, useOrigin } from '../../test/origin-process.ts'
import { useDatabase, useRedis } from '../../test/servers.ts'
import { writeSale } from '../ledger/sales.ts'

const database = useDatabase()
const server = useRedis()
const origin = useOrigin(() => ({ databaseUrl: database.url, redisUrl: server.url }))
let redis: Redis
beforeAll(() => {
  redis = new Redis(server.url)
})
afterAll(() => redis.disconnect())

interface Found {
  findings: {
    kind: string
    units: number
    outcome: string | null
    closed_at: string | null
    detail: Record<string, unknown>
  }[]
  changes: {
    actor: string
    action: string
    order_id: string | null
    before: Record<string, unknown>
    after: Record<string, unknown>
  }[]
}
const findings = async (sale: string) =>
  (await origin.admin('GET', `/sales/${sale}/findings`)).body as unknown as Found
const reconcile = async (sale: string, query = '') =>
  (await origin.admin('POST', `/sales/${sale}/reconcile${query}`)).body as unknown as {
    findings: [
      {
        found: string
        drift: number
        healed: boolean
        recount?: { found: string; units: number; healed: boolean; outcome?: string }
      },
    ]
  }

/** Sells `sold` units, and then `more` that no gate would have let through. */
async function oversold(options: {
  total: number
  sold: number
  more: number
  /** How far the payment of those got. */
  paid?: 'authorized' | 'captured'
  [field: string]: unknown
}) {
  const { total, sold, more, paid = 'captured', ...rest } = options
  const sale = await origin.sale({ total, ...rest })
  const body = { payment_method: 'pm_ok' }
  await Promise.all(Array.from({ length: sold }, () => origin.checkout(sale, { body })))
  await eventually(
    () => origin.stock(sale),
    (stock) => stock.sold === sold,
  )
  const ids = Array.from({ length: more }, () => randomUUID())
  await origin.sql()`
    insert into orders (order_id, sale_id, product_id, visitor, ticket_number, quantity, unit_price_minor, currency,
                        status, idempotency_key, request_hash, reserved_until, charge_id, created_at)
    select id, ${sale}, 'one', id::text, 1, 1, 1000, 'EUR', 'confirmed', 'k', 'h', now(), 'ch_' || id,
           clock_timestamp() + i * interval '1 millisecond'
    from unnest(${ids}::uuid[]) with ordinality as a(id, i)`
  await origin.sql()`
    insert into sandbox.charges (charge_id, idempotency_key, order_id, amount_minor, currency, method, status)
    select 'ch_' || id, 'charge-' || id, id, 1000, 'EUR', 'pm_ok', ${paid} from unnest(${ids}::uuid[]) id`
  await origin.sql()`
    insert into captures (charge_id, order_id, captured_at)
    select 'ch_' || id, id, case when ${paid === 'captured'} then now() end from unnest(${ids}::uuid[]) id`
  return { sale, ids }
}
const statuses = async (ids: string[]) =>
  (
    await origin.sql()<{ status: string }[]>`select status from orders where order_id = any(${ids}::uuid[])`
  ).map((o) => o.status)

describe.concurrent('the reconciler', () => {
  test('repairs a counter in Redis, and leaves a finding and an audit entry', async () => {
    const sale = await origin.sale({ total: 7 })
    await redis.hset(`{${sale}:one:0}:stock`, 'available', 9)
    expect((await reconcile(sale)).findings).toMatchObject([{ found: 'drift', drift: 2, healed: true }])
    expect(await redis.hget(`{${sale}:one:0}:stock`, 'available')).toBe('7')
    const found = await findings(sale)
    expect(found.findings).toMatchObject([
      { kind: 'drift', units: 2, outcome: 'gate rebuilt from the ledger' },
    ])
    expect(found.findings[0]?.closed_at).not.toBeNull()
    expect(found.changes).toMatchObject([
      { actor: 'reconciler', before: { available: 9 }, after: { available: 7 } },
    ])
  })

  test('finds nothing in a healthy sale', async () => {
    const sale = await origin.sale({ total: 7 })
    await origin.checkout(sale)
    expect((await reconcile(sale)).findings).toMatchObject([
      { found: 'ok', drift: 0, recount: { found: 'ok' } },
    ])
    expect(await findings(sale)).toEqual({ findings: [], changes: [] })
  })

  test('reports a gate that was lost, and not one that was never loaded', async () => {
    const sale = `sale-${randomUUID().slice(0, 8)}`
    const found = () => findings(sale)
    // As a worker sees a sale that is being created.
    await writeSale(origin.sql(), sale, saleOf(7))
    await eventually(
      () => reconcile(sale),
      (reconciled) => reconciled.findings[0].found === 'ok',
    )
    expect(await found()).toEqual({ findings: [], changes: [] })
    await origin.checkout(sale)
    await redis.del(`{${sale}:one:0}:stock`)
    expect(await eventually(found, ({ changes }) => changes.length > 0)).toMatchObject({
      findings: [{ kind: 'fenced', outcome: 'gate rebuilt from the ledger' }],
    })
  })

  test('repairs counters of the ledger that are not the sum of its orders', async () => {
    const sale = await origin.sale({ total: 10 })
    await Promise.all([origin.checkout(sale), origin.checkout(sale)])
    await origin.sql()`update products set held = 5, sold = 1 where sale_id = ${sale}`
    expect((await reconcile(sale)).findings).toMatchObject([
      { recount: { found: 'miscounted', units: 4, healed: true } },
    ])
    expect(await origin.stock(sale)).toMatchObject({ available: 8, held: 2, sold: 0 })
    expect(await redis.hgetall(`{${sale}:one:0}:stock`)).toMatchObject({ available: '8', held: '2' })
    const { changes } = await findings(sale)
    expect(changes).toContainEqual(
      expect.objectContaining({ before: { held: 5, sold: 1 }, after: { held: 2, sold: 0 } }),
    )
  })

  test('finds no miscount while the sale goes on', async () => {
    const sale = await origin.sale({ total: 300, hold_seconds: 1 })
    let buying = true
    const buyers = Promise.all(
      Array.from({ length: 400 }, (_, i) =>
        origin.checkout(sale, { body: i % 2 ? { payment_method: 'pm_ok' } : {} }),
      ),
    ).finally(() => {
      buying = false
    })
    while (buying) {
      for (const { recount } of (await reconcile(sale)).findings) expect(recount?.found).toBe('ok')
    }
    await buyers
    expect((await findings(sale)).changes.filter((c) => c.action.startsWith('counters'))).toEqual([])
  })

  test('reports an oversell, sells no more, and waits for a person', async () => {
    const { sale, ids } = await oversold({ total: 5, sold: 4, more: 2 })
    expect((await reconcile(sale)).findings).toMatchObject([
      { recount: { found: 'oversold', units: 1, healed: false } },
    ])
    expect(await statuses(ids)).toEqual(['confirmed', 'confirmed'])
    expect(await origin.checkout(sale)).toMatchObject({ status: 410 })
    const found = await findings(sale)
    expect(found.findings.filter((f) => f.kind === 'oversold')).toMatchObject([{ units: 1, closed_at: null }])
    const metrics = String((await origin.call('GET', '/metrics')).body.text)
    expect(metrics).toContain(`oversold_units{sale="${sale}",product="one"} 1`)
    // The gate agrees with the ledger by now: there are too many orders.
    expect((await reconcile(sale)).findings).toMatchObject([{ found: 'ok', drift: 0 }])
    const { body } = await origin.admin('GET', `/sales/${sale}`)
    expect(body.invariant).toMatchObject({ holds: false, total: 5, sold: 5 })
  })

  test.each([
    ['refunds them', 'captured', 'refunded'],
    ['voids authorizations', 'authorized', 'cancelled'],
  ] as const)('cancels the latest orders and %s, by policy', async (_, paid, back) => {
    const { sale, ids } = await oversold({
      total: 40,
      sold: 39,
      more: 3,
      paid,
      oversell_policy: 'cancel_latest',
    })
    expect((await reconcile(sale)).findings).toMatchObject([
      { recount: { found: 'oversold', units: 2, healed: true, outcome: 'cancel_latest' } },
    ])
    const rows = await origin.sql()`
      select status, reason from orders where order_id = any(${ids}::uuid[]) order by created_at`
    const cancelled = { status: 'cancelled', reason: 'oversold' }
    expect(rows).toMatchObject([{ status: 'confirmed' }, cancelled, cancelled])
    expect(await origin.stock(sale)).toMatchObject({ total: 40, available: 0, held: 0, sold: 40 })
    expect(
      await eventually(
        () =>
          origin.sql()<{ status: string }[]>`
            select c.status from sandbox.charges c join orders o using (order_id)
            where order_id = any(${ids}::uuid[]) order by o.created_at`,
        (charges) => charges.filter((c) => c.status === back).length === 2,
      ),
    ).toMatchObject([{ status: paid }, { status: back }, { status: back }])
    const due = await origin.sql()`
      select order_id from captures where order_id = any(${ids}::uuid[]) and captured_at is null`
    expect(due.map((capture) => capture.order_id)).toEqual(paid === 'captured' ? [] : ids.slice(0, 1))
    const { findings: found, changes } = await findings(sale)
    expect(found.filter((f) => f.kind === 'capture_failed')).toEqual([])
    expect(found.find((f) => f.kind === 'oversold')).toMatchObject({ outcome: 'cancelled the latest 2' })
    expect(new Set(changes.map((c) => c.order_id).filter(Boolean))).toEqual(new Set(ids.slice(1)))
    const metrics = String((await origin.call('GET', '/metrics')).body.text)
    const transitions = `order_transitions_total{sale="${sale}",status="cancelled",reason="oversold"}`
    expect(metrics).toContain(`${transitions} 2`)
    expect(metrics).toContain(`oversold_units{sale="${sale}",product="one"} 0`)
  })

  test('cancels the latest orders while a payment of them begins, without a deadlock', async () => {
    const { sale, ids } = await oversold({ total: 5, sold: 5, more: 2, oversell_policy: 'alarm' })
    const [first, last] = ids.sort() as [string, string]
    await origin.sql()`update orders set created_at = created_at + interval '1 minute' where order_id = ${last}`
    const { reconciled } = await origin.sql().begin(async (tx) => {
      const lock = (order: string) => tx`select 1 from orders where order_id = ${order} for no key update`
      await lock(first)
      const reconciled = reconcile(sale, '?oversell=cancel_latest')
      await eventually(
        () => origin.sql()`
          select 1 from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock' and query like '%latest%for no key update%'`,
        (waiting) => waiting.length === 1,
      )
      await lock(last)
      return { reconciled }
    })
    expect((await reconciled).findings).toMatchObject([{ recount: { units: 2, healed: true } }])
    expect(await statuses(ids)).toEqual(['cancelled', 'cancelled'])
  })

  test('leaves a large oversell to a person, and follows the decision', async () => {
    const { sale, ids } = await oversold({ total: 10, sold: 10, more: 3, oversell_policy: 'cancel_latest' })
    expect((await reconcile(sale)).findings).toMatchObject([
      { recount: { found: 'oversold', units: 3, healed: false } },
    ])
    expect(await statuses(ids)).toEqual(['confirmed', 'confirmed', 'confirmed'])
    expect((await findings(sale)).findings.find((f) => f.kind === 'oversold')?.detail).toMatchObject({
      waits_for_a_person: 'too many for the policy alone',
    })
    expect((await reconcile(sale, '?oversell=fulfil_from_buffer')).findings).toMatchObject([
      { recount: { healed: true, outcome: 'fulfil_from_buffer' } },
    ])
    expect(await origin.stock(sale)).toMatchObject({ total: 13, available: 0, sold: 13 })
    const { changes } = await findings(sale)
    expect(changes).toContainEqual(
      expect.objectContaining({ actor: 'operator', action: 'fulfilled from the buffer' }),
    )
  })

  test('sets aside an intent that cannot be recorded, and records the others', async () => {
    const sale = await origin.sale({ total: 5 })
    const stream = `{${sale}:one:0}:intents`
    const good = reservationOf(sale)
    const intent = (stored: object) => redis.xadd(stream, '*', 'reservation', JSON.stringify(stored))
    await redis.xadd(stream, '*', 'what', 'is this')
    await intent({ ...good, order: 'no uuid', key: 'other' })
    await intent(good)
    await eventually(
      () => redis.xlen(stream),
      (waiting) => waiting === 0,
    )
    expect(await statuses([good.order])).toEqual(['reserved'])
    const { findings: found } = await findings(sale)
    expect(found.filter((f) => f.kind === 'unreadable_intent')).toHaveLength(2)
  })
})

test('a gate rebuilt under load agrees with the ledger, and nothing is left to repair', async () => {
  const sale = await origin.sale({ total: 100_000, hold_seconds: 300 })
  let selling = true
  const buyers = Promise.all(
    Array.from({ length: 24 }, async () => {
      while (selling) await origin.checkout(sale)
    }),
  )
  for (let i = 0; i < 5; i++) {
    await origin.admin('POST', `/sales/${sale}/products/one/restock`, { quantity: 1 })
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  selling = false
  await buyers
  expect((await reconcile(sale)).findings).toMatchObject([{ found: 'ok', drift: 0 }])
  expect((await findings(sale)).findings).toEqual([])
})

describe('an origin without a worker', () => {
  const quiet = useRedis()
  const api = useOrigin(() => ({ databaseUrl: database.url, redisUrl: quiet.url }), { ROLE: 'api' })
  let client: Redis
  beforeAll(() => {
    client = new Redis(quiet.url)
  })
  afterAll(() => client.disconnect())

  test('loads the gates from the ledger before it serves', async () => {
    const sale = await api.sale({ total: 7 })
    await client.flushall()
    await api.restart()
    expect(await client.hgetall(`{${sale}:one:0}:stock`)).toMatchObject({
      available: '7',
      run: expect.any(String),
    })
  })

  test('shows with the state of a sale whether gate and ledger agree', async () => {
    const sale = await api.sale({ total: 7 })
    const invariant = async () =>
      (await api.admin('GET', `/sales/${sale}`)).body.invariant as { holds: boolean; compared_at: string }
    const created = await invariant()
    expect(created).toMatchObject({ holds: true, total: 7, available: 7, held: 0, sold: 0 })
    expect(Math.abs(Date.parse(created.compared_at) - Date.now())).toBeLessThan(2_000)
    await client.hset(`{${sale}:one:0}:stock`, 'available', 9)
    expect(await invariant()).toMatchObject({ holds: false, available: 7 })
    await client.del(`{${sale}:one:0}:stock`)
    expect(await invariant()).toMatchObject({ holds: true, compared_at: null })
    await api.admin('POST', `/sales/${sale}/reconcile`)
    const repaired = await invariant()
    expect(repaired.holds).toBe(true)
    expect(repaired.compared_at > created.compared_at).toBe(true)
  })
})
