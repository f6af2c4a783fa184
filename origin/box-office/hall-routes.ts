/**
 * The operators' calls about a hall: its sections, seats and focal point, blocks, moves, who has a seat, and the box
 * office.
 */
import { type Context, Hono } from 'hono'
import type { Logger } from 'pino'
import * as v from 'valibot'
import {
  BlockSeats,
  BoxOfficeRequest,
  ChartConfig,
  type HallState,
  MoveRequest,
  PriceSeats,
  ReleaseSeats,
  type SeatOwner,
  SectionConfig,
} from '../../shared/api/operators/hall-admin.ts'
import { isSold, statusOf } from '../../shared/api/order-status.ts'
import { SeatId, SectionId } from '../../shared/api/public.ts'
import { problem, problemIn } from '../../shared/problem.ts'
import type { Checkout } from '../checkout/checkout.ts'
import type { Sql } from '../ledger/connection.ts'
import { idempotencyKey, jsonBody, refuse, requireFuture, sendProblem } from '../lib/http/request.ts'
import { operatorOf } from '../operators/operator-auth.ts'
import { orderAt } from '../orders/order-json.ts'
import { type Orders, requireOrder } from '../orders/orders.ts'
import type { AdminSales } from '../sales-api/admin-sales.ts'
import { chartDocument } from '../seats/chart-document.ts'
import type { Halls } from '../seats/halls.ts'
import type { Gates } from '../stock/gate/gate.ts'
import type { Reconciler } from '../stock/reconciler.ts'
import { sellAtBoxOffice } from './box-office.ts'
import { sectionStates, statesText } from './hall-state.ts'
import { importSeats, previewSeats } from './import-queries.ts'
import {
  blockSeats,
  blocksOf,
  claimStates,
  moveSeat,
  ownerOf,
  priceSeats,
  releaseSeats,
  type SeatsChanged,
  tellGate,
} from './seat-changes.ts'
import { seatHistory } from './seat-history.ts'
import { readSeatTable } from './seat-upload.ts'
import { changeChart, removeSection, unknownSection, writeSection } from './section-queries.ts'

/** Blocks that are listed. */
const MAX_BLOCKS = 200

interface HallDeps {
  readonly sql: Sql
  readonly gates: Gates
  readonly halls: Halls
  readonly sales: AdminSales
  readonly reconciler: Pick<Reconciler, 'reconcileSale'>
  readonly log: Logger
}

