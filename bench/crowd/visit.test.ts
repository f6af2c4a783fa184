/** One visitor's visit to a scripted server: what is counted, timed and stored. */
import { expect, type TestContext, test } from 'vitest'
import { serveOnLoopback } from '../../dev/lib/loopback.ts'
import { progressOf } from '../../shared/api/order-status.ts'
import { sampleSchedule } from '../../shared/testing/sample-schedule.ts'
import { Crowd } from './crowd.ts'
import { visit } from './visit.ts'
import { UNKNOWN } from './visitors/identities.ts'
import { NOBODY, PLAN, type Visitor, visitorsOf } from './visitors/visitors.ts'

type Answer = readonly [status: number, body: object | string, headers?: Record<string, string>]

const NEVER = 0
const PAGE = 'GET /sales/s'
/** The page of a visitor with a place. */
const OWN_PAGE = 'GET /sales/s/line'
const SCHEDULE = 'GET /sales/s/schedule'
const JOIN = 'POST /sales/s/queue'
const STATUS = 'GET /sales/s/queue/status'
const CHECKOUT = 'POST /sales/s/buy'

/**
 * A separate server for each test, and crowds that come to it. Almost all tests wait for a visitor, so they run
 * concurrently.
 */
async function shop({ onTestFinished }: TestContext) {
  const schedule = sampleSchedule({ anchor_position: 100, ceiling: 100, server_time_ms: Date.now() })
  /** The responses by call, in turn; the last one repeats. */
  const script: Record<string, Answer[]> = {
    [PAGE]: [finalPage],
    [SCHEDULE]: [[200, schedule]],
    [JOIN]: [joined(1)],
    [STATUS]: [[200, place({ status: 'ready', admission_token: 'a', admission_expires_at: inSeconds(60) })]],
    [OWN_PAGE]: [turn(60)],
    [CHECKOUT]: [soldOut],
  }
  const { url, stop } = await serveOnLoopback((request, response) => {
    const answers = script[`${request.method} ${request.url}`] ?? []
    const [status, body, headers] = (answers.length > 1 ? answers.shift() : answers[0]) ?? [404, {}]
    if (status === NEVER) return
    const isText = typeof body === 'string'
    const type = isText ? {} : { 'content-type': 'application/json' }
    response.writeHead(status, { ...type, ...headers }).end(isText ? body : JSON.stringify(body))
  })
  onTestFinished(stop)
  const crowdAt = (...arrivalsMs: number[]) =>
    new Crowd(
      visitorsOf(Float64Array.from(arrivalsMs), NOBODY, () => 0.5),
      {
        edge: url,
        worker: url,
        sale: 's',
        thinkMs: 1,
        hangUps: 0,
        claimSeconds: 180,
        random: () => 0.5,
        identityOf: () => UNKNOWN,
        prover: null,
        visitorKey: null,
        onBought: () => {},
      },
      visit,
    )
  const played = async (plan = 0) => {
    const crowd = crowdAt(performance.now())
    for (const visitor of crowd.visitors) visitor.plan = plan
    await crowd.schedule.read()
    await crowd.play()
    crowd.close()
    return crowd
  }
  return { url, schedule, script, crowdAt, played }
}

const place = (fields: object) => ({ number: 1, position_in_queue: 0, now_serving: 100, poll_after_ms: 100, ...fields })
const PUBLIC = { 'cache-control': 'public, max-age=9' }
const finalPage: Answer = [200, '<section id="final">', PUBLIC]
/** The page to which a browser's join leads. */
const joined = (number: number, position = 1): Answer => [
  201,
  `<div data-number="${number}"><section id="line" data-status="waiting"><dd id="position">${position}</dd>`,
  { 'set-cookie': 'queue-s=q; Path=/' },
]
const joinedByProgram: Answer = [201, { ...place({ status: 'waiting' }), queue_token: 'q' }]
/** The page of a turn whose admission expires in this many seconds. */
const turn = (seconds: number): Answer => {
  const claims = { exp: Math.floor(Date.now() / 1000) + seconds }
  const token = `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.c2ln`
  return [200, {}, { 'set-cookie': `admission-s=${token}; Path=/` }]
}
const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1000).toISOString()
const soldOut: Answer = [410, { type: '/problems/sold-out' }]
const notAdmitted: Answer = [429, { type: '/problems/not-admitted' }]

