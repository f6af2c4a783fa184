/** Routes with which operators create, control and read sales. */
import { type Context, Hono } from 'hono'
import type { Logger } from 'pino'
import * as v from 'valibot'
import { ProductId } from '../../shared/api/fields.ts'
import { AdmissionChange, PauseRequest, Restock } from '../../shared/api/operators/requests.ts'
import { MAX_UNITS, OversellPolicy, SaleConfig } from '../../shared/api/operators/sale-config.ts'
import { invalidField, problem } from '../../shared/problem.ts'
import type { Config } from '../base/config.ts'
import { countOpenFindings } from '../findings/finding-queries.ts'
import type { DownloadOptions } from '../images/download.ts'
import type { Images } from '../images/images.ts'
import { hasPicturesElsewhere, withPictures } from '../images/sale-pictures.ts'
import { audit } from '../ledger/audit.ts'
import type { Sql } from '../ledger/connection.ts'
import type { SaleRow } from '../ledger/sale-row.ts'
import { etagOf, jsonBody, optionalIdempotencyKey, query, refuse, versionFor } from '../lib/http/request.ts'
import { operatorOf } from '../operators/operator-auth.ts'
import type { ChangeNotes } from '../sales/change-notes.ts'
import { restock } from '../sales/restock.ts'
import { ENDED_FOR_GOOD, pauseSale, readVersion, setRate, switches, writeSale } from '../sales/sale-queries.ts'
import { phaseOf } from '../sales/sale-state.ts'
import type { Reconciler } from '../stock/reconciler.ts'
import type { AdminSales } from './admin-sales.ts'

/** The limit fits a sale of a hundred products with descriptions in six languages. */
export const MAX_SALE_BYTES = 1024 * 1024

/** The query says how an oversell should be resolved. */
const Decision = v.object({ oversell: v.optional(OversellPolicy) })

interface SaleDeps {
  readonly config: Pick<Config, 'SMTP_URL' | 'PAYMENT_SECRET'>
  readonly sql: Sql
  readonly images: Images
  readonly downloads: DownloadOptions
  readonly sales: AdminSales
  readonly notes: Pick<ChangeNotes, 'make'>
  readonly reconciler: Pick<Reconciler, 'reconcileSale'>
  readonly log: Logger
}

