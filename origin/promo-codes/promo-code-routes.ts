/**
 * The operators' calls for promo codes: import the whole list of a sale, all of it or nothing, and read how often
 * each code is used.
 */
import { type Context, Hono } from 'hono'
import type { Logger } from 'pino'
import type { PromoCode } from '../../shared/api/goods.ts'
import { problem } from '../../shared/problem.ts'
import type { Sql } from '../ledger/connection.ts'
import { chunksOf, etagOf, headerOf, readText, refuse, versionFor } from '../lib/http/request.ts'
import { operatorOf } from '../operators/operator-auth.ts'
import type { OperatedSales } from '../sales/sales.ts'
import type { Reconciler } from '../stock/reconciler.ts'
import { requirePayable } from './promo-code.ts'
import { readPromoCodes, versionOfCodes, writePromoCodes } from './promo-code-queries.ts'
import { checkCsv, codesInCsv, codesInJson } from './promo-code-table.ts'

/** The limit fits ten thousand codes of four hundred bytes. */
const MAX_BYTES = 4 * 1024 * 1024

interface PromoCodeDeps {
  readonly sql: Sql
  readonly sales: Pick<OperatedSales, 'find' | 'publish'>
  readonly reconciler: Pick<Reconciler, 'reconcileSale'>
  readonly log: Logger
}

export function promoCodeRoutes({ sql, sales, reconciler, log }: PromoCodeDeps) {
  const sendCodes = async (c: Context, sale: string) => {
    c.header('ETag', etagOf(await versionOfCodes(sql, sale)))
    return c.json({ sale, codes: await readPromoCodes(sql, sale) })
  }
  return (
    new Hono()
      .get('/sales/:sale/promo-codes', (c) => sendCodes(c, c.req.param('sale')))

      // Says what an import would understand, and changes nothing.
      .post('/sales/:sale/promo-codes/check', async (c) => {
        if (!/^text\/csv\b/i.test(headerOf(c, 'content-type') ?? ''))
          refuse(problem('unsupported-media-type', { detail: 'Send text/csv.' }))
        const { products } = await sales.find(c.req.param('sale'))
        const check = await checkCsv(chunksOf(c, MAX_BYTES))
        requirePayable(
          check.understood.map(({ code }) => code),
          products,
        )
        return c.json(check)
      })

      .put('/sales/:sale/promo-codes', async (c) => {
        const saleId = c.req.param('sale')
        // `requireSale` lets a PUT through, since it may create the sale.
        const { products } = await sales.find(saleId)
        const codes = await codesIn(c)
        requirePayable(codes, products)
        await writePromoCodes(sql, saleId, codes, operatorOf(c), versionFor(c))
        // The gate needs the new uses. A failure is only logged, because the ledger has the change.
        await reconciler
          .reconcileSale(saleId, { force: true })
          .catch((error) => log.warn({ sale: saleId, error: String(error) }, 'gate rebuild left to the reconciler'))
        await sales.publish(saleId)
        return sendCodes(c, saleId)
      })
  )
}

async function codesIn(c: Context): Promise<PromoCode[]> {
  // A body without a type is of none that is read.
  const type = headerOf(c, 'content-type') ?? ''
  if (/^text\/csv\b/i.test(type)) return codesInCsv(chunksOf(c, MAX_BYTES))
  if (/^application\/json\b/i.test(type)) return codesInJson(await readText(c, MAX_BYTES))
  return refuse(problem('unsupported-media-type', { detail: 'Send text/csv or application/json.' }))
}