test.concurrent('a page waits for nobody in line or in the shop', async (context) => {
  const { script, crowdAt } = await shop(context)
  script[CHECKOUT] = [[NEVER, {}]]
  script[JOIN] = [[NEVER, {}]]
  const crowd = crowdAt()
  for (const [kind, method, path] of [
    ['checkout', 'POST', '/checkout'],
    ['join', 'POST', '/queue'],
  ] as const)
    for (let i = 0; i < 1_000; i++) crowd.sendBeside(kind, crowd.requests.ofSale(method, path, []), () => {})
  const page = await new Promise<number>((resolve) =>
    crowd.sendBeside('page', crowd.pageText, ({ status }) => resolve(status)),
  )
  expect(page).toBe(200)
  crowd.close()
})

test.concurrent('one who comes by the published client waits by it, and goes on as every program', async (context) => {
  const { script, crowdAt } = await shop(context)
  const ready = { status: 'ready', admission_token: 'a', admission_expires_at: inSeconds(60) }
  script[JOIN] = [[503, {}, { 'retry-after': '0' }], joinedByProgram]
  script[STATUS] = [
    [200, place({ status: 'waiting', position_in_queue: 5 })],
    [200, place(ready)],
  ]
  script['POST /sales/s/checkout'] = [soldOut]
  const crowd = crowdAt(NEVER_COMES, performance.now())
  const [other, visitor] = crowd.visitors as [Visitor, Visitor]
  crowd.finish(other, 'no_show')
  visitor.plan = PLAN.poller
  await crowd.schedule.read()
  await crowd.play()
  crowd.close()
  expect(crowd.tally.requests).toMatchObject({ join: 2, status: 2, checkout: 1 })
  expect(crowd.tally.latency.join.summary()).toMatchObject({ count: 1 })
  expect([...crowd.tally.refusals]).toEqual([
    ['join 503', 1],
    ['checkout 410', 1],
  ])
  expect(crowd.tally.counts).toMatchObject({ joined: 1, admitted: 1, waiting: 0 })
  expect(crowd.tally.ends).toMatchObject({ sold_out: 1 })
  expect([...crowd.tally.complaints]).toEqual([])
})
/** An arrival that is not waited for. */
const NEVER_COMES = 1e12

test.concurrent('a refused join counts towards latency until it is served', async (context) => {
  const { script, played } = await shop(context)
  script[JOIN] = [[503, {}], [503, {}], soldOut]
  const { tally } = await played()
  // The request is repeated after 400 ms, and after 800 ms more.
  expect(tally.latency.join.summary()).toMatchObject({ count: 1 })
  expect(tally.latency.join.summary().max).toBeGreaterThan(900)
  expect(Object.fromEntries(tally.refusals)).toEqual({ 'join 503': 2, 'join 410': 1 })
  expect(tally.ends.sold_out).toBe(1)
})

test.concurrent('a request that fails for good has its waiting time among the latencies', async (context) => {
  const { script, played } = await shop(context)
  script[PAGE] = [[500, {}, { 'retry-after': '0.1' }]]
  const { tally } = await played()
  expect(tally.ends.failed).toBe(1)
  expect(tally.latency.page.summary()).toMatchObject({ count: 1 })
  // The request is repeated five times, a tenth of a second apart.
  expect(tally.latency.page.summary().max).toBeGreaterThan(400)
})

test.concurrent('"all in carts" is a full response, and a reload is no second arrival', async (context) => {
  const { script, played } = await shop(context)
  script[PAGE] = [
    [500, {}],
    [200, {}, { 'cache-control': 'public' }],
  ]
  script[CHECKOUT] = [[409, {}, { 'retry-after': '0.1' }], soldOut]
  const { tally } = await played()
  expect(tally.counts).toMatchObject({ arrived: 1, waiting: 0, shopping: 1 })
  expect(tally.latency.checkout.summary()).toMatchObject({ count: 2 })
})

