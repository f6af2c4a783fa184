/** Every page in every state, made from a sale that does not exist: for looking at (preview.ts), and for the tests. */
import type { Order } from '../../shared/api/public.ts'
import { commitmentOf, positionOf } from '../../shared/draw.ts'
import { CANCEL_REASONS, ORDER_STATUSES, type OrderStatus } from '../../shared/order-status.ts'
import { invalidField, type Problem, type ProblemType, problem } from '../../shared/problem.ts'
import { isFinal, type Phase, placeOf, type Schedule } from '../../shared/schedule.ts'
import { ADMISSION_TTL_SECONDS } from '../../shared/tokens.ts'
import { renderProblem, renderSale } from './index.ts'
import type { Brand, SaleView, Shows } from './view.ts'
import type { Language } from './words.ts'

const SEED = '5e'.repeat(32)
const NUMBER = 4_012
const LOBBY = 12_480
const ORDER_ID = '019a1fcb-824e-74eb-bb3e-e54755d9709e'
const CLAIMED_AFTER = 150
const FIELD = { field: 'quantity', detail: 'must be at least 1' }

export interface Sample {
  readonly name: string
  readonly html: string
}

interface SampleOptions {
  readonly lang: Language
  readonly nowMs: number
  readonly brand?: Brand
  /** What the sale and its first product are called. */
  readonly called?: string
}

