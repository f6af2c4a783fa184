/**
 * Real origins for tests, shared by the run or owned by the file, each a process on real stores, with the calls of
 * their clients.
 */
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import postgres from 'postgres'
import { afterAll, beforeAll, expect } from 'vitest'
import { type Server, temporaryFolder } from '../../dev/lib/processes.ts'
import type { System } from '../../dev/system.ts'
import type { SaleConfig } from '../../shared/api/operators/sale-config.ts'
import type { Order } from '../../shared/api/public.ts'
import { importSecrets, newKeySet } from '../../shared/keys.ts'
import type { Problem } from '../../shared/problem.ts'
import { ADMISSION, ADMISSION_TTL_SECONDS, signToken } from '../../shared/tokens.ts'
import { ADMIN_TOKEN, EDGE_TOKEN, type OriginAddress, type Stores, testOrigin } from '../run/one-origin.ts'
import { sharedPart } from '../run/shared-part.ts'
import { requireDescribed } from './described.ts'
import { eventually } from './eventually.ts'
import { useDatabase, useRedis } from './servers.ts'

export { ADMIN_TOKEN } from '../run/one-origin.ts'

export interface Answer {
  readonly status: number
  readonly headers: Headers
  /** The order or the problem; tests read the one that they expect. */
  readonly body: Partial<Order> & Partial<Problem> & Record<string, unknown>
}

interface Stock {
  readonly total: number
  readonly available: number
  readonly held: number
  readonly sold: number
}

/**
 * The run's origin, which other files use too. A file may make assertions only about its own sales, visitors and
 * operators.
 */
export function useOrigin() {
  let origin: OriginAddress & { sql: postgres.Sql }
  const client = clientOf(() => origin)
  beforeAll(async () => {
    const address = await sharedPart('origin')
    origin = { ...address, sql: postgres(address.databaseUrl, { max: 2, onnotice: () => {} }) }
  })
  afterAll(async () => {
    if (origin === undefined) return
    // The origin works on each sale four times a second. It would do so until the end of the run.
    await origin.sql`update sales set long_over = true where sale_id = any(${client.sales()})`
    await origin.sql.end({ timeout: 2 })
  })
  return {
    ...client,
    keys: () => origin.keys,
    databaseUrl: () => origin.databaseUrl,
    redisUrl: () => origin.redisUrl,
    log: () => readFileSync(origin.logFile, 'utf8'),
  }
}

function ownStores() {
  const [database, redis] = [useDatabase(), useRedis()]
  return () => ({ databaseUrl: database.url, redisUrl: redis.url })
}

interface CheckoutOptions {
  readonly token?: string
  readonly key?: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** An origin of the file's own, which the file may kill, stop or configure; by default on its own stores. */
export function useOwnOrigin(
  stores: () => Stores = ownStores(),
  env: Record<string, string> | (() => Record<string, string>) = {},
) {
  const folder = temporaryFolder('origin-test')
  const keys = newKeySet()
  let server: Server
  let address: { url: string; opsUrl: string; sql: postgres.Sql }

  beforeAll(async () => {
    const sql = postgres(stores().databaseUrl, { max: 2, onnotice: () => {} })
    const origin = await testOrigin(folder.path, keys, () => ({
      ...stores(),
      env: typeof env === 'function' ? env() : env,
    }))
    server = origin.server
    address = { url: server.url, opsUrl: origin.opsUrl, sql }
    await server.start()
  }, 60_000)
  afterAll(async () => {
    await server?.stop()
    await address?.sql.end({ timeout: 2 })
    folder.remove()
  }, 60_000)

  return {
    ...clientOf(() => ({ ...address, keys })),
    /** The keys sign admissions in place of the edge. */
    keys,
    opsUrl: () => address.opsUrl,
    log: () => server.logTail(),
    kill: () => server.kill(),
    /** Freezes the process until `goOn`. */
    freeze: () => void process.kill(server.pid, 'SIGSTOP'),
    goOn: () => void process.kill(server.pid, 'SIGCONT'),
    stop: () => server.stop(),
    restart: () => server.restart(),
  }
}

/** The calls of an origin's clients. `at` is called once the origin is ready. */
function clientOf(at: () => { url: string; opsUrl: string; sql: postgres.Sql; keys: ReturnType<typeof newKeySet> }) {
  let called = 0
  const sales = new Set<string>()

  async function call(
    method: string,
    path: string,
    options: { token?: string; body?: unknown; headers?: Record<string, string>; redirect?: 'follow' | 'manual' } = {},
    base = at().url,
  ) {
    const { token, body, headers, redirect = 'follow' } = options
    const response = await fetch(base + path, {
      method,
      redirect,
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: sendable(body), duplex: 'half' }),
      signal: AbortSignal.timeout(50_000),
    })
    const text = await response.text()
    const json = /[/+]json/.test(response.headers.get('content-type') ?? '')
    const read = json ? JSON.parse(text) : { text }
    if (/^\/(sales|orders|admin)\//.test(path)) requireDescribed(method, base + path, response, read)
    return { status: response.status, headers: response.headers, body: read } as Answer
  }

