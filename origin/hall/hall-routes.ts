/**
 * What everyone sees of a hall. The edge reads its chart and the state of its seats for all visitors (below
 * `/internal`); those whose turn it is read the seats of a section page by page, and follow what is left of each
 * section.
 */
import { Hono } from 'hono'
import * as v from 'valibot'
import { pageLimit } from '../../shared/api/fields.ts'
import type { SeatsPage } from '../../shared/api/hall.ts'
import { parse } from '../../shared/parse.ts'
import { invalidField, problem } from '../../shared/problem.ts'
import type { Buyers } from '../access/buyer-access.ts'
import type { SaleRow } from '../ledger/sale-row.ts'
import { refuse, sendJson } from '../lib/http/request.ts'
import type { Sales } from '../sales/sales.ts'
import { chartDocument, seatsOf } from '../seats/chart-document.ts'
import type { Hall, Halls } from '../seats/halls.ts'
import { type SeatStates, stateAt } from '../seats/seat-states.ts'
import type { SectionUpdates } from './section-updates.ts'

/** The bound is above the number of pages of any section. */
const MAX_PAGE = 9_999
const MAX_PAGE_SIZE = 500

interface HallRoutesDeps {
  readonly sales: Pick<Sales, 'find' | 'refresh'>
  readonly halls: Halls
  readonly states: SeatStates
}

/** The routes below `/internal`, which the edge calls. */
export function hallDocumentRoutes({ sales, halls, states }: HallRoutesDeps): Hono {
  const charts = new WeakMap<Hall, string>()
  const find = async (saleId: string) => (await sales.find(saleId)) ?? refuse(problem('unknown-sale'))

  /** The hall as the edge knows it; another process may have imported a chart a moment ago. */
  async function hallOf(saleId: string, version: number): Promise<{ sale: SaleRow; hall: Hall }> {
    let sale = await find(saleId)
    if (sale.chart_version !== version) {
      await sales.refresh()
      sale = await find(saleId)
    }
    const hall = await halls.of(sale)
    if (hall?.version !== version) return refuse(problem('not-found', { detail: 'The chart has another version now.' }))
    return { sale, hall }
  }

  return new Hono()
    .get('/sales/:sale/chart', async (c) => {
      const { sale, hall } = await hallOf(c.req.param('sale'), Number(c.req.query('v')))
      const text = charts.get(hall) ?? JSON.stringify(chartDocument(hall, sale.products))
      charts.set(hall, text)
      return c.body(text, 200, { 'content-type': 'application/json' })
    })

    .get('/sales/:sale/availability', async (c) =>
      c.json((await states.packed(await find(c.req.param('sale')))) ?? refuse(problem('not-found'))),
    )
}

interface BuyerRoutesDeps extends HallRoutesDeps {
  readonly buyers: Buyers
  readonly updates: SectionUpdates
}

const Paging = v.object({
  page: v.optional(pageLimit(MAX_PAGE), '1'),
  page_size: v.optional(pageLimit(MAX_PAGE_SIZE), '200'),
})

export function hallBuyerRoutes({ sales, halls, states, buyers, updates }: BuyerRoutesDeps): Hono {
  const app = new Hono()
  app.use('/sales/:sale/sections/*', buyers.throughEdge)

  app.get('/sales/:sale/sections/:section/seats', async (c) => {
    const { sale: saleId, section } = c.req.param()
    const { sub } = buyers.enterAdmitted(saleId, await buyers.readAdmission(c))
    try {
      const { page, page_size } = parse(Paging, c.req.query())
      const sale = (await sales.find(saleId)) ?? refuse(problem('unknown-sale'))
      const hall = await halls.of(sale)
      const found = sale.products.find((p) => p.product_id === section && p.section_type !== null)
      if (!hall || !found) return refuse(problem('not-found', { detail: 'There is no such section in this sale.' }))
      const seats = seatsOf(hall, section)
      const pages = Math.max(1, Math.ceil(seats.length / page_size))
      if (page > pages) return refuse(invalidField('page', `there are ${pages} pages`))
      const now = await states.of(saleId)
      const body: SeatsPage = {
        section_id: section,
        total_seats: found.section_type === 'reserved' ? seats.length : found.total,
        page,
        page_size,
        seats: seats.slice((page - 1) * page_size, page * page_size).map((seat) => ({
          seat_id: seat.seat,
          row: seat.row,
          number: seat.number,
          category: seat.category,
          kind: seat.kind,
          price_minor: seat.priceMinor,
          status: stateAt(now, seat.index),
        })),
      }
      return sendJson(body, 200)
    } finally {
      buyers.leave(sub)
    }
  })

  app.get('/sales/:sale/sections/updates', async (c) => {
    const saleId = c.req.param('sale')
    const { sub } = buyers.enterAdmitted(saleId, await buyers.readAdmission(c))
    // An open stream does not count as a call in progress, because it lasts. The streams of a visitor have their own
    // limit.
    buyers.leave(sub)
    return updates.stream(c, (await sales.find(saleId)) ?? refuse(problem('unknown-sale')), sub)
  })

  return app
}
