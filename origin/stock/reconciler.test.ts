import { createHash, randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { addHall } from '../../test/lib/hall.ts'
import { type TestOrigin, useOrigin, useOwnOrigin } from '../../test/lib/origin-process.ts'
import { reservationOf, saleOf } from '../../test/lib/samples.ts'
import { useDatabase, useRedis } from '../../test/lib/servers.ts'
import { writeSale } from '../sales/sale-queries.ts'
import { Gate } from './gate/gate.ts'
import type { Finding } from './reconciler.ts'
import { defineScripts, type Store } from './scripts.ts'

const origin = useOrigin()
let redis: Redis
beforeAll(() => {
  redis = new Redis(origin.redisUrl())
})
afterAll(() => redis.disconnect())

const becomes = (read: () => Promise<unknown>, expected: object) => expect.poll(read).toMatchObject(expected)

interface Found {
  findings: { kind: string; closed_at: string | null; detail: object }[]
  changes: { action: string; order_id: string | null }[]
}
const findings = async (sale: string, at: TestOrigin = origin) =>
  (await at.admin('GET', `/sales/${sale}/findings`)).body as unknown as Found
/** What the reconciler found now, of each product. */
const reconcile = async (sale: string, query = '', at: TestOrigin = origin) =>
  (await at.admin('POST', `/sales/${sale}/reconcile${query}`)).body.findings as Finding[]

/** Sells `sold` units to one buyer, and then `more` to others that no gate would have let through. */
async function oversold(
  { total, sold, more }: { total: number; sold: number; more: number },
  oversell_policy = 'alarm',
  /** How far the payment of those got. */
  paid: 'authorized' | 'captured' = 'captured',
) {
  const sale = await origin.sale({ total, oversell_policy, limit_per_visitor: sold })
  await origin.checkoutDecided(sale, { body: { quantity: sold, payment_method: 'pm_ok' } })
  await becomes(() => origin.stock(sale), { sold })
  const ids = Array.from({ length: more }, () => randomUUID())
  await origin.sql()`
    insert into orders (order_id, number, sale_id, product_id, visitor, ticket_number, quantity, unit_price_minor,
      currency, status, idempotency_key, request_hash, reserved_until, charge_id, created_at)
    select id, (next_order_numbers(1))[1], ${sale}, 'one', id::text, 1, 1, 1000, 'EUR', 'confirmed', 'k', 'h', now(),
      'ch_' || id,
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
async function statuses(ids: string[]) {
  const orders = await origin.sql()`select status from orders where order_id = any(${ids}::uuid[])`
  return orders.map(({ status }) => status)
}

describe('the reconciler', () => {
  test('reports a gate that was lost, and not one that was never loaded', async () => {
    const sale = `sale-${randomUUID().slice(0, 8)}`
    const found = () => findings(sale)
    // This is how a worker sees a sale that is being created.
    await writeSale(origin.sql(), sale, saleOf(7))
    await becomes(() => reconcile(sale), [{ found: 'ok' }])
    expect(await found()).toEqual({ findings: [], changes: [] })
    await origin.checkout(sale)
    await redis.del(`{${sale}}:stock`)
    const rebuilt = [{ kind: 'fenced', outcome: 'gate rebuilt from the ledger' }]
    await becomes(found, { findings: rebuilt })
  })

  test('reports an oversell, sells no more, and waits for a person', async () => {
    const { sale, ids } = await oversold({ total: 5, sold: 4, more: 2 })
    expect(await reconcile(sale)).toMatchObject([{ recount: { found: 'oversold', units: 1, healed: false } }])
    expect(await statuses(ids)).toEqual(['confirmed', 'confirmed'])
    expect(await origin.checkout(sale)).toMatchObject({ status: 410 })
    const found = await findings(sale)
    expect(found.findings.filter((f) => f.kind === 'oversold')).toMatchObject([{ units: 1, closed_at: null }])
    const metrics = String((await origin.ops('/metrics')).body.text)
    expect(metrics).toContain(`oversold_units{sale="${sale}",product="one"} 1`)
    // The gate agrees with the ledger by now: there are too many orders.
    expect(await reconcile(sale)).toMatchObject([{ found: 'ok', drift: 0 }])
    const { body } = await origin.admin('GET', `/sales/${sale}`)
    expect(body.invariant).toMatchObject({ holds: false, total: 5, sold: 5 })
  })

  test.each([
    ['refunds them', 'captured', 'refunded'],
    ['voids authorizations', 'authorized', 'cancelled'],
  ] as const)('cancels the latest orders and %s, by policy', async (_, paid, back) => {
    const { sale, ids } = await oversold({ total: 40, sold: 39, more: 3 }, 'cancel_latest', paid)
    const [found] = await reconcile(sale)
    // The worker looks too, and may have been faster.
    if (found?.recount?.found !== 'ok')
      expect(found).toMatchObject({ recount: { found: 'oversold', units: 2, healed: true, outcome: 'cancel_latest' } })
    const rows = () => origin.sql()`
      select status, reason from orders where order_id = any(${ids}::uuid[]) order by created_at`
    const cancelled = { status: 'cancelled', reason: 'oversold' }
    await becomes(rows, [{ status: 'confirmed' }, cancelled, cancelled])
    expect(await origin.stock(sale)).toMatchObject({ total: 40, available: 0, held: 0, sold: 40 })
    const charges = () => origin.sql()`
      select c.status from sandbox.charges c join orders o using (order_id)
      where order_id = any(${ids}::uuid[]) order by o.created_at`
    const expected = [{ status: paid }, { status: back }, { status: back }]
    await becomes(charges, expected)
    const due = await origin.sql()`
      select order_id from captures where order_id = any(${ids}::uuid[]) and captured_at is null`
    expect(due.map((capture) => capture.order_id)).toEqual(paid === 'captured' ? [] : ids.slice(0, 1))
    const { findings: noted, changes } = await findings(sale)
    expect(noted.filter((f) => f.kind === 'capture_failed')).toEqual([])
    expect(noted.find((f) => f.kind === 'oversold')).toMatchObject({ outcome: 'cancelled the latest 2' })
    expect(new Set(changes.map((c) => c.order_id).filter(Boolean))).toEqual(new Set(ids.slice(1)))
    const metrics = String((await origin.ops('/metrics')).body.text)
    const transitions = `order_transitions_total{sale="${sale}",status="cancelled",reason="oversold"}`
    expect(metrics).toContain(`${transitions} 2`)
    expect(metrics).toContain(`oversold_units{sale="${sale}",product="one"} 0`)
  })

  test('cancels the latest orders while a payment of them begins, without a deadlock', async () => {
    const { sale, ids } = await oversold({ total: 5, sold: 5, more: 2 })
    const [first, last] = ids.sort() as [string, string]
    await origin.sql()`update orders set created_at = created_at + interval '1 minute' where order_id = ${last}`
    const { reconciled } = await origin.sql().begin(async (tx) => {
      const lock = (order: string) => tx`select 1 from orders where order_id = ${order} for no key update`
      await lock(first)
      const reconciled = reconcile(sale, '?oversell=cancel_latest')
      const waiting = () => origin.sql()`
        select 1 from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock' and query like '%latest%for no key update%'`
      await becomes(waiting, [{}])
      await lock(last)
      return { reconciled }
    })
    expect(await reconciled).toMatchObject([{ recount: { units: 2, healed: true } }])
    expect(await statuses(ids)).toEqual(['cancelled', 'cancelled'])
  })

  test('leaves a large oversell to a person, and follows the decision', async () => {
    const { sale, ids } = await oversold({ total: 10, sold: 10, more: 3 }, 'cancel_latest')
    expect(await reconcile(sale)).toMatchObject([{ recount: { found: 'oversold', units: 3, healed: false } }])
    expect(await statuses(ids)).toEqual(['confirmed', 'confirmed', 'confirmed'])
    const detail = { waits_for_a_person: 'too many for the policy alone' }
    expect((await findings(sale)).findings.find((f) => f.kind === 'oversold')).toMatchObject({ detail })
    const recount = { healed: true, outcome: 'cancel_latest' }
    expect(await reconcile(sale, '?oversell=cancel_latest')).toMatchObject([{ recount }])
    expect(await origin.stock(sale)).toMatchObject({ total: 10, available: 0, sold: 10 })
  })

  test.each([
    { buffer: 5, left: 2, outcome: 'fulfil_from_buffer' },
    { buffer: 2, left: 0, outcome: 'waiting: the buffer has too few units' },
  ])(
    'serves three orders too many from a buffer of $buffer, and from nothing else',
    async ({ buffer, left, outcome }) => {
      const { sale } = await oversold({ total: 10, sold: 10, more: 3 })
      await origin.sql()`update products set total = total + ${buffer}, buffer = ${buffer} where sale_id = ${sale}`
      const [healed, total] = [buffer >= 3, 10 + buffer]
      const decide = () => reconcile(sale, '?oversell=fulfil_from_buffer')
      expect(await decide()).toMatchObject([{ recount: { units: 3, healed, outcome } }])
      expect(await origin.stock(sale)).toMatchObject({ total, buffer: left, available: 0, sold: total - left })
      const { findings: found, changes } = await findings(sale)
      expect(found.find((f) => f.kind === 'oversold')?.closed_at !== null).toBe(healed)
      const taken = changes.filter((c) => c.action === 'fulfilled from the buffer')
      const entry = { before: expect.objectContaining({ buffer }), after: expect.objectContaining({ buffer: left }) }
      expect(taken).toMatchObject([entry])
      await decide()
      expect(await origin.stock(sale)).toMatchObject({ total, buffer: left, sold: total - left })
    },
  )

  test('sets aside an intent that cannot be recorded, and records the others', async () => {
    const sale = await origin.sale({ total: 5 })
    const unrecorded = `{${sale}}:unrecorded`
    const good = reservationOf(sale)
    const stored = (visitor: string) => `${Date.now()} 1 one k h public 7 queue  ${visitor}`
    await redis.hset(unrecorded, { 'a uuid': 'what is this', 'no uuid': stored('ann'), [good.order]: stored('bob') })
    await expect.poll(() => redis.hlen(unrecorded)).toBe(0)
    expect(await statuses([good.order])).toEqual(['reserved'])
    const { findings: found } = await findings(sale)
    expect(found.filter((f) => f.kind === 'unreadable_intent')).toHaveLength(2)
  })
})