/** All pages there are. */
export function samples({ lang, nowMs, brand, called }: SampleOptions): Sample[] {
  const position = positionOf({ seed: SEED, size: LOBBY }, NUMBER)
  const schedule = (phase: Phase, changes: Partial<Schedule> = {}): Schedule => {
    const before = phase === 'upcoming' || phase === 'pre_queue'
    const opensAtMs = nowMs + (phase === 'upcoming' ? 2.1 * 86_400_000 : before ? 754_000 : -240_000)
    return {
      sale: 'demo',
      version: 7,
      phase,
      anchor_at_ms: before ? opensAtMs : nowMs,
      anchor_position: before ? 0 : Math.floor(position * 0.62),
      rate_per_second: before || phase !== 'open' ? 0 : 8.5,
      ceiling: 500_000,
      missed_through: 0,
      pre_queue_size: LOBBY,
      draw_commitment: commitmentOf(SEED),
      draw_seed: before ? null : SEED,
      draw_beacon: null,
      pre_queue_opens_at: new Date(opensAtMs - 7_200_000).toISOString(),
      opens_at: new Date(opensAtMs).toISOString(),
      ends_at: null,
      pre_queue_opens_at_ms: opensAtMs - 7_200_000,
      ends_at_ms: null,
      server_time_ms: nowMs,
      ...changes,
    }
  }
  const view = (schedule: Schedule, changes: Partial<SaleView> = {}): SaleView => ({
    sale: 'demo',
    schedule,
    state: {
      sale: 'demo',
      name: called ?? 'Night Swim, first pressing',
      phase: schedule.phase,
      pre_queue_opens_at: schedule.pre_queue_opens_at,
      opens_at: schedule.opens_at,
      ends_at: schedule.ends_at,
      hold_seconds: 90,
      limit_per_visitor: 2,
      products: [
        product('vinyl', called ?? 'Vinyl, blue marble', 3_900, 600, 412),
        product('box', 'Box set with signed print', 12_900, 100, 0),
        product('tape', 'Cassette', 1_450, 300, 87),
      ],
      server_time_ms: nowMs,
    },
    number: null,
    nowMs,
    claimSeconds: 180,
    lang,
    brand: brand ?? { name: 'Halfway Records' },
    protects: false,
    paymentPage: null,
    shows: isFinal(schedule.phase) ? { kind: 'final', phase: schedule.phase } : { kind: 'landing' },
    ...changes,
  })
  const inLine = (schedule: Schedule, number = NUMBER) =>
    view(schedule, { number, shows: { kind: 'line', place: placeOf(schedule, number, nowMs), number } })
  const open = schedule('open')
  const called_ = { anchor_position: position + 3 }
  const turn = (leftMs: number): Shows => ({ kind: 'turn', untilMs: nowMs + leftMs })
  const shop = view(schedule('open', called_), { number: NUMBER, shows: turn(ADMISSION_TTL_SECONDS * 1000) })
  const last = product('tape', 'Cassette', 1_450, 300, 1)
  const ordered = (status: OrderStatus, alreadyHas = false, paymentPage: string | null = null) =>
    renderSale({ ...shop, paymentPage, shows: { kind: 'order', order: order(status, nowMs), alreadyHas } })
  const again = { action: '/sales/demo/buy', fields: { idempotency_key: 'a-key', product_id: 'vinyl' } }
  const refused = (products: typeof shop.state.products) =>
    renderSale({
      ...shop,
      state: { ...shop.state, products },
      shows: { kind: 'problem', problem: problem('all-in-carts'), again },
    })
  const met = (problem: Problem) => renderSale({ ...shop, shows: { kind: 'problem', problem } })
  const tooMany = met({ ...invalidField('quantity', 'at most 2 can be had'), remaining: 2 })
  const wrong = met(problem('invalid-fields', { errors: [FIELD] }))
  const bare = (type: ProblemType, sale: string | null) =>
    renderProblem(problem(type), { lang, brand: brand ?? { name: 'Halfway Records' }, sale, mayReload: true })

  return [
    ['sale-upcoming', renderSale(view(schedule('upcoming')))],
    ['sale-lobby-open', renderSale(view(schedule('pre_queue')))],
    ['sale-open', renderSale(view(open))],
    ['sale-paused', renderSale(view(schedule('paused')))],
    ['sale-all-in-carts', renderSale(view(schedule('all_in_carts')))],
    ['sale-proof-of-work', renderSale(view(open, { challenge: '/sales/demo/challenge' }))],
    ['lobby', renderSale(inLine(schedule('pre_queue')))],
    ['line', renderSale(inLine(open))],
    ['line-next', renderSale(inLine(schedule('open', { anchor_position: position - 1 })))],
    ['line-after-opening', renderSale(inLine(open, LOBBY + 900))],
    ['line-held-back', renderSale(inLine(schedule('open', { ceiling: Math.floor(position * 0.62) })))],
    ['line-too-late', renderSale(inLine({ ...open, ends_at_ms: nowMs + 60_000 }))],
    ['line-paused', renderSale(inLine(schedule('paused')))],
    ['line-all-in-carts', renderSale(inLine(schedule('all_in_carts')))],
    [
      'missed-turn',
      renderSale(inLine(schedule('open', { ...called_, missed_through: position + CLAIMED_AFTER }))),
    ],
    ['turn', renderSale(shop)],
    ['turn-half-over', renderSale({ ...shop, shows: turn(83_000) })],
    ['turn-ordered', renderSale({ ...shop, order: ORDER_ID })],
    ['turn-last-one', renderSale({ ...shop, state: { ...shop.state, products: [last] } })],
    [
      'turn-all-in-carts',
      renderSale({ ...shop, state: { ...shop.state, products: [{ ...last, available: 0 }] } }),
    ],
    ...ORDER_STATUSES.map((status) => [`order-${status}`, ordered(status)] as const),
    ...CANCEL_REASONS.map(
      (reason) =>
        [
          `order-cancelled-${reason}`,
          renderSale({
            ...shop,
            shows: { kind: 'order', order: { ...order('cancelled', nowMs), reason }, alreadyHas: false },
          }),
        ] as const,
    ),
    ['order-paid-elsewhere', ordered('reserved', false, '/pay/{order}')],
    ['order-had-already', ordered('reserved', true)],
    ['site-open', renderSale(view(open, { protects: true }))],
    ['site-ended', renderSale(view(schedule('ended'), { protects: true }))],
    ['site-line-ended', renderSale({ ...inLine(schedule('ended')), protects: true })],
    ['sold-out', renderSale(view(schedule('sold_out')))],
    ['ended', renderSale(view(schedule('ended')))],
    ['problem-less-left', refused(shop.state.products)],
    ['problem-too-many', tooMany],
    ['problem-all-in-carts', refused([])],
    ['problem-fields', wrong],
    ['problem-too-many-requests', met(problem('too-many-requests', { retry_after_seconds: 2 }))],
    ['problem-too-many-orders', met(problem('too-many-requests'))],
    ['problem-try-again', bare('try-again', 'demo')],
    ['problem-internal', bare('internal-error', 'demo')],
    [
      'problem-order-away',
      renderSale({
        ...shop,
        shows: { kind: 'problem', problem: problem('try-again'), path: `/sales/demo/order/${ORDER_ID}` },
      }),
    ],
    ['problem-unknown-sale', bare('unknown-sale', null)],
  ].map(([name = '', html = '']) => ({ name, html }))
}

const product = (
  product_id: string,
  name: string,
  unit_price_minor: number,
  total: number,
  available: number,
) => ({ product_id, name, unit_price_minor, currency: 'EUR', total, available })

function order(status: OrderStatus, nowMs: number): Order {
  return {
    order_id: ORDER_ID,
    sale: 'demo',
    product_id: 'vinyl',
    quantity: 2,
    unit_price_minor: 3_900,
    currency: 'EUR',
    status,
    reserved_until: new Date(nowMs + 68_000).toISOString(),
    expires_in_seconds: status === 'reserved' ? 68 : 0,
    created_at: new Date(nowMs - 22_000).toISOString(),
  }
}
