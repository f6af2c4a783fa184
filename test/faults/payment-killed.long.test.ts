/**
 * The worker and the shop's payment server are killed in the middle of a call, two hundred times: before the shop acts,
 * after it has acted and before its answer arrives, or with the call arriving when another worker has repeated it. Each
 * sold order has one charge, nobody else has paid, and no unit is lost.
 */
import type { ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { seededRandom } from '../../shared/lib/random.ts'
import { ADMIN_TOKEN, endLeases, useOwnOrigin } from '../lib/origin-process.ts'
import { examplePaymentServer, freePaymentServer, PAYMENT_SECRET } from '../lib/payment-server.ts'
import { seedOf } from '../lib/seed.ts'
import { useDatabase, useRedis } from '../lib/servers.ts'

const KILLS = 200
const WITHIN_MS = 30 * 60_000
const LATE_MS = 1_000
const SIGNED = ['content-type', 'webhook-id', 'webhook-timestamp', 'webhook-signature']
const WHENS = ['before', 'after', 'late'] as const
/** The buyers' methods: half of them pay at once. */
const METHODS = ['pm_ok', 'pm_ok', 'pm_ok', 'pm_slow', 'pm_3ds', 'pm_insufficient_funds']
/** The call in which somebody is killed. A refund has a `state` before it. */
const CALLS = ['authorize', 'authorize', 'capture', 'refund', 'state'] as const

const random = seededRandom(seedOf())
const oneOf = <T>(all: readonly T[]) => all[Math.floor(random() * all.length)] as T

interface Plan {
  readonly call: (typeof CALLS)[number]
  readonly when: (typeof WHENS)[number]
  met(): void
}
/** What happens to the next such call of the worker; null: all pass. */
let plan: Plan | null = null
/** The response that nobody gets: its connection ends with the victim. */
let held: ServerResponse | undefined
const line = await freePaymentServer()
const shop = await examplePaymentServer(() => `${api.url()}/webhooks/payment`)
line.answers(async (request, response, body) => {
  const headers = Object.fromEntries(SIGNED.map((name) => [name, String(request.headers[name])]))
  const forward = () => fetch(shop.url, { method: 'POST', headers, body })
  const now = plan?.call === JSON.parse(body).call ? plan : null
  if (now) plan = null
  try {
    if (now === null) {
      const answer = await forward()
      return response.writeHead(answer.status).end(await answer.text())
    }
    held = response
    if (now.when === 'after') await (await forward()).text()
    now.met()
    if (now.when !== 'late') return
    await sleep(LATE_MS)
    await forward()
  } catch {
    response.destroy()
  }
})
const [database, redis] = [useDatabase(), useRedis()]
const stores = () => ({ databaseUrl: database.url, redisUrl: redis.url })
const env = { PAYMENT_PROVIDER: 'http', PAYMENT_URL: line.url, PAYMENT_SECRET }
const api = useOwnOrigin(stores, { ...env, ROLE: 'api' })
const worker = useOwnOrigin(stores, { ...env, ROLE: 'worker' })
beforeAll(() => shop.server.start())
afterAll(async () => {
  line.stop()
  await shop.server.stop()
})

interface Bought {
  readonly id: string
  readonly method: string
}

async function buy(sale: string, method = oneOf(METHODS)): Promise<Bought> {
  const { body } = await api.checkoutDecided(sale, { body: { payment_method: method } })
  return { id: body.order_id ?? '', method }
}

const refund = ({ id }: Bought) =>
  api.call('POST', `/admin/orders/${id}/refund`, {
    token: ADMIN_TOKEN,
    headers: { 'idempotency-key': id },
    body: { amount_minor: 400 },
  })

/** Kills somebody in the next such call, and starts them again. Returns what was killed when. */
async function killIn(call: Plan['call'], begin: () => Promise<unknown>): Promise<string> {
  const when = oneOf(WHENS)
  const victim = oneOf(['worker', 'shop'])
  const { promise: met, resolve } = Promise.withResolvers<void>()
  plan = { call, when, met: resolve }
  await Promise.all([begin(), met])
  await (victim === 'worker' ? worker.kill() : shop.server.kill())
  held?.destroy()
  await (victim === 'worker' ? worker.restart() : shop.server.start())
  await endLeases(api.sql())
  return `${victim} ${when} ${call}`
}

test('one charge an order, and no unit lost', { timeout: WITHIN_MS }, async () => {
  const total = KILLS + 100
  const sale = await api.sale({ total, hold_seconds: 3_600 })
  const orders: Bought[] = []
  const kills = new Map<string, number>()
  /** The buyers at the shop's page pay there. */
  const decide = async () => {
    for (const { id, method } of orders)
      if (method === 'pm_3ds') await shop.decide(`${shop.url}/checkout/${id}-1`, 'approve').catch(() => {})
  }
  const notRefunded: Bought[] = []
  for (let kill = 0; kill < KILLS; kill++) {
    const call = notRefunded.length > 0 ? oneOf(CALLS) : 'authorize'
    const what = await killIn(call, async () => {
      const paid = call === 'refund' || call === 'state' ? notRefunded.shift() : undefined
      if (paid) {
        const isSold = () => api.sql()`select from orders where order_id = ${paid.id} and status = 'confirmed'`
        await expect.poll(async () => (await isSold()).length).toBe(1)
        return refund(paid)
      }
      const bought = await buy(sale, call === 'capture' ? 'pm_ok' : undefined)
      orders.push(bought)
      if (bought.method === 'pm_ok') notRefunded.push(bought)
    })
    await decide()
    kills.set(what, (kills.get(what) ?? 0) + 1)
  }
  console.log(Object.fromEntries([...kills].sort()))

  await expect
    .poll(
      async () => {
        await decide()
        await api.sql()`update jobs set run_at = now() where run_at > now() and not leased`
        const open = await api.sql()`
        select status::text from orders where sale_id = ${sale} and status = 'paying'
        union all select 'capture' from captures where captured_at is null
        union all select 'refund' from refunds where refunded_at is null`
        return open.length
      },
      { timeout: WITHIN_MS, interval: 500 },
    )
    .toBe(0)

  const rows = await api.sql()<{ id: string; status: string; attempts: number; refunded: number }[]>`
    select order_id as id, status, attempts, refunded_minor::int as refunded from orders where sale_id = ${sale}`
  expect(rows.map(({ id }) => id).sort()).toEqual(orders.map(({ id }) => id).sort())
  let [sold, held, taken] = [0, 0, 0]
  for (const { id, status, attempts, refunded } of rows) {
    const charges = await Promise.all(
      Array.from({ length: Math.max(1, attempts) }, (_, i) => shop.state(`${id}-${i + 1}`)),
    )
    const kept = charges.filter((one) => ['authorized', 'captured'].includes(one.status))
    const isSold = ['confirmed', 'fulfilled'].includes(status)
    expect({ id, status, kept: kept.map((one) => one.status) }).toEqual({
      ...{ id, status, kept: isSold ? ['captured'] : [] },
    })
    const back = kept.flatMap((one) => one.refunds).reduce((sum, one) => sum + one.amount_minor, 0)
    expect({ id, back }).toEqual({ id, back: refunded })
    expect(back === 0 || back === 400).toBe(true)
    if (isSold) [sold, taken] = [sold + 1, taken + 1_000 - back]
    if (status === 'reserved') held++
  }
  const good = orders.filter(({ method }) => method !== 'pm_insufficient_funds').length
  expect({ sold, held }).toEqual({ sold: good, held: orders.length - good })
  expect(await api.stock(sale)).toMatchObject({ total, available: total - sold - held, held, sold })
  const { body } = await api.admin('POST', `/sales/${sale}/reconcile`)
  expect(body).toMatchObject({ findings: [{ found: 'ok', drift: 0, recount: { found: 'ok', units: 0 } }] })
  expect((await api.admin('GET', `/sales/${sale}/findings`)).body.findings).toEqual([])
  console.log(`${sold} sold with one charge each, ${held} held, ${taken / 100} EUR taken, ${KILLS} kills`)
})
