/** The operators' API: create and steer sales, read their state, export and fulfil orders. */
import { type Context, Hono } from 'hono'
import type { Logger } from 'pino'
import * as v from 'valibot'
import { roomName, roomsOf } from '../../shared/api/access.ts'
import { AdmissionChange, MAX_UNITS, OversellPolicy, Restock, SaleConfig } from '../../shared/api/operator.ts'
import { ID_FORM, OrderId, ProductId, SaleId } from '../../shared/api/public.ts'
import { parse } from '../../shared/parse.ts'
import { invalidField, problem } from '../../shared/problem.ts'
import type { Sql } from '../ledger/connection.ts'
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
import { orderAt } from '../orders/order-json.ts'
import type { Orders } from '../orders/orders.ts'
import type { Arrivals } from '../sales/arrivals.ts'
import type { Blocks } from '../sales/blocks.ts'
import type { EdgeNotifier } from '../sales/edge-notifier.ts'
import type { Invitations } from '../sales/invitations.ts'
import type { QueueReports } from '../sales/queue-reports.ts'
import { available, describeSale, phaseOf } from '../sales/sale-state.ts'
import type { Sales } from '../sales/sales.ts'
import type { Reconciler } from '../stock/reconciler.ts'
import { blockRoutes, ruleRoutes } from './access.ts'
import { exportOrders } from './export.ts'
import type { HealthOf } from './internal.ts'
import { invitationRoutes } from './invitations.ts'
import { keyOf, readBody, refuse, requireSecret } from './request.ts'

/** How an oversell should be resolved, in the query. */
const Decision = v.object({ oversell: v.optional(OversellPolicy) })

interface OperatorDeps {
  readonly config: { readonly ADMIN_TOKEN: string }
  readonly sql: Sql
  readonly sales: Sales
  readonly reconciler: Pick<Reconciler, 'reconcileSale' | 'agrees'>
  readonly blocks: Pick<Blocks, 'refresh'>
  readonly invitations: Pick<Invitations, 'sign'>
  readonly orders: Pick<Orders, 'fulfil' | 'takeFrom'>
  readonly arrivals: Pick<Arrivals, 'counts'>
  readonly queueReports: Pick<QueueReports, 'latest'>
  readonly edge: Pick<EdgeNotifier, 'notify'>
  readonly healthOf: HealthOf
  readonly log: Logger
}

