import { randomUUID } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import { ROLES, type Role } from '../../shared/api/roles.ts'
import { ADMIN_TOKEN, useOrigin } from '../../test/lib/origin-process.ts'
import { operatorRoutes } from '../operators-api.ts'
import { writeOperator } from './operator-queries.ts'
import { newKey } from './operators.ts'

const origin = useOrigin()

/** The role that each call takes. A new one belongs here: who may make it is decided by a person. */
const CALLS: Readonly<Record<Role, readonly string[]>> = {
  viewer: [
    ...[
      'GET /sales',
      'GET /sales/:sale',
      'GET /sales/:sale/live',
      'GET /sales/:sale/report',
      'GET /sales/:sale/preview',
    ],
    ...['GET /sales/:sale/findings', 'GET /findings', 'GET /audit', 'GET /queues', 'GET /queues/:queue/dead'],
    ...['GET /sales/:sale/orders', 'GET /orders', 'GET /orders/:order', 'GET /blocks', 'GET /sales/:sale/rules'],
    ...[
      'GET /sales/:sale/announcements',
      'GET /sales/:sale/feed',
      'GET /sales/:sale/scheduled',
      'GET /sales/:sale/invitations',
    ],
    ...['GET /sales/:sale/chart', 'GET /sales/:sale/hall', 'GET /sales/:sale/hall/seats/:section/:seat'],
    ...['GET /webhooks', 'GET /webhooks/:endpoint', 'GET /webhooks/:endpoint/deliveries'],
    ...['GET /sales/:sale/promo-codes', 'GET /search/synonyms'],
  ],
  operator: [
    ...['PUT /sales/:sale', 'POST /sales/:sale/open', 'POST /sales/:sale/pause', 'POST /sales/:sale/resume'],
    ...['POST /sales/:sale/end', 'PATCH /sales/:sale/admission', 'POST /sales/:sale/products/:product/restock'],
    ...['POST /sales/:sale/reconcile', 'PUT /sales/:sale/announcement', 'DELETE /sales/:sale/announcement'],
    ...['POST /sales/:sale/feed', 'DELETE /sales/:sale/feed/:n'],
    ...['POST /sales/:sale/scheduled', 'DELETE /sales/:sale/scheduled/:action', 'POST /queues/:queue/dead/:job/retry'],
    ...['POST /orders/:order/notes', 'POST /orders/:order/fulfil', 'POST /sales/:sale/orders/:order/fulfil'],
    ...['POST /orders/:order/refund', 'POST /orders/:order/cancel', 'POST /blocks', 'DELETE /blocks/:block'],
    ...['POST /sales/:sale/rules', 'PATCH /sales/:sale/rules/:rule', 'DELETE /sales/:sale/rules/:rule'],
    ...['PUT /sales/:sale/invitations', 'POST /sales/:sale/invitations/links', 'POST /sales/:sale/box-office'],
    ...['PUT /sales/:sale/sections/:section', 'DELETE /sales/:sale/sections/:section', 'PUT /sales/:sale/chart'],
    ...['PUT /sales/:sale/sections/:section/seats', 'POST /sales/:sale/seats/block', 'POST /sales/:sale/seats/release'],
    'PUT /search/synonyms',
    ...['POST /orders/:order/move', 'POST /sales/:sale/preview', 'PUT /sales/:sale/promo-codes', 'POST /images'],
  ],
  owner: [
    ...['GET /operators', 'POST /operators', 'DELETE /operators/:name', 'DELETE /visitors/:visitor'],
    'POST /sales/:sale/scheduled/:action/resume',
    ...['POST /webhooks', 'PATCH /webhooks/:endpoint', 'DELETE /webhooks/:endpoint'],
    ...['POST /webhooks/:endpoint/replay', 'POST /webhooks/:endpoint/test'],
  ],
}
const ALL = ROLES.flatMap((needed) => CALLS[needed].map((route) => ({ needed, route })))

const keys = new Map<Role, string>()
const cookies = new Map<Role, string>()
beforeAll(async () => {
  for (const role of ROLES) {
    const { secret, hash } = newKey()
    await writeOperator(origin.sql(), { name: role, role }, hash)
    keys.set(role, secret)
    const { headers } = await origin.call('POST', '/console/session', { body: { key: secret } })
    cookies.set(role, headers.get('set-cookie')?.split(';')[0] ?? '')
  }
})

/** The call about what does not exist, so that whoever may make it changes nothing. */
async function statusOf(route: string, as: { token?: string; headers?: Record<string, string> }) {
  const [method = '', path = ''] = route.split(' ')
  const filled = path.replaceAll(/:(\w+)/g, (_, name) => (name === 'sale' ? 'no-such-sale' : NOTHING))
  return (await origin.call(method, `/admin${filled}`, as)).status
}
const NOTHING = randomUUID()

test('every route of the operators is in the list of who may call it', () => {
  const none = { config: { ADMIN_TOKEN, payment: { perSecond: null } }, sales: { requireSale: () => {} } } as unknown
  const { routes } = operatorRoutes(none as Parameters<typeof operatorRoutes>[0])
  const found = new Set(routes.filter(({ method }) => method !== 'ALL').map(({ method, path }) => `${method} ${path}`))
  expect([...found].sort()).toEqual(ALL.map(({ route }) => route).sort())
})

test('each call takes its role, by a key or by a session, and a session changes nothing from another page', async () => {
  const below = (role: Role) => ROLES[ROLES.indexOf(role) - 1]
  const session = (role: Role, site?: string) => ({
    headers: { cookie: cookies.get(role) ?? '', ...(site && { 'sec-fetch-site': site }) },
  })
  const wrong: object[] = []
  for (const { route, needed } of ALL) {
    const isRead = route.startsWith('GET ')
    const lower = below(needed)
    const cases: [who: string, as: Parameters<typeof statusOf>[1], may: boolean][] = [
      ['nobody', {}, false],
      ['a token that is almost right', { token: `${ADMIN_TOKEN}x` }, false],
      ['the beginning of a token', { token: ADMIN_TOKEN.slice(0, -1) }, false],
      ['the admin token', { token: ADMIN_TOKEN }, true],
      [`the key of ${needed}`, { token: keys.get(needed) ?? '' }, true],
      [`the session of ${needed}`, session(needed, 'same-origin'), true],
      ['the session of owner from another site', session('owner', 'cross-site'), isRead],
      ['the session of owner from no page', session('owner'), isRead],
      ...(lower === undefined
        ? []
        : ([[`the key of ${lower}`, { token: keys.get(lower) ?? '' }, false]] as [string, object, boolean][])),
    ]
    const statuses = await Promise.all(cases.map(([, as]) => statusOf(route, as)))
    for (const [i, [who, , may]] of cases.entries())
      if ([401, 403].includes(statuses[i] ?? 0) === may) wrong.push({ route, who, may, status: statuses[i] })
  }
  expect(wrong).toEqual([])
})

test('no cache keeps what operators read: it names buyers', async () => {
  const sale = await origin.sale()
  const paths = ALL.filter(({ route }) => route.startsWith('GET ')).map(({ route }) => route.slice('GET '.length))
  const kept = await Promise.all(
    paths.map(async (path) => {
      const filled = path.replaceAll(/:(\w+)/g, (_, name) => (name === 'sale' ? sale : NOTHING))
      const { headers } = await origin.call('GET', `/admin${filled}`, { token: ADMIN_TOKEN })
      return { path, cached: headers.get('cache-control') }
    }),
  )
  expect(kept.filter(({ cached }) => cached !== 'no-store')).toEqual([])
})
