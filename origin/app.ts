/** The origin's routes as one app: which call goes where, and how every error leaves. */
import { type Context, Hono } from 'hono'
import type { Logger } from 'pino'
import { ProblemError, problem } from '../shared/problem.ts'
import { tryAgain } from './checkout/outcome.ts'
import { sendProblem } from './http/request.ts'
import { isLedgerAway } from './ledger/connection.ts'
import { Overloaded } from './lib/batcher.ts'
import type { Metrics } from './lib/metrics.ts'
import { isRedisAway } from './lib/redis.ts'
import { TimeoutError, withTimeout } from './lib/with-timeout.ts'

const READY_TIMEOUT_MS = 1_000
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

interface AppDeps {
  readonly routes: Readonly<Record<string, Hono>>
  readonly registry: Metrics['registry']
  /** A ping of each store, for /readyz. */
  readonly stores: Readonly<Record<'ledger' | 'gate', () => Promise<unknown>>>
  readonly log: Logger
}

/** What responds until the origin has started: alive, but not ready. */
export function createUnreadyApp(): Hono {
  const app = new Hono()
  app.get('/healthz', alive)
  app.get('/readyz', (c) => c.json({ ledger: false, gate: false }, 503))
  app.all('*', () => sendProblem(tryAgain('The shop is starting.')))
  return app
}

const alive = (c: Context) => c.json({ status: 'ok' })

export function createApp({ routes, stores, registry, log }: AppDeps): Hono {
  const app = new Hono()

  app.onError((error, c) => {
    if (error instanceof ProblemError) return sendProblem(error.problem)
    if (isAway(error)) {
      log.warn({ path: c.req.path, error: String(error) }, 'store away or overloaded')
      return sendProblem(tryAgain('The shop is busy.'))
    }
    log.error({ path: c.req.path, error: error.stack ?? String(error) }, 'unexpected error')
    return sendProblem(problem('internal-error'))
  })
  app.notFound((c) => {
    const { path } = c.req
    // A route has its very method; middleware has none.
    const others = METHODS.filter((method) =>
      app.router.match(method, path)[0].some(([[, route]]) => route.method === method),
    )
    if (others.length === 0) return sendProblem(problem('not-found', { detail: `There is nothing at ${path}.` }))
    const response = sendProblem(problem('method-not-allowed'))
    response.headers.set('allow', others.join(', '))
    return response
  })

  app.get('/healthz', alive)
  app.get('/readyz', async (c) => {
    const pings = [stores.ledger(), stores.gate()].map((ping) => withTimeout(ping, READY_TIMEOUT_MS))
    const [ledger, gate] = (await Promise.allSettled(pings)).map(({ status }) => status === 'fulfilled')
    // Either store suffices to serve.
    return c.json({ ledger, gate }, ledger || gate ? 200 : 503)
  })
  app.get('/metrics', async (c) => c.text(await registry.metrics(), 200, { 'content-type': registry.contentType }))

  for (const [path, its] of Object.entries(routes)) app.route(path, its)
  return app
}

/** Errors that mean "not now": a store is away, a call took too long, or a queue is full. */
export function isAway(error: Error & { code?: string }): boolean {
  return error instanceof TimeoutError || error instanceof Overloaded || isRedisAway(error) || isLedgerAway(error)
}
