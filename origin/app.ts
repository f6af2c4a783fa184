/** The origin's front door: which call goes where, and how every error leaves; and what stands before it until it opens. */
import { type Context, Hono } from 'hono'
import { ProblemError, problem } from '../shared/problem.ts'
import { tryAgain } from './checkout/outcome.ts'
import type { Deps } from './deps.ts'
import { buyerRoutes } from './http/buyers.ts'
import { type HealthOf, internalRoutes } from './http/internal.ts'
import { operatorRoutes } from './http/operators.ts'
import { sendProblem } from './http/request.ts'
import { paymentWebhooks } from './http/webhooks-in.ts'
import { isLedgerAway, ping } from './ledger/connection.ts'
import { Overloaded } from './lib/batcher.ts'
import { isRedisAway } from './lib/redis.ts'
import { TimeoutError, withTimeout } from './lib/with-timeout.ts'

const READY_WITHIN_MS = 1_000

/** What is answered while the origin is not begun: it is alive, and neither store is of any use to it yet. */
export function createUnreadyApp(): Hono {
  const app = new Hono()
  app.get('/healthz', alive)
  app.get('/readyz', (c) => c.json({ ledger: false, gate: false }, 503))
  app.all('*', () => sendProblem(tryAgain('The shop is being made ready.')))
  return app
}

const alive = (c: Context) => c.json({ status: 'ok' })

export function createApp(deps: Deps): Hono {
  const { config, log, metrics, sql, redis, sales, loadShedder } = deps
  const app = new Hono()

  app.onError((error, c) => {
    if (error instanceof ProblemError) return sendProblem(error.problem)
    if (isAway(error)) {
      log.warn({ path: c.req.path, error: String(error) }, 'a store is away')
      return sendProblem(tryAgain('The shop is catching its breath.'))
    }
    log.error({ path: c.req.path, error: error.stack ?? String(error) }, 'unexpected error')
    return sendProblem(problem('internal-error'))
  })
  app.notFound((c) => {
    const { path } = c.req
    const others = METHODS.filter((method) => answers(app, method, path))
    if (others.length === 0)
      return sendProblem(problem('not-found', { detail: `There is nothing at ${path}.` }))
    const response = sendProblem(problem('method-not-allowed'))
    response.headers.set('allow', others.join(', '))
    return response
  })

  app.get('/healthz', alive)
  app.get('/readyz', async (c) => {
    const isThere = (asked: Promise<unknown>) =>
      withTimeout(asked, READY_WITHIN_MS).then(
        () => true,
        () => false,
      )
    const [ledger, gate] = await Promise.all([isThere(ping(sql)), isThere(redis.ping())])
    // Either store suffices to serve; without both there is nothing to promise.
    return c.json({ ledger, gate }, ledger || gate ? 200 : 503)
  })
  app.get('/metrics', async (c) =>
    c.text(await metrics.registry.metrics(), 200, { 'content-type': metrics.registry.contentType }),
  )

  const healthOf: HealthOf = (saleId) =>
    loadShedder.isSlow(saleId) || sales.isLedgerUnresponsive() ? 'slow' : 'ok'
  app.route('/admin', operatorRoutes({ ...deps, adminToken: config.ADMIN_TOKEN, healthOf }))
  app.route('/internal', internalRoutes({ ...deps, edgeToken: config.EDGE_TOKEN, healthOf }))
  app.route('/webhooks', paymentWebhooks(deps))
  app.route('/', buyerRoutes(deps))
  return app
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

/** True where a handler of its own stands; what is used on the way to all of them is for any method. */
function answers(app: Hono, method: string, path: string): boolean {
  const [found] = app.router.match(method, path)
  return found.some(([[, route]]) => route.method === method)
}

/** Errors that say "not now": the connection is gone, it took too long, or there is no room. */
export function isAway(error: Error & { code?: string }): boolean {
  return (
    error instanceof TimeoutError || error instanceof Overloaded || isRedisAway(error) || isLedgerAway(error)
  )
}
