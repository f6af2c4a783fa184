/**
 * Every page in every state, of an invented sale or with the words and prices of a real one, for previews and tests.
 */

import { NO_DELIVERY } from '../../shared/api/goods.ts'
import { DEFAULT_MAILS } from '../../shared/api/mails.ts'
import { CANCEL_REASONS, ORDER_STATUSES, type OrderStatus } from '../../shared/api/order-status.ts'
import type { Order, Payment } from '../../shared/api/public.ts'
import { invalidField, type Problem, type ProblemType, problem } from '../../shared/problem.ts'
import { isFinal, type Phase, placeOf, type Schedule } from '../../shared/schedule.ts'
import { ADMISSION_TTL_SECONDS } from '../../shared/tokens.ts'
import { samplePosts, samplePostsPage } from '../feed/sample-posts.ts'
import { feedSection } from '../pages/feed/feed-section.ts'
import { renderProblem, renderSale } from '../pages/index.ts'
import { namedIn } from '../pages/parts/offer.ts'
import { unitsField } from '../pages/turn/cart-fields.ts'
import type { SaleView, Section, Shows } from '../pages/view.ts'
import { WORDS } from '../pages/words/words.ts'
import { cartQuote, chosenCart, ofTour, shirtGone } from './cart-samples.ts'
import { withGoods } from './drop-samples.ts'
import { frontSamples, HOUSE } from './front-samples.ts'
import {
  chosenBest,
  chosenSeats,
  hallCart,
  hallQuote,
  inHall,
  inHallAlone,
  offeredSeats,
  orderOfSeats,
  seatTaken,
} from './hall-samples.ts'
import {
  ANNOUNCED,
  FREE,
  LOBBY,
  MEMBERS,
  NUMBER,
  ORDER_ID,
  offered,
  orderOf,
  POSITION,
  PUBLIC,
  REASONED,
  type SampleOptions,
  SELLER,
  STRIPE,
  scheduleIn,
  TAX,
  VINYL,
  WARNED,
} from './sample-sale.ts'
import { addBill, addColours, chosenSize, inSizes, pickedUp, sampleAddress, sampleQuote } from './shoe-samples.ts'

/** The names are in the language of the goods, as in the view of a real sale. */
const render = (view: SaleView) => renderSale({ ...view, state: namedIn(view.lang, view.state, view.goods) })

/** All pages, each rendered when its HTML is read. */
export const samples = (options: SampleOptions) =>
  Object.entries({ ...samplePages(options), ...frontSamples(options) }).map(([name, page]) => ({
    name,
    get html() {
      return page()
    },
  }))

