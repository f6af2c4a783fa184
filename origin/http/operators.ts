/** What operators call, and what the edge asks: create and steer sales, read their state. */
import { type Context, Hono } from 'hono'
import * as v from 'valibot'
import type { SaleState } from '../../shared/api/internal.ts'
import { AdmissionChange, MAX_UNITS, OversellPolicy, Restock, SaleConfig } from '../../shared/api/operator.ts'
import { ID_FORM, OrderId, ProductId, SaleId } from '../../shared/api/public.ts'
import { parse } from '../../shared/parse.ts'
import { invalidField, problem } from '../../shared/problem.ts'
import { orderAt, tryAgain } from '../checkout/outcome.ts'
import type { Deps } from '../deps.ts'
import { NO_SALE, readFindings } from '../ledger/findings.ts'
import { findOrder } from '../ledger/orders.ts'
import {
  ENDED_FOR_GOOD,
  type ProductRow,
  restock,
  type SaleRow,
  setRate,
  switches,
  writeSale,
} from '../ledger/sales.ts'
import { available, phaseOf, stateOf } from '../sales/sales.ts'
import { reconcileSale } from '../stock/reconciler.ts'
import { readCompared } from '../stock/reconciliation-status.ts'
import { exportOrders } from './export.ts'
import { keyOf, readBody, refuse, requireSecret } from './request.ts'

/** What an operator may decide about what was sold too many, in the query. */
const Decision = v.object({
  oversell: v.optional(OversellPolicy),
})

export function operatorRoutes(deps: Deps): Hono {
  const { sql, sales, orders, config, log } = deps
  const app = new Hono()
  app.use('*', requireSecret(config.ADMIN_TOKEN))
  app.use('/sales/:sale/*', async (c, next) => {
    const sale = c.req.param('sale')
    if (!v.is(SaleId, sale)) refuse(problem('unknown-sale', { detail: `A sale's name has ${ID_FORM}.` }))
    await freshen(c)
    if (c.req.method !== 'PUT') await known(sale)
    return next()
  })

  app.put('/sales/:sale', async (c) => {
    const sale = c.req.param('sale')
    const wanted = await readBody(c, SaleConfig)
    const { pre_queue_opens_at: lobby, opens_at } = wanted
    // Of one that opens now nobody waits for the lobby: it may be sent back as it was read, however early it was opened.
    if (lobby !== null && lobby > opens_at && Date.parse(opens_at) > sales.nowMs())
      refuseField('pre_queue_opens_at', 'must not be after opens_at')
    const written = await writeSale(sql, sale, wanted)
    if (written.result === 'refused') return refuse(problem('conflict', { detail: written.detail }))
    await rebuildGates(sale)
    return c.json(await told(sale), written.result === 'created' ? 201 : 200)
  })

  // Those in use: one that has long been over is asked for by its name.
  app.get('/sales', async (c) => {
    await freshen(c)
    return c.json({ sales: await Promise.all(sales.inUse().map(inspect)) })
  })

  app.get('/sales/:sale', async (c) => c.json(await inspect(await known(c.req.param('sale')))))

  for (const [name, flip] of Object.entries(switches)) {
    app.post(`/sales/:sale/${name}`, async (c) => {
      const sale = c.req.param('sale')
      const row = await known(sale)
      if (name !== 'end' && phaseOf(row, sales.nowMs()) === 'ended') {
        refuseEnded(row)
        const detail = `The sale was over at its ends_at, ${row.ends_at?.toISOString()}: PUT it with a later one first.`
        return refuse(problem('conflict', { detail }))
      }
      await flip(sql, sale)
      return c.json(await told(sale))
    })
  }

  app.patch('/sales/:sale/admission', async (c) => {
    const sale = c.req.param('sale')
    const { rate_per_second } = await readBody(c, AdmissionChange)
    refuseEnded(await known(sale))
    await setRate(sql, sale, rate_per_second)
    return c.json(await told(sale))
  })

  app.post('/sales/:sale/products/:product/restock', async (c) => {
    const { sale, product } = c.req.param()
    // Who sends none, and hears nothing, has to look before they send it again.
    const key = c.req.header('idempotency-key') === undefined ? null : keyOf(c)
    const { quantity } = await readBody(c, Restock)
    const row = await known(sale)
    const found = v.is(ProductId, product) && row.products.find((p) => p.product_id === product)
    if (!found) return refuse(problem('unknown-product'))
    const result = await restock(sql, sale, product, { quantity, key, max: MAX_UNITS })
    if (result === 'ended') refuse(problem('conflict', { detail: ENDED_FOR_GOOD }))
    if (result === 'refused') refuseField('quantity', `the total would exceed ${MAX_UNITS}`)
    if (result === 'reused') return refuse(problem('idempotency-key-reused'))
    if (result === 'replay') c.header('Idempotency-Replayed', 'true')
    // Also for a replay: the process that added the units may have ended before it came to this.
    await rebuildGates(sale)
    return c.json(await told(sale))
  })

  app.post('/sales/:sale/reconcile', async (c) => {
    const sale = c.req.param('sale')
    // What was sold too many waits for a person where the policy says so: this is how they decide.
    const { oversell } = parse(Decision, c.req.query())
    const reconciled = await reconcileSale(deps, sale, { recount: true, ...(oversell && { oversell }) })
    await told(sale)
    return c.json(reconciled)
  })

  app.get('/sales/:sale/findings', async (c) => c.json(await readFindings(sql, c.req.param('sale'))))

  // Such as a charge for an order that nobody knows.
  app.get('/findings', async (c) => c.json(await readFindings(sql, NO_SALE)))

  app.get('/sales/:sale/orders', (c) => exportOrders(deps, c, c.req.param('sale')))

  app.post('/sales/:sale/orders/:order/fulfil', async (c) => {
    const { sale, order } = c.req.param()
    const found = v.is(OrderId, order) ? await findOrder(sql, order) : undefined
    if (found?.sale_id !== sale) return refuse(problem('unknown-order'))
    const fulfilled = await orders.fulfil(order)
    if (fulfilled) return c.json(orderAt(fulfilled, sales.nowMs()))
    const now = await findOrder(sql, order)
    return refuse(
      problem('conflict', { detail: `The order is ${now?.status}: only a confirmed one can be fulfilled.` }),
    )
  })

  /** Another origin may have made or changed a sale a moment ago; while the ledger is away, what is known can be seen. */
  async function freshen({ req }: Context): Promise<void> {
    if (req.method !== 'GET' || !sales.isSilent()) await sales.refresh()
  }

  async function known(sale: string): Promise<SaleRow> {
    return (await sales.find(sale)) ?? refuse(problem('unknown-sale'))
  }

  /** What the ledger has is done, whether Redis is there or not: "try again" would have more units put in twice. */
  async function rebuildGates(sale: string) {
    await reconcileSale(deps, sale, { force: true }).catch((error) =>
      log.warn({ sale, error: String(error) }, 'the gate was not told; the reconciler will'),
    )
  }

  /** After a change: this process and the edge know of it at once, the others within REFRESH_MS. */
  async function told(sale: string) {
    await sales.refresh()
    deps.tellEdge(sale)
    return inspect(await known(sale))
  }

  async function inspect(sale: SaleRow) {
    const [line, compared] = await Promise.all([
      deps.line.figures(sale.sale_id),
      readCompared(
        deps.redis,
        sale.sale_id,
        sale.products.map((p) => p.product_id),
      ),
    ])
    const nowMs = sales.nowMs()
    const sum = (of: (p: ProductRow) => number) => sale.products.reduce((units, p) => units + of(p), 0)
    const [total, held, sold] = [sum((p) => p.total), sum((p) => p.held), sum((p) => p.sold)]
    return {
      sale: sale.sale_id,
      name: sale.name,
      phase: phaseOf(sale, nowMs),
      opens_at: sale.opens_at.toISOString(),
      pre_queue_opens_at: (sale.pre_queue_opens_at ?? sale.created_at).toISOString(),
      ends_at: sale.ends_at?.toISOString() ?? null,
      ended_at: sale.ended_at?.toISOString() ?? null,
      paused: sale.paused,
      hold_seconds: sale.hold_seconds,
      limit_per_visitor: sale.limit_per_visitor,
      oversell_policy: sale.oversell_policy,
      products: sale.products.map((p) => ({ ...p, available: available(p) })),
      invariant: {
        total,
        available: sum(available),
        held,
        sold,
        // Where nobody has compared it lately, as the ledger's own counters have it.
        holds: compared?.holds ?? held + sold <= total,
        compared_at: compared?.at.toISOString() ?? null,
      },
      admission: { rate_per_second: sale.rate_per_second, max_inside: sale.max_inside },
      rates: {
        admission_per_second: sale.rate_per_second,
        called_per_second: line?.called_per_second ?? null,
        boost: line?.boost ?? null,
        throttle: line?.throttle ?? null,
      },
      queue: {
        ...deps.arrivals.counts(sale.sale_id),
        numbers_given: line?.numbers_given ?? null,
        called: line?.called ?? null,
        waiting: line?.waiting ?? null,
        wait_seconds: line?.wait_seconds ?? null,
        wait_ratio: line?.wait_ratio ?? null,
      },
      health: healthOf(deps, sale.sale_id),
      server_time: new Date(nowMs).toISOString(),
    }
  }

  return app
}

