/** Every page in every state, of an invented sale: for dev/previews.ts and the tests. */
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
const POSITION = positionOf({ seed: SEED, size: LOBBY }, NUMBER)
const ORDER_ID = '019a1fcb-824e-74eb-bb3e-e54755d9709e'

const PRODUCT = { currency: 'EUR', total: 600 }
const VINYL = {
  ...PRODUCT,
  product_id: 'vinyl',
  name: 'Vinyl, blue marble',
  unit_price_minor: 3_900,
  available: 412,
}
const TAPE = { ...PRODUCT, product_id: 'tape', name: 'Cassette', unit_price_minor: 1_450, available: 1 }

interface SampleOptions {
  readonly lang: Language
  readonly nowMs: number
  readonly brand?: Brand
  /** The name of the sale and of its first product. */
  readonly called?: string
}

/** All pages there are. */
export function samples({ lang, nowMs, brand = { name: 'Halfway Records' }, called }: SampleOptions) {
  const view = (schedule: Schedule, changes: Partial<SaleView> = {}): SaleView => ({
    sale: 'demo',
    schedule,
    state: {
      ...schedule,
      name: called ?? 'Night Swim, first pressing',
      hold_seconds: 90,
      limit_per_visitor: 2,
      products: [
        { ...VINYL, name: called ?? VINYL.name },
        {
          ...PRODUCT,
          product_id: 'box',
          name: 'Box set with signed print',
          unit_price_minor: 12_900,
          available: 0,
        },
        { ...TAPE, available: 87 },
      ],
    },
    number: null,
    nowMs,
    claimSeconds: 180,
    lang,
    brand,
    protects: false,
    paymentPage: null,
    shows: isFinal(schedule.phase) ? { kind: 'final', phase: schedule.phase } : { kind: 'landing' },
    ...changes,
  })
  const scheduled = (phase: Phase, changes: Partial<Schedule> = {}) => ({
    ...scheduleIn(phase, nowMs),
    ...changes,
  })
  const landing = (phase: Phase, changes: Partial<SaleView> = {}) => renderSale(view(scheduled(phase), changes))
  const open = scheduled('open')
  const line = (schedule: Schedule, number = NUMBER, changes: Partial<SaleView> = {}) => {
    const shows: Shows = { kind: 'line', place: placeOf(schedule, number, nowMs), number }
    return renderSale(view(schedule, { number, shows, ...changes }))
  }
  const isCalled = { anchor_position: POSITION + 3 }
  const shop = view(scheduled('open', isCalled), { number: NUMBER, shows: { kind: 'landing' } })
  const inShop = (shows: Shows, changes: Partial<SaleView> = {}) => renderSale({ ...shop, shows, ...changes })
  const stocked = (products: typeof shop.state.products) => ({ state: { ...shop.state, products } })
  const turn = (leftMs = ADMISSION_TTL_SECONDS * 1000): Shows => ({ kind: 'turn', untilMs: nowMs + leftMs })
  const ordered = (status: OrderStatus, changes: Partial<Order> = {}, alreadyHas = false): Shows => ({
    kind: 'order',
    order: { ...order(status, nowMs), ...changes },
    alreadyHas,
  })
  const met = (problem: Problem, more: object = {}): Shows => ({ kind: 'problem', problem, ...more })
  const again = { action: '/sales/demo/buy', fields: { idempotency_key: 'a-key', product_id: 'vinyl' } }
  const wrong = { field: 'quantity', detail: 'must be at least 1' }
  const bare = (type: ProblemType, home: string | null) =>
    renderProblem(problem(type), { lang, brand, home, mayReload: true })

  const pages: Record<string, string> = {
    'sale-upcoming': landing('upcoming'),
    'sale-lobby-open': landing('pre_queue'),
    'sale-open': landing('open'),
    'sale-paused': landing('paused'),
    'sale-all-in-carts': landing('all_in_carts'),
    'sale-proof-of-work': landing('open', { challenge: '/sales/demo/challenge' }),
    'sale-turnstile': landing('open', { turnstile: '1x00000000000000000000AA' }),
    'problem-proof-required': renderProblem(problem('proof-required', { kind: 'altcha' }), {
      ...{ lang, brand, home: '/sales/demo', mayReload: false, challenge: '/sales/demo/challenge' },
      again: { action: '/sales/demo/queue', fields: {} },
    }),
    'sale-sign-in': landing('pre_queue', { signIn: '/sign-in' }),
    'sale-invitation-upcoming': landing('upcoming', { invites: true }),
    'sale-invitation': landing('open', { invites: true }),
    'sale-lines-upcoming': landing('upcoming', { line: 'public', othersOpenEarlier: true, othersInvite: true }),
    'sale-lines-lobby': landing('pre_queue', { line: 'public', othersInvite: true, othersSignIn: '/sign-in' }),
    'line-of-members': line({ ...open, line: 'members' }, NUMBER, { line: 'members' }),
    'sale-invitation-brought': landing('pre_queue', { invites: true, invitation: { code: 'SUMMER-24', fault: null } }),
    'sale-invitation-none': landing('open', { invites: true, invitation: { code: '', fault: 'none' } }),
    'sale-invitation-unknown': landing('open', {
      invites: true,
      invitation: { code: called ?? 'SUMMER-42', fault: 'unknown' },
    }),
    'sale-invitation-used-up': landing('pre_queue', {
      invites: true,
      invitation: { code: 'SUMMER-24', fault: 'used_up' },
    }),
    'problem-sign-in-required': renderProblem(problem('sign-in-required', { sign_in_url: '/sign-in' }), {
      ...{ lang, brand, home: '/sales/demo', mayReload: false },
    }),
    'problem-invitation-required': bare('invitation-required', '/sales/demo'),
    'problem-refused': bare('refused', '/sales/demo'),
    lobby: line(scheduled('pre_queue')),
    line: line(open),
    'line-next': line(scheduled('open', { anchor_position: POSITION - 1 })),
    'line-after-opening': line(open, LOBBY + 900),
    'line-held-back': line(scheduled('open', { ceiling: Math.floor(POSITION * 0.62) })),
    'line-too-late': line({ ...open, ends_at_ms: nowMs + 60_000 }),
    'line-paused': line(scheduled('paused')),
    'line-all-in-carts': line(scheduled('all_in_carts')),
    'missed-turn': line(scheduled('open', { ...isCalled, missed_through: POSITION + 150 })),
    turn: inShop(turn()),
    'turn-half-over': inShop(turn(83_000)),
    'turn-ordered': inShop(turn(), { order: ORDER_ID }),
    'turn-last-one': inShop(turn(), stocked([TAPE])),
    'turn-all-in-carts': inShop(turn(), stocked([{ ...TAPE, available: 0 }])),
    'order-paid-elsewhere': inShop(ordered('reserved'), { paymentPage: '/pay/{order}' }),
    'order-had-already': inShop(ordered('reserved', {}, true)),
    'site-open': landing('open', { protects: true }),
    'site-ended': landing('ended', { protects: true }),
    'site-line-ended': line(scheduled('ended'), NUMBER, { protects: true }),
    'sold-out': landing('sold_out'),
    ended: landing('ended'),
    'problem-less-left': inShop(met(problem('all-in-carts'), { again })),
    'problem-too-many': inShop(met({ ...invalidField('quantity', 'at most 2 can be had'), remaining: 2 })),
    'problem-all-in-carts': inShop(met(problem('all-in-carts'), { again }), stocked([])),
    'problem-fields': inShop(met(problem('invalid-fields', { errors: [wrong] }))),
    'problem-too-many-requests': inShop(met(problem('too-many-requests', { retry_after_seconds: 2 }))),
    'problem-too-many-orders': inShop(met(problem('too-many-orders'))),
    'problem-others-first': inShop(met(problem('too-many-orders', { retry_after_seconds: 80 }))),
    'problem-order-away': inShop(met(problem('try-again'), { path: `/sales/demo/order/${ORDER_ID}` })),
    'problem-try-again': bare('try-again', '/sales/demo'),
    'problem-internal': bare('internal-error', '/sales/demo'),
    'problem-unknown-sale': bare('unknown-sale', null),
  }
  for (const status of ORDER_STATUSES) pages[`order-${status}`] = inShop(ordered(status))
  for (const reason of CANCEL_REASONS) pages[`order-cancelled-${reason}`] = inShop(ordered('cancelled', { reason }))
  return Object.entries(pages).map(([name, html]) => ({ name, html }))
}

