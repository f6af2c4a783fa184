/** Operators create, steer and read sales. */
import { Hono } from 'hono'
import type { Logger } from 'pino'
import * as v from 'valibot'
import {
  AdmissionChange,
  MAX_UNITS,
  OversellPolicy,
  PauseRequest,
  Restock,
  SaleConfig,
} from '../../shared/api/operator.ts'
import { ProductId } from '../../shared/api/public.ts'
import { parse } from '../../shared/parse.ts'
import { invalidField, problem } from '../../shared/problem.ts'
import type { Config } from '../config.ts'
import { countOpenFindings } from '../findings/finding-queries.ts'
import type { Sql } from '../ledger/connection.ts'
import { keyOf, operatorOf, readBody, refuse } from '../lib/request.ts'
import { audit } from '../operators/audit.ts'
import { saleReport } from '../report/sale-report.ts'
import type { Reconciler } from '../stock/reconciler.ts'
import type { State } from './inspect-sale.ts'
import { ENDED_FOR_GOOD, pauseSale, restock, setRate, switches, writeSale } from './sale-queries.ts'
import type { SaleRow } from './sale-row.ts'
import { phaseOf } from './sale-state.ts'
import type { Sales } from './sales.ts'

/** How an oversell should be resolved, in the query. */
const Decision = v.object({ oversell: v.optional(OversellPolicy) })

interface SaleDeps {
  readonly config: Pick<Config, 'SMTP_URL' | 'EDGE_TOKEN' | 'EDGE_URL'>
  readonly sql: Sql
  readonly sales: Sales
  readonly reconciler: Pick<Reconciler, 'reconcileSale'>
  readonly log: Logger
  /** The sale of this name; throws for an unknown one. */
  readonly find: (saleId: string) => Promise<SaleRow>
  readonly inspect: (sale: SaleRow) => Promise<State>
  /** After a change: notifies the edge, and returns the sale's state. */
  readonly publish: (saleId: string) => Promise<State>
}

/** Below `/sales`. */
export function saleRoutes({ config, sql, sales, reconciler, log, find, inspect, publish }: SaleDeps): Hono {
  const app = new Hono()

  app.put('/:sale', async (c) => {
    const saleId = c.req.param('sale')
    const wanted = await readBody(c, SaleConfig)
    const { pre_queue_opens_at: lobby, opens_at } = wanted
    // A sale that is open already may be sent back as it was read, even if it was opened before its lobby.
    if (lobby !== null && lobby > opens_at && Date.parse(opens_at) > sales.nowMs())
      refuse(invalidField('pre_queue_opens_at', 'must not be after opens_at'))
    const written = await writeSale(sql, saleId, wanted, operatorOf(c), {
      onlyNew: c.req.header('if-none-match') === '*',
    })
    if (wanted.contact.email !== 'off' && config.SMTP_URL === undefined)
      log.warn({ sale: saleId }, 'buyers are asked for an e-mail address, and get no mail without SMTP_URL')
    await rebuildGates(saleId)
    return c.json(await publish(saleId), written === 'created' ? 201 : 200)
  })

  // Sales in use; one that is long over is read by its name.
  app.get('/', async (c) => {
    // Without the ledger, the list still shows, as this process last knew it.
    if (!sales.isLedgerUnresponsive()) await sales.refresh()
    const findings = sales.isLedgerUnresponsive() ? {} : await countOpenFindings(sql)
    return c.json({ sales: await Promise.all(sales.inUse().map(inspect)), findings })
  })

  app.get('/:sale', async (c) => c.json(await inspect(await find(c.req.param('sale')))))

  /** Throws for a sale that is over, which no switch brings back. */
  async function requireRunning(saleId: string) {
    const sale = await find(saleId)
    if (phaseOf(sale, sales.nowMs()) !== 'ended') return
    refuseEnded(sale)
    conflict(`The sale ended at its ends_at, ${sale.ends_at?.toISOString()}: PUT it with a later one first.`)
  }

  app.post('/:sale/pause', async (c) => {
    const saleId = c.req.param('sale')
    const { reason = null } = await readBody(c, PauseRequest)
    await requireRunning(saleId)
    await pauseSale(sql, saleId, reason, operatorOf(c))
    return c.json(await publish(saleId))
  })

  for (const [name, flip] of Object.entries(switches)) {
    app.post(`/:sale/${name}`, async (c) => {
      const saleId = c.req.param('sale')
      if (name !== 'end') await requireRunning(saleId)
      await flip(sql, saleId, operatorOf(c))
      return c.json(await publish(saleId))
    })
  }

  app.patch('/:sale/admission', async (c) => {
    const saleId = c.req.param('sale')
    const { rate_per_second } = await readBody(c, AdmissionChange)
    refuseEnded(await find(saleId))
    await setRate(sql, saleId, rate_per_second, operatorOf(c))
    return c.json(await publish(saleId))
  })

  app.post('/:sale/products/:product/restock', async (c) => {
    const { sale: saleId, product } = c.req.param()
    // The key is optional; without one, a client that got no response must look before it sends the call again.
    const key = c.req.header('idempotency-key') === undefined ? null : keyOf(c)
    const { quantity } = await readBody(c, Restock)
    const { products } = await find(saleId)
    if (!v.is(ProductId, product) || !products.some((p) => p.product_id === product))
      return refuse(problem('unknown-product'))
    const result = await restock(sql, saleId, product, { quantity, key, max: MAX_UNITS, operator: operatorOf(c) })
    if (result === 'replay') c.header('Idempotency-Replayed', 'true')
    // Also for a replay: the process that added the units may have died before its rebuild.
    await rebuildGates(saleId)
    return c.json(await publish(saleId))
  })

  app.post('/:sale/reconcile', async (c) => {
    const saleId = c.req.param('sale')
    // Where the policy leaves an oversell to a person, this is how they decide.
    const { oversell } = parse(Decision, c.req.query())
    const operator = operatorOf(c)
    const decision = oversell && { policy: oversell, operator }
    const reconciled = await reconciler.reconcileSale(saleId, { recount: true, ...(decision && { decision }) })
    const findings = reconciled.findings.map(({ product_id, recount }) => ({ product_id, recount }))
    const after = { oversell: oversell ?? null, findings }
    await audit(sql, [{ actor: operator, action: 'reconciled', sale: saleId, after }])
    await publish(saleId)
    return c.json(reconciled)
  })

  app.get('/:sale/report', async (c) =>
    c.json(await saleReport({ sql, config, nowMs: () => sales.nowMs() }, await find(c.req.param('sale')))),
  )

  /** A failure is only logged: the ledger has the change, and "try again" would restock twice. */
  async function rebuildGates(saleId: string) {
    try {
      await reconciler.reconcileSale(saleId, { force: true })
    } catch (error) {
      log.warn({ sale: saleId, error: String(error) }, 'gate rebuild left to the reconciler')
    }
  }

  return app
}

/** A call that would change nothing must not look as if it had. */
function refuseEnded({ ended_at }: SaleRow): void {
  if (ended_at !== null) conflict(ENDED_FOR_GOOD)
}

const conflict = (detail: string) => refuse(problem('conflict', { detail }))