/** What would change nothing is not answered as if it had. */
function refuseEnded({ ended_at }: SaleRow): void {
  if (ended_at !== null) refuse(problem('conflict', { detail: ENDED_FOR_GOOD }))
}

function refuseField(field: string, detail: string): never {
  refuse(invalidField(field, detail))
}

/** For the edge, by a secret of its own that opens nothing else. */
export function internalRoutes(deps: Deps): Hono {
  const { sales, arrivals, line, redis, config } = deps
  const app = new Hono()
  app.use('*', requireSecret(config.EDGE_TOKEN))
  app.get('/sales/:sale', async (c) => {
    const sale = (await sales.find(c.req.param('sale'))) ?? refuse(problem('unknown-sale'))
    line.note(sale, c.req.query())
    const counts = await arrivals.counted(sale.sale_id)
    // Nobody who is called now could be served: told so, the edge pauses the line, and everyone keeps their place. A Redis
    // that is full answers, and takes no orders; by those who arrive it is found out.
    const redisServes = redis.status === 'ready' && counts.counted
    if (sales.isSilent() && !redisServes) refuse(tryAgain('Neither store takes orders.'))
    const people = { ...counts, arrived_lately: arrivals.lately(sale.sale_id) }
    return c.json(stateOf(sale, sales.nowMs(), sales.readAgoMs(), people, healthOf(deps, sale.sale_id)))
  })
  return app
}

/** As the edge is told, and operators see it: slow while too much of it is under way, or the exact gate does not answer. */
const healthOf = ({ loadShedder, sales }: Deps, sale: string): SaleState['health'] =>
  loadShedder.isSlow(sale) || sales.isSilent() ? 'slow' : 'ok'