/** The pages by name, each rendered when it is requested. */
export function samplePages({
  lang,
  nowMs,
  brand = HOUSE,
  called,
  schedule: over = {},
  words = WORDS[lang],
  sale,
  paymentPage = null,
  goods = null,
}: SampleOptions): Readonly<Record<string, () => string>> {
  const [products, last] = offered(sale, called)
  const [first = VINYL] = products
  const limit = sale?.limit_per_visitor ?? 2
  const order = (status: OrderStatus, atMs: number) => orderOf(first, Math.min(2, limit), status, atMs)
  const view = (schedule: Schedule, changes: Partial<SaleView> = {}): SaleView => ({
    sale: 'demo',
    schedule,
    state: {
      ...schedule,
      name: sale?.name ?? called ?? 'Night Swim, first pressing',
      indexed: true,
      mails: sale?.mails ?? ['turn', 'restocked', 'confirmed'],
      push: { key: 'a-key', kinds: [...(sale?.mails ?? DEFAULT_MAILS)] },
      payment: sale?.payment ?? 'provider',
      test: sale?.test ?? false,
      hold_seconds: sale?.hold_seconds ?? 90,
      limit_per_visitor: limit,
      contact: 'off',
      seller: sale ? sale.seller : SELLER,
      tax: sale ? sale.tax : TAX,
      fees: sale?.fees ?? [],
      delivery: sale?.delivery ?? NO_DELIVERY,
      products,
      goods_version: null,
      chart_version: null,
    },
    number: null,
    nowMs,
    claimSeconds: 180,
    lang,
    words,
    brand,
    goods,
    host: 'https://shop.example',
    protects: false,
    paymentPage,
    shows: isFinal(schedule.phase) ? { kind: 'final', phase: schedule.phase } : { kind: 'landing' },
    ...changes,
  })
  const scheduled = (phase: Phase, changes: Partial<Schedule> = {}) => ({
    ...scheduleIn(phase, nowMs),
    ...(sale && { products: products.map(({ product_id, available }) => ({ product_id, available })) }),
    ...over,
    ...changes,
  })
  const landing =
    (phase: Phase, changes: Partial<SaleView> = {}) =>
    () =>
      render(view(scheduled(phase), changes))
  const open = scheduled('open')
  const line = (schedule: Schedule, number = NUMBER, changes: Partial<SaleView> = {}) => {
    const shows: Shows = { kind: 'line', place: placeOf(schedule, number, nowMs), number }
    return () => render(view(schedule, { number, shows, ...changes }))
  }
  const isCalled = { anchor_position: POSITION + 3 }
  const shop = view(scheduled('open', isCalled), { number: NUMBER, shows: { kind: 'landing' } })
  const inShop =
    (shows: Shows, changes: Partial<SaleView> = {}) =>
    () =>
      render({ ...shop, shows, ...changes })
  const stocked = (products: typeof shop.state.products) => ({ state: { ...shop.state, products } })
  const turnOf = (leftMs: number) => ({ kind: 'turn', untilMs: nowMs + leftMs }) as const
  const turn = (leftMs = ADMISSION_TTL_SECONDS * 1000): Shows => turnOf(leftMs)
  const ordered = (status: OrderStatus, changes: Partial<Order> = {}, alreadyHas = false): Shows => ({
    kind: 'order',
    order: { ...order(status, nowMs), ...changes },
    alreadyHas,
  })
  const paid = (payment: Partial<Payment>): Order => ({
    ...order('confirmed', nowMs),
    payment: { status: 'succeeded', ...payment },
  })
  const met = (problem: Problem, more: object = {}): Shows => ({ kind: 'problem', problem, ...more })
  const again = { action: `/sales/demo/order/${ORDER_ID}/payment`, fields: { payment_method: 'pm_ok' } }
  const chosen = { idempotency_key: 'a-key', [unitsField('vinyl', false)]: '2', email: 'ada@home' }
  const turnAgain = (problem: Problem, fields: Readonly<Record<string, string>> = chosen): Shows => ({
    kind: 'turn',
    untilMs: nowMs + ADMISSION_TTL_SECONDS * 1000,
    entered: { problem, chosen: fields },
  })
  const sizes = inSizes(shop.state)
  const sections: Section[] = [samplePosts(nowMs)]
  const priceChanged = { ...problem('price-changed'), ...sampleQuote }
  const codeUsedUp = { ...problem('promo-code-used-up'), ...sampleQuote, discount_minor: 0, total_minor: 19_590 }
  const wrongAddress = problem('invalid-fields', { errors: sampleAddress })
  const quotedTurn: Shows = { ...turnOf(281_000), entered: { chosen: chosenSize, totals: sampleQuote } }
  const shownIn = (status: OrderStatus): Shows => ({
    kind: 'order',
    order: addBill(order(status, nowMs)),
    alreadyHas: false,
  })
  const hall = inHall(shop.state)
  const seatsAlone = inHallAlone(shop.state)
  // A real sale has its own goods.
  const goodsOnly = sale ? {} : withGoods(shop.state)
  const seats = (status: OrderStatus, returned = false) => orderOfSeats(order(status, nowMs), returned)
  const dated = {
    goods: {
      ...(goods ?? { version: 1, brand: null, products: {} }),
      venue: 'Harbour Hall, Berlin',
      event: {
        starts_at: '2026-12-12T19:00:00+01:00',
        ends_at: '2026-12-12T22:30:00+01:00',
        time_zone: 'Europe/Berlin',
      },
    },
  }
  const wrong = { field: 'quantity', detail: 'must be at least 1' }
  const alone =
    (problem: Problem, home: string | null, more: object = {}) =>
    () =>
      renderProblem(problem, { lang, words, brand, home, front: '/', mayReload: true, choseLanguage: false, ...more })
  const bare = (type: ProblemType, home: string | null) => alone(problem(type), home)

  const pages: Record<string, () => string> = {
    'sale-upcoming': landing('upcoming'),
    'sale-lobby-open': landing('pre_queue'),
    'sale-open': landing('open'),
    'sale-test': landing('open', { state: { ...shop.state, test: true } }),
    'sale-not-indexed': landing('open', { state: { ...shop.state, indexed: false } }),
    'sale-paused': landing('paused'),
    'sale-announced': () => render(view(scheduled('pre_queue', ANNOUNCED))),
    'sale-warned': () => render(view(scheduled('open', WARNED))),
    'sale-paused-with-reason': () => render(view(scheduled('paused', REASONED))),
    'sale-all-in-carts': landing('all_in_carts'),
    'sale-proof-of-work': landing('open', { challenge: '/sales/demo/challenge' }),
    'sale-turnstile': landing('open', { turnstile: '1x00000000000000000000AA' }),
    'sale-proof-refused': landing('open', {
      challenge: '/sales/demo/challenge',
      refusal: problem('proof-required', { kind: 'altcha' }),
    }),
    'sale-too-often': landing('open', { refusal: problem('too-many-requests', { retry_after_seconds: 2 }) }),
    'sale-sign-in': landing('pre_queue', { signIn: '/sign-in' }),
    'sale-sign-in-refused': landing('open', { signIn: '/sign-in', refusal: problem('sign-in-required') }),
    'sale-signed-in': landing('open', { signIn: '/sign-in', signedInAs: called ?? 'Ada', signOut: '/me/sign-out' }),
    'sale-invitation-upcoming': landing('upcoming', { invites: true }),
    'sale-invitation': landing('open', { invites: true }),
    'sale-lines-upcoming': landing('upcoming', { line: PUBLIC, othersOpenEarlier: true, othersInvite: true }),
    'sale-lines-lobby': landing('pre_queue', { line: PUBLIC, othersInvite: true, othersSignIn: '/sign-in' }),
    'line-of-members': line({ ...open, line: 'members' }, NUMBER, { line: MEMBERS }),
    'line-of-all': line(open, NUMBER, { line: PUBLIC }),
    'sale-invitation-entered': landing('pre_queue', { invites: true, invitation: { code: 'SUMMER-24', fault: null } }),
    'sale-invitation-none': landing('open', { invites: true, invitation: { code: '', fault: 'none' } }),
    'sale-invitation-unknown': landing('open', {
      invites: true,
      invitation: { code: called ?? 'SUMMER-42', fault: 'unknown' },
    }),
    'sale-invitation-used-up': landing('pre_queue', {
      invites: true,
      invitation: { code: 'SUMMER-24', fault: 'used_up' },
    }),
    'goods-sale-upcoming': landing('upcoming', goodsOnly),
    'goods-sale-lobby': landing('pre_queue', goodsOnly),
    'goods-sale-open': landing('open', goodsOnly),
    'goods-sale-invitation': landing('open', { ...goodsOnly, invites: true }),
    'goods-sale-all-in-carts': landing('all_in_carts', goodsOnly),
    'goods-sold-out': landing('sold_out', goodsOnly),
    'goods-lobby': line(scheduled('pre_queue'), NUMBER, goodsOnly),
    'goods-line': line({ ...open, lasts_for_positions: 5_600 }, NUMBER, goodsOnly),
    'problem-refused': bare('refused', '/sales/demo'),
    lobby: line(scheduled('pre_queue')),
    line: line(open),
    'line-prepare': line(open, NUMBER, sizes),
    'line-next': line(scheduled('open', { anchor_position: POSITION - 1 })),
    'line-after-opening': line(open, LOBBY + 900),
    'line-likely': line({ ...open, lasts_for_positions: 9_000 }),
    'line-not-likely': line({ ...open, lasts_for_positions: 900 }),
    'line-too-late-unlikely': line({ ...open, ends_at_ms: nowMs + 60_000, lasts_for_positions: 900 }),
    'line-all-in-carts-gone': line(scheduled('all_in_carts', { lasts_for_positions: 0 })),
    'line-held-back': line(scheduled('open', { ceiling: Math.floor(POSITION * 0.62) })),
    'line-too-late': line({ ...open, ends_at_ms: nowMs + 60_000 }),
    'line-paused': line(scheduled('paused')),
    'line-announced': line({ ...open, ...ANNOUNCED }, NUMBER, { sections }),
    'sale-posts': landing('open', { sections }),
    'sale-no-posts': landing('open', { sections: [(context) => feedSection(context, [])] }),
    posts: inShop(samplePostsPage(nowMs)),
    'line-paused-with-reason': line(scheduled('paused', { ...REASONED, ...WARNED })),
    'line-all-in-carts': line(scheduled('all_in_carts')),
    'missed-turn': line(scheduled('open', { ...isCalled, missed_through: POSITION + 150 })),
    turn: inShop(turn()),
    'turn-warned': inShop(turn(), { schedule: scheduled('open', { ...isCalled, ...WARNED }) }),
    'turn-paused': inShop(turn(), { schedule: scheduled('paused', { ...isCalled, ...REASONED }) }),
    'turn-half-over': inShop(turn(83_000)),
    'turn-contact': inShop(turn(), { state: { ...shop.state, contact: 'required' } }),
    'turn-contact-optional': inShop(turn(), { state: { ...shop.state, contact: 'optional' } }),
    'turn-ordered': inShop(turn(), { order: ORDER_ID }),
    'turn-last-one': inShop(turn(), stocked([{ ...last, available: 1 }])),
    'turn-all-in-carts': inShop(turn(), stocked([{ ...last, available: 0 }])),
    'order-test': inShop(ordered('reserved'), {
      paymentPage: '/pay/{order}',
      state: { ...shop.state, test: true },
    }),
    'order-paid-elsewhere': inShop(ordered('reserved'), { paymentPage: '/pay/{order}' }),
    'order-declined-once': inShop(
      ordered('reserved', { payment: { status: 'declined', code: 'insufficient_funds', attempts_left: 2 } }),
    ),
    'order-declined-twice': inShop(
      ordered('reserved', { payment: { status: 'declined', code: 'newer_than_this', attempts_left: 1 } }),
    ),
    'order-awaiting-3ds': inShop(
      ordered('paying', {
        payment: {
          status: 'requires_action',
          next_action: { type: 'redirect', url: '/bank' },
          expires_in_seconds: 288,
          attempts_left: 2,
        },
      }),
    ),
    'order-partly-refunded': inShop(ordered('fulfilled', { refunded_minor: 3_900, payment: { status: 'succeeded' } })),
    payment: inShop({ kind: 'payment', order: order('reserved', nowMs), stripe: STRIPE }),
    'payment-free': inShop({ kind: 'payment', order: { ...order('reserved', nowMs), ...FREE }, stripe: STRIPE }),
    'payment-confirms': inShop({
      kind: 'payment',
      order: { ...order('paying', nowMs), payment: { status: 'requires_action', expires_in_seconds: 250 } },
      stripe: STRIPE,
    }),
    'orders-none': inShop({ kind: 'orders', orders: [] }),
    orders: inShop({
      kind: 'orders',
      orders: [
        { ...order('reserved', nowMs), payment: { status: 'declined', code: 'declined', attempts_left: 2 } },
        order('confirmed', nowMs),
        { ...order('fulfilled', nowMs - 86_400_000), refunded_minor: 3_900 },
        order('expired', nowMs - 2 * 86_400_000),
        { ...order('refunded', nowMs - 3 * 86_400_000), refunded_minor: 7_800 },
      ],
    }),
    receipt: inShop({ kind: 'receipt', order: paid({ method: 'pm_ok' }) }),
    'receipt-by-card': inShop({ kind: 'receipt', order: paid({ card: { brand: 'Visa', last4: '4242' } }) }),
    'receipt-without-seller': inShop(
      { kind: 'receipt', order: paid({}) },
      { state: { ...shop.state, seller: null, tax: null } },
    ),
    'receipt-refunded': inShop({ kind: 'receipt', order: { ...order('refunded', nowMs), refunded_minor: 7_800 } }),
    'order-had-already': inShop(ordered('reserved', {}, true)),
    'site-open': landing('open', { protects: true }),
    'site-ended': landing('ended', { protects: true }),
    'site-line-ended': line(scheduled('ended'), NUMBER, { protects: true }),
    'sold-out': landing('sold_out'),
    'sold-out-announced': () => render(view(scheduled('sold_out', ANNOUNCED))),
    ended: landing('ended'),
    'turn-less-left': inShop(turnAgain(problem('all-in-carts'))),
    'turn-too-many': inShop(turnAgain({ ...invalidField('quantity', 'at most 1 can be had'), remaining: 1 })),
    'turn-all-in-carts-again': inShop(turnAgain(problem('all-in-carts')), stocked([{ ...last, available: 0 }])),
    'turn-paused-again': inShop(turnAgain(problem('try-again')), { schedule: scheduled('paused', REASONED) }),
    'turn-try-again': inShop(turnAgain(problem('try-again'))),
    'turn-wrong-fields': inShop(turnAgain(problem('invalid-fields', { errors: [wrong] }))),
    'turn-wrong-email': inShop(turnAgain(invalidField('contact.email', 'an e-mail address is required')), {
      state: { ...shop.state, contact: 'required' },
    }),
    'turn-sizes': inShop(turn(281_000), sizes),
    'turn-sizes-quoted': inShop(quotedTurn, sizes),
    'turn-sizes-less-left': inShop(turnAgain(problem('all-in-carts'), chosenSize), sizes),
    'turn-sizes-price-changed': inShop(turnAgain(priceChanged, chosenSize), sizes),
    'turn-sizes-code-used-up': inShop(turnAgain(codeUsedUp, chosenSize), sizes),
    'turn-sizes-wrong-address': inShop(turnAgain(wrongAddress, { ...chosenSize, street: '' }), sizes),
    'turn-sizes-not-accepted': inShop(turnAgain(invalidField('accept', 'is required'), chosenSize), sizes),
    'turn-cart': inShop(turn(), ofTour(shop.state)),
    'turn-cart-quoted': inShop(
      { ...turnOf(281_000), entered: { chosen: chosenCart, totals: cartQuote } },
      ofTour(shop.state),
    ),
    'turn-cart-gone': inShop(turnAgain(shirtGone, chosenCart), ofTour(shop.state)),
    'turn-colours': inShop(turn(), addColours(shop.state)),
    'turn-pickup': inShop(turn(), { state: { ...shop.state, delivery: pickedUp, contact: 'required' } }),
    'order-sizes-reserved': inShop(shownIn('reserved'), sizes),
    'order-sizes-confirmed': inShop(shownIn('confirmed'), sizes),
    'order-sizes-fulfilled': inShop(shownIn('fulfilled'), sizes),
    'order-pickup': inShop(ordered('confirmed'), { state: { ...shop.state, delivery: pickedUp } }),
    'sale-event': landing('open', dated),
    'order-event': inShop(ordered('confirmed'), dated),
    'receipt-event': inShop({ kind: 'receipt', order: paid({ method: 'pm_ok' }) }, dated),
    'order-handover': inShop(ordered('confirmed'), {
      state: {
        ...shop.state,
        contact: 'required',
        mails: [],
        delivery: { ...NO_DELIVERY, kind: 'handover', return_url: 'https://shop.example/after' },
      },
    }),
    'receipt-sizes': inShop({ kind: 'receipt', order: addBill(order('confirmed', nowMs)) }, sizes),
    'hall-turn': inShop(turn(), hall),
    'hall-turn-without-chart': inShop(turn(), { ...hall, hall: null, state: { ...hall.state, chart_version: null } }),
    'hall-turn-offer': inShop({ ...turnOf(ADMISSION_TTL_SECONDS * 1000), entered: { chosen: offeredSeats } }, hall),
    'hall-turn-alone': inShop(turn(), seatsAlone),
    'hall-turn-seat-taken': inShop(turnAgain(seatTaken, chosenSeats), seatsAlone),
    'hall-turn-seat-taken-no-offer': inShop(turnAgain({ ...seatTaken, offer: [] }, chosenSeats), seatsAlone),
    'hall-turn-back': inShop({ ...turnOf(281_000), entered: { chosen: { ...hallCart, hall: '1' } } }, hall),
    'hall-cart': inShop({ ...turnOf(281_000), entered: { chosen: hallCart, totals: hallQuote } }, hall),
    'hall-cart-empty': inShop({ ...turnOf(281_000), entered: { chosen: { take: '1' } } }, hall),
    'hall-cart-seat-taken': inShop(turnAgain({ ...seatTaken, totals: hallQuote }, hallCart), hall),
    'hall-turn-fewer': inShop(turnAgain({ ...problem('all-in-carts'), section_id: 'stalls-b' }, chosenBest), hall),
    'hall-cart-gone': inShop(
      turnAgain({ ...problem('sold-out'), gone: [{ section_id: 'standing', left: 0 }] }, hallCart),
      hall,
    ),
    'hall-turn-nothing-chosen': inShop(turnAgain(invalidField('product_id', 'is required'), {}), seatsAlone),
    'hall-order': inShop({ kind: 'order', order: seats('reserved'), alreadyHas: false }, hall),
    'hall-order-partly-returned': inShop({ kind: 'order', order: seats('confirmed', true), alreadyHas: false }, hall),
    'hall-orders': inShop({ kind: 'orders', orders: [seats('confirmed', true), seats('expired')] }, hall),
    'hall-receipt': inShop({ kind: 'receipt', order: seats('confirmed', true) }, hall),
    'problem-payment': inShop(met(problem('try-again'), { again })),
    'problem-fields': inShop(met(invalidField('payment_method', 'is required'))),
    'problem-too-many-requests': inShop(met(problem('too-many-requests', { retry_after_seconds: 2 }))),
    'problem-unpaid-nearby': inShop(
      met(problem('too-many-requests', { retry_after_seconds: 7, reason: 'unpaid_nearby' })),
    ),
    'problem-too-many-orders': inShop(met(problem('too-many-orders'))),
    'problem-others-first': inShop(met(problem('too-many-orders', { retry_after_seconds: 80 }))),
    'problem-order-away': inShop(met(problem('try-again'), { path: `/sales/demo/order/${ORDER_ID}` })),
    'problem-try-again': bare('try-again', '/sales/demo'),
    'problem-internal': bare('internal-error', '/sales/demo'),
    'problem-unknown-sale': bare('unknown-sale', null),
  }
  for (const status of ORDER_STATUSES) pages[`order-${status}`] = inShop(ordered(status))
  for (const reason of CANCEL_REASONS) pages[`order-cancelled-${reason}`] = inShop(ordered('cancelled', { reason }))
  return pages
}