export function operatorRoutes(deps: OperatorDeps): Hono {
  const { sql, sales, orders, reconciler, log } = deps
  const app = new Hono()
  app.use('*', requireSecret(deps.config.ADMIN_TOKEN))
  app.use('/sales/:sale/*', async (c, next) => {
    const saleId = c.req.param('sale')
    if (!v.is(SaleId, saleId)) refuse(problem('unknown-sale', { detail: `A sale's name has ${ID_FORM}.` }))
    await freshen(c)
    if (c.req.method !== 'PUT') await known(saleId)
    return next()
  })

  app.put('/sales/:sale', async (c) => {
    const saleId = c.req.param('sale')
    const wanted = await readBody(c, SaleConfig)
    const { pre_queue_opens_at: lobby, opens_at } = wanted
    // A sale that is open already may be sent back as it was read, even if it was opened before its lobby.
    if (lobby !== null && lobby > opens_at && Date.parse(opens_at) > sales.nowMs())
      refuse(invalidField('pre_queue_opens_at', 'must not be after opens_at'))
    const written = await writeSale(sql, saleId, wanted)
    await rebuildGates(saleId)
    return c.json(await publish(saleId), written === 'created' ? 201 : 200)
  })

  // Sales in use; one that is long over is read by its name.
  app.get('/sales', async (c) => {
    await freshen(c)
    return c.json({ sales: await Promise.all(sales.inUse().map(inspect)) })
  })

  app.get('/sales/:sale', async (c) => c.json(await inspect(await known(c.req.param('sale')))))

  for (const [name, flip] of Object.entries(switches)) {
    app.post(`/sales/:sale/${name}`, async (c) => {
      const saleId = c.req.param('sale')
      const sale = await known(saleId)
      if (name !== 'end' && phaseOf(sale, sales.nowMs()) === 'ended') {
        refuseEnded(sale)
        const endsAt = sale.ends_at?.toISOString()
        conflict(`The sale ended at its ends_at, ${endsAt}: PUT it with a later one first.`)
      }
      await flip(sql, saleId)
      return c.json(await publish(saleId))
    })
  }

  app.patch('/sales/:sale/admission', async (c) => {
    const saleId = c.req.param('sale')
    const { rate_per_second } = await readBody(c, AdmissionChange)
    refuseEnded(await known(saleId))
    await setRate(sql, saleId, rate_per_second)
    return c.json(await publish(saleId))
  })

  app.post('/sales/:sale/products/:product/restock', async (c) => {
    const { sale: saleId, product } = c.req.param()
    // The key is optional; without one, a client that got no response must look before it sends the call again.
    const key = c.req.header('idempotency-key') === undefined ? null : keyOf(c)
    const { quantity } = await readBody(c, Restock)
    const { products } = await known(saleId)
    if (!v.is(ProductId, product) || !products.some((p) => p.product_id === product))
      return refuse(problem('unknown-product'))
    const result = await restock(sql, saleId, product, { quantity, key, max: MAX_UNITS })
    if (result === 'replay') c.header('Idempotency-Replayed', 'true')
    // Also for a replay: the process that added the units may have died before its rebuild.
    await rebuildGates(saleId)
    return c.json(await publish(saleId))
  })

  app.post('/sales/:sale/reconcile', async (c) => {
    const saleId = c.req.param('sale')
    // Where the policy leaves an oversell to a person, this is how they decide.
    const { oversell } = parse(Decision, c.req.query())
    const reconciled = await reconciler.reconcileSale(saleId, { recount: true, oversell })
    await publish(saleId)
    return c.json(reconciled)
  })

  app.get('/sales/:sale/findings', async (c) => c.json(await readFindings(sql, c.req.param('sale'))))

  // Findings without a sale, such as a charge for an unknown order.
  app.get('/findings', async (c) => c.json(await readFindings(sql, NO_SALE)))

  app.get('/sales/:sale/orders', (c) => exportOrders(sql, c, c.req.param('sale')))

  app.post('/sales/:sale/orders/:order/fulfil', async (c) => {
    const { sale: saleId, order: orderId } = c.req.param()
    const found = v.is(OrderId, orderId) ? await findOrder(sql, orderId) : undefined
    if (found?.sale_id !== saleId) return refuse(problem('unknown-order'))
    const fulfilled = await orders.fulfil(orderId)
    if (fulfilled) return c.json(orderAt(fulfilled, sales.nowMs()))
    const now = await findOrder(sql, orderId)
    return conflict(`The order is ${now?.status}: only a confirmed one can be fulfilled.`)
  })

  const saleIds = () => sales.inUse().map(({ sale_id }) => sale_id)
  const notify = ({ sale_id, lines }: SaleRow) => {
    for (const room of roomsOf(sale_id, lines)) deps.edge.notify(room)
  }
  const notifyAll = () => {
    for (const sale of sales.inUse()) notify(sale)
  }
  app.route('/sales/:sale/rules', ruleRoutes({ sql, find: known, changed: publish }))
  const nowMs = () => sales.nowMs()
  app.route('/sales/:sale/invitations', invitationRoutes({ sql, invitations: deps.invitations, find: known, nowMs }))
  app.route('/blocks', blockRoutes({ sql, blocks: deps.blocks, orders, saleIds, changed: notifyAll }))

  /** Another origin may have changed a sale a moment ago. Without the ledger, reads show what is in memory. */
  async function freshen({ req }: Context): Promise<void> {
    if (req.method !== 'GET' || !sales.isLedgerUnresponsive()) await sales.refresh()
  }

  async function known(saleId: string): Promise<SaleRow> {
    return (await sales.find(saleId)) ?? refuse(problem('unknown-sale'))
  }

  /** A failure is only logged: the ledger has the change, and "try again" would restock twice. */
  async function rebuildGates(saleId: string) {
    try {
      await reconciler.reconcileSale(saleId, { force: true })
    } catch (error) {
      log.warn({ sale: saleId, error: String(error) }, 'gate rebuild left to the reconciler')
    }
  }

  /** After a change: this process and the edge learn of it at once, other origins within REFRESH_MS. */
  async function publish(saleId: string) {
    await sales.refresh()
    const sale = await known(saleId)
    notify(sale)
    return inspect(sale)
  }

  /** A line's own figures. */
  function lineNow(saleId: string, line: string) {
    const room = roomName(saleId, line)
    const report = deps.queueReports.latest(room)
    return {
      line,
      arrivals: deps.arrivals.counts(room).arrivals,
      numbers_given: report?.numbers_given ?? null,
      called: report?.called ?? null,
      waiting: report?.waiting ?? null,
      wait_seconds: report?.wait_seconds ?? null,
      called_per_second: report?.called_per_second ?? null,
      boost: report?.boost ?? null,
      throttle: report?.throttle ?? null,
    }
  }

  async function inspect(sale: SaleRow) {
    const agrees = await reconciler.agrees(sale)
    const lines = sale.lines.map(({ line }) => lineNow(sale.sale_id, line))
    const [first] = lines
    const nowMs = sales.nowMs()
    const sum = (of: (p: ProductRow) => number) => sale.products.reduce((units, p) => units + of(p), 0)
    const [total, held, sold] = [sum((p) => p.total), sum((p) => p.held), sum((p) => p.sold)]
    return {
      ...describeSale(sale, nowMs),
      ended_at: sale.ended_at?.toISOString() ?? null,
      paused: sale.paused,
      access: sale.access,
      lines: sale.lines,
      oversell_policy: sale.oversell_policy,
      invariant: {
        total,
        available: sum(available),
        held,
        sold,
        // Where they cannot be compared, by the ledger's own counters.
        holds: agrees ?? held + sold <= total,
        compared_at: agrees === null ? null : new Date(nowMs).toISOString(),
      },
      rates: {
        admission_per_second: sale.rate_per_second,
        called_per_second: together(lines, 'called_per_second'),
        boost: first?.boost ?? null,
        throttle: first?.throttle ?? null,
      },
      queue: {
        ...deps.arrivals.counts(sale.sale_id),
        arrivals: together(lines, 'arrivals') ?? 0,
        numbers_given: together(lines, 'numbers_given'),
        called: together(lines, 'called'),
        waiting: together(lines, 'waiting'),
        wait_seconds: longest(lines),
        lines,
      },
      health: deps.healthOf(sale.sale_id),
      server_time: new Date(nowMs).toISOString(),
    }
  }

  return app
}

type Figures = Readonly<
  Record<'arrivals' | 'numbers_given' | 'called' | 'waiting' | 'wait_seconds' | 'called_per_second', number | null>
>

/** The sum over all lines; null if none has reported. */
function together(lines: readonly Figures[], of: keyof Figures): number | null {
  const known = lines.flatMap((line) => line[of] ?? [])
  return known.length === 0 ? null : known.reduce((sum, one) => sum + one)
}

function longest(lines: readonly Figures[]): number | null {
  const waits = lines.flatMap(({ wait_seconds }) => wait_seconds ?? [])
  return waits.length === 0 ? null : Math.max(...waits)
}

/** A call that would change nothing must not look as if it had. */
function refuseEnded({ ended_at }: SaleRow): void {
  if (ended_at !== null) conflict(ENDED_FOR_GOOD)
}

const conflict = (detail: string) => refuse(problem('conflict', { detail }))