const WAYS: readonly [what: string, answers: Record<string, Answer[]>, tally: object, first: object][] = [
  [
    'a turn that the page does not show yet is claimed again',
    { [OWN_PAGE]: [[200, {}], turn(60)] },
    { requests: { page: 1, join: 1, admission: 2, status: 0, checkout: 1 } },
    {},
  ],
  [
    'a join whose page has the turn leads straight to the checkout',
    { [JOIN]: [[201, '<div data-number="1">', { 'set-cookie': `queue-s=q, ${turn(60)[2]?.['set-cookie']}` }]] },
    { requests: { page: 1, join: 1, admission: 0, checkout: 1 } },
    {},
  ],
  [
    'a join that met a problem on a page ends as that says',
    { [JOIN]: [[410, '<p class="quiet"><code>410 sold-out 0199-a</code></p>']] },
    { ends: { sold_out: 1 } },
    {},
  ],
  [
    'a refused valid admission is a lost place',
    { [CHECKOUT]: [notAdmitted] },
    { ends: { failed: 1 }, complaints: new Map([['checkout: refused with a valid admission', 1]]) },
    {},
  ],
  [
    'an expired admission leads to another place, and the first number is remembered',
    { [OWN_PAGE]: [turn(-5)], [JOIN]: [joined(1), joined(2)], [CHECKOUT]: [notAdmitted, soldOut] },
    { ends: { sold_out: 1 }, otherNumbers: [1] },
    { number: 2 },
  ],
  [
    'a visitor who rejoins a sold-out sale keeps their number',
    { [OWN_PAGE]: [turn(-5)], [JOIN]: [joined(1), soldOut], [CHECKOUT]: [notAdmitted] },
    { ends: { sold_out: 1 }, otherNumbers: [] },
    { number: 1 },
  ],
  ['an invalid number is remembered for the judge', { [JOIN]: [joined(0)] }, {}, { number: 0 }],
]

test.concurrent.for(WAYS)('%s', async ([, answers, tally, first], context) => {
  const { script, played } = await shop(context)
  Object.assign(script, answers)
  const crowd = await played()
  expect(crowd.tally).toMatchObject(tally)
  expect(crowd.visitors[0]).toMatchObject(first)
})

test.concurrent('who is told that others come first asks on for longer than after an error, and the last one there is lost', async (context) => {
  const { script, crowdAt } = await shop(context)
  const behind: Answer = [429, { type: '/problems/too-many-orders' }, { 'retry-after': '0.001' }]
  script[JOIN] = [joinedByProgram]
  script['POST /sales/s/checkout'] = [...Array<Answer>(9).fill(behind), soldOut, behind]
  const crowd = crowdAt(...Array.from({ length: 3 }, () => performance.now()))
  for (const visitor of crowd.visitors) visitor.plan = PLAN.poller
  await crowd.schedule.read()
  await crowd.play()
  crowd.close()
  expect(crowd.tally.ends).toMatchObject({ sold_out: 1, others_first: 1, failed: 1 })
})

test.concurrent('the position on the page is compared with the draw', async (context) => {
  const { script, played } = await shop(context)
  for (const [position, wrong] of [
    [1, 0],
    [1_001, 1],
  ] as const) {
    script[JOIN] = [joined(1, position)]
    expect((await played()).tally.positions).toEqual({ seen: 1, wrong })
  }
})

test.concurrent('a visitor ends as the last response said, from the first time on', async (context) => {
  const { schedule, script, played } = await shop(context)
  script[STATUS] = [[200, place({ status: 'ended' })]]
  script[JOIN] = [joinedByProgram]
  expect((await played(PLAN.poller)).tally.ends).toMatchObject({ sold_out: 0, ended: 1 })
  script[JOIN] = [joined(1)]
  schedule.phase = 'ended'
  expect((await played()).tally.ends).toMatchObject({ sold_out: 0, ended: 1 })
  schedule.phase = 'sold_out'
  const crowd = await played()
  const [visitor] = crowd.visitors as [Visitor]
  crowd.finish(visitor, 'failed')
  expect(crowd.tally.ends).toMatchObject({ sold_out: 1, ended: 0, failed: 0 })
  expect(visitor.soldOutSeenMs).toBeGreaterThan(0)
})

interface Paid {
  readonly status: string
  readonly attempts_left?: number
  readonly url?: string
}
/** The page of an order. */
const page = (status: string, payment?: Paid): Answer => [
  200,
  `<section id="order" data-order="o" data-order-status="${status}" data-progress="${progressOf({ status, payment: payment ?? null })}">
  <a class="button" href="${payment?.url}">`,
  { 'set-cookie': 'order-o=t; Path=/' },
]
const order = (status: string, payment: object | null = null, reason?: string) => ({
  order_id: 'o',
  status,
  payment,
  reason,
})
/** A stream of the order's changes, which ends by itself. */
const stream = (...orders: object[]): Answer => [
  200,
  orders.map((one) => `id: 1\nevent: order\ndata: ${JSON.stringify(one)}\n\n`).join(''),
  { 'content-type': 'text/event-stream' },
]
const declined = (attempts_left: number) => ({ status: 'declined', attempts_left })
const PENDING = { status: 'pending', attempts_left: 3 }
const paying = (attempts_left = 3) => page('paying', { status: 'pending', attempts_left })
const [ORDER, PAYMENT] = ['GET /sales/s/order/o', 'POST /sales/s/order/o/payment']
const [EVENTS, POLL] = ['GET /orders/o/events', 'GET /orders/o']