export function scheduleIn(phase: Phase, nowMs: number): Schedule {
  const isBefore = phase === 'upcoming' || phase === 'pre_queue'
  const opensAtMs = nowMs + (phase === 'upcoming' ? 2.1 * 86_400_000 : isBefore ? 754_000 : -240_000)
  const lobbyAtMs = opensAtMs - 7_200_000
  return {
    sale: 'demo',
    version: 7,
    phase,
    anchor_at_ms: isBefore ? opensAtMs : nowMs,
    anchor_position: isBefore ? 0 : Math.floor(POSITION * 0.62),
    rate_per_second: phase === 'open' ? 8.5 : 0,
    ceiling: 500_000,
    missed_through: 0,
    pre_queue_size: LOBBY,
    draw_commitment: commitmentOf(SEED),
    draw_seed: isBefore ? null : SEED,
    draw_beacon: null,
    beacon_announced: false,
    pre_queue_opens_at: new Date(lobbyAtMs).toISOString(),
    opens_at: new Date(opensAtMs).toISOString(),
    ends_at: null,
    pre_queue_opens_at_ms: lobbyAtMs,
    ends_at_ms: null,
    server_time_ms: nowMs,
  }
}

const order = (status: OrderStatus, nowMs: number): Order => ({
  order_id: ORDER_ID,
  sale: 'demo',
  product_id: VINYL.product_id,
  quantity: 2,
  unit_price_minor: VINYL.unit_price_minor,
  currency: VINYL.currency,
  status,
  reserved_until: new Date(nowMs + 68_000).toISOString(),
  expires_in_seconds: status === 'reserved' ? 68 : 0,
  created_at: new Date(nowMs - 22_000).toISOString(),
})