  function admin(method: string, path: string, body?: unknown) {
    const [, written] = /^PUT \/sales\/([^/]+)$/.exec(`${method} ${path}`) ?? []
    if (written !== undefined) sales.add(written)
    return call(method, `/admin${path}`, { token: ADMIN_TOKEN, ...(body === undefined ? {} : { body }) })
  }

  return {
    url: () => at().url,
    call,
    /** Calls the origin as a monitor does. */
    ops: (path: '/metrics' | '/readyz' | '/healthz') => call('GET', path, {}, at().opsUrl),
    admin,
    /** The sales that were created or replaced here. */
    sales: () => [...sales],
    sql: () => at().sql,
    edgeToken: EDGE_TOKEN,

    /** Creates a sale, open by default, and returns its id. */
    async sale({ total = 10, ...options }: { total?: number; [field: string]: unknown } = {}): Promise<string> {
      const sale = `sale-${randomUUID().slice(0, 8)}`
      const answer = await admin('PUT', `/sales/${sale}`, {
        name: 'Test',
        opens_at: new Date(Date.now() - 1000).toISOString(),
        products: [{ product_id: 'one', name: 'One', unit_price_minor: 1000, currency: 'EUR', total, buffer: 0 }],
        admission: { rate_per_second: 100 },
        ...options,
      })
      if (answer.status !== 201) throw new Error(`the sale was not created: ${JSON.stringify(answer.body)}`)
      return sale
    },

    token(
      sale: string,
      visitor: string = randomUUID(),
      changes: { exp?: number; num?: number; line?: string; src?: string } = {},
    ) {
      const iat = Math.floor(Date.now() / 1000)
      return signToken(ADMISSION, importSecrets(at().keys), {
        sub: visitor,
        sale,
        num: ++called,
        jti: randomUUID(),
        iat,
        exp: iat + ADMISSION_TTL_SECONDS,
        ...changes,
      })
    },

    async checkout(sale: string, options: CheckoutOptions = {}): Promise<Answer> {
      return call('POST', `/sales/${sale}/checkout`, {
        token: options.token ?? (await this.token(sale)),
        body: options.body ?? {},
        headers: { 'idempotency-key': options.key ?? randomUUID(), ...options.headers },
      })
    },

    /**
     * Repeats a checkout under the same key until it is decided, as a buyer would, because the stores may be late for
     * some of many calls.
     */
    async checkoutDecided(
      sale: string,
      options: { token?: string; key?: string; body?: unknown } = {},
    ): Promise<Answer> {
      const asked = { token: await this.token(sale), key: randomUUID(), ...options }
      return eventually(
        () => this.checkout(sale, asked),
        ({ status }) => status !== 202 && status !== 503,
      )
    },

    /** The only product of a sale as the operator sees it. */
    async stock(sale: string): Promise<Stock> {
      const { body } = await admin('GET', `/sales/${sale}`)
      return (body as { products: [Stock] }).products[0]
    },
  }
}

/** Text is sent unchanged, and a stream without a Content-Length. */
const sendable = (body: unknown) =>
  typeof body === 'string' || body instanceof ReadableStream ? body : JSON.stringify(body)

export type TestOrigin = ReturnType<typeof clientOf>
export type OwnOrigin = ReturnType<typeof useOwnOrigin>

/** Ends the leases that a killed worker has on its jobs, which would otherwise last for seconds. */
export const endLeases = (sql: postgres.Sql) => sql`update jobs set run_at = now() where leased`

/**
 * Runs a reader of events until it has read all, because transactions of other tests, even in other databases, delay
 * the log. A reader that has read nothing yet is not in the table of readers.
 */
export const readToTheEnd = (sql: postgres.Sql, reader: string, round: () => Promise<unknown>) =>
  eventually(
    async () => {
      await round()
      return sql`
        select from events e left join readers r on r.reader = ${reader}
        where r.reader is null or (e.xid, e.seq) > (r.xid, r.seq) limit 1`
    },
    (unread) => unread.length === 0,
  )

/** The same connections with a counter of the statements made on them from here on. */
export function counted<Connections extends postgres.Sql>(sql: Connections) {
  let statements = 0
  const apply = (target: Connections, self: unknown, args: unknown[]) => {
    statements++
    return Reflect.apply(target, self, args)
  }
  return { sql: new Proxy(sql, { apply }), statements: () => statements }
}

/** Creates a sale on a whole system and waits until its edge knows it. */
export async function createSale(
  { originUrl, edgeUrl, adminToken }: Pick<System, 'originUrl' | 'edgeUrl' | 'adminToken'>,
  sale: string,
  config: SaleConfig,
): Promise<void> {
  const response = await fetch(`${originUrl}/admin/sales/${sale}`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' },
    body: JSON.stringify(config),
  })
  expect(response.status).toBe(201)
  const known = async () => (await fetch(`${edgeUrl}/sales/${sale}/schedule`)).status
  expect(await eventually(known, (status) => status === 200)).toBe(200)
}