test.concurrent('a buyer by a browser needs four requests from the turn to the receipt, and more where something fails', async (context) => {
  const { script, played } = await shop(context)
  const earlier = [order('reserved'), order('paying')]
  Object.assign(script, {
    [CHECKOUT]: [page('reserved')],
    [PAYMENT]: [paying()],
    [EVENTS]: [stream(...earlier, order('paying', PENDING), order('confirmed'))],
  })
  const { tally, visitors } = await played()
  expect(tally).toMatchObject({
    ends: { bought: 1 },
    requests: { admission: 1, checkout: 1, payment: 1, stream: 1, order: 0 },
    afterTurn: { buyers: 1, requests: 4, least: 1 },
  })
  expect(visitors[0]?.order).toMatchObject({ token: 't', statuses: ['reserved', 'paying', 'confirmed'] })
  // The page polls if there is no stream.
  Object.assign(script, {
    [EVENTS]: [[503, {}]],
    [POLL]: [
      [200, order('paying', PENDING)],
      [200, order('confirmed')],
    ],
  })
  const polled = await played()
  expect(polled.tally).toMatchObject({ ends: { bought: 1 }, requests: { stream: 2, order: 2 } })
  expect(polled.tally.afterTurn).toEqual({ buyers: 1, requests: 7, least: 0 })
  // A program has no page.
  Object.assign(script, {
    [JOIN]: [joinedByProgram],
    'POST /sales/s/checkout': [[200, order('reserved')]],
    'POST /orders/o/payment': [[202, order('paying')]],
  })
  const program = await played(PLAN.poller)
  expect(program.tally).toMatchObject({ ends: { bought: 1 }, requests: { stream: 0 }, afterTurn: { buyers: 0 } })
})

test.concurrent('a declined buyer pays with another card, or with the same one until the last attempt, or leaves', async (context) => {
  const { script, played } = await shop(context)
  const playedWith = (events: Answer[], pages: Answer[]) => {
    const payments = [paying(3), paying(2), paying(1)]
    Object.assign(script, { [CHECKOUT]: [page('reserved')], [PAYMENT]: payments, [EVENTS]: events, [ORDER]: pages })
    return (plan: number) => played(PLAN.decline | plan)
  }
  const once = stream(order('reserved', declined(2)))
  const shownOnce = page('reserved', declined(2))
  const other = await playedWith([once, stream(order('confirmed'))], [shownOnce])(PLAN.otherCard)
  expect(other.tally).toMatchObject({ ends: { bought: 1 }, requests: { payment: 2, order: 1 }, counts: { paying: 0 } })
  expect(other.visitors[0]?.order).toMatchObject({
    declines: 1,
    statuses: ['reserved', 'paying', 'reserved', 'paying', 'confirmed'],
  })
  expect(other.visitors[0]?.method()).toBe('pm_ok')
  const events = [once, stream(order('reserved', declined(1))), stream(order('cancelled', null, 'declined'))]
  const pages = [shownOnce, page('reserved', declined(1)), page('cancelled')]
  const same = await playedWith(events, pages)(PLAN.sameCard)
  expect(same.tally).toMatchObject({ ends: { declined: 1 }, requests: { payment: 3, order: 3 } })
  expect((await playedWith([once], [shownOnce])(0)).tally).toMatchObject({
    ends: { declined: 1 },
    requests: { payment: 1 },
  })
})