export function hallRoutes({ sql, gates, halls, sales, reconciler, log }: HallDeps) {
  /** A failure is only logged, since the ledger has the change. */
  async function publishHall(saleId: string) {
    await reconciler
      .reconcileSale(saleId, { force: true })
      .catch((error) => log.warn({ sale: saleId, error: String(error) }, 'gate rebuild left to the reconciler'))
    await sales.publish(saleId)
  }

  async function sectionJson(saleId: string, sectionId: string) {
    const sections = sectionStates(await sales.find(saleId))
    return sections.find(({ section_id }) => section_id === sectionId) ?? refuse(unknownSection().problem)
  }

  async function hallOf(saleId: string) {
    const sale = await sales.find(saleId)
    const hall = await halls.of(sale)
    return { sale, hall: hall ?? refuse(problem('not-found', { detail: 'The sale has no hall.' })) }
  }

  async function published(
    c: Context,
    saleId: string,
    { changes, count, unchanged }: SeatsChanged,
    isBlocked: boolean,
  ) {
    for (const change of changes) await tellGate({ gates, log }, saleId, change)
    await sales.publish(saleId)
    return c.json({ [isBlocked ? 'blocked' : 'released']: count, unchanged })
  }

  return (
    new Hono()
      .put('/sales/:sale/sections/:section', jsonBody(SectionConfig), async (c) => {
        const [saleId, sectionId] = await sectionIn(c)
        const written = await writeSection(sql, saleId, sectionId, c.req.valid('json'), operatorOf(c))
        await publishHall(saleId)
        return c.json(await sectionJson(saleId, sectionId), written === 'created' ? 201 : 200)
      })

      .delete('/sales/:sale/sections/:section', async (c) => {
        const [saleId, sectionId] = await sectionIn(c)
        await removeSection(sql, saleId, sectionId, operatorOf(c))
        await publishHall(saleId)
        return c.body(null, 204)
      })

      .put('/sales/:sale/chart', jsonBody(ChartConfig), async (c) => {
        const saleId = c.req.param('sale')
        await sales.find(saleId)
        const chart = await changeChart(sql, saleId, c.req.valid('json'), operatorOf(c))
        await sales.publish(saleId)
        return c.json(chart)
      })

      .get('/sales/:sale/chart', async (c) => {
        const { sale, hall } = await hallOf(c.req.param('sale'))
        return c.json(chartDocument(hall, sale.products))
      })

      /**
       * The whole list of a section's seats, or nothing of it. With `?preview=true` only what it would change, with
       * `?confirm=true` also what seats of orders are called.
       */
      .put('/sales/:sale/sections/:section/seats', async (c) => {
        try {
          const [saleId, sectionId] = await sectionIn(c)
          const isPreview = c.req.query('preview') === 'true'
          const { seats, named, errors, errorCount } = await readSeatTable(c)
          const imported = { saleId, sectionId, seats, named: [...named.keys()] }
          if (isPreview) {
            const { loss, ...difference } = await previewSeats(sql, imported)
            return c.json({ ...difference, errors, error_count: errorCount, seats: loss.seats, seat_count: loss.count })
          }
          if (errorCount > 0) {
            const detail = `${errorCount} errors, and nothing was imported. The first: ${errors[0]?.field}: ${errors[0]?.detail}`
            return refuse(problem('invalid-fields', { detail, errors, error_count: errorCount }))
          }
          const isConfirmed = c.req.query('confirm') === 'true'
          const difference = await importSeats(sql, imported, operatorOf(c), isConfirmed)
          await publishHall(saleId)
          return c.json(difference)
        } catch (error) {
          const response = sendProblem(problemIn(error))
          // The rest of the body may not be read, so the connection cannot be used again.
          response.headers.set('connection', 'close')
          return response
        }
      })

      .post('/sales/:sale/seats/block', jsonBody(BlockSeats), async (c) => {
        const saleId = c.req.param('sale')
        const request = c.req.valid('json')
        requireFuture('until', request.until, sales.nowMs())
        return published(c, saleId, await blockSeats(sql, saleId, request, operatorOf(c)), true)
      })

      // The chart gets a new version, because buyers were shown the old prices under the old one.
      .patch('/sales/:sale/seats', jsonBody(PriceSeats), async (c) => {
        const saleId = c.req.param('sale')
        const changed = await priceSeats(sql, saleId, c.req.valid('json'), operatorOf(c))
        await sales.publish(saleId)
        return c.json(changed)
      })

      .post('/sales/:sale/seats/release', jsonBody(ReleaseSeats), async (c) => {
        const saleId = c.req.param('sale')
        return published(c, saleId, await releaseSeats(sql, saleId, c.req.valid('json'), operatorOf(c)), false)
      })

      .post('/orders/:order/move', jsonBody(MoveRequest), async (c) => {
        const found = await requireOrder(sql, c.req.param('order'))
        const { order, move } = await moveSeat(sql, found, c.req.valid('json'), operatorOf(c))
        if (move) await tellGate({ gates, log }, order.sale_id, move)
        return c.json(orderAt({ tax: found.tax ?? null, ...order }, sales.nowMs()))
      })

      .get('/sales/:sale/hall', async (c) => {
        const saleId = c.req.param('sale')
        const { sale, hall } = await hallOf(saleId)
        const [claims, blocks] = await Promise.all([claimStates(sql, saleId), blocksOf(sql, saleId, MAX_BLOCKS)])
        const state: HallState = {
          version: hall.version,
          sections: sectionStates(sale),
          seats: statesText(sale, hall, claims),
          blocks,
        }
        return c.json(state)
      })

      .get('/sales/:sale/hall/seats/:section/:seat', async (c) => {
        const { sale, section, seat } = c.req.param()
        const known =
          v.is(SectionId, section) && v.is(SeatId, seat) ? await ownerOf(sql, sale, section, seat) : undefined
        if (!known) return refuse(problem('not-found', { detail: 'There is no such seat in this sale.' }))
        const { section_id, seat_id, order_id, status, reason, operator, since, until } = known
        const taken = isSold(status ?? undefined) ? 'sold' : 'held'
        const owner: SeatOwner = {
          section_id,
          seat_id,
          state: reason !== null ? 'blocked' : order_id !== null ? taken : 'available',
          ...(order_id !== null && { order: order_id }),
          ...(status !== null && { status: statusOf(status) }),
          ...(reason !== null && { reason }),
          ...(operator !== null && { operator }),
          ...(since !== null && { since }),
          ...(until !== null && { until }),
          history: await seatHistory(sql, sale, section, known),
        }
        return c.json(owner)
      })
  )

  /** `requireSale` lets a PUT through, since it may create the sale. */
  async function sectionIn(c: Context): Promise<readonly [sale: string, section: string]> {
    const { sale_id } = await sales.find(c.req.param('sale') ?? '')
    const section = c.req.param('section')
    return v.is(SectionId, section) ? [sale_id, section] : refuse(unknownSection().problem)
  }
}

interface BoxOfficeDeps {
  readonly sql: Sql
  readonly checkout: Checkout
  readonly orders: Orders
  readonly sales: AdminSales
}

export const boxOfficeRoutes = ({ sql, checkout, orders, sales }: BoxOfficeDeps) =>
  new Hono().post('/sales/:sale/box-office', jsonBody(BoxOfficeRequest), async (c) => {
    const sale = await sales.find(c.req.param('sale'))
    const by = { operator: operatorOf(c), key: idempotencyKey(c) }
    const { order, isReplay } = await sellAtBoxOffice({ sql, checkout, orders }, sale, c.req.valid('json'), by)
    if (isReplay) c.header('Idempotency-Replayed', 'true')
    return c.json(orderAt({ tax: sale.tax, ...order }, sales.nowMs()), isReplay ? 200 : 201)
  })
