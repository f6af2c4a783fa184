import { randomUUID } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import { ROLES, type Role } from '../../shared/api/operators/roles.ts'
import { ADMIN_TOKEN, useOrigin } from '../../test/lib/origin-process.ts'
import { operatorRoutes } from '../operators-api.ts'
import { writeOperator } from './operator-queries.ts'
import { newKey } from './operators.ts'

const origin = useOrigin()

/** The paths that each role may call, by method. A person must decide who may call a new route and add it here. */
const CALLS: Readonly<Record<Role, Readonly<Record<string, string>>>> = {
  viewer: {
    GET: `/sales /sales/:sale /sales/:sale/live /sales/:sale/report /sales/:sale/preview /sales/:sale/findings /findings
      /audit /queues /queues/:queue/dead /sales/:sale/orders /orders /orders/counts
      /orders/export /orders/:order /blocks /sales/:sale/rules
      /sales/:sale/announcements /sales/:sale/feed /sales/:sale/scheduled /sales/:sale/invitations /sales/:sale/chart
      /sales/:sale/hall /sales/:sale/hall/seats/:section/:seat
      /webhooks /webhooks/:endpoint
      /webhooks/:endpoint/deliveries /webhooks/:endpoint/history /sales/:sale/promo-codes /search/synonyms
      /alerts /sales/:sale/seconds /sales/:sale/funnel /search/misses /sales/:sale/views /sales/:sale/views/export
      /view-rules /queues/:queue/failing /sales/:sale/scheduled/:action/runs/:due /rehearsals`,
  },
  operator: {
    POST: `/sales/:sale/open /sales/:sale/pause /sales/:sale/resume /sales/:sale/end
      /sales/:sale/products/:product/restock /sales/:sale/reconcile /sales/:sale/feed /sales/:sale/scheduled
      /queues/:queue/dead/:job/retry /orders/:order/notes /orders/:order/fulfil /sales/:sale/orders/:order/fulfil
      /orders/:order/refund /orders/:order/return /orders/:order/cancel /orders/:order/move /blocks /sales/:sale/rules
      /sales/:sale/invitations/links /sales/:sale/box-office /sales/:sale/seats/block /sales/:sale/seats/release
      /sales/:sale/preview /images /sales/:sale/views/recount /view-rules/try /queues/:queue/retry
      /sales/:sale/promo-codes/check /sales/:sale/scheduled/:action/run /webhooks/:endpoint/try /alerts/test`,
    PUT: `/sales/:sale /sales/:sale/announcement /sales/:sale/invitations /sales/:sale/sections/:section
      /sales/:sale/sections/:section/seats /sales/:sale/chart /sales/:sale/promo-codes /search/synonyms /view-rules`,
    PATCH: '/sales/:sale/admission /sales/:sale/seats /sales/:sale/rules/:rule /sales/:sale/feed/:n',
    DELETE: `/sales/:sale/announcement /sales/:sale/feed/:n /sales/:sale/scheduled/:action /blocks/:block
      /sales/:sale/rules/:rule /sales/:sale/sections/:section`,
  },
  owner: {
    GET: '/operators /visitors/:visitor',
    POST: `/operators /sales/:sale/scheduled/:action/resume /webhooks /webhooks/:endpoint/replay
      /webhooks/:endpoint/test`,
    PUT: '/alerts',
    PATCH: '/webhooks/:endpoint',
    DELETE: '/operators/:name /visitors/:visitor /webhooks/:endpoint',
  },
}
const ALL = ROLES.flatMap((needed) =>
  Object.entries(CALLS[needed]).flatMap(([method, paths]) =>
    paths.split(/\s+/).map((path) => ({ needed, route: `${method} ${path}` })),
  ),
)

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

/** The call names something that does not exist, so that it changes nothing even if it is allowed. */
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
  for (const [nth, { route, needed }] of ALL.entries()) {
    const isRead = route.startsWith('GET ')
    const lower = below(needed)
    const cases: [who: string, as: Parameters<typeof statusOf>[1], may: boolean][] = [
      ['nobody', {}, false],
      ['the admin token', { token: ADMIN_TOKEN }, true],
      [`the key of ${needed}`, { token: keys.get(needed) ?? '' }, true],
      [`the session of ${needed}`, session(needed, 'same-origin'), true],
      // One check of all routes reads what is no key, and where a session is used.
      ...(nth % 10 === 0
        ? ([
            ['a token that is almost right', { token: `${ADMIN_TOKEN}x` }, false],
            ['the beginning of a token', { token: ADMIN_TOKEN.slice(0, -1) }, false],
            ['the session of owner from no page', session('owner'), isRead],
          ] as [string, object, boolean][])
        : []),
      ['the session of owner from another site', session('owner', 'cross-site'), isRead],
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
