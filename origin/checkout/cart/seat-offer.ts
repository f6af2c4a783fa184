/**
 * The seats that a visitor would get now, by name and with their price, for those whose turn it is to see before they
 * reserve them. Nothing is held.
 */
import { Hono } from 'hono'
import { PUBLIC_LINE } from '../../../shared/api/access.ts'
import { type SeatOffer, SeatOfferRequest } from '../../../shared/api/hall.ts'
import { invalidField, type Problem, problem } from '../../../shared/problem.ts'
import type { SaleRow } from '../../ledger/sale-row.ts'
import { readBody, refuse, sendJson } from '../../lib/http/request.ts'
import { inLine } from '../../sales/sale-state.ts'
import { ANY, type Chart } from '../../seats/chart.ts'
import { choose } from '../../seats/choice.ts'
import { Free } from '../../seats/free.ts'
import { closedFor } from '../outcome.ts'
import { type TotalsDeps, totalsFor } from './totals.ts'
import type { Presenter } from './vouchers.ts'

const ASK_AGAIN_SECONDS = 5

export const seatOfferRoutes = (deps: TotalsDeps) =>
  new Hono().post('/sales/:sale/seats/offer', async (c) => {
    const { buyers, sales } = deps
    const saleId = c.req.param('sale')
    const { sub: visitor, line = PUBLIC_LINE } = buyers.enterAdmitted(saleId, await buyers.readAdmission(c))
    try {
      const sale = (await sales.find(saleId)) ?? refuse(problem('unknown-sale'))
      const presenter = { visitor, networks: buyers.networksOf(c) }
      const offer = await offerFor(deps, inLine(sale, line), presenter, await readBody(c, SeatOfferRequest))
      return sendJson('type' in offer ? refuse(offer) : offer, 200)
    } finally {
      buyers.leave(visitor)
    }
  })

async function offerFor(
  deps: TotalsDeps,
  sale: SaleRow,
  presenter: Presenter,
  request: SeatOfferRequest,
): Promise<SeatOffer | Problem> {
  const { section_id, category, kind, quantity, not = [] } = request
  const hall = await deps.halls.of(sale)
  if (!hall) return problem('not-found', { detail: 'The sale has no seats.' })
  const { chart } = hall
  const refusal = wrongIn(chart, request) ?? closedFor(sale, quantity, deps.sales.nowMs())
  if (refusal) return refusal
  const free = new Free(chart, await deps.gates.of(sale.sale_id).seats())
  free.take(chart.seats.filter(({ seat }) => not.includes(seat)).map(({ index }) => index))
  const wish = { section: section_id, category, quantity, together: true }
  const isAccessible = kind === 'accessible'
  const chosen = choose(chart, free, { ...wish, accessible: isAccessible, kind: isAccessible ? undefined : kind })
  const [first] = chosen ?? []
  if (!chosen || !first || chosen.some(({ section }) => section !== first.section))
    return problem('all-in-carts', {
      detail: 'There are not so many such seats in one section at this moment. Some may come back.',
      ...(section_id !== undefined && { section_id }),
      retry_after_seconds: ASK_AGAIN_SECONDS,
    })
  const line = { section_id: first.section, seats: chosen.map(({ seat }) => seat) }
  const totals = await totalsFor(deps, sale, presenter, { lines: [line] })
  return 'type' in totals ? totals : { ...line, totals }
}

function wrongIn(chart: Chart, { section_id, category }: SeatOfferRequest): Problem | null {
  if (!chart.pool(section_id, undefined, ANY)) return invalidField('section_id', 'a section with seats is required')
  return chart.pool(section_id, category, ANY) ? null : invalidField('category', 'no such seats here')
}
