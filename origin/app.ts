/** The origin's routes as one app: which call goes where, and how every error leaves. */
import { type Context, Hono } from 'hono'
import { html } from 'hono/html'
import type { Logger } from 'pino'
import { isProblemType, type Problem, ProblemError, problem } from '../shared/problem.ts'
import { StorageError } from './images/image-store.ts'
import { isLedgerAway, isUnstorable } from './ledger/connection.ts'
import { Overloaded } from './lib/batcher.ts'
import { sendProblem, tryAgain } from './lib/http/request.ts'
import { isRedisAway } from './lib/redis/redis.ts'
import { TimeoutError } from './lib/with-timeout.ts'
import { alive } from './ops.ts'

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

const isForOperators = (path: string) => /^\/(admin|console)\//.test(path)
/** Buyers need not know which store it is. Operators do. */
const AWAY_FOR_OPERATORS =
  'The origin cannot read or write this now: Postgres or Redis does not answer, or not in time. Try again in a moment.'

interface AppDeps {
  readonly routes: Readonly<Record<string, Hono>>
  readonly log: Logger
}

/** What responds until the origin has started: alive, but not ready. */
export function createUnreadyApp(): Hono {
  const app = new Hono()
  app.get('/healthz', alive)
  app.all('*', () => sendProblem(tryAgain('The shop is starting.')))
  return app
}

export function createApp({ routes, log }: AppDeps): Hono {
  const app = new Hono()

  app.onError((error, c) => {
    if (error instanceof ProblemError) return sendProblem(error.problem)
    // The caller is gone, so nobody reads this response, and no store has failed.
    if (isCallerGone(error)) return sendProblem(problem('invalid-request'))
    if (isUnstorable(error)) return sendProblem(problem('invalid-request', { detail: 'Text must not hold NUL.' }))
    if (isAway(error)) {
      log.warn({ path: pathOf(c), error: String(error) }, 'store away or overloaded')
      return sendProblem(tryAgain(isForOperators(c.req.path) ? AWAY_FOR_OPERATORS : 'The shop is busy.'))
    }
    log.error({ path: pathOf(c), error: error.stack ?? String(error) }, 'unexpected error')
    return sendProblem(problem('internal-error'))
  })
  app.notFound((c) => {
    const { path } = c.req
    // The router also finds middleware, which is registered for every method.
    const others = METHODS.filter((method) =>
      app.router.match(method, path)[0].some(([[, route]]) => route.method === method),
    )
    if (others.length === 0) return sendProblem(problem('not-found', { detail: `There is nothing at ${path}.` }))
    const response = sendProblem(problem('method-not-allowed'))
    response.headers.set('allow', others.join(', '))
    return response
  })

  app.get('/healthz', alive)
  app.get('/problems/:type', (c) => {
    const type = c.req.param('type')
    if (!isProblemType(type)) return sendProblem(problem('not-found'))
    return c.html(problemDocument(problem(type)), 200, { 'content-security-policy': "default-src 'none'" })
  })

  for (const [path, feature] of Object.entries(routes)) app.route(path, feature)
  return app
}

/** A page that explains a type of problems (RFC 9457, 3.1.1). */
const problemDocument = ({ type, title, status, detail }: Problem) => html`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title></head>
<body><h1>${title}</h1><p>${detail}</p><p><code>${status}</code> <code>${type}</code></p></body>
</html>
`

/** Returns the path for the log: it names the sale or the order, and never a person. */
const pathOf = ({ req }: Context) => req.path.replace(/^(\/admin\/visitors\/).+/, '$1..')

/** The connection ended in the middle of a body. */
const isCallerGone = (error: Error & { code?: string }) => error.code === 'ECONNRESET' && error.message === 'aborted'

/** Errors that mean "not now": a store is away, a call took too long, or a queue is full. */
export function isAway(error: Error & { code?: string }): boolean {
  const isOurs = [TimeoutError, Overloaded, StorageError].some((one) => error instanceof one)
  return isOurs || isRedisAway(error) || isLedgerAway(error)
}