test('a gate rebuilt under load agrees with the ledger: no miscount is found, and no repair is left', async () => {
  const sale = await origin.sale({ total: 100_000, hold_seconds: 1 })
  let selling = true
  let sold = 0
  const buyers = Promise.all(
    Array.from({ length: 12 }, async (_, i) => {
      for (; selling; sold++) await origin.checkout(sale, { body: i % 2 ? { payment_method: 'pm_ok' } : {} })
    }),
  )
  for (let i = 0; i < 4; i++) {
    const before = sold
    await origin.admin('POST', `/sales/${sale}/products/one/restock`, { quantity: 1 })
    await expect.poll(() => sold).toBeGreaterThan(before + 20)
    expect(await reconcile(sale)).toMatchObject([{ recount: { found: 'ok' } }])
  }
  selling = false
  await buyers
  await becomes(() => reconcile(sale), [{ found: 'ok', drift: 0, recount: { found: 'ok' } }])
  const { findings: found, changes } = await findings(sale)
  expect(found).toEqual([])
  expect(changes.filter(({ action }) => action.startsWith('counters'))).toEqual([])
})

describe('an origin without a worker', () => {
  const quiet = useRedis()
  // This test has its own ledger, so that no worker of another origin looks after its sales.
  const own = useDatabase()
  const api = useOwnOrigin(() => ({ databaseUrl: own.url, redisUrl: quiet.url }), { ROLE: 'api' })
  let client: Store
  beforeAll(() => {
    client = defineScripts(new Redis(quiet.url))
  })
  afterAll(() => client.disconnect())

  test('repairs a counter in Redis when it is asked to, and leaves a finding and an audit entry', async () => {
    const sale = await api.sale({ total: 7 })
    await client.hset(`{${sale}}:stock`, 'available one', 9)
    expect(await reconcile(sale, '', api)).toMatchObject([{ found: 'drift', drift: 2, healed: true }])
    expect(await client.hget(`{${sale}}:stock`, 'available one')).toBe('7')
    const outcome = 'gate rebuilt from the ledger'
    expect(await findings(sale, api)).toMatchObject({
      findings: [{ kind: 'drift', units: 2, outcome, closed_at: expect.any(String) }],
      changes: [{ actor: 'reconciler', before: { available: 9 }, after: { available: 7 } }],
    })
  })

  describe('of a hall', () => {
    const OK = { found: 'ok' }
    const bit = (sale: string, seat: number) => client.getbit(`{${sale}}:seats`, seat)
    /** A sale in which somebody holds the seats 3 and 4 and a unit. */
    async function openHall() {
      const sale = await api.sale({ limit_per_visitor: 9 })
      await addHall(api.sql(), sale)
      await reconcile(sale, '', api)
      const lines = [
        { section_id: 'stalls', seats: ['S3', 'S4'] },
        { product_id: 'one', quantity: 1 },
      ]
      expect(await api.checkout(sale, { body: { lines } })).toMatchObject({ status: 201 })
      expect(await reconcile(sale, '', api)).toMatchObject([OK, OK, OK])
      return sale
    }
    const takes = (sale: string, ...seats: string[]) =>
      api.checkout(sale, { body: { lines: [{ section_id: 'stalls', seats }] } })

    test.each([
      ['a taken seat that the gate shows as free', 3, 0],
      ['a free seat that the gate shows as taken', 9, 1],
    ] as const)('finds %s, and leaves a finding', async (_, seat, wrong) => {
      const sale = await openHall()
      await client.setbit(`{${sale}}:seats`, seat, wrong)
      const found = { product_id: 'stalls', found: 'drift', drift: 0, healed: true }
      expect(await reconcile(sale, '', api)).toMatchObject([OK, OK, found])
      expect(await bit(sale, seat)).toBe(1 - wrong)
      const drift = { product_id: 'stalls', detail: { seats: [seat] }, closed_at: expect.any(String) }
      const noted = (await findings(sale, api)).findings.filter(({ kind }) => kind === 'drift')
      expect(noted).toMatchObject([drift])
      expect(await reconcile(sale, '', api)).toMatchObject([OK, OK, OK])
      expect(await takes(sale, `S${seat}`)).toMatchObject({ status: wrong === 0 ? 409 : 201 })
    })

    test('repairs counters of the ledger that are not the sum of its orders', async () => {
      const sale = await openHall()
      await api.sql()`update products set held = 5, sold = 1 where sale_id = ${sale} and product_id <> 'floor'`
      const miscounted = (units: number) => ({ recount: { found: 'miscounted', units, healed: true } })
      expect(await reconcile(sale, '', api)).toMatchObject([miscounted(5), { recount: OK }, miscounted(4)])
      const stock = { 'available one': '9', 'held one': '1', 'available stalls': '10', 'held stalls': '2' }
      expect(await client.hgetall(`{${sale}}:stock`)).toMatchObject(stock)
      const corrected = { before: { held: 5, sold: 1 }, after: { held: 1, sold: 0 } }
      expect((await findings(sale, api)).changes).toContainEqual(expect.objectContaining(corrected))
      expect(await takes(sale, 'S4')).toMatchObject({ status: 409, body: { seats: ['S4'] } })
      expect(await takes(sale, 'S5')).toMatchObject({ status: 201 })
    })

    test('cancels the latest orders of an oversold section, and frees their seats and other units', async () => {
      const sale = await openHall()
      await api.sql()`update products set held = 0, total = 1 where sale_id = ${sale} and product_id = 'stalls'`
      const decided = (await reconcile(sale, '?oversell=cancel_latest', api)).at(2)
      expect(decided).toMatchObject({
        recount: { found: 'oversold', units: 1, healed: true, outcome: 'cancel_latest' },
      })
      expect(await api.sql()`select from seat_claims where sale_id = ${sale}`).toHaveLength(0)
      expect(await api.sql()`select held from products where sale_id = ${sale} order by place`).toEqual(
        Array(3).fill({ held: 0 }),
      )
      expect([await bit(sale, 3), await bit(sale, 4)]).toEqual([0, 0])
      expect(await client.hgetall(`{${sale}}:stock`)).toMatchObject({ 'available one': '10', 'available stalls': '1' })
    })
  })

  test('makes no other order for a key that was promised one, while the gate is fenced', async () => {
    const sale = await api.sale()
    const hash = createHash('sha256').update('[null,1,null]').digest('base64url')
    const promised = { ...reservationOf(sale), hash }
    // A process that dies before it records the order leaves this behind.
    const reserved = new Gate(client, sale).reserve(promised, { holdMs: 90_000, limit: 1, demand: [] })
    expect(await reserved).toMatchObject({ verdict: 'reserved' })
    await client.hset(`{${sale}}:stock`, 'run', 'of a server before')
    const token = await api.token(sale, promised.visitor)
    const again = await api.checkout(sale, { token, key: promised.key })
    expect(again).toMatchObject({ status: 202, body: { order_id: promised.order, status: 'processing' } })
    expect(await api.checkout(sale)).toMatchObject({ status: 201 })
  })

  test('loads the gates from the ledger before it serves', async () => {
    const sale = await api.sale({ total: 7 })
    await client.flushall()
    await api.restart()
    expect(await client.hgetall(`{${sale}}:stock`)).toMatchObject({ 'available one': '7', run: expect.any(String) })
  })

  test('shows with the state of a sale whether gate and ledger agree', async () => {
    const beforeMs = Date.now()
    const sale = await api.sale({ total: 7 })
    const invariant = async () =>
      (await api.admin('GET', `/sales/${sale}`)).body.invariant as { holds: boolean; compared_at: string }
    const created = await invariant()
    expect(created).toMatchObject({ holds: true, total: 7, available: 7, held: 0, sold: 0 })
    expect(Date.parse(created.compared_at)).toBeGreaterThan(beforeMs - 2_000)
    expect(Date.parse(created.compared_at)).toBeLessThan(Date.now() + 2_000)
    await client.hset(`{${sale}}:stock`, 'available one', 9)
    expect(await invariant()).toMatchObject({ holds: false, available: 7 })
    await client.del(`{${sale}}:stock`)
    expect(await invariant()).toMatchObject({ holds: true, compared_at: null })
    await api.admin('POST', `/sales/${sale}/reconcile`)
    const repaired = await invariant()
    expect(repaired).toMatchObject({ holds: true, compared_at: expect.any(String) })
    expect(repaired.compared_at).not.toBe(created.compared_at)
  })
})