export function saleRoutes({ config, sql, images, downloads, sales, notes, reconciler, log }: SaleDeps) {
  /** Throws for a sale that is over, because no switch can restart it. */
  async function requireRunning(saleId: string) {
    const sale = await sales.find(saleId)
    if (phaseOf(sale, sales.nowMs()) !== 'ended') return
    refuseEnded(sale)
    conflict(`The sale ended at its ends_at, ${sale.ends_at?.toISOString()}: PUT it with a later one first.`)
  }

  /** A failure is only logged. The ledger has the change, and a "try again" would restock twice. */
  async function rebuildGates(saleId: string) {
    try {
      await reconciler.reconcileSale(saleId, { force: true })
    } catch (error) {
      log.warn({ sale: saleId, error: String(error) }, 'gate rebuild left to the reconciler')
    }
  }

  async function flip(c: Context, name: keyof typeof switches, saleId: string) {
    if (name !== 'end') await requireRunning(saleId)
    await switches[name](sql, saleId, operatorOf(c))
    return c.json(await sales.publish(saleId))
  }

  /** Answers 202 for a change that is noted, since the ledger is away. */
  async function steer(c: Context, ...[change, write]: Parameters<typeof notes.make>) {
    const made = await notes.make(change, write)
    if ('noted' in made) return c.json(await sales.publishNoted(change.sale), 202)
    return c.json(await sales.publish(change.sale))
  }

  return (
    new Hono()
      .put('/sales/:sale', jsonBody(SaleConfig, MAX_SALE_BYTES), async (c) => {
        const saleId = c.req.param('sale')
        const requested = c.req.valid('json')
        const { pre_queue_opens_at: lobby, opens_at } = requested
        // A sale that is already open may be sent back as it was read, even if it was opened before its lobby.
        if (lobby !== null && lobby > opens_at && Date.parse(opens_at) > sales.nowMs())
          refuse(invalidField('pre_queue_opens_at', 'must not be after opens_at'))
        if (requested.payment === 'handover' && config.PAYMENT_SECRET === undefined)
          refuse(invalidField('payment', 'handover needs PAYMENT_SECRET, by which the shop says what it sold'))
        // Fetching takes long, and what another operator saves meanwhile is newer than this request.
        const isSlow = hasPicturesElsewhere(requested)
        const before = isSlow ? await readVersion(sql, saleId) : null
        const written = await writeSale(sql, saleId, await withPictures(requested, images, downloads), operatorOf(c), {
          onlyNew: c.req.header('if-none-match') === '*' || (isSlow && before === null),
          version: versionFor(c) ?? before,
        })
        if (requested.contact.email !== 'off' && config.SMTP_URL === undefined)
          log.warn({ sale: saleId }, 'buyers are asked for an e-mail address, and get no mail without SMTP_URL')
        await rebuildGates(saleId)
        const state = await sales.publish(saleId)
        c.header('ETag', etagOf(state.version))
        return c.json(state, written === 'created' ? 201 : 200)
      })

      // The list contains the sales in use; one that ended long ago is read by its id.
      .get('/sales', async (c) => {
        const states = await sales.list()
        const findings = sales.isLedgerUnresponsive() ? {} : await countOpenFindings(sql)
        return c.json({ sales: states, findings })
      })

      .get('/sales/:sale', async (c) => {
        const state = await sales.inspectVersion(await sales.find(c.req.param('sale')))
        c.header('ETag', etagOf(state.version))
        return c.json(state)
      })

      .post('/sales/:sale/pause', jsonBody(PauseRequest), async (c) => {
        const saleId = c.req.param('sale')
        const { reason = null } = c.req.valid('json')
        await requireRunning(saleId)
        const operator = operatorOf(c)
        const change = { action: 'pause', sale: saleId, operator, ...(reason && { reason }) } as const
        return steer(c, change, (audited) => pauseSale(sql, saleId, reason, operator, audited))
      })

      .post('/sales/:sale/open', (c) => flip(c, 'open', c.req.param('sale')))
      .post('/sales/:sale/resume', async (c) => {
        const saleId = c.req.param('sale')
        await requireRunning(saleId)
        const operator = operatorOf(c)
        const change = { action: 'resume', sale: saleId, operator } as const
        return steer(c, change, (audited) => switches.resume(sql, saleId, operator, audited))
      })
      .post('/sales/:sale/end', (c) => flip(c, 'end', c.req.param('sale')))

      .patch('/sales/:sale/admission', jsonBody(AdmissionChange), async (c) => {
        const saleId = c.req.param('sale')
        refuseEnded(await sales.find(saleId))
        await setRate(sql, saleId, c.req.valid('json').rate_per_second, operatorOf(c))
        return c.json(await sales.publish(saleId))
      })

      .post('/sales/:sale/products/:product/restock', jsonBody(Restock), async (c) => {
        const { sale: saleId, product } = c.req.param()
        const key = optionalIdempotencyKey(c)
        const { quantity } = c.req.valid('json')
        const { products } = await sales.find(saleId)
        if (!v.is(ProductId, product) || !products.some((p) => p.product_id === product))
          return refuse(problem('unknown-product'))
        const result = await restock(sql, saleId, product, { quantity, key, max: MAX_UNITS, operator: operatorOf(c) })
        if (result === 'replay') c.header('Idempotency-Replayed', 'true')
        // The gates are rebuilt for a repeated call as well, because the process that added the units may have died
        // before its rebuild.
        await rebuildGates(saleId)
        return c.json(await sales.publish(saleId))
      })

      .post('/sales/:sale/reconcile', query(Decision), async (c) => {
        const saleId = c.req.param('sale')
        // If the policy leaves an oversell to an operator, this call contains the decision.
        const { oversell } = c.req.valid('query')
        const operator = operatorOf(c)
        const decision = oversell && { policy: oversell, operator }
        const reconciled = await reconciler.reconcileSale(saleId, { recount: true, ...(decision && { decision }) })
        const findings = reconciled.findings.map(({ product_id, recount }) => ({ product_id, recount }))
        const after = { oversell: oversell ?? null, findings }
        await audit(sql, [{ actor: operator, action: 'reconciled', sale: saleId, after }])
        await sales.publish(saleId)
        return c.json(reconciled)
      })
  )
}

/** A call without effect is refused, so that it does not look successful. */
function refuseEnded({ ended_at }: SaleRow): void {
  if (ended_at !== null) conflict(ENDED_FOR_GOOD)
}

const conflict = (detail: string) => refuse(problem('conflict', { detail }))