test.concurrent('a buyer whose bank asks them answers at its page, or never comes back', async (context) => {
  const { url, script, played } = await shop(context)
  const asks = { status: 'requires_action', attempts_left: 3 }
  const asked = page('paying', { ...asks, url: `${url}/bank/c` })
  const playedWith = (plan: number, last: object, shown: Answer) => {
    Object.assign(script, {
      [CHECKOUT]: [page('reserved')],
      [PAYMENT]: [paying()],
      [EVENTS]: [stream(order('paying', asks)), stream(last)],
      // The second decline is seen on the return from the bank.
      [ORDER]: [asked, asked, shown],
    })
    return played(PLAN.bank | plan)
  }
  script['POST /bank/c/approve'] = [
    [500, {}],
    [303, {}],
  ]
  script['POST /bank/c/decline'] = [[303, {}]]
  const approved = await playedWith(0, order('confirmed'), asked)
  expect(approved.tally).toMatchObject({ ends: { bought: 1 }, requests: { payment: 1, bank: 2, stream: 2 } })
  const failed = await playedWith(PLAN.bankFails, order('reserved', declined(2)), page('reserved', declined(2)))
  expect(failed.tally).toMatchObject({ ends: { declined: 1 }, requests: { bank: 1 } })
  const left = await playedWith(PLAN.bankLeft, order('confirmed'), asked)
  expect(left.tally).toMatchObject({ ends: { unauthenticated: 1 }, requests: { bank: 0 }, counts: { paying: 0 } })
})

test.concurrent('the page of a cache that does not know the end yet is loaded again', async (context) => {
  const { schedule, script, played } = await shop(context)
  schedule.phase = 'sold_out'
  // The first page is the one that the visitor opens.
  const landing: Answer = [200, '<section id="landing">', PUBLIC]
  script[PAGE] = [landing, landing, finalPage]
  const { tally } = await played()
  expect([tally.requests.final, tally.ends.sold_out]).toEqual([2, 1])
})

test.concurrent("the server's clock is that of a schedule made for the request, else of a kept one and its age", async (context) => {
  const { schedule, script, crowdAt } = await shop(context)
  const at = (serverMs: number, headers = {}): Answer => [200, { ...schedule, server_time_ms: serverMs }, headers]
  script[SCHEDULE] = [at(500_000, { age: '20' }), at(700_000), at(900_000, { age: '30' })]
  const crowd = crowdAt()
  const clock = async () => {
    await crowd.schedule.read()
    return Math.round(crowd.schedule.serverMs(performance.now()) / 10_000)
  }
  expect([await clock(), await clock(), await clock()]).toEqual([52, 70, 70])
  crowd.close()
})

test.concurrent('a schedule that changed under its version counts as another one', async (context) => {
  const { schedule, script, crowdAt } = await shop(context)
  script[SCHEDULE] = [
    [200, schedule],
    [200, { ...schedule, server_time_ms: schedule.server_time_ms + 1 }],
    [200, { ...schedule, anchor_position: 90 }],
  ]
  const crowd = crowdAt()
  for (let reads = 0; reads < 3; reads++) await crowd.schedule.read()
  crowd.close()
  expect(crowd.schedule.seen.map(({ schedule }) => schedule.anchor_position)).toEqual([100, 90])
})

test.concurrent('those who come by the front search in an index, at the edge or without a script, and read posts while they wait', async (context) => {
  const { script, crowdAt } = await shop(context)
  const [front, index, suggest] = ['GET /', 'GET /search/index?v=1', 'GET /search/suggest?q=']
  const texts = ['rehenrsal', 'reh&limit=6', 'rehenr&limit=6'].map((q) => `GET /search?q=${q}`)
  script[front] = [[200, '<form data-index="/search/index?v=1">']]
  for (const ask of [index, `${suggest}reh`, `${suggest}rehear`, ...texts]) script[ask] = [[200, {}]]
  const posts = [12, 11].map((n) => ({ n }))
  script['GET /sales/s/feed'] = [[200, { posts, next_poll_ms: 60_000 }]]
  script['GET /sales/s/feed/1'] = [[200, { posts: [] }]]
  const crowd = crowdAt(...Array.from({ length: 3 }, () => performance.now()))
  for (const visitor of crowd.visitors) Object.assign(visitor, { plan: PLAN.front, step: 'front' })
  await crowd.schedule.read()
  await crowd.play()
  // The visitor reads the newest posts, and the page before them, once each.
  await context.expect.poll(() => crowd.tally.latency.feed.summary().count).toBe(6)
  crowd.close()
  const { requests, refusals, ends } = crowd.tally
  expect(requests).toMatchObject({ front: 3 + 1 + 2, search: 1 + 2, feed: 6, page: 3, join: 3 })
  expect([ends.sold_out, Object.fromEntries(refusals)]).toEqual([3, { 'checkout 410': 3 }])
})
